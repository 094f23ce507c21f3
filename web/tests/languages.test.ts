import { describe, expect, it } from 'vitest'
import { de } from '../src/messages/de'
import { en, type MessageKey } from '../src/messages/en'
import { es } from '../src/messages/es'
import { ja } from '../src/messages/ja'
import { zh } from '../src/messages/zh'
import { languageOf } from '../src/parts/languages'
import { counted, speak, t, type Catalog } from '../src/parts/messages'

const LANGUAGES: Record<string, Partial<Catalog>> = { de, es, ja, zh }
const slots = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map((each) => each[1]!).sort()
const isCount = (key: string) => key.endsWith('.one')

describe.each(Object.entries(LANGUAGES))('%s', (name, words) => {
  it('fills in what English fills in, in sentences that it has', () => {
    for (const [key, text] of Object.entries(words)) {
      const there = slots(en[key as MessageKey])
      if (isCount(key)) expect(there, key).toEqual(expect.arrayContaining(slots(text)))
      else expect(slots(text), key).toEqual(there)
    }
  })

  it('has a form for each number that it tells apart', () => {
    const forms = new Intl.PluralRules(name).resolvedOptions().pluralCategories
    for (const key of Object.keys(en).filter(isCount))
      if (forms.includes('one') && key.replace(/one$/, 'other') in words) expect(words).toHaveProperty([key])
  })

  it('leaves nothing in English, apart from forms of numbers that it does not tell apart', () => {
    const forms = new Intl.PluralRules(name).resolvedOptions().pluralCategories
    const wanted = Object.keys(en).filter((key) => forms.includes('one') || !isCount(key))
    expect(wanted.filter((key) => !(key in words))).toEqual([])
  })
})

describe('the language of a browser', () => {
  it('is the first of its list that the page speaks', () => {
    expect(languageOf(['fr-FR', 'de-AT', 'en'])).toBe('de')
    expect(languageOf(['zh-CN'])).toBe('zh')
    expect(languageOf(['en-IE', 'de'])).toBe('en')
  })

  it('is English if the page speaks none of them', () => expect(languageOf(['fr', 'pt-BR'])).toBe('en'))
})

describe('what is not translated', () => {
  it('is said in English', () => {
    speak('de', { ...en, 'frame.home': 'Start' })
    expect([t('frame.home'), t('frame.whispers')]).toEqual(['Start', 'Whispers'])
    speak('en', en)
  })

  it('counts as the language counts', () => {
    speak('ja', { ...en, ...ja })
    expect(counted('count.memory', 1)).toBe('1 件の記憶')
    speak('de', { ...en, ...de })
    expect(counted('count.memory', 12_345)).toBe('12.345 Erinnerungen')
    speak('en', en)
  })
})
