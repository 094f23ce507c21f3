/* What is loaded of the graph: memories with their places, and connections whose both ends are
   there. Pages come as somebody comes nearer; what came stays until the view is closed. */

import { get } from '../../parts/api'
import { chance, Layout, pack, type Disc } from './layout'
import type { Arrow, Drawn, MapAnswer, Overview, Paths, Sketch, Surroundings } from './values'

export interface Node extends Sketch {
  x: number
  y: number
  /** What is drawn first when not all can be drawn; smaller comes first. */
  rank: number
  /** When it was made, in seconds since 1970. */
  created: number
  uses: number
}

/** What memories lie by: what they mean, or the space that they are in. */
export type By = 'meaning' | 'space'

interface Box {
  left: number
  right: number
  bottom: number
  top: number
}

export interface Region extends Disc {
  space: string | null
  memories: number
  /** How many of them are loaded in the order of their strength. */
  loaded: number
  busy: boolean
}

export interface Link {
  id: string
  source: string
  target: string
  edge: string
  weight: number
  reason?: string | null
}

const PAGE = 1_000
/** The space without a name, where a word is needed; like the daemon's. */
export const named = (space: string | null) => space ?? 'global'

/** When a memory was made, and how often used; what is not on the map yet is new. */
function lifeOf({ spot }: Sketch): { created: number; uses: number } {
  return { created: spot?.[2] ?? Math.floor(Date.now() / 1_000), uses: spot?.[3] ?? 0 }
}

const holds = (outer: Box, inner: Box) =>
  outer.left <= inner.left && outer.right >= inner.right && outer.bottom <= inner.bottom && outer.top >= inner.top

export class World {
  regions: Region[] = []
  total = 0
  spaces = 0
  readonly nodes = new Map<string, Node>()
  readonly #links = new Map<string, Map<string, Link>>()
  readonly #known = new Set<string>()
  readonly #layout = new Layout()

  /** The map by meaning, if there is one. */
  map: MapAnswer | null = null
  /** Parts of it that are loaded, whole. */
  #areas: Box[] = []

  constructor(
    readonly aspect: number,
    public by: By,
  ) {}

  /** Whether memories lie by meaning: as soon as there is a map. */
  get byMeaning(): boolean {
    return this.by === 'meaning' && this.map !== null && this.map.memories > 0
  }

  /** Arrange everything anew, by something else or on a newer map. */
  async arrange(by: By): Promise<void> {
    this.by = by
    this.nodes.clear()
    this.#areas = []
    this.regions = []
    await this.overview()
  }

  /** Load the spaces and their strongest memories; again, when something has changed. */
  async overview(): Promise<void> {
    const lay = this.byMeaning
    const [answer, map] = await Promise.all([
      get<Overview>('/ui/data/graph'),
      this.by === 'meaning' ? get<MapAnswer>('/ui/data/graph/map') : null,
    ])
    this.map = map
    if (this.byMeaning !== lay) this.nodes.clear()
    this.total = answer.total
    this.spaces = answer.spaces
    this.#arrange(answer)
    const before = new Map(this.regions.map((each) => [each.space, 0]))
    for (const each of answer.memories) before.set(each.space, (before.get(each.space) ?? 0) + 1)
    for (const each of this.regions) each.loaded = Math.max(each.loaded, before.get(each.space) ?? 0)
    await this.take(answer)
  }

  /** Load the next page of a space. */
  async more(region: Region): Promise<void> {
    if (region.busy || region.loaded >= region.memories) return
    region.busy = true
    try {
      const query = { space: named(region.space), offset: region.loaded, limit: PAGE }
      const answer = await get<Drawn>('/ui/data/graph/space', query)
      region.loaded += answer.memories.length
      if (answer.memories.length < PAGE) region.loaded = region.memories
      await this.take(answer)
    } finally {
      region.busy = false
    }
  }

