import { describe, expect, it } from 'vitest'
import type { LogEntry } from '../src/parts/contract'
import { listed, sumUp } from '../src/views/home/letter'

const entry = (kind: string, outcome: string | null = 'done', undo: string | null = 'c'): LogEntry => ({
  at: '2026-11-19T03:00:00Z',
  what: kind,
  what_parts: { kind },
  by: 'auto_linker',
  author: 'sleep',
  memories: [],
  change: 'c',
  undo,
  outcome,
})

describe('a night in a sentence', () => {
  it('counts what was done of each kind, the most telling first', () => {
    const night = sumUp([entry('linked'), entry('merged'), entry('linked'), entry('retired'), entry('revised')])

    expect(night.deeds).toEqual([
      { kind: 'merged', many: 1 },
      { kind: 'replaced', many: 1 },
      { kind: 'linked', many: 2 },
      { kind: 'other', many: 1 },
    ])
    expect(night.undoable).toBe(true)
  })

  it('counts the memories of one change that is about many', () => {
    const archived = { ...entry('archived'), what_parts: { kind: 'archived', count: 9 } }
    const digest = { ...entry('consolidated'), what_parts: { kind: 'consolidated', count: 5 } }

    expect(sumUp([archived, digest, entry('archived')]).deeds).toEqual([
      { kind: 'archived', many: 10 },
      { kind: 'consolidated', many: 1 },
    ])
  })

  it('does not tell as done what was taken back', () => {
    const night = sumUp([entry('merged', 'undone', null), entry('asked', 'rejected', null)])

    expect(night.deeds).toEqual([])
    expect(night.undone).toBe(true)
    expect(night.undoable).toBe(false)
  })

  it('names the question that waits longest, and only those that wait', () => {
    const [newer, older] = [entry('asked', 'pending', null), entry('asked', 'pending', null)]

    const night = sumUp([newer, entry('asked', 'approved', null), older])

    expect(night.asks[0]).toBe(older)
    expect(night.asks.length).toBe(2)
    expect(night.undoable).toBe(true)
  })
})

describe('a list in a sentence', () => {
  it('has the words of the language between its parts', () => {
    expect(listed(3, 'en')).toEqual([0, ', ', 1, ', and ', 2])
    expect(listed(2, 'de')).toEqual([0, ' und ', 1])
    expect(listed(1, 'en')).toEqual([0])
  })
})
