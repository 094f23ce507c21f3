/* Many links in one chart are one stop of the tab key: the arrows walk among them. */

import type { Action } from 'svelte/action'

const STEPS: Record<string, number> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }

/** Let one of the links inside be reached with the tab key, the last one first, and the rest from there. */
export const roving: Action<Element, unknown> = (node) => {
  const links = () => [...node.querySelectorAll<HTMLElement | SVGElement>('a')]

  function settle(): void {
    const all = links()
    const current = all.find((each) => each.getAttribute('tabindex') === '0') ?? all.at(-1)
    for (const each of all) each.setAttribute('tabindex', each === current ? '0' : '-1')
  }

  function walk(event: Event): void {
    const { key } = event as KeyboardEvent
    const all = links()
    const at = all.indexOf(document.activeElement as HTMLElement)
    const to = key === 'Home' ? 0 : key === 'End' ? all.length - 1 : at + (STEPS[key] ?? NaN)
    const next = all[to]
    if (at < 0 || !next) return
    all[at]!.setAttribute('tabindex', '-1')
    next.setAttribute('tabindex', '0')
    next.focus()
    event.preventDefault()
    event.stopPropagation() // the arrows mean this chart, and not a list of the view
  }

  settle()
  node.addEventListener('keydown', walk)
  return { update: settle, destroy: () => node.removeEventListener('keydown', walk) }
}
