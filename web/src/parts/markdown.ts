/* Markdown as values, from which `Markdown.svelte` makes elements. No HTML is ever made from the
   text of a memory: what looks like HTML in it is text like any other. Links lead only to http,
   https and mailto; pictures are not loaded, only named. Every rule reads its line once, so a
   text made to be slow is not. */

export type Inline =
  | { is: 'text'; text: string }
  | { is: 'code'; text: string }
  | { is: 'break' }
  | { is: 'strong' | 'em' | 'del'; inside: Inline[] }
  | { is: 'link'; to: string; inside: Inline[] }
  | { is: 'picture'; to: string; text: string }

export interface Item {
  inside: Block[]
  /** For a task: whether it is done. */
  done?: boolean
}

export type Block =
  | { is: 'heading'; level: number; inside: Inline[] }
  | { is: 'paragraph'; inside: Inline[] }
  | { is: 'code'; language: string; text: string }
  | { is: 'quote'; inside: Block[] }
  | { is: 'list'; ordered: boolean; start: number; items: Item[] }
  | { is: 'table'; head: Inline[][]; rows: Inline[][][] }
  | { is: 'rule' }

const DEEPEST = 12

/** Return the blocks of a text. */
export function parse(text: string, depth = 0): Block[] {
  return parseLines(text.replace(/\r\n?/g, '\n').split('\n'), depth)
}

function parseLines(lines: string[], depth: number): Block[] {
  const blocks: Block[] = []
  let at = 0
  while (at < lines.length) {
    if (!lines[at]!.trim()) {
      at++
      continue
    }
    const [block, next] = blockAt(lines, at, depth)
    blocks.push(block)
    at = next
  }
  return blocks
}

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)[^`]*$/
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/
const QUOTE = /^ {0,3}> ?/
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])( +|$)/
const TABLE = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/

function blockAt(lines: string[], at: number, depth: number): [Block, number] {
  const line = lines[at]!
  const fence = FENCE.exec(line)
  if (fence) return codeAt(lines, at, fence[1]!, fence[2] ?? '')
  const heading = HEADING.exec(line)
  if (heading) return [{ is: 'heading', level: heading[1]!.length, inside: inline(heading[2]!) }, at + 1]
  if (RULE.test(line)) return [{ is: 'rule' }, at + 1]
  if (depth < DEEPEST) {
    if (QUOTE.test(line)) return quoteAt(lines, at, depth)
    if (ITEM.test(line)) return listAt(lines, at, depth)
  }
  if (line.includes('|') && TABLE.test(lines[at + 1] ?? '') && lines[at + 1]!.includes('|'))
    return tableAt(lines, at)
  return paragraphAt(lines, at, depth)
}

function codeAt(lines: string[], at: number, fence: string, language: string): [Block, number] {
  let end = at + 1
  const closes = (line: string) => line.trim().startsWith(fence) && /^[`~\s]+$/.test(line)
  while (end < lines.length && !closes(lines[end]!)) end++
  return [{ is: 'code', language, text: lines.slice(at + 1, end).join('\n') }, end + 1]
}

function quoteAt(lines: string[], at: number, depth: number): [Block, number] {
  let end = at
  while (end < lines.length && QUOTE.test(lines[end]!)) end++
  const inside = lines.slice(at, end).map((line) => line.replace(QUOTE, ''))
  return [{ is: 'quote', inside: parseLines(inside, depth + 1) }, end]
}

function listAt(lines: string[], at: number, depth: number): [Block, number] {
  const first = ITEM.exec(lines[at]!)![2]!
  const ordered = /\d/.test(first)
  const items: Item[] = []
  let end = at
  for (;;) {
    const found = ITEM.exec(lines[end] ?? '')
    if (!found || /\d/.test(found[2]!) !== ordered || RULE.test(lines[end]!)) break
    const [item, next] = itemAt(lines, end, found[0].length, depth)
    items.push(item)
    end = next
  }
  return [{ is: 'list', ordered, start: ordered ? parseInt(first) : 1, items }, end]
}

/** Read one item: its line, and what follows it further in. */
function itemAt(lines: string[], at: number, width: number, depth: number): [Item, number] {
  const inside = [lines[at]!.slice(width)]
  let end = at + 1
  while (end < lines.length) {
    const line = lines[end]!
    const deeper = line.startsWith(' '.repeat(Math.min(width, 2))) && line.trim()
    const blankWithin = !line.trim() && /^\s{2,}\S/.test(lines[end + 1] ?? '')
    const goesOn = line.trim() && lines[end - 1]!.trim() && !startsBlock(line)
    if (!deeper && !blankWithin && !goesOn) break
    inside.push(line.replace(new RegExp(`^ {0,${width}}`), ''))
    end++
  }
  while (end < lines.length && !lines[end]!.trim() && ITEM.test(lines[end + 1] ?? '')) end++
  const task = /^\[([ xX])\]\s+/.exec(inside[0]!)
  if (task) inside[0] = inside[0]!.slice(task[0].length)
  const item: Item = { inside: parseLines(inside, depth + 1) }
  return [task ? { ...item, done: task[1] !== ' ' } : item, end]
}

function tableAt(lines: string[], at: number): [Block, number] {
  let end = at + 2
  while (end < lines.length && lines[end]!.includes('|')) end++
  const rows = lines.slice(at + 2, end).map(cells)
  return [{ is: 'table', head: cells(lines[at]!), rows }, end]
}

function cells(line: string): Inline[][] {
  const plain = line.trim().replace(/^\||\|$/g, '')
  return plain.split(/(?<!\\)\|/).map((cell) => inline(cell.trim().replaceAll('\\|', '|')))
}

