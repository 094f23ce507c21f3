/* Why a memory is an answer, and why nothing is, in the language of the page. The daemon tells the kinds
   and what they are made of (docs/reference/kinds.md), and an English sentence beside them, which stands
   for a kind that only a later daemon knows. */

import { arrow } from './arrows'
import type { CauseShape } from './contract'
import { isKey, t, type Slots } from './messages'
import { decimal } from './words'

const ID_LENGTH = 8

/** The sentence of a kind; nothing if the page does not know it. */
function said(group: string, kind: string, slots: Slots = {}): string | null {
  const key = `${group}.${kind}`
  return isKey(key) ? t(key, slots) : null
}

/** What stands in a sentence for a value: numbers with two digits, memories by their short ids. */
function filled(parts: CauseShape): Slots {
  return Object.fromEntries(
    Object.entries(parts).map(([name, value]) => [
      name,
      typeof value === 'number'
        ? decimal(value, 2)
        : name === 'memory' || name === 'by'
          ? String(value).slice(0, ID_LENGTH)
          : String(value ?? ''),
    ]),
  )
}

function reason(parts: CauseShape): string | null {
  const slots = filled(parts)
  if (parts.kind === 'kin') return said('reason', `kin_${String(parts['link'])}`, slots)
  if (parts.kind === 'tier') return said('reason', 'tier', { tier: said('tier', String(parts['tier'])) })
  if (parts.kind === 'connected') return `${arrow(String(parts['edge']), !parts['incoming'])} ${slots['memory']}`
  return said('reason', parts.kind, slots)
}

/** All reasons on one line; `sentences` are the daemon's own, in the same order. */
export const reasons = (sentences: readonly string[], parts: readonly CauseShape[] | null | undefined): string =>
  sentences.map((sentence, at) => (parts?.[at] && reason(parts[at])) ?? sentence).join(' · ')

/** Why a question got no answer; `sentence` is the daemon's own. */
export const noAnswer = (sentence: string, parts: CauseShape | null | undefined): string =>
  (parts && said('noAnswer', parts.kind, filled(parts))) ?? sentence

/** Why words alone decided; `sentence` is the daemon's own. */
export const withoutModel = (sentence: string, kind: string | null | undefined): string =>
  (kind ? said('withoutModel', kind) : null) ?? sentence

/** Why nothing was whispered; `sentence` is the daemon's own. */
export const noWhisper = (sentence: string, parts: CauseShape | null | undefined): string =>
  (parts && said('noWhisper', parts.kind, filled(parts))) ?? sentence
