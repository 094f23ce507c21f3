/* Taking a run, or one of its changes, back; the toast can take that back, too. */

import { post } from '../../parts/api'
import { fail, say, settle } from '../../parts/toasts.svelte'
import { memories } from '../../parts/words'

interface Undone {
  change: string
  undone: string[]
  memories: string[]
  questions: string[]
}

const GLANCE = 600 // ms; who presses sooner has not seen what the press before did

/** One at a time: a second press means the same run, not something else. */
export class Undoing {
  busy = $state(false)
  #until = 0

  /** Whether it was taken back only now, so that a further press means nothing else yet. */
  get fresh(): boolean {
    return this.busy || Date.now() < this.#until
  }

  /** Take it back; `then` asks anew for what is shown, also if somebody else was quicker. */
  async take(run: string, then: () => unknown): Promise<void> {
    if (this.busy) return
    this.busy = true
    try {
      tell(await post<Undone>(`/agent/undo/${run}`), then)
    } catch (error) {
      fail(error)
    }
    await then()
    this.#until = Date.now() + GLANCE
    this.busy = false
  }
}

function tell(answer: Undone, then: () => unknown): void {
  settle(answer.undone)
  const many = answer.memories.length
  const rest = answer.questions.length ? 'Withdrew what it asked' : 'Took back the scores that it gave'
  say(many ? `Took back what it did to ${memories(many)}` : rest, {
    hint: 'The jobs will not do it again while the memories say the same.',
    undo: answer.change,
    undone: then,
  })
}
