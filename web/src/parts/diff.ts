/* What changed between two texts: by lines, and by words inside of lines that changed. */

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

const MOST_CELLS = 4_000_000 // beyond it a comparison would take noticeable time

/** Return the pieces that turn `before` into `after`. */
export function compare<T>(before: T[], after: T[]): { kind: Kind; value: T }[] {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start++
  let end = 0
  while (
    end < before.length - start &&
    end < after.length - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  )
    end++
  const same = (values: T[]) => values.map((value) => ({ kind: 'same' as Kind, value }))
  return [
    ...same(before.slice(0, start)),
    ...middle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...same(end ? before.slice(-end) : []),
  ]
}

function middle<T>(before: T[], after: T[]): { kind: Kind; value: T }[] {
  const removed = before.map((value) => ({ kind: 'removed' as Kind, value }))
  const added = after.map((value) => ({ kind: 'added' as Kind, value }))
  if (!before.length || !after.length || before.length * after.length > MOST_CELLS)
    return [...removed, ...added]
  return walk(before, after, lengths(before, after))
}

/** Lengths of the longest common subsequences of all endings. */
function lengths<T>(before: T[], after: T[]): Uint32Array {
  const width = after.length + 1
  const table = new Uint32Array((before.length + 1) * width)
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--)
      table[i * width + j] =
        before[i] === after[j]
          ? table[(i + 1) * width + j + 1]! + 1
          : Math.max(table[(i + 1) * width + j]!, table[i * width + j + 1]!)
  return table
}

function walk<T>(before: T[], after: T[], table: Uint32Array): { kind: Kind; value: T }[] {
  const width = after.length + 1
  const found: { kind: Kind; value: T }[] = []
  let [i, j] = [0, 0]
  while (i < before.length && j < after.length) {
    if (before[i] === after[j]) {
      found.push({ kind: 'same', value: before[i]! })
      i++
      j++
    } else if (table[(i + 1) * width + j]! >= table[i * width + j + 1]!)
      found.push({ kind: 'removed', value: before[i++]! })
    else found.push({ kind: 'added', value: after[j++]! })
  }
  while (i < before.length) found.push({ kind: 'removed', value: before[i++]! })
  while (j < after.length) found.push({ kind: 'added', value: after[j++]! })
  return found
}

/** Return both texts line by line, side by side, changed lines with their changed words. */
export function sideBySide(before: string, after: string): Pair[] {
  const pairs: Pair[] = []
  let removed: string[] = []
  let added: string[] = []
  const flush = () => {
    for (let at = 0; at < Math.max(removed.length, added.length); at++)
      pairs.push(changedPair(removed[at], added[at]))
    ;[removed, added] = [[], []]
  }
  for (const { kind, value } of compare(before.split('\n'), after.split('\n'))) {
    if (kind === 'removed') removed.push(value)
    else if (kind === 'added') added.push(value)
    else {
      flush()
      const piece: Piece[] = [{ kind, text: value }]
      pairs.push({ left: piece, right: piece, same: true })
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

/** Return what changed between two lines, word by word, neighbours joined. */
export function byWords(before: string, after: string): Piece[] {
  const words = (text: string) => text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? []
  const joined: Piece[] = []
  for (const { kind, value } of compare(words(before), words(after))) {
    const last = joined.at(-1)
    if (last?.kind === kind) last.text += value
    else joined.push({ kind, text: value })
  }
  return joined
}
