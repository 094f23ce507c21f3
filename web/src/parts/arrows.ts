/* How a connection reads from either of its ends. */

import { t } from './messages'
import { edge } from './words'

const FORTH: Record<string, string> = {
  part_of: t('parts.isPartOf'),
  related_to: t('parts.isRelatedTo'),
  derived_from: t('parts.isDerivedFrom'),
  evolved_from: t('parts.replaced'),
  discovered: t('parts.goesTogetherWith'),
}
const BACK: Record<string, string> = {
  supports: t('parts.isSupportedBy'),
  part_of: t('parts.consistsOf'),
  depends_on: t('parts.isNeededBy'),
  contradicts: t('parts.itContradicts'),
  related_to: t('parts.isRelatedTo'),
  defines: t('parts.isDefinedBy'),
  derived_from: t('parts.ledTo'),
  evolved_from: t('parts.wasReplacedBy'),
  discovered: t('parts.goesTogetherWith'),
}

/** `supports` seen from where it starts (`outward`), `is supported by` from where it ends. */
export const arrow = (name: string, outward: boolean) => (outward ? FORTH : BACK)[name] ?? edge(name)

/** What a connection says from where one stands; of one that was discovered, what kind it is. */
export const says = (link: { edge: string; outward: boolean; kind?: string | null }) =>
  link.kind ? edge(link.kind) : arrow(link.edge, link.outward)
