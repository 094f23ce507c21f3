/* The filter of a search as it stands in the address, in the words of a request, and in plain words. */

import type { Query } from '../../parts/api'
import { endOf, isDay, iso, looksLikeDay, midnight } from '../../parts/days'
import { counted, t } from '../../parts/messages'
import { TIERS, TYPES } from '../../parts/values'
import { beginning, day, noDay, space } from '../../parts/words'

export interface Filters {
  types: string[]
  tiers: string[]
  spaces: string[]
  tags: string[]
  /** A span such as `7d`, or two days `2026-11-01..2026-11-16`, either of which may be missing. */
  when: string
  /** '' for what holds now, `all` for what is outdated too, or a day for how things stood then. */
  holds: string
}

/** A filter that cannot be asked for, as a bookmark may hold one: why not, and what clears it. */
export interface Senseless {
  name: keyof Filters
  says: string
  instead: string
}

export const LISTS = ['types', 'tiers', 'spaces', 'tags'] as const

const SPAN = /^([1-9]\d{0,4})d$/

export const SPANS: [string, string][] = [
  ['1d', t('search.last24Hours')],
  ['7d', t('search.last7Days')],
  ['30d', t('search.last30Days')],
  ['365d', t('search.lastYear')],
]

export function read(query: URLSearchParams): Filters {
  const [types, tiers, spaces, tags] = LISTS.map((name) => query.getAll(name))
  return {
    types: types!,
    tiers: tiers!,
    spaces: spaces!,
    tags: tags!,
    when: (query.get('when') ?? '').replace(/^\.\.$/, ''), // both days were emptied
    holds: query.get('holds') ?? '',
  }
}

/** The first of the filters that makes no sense; none, if all do. */
export function senseless({ types, tiers, when, holds }: Filters): Senseless | undefined {
  const all: Senseless[] = [
    { name: 'types', says: unknown('type', types, TYPES), instead: t('search.anyType') },
    { name: 'tiers', says: unknown('tier', tiers, TIERS), instead: t('search.anyTier') },
    { name: 'when', says: noTime(when), instead: t('search.anyTime') },
    { name: 'holds', says: holds && holds !== 'all' ? noDay(holds) : '', instead: t('search.whatHoldsNow') },
  ]
  return all.find((each) => each.says)
}

function unknown(what: string, chosen: string[], known: readonly string[]): string {
  const strange = chosen.find((each) => !known.includes(each))
  return strange === undefined ? '' : t('search.thereIsNoCalled', { what, name: beginning(strange, 40) })
}

/** Whether these are days, as far as one can see; one alone is a beginning. */
const isRange = (when: string) => when.includes('..') || looksLikeDay(when)

const dayWords = (text: string) => (isDay(text) ? day(text) : beginning(text, 40))

/** Why there can be nothing from such a time; empty if there can. */
function noTime(when: string): string {
  if (!when || SPAN.test(when)) return ''
  const [after, before, more] = when.split('..')
  if (more !== undefined || !isRange(when)) return t('search.thereIsNoSuchTime', { text: beginning(when, 40) })
  const wrong = [after, before].map((each) => (each ? noDay(each) : '')).find(Boolean)
  return (
    wrong ??
    (after && before && after > before ? t('search.comesAfter', { day: day(after), earlier: day(before) }) : '')
  )
}

export function isAny(filters: Filters): boolean {
  return !filters.when && !filters.holds && LISTS.every((name) => !filters[name].length)
}

/** Return the fields of a request. A span is counted from the minute that is running. */
export function request(filters: Filters, now = Date.now()): Query {
  const { types, tiers, spaces, tags } = filters
  return { types, tiers, spaces, tags, ...times(filters.when, now), ...validity(filters.holds) }
}

function times(when: string, now: number): Query {
  const span = SPAN.exec(when)
  if (span) {
    const minute = Math.floor(now / 60_000) * 60_000
    return { created_after: iso(new Date(minute - Number(span[1]) * 86_400_000)) }
  }
  const [after, before] = when.split('..')
  return {
    created_after: after ? iso(midnight(after)) : null,
    created_before: before ? iso(midnight(before, 1)) : null,
  }
}

function validity(holds: string): Query {
  if (holds === 'all') return { outdated: true }
  return holds ? { as_of: endOf(holds) } : {}
}

/** What is chosen, in few words; empty if nothing is. What makes no sense is said as it was written. */
export function inWords(name: keyof Filters, filters: Filters): string {
  if (name === 'when') return whenWords(filters.when)
  if (name === 'holds')
    return filters.holds === 'all'
      ? t('search.outdatedToo')
      : filters.holds && t('search.asOf', { day: dayWords(filters.holds) })
  const chosen = filters[name].map((each) => (name === 'spaces' ? space(each) : name === 'tags' ? `#${each}` : each))
  return chosen.length > 2 ? `${chosen[0]} +${chosen.length - 1}` : chosen.join(', ')
}

function whenWords(when: string): string {
  const span = SPANS.find(([value]) => value === when)
  if (span) return span[1].toLowerCase()
  if (SPAN.test(when)) return t('search.last', { count: counted('count.day', parseInt(when)) })
  if (!isRange(when)) return beginning(when, 40)
  const [after, before] = when.split('..').map((each) => each && dayWords(each))
  if (after && before) return `${after} – ${before}`
  return after ? t('search.since', { after }) : before ? t('search.until', { before }) : ''
}
