/* What the editor edits, as text; and what two versions of a memory differ in. */

import type { Memory } from '../../parts/values'
import { day, edge, percent, space } from '../../parts/words'

export interface Fields {
  title: string
  content: string
  type: string
  tier: string
  space: string
  tags: string
}

export const LABELS: Record<keyof Fields, string> = {
  title: 'Title',
  content: 'Text',
  type: 'Type',
  tier: 'Tier',
  space: 'Space',
  tags: 'Tags',
}

export function fieldsOf(memory: Memory): Fields {
  return {
    title: memory.title ?? '',
    content: memory.content,
    type: memory.type,
    tier: memory.tier,
    space: memory.space ?? '',
    tags: memory.tags.join(', '),
  }
}

/** The fields in which two states differ. */
export function differing(one: Fields, other: Fields): (keyof Fields)[] {
  return (Object.keys(LABELS) as (keyof Fields)[]).filter((name) => plain(name, one) !== plain(name, other))
}

function plain(name: keyof Fields, fields: Fields): string {
  return name === 'tags' ? tagsOf(fields.tags).join(',') : name === 'content' ? fields.content : fields[name].trim()
}

export function tagsOf(text: string): string[] {
  return text
    .split(/[,\n]/)
    .map((each) => each.trim().replace(/^#/, ''))
    .filter(Boolean)
}

/** What to send so that a memory with `before` says `after`; what stays is left out. */
export function revision(before: Fields, after: Fields): Record<string, unknown> {
  const sent: Record<string, unknown> = {}
  for (const name of differing(before, after)) {
    if (name === 'tags') sent.tags = tagsOf(after.tags)
    else if (name === 'content') sent.content = after.content
    else sent[name] = after[name].trim() || null
  }
  return sent
}

/** A line for every field but the text in which two versions differ, as from → to. */
export function changedLines(before: Memory, after: Memory): { label: string; from: string; to: string }[] {
  const [one, other] = [described(before), described(after)]
  return Object.keys(one)
    .filter((label) => one[label] !== other[label])
    .map((label) => ({ label, from: one[label]!, to: other[label]! }))
}

const NONE = '–'

function described(memory: Memory): Record<string, string> {
  const links = memory.connections.map((each) => `${edge(each.edge)} ${each.target.slice(0, 8)}`).sort()
  return {
    Title: memory.title ?? NONE,
    Type: memory.type,
    Tier: memory.tier,
    Space: space(memory.space),
    Tags: memory.tags.join(', ') || NONE,
    Confidence: percent(memory.confidence),
    'True until': memory.valid_until ? day(memory.valid_until) : NONE,
    'Replaced by': memory.superseded_by?.slice(0, 8) ?? NONE,
    Claim: memory.claim ? `${memory.claim.subject}, ${memory.claim.attribute}: ${memory.claim.value}` : NONE,
    Connections: links.join('; ') || NONE,
  }
}
