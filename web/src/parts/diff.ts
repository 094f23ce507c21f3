/* What changed between two texts: by lines, and by words inside of lines that changed. */

import { diffArrays } from 'diff'

export type Kind = 'same' | 'added' | 'removed'

export interface Piece {
  kind: Kind
  text: string
}

/** A place in a side-by-side view; a side that has nothing there is null. */
export interface Pair {
  left: Piece[] | null
  right: Piece[] | null
  same: boolean
}

const MOST_EDITS = 1_000 // beyond it a comparison would take noticeable time

/** Return the runs that turn `before` into `after`. */
function compare(before: string[], after: string[]): { kind: Kind; values: string[] }[] {
  const found = diffArrays(before, after, { maxEditLength: MOST_EDITS }) ?? [
    { value: before, removed: true, added: false },
    { value: after, removed: false, added: true },
  ]
  return found.map(({ value, added, removed }) => ({
    kind: added ? 'added' : removed ? 'removed' : 'same',
    values: value,
  }))
}

/** Return both texts line by line, side by side, changed lines with their changed words. */
export function sideBySide(before: string, after: string): Pair[] {
  const pairs: Pair[] = []
  let removed: string[] = []
  let added: string[] = []
  const flush = () => {
    for (let at = 0; at < Math.max(removed.length, added.length); at++) pairs.push(changedPair(removed[at], added[at]))
    ;[removed, added] = [[], []]
  }
  for (const { kind, values } of compare(before.split('\n'), after.split('\n'))) {
    if (kind === 'removed') removed = removed.concat(values)
    else if (kind === 'added') added = added.concat(values)
    else {
      flush()
      for (const text of values) {
        const piece: Piece[] = [{ kind, text }]
        pairs.push({ left: piece, right: piece, same: true })
      }
    }
  }
  flush()
  return pairs
}

function changedPair(left: string | undefined, right: string | undefined): Pair {
  if (left === undefined) return { left: null, right: [{ kind: 'added', text: right! }], same: false }
  if (right === undefined) return { left: [{ kind: 'removed', text: left }], right: null, same: false }
  const pieces = byWords(left, right)
  return {
    left: pieces.filter((each) => each.kind !== 'added'),
    right: pieces.filter((each) => each.kind !== 'removed'),
    same: false,
  }
}

/** Return what changed between two lines. Words are those of any script; jsdiff knows Latin ones. */
export function byWords(before: string, after: string): Piece[] {
  const words = (text: string) => text.match(/\s+|[\p{L}\p{M}\p{N}_]+|[^\s\p{L}\p{M}\p{N}_]/gu) ?? []
  return compare(words(before), words(after)).map(({ kind, values }) => ({ kind, text: values.join('') }))
}
