/* What the editor edits, as text; and what two versions of a memory differ in. */

import { arrow } from '../../parts/arrows'
import { t } from '../../parts/messages'
import type { Memory, Mention } from '../../parts/values'
import { day, percent, space, tierName, typeName, withTitles } from '../../parts/words'

export interface Fields {
  title: string
  content: string
  type: string
  tier: string
  space: string
  tags: string
  /** `standing` or `plain` where somebody said so; else it is read from the text. */
  kind: string
}

export const LABELS: Record<keyof Fields, string> = {
  title: t('memory.title'),
  content: t('memory.text'),
  type: t('memory.type'),
  tier: t('memory.tier'),
  space: t('memory.space'),
  tags: t('memory.tags'),
  kind: t('memory.kind'),
}

export function fieldsOf(memory: Memory): Fields {
  return {
    title: memory.title ?? '',
    content: memory.content,
    type: memory.type,
    tier: memory.tier,
    space: memory.space ?? '',
    tags: memory.tags.join(', '),
    kind: memory.kind ?? '',
  }
}

/** Whether it says how things are done, as somebody said or as the text says. */
export function kindName(kind: string | null | undefined): string {
  if (!kind) return t('memory.kindByText')
  return kind === 'standing' ? t('memory.kindStanding') : t('memory.kindPlain')
}

/** The fields in which two states differ. */
export function differing(one: Fields, other: Fields): (keyof Fields)[] {
  return (Object.keys(LABELS) as (keyof Fields)[]).filter((name) => plain(name, one) !== plain(name, other))
}

function plain(name: keyof Fields, fields: Fields): string {
  if (name === 'tags') return tagsOf(fields.tags).join(',')
  return name === 'content' ? fields.content : (fields[name] ?? '').trim() // a draft of before may lack one
}

export function tagsOf(text: string): string[] {
  return text
    .split(/[,\n]/)
    .map((each) => each.trim().replace(/^#/, ''))
    .filter(Boolean)
}

/** What somebody made of `base`, upon what it is now: only the fields that they changed are theirs,
    every other one is as it is now. */
export function upon(now: Fields, base: Fields, mine: Fields): Fields {
  const whole = { ...now }
  for (const name of differing(base, mine)) whole[name] = mine[name]
  return whole
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

/** A line for every field but the text in which two versions differ, as from → to; of many
    connections only those that came or went. */
export function changedLines(
  before: Memory,
  after: Memory,
  mentions: readonly Mention[],
): { label: string; from: string; to: string }[] {
  const [one, other] = [described(before, after, mentions), described(after, before, mentions)]
  return Object.keys(one)
    .filter((label) => one[label] !== other[label])
    .map((label) => ({ label, from: one[label]!, to: other[label]! }))
}

const NONE = '–'
const linksOf = (memory: Memory) =>
  memory.connections.map((each) => `${arrow(each.edge, true)} ${each.target.slice(0, 8)}`)

function described(memory: Memory, compared: Memory, mentions: readonly Mention[]): Record<string, string> {
  const same = new Set(linksOf(compared))
  const links = linksOf(memory)
    .filter((each) => !same.has(each))
    .sort()
  return {
    [t('memory.title')]: memory.title ?? NONE,
    [t('memory.type')]: typeName(memory.type),
    [t('memory.tier')]: tierName(memory.tier),
    [t('memory.space')]: space(memory.space),
    [t('memory.tags')]: memory.tags.join(', ') || NONE,
    [t('memory.kind')]: kindName(memory.kind),
    [t('memory.confidence')]: percent(memory.confidence),
    [t('memory.trueUntil')]: memory.valid_until ? day(memory.valid_until) : NONE,
    [t('memory.replacedByField')]: withTitles(memory.superseded_by?.slice(0, 8) ?? NONE, mentions),
    [t('memory.claim')]: memory.claim
      ? `${memory.claim.subject}, ${memory.claim.attribute}: ${memory.claim.value}`
      : NONE,
    [t('memory.connections')]: withTitles(links.join('; '), mentions) || NONE,
  }
}
