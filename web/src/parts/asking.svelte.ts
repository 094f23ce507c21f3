/* What a view shows: asked for when it opens and when what it depends on changes, and asked anew
   when events say so. The old answer stays visible until the new one is there, and a late answer
   to an old question is dropped. */

import { onDestroy } from 'svelte'
import { isAborted } from './api'
import { onEvents } from './events.svelte'

export class Asked<T> {
  value = $state.raw<T | undefined>(undefined)
  error = $state.raw<unknown>(undefined)
  asking = $state(false)
  #stop: AbortController | undefined
  #over = false
  #question: (signal: AbortSignal) => Promise<T>

  constructor(question: (signal: AbortSignal) => Promise<T>) {
    this.#question = question
  }

  /** Ask (again); not if nobody looks at the answer any more. */
  async ask(): Promise<void> {
    if (this.#over) return
    this.#stop?.abort()
    const stop = (this.#stop = new AbortController())
    this.asking = true
    try {
      const value = await this.#question(stop.signal)
      if (stop === this.#stop) [this.value, this.error] = [value, undefined]
    } catch (error) {
      if (stop === this.#stop && !isAborted(error)) this.error = error
    } finally {
      if (stop === this.#stop) this.asking = false
    }
  }

  close(): void {
    this.#stop?.abort()
    this.#stop = undefined
  }

  /** Close for good: whoever asked is gone, and so is what the question was made of. */
  end(): void {
    this.#over = true
    this.close()
  }
}

/** Ask while a component lives. Whatever `question` reads at once (route, filters) is watched:
    when it changes, it is asked again. `events` name what makes the answer stale. */
export function asking<T>(
  question: (signal: AbortSignal) => Promise<T>,
  events: readonly string[] = ['reconnected'],
): Asked<T> {
  const asked = new Asked<T>(question)
  $effect(() => {
    void asked.ask()
    return () => asked.close()
  })
  onDestroy(() => asked.end())
  let timer: ReturnType<typeof setTimeout> | undefined
  onEvents(events, () => {
    clearTimeout(timer)
    timer = setTimeout(() => asked.ask(), 150) // many come at once
  })
  return asked
}
