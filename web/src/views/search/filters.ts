/* The filter of a search as it stands in the address, in the words of a request, and in plain words. */

import type { Query } from '../../parts/api'
import { endOf, iso, midnight } from '../../parts/days'
import { day, space } from '../../parts/words'

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

export const LISTS = ['types', 'tiers', 'spaces', 'tags'] as const

export const SPANS: [string, string][] = [
  ['1d', 'Last 24 hours'],
  ['7d', 'Last 7 days'],
  ['30d', 'Last 30 days'],
  ['365d', 'Last year'],
]

export function read(query: URLSearchParams): Filters {
  const [types, tiers, spaces, tags] = LISTS.map((name) => query.getAll(name))
  return {
    types: types!, tiers: tiers!, spaces: spaces!, tags: tags!,
    when: query.get('when') ?? '',
    holds: query.get('holds') ?? '',
  }
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
  const span = /^(\d+)d$/.exec(when)
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

/** What is chosen, in few words; empty if nothing is. */
export function inWords(name: keyof Filters, filters: Filters): string {
  if (name === 'when') return whenWords(filters.when)
  if (name === 'holds') return filters.holds === 'all' ? 'outdated too' : filters.holds ? `as of ${day(filters.holds)}` : ''
  const chosen = filters[name].map((each) => (name === 'spaces' ? space(each) : name === 'tags' ? `#${each}` : each))
  return chosen.length > 2 ? `${chosen[0]} +${chosen.length - 1}` : chosen.join(', ')
}

function whenWords(when: string): string {
  const span = SPANS.find(([value]) => value === when)
  if (span) return span[1].toLowerCase()
  const [after, before] = when.split('..').map((each) => each && day(each))
  if (after && before) return `${after} – ${before}`
  return after ? `since ${after}` : before ? `until ${before}` : ''
}
