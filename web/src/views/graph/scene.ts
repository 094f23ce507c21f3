/* What is drawn of the world right now: the strongest memories in view, as many as move smoothly,
   with what somebody looks at always among them. */

import Graph from 'graphology'
import Sigma from 'sigma'
import { EdgeArrowProgram, EdgeLineProgram } from 'sigma/rendering'
import { sign } from '../../parts/TypeMark.svelte'
import { TIERS, TYPES } from '../../parts/values'
import { arrow } from '../../parts/arrows'
import { number } from '../../parts/words'
import { colours, HUES, mix, type Colours } from './colours'
import { look, MarkProgram, SHAPE_OF } from './marks'
import { Pace } from './pace'
import type { Topic } from './values'
import { named, type Link, type Node, type Region, type World } from './world'

/** What stands out; everything else steps back. */
export interface Emphasis {
  focus?: string
  /** Memories around it, or on the ways. */
  near: ReadonlySet<string>
  /** Links that are drawn strongly, by their ids. */
  links: ReadonlySet<string>
  /** Memories whose headlines are written whatever they cover. */
  named: ReadonlySet<string>
}

/** What the colour of a memory says. */
export const COLOURINGS = ['space', 'type', 'age', 'use'] as const
export type Colouring = (typeof COLOURINGS)[number]

export interface Hears {
  pick: (id: string | null) => void
  open: (id: string) => void
  /** The view has come to rest. */
  rest: () => void
}

interface Spot {
  x: number
  y: number
  r: number
}

interface Rect {
  left: number
  right: number
  bottom: number
  top: number
}

export const NOTHING: Emphasis = { near: new Set(), links: new Set(), named: new Set() }
const MARGIN = 0.35 // of the view, drawn beyond its edges
const REST_MS = 160
const CHOOSE_MS = 300
const LETTER_PX = 7.5
const LETTERS = 300
const TOPICS = 26 // that are named at once
const TOPIC_PX = [42, 420] as const // how wide a topic is on the screen whose name is written
const NEIGHBOURS = 60 // that are lit at most
const RIM = 4 // cells around the land, over which it ends softly
const LABEL_PX = 3.2
const PIXELS_EACH_LABEL = 22_000
const KEPT_CLEAR = 160 // memories in view up to which no label covers one
const LABEL_CHARS = 34
const NAMED_LINES = 24 // that stand out; of more, none could be read
const ALONG = [0.5, 0.35, 0.65, 0.2, 0.8, 0.05, 0.95] // where on a line its name may stand, best first
const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif'
const SERIF = 'ui-serif, Charter, Georgia, "Noto Serif", serif'

const signs = new Map<string, Path2D>()

/** The sign of a type as a path, made once. */
function signOf(type: string): Path2D {
  const known = signs.get(type) ?? new Path2D(sign(type))
  signs.set(type, known)
  return known
}

export class Scene {
  readonly sigma: Sigma
  readonly pace = new Pace()
  emphasis = NOTHING
  chosen: string | null = null
  colouring: Colouring = 'space'
  /** Only what was made by then is drawn, in seconds since 1970. */
  until = Infinity
  /** How many memories are drawn. */
  drawn = 0
  #nodes: Node[] = []
  #rect: Rect = { left: 0, right: 0, bottom: 0, top: 0 }
  #moving = false
  #watching = 0
  #rest: ReturnType<typeof setTimeout> | undefined
  #choseAt = 0
  #colours = colours()
  #land: { of: unknown; canvas: HTMLCanvasElement } | null = null
  #life = { first: 0, last: 1, uses: 1 }
  #scale = 1
  #names: Rect[] = []
  readonly #widths = new Map<string, number>()
  readonly #still = matchMedia('(prefers-reduced-motion: reduce)')

  constructor(
    readonly container: HTMLElement,
    readonly world: World,
    readonly hears: Hears,
  ) {
    this.sigma = new Sigma(new Graph(), container, {
      allowInvalidContainer: true,
      defaultNodeType: 'mark',
      nodeProgramClasses: { mark: MarkProgram },
      nodeHoverProgramClasses: { mark: MarkProgram },
      defaultEdgeType: 'line',
      // Drawn in this order, after Sigma's own `arrow`: what is strong lies above what is pale.
      edgeProgramClasses: { line: EdgeLineProgram, strong: EdgeArrowProgram },
      renderLabels: false, // the scene's own do not cover each other, and stand above all memories
      stagePadding: 28,
      minCameraRatio: 0.003,
      maxCameraRatio: 2.2,
      zIndex: true,
      zoomToSizeRatioFunction: (ratio) => ratio ** 0.36,
      defaultDrawNodeHover: (context, data) => this.#hover(context, data as never),
    })
    // Sigma draws every node a second time to find the one under the pointer; the scene knows.
    const inner = this.sigma as unknown as Record<string, unknown>
    inner.getNodeAtPosition = ({ x, y }: { x: number; y: number }) => this.at(x, y)
    ;(inner.pickingLayers as Set<string>).clear()
    this.sigma.createCanvasContext('regions', { beforeLayer: 'edges' } as never)
    this.sigma.resize(true)
    this.#listen()
    this.recolour()
  }

