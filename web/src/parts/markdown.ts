/* Markdown as values, from which `Markdown.svelte` makes elements. markdown-it reads the text; its
   renderer is not used, and no HTML is ever made from the text of a memory: what looks like HTML in
   it is text like any other. Links lead only to http, https and mailto; pictures are not loaded, only
   named. Every line break is kept. */

import MarkdownIt, { type StateBlock, type StateCore, type StateInline, type Token } from 'markdown-it'

export type Inline =
  | { is: 'text'; text: string }
  | { is: 'code'; text: string }
  | { is: 'break' }
  | { is: 'strong' | 'em' | 'del'; inside: Inline[] }
  | { is: 'link'; to: string; inside: Inline[] }
  | { is: 'picture'; to: string; text: string }
  | { is: 'wiki'; to: string; text: string }
  | { is: 'note'; label: string; number: number }

export interface Item {
  inside: Block[]
  /** For a task: whether it is done. */
  done?: boolean
}

export type Block =
  | { is: 'heading'; level: number; inside: Inline[] }
  | { is: 'paragraph'; inside: Inline[] }
  | { is: 'code'; text: string }
  | { is: 'quote'; inside: Block[] }
  | { is: 'list'; ordered: boolean; start: number; items: Item[] }
  | { is: 'table'; head: Inline[][]; rows: Inline[][][] }
  | { is: 'rule' }
  | { is: 'notes'; notes: Note[] }

/** A footnote, with the number under which the text refers to it. */
export interface Note {
  label: string
  number: number
  inside: Inline[]
}

const DEEPEST_BLOCK = 24 // a list counts twice: itself and its item
const DEEPEST_INLINE = 12

const SAFE = /^(https?:\/\/|mailto:)/i

/** Return the address if a link may lead there, else null. */
export function safe(address: string): string | null {
  const plain = [...address.trim()].filter((each) => each > ' ').join('')
  return SAFE.test(plain) ? plain : null
}

const markdown = new MarkdownIt({ html: false, linkify: true, typographer: false })
markdown.validateLink = (address) => safe(address) !== null
markdown.normalizeLinkText = (address) => address // an address is shown as it was written
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false })
// Notes are indented and underlined without meaning code or a heading, and say `&amp;` when they mean it.
markdown.disable(['code', 'lheading', 'entity'])
markdown.block.ruler.before('table', 'too_deep', readTooDeep)
markdown.block.ruler.before('reference', 'note', readNote, { alt: ['paragraph', 'reference'] })
markdown.block.ruler.before('reference', 'uncited', keepUncited)
markdown.inline.ruler.before('link', 'wiki', readWikiLink)
markdown.inline.ruler.before('link', 'note_ref', readNoteReference)
markdown.core.ruler.after('block', 'tasks', markTasks)
markdown.core.ruler.after('block', 'extra_cells', keepExtraCells)

/** Return the blocks of a text. */
export function parse(text: string): Block[] {
  const known: Footnotes = { notes: new Map(), cited: [] }
  const blocks = readBlocks(markdown.parse(text, known)[Symbol.iterator]())
  // What is said in a note may refer to another one, so the list grows while it is read.
  const notes: Note[] = []
  for (const label of known.cited)
    notes.push({ label, number: notes.length + 1, inside: readInline(inlineTokens(known.notes.get(label)!, known)) })
  const uncited = [...known.notes.keys()].filter((each) => !known.cited.includes(each))
  for (const label of uncited)
    notes.push({ label, number: notes.length + 1, inside: readInline(inlineTokens(known.notes.get(label)!, known)) })
  return notes.length ? [...blocks, { is: 'notes', notes }] : blocks
}

const inlineTokens = (text: string, env: Footnotes): Token[] => markdown.parseInline(text, env)[0]?.children ?? []

/** The footnotes of a text: what they say, and in which order they are referred to. */
interface Footnotes extends Record<PropertyKey, unknown> {
  notes: Map<string, string>
  cited: string[]
}

// -- rules that markdown-it does not have ----------------------------------------------------

/** Take a block that is nested too deeply as plain lines; markdown-it would leave it out. */
function readTooDeep(state: StateBlock, start: number, end: number): boolean {
  if (state.level < DEEPEST_BLOCK) return false
  let next = start + 1
  while (next < end && !state.isEmpty(next) && state.sCount[next]! >= state.blkIndent) next++
  state.line = next
  state.push('paragraph_open', 'p', 1)
  const inline = state.push('inline', '', 0)
  inline.content = state.getLines(start, next, state.blkIndent, false).trim()
  inline.children = []
  state.push('paragraph_close', 'p', -1)
  return true
}

