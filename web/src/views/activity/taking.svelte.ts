/* Taking back what an entry of the log tells; the note can take that back, too. */

import { post } from '../../parts/api'
import type { UndoneChanges } from '../../parts/contract'
import { t } from '../../parts/messages'
import { fail, say, settle } from '../../parts/toasts.svelte'

/** One at a time: a second press means the same entry. */
export class TakingBack {
  busy = $state(false)

  async take(undo: string, what: string, then: () => unknown): Promise<void> {
    if (this.busy) return
    this.busy = true
    try {
      const answer = await post<UndoneChanges>(`/agent/undo/${undo}`)
      settle(answer.undone)
      say(t('activity.taken'), { hint: what, undo: answer.change, undone: then })
    } catch (error) {
      fail(error)
    }
    await then()
    this.busy = false
  }
}
