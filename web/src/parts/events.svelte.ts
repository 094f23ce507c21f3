/* What happens, as it happens: the daemon's `/events`, read as a stream.

   `EventSource` can send no header, and a cookie alone opens nothing here, so the stream is read
   with fetch. When the line breaks it is taken up again by itself, sooner at first and then every
   two seconds, and as soon as anything else is answered; what was missed meanwhile is told as one
   event, `reconnected`, on which a view asks anew for what it shows.

   A browser opens six connections to one place, for all of its tabs together. So all of them share
   one line (`tabs.ts`), and a tab that nobody looks at neither holds it nor listens to it after a
   while, until it is looked at again. */

import { onDestroy } from 'svelte'
import { headers } from './api'
import { ANSWERED, connection, DOUBTED, type State } from './connection.svelte'
import { isKeyNew } from './session'
import { tabsOf, type Told } from './tabs'

export interface Happening {
  name: string
  body: Record<string, unknown>
}

type Listener = (happening: Happening) => void

const FIRST_PAUSE = 500
const LONGEST_PAUSE = 2_000
const UNSEEN = 15_000 // how long a hidden tab goes on listening
const SILENCE = 40_000 // the daemon says it is there every 15 seconds
const listeners = new Set<Listener>()
const tabs = tabsOf({ told, hello: () => tabs?.tell({ is: 'line', state: connection.state, anew: false }) })
let started = false
/** Whether this tab listens, and whether it did not for a while. */
let listens = false
let behind = false

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
  'remembered',
  'revised',
  'retired',
  'forgotten',
  'restored',
  'linked',
  'unlinked',
  'merged',
  'undone',
  'changed',
] as const

async function forEver(): Promise<void> {
  tabs?.relay(ANSWERED, DOUBTED)
  for (;;) {
    await seen()
    const leave = new AbortController()
    const unwatch = whenUnseen(leave)
    listens = true
    // A browser may have locks and still give none; then each tab has a line of its own.
    await (tabs ? tabs.turn(leave.signal, hold).catch(() => hold(leave.signal)) : hold(leave.signal))
    unwatch()
    if (leave.signal.aborted) [listens, behind] = [false, true]
  }
}

/** Hold the line, and take it up whenever it breaks, until `leave` says so. */
async function hold(leave: AbortSignal, waited = false): Promise<void> {
  let pause = FIRST_PAUSE
  let again = waited || connection.state !== 'connecting'
  while (!leave.aborted) {
    const began = performance.now()
    const lost = await once(leave, again)
    again = true
    if (leave.aborted) return
    if (lost) lineIs(connection.state === 'live' ? 'away' : connection.state)
    pause = performance.now() - began > 5_000 ? FIRST_PAUSE : Math.min(pause * 1.6, LONGEST_PAUSE)
    await wait(pause, leave)
  }
}

/** The line stands, or does not: here, and in the tabs that listen to this one. With `missed` it
    did not stand for a while. */
function lineIs(state: State, missed = false): void {
  const back = missed || behind || connection.state === 'away' || connection.state === 'signed-out'
  connection.state = state
  tabs?.tell({ is: 'line', state, anew: true })
  if (state !== 'live' || !back) return
  behind = false
  tell({ name: 'reconnected', body: {} })
}

/** What the tab with the line says, for this one listens to it. */
function told(said: Told): void {
  if (!listens) return
  if (said.is === 'line') lineIs(said.state, said.anew)
  else if (said.is === 'event') tell(said)
  else stillThere()
}

/** Somebody said something, so nobody is away. */
function stillThere(): void {
  if (connection.state === 'away') lineIs('live')
}

/** Wait until the page is looked at. */
function seen(): Promise<void> {
  if (!document.hidden) return Promise.resolve()
  return new Promise((done) => {
    document.addEventListener('visibilitychange', () => done(), { once: true })
  })
}

/** Leave when the page has been hidden for a while; returns how to stop minding. */
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
function wait(pause: number, leave: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const timer = setTimeout(end, pause)
    function end(): void {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', end)
      removeEventListener(ANSWERED, end)
      leave.removeEventListener('abort', end)
      done()
    }
    document.addEventListener('visibilitychange', end)
    addEventListener(ANSWERED, end)
    leave.addEventListener('abort', end)
  })
}

/** Hold one line until it ends; whether that was not by our own will. */
async function once(leave: AbortSignal, again: boolean): Promise<boolean> {
  const stop = new AbortController()
  let lost = true
  let alive = setTimeout(() => stop.abort(), SILENCE)
  const still = () => {
    clearTimeout(alive)
    alive = setTimeout(() => stop.abort(), SILENCE)
    stillThere()
    tabs?.tell({ is: 'still' })
  }
  const unwatch = whenUnwanted(leave, () => {
    lost = false
    stop.abort()
  })
  try {
    const response = await fetch('/events', { headers: headers(), signal: stop.signal })
    if (response.status === 401) connection.state = 'signed-out'
    if (!response.ok || !response.body) return lost
    lineIs('live', again)
    await read(response.body, still)
  } catch {
    if (lost && connection.state !== 'signed-out') connection.state = 'away'
  } finally {
    clearTimeout(alive)
    unwatch()
  }
  return lost
}

/** Let go of a line that is not ours to hold, or not for who is signed in by now; returns how to
    stop minding. */
function whenUnwanted(leave: AbortSignal, end: () => void): () => void {
  const renew = (event: StorageEvent) => isKeyNew(event) && end()
  leave.addEventListener('abort', end)
  addEventListener(DOUBTED, end)
  addEventListener('storage', renew)
  return () => {
    leave.removeEventListener('abort', end)
    removeEventListener(DOUBTED, end)
    removeEventListener('storage', renew)
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
  if (!name || !data) return
  const happening: Happening = { name, body: JSON.parse(data) }
  tell(happening)
  tabs?.tell({ is: 'event', ...happening })
}

function tell(happening: Happening): void {
  for (const each of [...listeners]) each(happening)
}
