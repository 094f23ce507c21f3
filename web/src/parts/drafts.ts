/* What somebody is typing, kept in this tab until it is saved or thrown away: a reload or a
   daemon that went down loses nothing. */

const KEEP = 'madeleine.draft.'

export function keepDraft(name: string, text: string): void {
  try {
    sessionStorage.setItem(KEEP + name, text)
  } catch {
    sessionStorage.removeItem(KEEP + name) // too long to be kept; an old half would be worse
  }
}

export function keptDraft(name: string): string | null {
  return sessionStorage.getItem(KEEP + name)
}

export function dropDraft(name: string): void {
  sessionStorage.removeItem(KEEP + name)
}
