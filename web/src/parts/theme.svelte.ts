/* Light or dark: as the system has it, unless somebody chose. */

export type Theme = 'system' | 'light' | 'dark'

const KEEP = 'madeleine.theme'
const found = localStorage.getItem(KEEP)

export const theme = $state<{ chosen: Theme }>({
  chosen: found === 'light' || found === 'dark' ? found : 'system',
})

export function applyTheme(): void {
  const root = document.documentElement
  if (theme.chosen === 'system') delete root.dataset.theme
  else root.dataset.theme = theme.chosen
}

export function choose(chosen: Theme): void {
  theme.chosen = chosen
  if (chosen === 'system') localStorage.removeItem(KEEP)
  else localStorage.setItem(KEEP, chosen)
  applyTheme()
}

/** Whether the page is dark right now; for what draws its own pixels. */
export function isDark(): boolean {
  if (theme.chosen !== 'system') return theme.chosen === 'dark'
  return matchMedia('(prefers-color-scheme: dark)').matches
}
