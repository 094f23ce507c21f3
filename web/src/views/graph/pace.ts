/* How much is drawn: as much as moves smoothly here. Frames of the browser are timed while the map
   moves; when they come too slowly, less is drawn, at once; when they come easily, more, at the
   next rest. */

export interface Detail {
  /** Memories and connections drawn at most. */
  nodes: number
  edges: number
  /** Whether labels and connections are drawn while the map moves. */
  labels: boolean
  lines: boolean
}

const STEPS: Detail[] = [
  { nodes: 150, edges: 150, labels: false, lines: false },
  { nodes: 300, edges: 400, labels: false, lines: false },
  { nodes: 600, edges: 900, labels: false, lines: false },
  { nodes: 1_000, edges: 1_500, labels: false, lines: false },
  { nodes: 1_200, edges: 1_800, labels: false, lines: true },
  { nodes: 1_800, edges: 2_700, labels: true, lines: true },
  { nodes: 3_000, edges: 4_500, labels: true, lines: true },
  { nodes: 6_000, edges: 9_000, labels: true, lines: true },
  { nodes: 12_000, edges: 18_000, labels: true, lines: true },
]
const KEEP = 'madeleine.graph.detail'
const START = 5
const SLOW_MS = 28 // thirty frames a second, and a little to spare
const EASY_MS = 18
const LOOKED_AT = 10
const CALM = 45 // frames that must have been easy before more is tried
const LONG_CALM = 240 // after which what was too much once may be tried again
const STILL_MS = 250 // a longer pause is a rest, not a slow frame

export class Pace {
  #step = clamp(Number(sessionStorage.getItem(KEEP) ?? START))
  #ceiling = STEPS.length - 1
  #last = 0
  #times: number[] = []
  #easy = 0

  get detail(): Detail {
    return STEPS[this.#step]!
  }

  /** Note a frame while the map moves; returns whether less has to be drawn now. */
  drawn(now: number): boolean {
    const lasted = now - this.#last
    this.#last = now
    if (lasted > STILL_MS) {
      this.#times = []
      return false
    }
    this.#times.push(lasted)
    this.#easy = lasted <= EASY_MS ? this.#easy + 1 : Math.max(0, this.#easy - 4)
    return this.#times.length >= LOOKED_AT && mean(this.#times) > SLOW_MS && this.#less()
  }

  /** Note that the map rests; returns whether more may be drawn now. */
  rested(): boolean {
    this.#times = []
    if (this.#easy >= LONG_CALM) this.#ceiling = Math.min(STEPS.length - 1, this.#ceiling + 1)
    if (this.#easy < CALM || this.#step >= this.#ceiling) return false
    return this.#go(this.#step + 1)
  }

  #less(): boolean {
    this.#times = []
    this.#ceiling = Math.max(0, this.#step - 1) // what was too much is not tried again so soon
    return this.#step > 0 && this.#go(this.#step - 1)
  }

  #go(step: number): boolean {
    this.#step = step
    this.#easy = 0
    sessionStorage.setItem(KEEP, String(step))
    return true
  }
}

function mean(times: number[]): number {
  return times.reduce((sum, each) => sum + each, 0) / times.length
}

function clamp(step: number): number {
  return Number.isInteger(step) ? Math.min(STEPS.length - 1, Math.max(0, step)) : START
}
