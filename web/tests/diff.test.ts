import { describe, expect, test } from 'vitest'
import { byWords, sideBySide, type Pair } from '../src/parts/diff'

/** Return one side of a comparison as the text it was made from. */
function side(pairs: Pair[], which: 'left' | 'right'): string {
  const lines = pairs.map((each) => each[which]?.map((piece) => piece.text).join(''))
  return lines.filter((each) => each !== undefined).join('\n')
}

const lines = (count: number, word: string) => Array.from({ length: count }, (_, at) => `${word} ${at}`).join('\n')

describe('side by side', () => {
  test('a line that changed stands beside what it became, with its changed words', () => {
    expect(sideBySide('first\none file\nlast', 'first\ntwo files\nlast')).toEqual([
      { left: [{ kind: 'same', text: 'first' }], right: [{ kind: 'same', text: 'first' }], same: true },
      {
        left: [
          { kind: 'removed', text: 'one' },
          { kind: 'same', text: ' ' },
          { kind: 'removed', text: 'file' },
        ],
        right: [
          { kind: 'added', text: 'two' },
          { kind: 'same', text: ' ' },
          { kind: 'added', text: 'files' },
        ],
        same: false,
      },
      { left: [{ kind: 'same', text: 'last' }], right: [{ kind: 'same', text: 'last' }], same: true },
    ])
  })

  test('a line that came or went has nothing beside it', () => {
    expect(sideBySide('a', 'a\nb')[1]).toEqual({ left: null, right: [{ kind: 'added', text: 'b' }], same: false })
    expect(sideBySide('a\nb', 'a')[1]).toEqual({ left: [{ kind: 'removed', text: 'b' }], right: null, same: false })
  })

  test.each([
    ['', ''],
    ['', 'something'],
    ['a\n\nb\n', '\nb\na\n'],
    ['one\ntwo\nthree', 'three\ntwo\none'],
    ['x\u2028y\r\nz', 'x y\r\nz'],
    [lines(40, 'a'), lines(30, 'b')],
    [lines(30_000, 'same'), `before\n${lines(30_000, 'same')}\nafter`],
  ])('each side reads as its own text', (before, after) => {
    const pairs = sideBySide(before, after)
    expect(side(pairs, 'left')).toBe(before)
    expect(side(pairs, 'right')).toBe(after)
    expect(pairs.every((each) => each.same)).toBe(before === after)
  })

  test('texts without a common line are compared soon, whole and in order', () => {
    const [before, after] = [lines(1_000, 'old'), lines(900, 'new')]
    const pairs = sideBySide(before, after)
    expect([side(pairs, 'left'), side(pairs, 'right')]).toEqual([before, after])
  })
})

describe('by words', () => {
  test.each([
    ['Русское слово здесь', 'Русское слава здесь', 'слово', 'слава'],
    ['le café noir', 'le thé noir', 'café', 'thé'],
    ['नमस्ते दुनिया', 'नमस्ते भारत', 'दुनिया', 'भारत'],
    ['snake_case is', 'camel_case is', 'snake_case', 'camel_case'],
  ])('%j becomes %j', (before, after, removed, added) => {
    const pieces = byWords(before, after)
    expect(pieces.filter((each) => each.kind === 'removed').map((each) => each.text)).toEqual([removed])
    expect(pieces.filter((each) => each.kind === 'added').map((each) => each.text)).toEqual([added])
  })
})
