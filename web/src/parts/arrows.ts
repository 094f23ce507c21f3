/* How a connection reads from either of its ends. */

import { edge } from './words'

const FORTH: Record<string, string> = {
  part_of: 'is part of',
  related_to: 'is related to',
  derived_from: 'is derived from',
  evolved_from: 'replaced',
  discovered: 'goes together with',
}
const BACK: Record<string, string> = {
  supports: 'is supported by',
  part_of: 'consists of',
  depends_on: 'is needed by',
  contradicts: 'contradicts',
  related_to: 'is related to',
  defines: 'is defined by',
  derived_from: 'led to',
  evolved_from: 'was replaced by',
  discovered: 'goes together with',
}

/** `supports` seen from where it starts (`outward`), `is supported by` from where it ends. */
export const arrow = (name: string, outward: boolean) => (outward ? FORTH : BACK)[name] ?? edge(name)

/** What a connection says from where one stands; of one that was discovered, what kind it is. */
export const says = (link: { edge: string; outward: boolean; kind?: string | null }) =>
  link.kind ? edge(link.kind) : arrow(link.edge, link.outward)