const NOTE = /^\[\^([^\]\s]+)\]:[ \t]*(.*)$/

/** Take `[^1]: what it says` out of the text, with the lines that go on with it. */
function readNote(state: StateBlock, start: number, end: number, silent: boolean): boolean {
  const found = NOTE.exec(lineOf(state, start))
  if (!found || state.sCount[start]! - state.blkIndent >= 4) return false
  if (silent) return true
  const words = [found[2]!]
  let next = start + 1
  while (next < end && !state.isEmpty(next) && !NOTE.test(lineOf(state, next))) words.push(lineOf(state, next++))
  ;(state.env as unknown as Footnotes).notes.set(found[1]!, words.join('\n').trim())
  state.line = next
  return true
}

/** Show `[name]: https://…` as it stands if nothing refers to it: markdown-it would leave it out. */
function keepUncited(state: StateBlock, start: number, _end: number, silent: boolean): boolean {
  const label = /^\[([^\]^][^\]]*)\]:/.exec(lineOf(state, start))?.[1]?.toLowerCase()
  if (!label || silent || state.src.toLowerCase().split(`[${label}]`).length > 2) return false
  state.line = start + 1
  state.push('paragraph_open', 'p', 1)
  const inline = state.push('inline', '', 0)
  inline.content = lineOf(state, start)
  inline.children = []
  state.push('paragraph_close', 'p', -1)
  return true
}

const lineOf = (state: StateBlock, line: number) =>
  state.src.slice(state.bMarks[line]! + state.tShift[line]!, state.eMarks[line])

/** `[^1]`, if there is such a note. */
function readNoteReference(state: StateInline, silent: boolean): boolean {
  const label = /^\[\^([^\]\s]+)\]/.exec(state.src.slice(state.pos, state.pos + 80))?.[1]
  const known = state.env as unknown as Footnotes
  if (!label || !known.notes?.has(label)) return false
  if (!silent) {
    if (!known.cited.includes(label)) known.cited.push(label)
    state.push('note_ref', '', 0).meta = { label, number: known.cited.indexOf(label) + 1 }
  }
  state.pos += label.length + 3
  return true
}

/** `[[A memory]]`, or `[[A memory|as it is called here]]`. */
function readWikiLink(state: StateInline, silent: boolean): boolean {
  const found = /^\[\[([^[\]|\n]+)(?:\|([^[\]\n]+))?\]\]/.exec(state.src.slice(state.pos, state.pos + 400))
  const to = found?.[1]?.trim()
  if (!found || !to) return false
  if (!silent) state.push('wiki', '', 0).meta = { to, text: found[2]?.trim() || to }
  state.pos += found[0].length
  return true
}

const TASK = /^\[([ xX])\]\s+/

/** Mark the items of lists that begin with `[ ]` or `[x]`. */
function markTasks({ tokens }: StateCore): void {
  tokens.forEach((item, at) => {
    const words = tokens[at + 2]
    if (item.type !== 'list_item_open' || words?.type !== 'inline') return
    const task = TASK.exec(words.content)
    if (!task) return
    item.meta = { done: task[1] !== ' ' }
    words.content = words.content.slice(task[0].length)
  })
}

/** Keep the cells of a row that has more of them than its table has columns. */
function keepExtraCells(state: StateCore): void {
  if (!state.tokens.some((each) => each.type === 'table_open')) return
  const lines = state.src.split('\n')
  const kept: Token[] = []
  const add = (type: string, tag: string, nesting: -1 | 0 | 1, content = '') =>
    kept.push(Object.assign(new state.Token(type, tag, nesting), { content, children: [] }))
  let row = ''
  let cells = 0
  for (const token of state.tokens) {
    if (token.type === 'tr_open') [row, cells] = [lines[token.map![0]]!, 0]
    if (token.type === 'td_open' || token.type === 'th_open') cells++
    if (token.type === 'tr_close')
      for (const extra of splitRow(row).slice(cells)) {
        add('td_open', 'td', 1)
        add('inline', '', 0, extra.trim().replaceAll('\\|', '|'))
        add('td_close', 'td', -1)
      }
    kept.push(token)
  }
  state.tokens = kept
}

/** Return the cells of a line of a table, which may stand in a quote. */
function splitRow(line: string): string[] {
  const row = line.replace(/^[\s>]*\|?/, '').trimEnd()
  return row.replace(/(?<!\\)\|$/, '').split(/(?<!\\)\|/)
}

