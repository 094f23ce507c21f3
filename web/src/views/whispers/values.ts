/* What the daemon tells about prompts, and the words for it. */

import type {
  ConsideredMemory as Considered,
  SearchSilenceShape as Because,
  WhisperDetail as Whisper,
  WhisperLine as Line,
} from '../../parts/contract'

import { chance } from '../../parts/absence'
import { count, duration, memories, percent } from '../../parts/words'

export type {
  ConsideredMemory as Considered,
  WhisperDetail as Whisper,
  WhisperLine as Line,
  WhisperPage as Lines,
  WhisperStage as Stage,
} from '../../parts/contract'

export type Outcome = Line['outcome']

export const OUTCOMES: Record<Outcome, string> = {
  whispered: 'Whispered',
  silent: 'Silent',
  held_out: 'Held out',
  late: 'Too late',
  undelivered: 'Not delivered',
}

export const STAGES: Record<string, { label: string; asks: string }> = {
  prompt: { label: 'Prompt', asks: 'Did a person type something that can be answered?' },
  intent: { label: 'Purpose', asks: 'What is the prompt for?' },
  conversation: { label: 'Talk', asks: 'Is it more than a thank you, or a yes?' },
  topic: { label: 'Topic', asks: 'Is it about something new in this conversation?' },
  search: { label: 'Search', asks: 'Is anything found?' },
  floor: { label: 'Relevance', asks: 'Is it relevant at all?' },
  affinity: { label: 'Feedback', asks: 'What did feedback on similar prompts say? This stage holds nothing back.' },
  overlap: { label: 'Words', asks: 'Does it share a word with the prompt, if others do?' },
  gate: { label: 'Gate', asks: 'Is it surely worth saying?' },
  session: { label: 'Repetition', asks: 'Was it not whispered before in this conversation?' },
  order: { label: 'Room', asks: 'Is there room for it?' },
}

export const stageName = (name: string | null) => STAGES[name ?? '']?.label ?? name ?? ''

/** Nothing was good enough; how good the best was stands beside it. */
const WEAK: Record<string, string> = { too_weak: 'nothing is relevant enough', below_gate: 'nothing passes the gate' }

/** What the search says of the nearest where nothing was near enough; with chances if the prompt is opened. */
function nearest(because: Because, opened: boolean): string {
  const said = `${because.count ?? 0} came near, none near enough`
  if (!because.nearest) return said
  const best = `${said}: the nearest, ${because.title ? `“${because.title}”` : because.nearest.slice(0, 8)},`
  if (because.lacks !== 'score') return `${best} has no word in common with the question`
  return opened
    ? `${best} has a chance of ${chance(because.score ?? 0)}, and ${chance(because.needed ?? 0)} is needed`
    : `${best} is not near enough`
}

/** `atlas` in the daemon's words → “atlas”. */
export const quoted = (text: string) => text.replace(/`([^`]*)`/g, '“$1”')

/** Why nothing was said, with chances as everywhere on the page. */
export function silence(line: Line): string {
  const parts = line.silence_parts
  if (parts?.because?.kind === 'none_near_enough') return nearest(parts.because, true)
  if (parts?.because) return quoted(parts.because.text)
  if (parts?.kind === 'same_topic') return `still the same topic, ${percent(parts.similarity ?? 0)} alike`
  return WEAK[parts?.kind ?? ''] ?? quoted(line.silence ?? '')
}

/** What stands above the memories that were considered, or in their place. */
export function considered(whisper: Whisper): string {
  if (whisper.memories.length) return 'What was considered'
  return searched(whisper) ? 'Nothing near enough was found' : 'Nothing was looked for'
}

const UNSEARCHED = ['prompt', 'intent', 'conversation', 'topic']

/** Whether a prompt came so far that memories were looked for. */
export const searched = (line: Line) => !UNSEARCHED.includes(line.stage ?? '')

/** What came of a prompt, in half a sentence. */
export function came(line: Line): string {
  const took = line.took_ms === null ? '' : ` in ${duration(line.took_ms / 1000)}`
  if (line.outcome === 'whispered') return `${memories(line.told.length)}${took}`
  if (line.outcome === 'late') return `${memories(line.told.length)} found, but after the deadline`
  if (line.outcome === 'undelivered') return `${memories(line.told.length)} found, but no agent got to read it`
  const parts = line.silence_parts
  if (parts?.because?.kind === 'none_near_enough') return `nothing was found: ${nearest(parts.because, false)}`
  return WEAK[parts?.kind ?? ''] ?? line.silence ?? 'nothing was said'
}

const FATES: Record<string, string> = {
  whispered: 'whispered',
  late: 'came too late',
  undelivered: 'not delivered',
  held_out: 'held out to measure',
  restated: 'said by another',
  no_room: 'no room left',
  told_before: 'told before',
  weak: 'held back',
  unseen: 'not looked for',
}

export function fate(each: Considered): string {
  if (each.fate === 'weak' && each.held) return `held back: ${stageName(each.held).toLowerCase()}`
  return FATES[each.fate] ?? each.fate
}

/** Where the memories that may be whispered were looked for. */
export function among(spaces: (string | null)[]): string {
  const named = spaces.find((each) => each)
  const where = named ? `${named}, and of no space` : spaces.length ? 'no space' : 'all spaces'
  return `memories of ${where}, also archived ones, but no archived conversations`
}

export const replied = (line: Line) =>
  line.seen === null
    ? ''
    : line.seen
      ? `${count(line.seen, 'of them shows', 'of them show')} in the reply`
      : 'none shows in the reply'
