import { describe, expect, it } from 'vitest'
import { calendar, dateTicks, level, ticks, weekdayOf } from '../src/parts/axis'

describe('ticks', () => {
  it('are round, begin at nothing and reach over the largest', () => {
    expect(ticks(87)).toEqual([0, 50, 100])
    expect(ticks(10, 5)).toEqual([0, 2, 4, 6, 8, 10])
    expect(ticks(3, 3)).toEqual([0, 1, 2, 3])
  })

  it('never stand between two whole things', () => {
    expect(ticks(1, 4)).toEqual([0, 1])
    expect(ticks(0)).toEqual([0])
  })
})

describe('dates along an axis', () => {
  it('stand where their day is, both ends among them', () => {
    const found = dateTicks('2026-01-01T09:00:00', '2026-01-11T18:00:00', 5)

    expect(found[0]).toEqual({ day: '2026-01-01', at: 0 })
    expect(found.at(-1)).toEqual({ day: '2026-01-11', at: 1 })
    for (const each of found) expect(each.at).toBeCloseTo((Number(each.day.slice(8)) - 1) / 10)
  })

  it('are no more than there are days', () => {
    expect(dateTicks('2026-01-01T09:00:00', '2026-01-01T18:00:00').length).toBe(1)
    expect(dateTicks('2026-01-01T09:00:00', '2026-01-02T18:00:00').length).toBe(2)
  })
})

describe('a calendar', () => {
  it('ends today and begins on a Monday', () => {
    const cells = calendar([{ day: '2026-11-19', known: 3 }], '2026-11-19', 2)

    expect(weekdayOf('2026-11-19')).toBe(3)
    expect(cells[0]).toEqual({ day: '2026-11-09', week: 0, weekday: 0, known: 0 })
    expect(cells.at(-1)).toEqual({ day: '2026-11-19', week: 1, weekday: 3, known: 3 })
    expect(cells.length).toBe(11)
  })

  it('keeps quiet days apart beside one that was busy', () => {
    const all = [1, 2, 3, 500]

    expect(all.map((each) => level(each, all))).toEqual([1, 2, 3, 4])
    expect(level(0, all)).toBe(0)
  })
})