// -- from tokens to values -------------------------------------------------------------------

function readBlocks(tokens: Iterator<Token, undefined>, end?: string): Block[] {
  const blocks: Block[] = []
  for (let token = tokens.next().value; token && token.type !== end; token = tokens.next().value) {
    const block = readBlock(token, tokens)
    if (block) blocks.push(block)
  }
  return blocks
}

function readBlock(token: Token, tokens: Iterator<Token, undefined>): Block | null {
  switch (token.type) {
    case 'heading_open':
      return { is: 'heading', level: Number(token.tag[1]), inside: readLine(tokens) }
    case 'paragraph_open':
      return { is: 'paragraph', inside: readLine(tokens) }
    case 'fence':
      return { is: 'code', text: token.content.replace(/\n$/, '') }
    case 'blockquote_open':
      return { is: 'quote', inside: readBlocks(tokens, 'blockquote_close') }
    case 'bullet_list_open':
      return { is: 'list', ordered: false, start: 1, items: readItems(tokens, 'bullet_list_close') }
    case 'ordered_list_open': {
      const start = Number(token.attrGet('start') ?? 1)
      return { is: 'list', ordered: true, start, items: readItems(tokens, 'ordered_list_close') }
    }
    case 'table_open': {
      const [head = [], ...rows] = readRows(tokens)
      return { is: 'table', head, rows }
    }
    case 'hr':
      return { is: 'rule' }
    default:
      return null // what closes a line of a heading or a paragraph
  }
}

/** Read the one line of words that an opened heading, paragraph or cell has. */
function readLine(tokens: Iterator<Token, undefined>): Inline[] {
  return readInline(tokens.next().value?.children ?? [])
}

function readItems(tokens: Iterator<Token, undefined>, end: string): Item[] {
  const items: Item[] = []
  for (let token = tokens.next().value; token && token.type !== end; token = tokens.next().value)
    items.push({ ...(token.meta as { done: boolean } | null), inside: readBlocks(tokens, 'list_item_close') })
  return items
}

function readRows(tokens: Iterator<Token, undefined>): Inline[][][] {
  const rows: Inline[][][] = []
  for (let token = tokens.next().value; token && token.type !== 'table_close'; token = tokens.next().value) {
    if (token.type === 'tr_open') rows.push([])
    if (token.type === 'th_open' || token.type === 'td_open') rows.at(-1)!.push(readLine(tokens))
  }
  return rows
}

const MARKS: Record<string, 'strong' | 'em' | 'del'> = { strong_open: 'strong', em_open: 'em', s_open: 'del' }

/** Return what a line is made of. Marks beyond a depth that nobody writes stay as they were typed. */
function readInline(tokens: Token[]): Inline[] {
  const line: Inline[] = []
  const around: (Inline[] | null)[] = [] // null: a mark that stayed as it was typed
  let into = line
  let inLink = false
  const add = (words: string) => {
    const last = into.at(-1)
    if (last?.is === 'text') last.text += words
    else if (words) into.push({ is: 'text', text: words })
  }
  const open = (piece: Extract<Inline, { inside: Inline[] }>) => {
    into.push(piece)
    around.push(into)
    into = piece.inside
  }
  for (const token of tokens) {
    const mark = MARKS[token.type]
    if (token.type === 'link_open') {
      open({ is: 'link', to: addressIn(token, 'href'), inside: [] })
      inLink = true
    } else if (mark && around.length < DEEPEST_INLINE) open({ is: mark, inside: [] })
    else if (mark) {
      around.push(null)
      add(token.markup)
    } else if (token.nesting === -1) {
      const outside = around.pop()
      if (outside) into = outside
      else add(token.markup)
      if (token.type === 'link_close') inLink = false
    } else if (token.type === 'wiki') {
      const { to, text } = token.meta as { to: string; text: string }
      if (inLink) add(text)
      else into.push({ is: 'wiki', to, text })
    } else if (token.type === 'note_ref')
      into.push({ is: 'note', ...(token.meta as { label: string; number: number }) })
    else if (token.type === 'code_inline') into.push({ is: 'code', text: token.content })
    else if (token.type === 'softbreak' || token.type === 'hardbreak') into.push({ is: 'break' })
    else if (token.type === 'image') {
      const to = addressIn(token, 'src')
      const text = token.content || to
      if (inLink) add(`picture: ${text}`)
      else into.push({ is: 'picture', to, text })
    } else add(token.content)
  }
  return line
}

function addressIn(token: Token, name: 'href' | 'src'): string {
  return String(token.attrGet(name) ?? '')
}
