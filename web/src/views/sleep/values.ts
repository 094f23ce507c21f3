/* What the daemon tells about its jobs, their runs and proposals, and the words for it. */

import { failure, JOBS, jobName } from '../../parts/jobs'
import type { Brief } from '../../parts/values'
import { ago, count, duration } from '../../parts/words'

export interface Report {
  run: string | null
  seconds: number | null
  looked: number | null
  judged: number | null
  applied: number | null
  proposed: number | null
  skipped: number | null
  stopped: string | null
  error: string | null
  counts: Record<string, unknown>
  problems: Record<string, number>
}

export interface Job {
  id: string
  interval_minutes: number
  paused: boolean
  waiting: boolean
  running: boolean
  progress: { began: string; dry_run: boolean; done: number; total: number } | null
  last_run: (Report & { at: string }) | null
  failures: number
  next_run: string | null
}

export interface Sleep {
  enabled: boolean
  consolidation_enabled: boolean
  judge: string
  running: string | null
  proposals: number
  jobs: Job[]
  tasks: Job[]
}

export interface Run extends Report {
  job: string
  at: string
  run: string
  changes: number
  in_force: number
}

/** One run: a page of its changes, and how it went, if that is still known. */
export interface RunDetail extends Changes {
  job: string
  applied: number | null
  report: Run | null
}

export interface Change {
  id: string
  at: string
  verb: string
  reason: string | null
  outcome: string | null
  words: string[]
  memories: { id: string; title: string | null }[]
}

export interface Changes {
  changes: Change[]
  total: number
  in_force: number
}

export interface FileTurn {
  memory: string
  path_before: string | null
  path_after: string | null
  before: string | null
  after: string | null
  known: boolean
}

export interface Patch {
  action: string
  what: string
  why: string
  would?: 'apply' | 'propose' | 'wait'
  diff?: string
}

export interface DryReport extends Report {
  job: string
  patches: Patch[]
}

export interface Proposal {
  id: string
  type: string
  status: string
  source_nodes: string[]
  proposed_action: string
  reason: string | null
  created: string
  resolved: string | null
  /** Of one that was decided: who did, the change that still holds because of it, and whether it
      can be taken back. */
  by: string | null
  change: string | null
  undoable: boolean | null
}

export interface ProposalDetail {
  proposal: Proposal & { action: Record<string, string> }
  memories: (Brief & { content: string })[]
  memories_total: number
  difference: string
  problem: string | null
  /** The memory that says something else by now; without a title it is gone. */
  changed: { id: string; title: string | null } | null
}

export { failure, JOBS, jobName }

/** In the place of a job's name, where the whole cycle is meant. */
export const WHOLE = 'run-all'

/** Where a run of a job, or of the whole cycle, is asked for. */
export const runPath = (job: string) => (job === WHOLE ? `/admin/tasks/${WHOLE}` : `/admin/tasks/${job}/run`)

export const TYPES: Record<string, string> = {
  merge: 'Merge',
  conflict: 'Conflict',
  decay: 'Archive',
  link: 'Connection',
  consolidate: 'Digest',
  space: 'Space',
  forget: 'Forget',
}

/** What became of a proposal. */
export const DECIDED: Record<string, string> = { approved: 'Approved', rejected: 'Rejected', expired: 'Let go' }

/** `3 changes, 1 proposal`, or that there was nothing to do, or that it was not done. */
export function done(report: Report, dry = false): string {
  const parts: string[] = []
  if (report.applied) parts.push(count(report.applied, dry ? 'change it would make' : 'change', dry ? 'changes it would make' : 'changes'))
  if (report.proposed) parts.push(count(report.proposed, 'proposal'))
  if (report.skipped) parts.push(`${report.skipped} left for the next run`)
  if (parts.length) return parts.join(', ')
  return report.stopped ? (dry ? 'would change nothing by itself' : 'changed nothing by itself') : 'nothing to change'
}

/** Why a run did less than it found: it would have been too much at once, or somebody stopped it. */
export function stop(stopped: string): string {
  return /, more than \d+%/.test(stopped) ? `Too much for one run: ${stopped.replace('%:', '\u00a0%:')}` : `Stopped: ${stopped}`
}

/** How often, if a job runs by itself. */
export function every(minutes: number): string {
  if (!minutes) return ''
  if (minutes < 60) return minutes === 1 ? 'every minute' : `every ${Math.round(minutes)} minutes`
  const hours = minutes / 60
  if (hours < 48) return hours === 1 ? 'every hour' : `every ${Math.round(hours)} hours`
  const days = Math.round(hours / 24)
  return days === 7 ? 'every week' : `every ${days} days`
}

/** When a job runs next: `in 3 hours`, `in a moment`. */
export function next(time: string, now = Date.now()): string {
  return Date.parse(time) - now < 60_000 ? 'in a moment' : ago(time, now)
}

export const took = (report: Report) => (report.seconds === null ? '' : duration(report.seconds))

/** A job's sentence with the memories by their titles only: “Ferry at nine” for `2f0ee1a2` (Ferry at nine). */
export const plain = (words: string) => words.replace(NAMED, (_, whole?: string, odd?: string) => `“${whole ?? odd}”`)

/** A title in brackets: with brackets in pairs in it, or else up to where the sentence goes on. */
const NAMED = /`[0-9a-f]{8}` \((?:([^()]*(?:\([^()]*\)[^()]*)*)|(.*?))\)(?=$|,| to | into | replace | and | \()/g
