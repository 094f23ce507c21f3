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

/** A memory that the daemon names where the beginning of an id fits several. */
export interface Choice {
  id: string
  title: string | null
}
