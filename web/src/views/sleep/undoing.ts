/* Taking a run, or one of its changes, back; the toast can take that back, too. */

import { post } from '../../parts/api'
import { fail, say, settle } from '../../parts/toasts.svelte'
import { count, memories } from '../../parts/words'

interface Undone {
  change: string
  undone: string[]
  memories: string[]
}

export async function undoRun(run: string, then: () => unknown): Promise<void> {
  try {
    const answer = await post<Undone>(`/agent/undo/${run}`)
    settle(answer.undone)
    const what = count(answer.undone.length, 'change')
    say(`Took back ${what}${answer.memories.length ? `, ${memories(answer.memories.length)}` : ''}`, {
      hint: 'The jobs will not do it again while the memories say the same.',
      undo: answer.change,
      undone: then,
    })
    then()
  } catch (error) {
    fail(error)
  }
}
