/* What the daemon answers with; docs/reference/routes.md has all of it. */

import type * as told from './contract'

export type { Connection, Memory, Mention } from './contract'
export type Changed = told.ChangedMemory

/** A memory as a line of a list; only in answers to a question it has a score and reasons. */
export type Brief = told.Brief & Partial<told.BriefHit>

export const TYPES = [
  'fact',
  'decision',
  'preference',
  'event',
  'person',
  'project',
  'concept',
  'procedure',
  'goal',
  'observation',
] as const
export type MemoryType = (typeof TYPES)[number] | (string & {})

export const TIERS = ['core', 'working', 'archival'] as const
export type Tier = (typeof TIERS)[number]

export const EDGES = [
  'supports',
  'part_of',
  'depends_on',
  'contradicts',
  'related_to',
  'defines',
  'derived_from',
  'evolved_from',
] as const
