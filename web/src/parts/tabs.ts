/* The tabs of one browser share one line to the daemon, for a browser opens no more than six to one
   place: one tab holds it and tells the others what it hears. A lock of the browser settles who
   holds it, and passes on by itself when that tab is closed. */

import { isAborted } from './api'
import type { State } from './connection.svelte'

/** Said by the tab that holds the line. */
export type Told =
  | { is: 'line'; state: State; anew: boolean }
  | { is: 'event'; name: string; body: Record<string, unknown> }
  | { is: 'still' }

/** Said by the others: one has come and asks how the line is, or something happened in its window
    that the one with the line has to know. */
type Asked = { is: 'hello' } | { is: 'window'; event: string }

export interface Hears {
  /** To a tab that listens to another. */
  told: (said: Told) => void
  /** To the one with the line: another has come. */
  hello: () => void
}

/** Holds the line until `leave` says so; `waited` if another tab had it before. */
export type Hold = (leave: AbortSignal, waited: boolean) => Promise<void>

const NAME = 'madeleine.events'
const SILENCE = 50_000 // the one with the line says every 15 seconds that it is there

/** The tabs, or null where a browser has no means for it, as on a page that came over plain http
    from another machine. */
export function tabsOf(hears: Hears): Tabs | null {
  return 'locks' in navigator && 'BroadcastChannel' in window ? new Tabs(hears) : null
}

export class Tabs {
  #channel = new BroadcastChannel(NAME)
  #holds = false
  #patience: ReturnType<typeof setTimeout> | undefined
  #tired: AbortController | undefined

  constructor(readonly hears: Hears) {
    this.#channel.onmessage = ({ data }: MessageEvent<Told | Asked>) => this.#take(data)
  }

  /** Tell the others; only the one with the line has something to tell. */
  tell(said: Told): void {
    if (this.#holds) this.#channel.postMessage(said)
  }

  /** Let the one with the line know of these events of this tab's window. */
  relay(...events: string[]): void {
    for (const event of events) addEventListener(event, () => this.#holds || this.#ask({ is: 'window', event }))
  }

  /** Wait for the line and hold it, until `leave` says so. A tab that is stopped keeps its lock, so
      the lock is taken from one that says nothing for too long. */
  async turn(leave: AbortSignal, hold: Hold): Promise<void> {
    const had = await this.#lock({ ifAvailable: true }, leave, (until) => hold(until, false))
    if (had || leave.aborted) return
    this.#ask({ is: 'hello' })
    const tired = (this.#tired = new AbortController())
    const stop = () => tired.abort()
    leave.addEventListener('abort', stop)
    this.#wait()
    await this.#lock({ signal: tired.signal }, leave, (until) => hold(until, true))
    leave.removeEventListener('abort', stop)
    if (tired.signal.aborted && !leave.aborted) await this.#lock({ steal: true }, leave, (until) => hold(until, true))
  }

  /** Hold the lock as long as `hold` runs; false if it was not given, or taken away. */
  async #lock(options: LockOptions, leave: AbortSignal, hold: (leave: AbortSignal) => Promise<void>): Promise<boolean> {
    const over = new AbortController()
    const end = () => over.abort()
    leave.addEventListener('abort', end)
    try {
      return await navigator.locks.request(NAME, options, async (lock) => {
        this.#holds = lock !== null
        clearTimeout(this.#patience)
        if (lock) await hold(over.signal)
        return lock !== null
      })
    } catch (error) {
      if (!isAborted(error)) throw error
      return false
    } finally {
      this.#holds = false
      clearTimeout(this.#patience)
      leave.removeEventListener('abort', end)
      end()
    }
  }

  #wait(): void {
    clearTimeout(this.#patience)
    this.#patience = setTimeout(() => this.#tired?.abort(), SILENCE)
  }

  #ask(said: Asked): void {
    this.#channel.postMessage(said)
  }

  #take(said: Told | Asked): void {
    if (said.is === 'hello') return this.#holds ? this.hears.hello() : undefined
    if (said.is === 'window') return void (this.#holds && dispatchEvent(new Event(said.event)))
    if (this.#holds) return
    if (this.#tired && !this.#tired.signal.aborted) this.#wait()
    this.hears.told(said)
  }
}
