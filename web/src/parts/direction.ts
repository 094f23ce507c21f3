/* Signs that turn the direction of writing. In a name they can make `gnp.exe` read `exe.png`, so
   none of them turns anything here: an override is shown as what it is, the others are left out.
   Text from right to left needs none of them, its elements carry `dir="auto"`. */

const TURNING = /[\u202a-\u202e\u2066-\u2069]/g
const IN_AN_ANSWER = /[\u202a-\u202e\u2066-\u2069]|\\u20(?:2[a-e]|6[6-9])/i
const OVERRIDES = new Set(['\u202d', '\u202e'])

/** Return a text in which nothing turns the direction unseen. */
export function upright(text: string): string {
  return text.replace(TURNING, (sign) => (OVERRIDES.has(sign) ? spelled(sign) : ''))
}

/** Return a text in which every such sign is seen, for where each sign counts. */
export function spelled(text: string): string {
  return text.replace(TURNING, (sign) => `⟨U+${sign.charCodeAt(0).toString(16).toUpperCase()}⟩`)
}

/** What an answer says of a memory to know it by; what can be edited stays as it is. */
const SHOWN = new Set(['headline', 'extract'])

/** Read an answer of the daemon. */
export function readAnswer(text: string): unknown {
  if (!IN_AN_ANSWER.test(text)) return JSON.parse(text)
  return JSON.parse(text, (key, value) => (SHOWN.has(key) && typeof value === 'string' ? upright(value) : value))
}
