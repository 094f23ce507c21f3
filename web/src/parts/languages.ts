/* Which languages the page speaks, and which of them whoever looks at it reads. Each is a file of its own, loaded
   when somebody reads it; what is not translated is said in English. */

import { en } from '../messages/en'
import { speak, type Catalog } from './messages'

type Words = Partial<Catalog>

const LANGUAGES: Record<string, () => Promise<Words>> = {
  en: () => Promise.resolve(en),
  de: () => import('../messages/de').then((all) => all.de),
  es: () => import('../messages/es').then((all) => all.es),
  ja: () => import('../messages/ja').then((all) => all.ja),
  zh: () => import('../messages/zh').then((all) => all.zh),
}

/** The first language of a browser's list that the page speaks: `['fr', 'de-AT', 'en']` → `de`. */
export function languageOf(wanted: readonly string[]): string {
  const names = wanted.map((each) => each.toLowerCase().split('-')[0]!)
  return names.find((name) => Object.hasOwn(LANGUAGES, name)) ?? 'en'
}

/** Say everything in the language of this browser; in English if it cannot be loaded. */
export async function speakAsTheBrowser(): Promise<void> {
  const name = languageOf(navigator.languages)
  const words = await LANGUAGES[name]!().catch(() => null)
  if (!words) return
  speak(name, { ...en, ...words })
  document.documentElement.lang = name
}
