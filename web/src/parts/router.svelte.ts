/* Where we are. Plain links (`<a href="/ui/…">`) work by themselves; `go` is for keys and code. */

import { arrive, leave, newEntry } from './places'

export const ROOT = '/ui'

export interface Here {
  /** The path below /ui, such as `/m/1234`. */
  path: string
  /** What stands behind the `?`. */
  query: URLSearchParams
}

export const here = $state<Here>(read())

function read(): Here {
  const path = location.pathname.slice(ROOT.length) || '/'
  return { path, query: new URLSearchParams(location.search) }
}

function follow(): void {
  Object.assign(here, read())
}

/** Go to a path below /ui. `replace` leaves no way back to where we were. */
export function go(path: string, { replace = false } = {}): void {
  const to = ROOT + path
  if (to === location.pathname + location.search) return
  if (replace) history.replaceState(history.state, '', to)
  else push(to)
  follow()
}

function push(to: string): void {
  leave()
  history.pushState(newEntry(), '', to)
  scrollTo(0, 0)
  arrive()
}

/** Change what stands behind the `?` and leave the rest; empty values are taken out. */
export function setQuery(values: Record<string, string | string[] | null>, replace = true): void {
  const query = new URLSearchParams(location.search)
  for (const [name, value] of Object.entries(values)) {
    query.delete(name)
    const all = Array.isArray(value) ? value : value ? [value] : []
    all.forEach((each) => query.append(name, each))
  }
  const text = query.toString()
  go(here.path + (text ? `?${text}` : ''), { replace })
}

/** Where a memory is looked at: as it is, or as it was on a day. */
export function memoryPath(id: string, day = ''): string {
  return `${ROOT}/m/${encodeURIComponent(id)}${day && `?as_of=${encodeURIComponent(day)}`}`
}

/** Go there. */
export const openMemory = (id: string, day = '') => go(memoryPath(id, day).slice(ROOT.length))

/** Whether a click means this tab: with other buttons and keys a browser opens another one, or saves. */
export function isPlain(event: MouseEvent): boolean {
  return event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey
}

arrive()
addEventListener('popstate', () => {
  leave()
  arrive()
  follow()
})

document.addEventListener('click', (event) => {
  if (event.defaultPrevented || !isPlain(event)) return
  const link = (event.target as Element | null)?.closest?.('a')
  if (!link || link.target || link.origin !== location.origin) return
  if (link.pathname !== ROOT && !link.pathname.startsWith(`${ROOT}/`)) return
  if (link.hash && link.pathname === location.pathname && link.search === location.search) return
  event.preventDefault()
  go((link.pathname.slice(ROOT.length) || '/') + link.search + link.hash)
})

/** Where a project is looked at. */
export const projectPath = (space: string) => `${ROOT}/projects/${encodeURIComponent(space)}`
