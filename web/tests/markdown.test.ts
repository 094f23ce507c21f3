import { describe, expect, test } from 'vitest'
import { parse, safe, type Block, type Inline } from '../src/parts/markdown'

/** Return the pieces of a text that is one paragraph. */
function line(text: string): Inline[] {
  const blocks = parse(text)
  expect(blocks.map((each) => each.is)).toEqual(['paragraph'])
  return (blocks[0] as Extract<Block, { is: 'paragraph' }>).inside
}

/** Return all words and addresses that are shown, wherever they stand. */
function words(value: unknown): string {
  if (Array.isArray(value)) return value.map(words).join(' ')
  if (typeof value !== 'object' || value === null) return ''
  return Object.entries(value)
    .map(([name, each]) => (name === 'text' ? String(each) : name === 'is' ? '' : words(each)))
    .join(' ')
}

/** Return every address that a link or a picture leads to. */
function addresses(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(addresses)
  if (typeof value !== 'object' || value === null) return []
  const own = 'to' in value ? [String(value.to)] : []
  return [...own, ...Object.values(value).flatMap(addresses)]
}

function depth(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depth))
}

const text = (words: string): Inline => ({ is: 'text', text: words })
const paragraph = (words: string): Block => ({ is: 'paragraph', inside: [text(words)] })

describe('blocks', () => {
  test('headings of six levels, a rule, a quote and fenced code', () => {
    expect(parse('# One\n\n###### Six ######')).toEqual([
      { is: 'heading', level: 1, inside: [text('One')] },
      { is: 'heading', level: 6, inside: [text('Six')] },
    ])
    expect(parse('***')).toEqual([{ is: 'rule' }])
    expect(parse('> said\n> > and said')).toEqual([
      { is: 'quote', inside: [paragraph('said'), { is: 'quote', inside: [paragraph('and said')] }] },
    ])
    expect(parse('```py\nif x:\n    y\n```')).toEqual([{ is: 'code', text: 'if x:\n    y' }])
    expect(parse('~~~\nnever closed\n')).toEqual([{ is: 'code', text: 'never closed' }])
  })

  test('lists are nested, and an ordered one begins where it says', () => {
    const inner: Block = { is: 'list', ordered: false, start: 1, items: [{ inside: [paragraph('b')] }] }
    expect(parse('3. a\n   - b\n4. c')).toEqual([
      {
        is: 'list',
        ordered: true,
        start: 3,
        items: [{ inside: [paragraph('a'), inner] }, { inside: [paragraph('c')] }],
      },
    ])
  })

  test.each([
    ['- [ ] open', false],
    ['- [x] done', true],
    ['* [X] done', true],
    ['1. [x] done', true],
    ['- [x]done', undefined],
    ['- [y] other', undefined],
    ['- no task', undefined],
  ])('%j is a task: %s', (given, done) => {
    const list = parse(given)[0] as Extract<Block, { is: 'list' }>
    expect(list.items[0]!.done).toBe(done)
    if (done !== undefined) expect(words(list)).not.toContain('[')
  })

  test('a table keeps every cell, also those beyond its columns', () => {
    const rows = ['| a | b |', '|---|:-:|', '| 1 | **2** | 3 | x \\| y |', '| 4 |']
    for (const given of [rows.join('\n'), rows.map((each) => `> ${each}`).join('\n')]) {
      const found = parse(given)[0]!
      const table = (found.is === 'quote' ? found.inside[0] : found) as Extract<Block, { is: 'table' }>
      expect(table.head).toEqual([[text('a')], [text('b')]])
      expect(table.rows[0]).toEqual([
        [text('1')],
        [{ is: 'strong', inside: [text('2')] }],
        [text('3')],
        [text('x | y')],
      ])
      expect(table.rows[1]).toEqual([[text('4')], []])
    }
  })

  test.each([
    ['    indented by four', 'indented by four'],
    ['&amp; &copy; &#106;', '&amp; &copy; &#106;'],
    ['[name]: https://x.example', '[name]:'],
    ['said[^1] without a note', 'said[^1] without a note'],
    ['[[]] and [[ ]] name nothing', '[[]] and [[ ]] name nothing'],
    ['snake_case_word and 2 * 3 * 4', 'snake_case_word and 2 * 3 * 4'],
  ])('%j is a paragraph with these words', (given, shown) => {
    expect(words(line(given))).toContain(shown)
  })

  test('a line under words makes no heading of them', () => {
    expect(parse('Words\n---')).toEqual([paragraph('Words'), { is: 'rule' }])
    expect(line('Words\n===')).toEqual([text('Words'), { is: 'break' }, text('===')])
  })

  test('what is nested deeper than anybody writes is still shown', () => {
    for (const given of ['> '.repeat(500) + 'at the end', '- '.repeat(500) + 'at the end']) {
      const blocks = parse(given)
      expect(words(blocks)).toContain('at the end')
      expect(depth(blocks)).toBeLessThan(150)
    }
  })
})

