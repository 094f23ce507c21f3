/* What the daemon says about the graph. */

import type { MemoryType, Tier } from '../../parts/values'

/** A memory as the graph draws it. */
export interface Sketch {
  id: string
  type: MemoryType
  tier: Tier
  space: string | null
  headline: string
  importance: number
  outdated: boolean
}

/** source, target, edge, weight, and why if that was asked for */
export type Arrow = [string, string, string, number, (string | null)?]

export interface Drawn {
  memories: Sketch[]
  connections: Arrow[]
}

export interface Overview extends Drawn {
  regions: { space: string | null; memories: number }[]
  spaces: number
  total: number
}

export interface Surroundings extends Drawn {
  id: string
  near: string[]
}

export interface Step {
  id: string
  edge: string
  forward: boolean
  reason: string | null
}

export interface Paths extends Drawn {
  from: string
  to: string
  paths: Step[][]
  seen: number
  whole: boolean
}
