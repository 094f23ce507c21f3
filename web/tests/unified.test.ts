import { expect, test } from 'vitest'
import { sides } from '../src/views/sleep/unified'

test('a difference is taken apart into files, moves among them', () => {
  const text = [
    '--- a.md',
    '+++ a.md',
    '@@ -1,2 +1,2 @@',
    ' same',
    '-old',
    '+new',
    'b.md goes to the trash',
    '--- /dev/null',
    '+++ c.md',
    '@@ -0,0 +1 @@',
    '+born',
    '',
  ].join('\n')

  expect(sides(text)).toEqual([
    { title: 'a.md', before: 'same\nold', after: 'same\nnew', moved: null },
    { title: '', before: '', after: '', moved: 'b.md goes to the trash' },
    { title: 'c.md (new)', before: '', after: 'born', moved: null },
  ])
})

test('lines of a memory that look like a header of a difference stay lines of it', () => {
  const text = '--- a.md\n+++ a.md\n@@ -1,2 +1,2 @@\n --- x\n-++ y\n+@@ -1 +1 @@\n'

  expect(sides(text)).toEqual([{ title: 'a.md', before: '--- x\n++ y', after: '--- x\n@@ -1 +1 @@', moved: null }])
})
