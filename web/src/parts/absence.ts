/* Why a memory is not among the answers, in words about “it”: its title stands above them. */

import { count, percent } from './words'

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
  types: 'type',
  tiers: 'tier',
  spaces: 'space',
  tags: 'tag',
  created_after: 'the time it is from',
  created_before: 'the time it is from',
  as_of: 'the day asked about',
}

/** `12 %`, but of what is next to nothing no more than that. */
export function chance(share: number): string {
  if (share > 0 && share < 0.01) return 'less than 1 %'
  return share < 0.095 && Math.round(share * 1_000) % 10 ? `${(share * 100).toFixed(1)} %` : percent(share)
}

/** What the filter has to do with it. */
function refused(filters: string[]): string {
  const named = [...new Set(filters.map((each) => FILTERS[each] ?? each))]
  if (!named.length) return 'It is outdated: retired, expired or replaced.'
  return `The filter leaves it out, by ${named.join(' and ')}.`
}

const SAID: Record<Absent['how'], (absent: Absent) => string> = {
  unknown: () => 'There is no such memory any more.',
  there: ({ rank }) => `It is there, as number ${rank}.`,
  refused: ({ filters }) => refused(filters),
  outranked: ({ rank }) => `It is an answer, but only number ${rank}: fewer are shown.`,
  older: () => 'It is from then, too, but older than those that are shown.',
  outdone: ({ others }) => `It was compared, but ${count(others ?? 0, 'other fits', 'others fit')} better.`,
  far: () => 'It was compared, but it is not near enough, and nothing else is.',
  glanced: () => 'It came near, but at a quick look others fit better.',
  unseen: () => 'It shares no rare word with the question, and is not among the nearest in meaning.',
}

/** Why it is not there, in a sentence or two. */
export function why(absent: Absent): string {
  const said = SAID[absent.how]?.(absent) ?? absent.text
  return absent.chance === null ? said : `${said} The chance that it answers is ${chance(absent.chance)}.`
}
