/* What happens, as it happens: the daemon's `/events`, read as a stream.

   `EventSource` can send no header, and a cookie alone opens nothing here, so the stream is read
   with fetch. When the line breaks it is taken up again by itself, sooner at first and then every
   two seconds, and as soon as anything else is answered; what was missed meanwhile is told as one event, `reconnected`, on which a view
   asks anew for what it shows.

   A browser opens six connections to one place, for all of its tabs together. So a tab that nobody
   looks at lets go of its line after a while, and takes it up when it is looked at again. */

import { onDestroy } from 'svelte'
import { headers } from './api'
import { ANSWERED, connection } from './connection.svelte'

export interface Happening {
  name: string
  body: Record<string, unknown>
}

type Listener = (happening: Happening) => void

const FIRST_PAUSE = 500
const LONGEST_PAUSE = 2_000
const UNSEEN = 15_000 // how long a hidden tab keeps its line
const SILENCE = 40_000 // the daemon says it is there every 15 seconds
const listeners = new Set<Listener>()
let started = false

/** Begin to listen; once, when the page is loaded. */
export function listen(): void {
  if (started) return
  started = true
  void forEver()
}

/** Call `heard` for these events (all, if none is named) as long as the component lives. */
export function onEvents(names: readonly string[], heard: Listener): void {
  onDestroy(subscribe(names, heard))
}

/** The same outside of a component; call what it returns to stop. */
export function subscribe(names: readonly string[], heard: Listener): () => void {
  const wanted = new Set([...names, 'reconnected'])
  const listener: Listener = (each) => {
    if (names.length === 0 || wanted.has(each.name)) heard(each)
  }
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Changes of memories, by whatever verb. */
export const MEMORIES = [
  'remembered', 'revised', 'retired', 'forgotten', 'restored', 'linked', 'unlinked', 'merged',
  'undone', 'changed',
] as const

async function forEver(): Promise<void> {
  let pause = FIRST_PAUSE
  let before = false
  for (;;) {
    await seen()
    const began = performance.now()
    await once(before)
    before ||= connection.state === 'live' || connection.state === 'away'
    if (connection.state === 'live' && !document.hidden) connection.state = 'away'
    pause = performance.now() - began > 5_000 ? FIRST_PAUSE : Math.min(pause * 1.6, LONGEST_PAUSE)
    await wait(pause)
  }
}

/** Wait until the page is looked at. */
function seen(): Promise<void> {
  if (!document.hidden) return Promise.resolve()
  return new Promise((done) => {
    document.addEventListener('visibilitychange', () => done(), { once: true })
  })
}

/** Let go of a line when its page has been hidden for a while; returns how to stop minding. */
function whenUnseen(stop: AbortController): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const look = () => {
    clearTimeout(timer)
    if (document.hidden) timer = setTimeout(() => stop.abort(), UNSEEN)
  }
  document.addEventListener('visibilitychange', look)
  return () => {
    clearTimeout(timer)
    document.removeEventListener('visibilitychange', look)
  }
}

/** Wait, but no longer than until the page is looked at again, or the daemon has answered. */
function wait(pause: number): Promise<void> {
  return new Promise((done) => {
    const timer = setTimeout(end, pause)
    function end(): void {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', end)
      removeEventListener(ANSWERED, end)
      done()
    }
    document.addEventListener('visibilitychange', end)
    addEventListener(ANSWERED, end)
  })
}

async function once(again: boolean): Promise<void> {
  const stop = new AbortController()
  let alive = setTimeout(() => stop.abort(), SILENCE)
  const still = () => {
    clearTimeout(alive)
    alive = setTimeout(() => stop.abort(), SILENCE)
  }
  const unwatch = whenUnseen(stop)
  try {
    const response = await fetch('/events', { headers: headers(), signal: stop.signal })
    if (response.status === 401) connection.state = 'signed-out'
    if (!response.ok || !response.body) return
    connection.state = 'live'
    if (again) tell({ name: 'reconnected', body: {} })
    await read(response.body, still)
  } catch {
    if (connection.state !== 'signed-out' && !document.hidden) connection.state = 'away'
  } finally {
    clearTimeout(alive)
    unwatch()
  }
}

async function read(body: ReadableStream<Uint8Array>, still: () => void): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream() as never).getReader()
  let kept = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    still()
    const blocks = (kept + value).split('\n\n')
    kept = blocks.pop() ?? ''
    blocks.forEach(take)
  }
}

function take(block: string): void {
  const name = /^event: (.*)$/m.exec(block)?.[1]
  const data = /^data: (.*)$/m.exec(block)?.[1]
  if (name && data) tell({ name, body: JSON.parse(data) })
}

function tell(happening: Happening): void {
  for (const each of [...listeners]) each(happening)
}
