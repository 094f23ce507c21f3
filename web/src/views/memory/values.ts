/* What `/ui/data/memory/{id}` and its neighbours answer with. */

import type { Brief, Connection, Memory, Mention } from '../../parts/values'

export interface Linked extends Connection {
  source: string
  /** Whether the arrow starts here. */
  outward: boolean
  /** Drawn by nobody: the self defines what is about it. */
  implied: boolean
  by_machine: boolean
  /** The memory at the other end; null if it is gone. */
  other: Brief | null
}

export interface Strength {
  now: string
  chance: number
  stability_days: number
  curve: [string, number][]
  uses: string[]
  uses_total: number
  /** Below this chance a night may move it to the archive. */
  least: number
  fades_at: string | null
  /** Why it stays where it is all the same. */
  stays: 'self' | 'core' | 'archival' | 'type' | 'protected' | 'upcoming' | 'importance' | null
  /** Until when it is too young or too lately used for a night to move it. */
  spared_until: string | null
  importance: number
  relevance: number | null
  drawn_connections: number
  parts: { uses: number; connections: number; recency: number }
}

export interface Whole {
  memory: Memory
  /** What an edit is made for; it is refused if the memory says something else by then. */
  version: string
  path: string
  forgotten: boolean
  is_self: boolean
  brief: Brief
  connections: Linked[]
  connections_total: number
  replaces: Brief[]
  strength: Strength | null
  /** As it was at the moment asked for, if that is known. */
  then: Memory | null
}

export interface Event {
  id: string
  at: string
  kind: string
  body: Record<string, unknown> & {
    change?: string
    verb?: string
    by?: string
    reason?: string
    run?: string
    edits?: { memory: string; path_before: string | null; path_after: string | null }[]
    details?: { undoes?: string[]; kept?: string; removed?: string; revived?: boolean }
    /** Of what was proposed: in words, and what is to be done. */
    wording?: string
    action?: Record<string, string>
  }
  outcome?: string | null
}

export interface Difference {
  before: Memory | null
  after: Memory | null
  moved: boolean
  mentions: Mention[]
}

/** The memories that the daemon names where the beginning of an id fits several:
    “one of: `2f0ee1a2-46a3` (Ferry at nine), …”. */
export function fitting(hint: string): { id: string; headline: string }[] {
  const named = hint.matchAll(/`([0-9a-f-]{9,36})` \((.*?)\)(?=, `[0-9a-f-]{9,36}` \(|$)/gs)
  return [...named].map(([, id, headline]) => ({ id: id!, headline: headline! }))
}
