/* Where the words of a question stand in a text. */

export interface Stretch {
  text: string
  hit: boolean
}

const COMMON = new Set(
  'a an and are as at be by did do does for from had has have how i in is it of on or our that the their this to was we were what when where which who why will with you your'.split(
    ' ',
  ),
)

/** Return the words worth marking, as one pattern; null if there are none. */
export function pattern(question: string): RegExp | null {
  const words = question.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []
  const telling = [...new Set(words)].filter((each) => each.length > 1 && !COMMON.has(each)).slice(0, 20)
  if (!telling.length) return null
  const stems = telling.map((each) => (each.length > 5 ? each.replace(/(ing|ed|es|s)$/, '') : each))
  return new RegExp(`(?<![\\p{L}\\p{N}_])(?:${stems.join('|')})[\\p{L}\\p{N}_]*`, 'giu')
}

/** Cut a text into stretches that are hit and stretches between. */
export function stretches(text: string, words: RegExp | null): Stretch[] {
  if (!words) return [{ text, hit: false }]
  const found: Stretch[] = []
  let at = 0
  for (const each of text.matchAll(words)) {
    if (each.index > at) found.push({ text: text.slice(at, each.index), hit: false })
    found.push({ text: each[0], hit: true })
    at = each.index + each[0].length
  }
  if (at < text.length) found.push({ text: text.slice(at), hit: false })
  return found
}