  #listen(): void {
    this.sigma.on('afterRender', () => this.#rendered())
    this.sigma.getCamera().on('updated', () => this.#moved())
    this.sigma.on('clickNode', ({ node }) => this.hears.pick(node))
    this.sigma.on('clickStage', () => this.hears.pick(null))
    this.sigma.on('doubleClickNode', ({ node, preventSigmaDefault }) => {
      preventSigmaDefault()
      this.hears.open(node)
    })
    this.sigma.on('enterNode', () => this.container.classList.add('on-memory'))
    this.sigma.on('leaveNode', () => this.container.classList.remove('on-memory'))
  }

  close(): void {
    clearTimeout(this.#rest)
    cancelAnimationFrame(this.#watching)
    this.sigma.kill()
  }

  /** Take the page's colours as they are now. */
  recolour(): void {
    this.#colours = colours()
    this.#land = null
    this.choose()
  }

  /** Make the field as large as the spaces; once they are known. */
  frame(): void {
    const all = this.world.regions
    if (all.length === 0) return
    if (this.world.byMeaning) {
      const [left, bottom, right, top] = this.world.map!.bounds!
      const [wide, high] = [right - left, top - bottom]
      // With room for what stands above the map at its lower edge.
      this.sigma.setCustomBBox({
        x: [left - 0.05 * wide, right + 0.05 * wide],
        y: [bottom - 0.16 * high, top + 0.05 * high],
      })
      this.#scale = Math.min(2.3, Math.max(0.72, 3.1 - 0.78 * Math.log10(Math.max(1, this.world.nodes.size))))
      this.sigma.refresh()
      return
    }
    const x: [number, number] = [
      Math.min(...all.map((each) => each.x - each.r)),
      Math.max(...all.map((each) => each.x + each.r)),
    ]
    const y: [number, number] = [
      Math.min(...all.map((each) => each.y - each.r)),
      Math.max(...all.map((each) => each.y + each.r)),
    ]
    this.sigma.setCustomBBox({ x, y })
    this.#scale = Math.min(2.3, Math.max(0.72, 3.1 - 0.78 * Math.log10(Math.max(1, this.world.nodes.size))))
    this.sigma.refresh()
  }

  // -- choosing what is drawn ---------------------------------------------------------------

  /** Choose anew what is drawn. */
  choose(): void {
    this.#choseAt = performance.now()
    this.#rect = widened(this.#view())
    this.#life = lifeOf(this.world.nodes.values())
    this.#nodes = this.#strongest()
    this.drawn = this.#nodes.length
    this.container.dataset.drawn = String(this.drawn)
    this.sigma.setGraph(this.#graph())
  }

  #strongest(): Node[] {
    const found: Node[] = []
    for (const node of this.world.nodes.values())
      if (node.created <= this.until && (this.#standsOut(node.id) || isIn(node, this.#rect))) found.push(node)
    const first = (node: Node) => (this.#standsOut(node.id) ? 0 : 1)
    found.sort((one, other) => first(one) - first(other) || byRank(one, other))
    return found.slice(0, this.pace.detail.nodes)
  }

  #standsOut(id: string): boolean {
    return id === this.chosen || id === this.emphasis.focus || this.emphasis.near.has(id)
  }

  #graph(): Graph {
    const graph = new Graph({ type: 'directed', multi: false })
    for (const node of this.#nodes) graph.addNode(node.id, this.#nodeLook(node))
    let room = this.pace.detail.edges
    for (const node of this.#nodes)
      for (const link of this.world.linksOf(node.id)) {
        const strong = this.emphasis.links.has(link.id)
        if (link.source !== node.id || !graph.hasNode(link.target) || (room-- <= 0 && !strong)) continue
        graph.addEdgeWithKey(link.id, link.source, link.target, this.#linkLook(link, strong))
      }
    return graph
  }

  #nodeLook(node: Node): Record<string, unknown> {
    const { accent, paper } = this.#colours
    const quiet = this.#isAny() && !this.#standsOut(node.id)
    const own = this.colourOf(node)
    const faded = mix(own, paper, quiet ? 0.72 : node.outdated ? 0.5 : 0)
    const tier = { core: 4.6, working: 3, archival: 2.6 }[node.tier]
    const here = node.id === this.emphasis.focus || node.id === this.chosen
    return {
      x: node.x,
      y: node.y,
      size: (tier + 2.6 * node.importance) * this.#scale * (here ? 1.5 : 1),
      color: here ? accent : faded,
      look: look(node.type, node.tier),
      zIndex: here ? 3 : this.#standsOut(node.id) ? 2 : node.tier === 'core' ? 1 : 0,
    }
  }

  /** The colour of a memory, by what colours say now. */
  colourOf(node: Node): string {
    const { ink, accent, paper, 'ink-soft': soft } = this.#colours
    const { first, last, uses } = this.#life
    const pale = mix(soft, paper, 0.45)
    if (this.colouring === 'age') return mix(pale, accent, (node.created - first) / Math.max(1, last - first))
    if (this.colouring === 'use') return mix(pale, accent, Math.log1p(node.uses) / Math.log1p(uses))
    return mix(this.#hue(node), ink, Math.max(0, node.importance - 0.5) * 0.5)
  }

  #hue(node: Node): string {
    if (this.colouring === 'type') return hueOf(this.#colours, TYPES.indexOf(node.type as never))
    return this.colourOfSpace(node.space)
  }

  /** The largest spaces have a colour of their own. */
  colourOfSpace(space: string | null): string {
    const at = this.world.regions.findIndex((each) => each.space === space)
    return hueOf(this.#colours, at < HUES.length ? at : -1)
  }

  #linkLook(link: Link, strong: boolean): Record<string, unknown> {
    const { sunk, accent, 'ink-soft': soft } = this.#colours
    if (strong) return { type: 'strong', color: mix(accent, sunk, 0.15), size: 2.2, zIndex: 1 }
    const far = this.#length(link) / this.#reach()
    const share = this.#isAny() ? 0.08 : (0.2 + 0.25 * link.weight) / (1 + 3 * far)
    return { type: 'line', color: mix(sunk, soft, share), size: 1, zIndex: 0 }
  }

  /** A length beyond which connections are pale. */
  #reach(): number {
    if (!this.world.byMeaning) return this.world.regions[0]?.r ?? 1
    const [left, bottom, right, top] = this.world.map!.bounds!
    return Math.max(1, right - left, top - bottom) / 8
  }

  #length(link: Link): number {
    const [one, other] = [this.world.nodes.get(link.source)!, this.world.nodes.get(link.target)!]
    return Math.hypot(one.x - other.x, one.y - other.y)
  }

  #isAny(): boolean {
    return this.emphasis.focus !== undefined || this.emphasis.near.size > 0
  }

  // -- moving -------------------------------------------------------------------------------

  #moved(): void {
    this.#moving = true
    this.#watch()
    const { lines } = this.pace.detail
    if (this.sigma.getSetting('hideEdgesOnMove') === lines) this.sigma.setSetting('hideEdgesOnMove', !lines)
    clearTimeout(this.#rest)
    this.#rest = setTimeout(() => this.#rested(), REST_MS)
    const outside = !covers(this.#rect, this.#view())
    if (outside && performance.now() - this.#choseAt > CHOOSE_MS) this.choose()
  }

  #rested(): void {
    if (this.sigma.getMouseCaptor().isMouseDown) {
      this.#rest = setTimeout(() => this.#rested(), REST_MS)
      return
    }
    this.#moving = false
    this.pace.rested()
    this.choose()
    this.hears.rest()
  }

  /** Go so that a space, or these memories, fill the view. */
  goTo(given: Region | Node[]): void {
    const target = Array.isArray(given) || !this.world.byMeaning ? given : this.#ofSpace(given.space)
    const room = 0.09 * Math.min(...this.world.regions.map((each) => each.r), 250)
    const box = Array.isArray(target) ? around(target, Math.max(16, room)) : disc(target)
    if (!box) return
    const middle = this.#framed((box.left + box.right) / 2, (box.bottom + box.top) / 2)
    const corner = this.#framed(box.right, box.top)
    const { width, height } = this.sigma.getDimensions()
    const at = this.sigma.framedGraphToViewport(middle)
    const to = this.sigma.framedGraphToViewport(corner)
    const share = Math.max(Math.abs(to.x - at.x) / (width / 2), Math.abs(to.y - at.y) / (height / 2)) * 1.25
    const ratio = this.sigma.getCamera().getState().ratio * share
    this.#go({ ...middle, ratio: Math.min(2, Math.max(0.012, ratio)) })
  }

  #ofSpace(space: string | null): Node[] {
    return [...this.world.nodes.values()].filter((each) => each.space === space)
  }

  /** Go to a topic of the map. */
  goToTopic({ x, y, radius }: Topic): void {
    const corner = (sign: number) => ({ x: x + sign * radius, y: y + sign * radius }) as Node
    this.goTo([corner(-1), corner(1)])
  }

  fit(): void {
    this.#go({ x: 0.5, y: 0.5, ratio: 1 })
  }

  zoom(factor: number): void {
    const { ratio } = this.sigma.getCamera().getState()
    this.#go({ ratio: this.sigma.getCamera().getBoundedRatio(ratio * factor) }, 180)
  }

  /** Move the view by a share of itself. */
  pan(right: number, up: number): void {
    const { width, height } = this.sigma.getDimensions()
    const at = this.sigma.viewportToFramedGraph({ x: width / 2 + right * width, y: height / 2 - up * height })
    this.#go(at, 140)
  }

  #go(state: { x?: number; y?: number; ratio?: number }, duration = 420): void {
    const camera = this.sigma.getCamera()
    if (this.#still.matches) camera.setState(state)
    else void camera.animate(state, { duration, easing: 'quadraticOut' })
  }

  #framed(x: number, y: number): { x: number; y: number } {
    return this.sigma.viewportToFramedGraph(this.sigma.graphToViewport({ x, y }))
  }

  /** What is in view of the graph. */
  view(): Rect {
    return this.#view()
  }

  #view(): Rect {
    const { width, height } = this.sigma.getDimensions()
    const one = this.sigma.viewportToGraph({ x: 0, y: height })
    const other = this.sigma.viewportToGraph({ x: width, y: 0 })
    return { left: one.x, right: other.x, bottom: one.y, top: other.y }
  }

  /** How wide a space is on the screen, and whether any of it is in view. */
  seen(region: Region): { wide: number; visible: boolean } {
    const view = this.#view()
    const wide = (2 * region.r * this.sigma.getDimensions().width) / (view.right - view.left)
    const box = disc(region)
    const visible = box.left < view.right && box.right > view.left && box.bottom < view.top && box.top > view.bottom
    return { wide, visible }
  }

  /** The strongest memories in view. */
  inView(most: number): Node[] {
    const view = this.#view()
    const found = this.#nodes.filter((node) => isIn(node, view))
    return found
      .sort((one, other) => TIERS.indexOf(one.tier) - TIERS.indexOf(other.tier) || byRank(one, other))
      .slice(0, most)
  }

  /** The memory at a place of the screen. */
  at(x: number, y: number): string | null {
    const place = this.#places()
    let best: string | null = null
    let least = Infinity
    for (const node of this.#nodes) {
      const data = this.sigma.getNodeDisplayData(node.id)
      if (!data) continue
      const far = Math.hypot(place.x(node) - x, place.y(node) - y)
      if (far < this.sigma.scaleSize(data.size) + 5 && far < least) [best, least] = [node.id, far]
    }
    return best
  }

  /** Return how graph coordinates become pixels, without making an object for each. */
  #places(): { x: (at: Node | Region) => number; y: (at: Node | Region) => number; scale: number } {
    const zero = this.sigma.graphToViewport({ x: 0, y: 0 })
    const one = this.sigma.graphToViewport({ x: 1_000, y: 1_000 })
    const [sx, sy] = [(one.x - zero.x) / 1_000, (one.y - zero.y) / 1_000]
    return { x: (at) => zero.x + at.x * sx, y: (at) => zero.y + at.y * sy, scale: Math.abs(sx) }
  }

  // -- drawing ------------------------------------------------------------------------------

  #rendered(): void {
    this.#showLayers()
    if (this.world.byMeaning) {
      this.#drawLand()
      this.#nameTopics()
    } else {
      this.#drawRegions()
      this.#nameRegions()
    }
    if (!this.#moving || this.pace.detail.labels) this.#drawWords()
    dispatchEvent(new Event('graph-drawn'))
  }

  /** While the map moves, see how quickly frames follow each other, whoever moves it. */
  #watch(): void {
    if (this.#watching) return
    const frame = (now: number) => {
      this.#watching = this.#moving ? requestAnimationFrame(frame) : 0
      if (this.#moving && this.pace.drawn(now)) this.choose()
    }
    this.#watching = requestAnimationFrame(frame)
  }

  /** Show only the layers that have something on them: each costs time in every frame. */
  #showLayers(): void {
    const layers = this.sigma.getCanvases()
    const shown: Record<string, boolean> = {
      hoverNodes: false, // the ring around the memory under the pointer says enough
      edges: !this.#moving || this.pace.detail.lines,
      edgeLabels: false, // written with all other words
    }
    for (const [name, is] of Object.entries(shown)) {
      const display = is ? '' : 'none'
      if (layers[name] && layers[name].style.display !== display) layers[name].style.display = display
    }
  }

  #canvas(name: string): CanvasRenderingContext2D {
    return (this.sigma as unknown as { canvasContexts: Record<string, CanvasRenderingContext2D> }).canvasContexts[name]!
  }

