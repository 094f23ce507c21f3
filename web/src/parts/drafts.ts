/* What somebody is typing, kept in this tab until it is saved or thrown away: a reload or a
   daemon that went down loses nothing. */

const KEEP = 'madeleine.draft.'

export function keepDraft(name: string, draft: unknown): void {
  try {
    sessionStorage.setItem(KEEP + name, JSON.stringify(draft))
  } catch {
    sessionStorage.removeItem(KEEP + name) // too long to be kept; an old half would be worse
  }
}

/** Keep a draft for as long as there is something in it. */
export function keepWhile(worth: boolean, name: string, draft: unknown): void {
  if (worth) keepDraft(name, draft)
  else dropDraft(name)
}

export function keptDraft<T>(name: string): T | null {
  const text = sessionStorage.getItem(KEEP + name)
  return text === null ? null : (JSON.parse(text) as T)
}

export function dropDraft(name: string): void {
  sessionStorage.removeItem(KEEP + name)
}
