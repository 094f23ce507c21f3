/* What `/ui/data/time…` answers with. */

import type { Brief } from '../../parts/values'

export interface Turn {
  is: 'evolution' | 'tension'
  newer: Brief
  older: Brief
  /** Of a tension: whether both still hold. */
  open: boolean
  reason: string | null
  by: string | null
  at: string | null
}

export interface Bars {
  step_days: number
  bars: { from: string; to: string; known: number }[]
  total: number
}

export interface Day {
  held: number
  holding: number
  come: number
  gone: number
  /** What held then and lies in the trash now. */
  forgotten: Brief[]
}

export const turnKey = (turn: Turn) => `${turn.is} ${turn.newer.id} ${turn.older.id}`
