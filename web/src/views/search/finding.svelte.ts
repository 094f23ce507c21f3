/* Looking while somebody types. One question is under way at a time; when its answer comes, the
   newest question is asked, those in between are not. So a key never waits for more than the
   question before it, and the daemon is not made to answer what nobody reads. */

import { untrack } from 'svelte'
import { get, isAborted, type Query } from '../../parts/api'
import { inParts, joined } from '../../parts/lines'
import type { CauseShape } from '../../parts/contract'
import type { Brief } from '../../parts/values'

export interface Answer {
  memories: Brief[]
  /** Of a list: how many there are in all. */
  total?: number
  silence?: string | null
  silence_parts?: CauseShape | null
  notes?: string[]
}

interface Asked {
  text: string
  filter: Query
  /** How many of a list. */
  lines: number
}

const HITS = 30
const LINES = 30

export class Finding {
  answer = $state.raw<Answer | null>(null)
  error = $state.raw<unknown>(null)
  busy = $state(false)
  /** The question that the answer belongs to. */
  text = $state('')
  took = $state(0)
  #wanted: Asked | null = null
  #asking = ''
  #running: Promise<void> = Promise.resolve()
  /** The answer that is being continued. */
  #more: Answer | null = null

  /** Ask this, now or as soon as the question under way is answered, which may be the same. */
  look(text: string, filter: Query, lines = 0): void {
    const wanted = { text: text.trim(), filter, lines: Math.max(LINES, lines) }
    this.#wanted = JSON.stringify(wanted) === this.#asking ? null : wanted
    if (!untrack(() => this.busy)) this.#running = this.#run()
  }

  /** Wait until nothing is under way; whether the answer is then the one to this question. */
  async answers(text: string): Promise<boolean> {
    await this.#running
    return this.answer !== null && !this.error && this.text === text.trim()
  }

  /** Fetch the next lines of a list. */
  async further(filter: Query): Promise<void> {
    const before = this.answer
    if (!before?.total || this.#more === before || before.memories.length >= before.total) return
    this.#more = before
    try {
      const offset = before.memories.length
      const next = await get<Answer>('/ui/data/list', { ...filter, limit: LINES, offset })
      if (this.answer === before)
        this.answer = { ...next, memories: joined([before.memories, next.memories], (each) => each.id) }
    } catch (error) {
      this.error = error
    } finally {
      if (this.#more === before) this.#more = null
    }
  }

  async #run(): Promise<void> {
    this.busy = true
    while (this.#wanted) {
      const asked = this.#wanted
      this.#wanted = null
      await this.#ask(asked)
    }
    this.busy = false
  }

  async #ask(asked: Asked): Promise<void> {
    const { text, filter, lines } = asked
    const began = performance.now()
    this.#asking = JSON.stringify(asked)
    try {
      const answer = text
        ? await get<Answer>('/ui/data/search', { ...filter, query: text, limit: HITS })
        : await list(filter, lines)
      this.took = performance.now() - began
      ;[this.answer, this.text, this.error] = [answer, text, null]
    } catch (error) {
      if (!isAborted(error)) this.error = error
    } finally {
      this.#asking = ''
    }
  }
}

async function list(filter: Query, lines: number): Promise<Answer> {
  const ask = (offset: number, limit: number) => get<Answer>('/ui/data/list', { ...filter, limit, offset })
  const answers = await inParts(lines, ask)
  return {
    ...answers[0]!,
    memories: joined(
      answers.map((each) => each.memories),
      (each) => each.id,
    ),
  }
}
