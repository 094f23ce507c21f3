/* What stands along the axes of a chart. */

import { between, dayOf, later } from './days'

/** Round numbers from 0 up to what is at least the largest, at most so many steps. */
export function ticks(largest: number, steps = 4): number[] {
  if (largest <= 0) return [0]
  const rough = largest / steps
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = Math.max(
    1,
    [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough)!,
  )
  const count = Math.ceil(largest / step)
  return Array.from({ length: count + 1 }, (_, at) => at * step)
}

export interface DateTick {
  day: string
  /** From 0, the first moment, to 1, the last. */
  at: number
}

/** Days spread evenly between two moments, both ends among them; fewer where there are fewer days. */
export function dateTicks(from: string | number | Date, to: string | number | Date, wanted = 5): DateTick[] {
  const [first, last] = [dayOf(from), dayOf(to)]
  const span = between(first, last)
  if (span <= 0) return [{ day: first, at: 0 }]
  const steps = Math.max(1, Math.min(wanted - 1, span))
  return Array.from({ length: steps + 1 }, (_, nth) => {
    const days = Math.round((span * nth) / steps)
    return { day: later(first, days), at: days / span }
  })
}

export interface CalendarCell {
  day: string
  /** The week from the left, and the day in it: 0 is Monday. */
  week: number
  weekday: number
  known: number
}

/** The days of the weeks that end with the one of `last`, each with how many became known. */
export function calendar(known: readonly { day: string; known: number }[], last: string, weeks = 53): CalendarCell[] {
  const many = new Map(known.map((each) => [each.day, each.known]))
  const weekday = weekdayOf(last)
  const first = later(last, -weekday - 7 * (weeks - 1))
  return Array.from({ length: between(first, last) + 1 }, (_, at) => {
    const day = later(first, at)
    return { day, week: Math.floor(at / 7), weekday: at % 7, known: many.get(day) ?? 0 }
  })
}

/** 0 for Monday to 6 for Sunday. */
export function weekdayOf(day: string): number {
  const [year, month, date] = day.split('-').map(Number)
  return (new Date(year!, month! - 1, date!).getDay() + 6) % 7
}

/** 0 for nothing, then 1 to 4: a quarter of those days each, so that one busy day leaves the others visible. */
export function level(many: number, all: readonly number[]): number {
  if (!many) return 0
  const sorted = all.filter(Boolean).sort((one, other) => one - other)
  const below = sorted.filter((each) => each < many).length
  return 1 + Math.min(3, Math.floor((4 * below) / Math.max(1, sorted.length)))
}