  /** Load the strongest memories of a part of the map; returns whether that was asked for. */
  async area(box: Box): Promise<boolean> {
    if (!this.byMeaning || this.nodes.size >= this.map!.memories) return false
    if (this.#areas.some((each) => holds(each, box))) return false
    const query = {
      left: Math.floor(box.left),
      bottom: Math.floor(box.bottom),
      right: Math.ceil(box.right),
      top: Math.ceil(box.top),
      limit: PAGE,
    }
    const answer = await get<Drawn>('/ui/data/graph/area', query)
    if (answer.memories.length < PAGE) this.#areas.push(box)
    await this.take(answer)
    return true
  }

  /** Load what answers a question; returns the ids. */
  async found(query: string, signal?: AbortSignal): Promise<string[]> {
    const answer = await get<Drawn>('/ui/data/graph/found', { query }, signal)
    await this.take(answer)
    return answer.memories.map((each) => each.id)
  }

  async near(id: string, signal?: AbortSignal): Promise<Surroundings> {
    const answer = await get<Surroundings>(`/ui/data/graph/near/${encodeURIComponent(id)}`, {}, signal)
    await this.take(answer)
    return answer
  }

  async paths(from: string, to: string, signal?: AbortSignal): Promise<Paths> {
    const answer = await get<Paths>('/ui/data/graph/paths', { from, to }, signal)
    await this.take(answer)
    return answer
  }

  /** Forget what is gone. */
  drop(id: string): void {
    this.nodes.delete(id)
    for (const other of this.#links.get(id)?.keys() ?? []) this.#links.get(other)?.delete(id)
    this.#links.delete(id)
  }

  linksOf(id: string): Link[] {
    const found: Link[] = []
    for (const [other, link] of this.#links.get(id) ?? []) if (this.nodes.has(other)) found.push(link)
    return found
  }

  /** The other end of a link, if it is loaded. */
  other(link: Link, id: string): Node | undefined {
    return this.nodes.get(link.source === id ? link.target : link.source)
  }

  strongest(most: number): Node[] {
    return [...this.nodes.values()].sort((one, other) => one.rank - other.rank).slice(0, most)
  }

  regionOf(space: string | null): Region | undefined {
    return this.regions.find((each) => each.space === space)
  }

  /** Take in what came: connections first, because they say where memories lie. */
  async take(answer: Drawn): Promise<void> {
    for (const arrow of answer.connections) this.#connect(arrow)
    const bySpace = new Map<string | null, Sketch[]>()
    for (const each of answer.memories) {
      if (!this.regionOf(each.space)) continue
      const known = this.nodes.get(each.id)
      if (known) Object.assign(known, each)
      else bySpace.set(each.space, [...(bySpace.get(each.space) ?? []), each])
    }
    if (this.byMeaning) this.#pin([...bySpace.values()].flat())
    else await Promise.all([...bySpace].map(([space, fresh]) => this.#place(space, fresh)))
  }

  /** Put memories where the map has them; what is not on it yet beside what it is connected with. */
  #pin(fresh: Sketch[]): void {
    for (const each of [...fresh].sort((one, other) => Number(!one.spot) - Number(!other.spot))) {
      const [x, y] = each.spot ?? this.#beside(each.id)
      this.nodes.set(each.id, { ...each, x, y, rank: 1 - each.importance, ...lifeOf(each) })
    }
  }

  #beside(id: string): [number, number] {
    const [one, other] = chance(id)
    const near = this.linksOf(id)
      .map((link) => this.other(link, id)!)
      .filter((each) => each.spot)
    const [left, bottom, right, top] = this.map!.bounds!
    if (!near.length) return [left + one * (right - left), bottom - 0.06 * (top - bottom) * (0.4 + other)]
    const middle = (along: 'x' | 'y') => near.reduce((sum, each) => sum + each[along], 0) / near.length
    return [middle('x') + (one - 0.5) * 16, middle('y') + (other - 0.5) * 16]
  }

  async #place(space: string | null, fresh: Sketch[]): Promise<void> {
    const region = this.regionOf(space)!
    const links = fresh.flatMap((each) =>
      [...(this.#links.get(each.id)?.keys() ?? [])].map((other): [string, string] => [each.id, other]),
    )
    const ids = fresh.map((each) => each.id)
    const places = await this.#layout.add(named(space), ids, links)
    const scale = Math.sqrt(region.memories)
    const before = this.#count(space)
    fresh.forEach((each, at) => {
      const rank = (before + at) / scale
      this.nodes.set(each.id, { ...each, x: places[at]!.x, y: places[at]!.y, rank, ...lifeOf(each) })
    })
  }

  #count(space: string | null): number {
    let many = 0
    for (const each of this.nodes.values()) if (each.space === space) many++
    return many
  }

  #connect([source, target, edge, weight, reason]: Arrow): void {
    const id = `${source}>${target}`
    if (this.#known.has(id)) return this.#explain(id, source, target, reason)
    this.#known.add(id)
    const link: Link = { id, source, target, edge, weight, reason }
    this.#side(source).set(target, link)
    if (!this.#side(target).has(source)) this.#side(target).set(source, link)
  }

  /** Keep why a known connection is there; most answers do not say it. */
  #explain(id: string, source: string, target: string, reason?: string | null): void {
    const link = this.#side(source).get(target)
    if (link?.id === id && reason) link.reason = reason
  }

  #side(id: string): Map<string, Link> {
    let side = this.#links.get(id)
    if (!side) this.#links.set(id, (side = new Map()))
    return side
  }

  /** Lay out the spaces. Those that have a place keep it; a new one makes all find theirs anew. */
  #arrange(answer: Overview): void {
    const known = answer.regions.every((each) => this.regionOf(each.space))
    if (known) {
      for (const each of answer.regions) this.regionOf(each.space)!.memories = each.memories
      return
    }
    const discs = pack(
      answer.regions.map((each) => each.memories),
      this.aspect,
    )
    this.regions = answer.regions.map((each, at) => ({ ...each, ...discs[at]!, loaded: 0, busy: false }))
    this.nodes.clear()
    this.#layout.discs(this.regions.map((each) => [named(each.space), { x: each.x, y: each.y, r: each.r }]))
  }
}
