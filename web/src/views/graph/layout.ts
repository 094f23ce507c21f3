/* Where things lie. Spaces are discs, packed the largest first; a memory lies in the disc of its
   space, near the strongest memory it is connected with, or where its id puts it. Nothing here
   depends on chance or on the clock: the same memories give the same picture. What lies somewhere
   stays there when more comes. */

export interface Disc {
  x: number
  y: number
  r: number
}

const GOLDEN = Math.PI * (3 - Math.sqrt(5))
const PER_MEMORY = 6
const LEAST_RADIUS = 22
const APART = 1.14
const TURNS = 72
const REACH = 7 // gaps over which connections pull
const INSIDE = 0.93
const FIRST_ROUNDS = 90
const ROUNDS = 24
const SLICE_MS = 8 // worked in one go; then the page has its turn

/** Return discs for so many memories each, for a field that is `aspect` times as wide as high. */
export function pack(sizes: number[], aspect: number): Disc[] {
  const discs: Disc[] = []
  const wide = Math.min(2.4, Math.max(0.42, aspect))
  for (const size of sizes) discs.push(beside(discs, LEAST_RADIUS + PER_MEMORY * Math.sqrt(size), wide))
  return discs
}

/** Return the free place that touches another disc and is nearest to the middle. */
function beside(discs: Disc[], r: number, wide: number): Disc {
  let best: Disc = { x: 0, y: 0, r }
  let least = discs.length ? Infinity : 0
  const whole = discs.reduce((sum, each) => sum + each.r * each.r, 0)
  const middle = (along: 'x' | 'y') => discs.reduce((sum, each) => sum + each[along] * each.r * each.r, 0) / whole
  const [x, y] = [middle('x'), middle('y')]
  for (const one of discs)
    for (let turn = 0; turn < TURNS; turn++) {
      const angle = ((turn + 0.25) / TURNS) * 2 * Math.PI
      const far = (one.r + r) * APART
      const disc = { x: one.x + Math.cos(angle) * far, y: one.y + Math.sin(angle) * far, r }
      const off = Math.hypot((disc.x - x) / wide, disc.y - y)
      if (off < least - 1e-6 && discs.every((each) => isApart(each, disc))) [best, least] = [disc, off]
    }
  return best
}

function isApart(one: Disc, other: Disc): boolean {
  return Math.hypot(one.x - other.x, one.y - other.y) >= (one.r + other.r) * (APART - 0.01)
}

/** Return two numbers from 0 to 1 that only an id decides. */
export function chance(id: string): [number, number] {
  let one = 0x811c9dc5
  let other = 0x9e3779b9
  for (let at = 0; at < id.length; at++) {
    one = Math.imul(one ^ id.charCodeAt(at), 0x01000193)
    other = Math.imul(other ^ id.charCodeAt(at), 0x85ebca6b) ^ (one >>> 13)
  }
  return [(one >>> 0) / 2 ** 32, (other >>> 0) / 2 ** 32]
}

interface Place {
  x: number
  y: number
  /** How many lean on it so far. */
  leaning: number
}

/** All places of one space. */
class Field {
  readonly places = new Map<string, Place>()
  readonly #links = new Map<string, string[]>()
  #turn = Promise.resolve()

  constructor(readonly disc: Disc) {}

  link(one: string, other: string): void {
    const known = this.#links.get(one)
    if (!known) this.#links.set(one, [other])
    else if (!known.includes(other)) known.push(other)
  }

  /** Find places for these memories, strongest first; one call after the other. */
  add(ids: string[]): Promise<void> {
    this.#turn = this.#turn.then(() => this.#add(ids))
    return this.#turn
  }

  async #add(ids: string[]): Promise<void> {
    const fresh = this.#mostConnected(ids.filter((id) => !this.places.has(id)))
    const first = this.places.size === 0
    const gap = this.#gap(this.places.size + fresh.length)
    for (const id of fresh) this.places.set(id, this.#begin(id, gap))
    await this.#settle(fresh, gap, first ? FIRST_ROUNDS : ROUNDS)
  }

  /** Those that many lean on come first, so that the others find them. */
  #mostConnected(ids: string[]): string[] {
    const many = new Map(ids.map((id) => [id, this.#links.get(id)?.length ?? 0]))
    return ids.sort((one, other) => many.get(other)! - many.get(one)!)
  }

  /** How far apart so many would lie if they filled the disc evenly, and a little less. */
  #gap(many: number): number {
    return Math.min(this.disc.r * 0.55, (1.25 * this.disc.r) / Math.sqrt(many))
  }

  #anchors(id: string): Place[] {
    const found: Place[] = []
    for (const other of this.#links.get(id) ?? []) {
      const place = this.places.get(other)
      if (place) found.push(place)
    }
    return found
  }