  #drawRegions(): void {
    const context = this.#canvas('regions')
    const { width, height } = this.sigma.getDimensions()
    const place = this.#places()
    context.clearRect(0, 0, width, height)
    for (const region of this.world.regions) {
      const [x, y, r] = [place.x(region), place.y(region), region.r * place.scale]
      if (x + r < 0 || x - r > width || y + r < 0 || y - r > height) continue
      context.beginPath()
      context.arc(x, y, r, 0, 2 * Math.PI)
      context.fillStyle = this.#colours.sunk
      context.fill()
      context.strokeStyle = this.#colours.line
      context.lineWidth = 1
      context.stroke()
    }
  }

  /** Draw where memories lie, also those that are not drawn: land where they lie close. */
  #drawLand(): void {
    const context = this.#canvas('regions')
    const { width, height } = this.sigma.getDimensions()
    context.clearRect(0, 0, width, height)
    const { bounds } = this.world.map!
    const [left, bottom, right, top] = bounds!
    const from = this.sigma.graphToViewport({ x: left, y: top })
    const to = this.sigma.graphToViewport({ x: right, y: bottom })
    const land = this.#landscape()
    const [cellX, cellY] = [(to.x - from.x) / (land.width - 2 * RIM), (to.y - from.y) / (land.height - 2 * RIM)]
    context.imageSmoothingEnabled = true
    context.drawImage(
      land,
      from.x - RIM * cellX,
      from.y - RIM * cellY,
      to.x - from.x + 2 * RIM * cellX,
      to.y - from.y + 2 * RIM * cellY,
    )
  }

  /** The land as a small picture, made once for a map. */
  #landscape(): HTMLCanvasElement {
    const land = this.world.map!.land!
    if (this.#land?.of === land) return this.#land.canvas
    const canvas = document.createElement('canvas')
    ;[canvas.width, canvas.height] = [land.columns + 2 * RIM, land.rows + 2 * RIM]
    const context = canvas.getContext('2d')!
    const heights = smoothed(land.counts, land.columns, land.rows)
    const most = Math.log1p(Math.max(...heights, 1))
    heights.forEach((high, at) => {
      const [x, y] = [at % canvas.width, canvas.height - 1 - Math.floor(at / canvas.width)]
      if (high < 0.04) return
      context.globalAlpha = Math.min(1, high * 5)
      context.fillStyle = mix(
        this.#colours.sunk,
        this.#colours['line-strong'],
        0.7 * Math.min(1, Math.log1p(high) / most),
      )
      context.fillRect(x, y, 1, 1)
    })
    this.#land = { of: land, canvas }
    return canvas
  }

  /** Write the names of topics, of those that are as large on the screen as a name needs. */
  #nameTopics(): void {
    const { width, height } = this.sigma.getDimensions()
    const place = this.#places()
    const context = this.#canvas('labels')
    this.#names = []
    if (this.#isAny()) return
    for (const topic of this.topics()) {
      const at = { x: place.x(topic as never), y: place.y(topic as never), r: topic.radius * place.scale }
      const size = Math.min(21, Math.max(14, at.r / 6))
      context.font = `500 ${size}px ${SERIF}`
      const wide = context.measureText(topic.name).width
      const base = at.y - 1.15 * Math.min(at.r, 110) - 8 // above the memories that it is about
      const box = { left: at.x - wide / 2 - 6, right: at.x + wide / 2 + 6, bottom: base - size, top: base + size / 2 }
      if (box.right < 0 || box.left > width || box.top < 0 || box.bottom > height) continue
      if (this.#names.some((each) => overlap(each, box))) continue
      this.#names.push(box)
      context.textAlign = 'center'
      context.textBaseline = 'alphabetic'
      haloed(context, topic.name, at.x, base, this.#colours.ink, this.#colours.paper)
    }
  }

  /** The topics that fit what is in view, the largest first. */
  topics(): Topic[] {
    if (!this.world.byMeaning) return []
    const { scale } = this.#places()
    const view = this.#view()
    const [few, many] = TOPIC_PX
    const all = this.world.map!.topics.filter((each) => isIn(each, widened(view)))
    const fits = (topic: Topic) => {
      const wide = topic.radius * scale
      return (wide >= few || (topic.level === 0 && wide >= few / 3)) && wide <= many
    }
    return all.filter(fits).slice(0, TOPICS)
  }

  /** Write the names of the spaces above all lines, so that they can be read. */
  #nameRegions(): void {
    const { width, height } = this.sigma.getDimensions()
    const place = this.#places()
    this.#names = []
    for (const region of this.world.regions) {
      const [x, y, r] = [place.x(region), place.y(region), region.r * place.scale]
      if (x + r < 0 || x - r > width || y + r < 0 || y - r > height + 30) continue
      this.#nameRegion(this.#canvas('labels'), region, { x, y, r }, this.#names)
    }
  }

  #nameRegion(context: CanvasRenderingContext2D, region: Region, at: Spot, taken: Rect[]): void {
    const { width } = this.sigma.getDimensions()
    const size = Math.min(19, Math.max(12, at.r / 9))
    context.font = `500 ${size}px ${SERIF}`
    const name = short(named(region.space))
    const many = `  ${number(region.memories)}`
    const wide = context.measureText(name).width
    const rest = many.length * 7
    const left = Math.min(Math.max(at.x - (wide + rest) / 2, 14), width - wide - rest - 14)
    const base = Math.max(at.y - at.r - 7, size + 8)
    const box = { left: left - 4, right: left + wide + rest, bottom: base - size, top: base + 5 }
    if (at.r < 9 || taken.some((each) => overlap(each, box))) return
    taken.push(box)
    context.textAlign = 'left'
    context.textBaseline = 'alphabetic'
    haloed(context, name, left, base, this.#colours.ink, this.#colours.paper)
    context.font = `400 12px ${FONT}`
    haloed(context, many, left + wide, base, this.#colours['ink-soft'], this.#colours.paper)
  }

  /** Draw signs into the memories that are large enough, the names of the lines that stand out, and
      headlines where there is room. */
  #drawWords(): void {
    const context = this.#canvas('labels')
    const place = this.#places()
    const { width, height } = this.sigma.getDimensions()
    const spots: (Spot & { node: Node; colour: string })[] = []
    for (const node of this.#nodes) {
      const data = this.sigma.getNodeDisplayData(node.id) as { size: number; color: string } | undefined
      const [x, y] = [place.x(node), place.y(node)]
      if (!data || x < 0 || y < 0 || x > width || y > height) continue
      spots.push({ node, x, y, r: this.sigma.scaleSize(data.size), colour: data.color })
    }
    for (const spot of spots.filter((each) => each.r >= LETTER_PX).slice(0, LETTERS))
      this.#sign(context, spot.node, spot.colour, spot)
    const taken = [...this.#names]
    this.#nameLines(context, new Map(spots.map((each) => [each.node.id, each])), taken)
    if (spots.length <= KEPT_CLEAR)
      for (const { x, y, r } of spots) taken.push({ left: x - r, right: x + r, bottom: y - r, top: y + r })
    let labels = Math.round((width * height) / PIXELS_EACH_LABEL)
    for (const spot of spots) {
      const wanted = this.emphasis.named.has(spot.node.id) || (labels > 0 && this.#isLabelled(spot.node, spot.r))
      if (wanted && this.#label(context, spot.node, spot, taken)) labels--
    }
  }

  /** Write what the lines that stand out say, along their arrows and above all memories. */
  #nameLines(context: CanvasRenderingContext2D, spots: ReadonlyMap<string, Spot>, taken: Rect[]): void {
    if (this.emphasis.links.size > NAMED_LINES) return
    context.font = `400 11px ${FONT}`
    context.textAlign = 'center'
    context.textBaseline = 'middle'
    for (const id of spots.keys())
      for (const link of this.world.linksOf(id)) {
        const [from, to] = [spots.get(link.source), spots.get(link.target)]
        if (link.source === id && from && to && this.emphasis.links.has(link.id))
          this.#nameLine(context, arrow(link.edge, true), from, to, taken)
      }
  }

  /** Write on a line where it is free: the lines and memories below it do not count, words do. */
  #nameLine(context: CanvasRenderingContext2D, words: string, from: Spot, to: Spot, taken: Rect[]): void {
    const [dx, dy] = [to.x - from.x, to.y - from.y]
    const length = Math.hypot(dx, dy)
    const wide = this.#wide(context, words, false, 'line ')
    const [first, room] = [from.r + wide / 2, length - from.r - to.r - wide]
    if (room < 0) return
    const places = ALONG.map((share) => (first + share * room) / length)
    const at = places.find(
      (each) => !along(from, to, each, wide).some((piece) => taken.some((other) => overlap(other, piece))),
    )
    if (at === undefined) return
    taken.push(...along(from, to, at, wide))
    const angle = Math.atan2(dy, dx)
    context.save()
    context.translate(from.x + at * dx, from.y + at * dy)
    context.rotate(Math.abs(angle) > Math.PI / 2 ? angle + Math.PI : angle)
    context.fillStyle = this.#colours.sunk
    context.fillRect(-wide / 2 - 3, -7, wide + 6, 14)
    context.fillStyle = this.#colours.ink
    context.fillText(words, 0, 0.5)
    context.restore()
  }

  #isLabelled(node: Node, r: number): boolean {
    return this.#standsOut(node.id) || (r >= LABEL_PX && !this.#isAny())
  }

  #sign(context: CanvasRenderingContext2D, node: Node, colour: string, { x, y, r }: Spot): void {
    const wide = Math.min(26, r * (node.tier === 'core' ? 1.05 : 1.2))
    context.save()
    context.translate(x - wide / 2, y - wide / 2 + r * (SHAPE_OF[node.type] === 'triangle' ? 0.14 : 0))
    context.scale(wide / 24, wide / 24)
    context.strokeStyle = node.tier === 'archival' ? colour : this.#colours.paper
    context.lineWidth = 2.1
    context.stroke(signOf(node.type))
    context.restore()
  }

  /** Write a headline beside its memory where nothing stands; of those that must be named always. */
  #label(context: CanvasRenderingContext2D, node: Node, spot: Spot, taken: Rect[]): boolean {
    const here = node.id === this.emphasis.focus || node.id === this.chosen
    const text = short(node.headline)
    context.textAlign = 'left'
    context.textBaseline = 'alphabetic'
    context.font = `${here ? 600 : 400} ${here ? 13.5 : 12}px ${FONT}`
    const box = this.#room(
      beside(spot, this.#wide(context, text, here)),
      taken,
      here || this.emphasis.named.has(node.id),
    )
    if (!box) return false
    taken.push(box)
    const colour = here ? this.#colours.ink : mix(this.#colours.ink, this.#colours['ink-soft'], 0.4)
    haloed(context, text, box.left + 3, box.top - 6, colour, this.#colours.sunk)
    return true
  }

  /** The first of these places that is free; for what must be named, else the one that covers least. */
  #room(places: Rect[], taken: Rect[], must: boolean): Rect | undefined {
    const { width } = this.sigma.getDimensions()
    const inside = places.filter((each) => each.left >= 0 && each.right <= width)
    const free = inside.find((each) => !taken.some((other) => overlap(other, each)))
    if (free || !must) return free
    const all = inside.length ? inside : places.map((each) => shifted(each, width))
    const covered = (each: Rect) => taken.reduce((sum, other) => sum + shared(other, each), 0)
    return all.reduce((best, each) => (covered(each) < covered(best) ? each : best))
  }

  #wide(context: CanvasRenderingContext2D, text: string, here: boolean, what = ''): number {
    const key = here ? `!${text}` : what + text
    let wide = this.#widths.get(key)
    if (wide === undefined) this.#widths.set(key, (wide = context.measureText(text).width))
    return wide
  }

  /** Draw what a memory is connected with, as far as it is drawn, above all else. */
  #lightNeighbours(context: CanvasRenderingContext2D, node: Node): void {
    const place = this.#places()
    context.strokeStyle = this.#colours.accent
    for (const link of this.world.linksOf(node.id).slice(0, NEIGHBOURS)) {
      const other = this.world.other(link, node.id)!
      const data = this.sigma.getNodeDisplayData(other.id)
      if (!data || !this.sigma.getGraph().hasNode(other.id)) continue
      context.lineWidth = 1.4
      context.beginPath()
      context.moveTo(place.x(node), place.y(node))
      context.lineTo(place.x(other), place.y(other))
      context.stroke()
      context.lineWidth = 2
      context.beginPath()
      context.arc(place.x(other), place.y(other), this.sigma.scaleSize(data.size) + 3, 0, 2 * Math.PI)
      context.stroke()
    }
  }

  #hover(
    context: CanvasRenderingContext2D,
    data: { key?: string; x: number; y: number; size: number; color: string },
  ): void {
    const node = data.key ? this.world.nodes.get(data.key) : undefined
    if (node) this.#lightNeighbours(context, node)
    context.beginPath()
    context.arc(data.x, data.y, data.size + 4, 0, 2 * Math.PI)
    context.strokeStyle = this.#colours.accent
    context.lineWidth = 2
    context.stroke()
    if (!node) return
    context.font = `500 13px ${FONT}`
    const text = node.headline
    const wide = context.measureText(text).width
    const left = Math.min(data.x + data.size + 10, this.sigma.getDimensions().width - wide - 24)
    context.beginPath()
    context.roundRect(Math.max(6, left), data.y - 14, wide + 18, 28, 8)
    context.fillStyle = this.#colours.card
    context.fill()
    context.strokeStyle = this.#colours['line-strong']
    context.lineWidth = 1
    context.stroke()
    context.fillStyle = this.#colours.ink
    context.fillText(text, Math.max(6, left) + 9, data.y + 4.5)
  }
}

