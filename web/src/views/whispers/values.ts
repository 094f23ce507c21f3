/* What the daemon tells about prompts, and the words for it. */

import type {
  ConsideredMemory as Considered,
  SearchSilenceShape as Because,
  WhisperDetail as Whisper,
  WhisperLine as Line,
} from '../../parts/contract'

import { chance } from '../../parts/absence'
import { noAnswer, noWhisper } from '../../parts/causes'
import { counted, t } from '../../parts/messages'
import { duration, memories, percent } from '../../parts/words'

export type {
  ConsideredMemory as Considered,
  WhisperDetail as Whisper,
  WhisperLine as Line,
  WhisperPage as Lines,
  WhisperStage as Stage,
} from '../../parts/contract'

export type Outcome = Line['outcome']

export const OUTCOMES: Record<Outcome, string> = {
  whispered: t('whispers.whispered'),
  silent: t('whispers.silent'),
  held_out: t('whispers.heldOut'),
  late: t('whispers.tooLate'),
  undelivered: t('whispers.notDelivered'),
}

export type Moment = Line['moment']

/** When something was told, as a choice. */
export const MOMENTS: Record<Moment, string> = {
  prompt: t('whispers.momentPrompt'),
  start: t('whispers.momentStart'),
  deed: t('whispers.momentDeed'),
}

export const isMoment = (word: string): word is Moment => Object.hasOwn(MOMENTS, word)

const STARTS: Record<string, string> = {
  startup: t('whispers.sessionStarted'),
  resume: t('whispers.sessionResumed'),
  clear: t('whispers.sessionCleared'),
  compact: t('whispers.sessionShortened'),
  subagent: t('whispers.subagentStarted'),
}

/** What the moment is called: what was typed, how a session began, or what an agent was about to do. */
export function called(line: Line): string {
  if (line.moment === 'start') return STARTS[line.start ?? ''] ?? t('whispers.sessionStarted')
  return line.prompt || t('whispers.empty')
}

export const STAGES: Record<string, { label: string; asks: string }> = {
  prompt: { label: t('whispers.prompt'), asks: t('whispers.didAPersonTypeSomething') },
  intent: { label: t('whispers.purpose'), asks: t('whispers.whatIsThePromptFor') },
  conversation: { label: t('whispers.talk'), asks: t('whispers.isItMoreThanA') },
  topic: { label: t('whispers.topic'), asks: t('whispers.isItAboutSomethingNew') },
  search: { label: t('whispers.search'), asks: t('whispers.isAnythingFound') },
  floor: { label: t('whispers.relevance'), asks: t('whispers.isItRelevantAtAll') },
  affinity: { label: t('whispers.feedback'), asks: t('whispers.whatDidFeedbackOnSimilar') },
  overlap: { label: t('whispers.words'), asks: t('whispers.doesItShareAWord') },
  gate: { label: t('whispers.gate'), asks: t('whispers.isItSurelyWorthSaying') },
  session: { label: t('whispers.repetition'), asks: t('whispers.wasItNotWhisperedBefore') },
  order: { label: t('whispers.room'), asks: t('whispers.isThereRoomForIt') },
}

export const stageName = (name: string | null) => STAGES[name ?? '']?.label ?? name ?? ''

/** Nothing was good enough; how good the best was stands beside it. */
const WEAK: Record<string, string> = {
  too_weak: t('whispers.nothingIsRelevantEnough'),
  below_gate: t('whispers.nothingPassesTheGate'),
}

/** What the search says of the nearest where nothing was near enough; with chances if the prompt is opened. */
function nearest(because: Because, opened: boolean): string {
  const said = t('whispers.cameNearNoneNearEnough', { count: because.count ?? 0 })
  if (!because.nearest) return said
  const best = t('whispers.theNearest', {
    said,
    title: because.title ? `“${because.title}”` : because.nearest.slice(0, 8),
  })
  if (because.lacks !== 'score') return t('whispers.hasNoWordInCommon', { best })
  return opened
    ? t('whispers.hasAChanceOfAnd', { best, chance: chance(because.score ?? 0), needed: chance(because.needed ?? 0) })
    : t('whispers.isNotNearEnough', { best })
}

/** `atlas` in the daemon's words → “atlas”. */
export const quoted = (text: string) => text.replace(/`([^`]*)`/g, '“$1”')

/** Why nothing was said, with chances as everywhere on the page. */
export function silence(line: Line): string {
  const parts = line.silence_parts
  if (parts?.because?.kind === 'none_near_enough') return nearest(parts.because, true)
  if (parts?.because) return quoted(noAnswer(parts.because.text, parts.because))
  if (parts?.kind === 'same_topic')
    return t('whispers.stillTheSameTopicAlike', { percent: percent(parts.similarity ?? 0) })
  return WEAK[parts?.kind ?? ''] ?? quoted(noWhisper(line.silence ?? '', parts))
}

/** What stands above the memories that were considered, or in their place. */
export function considered(whisper: Whisper): string {
  if (whisper.memories.length) return t('whispers.whatWasConsidered')
  return searched(whisper) ? t('whispers.nothingNearEnoughWasFound') : t('whispers.nothingWasLookedFor')
}

const UNSEARCHED = ['prompt', 'intent', 'conversation', 'topic']

/** Whether a prompt came so far that memories were looked for. */
export const searched = (line: Line) => !UNSEARCHED.includes(line.stage ?? '')

/** What came of a prompt, in half a sentence. */
export function came(line: Line): string {
  const took = line.took_ms === null ? '' : t('whispers.in', { duration: duration(line.took_ms / 1000) })
  if (line.outcome === 'whispered') return `${memories(line.told.length)}${took}`
  if (line.outcome === 'late') return t('whispers.foundButAfterTheDeadline', { memories: memories(line.told.length) })
  if (line.outcome === 'undelivered') return t('whispers.foundButNoAgentGot', { memories: memories(line.told.length) })
  const parts = line.silence_parts
  if (parts?.because?.kind === 'none_near_enough')
    return t('whispers.nothingWasFound', { nearest: nearest(parts.because, false) })
  return WEAK[parts?.kind ?? ''] ?? noWhisper(line.silence ?? t('whispers.nothingWasSaid'), parts)
}

const FATES: Record<string, string> = {
  whispered: t('whispers.whispered2'),
  late: t('whispers.cameTooLate'),
  undelivered: t('whispers.notDelivered2'),
  held_out: t('whispers.heldOutToMeasure'),
  restated: t('whispers.saidByAnother'),
  no_room: t('whispers.noRoomLeft'),
  told_before: t('whispers.toldBefore'),
  weak: t('whispers.heldBack2'),
  unseen: t('whispers.notLookedFor'),
}

export function fate(each: Considered): string {
  if (each.fate === 'weak' && each.held) return t('whispers.heldBack3', { stage: stageName(each.held) })
  return FATES[each.fate] ?? each.fate
}

/** Where the memories that may be whispered were looked for. */
export function among(spaces: (string | null)[]): string {
  const named = spaces.find((each) => each)
  const where = named
    ? t('whispers.andOfNoSpace', { named })
    : spaces.length
      ? t('whispers.noSpace')
      : t('whispers.allSpaces')
  return t('whispers.memoriesOfAlsoArchivedOnes', { where })
}

export const replied = (line: Line) =>
  line.seen === null
    ? ''
    : line.seen
      ? t('whispers.inTheReply', { count: counted('count.ofThemShows', line.seen) })
      : t('whispers.noneShowsInTheReply')