  #begin(id: string, gap: number): Place {
    const anchor = this.#anchors(id)[0]
    const [one, other] = chance(id)
    if (!anchor) {
      const far = this.disc.r * INSIDE * Math.sqrt(other)
      const angle = one * 2 * Math.PI
      return { x: this.disc.x + Math.cos(angle) * far, y: this.disc.y + Math.sin(angle) * far, leaning: 0 }
    }
    const angle = anchor.leaning * GOLDEN + (one - 0.5) * 0.9
    const far = gap * 0.8 * Math.sqrt(anchor.leaning + 1)
    anchor.leaning++
    return { x: anchor.x + Math.cos(angle) * far, y: anchor.y + Math.sin(angle) * far, leaning: 0 }
  }

  /** Pull together what is connected, push apart what lies too close; only what is new moves. */
  async #settle(fresh: string[], gap: number, rounds: number): Promise<void> {
    const moving = fresh.map((id) => this.places.get(id)!)
    const tied = fresh.map((id) => [this.places.get(id)!, this.#anchors(id)] as const)
    const still = new Grid(gap * 0.9)
    const moved = new Set(moving)
    for (const place of this.places.values()) if (!moved.has(place)) still.add(place)
    for (let round = 0, began = performance.now(); round < rounds; round++) {
      if (performance.now() - began > SLICE_MS) {
        await new Promise((done) => setTimeout(done))
        began = performance.now()
      }
      const pull = 0.12 * (1 - round / rounds)
      for (const [place, anchors] of tied) this.#pull(place, anchors, gap, pull)
      push(moving, still)
      for (const place of moving) this.#keepInside(place)
    }
  }

  #pull(place: Place, anchors: Place[], gap: number, share: number): void {
    for (const anchor of anchors) {
      const [dx, dy] = [anchor.x - place.x, anchor.y - place.y]
      const far = Math.hypot(dx, dy)
      if (far <= gap || far > REACH * gap) continue
      const step = (share * (far - gap)) / far / Math.sqrt(anchors.length)
      place.x += dx * step
      place.y += dy * step
    }
  }

  #keepInside(place: Place): void {
    const [dx, dy] = [place.x - this.disc.x, place.y - this.disc.y]
    const far = Math.hypot(dx, dy)
    const most = this.disc.r * INSIDE
    if (far <= most) return
    place.x = this.disc.x + (dx / far) * most
    place.y = this.disc.y + (dy / far) * most
  }
}

/** Places by cells as wide as the distance that is kept, so that only neighbours are compared. */
class Grid {
  readonly #cells = new Map<number, Place[]>()

  constructor(readonly gap: number) {}

  #key(x: number, y: number): number {
    return Math.floor(x / this.gap) * 1_048_576 + Math.floor(y / this.gap)
  }

  add(place: Place): void {
    const key = this.#key(place.x, place.y)
    const cell = this.#cells.get(key)
    if (cell) cell.push(place)
    else this.#cells.set(key, [place])
  }

  around(place: Place, does: (other: Place) => void): void {
    for (let dx = -1; dx <= 1; dx++)
      for (let dy = -1; dy <= 1; dy++)
        this.#cells.get(this.#key(place.x + dx * this.gap, place.y + dy * this.gap))?.forEach(does)
  }
}

/** Push apart what lies closer than the grid's distance. */
function push(moving: Place[], still: Grid): void {
  const grid = new Grid(still.gap)
  for (const place of moving) grid.add(place)
  for (const place of moving) {
    grid.around(place, (other) => other !== place && apart(place, other, true, still.gap))
    still.around(place, (other) => apart(place, other, false, still.gap))
  }
}

function apart(place: Place, other: Place, both: boolean, gap: number): void {
  let [dx, dy] = [place.x - other.x, place.y - other.y]
  let far = Math.hypot(dx, dy)
  if (far >= gap) return
  if (far < 1e-6) [dx, dy, far] = [1e-3, 1e-3, 1.5e-3]
  const step = ((gap - far) / far) * (both ? 0.25 : 0.5)
  place.x += dx * step
  place.y += dy * step
  if (!both) return
  other.x -= dx * step
  other.y -= dy * step
}

/** The places of all spaces. */
export class Layout {
  readonly #fields = new Map<string, Field>()

  /** Say where the discs are; what lies in one that stays goes with it. */
  discs(discs: [string, Disc][]): void {
    for (const [name, disc] of discs) {
      const before = this.#fields.get(name)
      if (before && before.disc.x === disc.x && before.disc.y === disc.y && before.disc.r === disc.r) continue
      this.#fields.set(name, new Field(disc))
    }
  }

  /** Place memories of one space, strongest first, and return x and y of each. */
  async add(name: string, ids: string[], links: [string, string][]): Promise<{ x: number; y: number }[]> {
    const field = this.#fields.get(name)
    if (!field) return []
    for (const [one, other] of links) {
      field.link(one, other)
      field.link(other, one)
    }
    await field.add(ids)
    return ids.map((id) => field.places.get(id)!)
  }
}