const hueOf = (colours: Colours, at: number) => (at < 0 ? colours['ink-soft'] : colours[HUES[at % HUES.length]!])

/** When the first and the last of these were made, and how often the most used was used. */
function lifeOf(nodes: Iterable<Node>): { first: number; last: number; uses: number } {
  const life = { first: Infinity, last: 0, uses: 1 }
  for (const { created, uses } of nodes) {
    life.first = Math.min(life.first, created)
    life.last = Math.max(life.last, created)
    life.uses = Math.max(life.uses, uses)
  }
  return life
}

/** Counts of cells with a rim around them, each as the mean of those around it. */
function smoothed(counts: readonly number[], columns: number, rows: number): number[] {
  const [wide, high] = [columns + 2 * RIM, rows + 2 * RIM]
  let heights = new Array<number>(wide * high).fill(0)
  counts.forEach((count, at) => {
    heights[(Math.floor(at / columns) + RIM) * wide + (at % columns) + RIM] = count
  })
  for (let round = 0; round < 3; round++)
    heights = heights.map((_, at) => {
      let sum = 0
      for (const dy of [-wide, 0, wide]) for (const dx of [-1, 0, 1]) sum += heights[at + dx + dy] ?? 0
      return sum / 9
    })
  return heights
}

/** The places where a label can stand: right, left, below and above. */
function beside({ x, y, r }: Spot, wide: number): Rect[] {
  const at = (left: number, top: number) => ({ left: left - 3, right: left + wide + 3, bottom: top - 18, top })
  return [
    at(x + r + 5, y + 9.5),
    at(x - r - 5 - wide, y + 9.5),
    at(x - wide / 2, y + r + 20),
    at(x - wide / 2, y - r - 2),
  ]
}

