/* A list of proposals, as far as somebody has come in it. */

import { get } from '../../parts/api'
import type { WaitingGroup } from '../../parts/contract'
import type { Proposal } from './values'

export type Standing = 'pending' | 'snoozed' | 'decided'

export interface Which {
  status: Standing
  type: string
}

export interface Listing {
  proposals: Proposal[]
  /** How many there are of this kind. */
  total: number
  /** How many there are of every kind. */
  types: Record<string, number>
  /** What waits, by kind and space, as it is listed. */
  groups: WaitingGroup[]
  /** How many were put off. */
  snoozed: number
}

export const PAGE = 100
const MOST = 500 // that one answer holds

/** Fetch so many lines, or all that there are. */
export async function load(which: Which, many: number, signal: AbortSignal): Promise<Listing & Which> {
  let found: Listing = { proposals: [], total: many, types: {}, groups: [], snoozed: 0 }
  while (found.proposals.length < Math.min(many, found.total)) {
    const offset = found.proposals.length
    const next = await get<Listing>(
      '/ui/data/proposals',
      { ...which, offset, limit: Math.min(many - offset, MOST) },
      signal,
    )
    found = { ...next, proposals: joined(found.proposals, next.proposals) }
    if (found.proposals.length === offset) break
  }
  return { ...found, ...which }
}

/** Join two pages; one that came meanwhile moves the others down, so some may come twice. */
function joined(before: Proposal[], next: Proposal[]): Proposal[] {
  const known = new Set(before.map((each) => each.id))
  return [...before, ...next.filter((each) => !known.has(each.id))]
}
