/* Keys. A component says which ones it answers to and in which words, with `onKeys` while it is
   being made; the newest component is asked first, so that a dialog's keys come before those of
   the page behind it. `?` shows all that hold right now.

   A name is what `KeyboardEvent.key` says (`j`, `Enter`, `ArrowDown`), two keys one after the
   other (`g s`), or `mod+s`, where mod is Ctrl, on a Mac the command key. Plain keys do not count
   while somebody types, `Escape` and those with `mod` do. A key that is held walks, but does nothing
   else again: what it would decide, nobody has read. */

import { onDestroy } from 'svelte'

export interface Key {
  keys: string | string[]
  /** What it does, in plain words; without it the key is not listed. */
  says?: string
  /** Return false to leave the key to whoever is asked next. */
  does: (event: KeyboardEvent) => unknown
  /** Whether it counts while somebody types. */
  typing?: boolean
}

interface Layer {
  title: string
  keys: Key[]
  /** Whether those below are not asked at all. */
  alone: boolean
}

// Not a state: while one dialog takes the place of another, a state would still be read as it was.
let known: Layer[] = []

/** All that hold right now, the newest last. */
export const layers = () => known

const SEQUENCE = 1_200
/** Keys that only walk or look around, and go on doing so while they are held. */
const WALKING = ['j', 'k', 'ArrowDown', 'ArrowUp', 'ArrowLeft', 'ArrowRight', '+', '=', '-']
let before = ''
let at = 0

/** Answer to these keys as long as the component lives. */
export function onKeys(title: string, keys: Key[], alone = false): void {
  const layer = { title, keys, alone }
  known = [...known, layer]
  onDestroy(() => {
    known = known.filter((each) => each !== layer)
  })
}

addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.isComposing) return
  const name = nameOf(event)
  if (event.repeat) {
    if (offer(event, name, isTyping(event.target))) event.preventDefault()
    return
  }
  const pair = before && performance.now() - at < SEQUENCE ? `${before} ${name}` : ''
  const typing = isTyping(event.target)
  const paired = offer(event, pair, typing)
  if (!typing) [before, at] = [paired ? '' : name, performance.now()]
  if (paired || offer(event, name, typing)) event.preventDefault()
})

// A held Enter presses a button or sends a form again and again; in a text it makes new lines.
addEventListener(
  'keydown',
  (event) => {
    const lines = event.target instanceof HTMLTextAreaElement && !event.metaKey && !event.ctrlKey
    if (!event.repeat || event.key !== 'Enter' || event.isComposing || lines) return
    event.preventDefault()
    event.stopPropagation()
  },
  true,
)

/** Do what a key does; a held one only if it walks. */
const does = (key: Key, event: KeyboardEvent, name: string) =>
  event.repeat && !WALKING.includes(name) ? true : key.does(event)

function offer(event: KeyboardEvent, name: string, typing: boolean): boolean {
  if (!name) return false
  for (const layer of [...known].reverse()) {
    for (const each of layer.keys) {
      const wanted = Array.isArray(each.keys) ? each.keys : [each.keys]
      const counts = !typing || each.typing || name === 'Escape' || name.startsWith('mod+')
      if (counts && wanted.includes(name) && does(each, event, name) !== false) return true
    }
    if (layer.alone) return false
  }
  return false
}

function nameOf(event: KeyboardEvent): string {
  if (isMadeWithAlt(event)) return event.key
  const mod = event.metaKey || event.ctrlKey
  if (event.altKey) return ''
  return mod ? `mod+${event.key.toLowerCase()}` : event.key
}

/** Whether the keyboard makes this sign by AltGr, as many make `#`. Windows may say Ctrl and Alt for it, a
    Mac has it on Alt; there a letter is none of them, but somebody's shortcut. */
function isMadeWithAlt(event: KeyboardEvent): boolean {
  if (event.metaKey || event.key.length !== 1) return false
  if (event.getModifierState('AltGraph')) return true
  const onMac = /Mac/.test(navigator.platform)
  return event.altKey && event.ctrlKey !== onMac && !/[a-z]/i.test(event.key)
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target instanceof HTMLInputElement) return !['checkbox', 'radio', 'range', 'button'].includes(target.type)
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || target.isContentEditable
}
