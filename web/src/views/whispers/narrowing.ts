/* Prompts of some days that were worth something, as the address says it. */

import type { Query } from '../../parts/api'
import { isDay, midnight } from '../../parts/days'
import { t } from '../../parts/messages'
import { day } from '../../parts/words'

const WORTHS = ['useful', 'useless', 'unknown'] as const

export interface Narrowing {
  request: Query
  /** What of it stands in the address. */
  kept: Record<string, string>
  /** The same in words; empty if nothing is asked for. */
  says: string
}

/** Read it; what makes no sense is left out. */
export function narrowing(query: URLSearchParams): Narrowing {
  const worth = WORTHS.find((each) => each === query.get('worth'))
  const [since, until] = ['since', 'until'].map((name) => {
    const given = query.get(name) ?? ''
    return isDay(given) ? given : ''
  })
  const says = [
    worth && t(`figures.${worth}`),
    since && until ? `${day(since)} – ${day(until)}` : since ? day(since) : until && day(until),
  ]
  return {
    request: {
      worth: worth ?? null,
      since: since ? midnight(since).toISOString() : null,
      until: until ? midnight(until, 1).toISOString() : null,
    },
    kept: Object.fromEntries(Object.entries({ worth, since, until }).filter(([, value]) => value)) as Record<
      string,
      string
    >,
    says: says.filter(Boolean).join(' · '),
  }
}