function paragraphAt(lines: string[], at: number, depth: number): [Block, number] {
  let end = at + 1
  while (end < lines.length && lines[end]!.trim() && !(startsBlock(lines[end]!) && depth < DEEPEST)) end++
  return [{ is: 'paragraph', inside: inline(lines.slice(at, end).join('\n')) }, end]
}

function startsBlock(line: string): boolean {
  return FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line) || ITEM.test(line)
}

// -- inside of a line ---------------------------------------------------------------------

const SAFE = /^(https?:\/\/|mailto:)/i

/** Return the address if a link may lead there, else null. */
export function safe(address: string): string | null {
  const plain = [...address.trim()].filter((each) => each > ' ').join('')
  return SAFE.test(plain) ? plain : null
}

const NEXT = /[\\`*_~[!<\n]|https?:\/\//g
const MARKS: [string, 'strong' | 'em' | 'del'][] = [
  ['**', 'strong'],
  ['__', 'strong'],
  ['~~', 'del'],
  ['*', 'em'],
  ['_', 'em'],
]

/** Return what a line is made of. */
export function inline(text: string, depth = 0): Inline[] {
  const found: Inline[] = []
  let at = 0
  const add = (words: string) => {
    const last = found.at(-1)
    if (last?.is === 'text') last.text += words
    else if (words) found.push({ is: 'text', text: words })
  }
  while (at < text.length) {
    NEXT.lastIndex = at
    const next = NEXT.exec(text)
    if (!next) break
    add(text.slice(at, next.index))
    const [piece, end] = pieceAt(text, next.index, depth)
    if (typeof piece === 'string') add(piece)
    else found.push(piece)
    at = end
  }
  add(text.slice(at))
  return found
}

const LONGEST_LINK = 4_000

function pieceAt(text: string, at: number, depth: number): [Inline | string, number] {
  const rest = text.slice(at, at + LONGEST_LINK)
  const sign = rest[0]!
  if (sign === '\\' && /[!-/:-@[-`{-~]/.test(rest[1] ?? '')) return [rest[1]!, at + 2]
  if (sign === '\n') return [{ is: 'break' }, at + 1]
  if (sign === '`') return codePiece(text, at)
  if (sign === 'h' || sign === 'H') return addressPiece(rest, at)
  if (sign === '<') return bracketed(rest, at)
  if (sign === '!' || sign === '[') return linkPiece(rest, at, depth)
  return marked(text, at, depth)
}

function codePiece(text: string, at: number): [Inline | string, number] {
  const ticks = /^`+/.exec(text.slice(at, at + 20))![0]
  const end = text.indexOf(ticks, at + ticks.length)
  if (end < 0 || end - at > LONGEST_LINK * 5) return [ticks, at + ticks.length]
  return [{ is: 'code', text: text.slice(at + ticks.length, end).trim() }, end + ticks.length]
}

function addressPiece(rest: string, at: number): [Inline | string, number] {
  const found = /^https?:\/\/[^\s<>"'`]+/i.exec(rest)?.[0].replace(/[.,;:!?)\]}]+$/, '') ?? ''
  const to = safe(found)
  if (!to || found.length < 9) return [rest[0]!, at + 1]
  return [{ is: 'link', to, inside: [{ is: 'text', text: found }] }, at + found.length]
}

function bracketed(rest: string, at: number): [Inline | string, number] {
  const found = /^<((?:https?:\/\/|mailto:)[^\s<>]+)>/i.exec(rest)
  const to = found && safe(found[1]!)
  if (!found || !to) return ['<', at + 1]
  return [{ is: 'link', to, inside: [{ is: 'text', text: found[1]! }] }, at + found[0].length]
}

const LINK = /^(!?)\[((?:[^[\]\\]|\\.){0,1000})\]\(\s*<?([^()\s<>]*(?:\([^()\s]*\)[^()\s<>]*)?)>?(?:\s+"[^"]*")?\s*\)/

function linkPiece(rest: string, at: number, depth: number): [Inline | string, number] {
  const found = LINK.exec(rest)
  if (!found) return [rest[0]!, at + 1]
  const [whole, bang, words, address] = found
  const to = safe(address!)
  if (!to) return [whole, at + whole.length]
  if (bang) return [{ is: 'picture', to, text: words || to }, at + whole.length]
  const inside = depth < DEEPEST ? inline(words!, depth + 1) : [{ is: 'text' as const, text: words! }]
  return [{ is: 'link', to, inside: inside.filter((each) => each.is !== 'link') }, at + whole.length]
}

function marked(text: string, at: number, depth: number): [Inline | string, number] {
  for (const [sign, is] of MARKS) {
    if (!text.startsWith(sign, at)) continue
    const start = at + sign.length
    const end = closing(text, start, sign)
    if (end < 0 || depth >= DEEPEST) return [sign, start]
    return [{ is, inside: inline(text.slice(start, end), depth + 1) }, end + sign.length]
  }
  return [text[at]!, at + 1]
}

/** Where an emphasis ends: words on both sides of what it spans, and for `_` no word outside. */
function closing(text: string, start: number, sign: string): number {
  if (/\s/.test(text[start] ?? ' ')) return -1
  const within = sign[0] === '_'
  if (within && /\w/.test(text[start - sign.length - 1] ?? ' ')) return -1
  const most = Math.min(text.length, start + LONGEST_LINK)
  for (let end = text.indexOf(sign, start + 1); end >= 0 && end < most; end = text.indexOf(sign, end + 1)) {
    if (sign.length === 1 && (text[end + 1] === sign || text[end - 1] === sign)) continue
    if (/\s/.test(text[end - 1]!) || (within && /\w/.test(text[end + sign.length] ?? ' '))) continue
    return end
  }
  return -1
}
