/* Short words at the edge about what was done, with a way to take it back. The notes go after a
   while; what was done in this tab is kept apart from them, so that it can be taken back, the last
   first, when its note is long gone. */

import { ApiError, Away, isKind, post } from './api'
import { t } from './messages'
import { sentence } from './words'

export interface Toast {
  id: number
  text: string
  /** More, in smaller letters. */
  hint?: string
  bad: boolean
  /** It says that nobody answers, which is over as soon as somebody does. */
  away?: boolean
  /** Whether it offers to take back what it tells. */
  undo?: boolean
  /** Notes of one kind take each other's place. */
  kind?: string
  /** How many of its kind it tells of. */
  many?: number
}

interface Deed {
  /** That of the note that told it. */
  id: number
  /** The id of the change that it made, if it made one. */
  change?: string
  back: () => unknown
  /** Whether it was refused once. */
  refused?: boolean
}

export const toasts = $state<Toast[]>([])

const SECONDS = 8
const BAD_SECONDS = 15
const NOTES = 4
const DEEDS = 100 // that can be taken back
const deeds: Deed[] = []
/** Those that somebody wants taken back, and which wait for the ones before them. */
const wanted: Deed[] = []
let working = false
let last = 0

interface Saying {
  hint?: string
  /** The headline of the memory that it was done to. */
  of?: string
  /** The id of a change: offers to undo it. */
  undo?: string | null
  /** Called when that is done. */
  undone?: () => unknown
  /** Takes back what is not only a change of a memory; throws if it cannot. */
  back?: () => unknown
  /** The change that `back` undoes, if there is one. */
  change?: string | null
  /** Of what is said many times in a row: one note stands there for all, and counts them. */
  kind?: string
}

/** Say that something was done; with `undo` or `back` it can be taken back. Returns the id of the
    note, for whoever knows when it is over. */
export function say(text: string, more: Saying = {}): number {
  const what = more.of ? `${text}: “${more.of}”` : text
  const change = more.undo ?? more.change ?? undefined
  const back = more.undo ? () => undo(more.undo!, what, more.undone) : more.back
  const id = show({
    text,
    hint: [more.of && `“${more.of}”`, more.hint].filter(Boolean).join(' · '),
    bad: false,
    undo: back !== undefined,
    kind: more.kind,
  })
  if (back) deeds.push({ id, change, back })
  if (deeds.length > DEEDS) deeds.shift()
  return id
}

/** Say what went wrong, in the daemon's own words; once, however often it goes wrong. */
export function fail(error: unknown): number {
  const hint = error instanceof ApiError ? error.hint : undefined
  const text = error instanceof Error ? sentence(error.message) : String(error)
  for (const each of toasts.filter((toast) => toast.bad && toast.text === text)) dismiss(each.id)
  return show({ text, hint, bad: true, away: error instanceof Away })
}

/** Take a note away; what it told can still be taken back. */
export function dismiss(id: number): void {
  const at = toasts.findIndex((each) => each.id === id)
  if (at >= 0) toasts.splice(at, 1)
}

/** Take a note away together with what it told: that is over. */
export function withdraw(id: number): Deed | undefined {
  dismiss(id)
  const at = deeds.findIndex((each) => each.id === id)
  return at < 0 ? undefined : deeds.splice(at, 1)[0]
}

/** The daemon is back: drop what said that it was away. */
export function back(): void {
  for (const each of toasts.filter((toast) => toast.away)) dismiss(each.id)
}

/** Withdraw the offers to undo what is taken back by now. */
export function settle(changes: readonly string[]): void {
  for (const each of [...deeds]) if (each.change && changes.includes(each.change)) withdraw(each.id)
}

/** Take back what a note told, or else what was done last; false if there is nothing. One waits for
    the other: what was built on a change has to go before it. */
export function takeBackDeed(id = deeds.at(-1)?.id ?? 0): boolean {
  const deed = withdraw(id)
  if (deed) wanted.push(deed)
  void work()
  return deed !== undefined
}

async function work(): Promise<void> {
  if (working) return
  working = true
  while (wanted.length) await perform(wanted.shift()!)
  working = false
}

/** Take one back. If it cannot be, nothing was changed: it stays what was done last, and those that
    were wanted after it stay, too. Refused a second time it is let go, for what was done before it
    should not be out of reach. */
async function perform(deed: Deed): Promise<void> {
  try {
    await deed.back()
  } catch (error) {
    fail(error)
    const isOver = deed.refused && !(error instanceof Away)
    deed.refused ||= !(error instanceof Away)
    deeds.push(...(isOver ? [] : [deed]), ...wanted.splice(0))
    deeds.sort((one, other) => one.id - other.id)
  }
}

/** Take a change back and say so; `what` it was. */
export async function takeBack(change: string, what: string, undone?: () => unknown): Promise<void> {
  await undo(change, what, undone).catch(fail)
}

async function undo(change: string, what: string, undone?: () => unknown): Promise<void> {
  const answer = await post<{ undone: string[] }>(`/agent/undo/${change}`).catch(alreadyOver)
  settle(answer?.undone ?? [change])
  say(answer ? t('parts.takenBack') : t('parts.itWasTakenBackAlready'), { hint: what })
  undone?.()
}

/** Nothing, for what somebody else has taken back meanwhile. */
function alreadyOver(error: unknown): null {
  if (isKind(error, 'already_undone')) return null
  throw error
}

function show(toast: Omit<Toast, 'id'>): number {
  const id = ++last
  const same = toast.kind ? toasts.find((each) => each.kind === toast.kind) : undefined
  if (same) dismiss(same.id)
  toasts.push({ id, many: (same?.many ?? 0) + 1, ...toast })
  if (toasts.length > NOTES) toasts.shift()
  setTimeout(() => dismiss(id), (toast.bad ? BAD_SECONDS : SECONDS) * 1000)
  return id
}
