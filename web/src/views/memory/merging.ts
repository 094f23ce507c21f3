/* A merge that somebody is at work on, as it is kept over a reload. */

import { keptDraft } from '../../parts/drafts'
import type { Brief, Memory } from '../../parts/values'

/** A memory as somebody looked at it. */
export interface Seen {
  version: string
  memory: Memory
}

export interface MergeDraft {
  other: Brief
  keepsOther: boolean
  written: string
  /** Both as they were when it was written: the one on the page, and the other. */
  here: Seen
  there: Seen
}

export const mergeName = (id: string) => `merge.${id}`

/** What was written for a merge of this memory, with any other or with this one. */
export function keptMerge(id: string, other?: string): MergeDraft | null {
  const kept = keptDraft<MergeDraft>(mergeName(id))
  return !other || kept?.other.id === other ? kept : null
}
