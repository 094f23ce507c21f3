/* What the daemon tells for the first view. */

import type { Outcome } from '../whispers/values'

export interface Bar {
  from: string
  to: string
  known: number
}

export interface Prompt {
  id: string
  at: string
  outcome: Outcome
  took_ms: number | null
}

export interface Prompts {
  deadline_ms: number
  median_ms: number | null
  slow_ms: number | null
  each: Prompt[]
}

export interface Attention {
  kind: 'bad' | 'warn' | 'ask'
  text: string
  more: string[]
  to: string | null
  /** Whom the text is about. */
  job: string | null
}

export interface HomeJob {
  id: string
  paused: boolean
  running: boolean
  last: string | null
  failures: number
  next: string | null
}

export interface Home {
  now: string
  size: {
    memories: number
    connections: number
    tiers: Record<string, number>
    types: Record<string, number>
    spaces: Record<string, number>
    spaces_total: number
    unembedded: number
  }
  week: number
  growth: { step_days: number; bars: Bar[]; total: number; first: string | null }
  prompts: Prompts
  attention: Attention[]
  sleep: { enabled: boolean; applied: number; proposed: number; proposals: number; jobs: HomeJob[] }
  backup: string | null
  daemon: { uptime_seconds?: number; failures?: number; hooks?: Record<string, number | string[]> } | null
}
