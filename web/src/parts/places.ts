/* Where somebody was in a view, kept for each entry of the browser's history, so that Back and
   Forward return there: what a view had loaded and chosen (`kept`), what stood at the top of the
   window, and where the focus was. A reload keeps them too.

   A list is there only after its answer, and its lines get their heights as they are drawn. So the
   line that stood at the top is put there again, frame by frame, until nothing moves any more or
   somebody moves it by hand. */

import { onDestroy } from 'svelte'

/** A link in a view: the nth of those that lead to the same place. */
interface Link {
  to: string
  nth: number
}

interface Place {
  /** Links that were in sight, from the top; those that are gone by now are passed over. */
  seen: (Link & { top: number })[]
  y: number
  /** What had the focus: a link, or something with an id. */
  focus: Link | string | null
  values: Record<string, unknown>
}

const NAME = 'madeleine.places'
const MOST = 50 // of the newest entries
const IN_SIGHT = 8
const PATIENCE = 6_000
const CALM = 20 // frames in which nothing moved
const BY_HAND = ['wheel', 'touchstart', 'pointerdown', 'keydown']

const keepers = new Map<string, () => unknown>()
const places = new Map<string, Place>(JSON.parse(sessionStorage.getItem(NAME) ?? '[]'))
let entry = ''
let settling = 0

/** Return what a component kept under this name in this entry of the history, if anything; what
    `now` says is kept when the entry is left. */
export function kept<T>(name: string, now: () => T): T | undefined {
  keepers.set(name, now)
  onDestroy(() => keepers.get(name) === now && keepers.delete(name))
  return places.get(entry)?.values[name] as T | undefined
}

/** Whether somebody has been here before, and comes back. */
export const isReturn = () => places.has(entry)

/** What an entry of the history is known by. */
export const newEntry = () => ({ entry: Date.now().toString(36) + Math.random().toString(36).slice(2) })

/** Keep where we are, before we go anywhere else. */
export function leave(): void {
  settling++
  const values = { ...places.get(entry)?.values }
  for (const [name, now] of keepers) values[name] = now()
  places.delete(entry)
  places.set(entry, { seen: inSight(), y: scrollY, focus: focused(), values })
  if (places.size > MOST) places.delete(places.keys().next().value!)
}

/** Return to where we were in this entry, or go to what the address names behind its `#`. */
export function arrive(): void {
  if (!history.state?.entry) history.replaceState(newEntry(), '')
  entry = history.state.entry
  const place = places.get(entry)
  if (place)
    settle(
      () => put(place),
      () => focusOn(place.focus),
    )
  else if (location.hash) settle(show, () => named()?.focus({ preventScroll: true }))
  else scrollTo(0, 0)
}

const named = () => document.getElementById(location.hash.slice(1))

function show(): boolean {
  named()?.scrollIntoView()
  return named() !== null
}

/** Do it in every frame until it is done and nothing moves any more. */
function settle(done: () => boolean, first: () => void): void {
  const mine = ++settling
  const until = performance.now() + PATIENCE
  let [calm, before] = [-1, NaN]
  const frame = () => {
    if (mine !== settling || calm > CALM || performance.now() > until) return
    if (done()) {
      if (calm < 0) first()
      calm = scrollY === before ? calm + 1 : 0
      before = scrollY
    }
    requestAnimationFrame(frame)
  }
  requestAnimationFrame(frame)
}

/** Put what was at the top there again; false if it is not there yet. */
function put(place: Place): boolean {
  const known = place.seen.find((each) => element(each))
  if (known) scrollBy(0, element(known)!.getBoundingClientRect().top - known.top)
  else scrollTo(0, place.y)
  return !!known || !place.seen.length
}

function inSight(): Place['seen'] {
  if (scrollY < 1) return [] // what has come on top meanwhile is to be seen
  const all = [...document.querySelectorAll<HTMLAnchorElement>('main a[href]')]
  const first = all.findIndex((each) => each.getBoundingClientRect().bottom > 0)
  const shown = first < 0 ? [] : all.slice(first, first + IN_SIGHT)
  return shown.map((each) => ({ ...linkOf(each), top: each.getBoundingClientRect().top }))
}

function focused(): Place['focus'] {
  const at = document.activeElement
  if (at instanceof HTMLAnchorElement && at.closest('main')) return linkOf(at)
  return at?.id || null
}

function focusOn(focus: Place['focus']): void {
  const found = typeof focus === 'string' ? document.getElementById(focus) : focus && element(focus)
  found?.focus({ preventScroll: true })
}

const same = (to: string) => [...document.querySelectorAll<HTMLElement>(`main a[href="${CSS.escape(to)}"]`)]

function linkOf(link: HTMLAnchorElement): Link {
  const to = link.getAttribute('href')!
  return { to, nth: same(to).indexOf(link) }
}

const element = ({ to, nth }: Link) => same(to)[nth]

history.scrollRestoration = 'manual'
for (const each of BY_HAND) addEventListener(each, () => settling++, { capture: true, passive: true })
addEventListener('pagehide', () => {
  leave()
  try {
    sessionStorage.setItem(NAME, JSON.stringify([...places]))
  } catch {
    sessionStorage.removeItem(NAME) // too much to be kept: a reload begins at the top
  }
})
