/* Numbers, times and names in words. */

import { isDay, looksLikeDay, midnight, today } from './days'
import { JOBS, jobName } from './jobs'
import { counted, isKey, language, t } from './messages'
import type { Mention } from './values'

const DAY = 86_400_000
const number_ = new Intl.NumberFormat(language)
const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' })
// Made once: making one takes longer than a hundred uses of it.
const inDays = language === 'en' ? 'en-GB' : language // the day before the month
const days = new Intl.DateTimeFormat(inDays, { day: 'numeric', month: 'long', year: 'numeric' })
const moments = new Intl.DateTimeFormat(inDays, {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
})

export function number(value: number): string {
  return number_.format(value)
}

/** `3.2`, with as many digits behind the point as are asked for. */
export function decimal(value: number, digits = 1): string {
  return value.toLocaleString(language, { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

/** `1 memory`, `12 memories`. */
export function count(many: number, one: string, more = `${one}s`): string {
  return `${number(many)} ${many === 1 ? one : more}`
}

export const memories = (many: number) => counted('count.memory', many)

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 365 * DAY],
  ['month', 30 * DAY],
  ['week', 7 * DAY],
  ['day', DAY],
  ['hour', 3_600_000],
  ['minute', 60_000],
]

/** `3 days ago`, `in 2 hours`, `just now`. */
export function ago(time: string | number | Date, now = Date.now()): string {
  const past = new Date(time).getTime() - now
  for (const [unit, length] of UNITS) {
    if (Math.abs(past) >= length) return relative.format(Math.trunc(past / length), unit)
  }
  return t('parts.justNow')
}

const shortDays = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })
const shortDaysOfYear = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })
const months = new Intl.DateTimeFormat('en-GB', { month: 'short' })
const monthYears = new Intl.DateTimeFormat('en-GB', { month: 'short', year: 'numeric' })
const weekdays = new Intl.DateTimeFormat('en-GB', { weekday: 'short' })
const A_MONDAY = new Date(2024, 0, 1)

/** `16 Nov`, with its year if that is another one: for the axis of a chart. */
export function shortDay(text: string): string {
  const form = text.slice(0, 4) === today().slice(0, 4) ? shortDays : shortDaysOfYear
  return form.format(midnight(text))
}

/** `Nov 2026` */
export const monthYear = (text: string) => monthYears.format(midnight(text))

/** `Nov` */
export const monthOf = (text: string) => months.format(midnight(text))

/** `Mon` for 0 to `Sun` for 6. */
export const weekdayName = (weekday: number) =>
  weekdays.format(new Date(A_MONDAY.getFullYear(), 0, A_MONDAY.getDate() + weekday))

/** `16 November 2026`, of a moment or of a day such as `2026-11-16`. */
export function day(time: string | number | Date): string {
  const whole = typeof time === 'string' && looksLikeDay(time)
  return days.format(whole ? midnight(time) : new Date(time))
}

/** Why nothing can be shown as it was on a day; empty if it can. */
export function noDay(text: string): string {
  if (!isDay(text)) return t('parts.thereIsNoSuchDay', { text: beginning(text, 40) })
  return text > today() ? t('parts.isNotHereYet', { day: day(text) }) : ''
}

/** `16 Nov 2026, 08:32` */
export function moment(time: string | number | Date): string {
  return moments.format(new Date(time))
}

/** `840 ms`, `3.2 s`, `4 min`. */
export function duration(seconds: number): string {
  if (seconds < 1) return t('parts.ms', { n: Math.round(seconds * 1000) })
  if (seconds < 60) return `${decimal(seconds, seconds < 10 ? 1 : 0)} s`
  if (seconds < 5_400) return t('parts.min', { n: Math.round(seconds / 60) })
  return `${decimal(seconds / 3600)} h`
}

export function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}

export function bytes(many: number): string {
  if (many < 1_000) return t('parts.bytes', { n: many })
  if (many < 1_000_000) return t('parts.kb', { n: Math.round(many / 1_000) })
  return t('parts.mb', { n: decimal(many / 1_000_000) })
}

export const space = (name: string | null | undefined) => name ?? 'global'

/** `part_of` → `part of` */
export const edge = (name: string) => named('edge', name, name.replaceAll('_', ' '))
export const typeName = (type: string) => named('type', type)
export const tierName = (tier: string) => named('tier', tier)

/** A name of ours in words; what somebody else brought along stays as it is. */
function named(kind: string, name: string, otherwise = name): string {
  const key = `${kind}.${name}`
  return isKey(key) ? t(key) : otherwise
}

const DOORS: Record<string, string> = {
  page: t('parts.youOnThisPage'),
  cli: t('parts.youInATerminal'),
  http: t('parts.aProgram'),
}

/** Who did something, as the journal names them. */
export function who(by: string): string {
  if (by in JOBS) return t('parts.sleep', { job: jobName(by) })
  if (by === 'agent:unknown' || by === 'unknown') return t('parts.anAgent')
  return DOORS[by] ?? by.replace(/^agent:/, '')
}

/** How the jobs name what two memories have in common, in their reasons. */
const COMMON: Record<string, string> = {
  'parallel context': t('parts.theyCameWithinAWeek'),
  'shares theme': t('parts.bothAreAboutTheSame'),
  explains: t('parts.oneExplainsTheOther'),
  'perhaps at odds': t('parts.perhapsTheyAreAtOdds'),
}

/** Why two memories are connected, in plain words: a job's measure of likeness says nothing to a
    person. What somebody gave as a reason stays as it is. */
export function because(reason: string): string {
  const common = /^(.+), likeness -?\d\.\d+$/.exec(reason)?.[1]
  if (common) return COMMON[common] ?? common
  return reason.replace(/^(they are about similar things) \(\d\.\d+\)$/, '$1')
}

/** A text with memories by their titles: `supports 2f0ee1a2` → `supports “Ferry at nine”`. */
export function withTitles(text: string, mentions: readonly Mention[] = []): string {
  const titles = new Map(mentions.map((each) => [each.short_id, each.headline]))
  return text.replace(/`?\b([0-9a-f]{8})\b`?/g, (id, short: string) =>
    titles.has(short) ? `“${beginning(titles.get(short)!, 80)}”` : id,
  )
}

/** The beginning of a text on one line. */
export function beginning(text: string, most = 160): string {
  const line = text
    .slice(0, most * 3)
    .replace(/\s+/g, ' ')
    .trim()
  return line.length > most ? `${line.slice(0, most - 1)}…` : line
}

/** `nothing matches` → `Nothing matches.`; the name of a file stays as it is. */
export function sentence(text: string): string {
  const whole = /^\S*[._/]\S/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1)
  return /[.!?…。！？]$/.test(whole) ? whole : `${whole}${t('words.fullStop')}`
}
