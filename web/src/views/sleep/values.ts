/* What the daemon tells about its jobs, their runs and proposals, and the words for it. */

import type { LastRunNumbers, RunDetail } from '../../parts/contract'

import { failure, JOBS, jobName } from '../../parts/jobs'
import { ago, count, duration } from '../../parts/words'

export type {
  FileChange as FileTurn,
  PageJob as Job,
  PageRun as Run,
  ProposalDetail,
  ProposalLine as Proposal,
  RunChange as Change,
  RunDetail,
  SleepPage as Sleep,
} from '../../parts/contract'

/** How a run went, in numbers. */
export type Report = Omit<LastRunNumbers, 'at'>

export type Changes = Pick<RunDetail, 'changes' | 'total' | 'in_force'>

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
  remember: 'Remember',
}

/** What became of a proposal. */
export const DECIDED: Record<string, string> = { approved: 'Approved', rejected: 'Rejected', expired: 'Let go' }

/** `3 changes, 1 proposal`, or that there was nothing to do, or that it was not done. */
export function done(report: Report, dry = false): string {
  const parts: string[] = []
  if (report.applied)
    parts.push(
      count(report.applied, dry ? 'change it would make' : 'change', dry ? 'changes it would make' : 'changes'),
    )
  if (report.proposed) parts.push(count(report.proposed, 'proposal'))
  if (report.skipped) parts.push(`${report.skipped} left for the next run`)
  if (parts.length) return parts.join(', ')
  return report.stopped ? (dry ? 'would change nothing by itself' : 'changed nothing by itself') : 'nothing to change'
}

/** Why a run did less than it found: it would have been too much at once, or somebody stopped it. */
export function stop(report: Report): string {
  const stopped = report.stopped ?? ''
  return TOO_MUCH.includes(report.stopped_parts?.kind ?? '')
    ? `Too much for one run: ${stopped.replace('%:', '\u00a0%:')}`
    : `Stopped: ${stopped}`
}

const TOO_MUCH = ['too_much_changed', 'too_much_trashed']

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
