/* Short words at the edge about what was done, with a way to take it back. */

import { ApiError, Away, post } from './api'
import { sentence } from './words'

export interface Toast {
  id: number
  text: string
  /** More, in smaller letters. */
  hint?: string
  bad: boolean
  /** It says that nobody answers, which is over as soon as somebody does. */
  away?: boolean
  /** What a press on the button does, and its name. */
  action?: { name: string; does: () => unknown }
  /** The id of the change that it offers to undo. */
  undo?: string
}

export const toasts = $state<Toast[]>([])

const SECONDS = 8
const BAD_SECONDS = 15
let last = 0

interface Saying {
  hint?: string
  /** The id of a change: offers to undo it. */
  undo?: string | null
  /** Called when that is done. */
  undone?: () => unknown
  action?: Toast['action']
}

/** Say that something was done; with `undo` a change can be taken back right here. Returns the id
    of the note, for whoever knows when it is over. */
export function say(text: string, more: Saying = {}): number {
  const { undo, undone } = more
  const action = undo ? { name: 'Undo', does: () => takeBack(undo, undone) } : more.action
  return show({ text, hint: more.hint, bad: false, action, undo: undo ?? undefined })
}

/** Say what went wrong, in the daemon's own words; once, however often it goes wrong. */
export function fail(error: unknown): number {
  const hint = error instanceof ApiError ? error.hint : undefined
  const text = error instanceof Error ? sentence(error.message) : String(error)
  for (const each of toasts.filter((toast) => toast.bad && toast.text === text)) dismiss(each.id)
  return show({ text, hint, bad: true, away: error instanceof Away })
}

export function dismiss(id: number): void {
  const at = toasts.findIndex((each) => each.id === id)
  if (at >= 0) toasts.splice(at, 1)
}

/** The daemon is back: drop what said that it was away. */
export function back(): void {
  for (const each of toasts.filter((toast) => toast.away)) dismiss(each.id)
}

/** Withdraw the offers to undo what is taken back by now. */
export function settle(changes: readonly string[]): void {
  for (const each of [...toasts]) if (each.undo && changes.includes(each.undo)) dismiss(each.id)
}

/** Take a change back and say so. */
export async function takeBack(change: string, undone?: () => unknown): Promise<void> {
  try {
    const answer = await post<{ undone: string[] }>(`/agent/undo/${change}`)
    settle(answer.undone)
    say('Taken back')
    undone?.()
  } catch (error) {
    fail(error)
  }
}

function show(toast: Omit<Toast, 'id'>): number {
  const id = ++last
  toasts.push({ id, ...toast })
  if (toasts.length > 4) toasts.shift()
  setTimeout(() => dismiss(id), (toast.bad ? BAD_SECONDS : SECONDS) * 1000)
  return id
}
