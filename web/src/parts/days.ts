/* Days where the person is, written YYYY-MM-DD, and the moments at which they begin and end. The
   daemon knows moments only, so this is the one place that turns a day into one. */

const DAY = 86_400_000

/** The day that a moment falls on. */
export function dayOf(time: string | number | Date): string {
  const at = new Date(time)
  return [String(at.getFullYear()).padStart(4, '0'), two(at.getMonth() + 1), two(at.getDate())].join('-')
}

const two = (part: number) => String(part).padStart(2, '0')

export const today = () => dayOf(Date.now())

/** Whether there is such a day: 31 February looks like one. */
export const isDay = (text: string) => looksLikeDay(text) && dayOf(midnight(text)) === text

/** Whether it is a moment of a day that there is: `2026-11-16T09:00:00Z`. */
export const isMoment = (text: string) =>
  text[10] === 'T' && isDay(text.slice(0, 10)) && !Number.isNaN(Date.parse(text))

export const looksLikeDay = (text: string) => /^\d{4}-\d\d-\d\d$/.test(text)

/** The beginning of a day, or of one some days later. */
export function midnight(day: string, later = 0): Date {
  const [year, month, date] = day.split('-').map(Number)
  return new Date(year!, month! - 1, date! + later)
}

/** The last moment of a day: how things stood on it. */
export const endOf = (day: string) => new Date(midnight(day, 1).getTime() - 1).toISOString()

/** The day some days later. Counted at noon, for some days have 23 hours and some 25. */
export const later = (day: string, days: number) => dayOf(midnight(day, days).getTime() + DAY / 2)

/** How many days lie between two. */
export function between(one: string, other: string): number {
  return Math.round((midnight(other).getTime() - midnight(one).getTime()) / DAY)
}

/** The name of the zone that these days are counted in, such as `Europe/Dublin`. */
export const zone = () => Intl.DateTimeFormat().resolvedOptions().timeZone

/** A moment in the words of the daemon, in whole seconds. */
export const iso = (time: Date) => time.toISOString().replace(/\.\d+Z$/, 'Z')
