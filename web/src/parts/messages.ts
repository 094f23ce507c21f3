/* What the page says, in the language of whoever looks at it. */

import { en, type MessageKey } from '../messages/en'

export type { MessageKey }
export type Catalog = Record<MessageKey, string>
export type Slots = Record<string, string | number | null | undefined>

/** A stretch of a sentence: words, or the name of what is put there. */
export type Piece = { words: string; slot?: never } | { slot: string; words?: never }

let catalog: Catalog = en
let rules = new Intl.PluralRules('en')

/** The language that everything is said in, such as `en`. */
export let language = 'en'

/** Say everything in another language. */
export function speak(name: string, words: Catalog): void {
  catalog = words
  language = name
  rules = new Intl.PluralRules(name)
}

export const isKey = (key: string): key is MessageKey => key in catalog

/** A sentence with its slots filled in. */
export function t(key: MessageKey, slots: Slots = {}): string {
  return catalog[key].replace(/\{(\w+)\}/g, (whole, name: string) =>
    name in slots ? String(slots[name] ?? '') : whole,
  )
}

type Counted = MessageKey extends infer K ? (K extends `${infer Base}.one` ? Base : never) : never

/** A sentence with a number, `n`, in the form that the language has for it. */
export function counted(key: Counted, n: number, slots: Slots = {}): string {
  const form = rules.select(n) === 'one' ? 'one' : 'other'
  return t(`${key}.${form}` as MessageKey, { n: new Intl.NumberFormat(language).format(n), ...slots })
}

/** The same sentence in pieces, for slots that are more than words. */
export function pieces(key: MessageKey): Piece[] {
  return catalog[key]
    .split(/(\{\w+\})/)
    .filter(Boolean)
    .map((each) => (/^\{\w+\}$/.test(each) ? { slot: each.slice(1, -1) } : { words: each }))
}
