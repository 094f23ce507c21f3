/* What `/ui/data/memory/{id}` and its neighbours answer with. */

export type {
  LinkedMemory as Linked,
  MemoryDifference as Difference,
  Strength,
  WholeMemory as Whole,
} from '../../parts/contract'

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

/** The memories that the daemon names where the beginning of an id fits several:
    “one of: `2f0ee1a2-46a3` (Ferry at nine), …”. */
export function fitting(hint: string): { id: string; headline: string }[] {
  const named = hint.matchAll(/`([0-9a-f-]{9,36})` \((.*?)\)(?=, `[0-9a-f-]{9,36}` \(|$)/gs)
  return [...named].map(([, id, headline]) => ({ id: id!, headline: headline! }))
}
