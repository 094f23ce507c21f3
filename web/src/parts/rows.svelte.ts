/* What can be done with a memory where it is a line of a list: the keys of its own page, from there. Several can be
   selected; then it is done to all of them, and one undo takes it back. */

import { post, remove } from './api'
import type { Key } from './keys.svelte'
import { counted, t } from './messages'
import { go } from './router.svelte'
import { fail, say } from './toasts.svelte'
import type { Brief, Changed } from './values'

export type Doing = 'edit' | 'link' | 'merge' | 'retire'

/** Open a memory and begin with it; `other` is what it is to be merged with. */
export function begin(what: Doing, id: string, other = ''): void {
  go(`/m/${encodeURIComponent(id)}?do=${what}${other && `&with=${encodeURIComponent(other)}`}`)
}

/** The keys of a list whose lines only lead on. */
export function rowKeys(chosen: () => Brief | undefined): Key[] {
  const on = (what: Doing) => () => {
    const memory = chosen()
    return memory ? begin(what, memory.id) : false
  }
  return [
    { keys: 'e', says: t('rows.edit'), does: on('edit') },
    { keys: 'm', says: t('rows.merge'), does: on('merge') },
    { keys: 'r', says: t('rows.retire'), does: on('retire') },
  ]
}

/** The lines that are selected in a list. */
export class Selection {
  ids = $state<string[]>([])
  busy = $state(false)

  has = (id: string) => this.ids.includes(id)

  toggle(id: string): void {
    this.ids = this.has(id) ? this.ids.filter((each) => each !== id) : [...this.ids, id]
  }

  clear(): void {
    this.ids = []
  }

  /** Make one memory of the two that are selected. */
  merge(): unknown {
    const [one, other] = this.ids
    return one && other && this.ids.length === 2 ? begin('merge', one, other) : false
  }

  retire = () => this.#each('count.retired', (id) => post<Changed>(`/agent/outdated/${id}`, {}))
  forget = () => this.#each('count.forgotten', (id) => remove<Changed>(`/agent/recall/${id}`))

  async #each(said: 'count.retired' | 'count.forgotten', act: (id: string) => Promise<Changed>): Promise<void> {
    if (this.busy) return
    this.busy = true
    const changes: string[] = []
    try {
      for (const id of [...this.ids]) {
        const { change } = await act(id)
        if (change) changes.push(change)
        this.toggle(id)
      }
    } catch (error) {
      fail(error)
    }
    if (changes.length) say(counted(said, changes.length), { back: () => takeBack(changes) })
    this.busy = false
  }

  /** The keys of a list in which several can be selected. */
  keys(chosen: () => Brief | undefined): Key[] {
    const toggle = () => (chosen() ? this.toggle(chosen()!.id) : false)
    const several = (does: () => unknown) => () => (this.ids.length ? does() : false)
    return [
      { keys: 'x', says: t('rows.select'), does: toggle },
      { keys: 'm', does: several(() => this.merge()) },
      { keys: 'r', does: several(() => void this.retire()) },
      { keys: '#', says: t('rows.forget'), does: several(() => void this.forget()) },
      { keys: 'Escape', does: several(() => this.clear()) },
      ...rowKeys(chosen),
    ]
  }
}

/** Undo them, the last first. */
async function takeBack(changes: readonly string[]): Promise<void> {
  for (const each of [...changes].reverse()) await post(`/agent/undo/${each}`, {})
}