/** The place of words on a line, `at` this share of it, in small pieces: it may go aslant. */
function along(from: Spot, to: Spot, at: number, wide: number): Rect[] {
  const [dx, dy] = [to.x - from.x, to.y - from.y]
  const length = Math.hypot(dx, dy)
  const steps = Math.max(2, Math.ceil(wide / 8))
  return Array.from({ length: steps + 1 }, (_, step) => {
    const share = at + ((step / steps - 0.5) * wide) / length
    const [x, y] = [from.x + share * dx, from.y + share * dy]
    return { left: x - 6, right: x + 6, bottom: y - 7, top: y + 7 }
  })
}

/** Write words on a rim of the ground's colour, which keeps lines away from them. */
function haloed(
  context: CanvasRenderingContext2D,
  text: string,
  x: number,
  y: number,
  ink: string,
  ground: string,
): void {
  context.lineWidth = 3.5
  context.lineJoin = 'round'
  context.strokeStyle = ground
  context.strokeText(text, x, y)
  context.fillStyle = ink
  context.fillText(text, x, y)
}

function byRank(one: Node, other: Node): number {
  return one.rank - other.rank || (one.id < other.id ? -1 : 1)
}

function short(text: string): string {
  return text.length > LABEL_CHARS ? `${text.slice(0, LABEL_CHARS - 1)}…` : text
}

