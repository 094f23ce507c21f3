/* The dialogs about a memory, one way for all of them: what somebody typed into one is kept over a
   reload, and what was forgotten meanwhile is said by its title. */

import { ApiError } from '../../parts/api'
import { keptDraft } from '../../parts/drafts'
import type { Brief, Memory } from '../../parts/values'
import type { Whole } from './values'

const DIALOGS = ['link', 'merge', 'retire'] as const

/** Which dialog is open, and with which other memory. */
export interface Doing {
  is: (typeof DIALOGS)[number]
  other?: Brief | null
}

/** What every one of them keeps: the other memory, as far as one is chosen. */
interface Draft {
  other: Brief | null
}

export interface LinkDraft extends Draft {
  says: string
  turned: boolean
  reason: string
}

export interface RetireDraft extends Draft {
  reason: string
}

/** A memory as somebody looked at it. */
export interface Seen {
  version: string
  memory: Memory
}

export interface MergeDraft extends Draft {
  keepsOther: boolean
  written: string
  /** Both as they were when it was written: the one on the page, and the other. */
  here: Seen
  there: Seen
}

export const draftName = (is: Doing['is'], id: string) => `${is}.${id}`

/** What was typed into a dialog of this memory, with any other or with this one. */
export function keptIn<T extends Draft>(is: Doing['is'], id: string, other?: string): T | null {
  const kept = keptDraft<T>(draftName(is, id))
  return !other || kept?.other?.id === other ? kept : null
}

/** The dialog of this memory that somebody was typing into. */
export function keptDialog(id: string): Doing | null {
  const is = DIALOGS.find((each) => keptIn(each, id))
  return is ? { is, other: keptIn(is, id)!.other } : null
}

/** A memory that went while it was to be worked with. */
export interface Gone {
  id: string
  headline: string
  /** Whether it lies in the trash. */
  trashed: boolean
}

/** What of the two went: the memory on the page, and the other as it was chosen and was found. */
export function gone(here: Whole, other: Brief | null, there: { value?: Whole | null; error?: unknown }): Gone[] {
  const lost = there.error instanceof ApiError && there.error.status === 404
  const found = other && !lost && there.value?.memory.id === other.id ? [there.value] : []
  const went = [here, ...found].filter((each) => each.forgotten)
  const trashed = went.map(({ memory }) => ({ id: memory.id, headline: memory.headline, trashed: true }))
  return other && lost ? [...trashed, { id: other.id, headline: other.headline, trashed: false }] : trashed
}

/** Whether something was refused because a memory is gone, or is not what it was. */
export const isStale = (error: unknown) => error instanceof ApiError && [404, 409].includes(error.status)
