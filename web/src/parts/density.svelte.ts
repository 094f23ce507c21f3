/* How much of a list fits on the screen: roomy, or one or two lines for each memory. */

const KEEP = 'madeleine.density'

export const density = $state({ compact: localStorage.getItem(KEEP) === 'compact' })

export function setCompact(compact: boolean): void {
  density.compact = compact
  if (compact) localStorage.setItem(KEEP, 'compact')
  else localStorage.removeItem(KEEP)
}
