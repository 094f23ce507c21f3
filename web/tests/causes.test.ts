import { afterEach, describe, expect, it } from 'vitest'
import { de } from '../src/messages/de'
import { en } from '../src/messages/en'
import { noAnswer, noWhisper, reasons } from '../src/parts/causes'
import { speak } from '../src/parts/messages'

afterEach(() => speak('en', en))

describe('reasons', () => {
  const parts = [
    { kind: 'shares_words', share: 0.381 },
    { kind: 'connected', edge: 'supports', incoming: true, memory: '2f0ee1a2-1111-2222-3333-444455556666' },
    { kind: 'kin', asked: 'linter', said: 'Ruff', link: 'member' },
  ]

  it('are said by kind and parts, with memories by their short ids', () => {
    expect(reasons(['a', 'b', 'c'], parts)).toBe(
      'shares words (0.38) · is supported by 2f0ee1a2 · “linter”: Ruff is one',
    )
  })

  it('are said in the language of the page', () => {
    speak('de', { ...en, ...de })
    expect(reasons(['a'], [{ kind: 'close_in_meaning', similarity: 0.5 }])).toBe('der Bedeutung nach nah (0,50)')
  })

  it('are those of the daemon where the page does not know the kind', () => {
    expect(reasons(['rhymes with it', 'old'], [{ kind: 'rhymes' }])).toBe('rhymes with it · old')
    expect(reasons(['said so'], null)).toBe('said so')
  })
})

describe('silences', () => {
  it('are said by kind', () => {
    expect(noAnswer('x', { kind: 'filtered_out' })).toBe('no memory passes the filter')
    expect(noWhisper('x', { kind: 'only_talk' })).toBe('the prompt is only conversation')
    expect(noWhisper('it rained', { kind: 'rain' })).toBe('it rained')
    expect(noAnswer('so', null)).toBe('so')
  })
})
