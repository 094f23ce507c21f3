/* Why a memory is not among the answers, in words about “it”: its title stands above them. */

import { counted, t } from './messages'
import { decimal, percent } from './words'

export interface Absent {
  how: 'unknown' | 'there' | 'refused' | 'outranked' | 'older' | 'outdone' | 'far' | 'glanced' | 'unseen'
  text: string
  /** As which number it came in. */
  rank: number | null
  /** How many fit better. */
  others: number | null
  /** How likely it is an answer. */
  chance: number | null
  /** The parts of the filter that leave it out. */
  filters: string[]
}

const FILTERS: Record<string, string> = {
  types: t('parts.filterType'),
  tiers: t('parts.filterTier'),
  spaces: t('parts.filterSpace'),
  tags: t('parts.filterTag'),
  created_after: t('parts.theTimeItIsFrom'),
  created_before: t('parts.theTimeItIsFrom'),
  as_of: t('parts.theDayAskedAbout'),
}

/** `12 %`, but of what is next to nothing no more than that. */
export function chance(share: number): string {
  if (share > 0 && share < 0.01) return t('parts.lessThan1')
  return share < 0.095 && Math.round(share * 1_000) % 10 ? `${decimal(share * 100)} %` : percent(share)
}

/** What the filter has to do with it. */
function refused(filters: string[]): string {
  const named = [...new Set(filters.map((each) => FILTERS[each] ?? each))]
  if (!named.length) return t('parts.itIsOutdatedRetiredExpired')
  return t('parts.theFilterLeavesItOut', { parts: named.join(t('parts.and')) })
}

const SAID: Record<Absent['how'], (absent: Absent) => string> = {
  unknown: () => t('parts.thereIsNoSuchMemory'),
  there: ({ rank }) => t('parts.itIsThereAsNumber', { rank }),
  refused: ({ filters }) => refused(filters),
  outranked: ({ rank }) => t('parts.itIsAnAnswerBut', { rank }),
  older: () => t('parts.itIsFromThenToo'),
  outdone: ({ others }) => t('parts.itWasComparedButBetter', { count: counted('count.otherFits', others ?? 0) }),
  far: () => t('parts.itWasComparedButIt'),
  glanced: () => t('parts.itCameNearButAt'),
  unseen: () => t('parts.itSharesNoRareWord'),
}

/** Why it is not there, in a sentence or two. */
export function why(absent: Absent): string {
  const said = SAID[absent.how]?.(absent) ?? absent.text
  return absent.chance === null ? said : t('parts.theChanceThatItAnswers', { said, chance: chance(absent.chance) })
}
