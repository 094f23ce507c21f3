/* What the daemon answers with; docs/reference/routes.md has all of it. */

export const TYPES = [
  'fact', 'decision', 'preference', 'event', 'person', 'project', 'concept', 'procedure', 'goal',
  'observation',
] as const
export type MemoryType = (typeof TYPES)[number] | (string & {})

export const TIERS = ['core', 'working', 'archival'] as const
export type Tier = (typeof TIERS)[number]

export const EDGES = [
  'supports', 'part_of', 'depends_on', 'contradicts', 'related_to', 'defines', 'derived_from',
  'evolved_from',
] as const

export interface Connection {
  target: string
  edge: string
  weight: number
  reason?: string | null
  by?: string | null
  at?: string | null
  kind?: string | null
  confidence?: number | null
}

export interface Memory {
  id: string
  short_id: string
  type: MemoryType
  tier: Tier
  space: string | null
  title: string | null
  headline: string
  content: string
  tags: string[]
  source: string
  confidence: number
  created: string
  updated: string
  valid_until: string | null
  superseded_by: string | null
  origin: { session?: string; turn?: number; speaker?: string; uri?: string } | null
  claim: { subject: string; attribute: string; value: string } | null
  connections: Connection[]
  importance: number
  access_count: number
  last_accessed: string
  last_review: string | null
  stability: number
  relevance: number | null
  meta?: Record<string, unknown>
}

/** A memory as a line of a list: without its whole text. */
export interface Brief {
  id: string
  short_id: string
  type: MemoryType
  tier: Tier
  space: string | null
  headline: string
  /** The beginning of the text, or the place that answers. */
  extract: string
  tags: string[]
  created: string
  updated: string
  valid_until: string | null
  superseded_by: string | null
  /** Whether it is retired, expired or superseded. */
  outdated: boolean
  /** Only in answers to a question. */
  score?: number
  reasons?: string[]
  mentions?: Mention[]
}

/** A memory of which words have only the short id. */
export interface Mention {
  id: string
  short_id: string
  headline: string
}

export interface Changed {
  text: string
  node_id: string
  memory: Memory
  change: string | null
  notes: string[]
}