describe('inside of a line', () => {
  test('marks, code and line breaks', () => {
    expect(line('**a** *b* _c_ ~~d~~ `e  f`\ng')).toEqual([
      { is: 'strong', inside: [text('a')] },
      text(' '),
      { is: 'em', inside: [text('b')] },
      text(' '),
      { is: 'em', inside: [text('c')] },
      text(' '),
      { is: 'del', inside: [text('d')] },
      text(' '),
      { is: 'code', text: 'e  f' },
      { is: 'break' },
      text('g'),
    ])
  })

  test('a bare address is a link, without the full stop after it and shown as written', () => {
    for (const address of [
      'https://x.example/a_b?c=1&d=2',
      'http://localhost:8787/ui/',
      'http://192.168.0.1/x',
      'https://x.example/path_(x)',
      'https://xn--e1afmkfd.xn--p1ai/',
    ])
      expect(line(`See ${address}.`)).toEqual([
        text('See '),
        { is: 'link', to: address, inside: [text(address)] },
        text('.'),
      ])
  })

  test('marks that are nested too deeply stay as they were typed', () => {
    const given = '*a '.repeat(2_000) + 'x' + ' a*'.repeat(2_000)
    const found = parse(given)
    expect(depth(found)).toBeLessThan(60)
    expect(words(found).match(/a/g)).toHaveLength(4_000)
  })

  test('a picture is named and not shown, and within a link it is words', () => {
    expect(line('![a cat](https://x.example/cat.png)')).toEqual([
      { is: 'picture', to: 'https://x.example/cat.png', text: 'a cat' },
    ])
    expect(line('[![a cat](https://x.example/cat.png)](https://y.example)')).toEqual([
      { is: 'link', to: 'https://y.example', inside: [text('picture: a cat')] },
    ])
  })
})

describe('text that is made to do harm', () => {
  const HARM = [
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '<!-- --><b>bold</b>',
    '[x](javascript:alert(1))',
    '[x](JaVaScRiPt:alert(1))',
    '[x](&#106;avascript:alert(1))',
    '[x](java\tscript:alert(1))',
    '[x](<java script:alert(1)>)',
    '[x](data:text/html,<b>)',
    '[x](vbscript:x)',
    '[x](file:///etc/passwd)',
    '[x](//evil.example)',
    '[x](/ui/enter?code=1)',
    '![x](javascript:alert(1))',
    '![x](./secret.png)',
    '<javascript:alert(1)>',
    '<data:text/html,x>',
    'ftp://evil.example //evil.example',
    '[x][y]\n\n[y]: javascript:alert(1)',
  ]

  test.each(HARM)('%j leads nowhere and is shown as it is', (given) => {
    const blocks = parse(given)
    expect(addresses(blocks)).toEqual([])
    const shown = words(blocks).replace(/\s/g, '')
    for (const piece of given.split(/[\s[\]]+/)) expect(shown).toContain(piece.replace(/\s/g, ''))
  })

  test.each([
    ['https://x.example', 'https://x.example'],
    ['  HTTP://x.example', 'HTTP://x.example'],
    ['mailto:a@b.example', 'mailto:a@b.example'],
    ['java\nscript:alert(1)', null],
    ['javascript://https://x', null],
    ['httpx://a', null],
    ['', null],
  ])('an address such as %j is safe as %j', (given, wanted) => {
    expect(safe(given)).toBe(wanted)
  })

  test.each(['[', '![', '*a ', '*a **b ', 'a*_', '> ', '- ', '<a', '`` ` ', 'https://', '|-|\n', '[a](', '\\', '~~a'])(
    'thirty thousand characters of %j are read soon',
    (piece) => {
      const began = performance.now()
      expect(parse(piece.repeat(30_000 / piece.length)).length).toBeGreaterThan(0)
      expect(performance.now() - began).toBeLessThan(5_000) // far beyond what is needed, even by a busy machine
    },
  )
})

describe('links to memories, footnotes and references', () => {
  test('a wiki link names a memory, as it is called or otherwise', () => {
    expect(line('see [[Tile server port]] and [[Tile server port|the port]]')).toEqual([
      text('see '),
      { is: 'wiki', to: 'Tile server port', text: 'Tile server port' },
      text(' and '),
      { is: 'wiki', to: 'Tile server port', text: 'the port' },
    ])
  })

  test('a wiki link in code is code', () => {
    expect(line('`[[a]]`')).toEqual([{ is: 'code', text: '[[a]]' }])
  })

  test('footnotes stand at the end, numbered in the order in which they are referred to', () => {
    const blocks = parse('One[^b], two[^a], one again[^b].\n\n[^a]: first\n[^b]: **second**\n  goes on')
    expect(blocks.map((each) => each.is)).toEqual(['paragraph', 'notes'])
    const notes = (blocks[1] as Extract<Block, { is: 'notes' }>).notes
    expect(notes.map((each) => [each.number, each.label])).toEqual([
      [1, 'b'],
      [2, 'a'],
    ])
    expect(notes[0]!.inside[0]).toEqual({ is: 'strong', inside: [text('second')] })
    expect(words(notes[0])).toContain('goes on')
  })

  test('a note that nothing refers to is still shown', () => {
    expect(words(parse('Words.\n\n[^x]: a note of its own'))).toContain('a note of its own')
  })

  test('a reference link leads where its definition says, if that is safe', () => {
    expect(addresses(parse('see [the docs][d] and [d]\n\n[d]: https://docs.example'))).toEqual([
      'https://docs.example',
      'https://docs.example',
    ])
    expect(addresses(parse('see [it][d]\n\n[d]: javascript:alert(1)'))).toEqual([])
  })

  test('no note, link or definition takes words away', () => {
    const given = 'a[^1] [[b]] [c]\n\n[^1]: d\n\n[c]: https://e.example\n\n[f]: https://g.example'
    for (const each of ['a', 'b', 'c', 'd', '[f]:']) expect(words(parse(given))).toContain(each)
  })
})
