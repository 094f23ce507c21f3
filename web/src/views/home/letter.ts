/* What the night did, in one sentence: how often of each kind, and where that is shown. */

import type { LogEntry } from '../../parts/contract'

/** The kinds that a sentence names, most telling first, and the filter of Activity that shows them. */
export const DEEDS = {
  merged: 'merged',
  replaced: 'changed',
  linked: 'changed',
  archived: 'changed',
  moved: 'changed',
  demoted: 'changed',
  consolidated: 'merged',
  forgotten: 'gone',
  other: '',
} as const
export type DeedKind = keyof typeof DEEDS

export interface Deed {
  kind: DeedKind
  many: number
}

const NAMES: Record<string, DeedKind> = {
  merged: 'merged',
  retired: 'replaced',
  linked: 'linked',
  archived: 'archived',
  moved: 'moved',
  demoted: 'demoted',
  consolidated: 'consolidated',
  summarised: 'consolidated',
  forgotten: 'forgotten',
}

/** Of which one change may be about many memories; else what is counted are changes. */
const BY_MEMORY: ReadonlySet<DeedKind> = new Set(['replaced', 'linked', 'archived', 'moved', 'demoted', 'forgotten'])

export interface Night {
  deeds: Deed[]
  /** Questions of the night that nobody has answered, oldest first. */
  asks: LogEntry[]
  /** Whether anything of it can be taken back. */
  undoable: boolean
  /** Whether all that it did was taken back. */
  undone: boolean
}

/** Sum up the entries of one night. What was taken back is not told as done. */
export function sumUp(entries: readonly LogEntry[]): Night {
  const made = entries.filter((each) => each.what_parts.kind !== 'asked')
  const held = made.filter((each) => each.outcome !== 'undone')
  const counts = new Map<DeedKind, number>()
  for (const each of held) {
    const kind = NAMES[each.what_parts.kind] ?? 'other'
    counts.set(kind, (counts.get(kind) ?? 0) + (BY_MEMORY.has(kind) ? Number(each.what_parts['count'] ?? 1) : 1))
  }
  const order = Object.keys(DEEDS) as DeedKind[]
  return {
    deeds: order.filter((kind) => counts.has(kind)).map((kind) => ({ kind, many: counts.get(kind)! })),
    asks: entries.filter((each) => each.outcome === 'pending').reverse(),
    undoable: held.some((each) => each.undo) || entries.some((each) => each.outcome === 'pending'),
    undone: made.length > 0 && !held.length,
  }
}

/** `a, b and c`, in pieces: what is listed by its place, and the words between. */
export function listed(many: number, language: string): (number | string)[] {
  const format = new Intl.ListFormat(language)
  const names = Array.from({ length: many }, (_, at) => String(at))
  return format.formatToParts(names).map((part) => (part.type === 'element' ? Number(part.value) : part.value))
}
