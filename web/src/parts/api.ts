/* Asking the daemon. Every answer is JSON; what goes wrong is an `ApiError` in the daemon's own
   words, or `Away` when nobody answers. */

import { ANSWERED, connection, DOUBTED } from './connection.svelte'
import { readAnswer } from './direction'
import { t } from './messages'
import { key } from './session'

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint: string,
    /** What it is, for deciding: see docs/reference/kinds.md. The message is only shown. */
    readonly kind: string,
    readonly parts: Record<string, unknown>,
  ) {
    super(message)
  }
}

/** Nobody answers: the daemon is down or restarting. Nothing was changed, as far as we know. */
export class Away extends Error {
  constructor() {
    super(t('parts.theDaemonDoesNotAnswer'))
  }
}

export type Query = Record<string, string | number | boolean | string[] | null | undefined>

export interface Options {
  query?: Query
  body?: unknown
  signal?: AbortSignal
}

export const get = <T>(path: string, query?: Query, signal?: AbortSignal) => ask<T>('GET', path, { query, signal })

export const post = <T>(path: string, body: unknown = {}, query?: Query) => ask<T>('POST', path, { body, query })

export const remove = <T>(path: string, query?: Query) => ask<T>('DELETE', path, { query })

export function headers(): Record<string, string> {
  return { 'X-Madeleine-Page': key(), 'X-Agent-Id': 'page' }
}

export async function ask<T>(method: string, path: string, options: Options = {}): Promise<T> {
  const response = await reach(method, path + search(options.query), options)
  if (connection.state === 'away') dispatchEvent(new Event(ANSWERED))
  const answer = (await response
    .text()
    .then(readAnswer)
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- whatever a daemon answers
    .catch(() => ({}))) as any
  if (response.ok) return answer as T
  if (response.status === 401) refused()
  const error = answer.error ?? {}
  throw new ApiError(
    response.status,
    error.code ?? 'error',
    error.message ?? t('parts.theDaemonAnswered', { status: response.status }),
    error.hint ?? '',
    error.kind ?? 'error',
    error.parts ?? {},
  )
}

/** The daemon does not know this browser: that holds for all of its tabs. */
function refused(): void {
  connection.state = 'signed-out'
  dispatchEvent(new Event(DOUBTED))
}

async function reach(method: string, path: string, options: Options): Promise<Response> {
  const body = options.body === undefined ? undefined : JSON.stringify(options.body)
  const sent = { ...headers(), ...(body ? { 'Content-Type': 'application/json' } : {}) }
  try {
    return await fetch(path, {
      method,
      body,
      headers: sent,
      signal: options.signal,
      cache: 'no-store',
      credentials: 'same-origin',
    })
  } catch (error) {
    if (options.signal?.aborted) throw error
    if (connection.state === 'live') connection.state = 'away'
    throw new Away()
  }
}

function search(query: Query = {}): string {
  const words = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined || value === '') continue
    if (Array.isArray(value)) value.forEach((each) => words.append(name, each))
    else words.append(name, String(value))
  }
  const text = words.toString()
  return text ? `?${text}` : ''
}

/** Whether an error only says that somebody asked anew before the answer came. */
export function isAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError'
}

/** Whether an error is of a kind. */
export const isKind = (error: unknown, kind: string): error is ApiError =>
  error instanceof ApiError && error.kind === kind

/** Whether an error says that what was asked for is not there. */
export const isMissing = (error: unknown) => error instanceof ApiError && error.status === 404
