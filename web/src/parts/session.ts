/* The half of the sign-in that a script holds. It arrives behind the `#` of the address that
   `madeleine ui` opens, and is kept where only pages of this very port can read it. The other
   half is a cookie that no script sees. */

const KEEP = 'madeleine.key'

/** Take the key out of the address, so that nobody copies it along with a link. */
export function takeKey(): void {
  const found = location.hash.slice(1)
  if (!/^[\w-]{40,}$/.test(found)) return
  localStorage.setItem(KEEP, found)
  history.replaceState(history.state, '', location.pathname + location.search)
}

export function key(): string {
  return localStorage.getItem(KEEP) ?? ''
}

/** Whether an event of the storage says that this browser signed in anew, in another tab. */
export function isKeyNew(event: StorageEvent): boolean {
  return event.key === KEEP && event.newValue !== event.oldValue
}