function isIn(at: { x: number; y: number }, rect: Rect): boolean {
  return at.x >= rect.left && at.x <= rect.right && at.y >= rect.bottom && at.y <= rect.top
}

function widened(rect: Rect): Rect {
  const [dx, dy] = [(rect.right - rect.left) * MARGIN, (rect.top - rect.bottom) * MARGIN]
  return { left: rect.left - dx, right: rect.right + dx, bottom: rect.bottom - dy, top: rect.top + dy }
}

function covers(outer: Rect, inner: Rect): boolean {
  return (
    outer.left <= inner.left && outer.right >= inner.right && outer.bottom <= inner.bottom && outer.top >= inner.top
  )
}

function overlap(one: Rect, other: Rect): boolean {
  return one.left < other.right && one.right > other.left && one.bottom < other.top && one.top > other.bottom
}

/** How much of the screen two places share. */
function shared(one: Rect, other: Rect): number {
  if (!overlap(one, other)) return 0
  const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left)
  return wide * (Math.min(one.top, other.top) - Math.max(one.bottom, other.bottom))
}

/** The same place, moved into a view that is so wide. */
function shifted(rect: Rect, width: number): Rect {
  const by = rect.left < 0 ? -rect.left : Math.min(0, width - rect.right)
  return { ...rect, left: rect.left + by, right: rect.right + by }
}

function disc(region: Region): Rect {
  const { x, y, r } = region
  return { left: x - r, right: x + r, bottom: y - r, top: y + r }
}

function around(nodes: Node[], least: number): Rect | null {
  if (nodes.length === 0) return null
  const xs = nodes.map((each) => each.x)
  const ys = nodes.map((each) => each.y)
  const rect = { left: Math.min(...xs), right: Math.max(...xs), bottom: Math.min(...ys), top: Math.max(...ys) }
  const room = Math.max(least, 0.15 * (rect.right - rect.left), 0.15 * (rect.top - rect.bottom))
  return { left: rect.left - room, right: rect.right + room, bottom: rect.bottom - room, top: rect.top + room }
}
