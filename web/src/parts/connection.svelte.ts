/* Whether the daemon answers. `signed-out` asks for a new link; `away` waits for it to return. */

export type State = 'connecting' | 'live' | 'away' | 'signed-out'

export const connection = $state<{ state: State }>({ state: 'connecting' })

/** Told on the window when somebody answers again. */
export const ANSWERED = 'madeleine-answered'

/** Told on the window when the daemon does not know this browser, or it signed in anew. */
export const DOUBTED = 'madeleine-doubted'
