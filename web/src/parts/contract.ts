/* What the daemon answers. Made from `madeleine.api.contract` by `make docs`; do not edit it. */

/** A memory about the person, with all that editing it in its place takes. */
export interface AboutMemory {
  id: string
  short_id: string
  type: 'fact' | 'decision' | 'preference' | 'event' | 'person' | 'project' | 'concept' | 'procedure' | 'goal' | 'observation'
  tier: 'core' | 'working' | 'archival'
  space: string | null
  headline: string
  /** the beginning of the text, or the place that answers */
  extract: string
  tags: string[]
  created: string
  updated: string
  valid_until: string | null
  superseded_by: string | null
  /** whether it is retired, expired or superseded */
  outdated: boolean
  content: string
  /** what an edit is made for; it is refused if it says something else */
  version: string
}

/** Who the person is to their agents, under five headings; newest first. */
export interface AboutPage {
  /** the memory that stands for the person */
  self_id: string | null
  identity: AboutMemory[]
  preferences: AboutMemory[]
  /** also those who belong to no project */
  people: AboutMemory[]
  places: AboutMemory[]
  goals: AboutMemory[]
  /** how many memories are about the person */
  total: number
}

/** Why a memory is not among the answers, in parts. */
export interface AbsenceReason {
  how: 'unknown' | 'there' | 'refused' | 'outranked' | 'folded' | 'older' | 'outdone' | 'far' | 'glanced' | 'unseen'
  text: string
  rank: number | null
  /** how many fit better */
  others: number | null
  chance: number | null
  filters: string[]
}

/** A person who was given a memory of their own. */
export interface AddedPerson {
  /** the answer in plain words */
  text: string
  person: PersonEntry
  /** memories that were kept under this name */
  kept: number
}

/** A connection from one memory to another. */
export interface Arrow {
  /** the id of the memory that it starts at */
  source: string
  /** the id of the memory that it leads to */
  target: string
  /** what it says */
  edge: 'supports' | 'part_of' | 'depends_on' | 'defines' | 'derived_from' | 'evolved_from' | 'related_to' | 'contradicts' | 'discovered' | 'summarizes'
  /** how strong it is */
  weight: number
  /** why it is there */
  reason: string | null
  /** which association */
  kind: string | null
  /** who drew it */
  by: string | null
  /** when it was drawn */
  at: string | null
  /** how sure who drew it was */
  confidence: number | null
}

/** Memories of which one text may be made. */
export interface AskedClusterShape {
  /** what to call it in the verdict */
  cluster: string
  node_ids: string[]
}

/** A memory as somebody who judges reads it. */
export interface AskedMemory {
  type: 'fact' | 'decision' | 'preference' | 'event' | 'person' | 'project' | 'concept' | 'procedure' | 'goal' | 'observation'
  space?: string
  created: string
  title?: string
  content: string
}

/** Two memories whose relation is asked about. */
export interface AskedPairShape {
  /** what to call it in the verdict */
  pair: string
  /** the newer one */
  node_a_id: string
  /** the older one */
  node_b_id: string
  similarity: number
}

/** What somebody should look at. */
export interface AttentionItem {
  kind: 'bad' | 'warn' | 'ask'
  text: string
  more: string[]
  /** where on the page to go */
  to: string | null
  /** whom the text is about */
  job: string | null
  /** of a job that failed */
  error_kind?: string
  /** what the page can do about it */
  act?: 'backup'
}

/** The backups that there are, newest first. */
export interface BackupList {
  /** the answer in plain words */
  text: string
  folder: string
  backups: KeptBackup[]
  running: RunningBackup | null
}

/** A backup that was made. */
export interface BackupReport {
  /** the answer in plain words */
  text: string
  path: string
  made: string
  memories: number
  files: number
  bytes: number
  /** backups that were let go */
  removed: string[]
  seconds: number
  /** what is worth knowing beside it */
  notes: string[]
}

/** Which backups there are. */
export interface BackupStatus {
  folder: string
  count: number
  newest: string | null
}

/** A memory as a line of a list: without its whole text. */
export interface Brief {
  id: string
  short_id: string
  type: 'fact' | 'decision' | 'preference' | 'event' | 'person' | 'project' | 'concept' | 'procedure' | 'goal' | 'observation'
  tier: 'core' | 'working' | 'archival'
  space: string | null
  headline: string
  /** the beginning of the text, or the place that answers */
  extract: string
  tags: string[]
  created: string
  updated: string
  valid_until: string | null
  superseded_by: string | null
  /** whether it is retired, expired or superseded */
  outdated: boolean
}

/** What a session should know at its start. An empty text is silence. */
export interface BriefAnswer {
  /** what the agent reads; empty is silence */
  text: string
  brief_id: string
  /** the memories in it, in their order */
  items: BriefItem[]
  /** the night it tells of, for `undo` */
  night: string | null
  /** why nothing is said */
  silence: string | null
  /** what the silence is made of */
  silence_parts: CauseShape | null
  took_ms: number
}

/** A memory that answers a question, as a line of a list. */
export interface BriefHit {
  id: string
  short_id: string
  type: 'fact' | 'decision' | 'preference' | 'event' | 'person' | 'project' | 'concept' | 'procedure' | 'goal' | 'observation'
  tier: 'core' | 'working' | 'archival'
  space: string | null
  headline: string
  /** the beginning of the text, or the place that answers */
  extract: string
  tags: string[]
  created: string
  updated: string
  valid_until: string | null
  superseded_by: string | null
  /** whether it is retired, expired or superseded */
  outdated: boolean
  score: number
  /** the score in a word; what is unlikely is folded */
  likelihood: 'sure' | 'likely' | 'maybe' | 'unlikely'
  reasons: string[]
  /** what each reason is made of, in the same order */
  reasons_parts: CauseShape[]
  /** memories of which the reasons have the short id */
  mentions: Mention[]
}

/** A memory in a brief. */
export interface BriefItem {
  /** the id of the memory */
  node_id: string
  /** the part of the brief that it is told in */
  section: 'person' | 'task' | 'rules' | 'told' | 'project' | 'open'
  memory: Memory
}

/** Memories, newest first. */
export interface BriefPage {
  memories: Brief[]
  total: number
}

/** That another agent has the batch of questions. */
export interface BusyMaintenance {
  /** the answer in plain words */
  text: string
  status: 'busy'
  /** why there is no batch */
  message: string
  /** until when the batch is reserved; null if just handed in */
  expires_at: string | null
}

/** What a sentence is made of: its kind, and the values that the kind names. */
export interface CauseShape {
  /** what programs decide by; docs/reference/kinds.md has all */
  kind: string
  [name: string]: unknown
}

/** What a change made of each file. */
export interface ChangeDetail {
  files: FileChange[]
  files_total: number
}

/** A memory after a change. */
export interface ChangedMemory {
  /** the answer in plain words */
  text: string
  /** the id of the memory */
  node_id: string
  memory: Memory
  /** what `undo` takes back; null if it was so already */
  change: string | null
  /** what is worth knowing beside it */
  notes: string[]
  /** what each note is made of, in the same order */
  notes_parts: CauseShape[]
}

/** What a memory states: of a subject an attribute has a value. */
export interface Claim {
  subject: string
  attribute: string
  value: string
}

/** What tidying the journal did. */
export interface CompactReport {
  /** the answer in plain words */
  text: string
  /** written anew */
  files: string[]
  /** left alone, for somebody writes there */
  busy: string[]
  /** lines */
  dropped: number
  /** lines */
  damaged: number
  bytes_saved: number
}

/** Memories, those that they are connected with, and the connections at them, both ways. */
export interface ConnectedMemories {
  /** the answer in plain words */
  text: string
  /** those asked for, as far as they are there, come first */
  memories: Memory[]
  arrows: Arrow[]
}

/** A typed, weighted arrow to another memory. */
export interface Connection {
  /** the id of the memory that it leads to */
  target: string
  /** what it says */
  edge: 'supports' | 'part_of' | 'depends_on' | 'defines' | 'derived_from' | 'evolved_from' | 'related_to' | 'contradicts' | 'discovered' | 'summarizes'
  /** how strong it is */
  weight: number
  /** why it is there */
  reason?: string
  /** who drew it */
  by?: string
  /** when it was drawn */
  at?: string
  /** which association, of the edge `discovered` */
  kind?: string
  /** how sure who drew it was */
  confidence?: number
  /** when a job found it */
  discovered_at?: string
  /** how a job found it */
  algorithm?: string
}

/** A memory that was considered for a prompt. */
export interface ConsideredMemory {
  id: string
  /** what it was called then; null if that was not noted */
  title: string | null
  /** the chance that it answers, as recall says it */
  score: number | null
  /** how sure it is that saying it does more good than harm; the gate asks for it */
  worth: number | null
  /** in entries of earlier releases, where `score` is the worth */
  chance: number | null
  words: number | null
  meaning: number | null
  affinity: number | null
  reasons: string[]
  /** what each reason is made of; null in entries of earlier releases */
  reasons_parts: CauseShape[] | null
  fate: string
  /** the stage that held it back */
  held: string | null
  /** the memory that said it already */
  said_by: string | null
  seen: boolean
  feedback: 1 | -1 | null
  /** null if it is gone */
  brief: Brief | null
}

/** What the consolidation engine did. */
export interface ConsolidationReport {
  /** one task, or `full` */
  mode: string
  dry_run: boolean
  started_at: string
  /** null while it runs */
  completed_at: string | null
  /** null while it runs */
  success: boolean | null
  /** tasks that were left out */
  paused: string[]
  /** the result of each task */
  steps: Record<string, Record<string, unknown>>
}

/** What came of a request to the consolidation engine. */
export interface ConsolidationRun {
  /** the answer in plain words */
  text: string
  status: 'started' | 'success' | 'stopped' | 'error'
  /** what `undo` takes back */
  request: string
  consolidation: ConsolidationReport
}

/** When each task of the consolidation engine ran, and when it will run again. */
export interface ConsolidationStatus {
  /** the answer in plain words */
  text: string
  enabled: boolean
  last_decay: string | null
  last_creative: string | null
  last_cluster: string | null
  last_forget: string | null
  /** in words */
  next_runs: Record<string, string>
  next_run_at: Record<string, string | null>
  /** tasks whose last run failed, and why */
  failing: Record<string, string>
  paused: string[]
  running: RunningTask | null
  history: TaskRun[]
  /** how often it is looked whether a task is due */
  tick_seconds: number
}

/** What remote models were asked for one purpose, by one model. */
export interface CostLine {
  /** questions, memories, judging, synthesis or extraction */
  purpose: string
  model: string
  requests: number
  /** tokens that it read */
  tokens_in: number
  /** tokens that it wrote */
  tokens_out: number
  /** in the currency of the prices; 0 where no price is set */
  cost: number
}

/** What remote models were asked today and this month (UTC), and what a day may cost. */
export interface CostReport {
  /** the answer in plain words */
  text: string
  /** today, such as 2026-11-15 */
  day: string
  today: CostTotal
  month: CostTotal
  /** 0: no bound */
  daily_cap: number
  /** 0: no bound */
  daily_tokens: number
  /** why nobody is asked any more today, where that is so */
  refused: string | null
}

/** What remote models were asked in a time, the dearest purpose first. */
export interface CostTotal {
  requests: number
  tokens_in: number
  tokens_out: number
  cost: number
  lines: CostLine[]
}

/** A new token with its secret. */
export interface CreatedToken {
  id: string
  /** what it is for */
  name: string
  /** whose memory it opens */
  person: string
  role: string
  created: string
  last_used: string | null
  /** the answer in plain words */
  text: string
  /** the secret; it is told this once */
  token: string
}

/** How the daemon stands. */
export interface DaemonStatus {
  host: string
  port: number
  /** the one that was asked for */
  wanted_port: number
  socket: string
  pid: number
  uptime_seconds: number
  loops: LoopStatus[]
  /** requests that met a bug */
  failures: number
  /** what hooks asked and got, and their problems */
  hooks: Record<string, unknown>
}

/** How much held at a moment, and what has come and gone since. */
export interface DayPage {
  held: number
  holding: number
  come: number
  gone: number
  /** what held then and lies in the trash now */
  forgotten: Brief[]
}

/** A proposal after its decision, and the change that carried it out. */
export interface DecidedProposal {
  /** the answer in plain words */
  text: string
  proposal: Proposal
  /** what `undo` takes back; null if it was so already */
  change: string | null
}

/** What became of proposals that were decided at once. */
export interface DecidedProposals {
  /** the answer in plain words */
  text: string
  decided: Proposal[]
  /** those that stay as they are, and why */
  refused: RefusedDecision[]
  /** what `undo` takes to take all of it back; null if there is nothing */
  undo: string | null
}

/** What is worth knowing before a deed. An empty text is silence. */
export interface DeedAnswer {
  /** what the agent reads; empty is silence */
  text: string
  whisper_id: string
  /** the memories in it */
  injected: WhisperedMemory[]
  /** whether a person wants to be asked first, by `whisper.guard` */
  asks: boolean
  /** why nothing is said */
  silence: string | null
  /** what the silence is made of */
  silence_parts: CauseShape | null
  took_ms: number
}

/** Memories, and the connections between them: source, target, edge, weight, and why. */
export interface Drawing {
  memories: GraphNode[]
  connections: ([string, string, string, number] | [string, string, string, number, string | null])[]
}

/** Which model reads texts. */
export interface EmbedderStatus {
  name: string | null
  /** why there is none */
  why_not: string | null
  /** the model of texts that are not English; null if the first reads them */
  others: string | null
  /** why no other model reads what is not English */
  why_only_english: string | null
  /** languages of the newest memories beside English, by ISO 639-1 */
  languages: string[]
  /** memories that it has not read yet */
  unembedded: number
  /** why it is not asked at the moment */
  problem: string | null
}

/** The answer to a request that was not carried out. */
export interface ErrorAnswer {
  error: MadeleineError
}

/** Recorded changes, newest first. */
export interface EventPage {
  /** the answer in plain words */
  text: string
  events: (JournalChange | JournalEvent)[]
}

/** One memory that replaced another. */
export interface Evolution {
  /** the older one */
  from: Memory
  /** the newer one */
  to: Memory
  reason: string | null
  by: string | null
  at: string | null
}

/** A page of memories with all that belongs to them, in the order of their ids. */
export interface ExportPage {
  /** the answer in plain words */
  text: string
  items: ExportedMemory[]
  /** from where to go on; null when these were the last */
  next: string | null
  total: number
}

/** A memory as its own fields; what is not set is left out. */
export interface ExportedMemory {
  id: string
  type: 'fact' | 'decision' | 'preference' | 'event' | 'person' | 'project' | 'concept' | 'procedure' | 'goal' | 'observation'
  tier: 'core' | 'working' | 'archival'
  space?: string
  title?: string
  content: string
  tags?: string[]
  source?: string
  confidence: number
  created: string
  updated: string
  valid_until?: string
  superseded_by?: string
  origin?: Record<string, unknown>
  claim?: Record<string, unknown>
  idempotency_key?: string
  connections?: Connection[]
  /** its file */
  path: string
  /** what the journal says of it */
  usage?: Record<string, unknown>
  /** the text of its file, where it says more */
  file?: string
  trashed?: boolean
}

/** What memories can be filtered by, with how many there are of each. */
export interface Facets {
  memories: number
  types: Record<string, number>
  tiers: Record<string, number>
  spaces: Record<string, number>
  tags: Record<string, number>
}

/** The memory in figures; days are those of the zone that was asked for. */
export interface FiguresPage {
  zone: string
  /** how far back the log of whispers reaches */
  days: number
  /** oldest first */
  weeks: WorthWeek[]
  /** all memories, oldest first */
  bars: GrowthBar[]
  /** the same by space, the largest first */
  spaces: SpaceGrowth[]
  /** days of the last year on which anything became known */
  calendar: KnownDay[]
  /** memories that were whispered, the most often first */
  earning: KeptMemory[]
}

/** A file before and after a change. */
export interface FileChange {
  memory: string
  path_before: string | null
  path_after: string | null
  before: string | null
  after: string | null
  /** whether the texts are known */
  known: boolean
}

/** A memory that lies in the trash. */
export interface ForgottenMemory {
  /** the answer in plain words */
  text: string
  /** the id of the memory */
  node_id: string
  memory: Memory
  /** what `undo` takes back; null if it was so already */
  change: string | null
  /** where its file is */
  trash_path: string
}

/** A memory that was found in what was taken in. */
export interface FoundMemory {
  title: string
  content: string
  type: 'fact' | 'decision' | 'preference' | 'event' | 'person' | 'project' | 'concept' | 'procedure' | 'goal' | 'observation'
  tier: 'core' | 'working' | 'archival'
  space: string | null
  tags: string[]
  about_self: boolean
  confidence: number
  /** its id; in a dry run it has none */
  node_id?: string
}

/** The map of all memories by meaning. */
export interface GraphMap {
  /** whether a newer one is being made */
  making: boolean
  /** how many are on it; 0 while there is none */
  memories: number
  /** left, bottom, right, top */
  bounds: [number, number, number, number] | null
  land: MapLand | null
  /** largest first, level by level */
  topics: MapTopicShape[]
}

/** A memory as the graph draws it. */
export interface GraphNode {
  id: string
  type: 'fact' | 'decision' | 'preference' | 'event' | 'person' | 'project' | 'concept' | 'procedure' | 'goal' | 'observation'
  tier: 'core' | 'working' | 'archival'
  space: string | null
  headline: string
  importance: number
  outdated: boolean
  /** where it lies on the map; nothing while it is not on it */
  spot: [number, number, number, number] | null
}

/** The spaces, largest first, each with its strongest memories. */
export interface GraphOverview {
  memories: GraphNode[]
  connections: ([string, string, string, number] | [string, string, string, number, string | null])[]
  regions: GraphRegion[]
  /** how many there are */
  spaces: number
  /** how many memories there are */
  total: number
}

/** The shortest ways between two memories over connections. */
export interface GraphPaths {
  memories: GraphNode[]
  connections: ([string, string, string, number] | [string, string, string, number, string | null])[]
  from: string
  to: string
  paths: PathStep[][]
  /** how many memories were looked at */
  seen: number
  /** whether all of them were */
  whole: boolean
}

/** A space of the graph. */
export interface GraphRegion {
  space: string | null
  /** how many it has */
  memories: number
}

/** How many memories became known in each stretch of time, oldest first. */
export interface Growth {
  step_days: number
  bars: GrowthBar[]
  total: number
  zone: string
  first: string | null
}

/** How many memories became known in a stretch of time. */
export interface GrowthBar {
  from: string
  to: string
  known: number
}

/** What came of verdicts that were handed in. */
export interface HandedInVerdicts {
  /** the answer in plain words */
  text: string
  status: 'done'
  job_id: string
  reports: JobReport[]
}

/** That the daemon answers. */
export interface Health {
  status: 'ok'
  version: string
}

/** A memory that does not leave this machine. */
export interface HeldMemory {
  memory: string
  reason: string
}

/** The piece of a long memory that answers. */
export interface HitPassage {
  /** its first character */
  start: number
  /** the one after its last */
  end: number
  text: string
}

/** A turn of the conversation that a hit is from, shortly before or after it. */
export interface HitTurn {
  /** the id of the memory */
  id: string
  /** its number in the conversation */
  turn: number | null
  speaker: string | null
  /** what was said; a long one is cut */
  text: string
}

/** A memory that took the place of another, or whose place another took. */
export interface HitVersion {
  id: string
  title: string
  /** whether that is settled; else a question waits, or it is suspected only */
  known: boolean
  /** the question that waits about it, if somebody is asked already */
  proposal: string | null
}

/** Whispers of one kind: how many there were, had their reply read, and show in it. */
export interface HoldOutSide {
  whispers: number
  replied: number
  used: number
}

/** When a job ran and will run. */
export interface HomeJob {
  id: string
  paused: boolean
  running: boolean
  last: string | null
  failures: number
  next: string | null
}

/** How the memory stands: what Home and Status show in numbers. */
export interface HomePage {
  now: string
  size: HomeSize
  /** how many memories became known in it */
  week: number
  prompts: PromptTimes
  attention: AttentionItem[]
  sleep: HomeSleep
  /** when the newest was made */
  backup: string | null
  daemon: DaemonStatus | null
}

/** How much there is. */
export interface HomeSize {
  memories: number
  connections: number
  tiers: Record<string, number>
  types: Record<string, number>
  spaces: Record<string, number>
  spaces_total: number
  unembedded: number
}

/** What a day and a night have done. */
export interface HomeSleep {
  enabled: boolean
  applied: number
  proposed: number
  /** how many wait for a decision */
  proposals: number
  jobs: HomeJob[]
}

/** What there is and what is wrong. Fields about the server are null unless an admin asks. */
export interface HomeStatus {
  version: string
  home: string | null
  /** where the memory is */
  vault: string | null
  device: string | null
  pid: number | null
  counts: MemoryCounts
  embedder: EmbedderStatus
  reranker: RerankerStatus
  unreadable: UnreadableFile[]
  /** changed files that wait to be read */
  unread_files: number
  /** texts in the vault that are not read, by their names */
  ignored: string[]
  journal: JournalStatus
  /** where its index is; null for the home's own */
  index_place: string | null
  /** how large the home's own index is */
  index_bytes: number | null
  /** the last runs of jobs */
  runs: Record<string, unknown>[]
  sleep: SleepStatus
  backup: BackupStatus | null
  ingest: IntakeStatus
  /** what is worth knowing beside it */
  notes: string[]
  /** null where there is none, or to who is no admin */
  daemon: DaemonStatus | null
  /** who asks, where several share a database */
  person?: string
  /** what they may do */
  role?: string
  /** null to who is no admin */
  sync: SyncStatus | null
  /** what reads two memories together; null in answers of releases before it */
  relations: RelationsStatus | null
}

/** That there is nothing to judge. */
export interface IdleMaintenance {
  /** the answer in plain words */
  text: string
  status: 'idle'
  /** why there is no batch */
  message: string
}

/** What became of one item: a memory's id and its fate, or the error that refused it. */
export interface ImportOutcome {
  /** the id of the memory */
  node_id?: string
  outcome?: 'written' | 'known' | 'revised' | 'kept' | 'forgotten'
  note?: string
  /** why it was refused */
  error?: MadeleineError
}

/** What became of everything that was brought in. */
export interface ImportReport {
  /** the answer in plain words */
  text: string
  /** what `undo` takes back */
  run: string
  results: ImportOutcome[]
  /** by what became of them */
  counts: Record<string, number>
}

/** What an importance is made of. */
export interface ImportanceParts {
  uses: number
  connections: number
  recency: number
}

/** What came of taking something in. */
export interface IngestReport {
  /** the answer in plain words */
  text: string
  status: 'processed' | 'dry_run'
  /** how many memories are new */
  extracted: number
  /** those that are new */
  memories: FoundMemory[]
  /** ids */
  revised: string[]
  /** ids */
  retired: string[]
  known: number
  refused: number
  /** secrets that were taken out */
  redacted: number
  /** what was left for later */
  held_back: number
  /** what is worth knowing beside it */
  notes: string[]
}

/** What changed its mind and what contradicts what, newest first. */
export interface Insights {
  /** the answer in plain words */
  text: string
  evolutions: Evolution[]
  tensions: Tension[]
}

/** How taking in stands. */
export interface IntakeStatus {
  /** the language model that reads along */
  extractor: string | null
  /** why there is none */
  why_not: string | null
  kept_today: number
  memories_per_day: number
  tokens_today: number
  problems: string[]
}

/** The jobs that tend the memory, in the order of the sleep cycle. */
export interface JobList {
  /** the answer in plain words */
  text: string
  /** whether there is a timetable */
  enabled: boolean
  running: RunningJob | null
  tasks: JobStatus[]
}

/** How far a run is. */
export interface JobProgress {
  began: string
  dry_run: boolean
  done: number
  total: number
}

/** What one run of a job did, or in a dry run would do. */
export interface JobReport {
  job: string
  /** what `undo` takes back */
  run: string
  began: string
  dry_run: boolean
  /** the id of the night */
  request: string | null
  seconds: number
  looked: number
  judged: number
  applied: number
  proposed: number
  skipped: number
  /** why it did not do all it planned */
  stopped: string | null
  /** what that is made of */
  stopped_parts: CauseShape | null
  error: string | null
  /** what kind of error it was */
  error_kind: string | null
  problems: Record<string, number>
  /** the job's own words and numbers */
  counts: Record<string, unknown>
  /** what it changed */
  patches: Record<string, unknown>[]
}

/** How one job stands. */
export interface JobStatus {
  /** its name */
  id: string
  interval_minutes: number
  paused: boolean
  waiting: boolean
  running: boolean
  progress: JobProgress | null
  last_run: KeptReport | null
  /** runs in a row that failed */
  failures: number
  next_run: string | null
}

/** A person who was given a role in a shared space. */
export interface JoinedSpace {
  /** the answer in plain words */
  text: string
  space: string
  person: string
  role: string
  /** memories that were kept under this name */
  kept: number
}

/** A line of the journal about a change. */
export interface JournalChange {
  id: string
  at: string
  kind: 'used' | 'adopted' | 'scored' | 'feedback' | 'reviewed' | 'changed' | 'settled' | 'remembered' | 'proposed' | 'decided' | 'judged' | 'run' | 'state'
  /** which machine wrote it */
  device: string
  /** what it says; its fields depend on the kind */
  body: Record<string, unknown>
  /** what became of the change */
  outcome: string | null
}

/** One line of the journal. */
export interface JournalEvent {
  id: string
  at: string
  kind: 'used' | 'adopted' | 'scored' | 'feedback' | 'reviewed' | 'changed' | 'settled' | 'remembered' | 'proposed' | 'decided' | 'judged' | 'run' | 'state'
  /** which machine wrote it */
  device: string
  /** what it says; its fields depend on the kind */
  body: Record<string, unknown>
}

/** How the journal stands. */
export interface JournalStatus {
  files: number
  problems: string[]
}

/** A proposal with who decided it. */
export interface JudgedProposal {
  id: string
  type: 'merge' | 'conflict' | 'decay' | 'link' | 'consolidate' | 'space' | 'forget' | 'remember'
  status: 'pending' | 'approved' | 'rejected' | 'expired'
  /** the memories that it is about */
  source_nodes: string[]
  /** what would be done, in a sentence */
  proposed_action: string
  reason: string | null
  created: string
  /** when it was decided */
  resolved: string | null
  /** what would be done, as it would be carried out */
  action: Record<string, string>
  by: string | null
  change: string | null
  undoable: boolean | null
}

/** A backup that there is. */
export interface KeptBackup {
  path: string
  made: string
  bytes: number
}

/** How often a memory was whispered, and how often it helped. */
export interface KeptMemory {
  memory: Brief
  /** in the time that the log is kept */
  whispered: number
  /** of these, how often it showed in the reply or was said to be useful */
  useful: number
  /** how often it was recalled or whispered in all its life */
  uses: number
}

/** What is known of a run: all of it in the process that ran it, else what the journal keeps. */
export interface KeptReport {
  at: string
  job?: string
  /** what `undo` takes back */
  run?: string
  began?: string
  dry_run?: boolean
  /** the id of the night */
  request?: string | null
  seconds?: number
  looked?: number
  judged?: number
  applied?: number
  proposed?: number
  skipped?: number
  /** why it did not do all */
  stopped?: string | null
  /** what that is made of */
  stopped_parts?: CauseShape | null
  error?: string | null
  /** what kind of error it was */
  error_kind?: string | null
  problems?: Record<string, number>
  /** its own words and numbers */
  counts?: Record<string, unknown>
  /** what it changed */
  patches?: Record<string, unknown>[]
}

/** A day on which memories became known. */
export interface KnownDay {
  day: string
  known: number
}

/** How the last run of a job went. */
export interface LastRunNumbers {
  run: string | null
  seconds: number | null
  looked: number | null
  judged: number | null
  applied: number | null
  proposed: number | null
  skipped: number | null
  stopped: string | null
  /** what that is made of */
  stopped_parts: CauseShape | null
  error: string | null
  /** what kind of error it was */
  error_kind: string | null
  counts: Record<string, unknown>
  problems: Record<string, number>
  at: string
}

/** A person who left a shared space, or a space that nobody shares any more. */
export interface LeftSpace {
  /** the answer in plain words */
  text: string
  space: string
  /** who left */
  person?: string
  /** whether what was in it is gone */
  erased?: boolean
}

/** A connection of the memory that is shown, with the memory at its other end. */
export interface LinkedMemory {
  target: string
  edge: 'supports' | 'part_of' | 'depends_on' | 'defines' | 'derived_from' | 'evolved_from' | 'related_to' | 'contradicts' | 'discovered' | 'summarizes'
  weight: number
  reason: string | null
  by: string | null
  at: string | null
  kind: string | null
  confidence: number | null
  discovered_at?: string
  algorithm?: string
  source: string
  /** whether it starts at the memory that is shown */
  outward: boolean
  /** drawn by nobody: the self defines what is about it */
  implied: boolean
  /** whether a job drew it */
  by_machine: boolean
  /** the memory at the other end; null if it is gone */
  other: Brief | null
}

/** One thing that happened. */
export interface LogEntry {
  at: string
  /** what happened, in a sentence */
  what: string
  /** what the sentence is made of, with its `kind` */
  what_parts: CauseShape
  /** who did it: a job, a door, an agent */
  by: string
  /** what kind of one that is */
  author: 'sleep' | 'agent' | 'me' | 'import'
  /** the ids of those that it happened to */
  memories: string[]
  /** the change that did it, if it is one */
  change: string | null
  /** what `undo` takes to take it back; null if it cannot be, or was */
  undo: string | null
  /** what became of it: done or undone; of a question, whether it is pending */
  outcome: string | null
}

/** A night whose entries these are; `undo` with its id takes all of it back. */
export interface LogNight {
  /** the `request` of its runs */
  id: string
  /** when its first run ended */
  at: string
}

/** What happened, newest first. */
export interface LogPage {
  /** the answer in plain words */
  text: string
  entries: LogEntry[]
  /** the last night, if that was asked for and there was one */
  night: LogNight | null
}

/** A memory that a new one is like: it may say the same, or be replaced by it. */
export interface LookAlike {
  /** the id of the memory */
  id: string
  /** its title, if it has one */
  title: string | null
  /** how its text begins */
  text: string
  /** how similar the two are, 0 to 1 */
  score: number
}

/** One thing that the daemon does again and again. */
export interface LoopStatus {
  name: string
  runs: number
  failures: number
  problem: string | null
}

/** What went wrong and what to do next. */
export interface MadeleineError {
  code: 'rejected' | 'missing' | 'conflict' | 'unavailable' | 'damaged' | 'error'
  /** which error it is; docs/reference/kinds.md lists them */
  kind: string
  message: string
  hint: string
  /** the values that the message is made of */
  parts: Record<string, unknown>
}

/** A batch of questions about memories. */
export interface MaintenanceBatch {
  /** the answer in plain words */
  text: string
  status: 'ready'
  /** by which verdicts are handed in */
  job_id: string
  /** until when the batch is reserved */
  expires_at: string
  instructions: string
  /** by their ids */
  memories: Record<string, AskedMemory>
  merge_candidates: AskedPairShape[]
  conflict_candidates: AskedPairShape[]
  link_candidates: AskedPairShape[]
  consolidation_clusters: AskedClusterShape[]
}

/** Whether an agent has a batch of questions now. */
export interface MaintenanceStatus {
  status: 'idle' | 'awaiting_results'
  message?: string
  /** what the batch is handed in with */
  job_id?: string
  phase?: string
  /** when it was given out */
  started_at?: string
  /** until when answers to it are taken */
  expires_at?: string
}

/** How many memories lie where: cells of a grid over the map. */
export interface MapLand {
  columns: number
  rows: number
  /** row by row, from the left below */
  counts: number[]
}

/** A group of memories on the map, and what it is about. */
export interface MapTopicShape {
  /** 0 for what is seen from afar, more for what is seen nearer */
  level: number
  x: number
  y: number
  radius: number
  memories: number
  /** words that many of its memories hold, and few others */
  name: string
}

/** A memory: what its file says, and how it was used. */
export interface Memory {
  id: string
  /** the first 8 characters of the id */
  short_id: string
  type: 'fact' | 'decision' | 'preference' | 'event' | 'person' | 'project' | 'concept' | 'procedure' | 'goal' | 'observation'
  tier: 'core' | 'working' | 'archival'
  /** the project it belongs to; null is global */
  space: string | null
  title: string | null
  /** the title, or the beginning of the text */
  headline: string
  /** what it says */
  content: string
  tags: string[]
  /** where it comes from */
  source: string
  /** how sure its author is */
  confidence: number
  /** when it was first known */
  created: string
  updated: string
  /** when it stops, or stopped, being true */
  valid_until: string | null
  /** the id of the memory that replaces it */
  superseded_by: string | null
  /** where it was said */
  origin: Origin | null
  /** what it states */
  claim: Claim | null
  /** before which deeds it is told, if that is not left to its text */
  triggers: string[] | null
  /** whether it says how things are to be done, if that is not left to its text */
  kind: 'standing' | 'plain' | null
  /** what other programs keep beside it */
  metadata: Record<string, unknown> | null
  idempotency_key: string | null
  connections: Connection[]
  importance: number
  /** how often it was used */
  access_count: number
  last_accessed: string
  last_review: string | null
  /** days until it comes to mind with a chance of 0.9 */
  stability: number
  relevance: number | null
  /** of a summary: what it is of */
  meta?: Record<string, unknown>
}

/** How much there is. */
export interface MemoryCounts {
  memories: number
  edges: number
  events: number
  /** what was said in sessions, kept apart from memories */
  exchanges: number
  /** memories that the model has not read yet */
  unembedded: number
  /** files that cannot be read */
  unreadable: number
  by_type: Record<string, number>
  by_tier: Record<string, number>
  by_space: Record<string, number>
}

/** A memory before and after one change of it. */
export interface MemoryDifference {
  before: Memory | null
  after: Memory | null
  /** whether its file only went elsewhere */
  moved: boolean
  /** memories that the change names */
  mentions: Mention[]
}

/** What happened to a memory, newest first. */
export interface MemoryHistory {
  /** the id of the memory */
  node_id: string
  /** the answer in plain words */
  text: string
  events: (JournalChange | JournalEvent)[]
}

/** A connection as one of its two ends sees it. */
export interface MemoryLink {
  /** the id of the memory that it starts from */
  source: string
  /** the id of the memory that it leads to */
  target: string
  edge: 'supports' | 'part_of' | 'depends_on' | 'defines' | 'derived_from' | 'evolved_from' | 'related_to' | 'contradicts' | 'discovered' | 'summarizes'
  weight: number
  direction: 'out' | 'in'
  /** the edge, or the association that was discovered */
  says: string
  reason: string | null
  by: string | null
  at: string | null
  kind: string | null
  confidence: number | null
  discovered_at?: string
  algorithm?: string
  /** whether the other end is there */
  resolved: boolean
  /** whether it stands in no file: the self defines it */
  implied: boolean
  /** the headline of the other end */
  title: string | null
}

/** Some of the memories that there are, newest first. */
export interface MemoryPage {
  /** the answer in plain words */
  text: string
  memories: Memory[]
  /** how many there are in all */
  total: number
}

/** All prompts for which a memory was whispered, newest first. */
export interface MemoryPrompts {
  prompts: TellingPrompt[]
  /** how far back the log reaches */
  days: number
  /** how many times it was whispered before that */
  older: number
}

/** A memory of which words have only the short id. */
export interface Mention {
  id: string
  short_id: string
  headline: string
}

/** Merges that were made, newest first. */
export interface MergePage {
  /** the answer in plain words */
  text: string
  merges: RecordedMerge[]
}

/** One memory that was made of two. */
export interface MergedMemory {
  /** the answer in plain words */
  text: string
  /** the id of the memory */
  node_id: string
  memory: Memory
  /** the id of the one that went into it */
  removed: string
  /** what `undo` takes back; null if it was so already */
  change: string | null
  /** memories whose connections were moved */
  neighbours: number
  /** what is worth knowing beside it */
  notes: string[]
  /** what each note is made of, in the same order */
  notes_parts: CauseShape[]
}

/** Two memories of which one replaced the other, or that cannot both hold. */
export interface MindTurn {
  is: 'evolution' | 'tension'
  newer: Brief
  older: Brief
  /** of a tension: whether both still hold */
  open: boolean
  reason: string | null
  by: string | null
  at: string | null
}

/** How many memories are in another space now. */
export interface MovedSpaceAnswer {
  /** the answer in plain words */
  text: string
  memories: number
  /** what `undo` takes back */
  change: string
  notes: string[]
  /** what each note is made of */
  notes_parts: CauseShape[]
}

/** A memory by its id and what it is called. */
export interface NamedMemory {
  id: string
  title: string | null
}

/** That something was said about a memory. */
export interface NotedFeedback {
  /** the answer in plain words */
  text: string
  /** the id of the memory */
  node_id: string
}

/** Where a memory came from. */
export interface Origin {
  /** the conversation */
  session?: string
  /** the position in it */
  turn?: number
  /** who said it */
  speaker?: string
  /** where it can be found */
  uri?: string
}

/** How one job stands, without what it changed. */
export interface PageJob {
  id: string
  interval_minutes: number
  paused: boolean
  waiting: boolean
  running: boolean
  progress: JobProgress | null
  last_run: LastRunNumbers | null
  failures: number
  next_run: string | null
}

/** A link that signs a browser in to the page, once. */
export interface PageLink {
  /** the answer in plain words */
  text: string
  url: string
  /** how long it holds */
  seconds: number
}

/** A run of a job. */
export interface PageRun {
  run: string
  seconds: number | null
  looked: number | null
  judged: number | null
  applied: number | null
  proposed: number | null
  skipped: number | null
  stopped: string | null
  /** what that is made of */
  stopped_parts: CauseShape | null
  error: string | null
  /** what kind of error it was */
  error_kind: string | null
  counts: Record<string, unknown>
  problems: Record<string, number>
  /** null if that was not noted */
  job: string | null
  at: string
  changes: number
  /** changes that were not taken back */
  in_force: number
}

/** One step on the way from a memory to another. */
export interface PathStep {
  /** where it leads */
  id: string
  edge: string
  /** whether the arrow is followed, and not gone against */
  forward: boolean
  reason: string | null
}

/** Whether a job runs by itself. */
export interface PausedJob {
  /** the answer in plain words */
  text: string
  /** its name */
  id: string
  paused: boolean
}

/** Whether a session is paused: nothing in it is kept or whispered. */
export interface PausedSession {
  text: string
  session_id: string
  paused: boolean
}

/** The people who have a memory of their own in this database. */
export interface PeopleList {
  /** the answer in plain words */
  text: string
  people: PersonEntry[]
  /** the name of the server's own memory */
  server: string
}

/** A person, and the role they have in shared spaces. */
export interface PersonEntry {
  name: string
  created: string
  spaces: Record<string, string>
}

/** A project at a glance. */
export interface ProjectCard {
  space: string
  memories: number
  /** how many memories became known in it in the last 7 days */
  week: number
  /** goals that are still open */
  goals: number
  /** what it is, as a memory says it */
  about: string | null
  newest: Brief | null
}

/** A project as one text. */
export interface ProjectDocument {
  /** of the file */
  name: string
  /** markdown */
  text: string
  /** how many stand in it */
  memories: number
  /** how many do not, since it would be too long */
  left_out: number
}

/** The projects, the largest first. */
export interface ProjectPage {
  projects: ProjectCard[]
  /** how many there are */
  total: number
}

/** The memories of a project that stand under one heading. */
export interface ProjectSection {
  name: 'about' | 'goals' | 'rules' | 'decisions' | 'procedures' | 'people' | 'facts'
  /** newest first */
  memories: Brief[]
  total: number
}

/** A project: what is known of it, and what was whispered there. */
export interface ProjectView {
  space: string
  /** how many there are that hold */
  memories: number
  /** those that are not empty */
  sections: ProjectSection[]
  /** the newest of all, also what holds no longer */
  timeline: Brief[]
  /** the last for which something was whispered */
  prompts: WhisperLine[]
}

/** What came of a prompt and how long that took. */
export interface PromptMark {
  id: string
  at: string
  outcome: 'whispered' | 'silent' | 'held_out' | 'late' | 'undelivered'
  took_ms: number | null
}

/** What came of the last prompts, oldest first. */
export interface PromptTimes {
  deadline_ms: number
  median_ms: number | null
  slow_ms: number | null
  each: PromptMark[]
}

/** A change that waits for a decision. */
export interface Proposal {
  id: string
  type: 'merge' | 'conflict' | 'decay' | 'link' | 'consolidate' | 'space' | 'forget' | 'remember'
  status: 'pending' | 'approved' | 'rejected' | 'expired'
  /** the memories that it is about */
  source_nodes: string[]
  /** what would be done, in a sentence */
  proposed_action: string
  reason: string | null
  created: string
  /** when it was decided */
  resolved: string | null
  /** what would be done, as it would be carried out */
  action: Record<string, string>
}

/** One proposal with its memories, and exactly what approving it would change. */
export interface ProposalDetail {
  proposal: JudgedProposal
  memories: ProposedMemory[]
  memories_total: number
  difference: string
  /** why it cannot be carried out */
  problem: string | null
  /** the memory that says something else by now */
  changed: NamedMemory | null
}

/** Proposals of one kind. */
export interface ProposalGroup {
  /** merge, conflict, decay, link, consolidate, space, forget or remember */
  kind: 'merge' | 'conflict' | 'decay' | 'link' | 'consolidate' | 'space' | 'forget' | 'remember'
  count: number
  /** of the proposals, newest first */
  ids: string[]
}

/** A proposal as a line of a list, with who decided it. */
export interface ProposalLine {
  id: string
  type: 'merge' | 'conflict' | 'decay' | 'link' | 'consolidate' | 'space' | 'forget' | 'remember'
  status: 'pending' | 'approved' | 'rejected' | 'expired'
  source_nodes: string[]
  proposed_action: string
  reason: string | null
  created: string
  resolved: string | null
  /** who decided it */
  by: string | null
  /** the change that still holds because of it */
  change: string | null
  /** whether the decision can be taken back */
  undoable: boolean | null
  /** the space of what it is about */
  space: string | null
  /** the first two memories, what goes before what stays */
  sides: ProposalSide[]
  /** when it is asked again, if it was put off */
  snoozed_until: string | null
}

/** What waits for a decision, or was decided, newest first. */
export interface ProposalLines {
  proposals: ProposalLine[]
  total: number
  types: Record<string, number>
  /** what waits, by type and space, as it is listed */
  groups: WaitingGroup[]
  /** how many were put off */
  snoozed: number
}

/** What waits for a decision, or was decided. */
export interface ProposalPage {
  /** the answer in plain words */
  text: string
  /** newest first */
  proposals: Proposal[]
  /** the same by kind, the most first */
  groups: ProposalGroup[]
}

/** A memory that a proposal is about, with what tells it from the other one. */
export interface ProposalSide {
  id: string
  headline: string
  /** its sentences that the other does not have; of one alone its beginning */
  text: string
}

/** A memory of a proposal, with what it says. */
export interface ProposedMemory {
  id: string
  short_id: string
  type: 'fact' | 'decision' | 'preference' | 'event' | 'person' | 'project' | 'concept' | 'procedure' | 'goal' | 'observation'
  tier: 'core' | 'working' | 'archival'
  space: string | null
  headline: string
  /** the beginning of the text, or the place that answers */
  extract: string
  tags: string[]
  created: string
  updated: string
  valid_until: string | null
  superseded_by: string | null
  /** whether it is retired, expired or superseded */
  outdated: boolean
  content: string
}

/** Which memories are gone for good, what was removed of them and what is left. */
export interface PurgeReceipt {
  /** the answer in plain words */
  text: string
  memories: NamedMemory[]
  removed: PurgedTraces
  left: TracesLeft
}

/** What was removed where. */
export interface PurgedTraces {
  files: number
  journal_lines: number
  journal_lines_cut: number
  embeddings: number
}

/** What a rebuild did. */
export interface RebuildReport {
  /** the answer in plain words */
  text: string
  files: number
  written: number
  dropped: number
  unchanged: number
  /** files that cannot be read */
  unreadable: string[]
  /** what is worth knowing beside it */
  notes: string[]
  /** what each note is made of, in the same order */
  notes_parts: CauseShape[]
  seconds: number
}

/** The memories that answer a question, best first. */
export interface RecallAnswer {
  /** the answer in plain words */
  text: string
  results: RecallHit[]
  /** why nothing was found */
  silence: string | null
  /** what the silence is made of */
  silence_parts: CauseShape | null
  /** what is worth knowing beside it */
  notes: string[]
  /** what each note is made of, in the same order */
  notes_parts: CauseShape[]
  /** why a memory that was missed is not there */
  why_not: string | null
  /** how many more were found below the floor; `all` shows them */
  folded: number
  /** the score that a hit needed to be shown */
  floor: number | null
  /** how many lie below it: the same as `folded` */
  more: number
}

/** A memory that answers a question, how well from 0 to 1, and why. */
export interface RecallHit {
  memory: Memory
  /** how well it answers, 0 to 1 */
  score: number
  /** why it is an answer */
  reasons: string[]
  /** what each reason is made of, in the same order */
  reasons_parts: CauseShape[]
  /** how the words and the meaning fit */
  match: Record<string, number>
  /** of a long memory the piece that answers */
  passage: HitPassage | null
  /** two turns before and two after it, of what was said in a conversation */
  around?: HitTurn[]
  /** only if asked for */
  explained?: ScoreParts
  /** the score in a word */
  sure: 'sure' | 'likely' | 'maybe'
  /** what took its place, or may have */
  replaced_by?: HitVersion
  /** whose place it took, or may have */
  replaces?: HitVersion[]
  /** where all standing notes are asked for: the activity that it is about */
  group?: string
}

/** What a reconcile did. */
export interface ReconcileReport {
  /** the answer in plain words */
  text: string
  files: number
  written: number
  dropped: number
  unchanged: number
  /** files that cannot be read */
  unreadable: string[]
  /** what is worth knowing beside it */
  notes: string[]
  /** what each note is made of, in the same order */
  notes_parts: CauseShape[]
}

/** A merge that was made. */
export interface RecordedMerge {
  /** the change */
  id: string
  at: string
  kept: string | null
  removed: string | null
  by: string | null
  reason: string | null
  /** what became of the change */
  outcome: string | null
}

/** A proposal that could not be decided. */
export interface RefusedDecision {
  /** the proposal */
  id: string
  /** why not */
  error: string
  /** what to do about it, such as conflict */
  code: string
  /** the kind of error, as docs/reference/kinds.md has it */
  kind: string
}

/** Which model reads two memories together, for the local judge. */
export interface RelationsStatus {
  name: string | null
  /** why there is none though the settings want it */
  why_not: string | null
}

/** What became of each of many drafts, in their order. */
export interface RememberedMany {
  /** the answer in plain words */
  text: string
  results: WriteOutcome[]
}

/** A memory that was written, or was known already. */
export interface RememberedMemory {
  /** the answer in plain words */
  text: string
  /** the id of the memory */
  node_id: string
  memory: Memory
  /** connections that were drawn by themselves */
  linked: Connection[]
  /** it was known; nothing was written */
  existing: boolean
  /** what `undo` takes back; null if it was so already */
  change: string | null
  /** what is worth knowing beside it */
  notes: string[]
  /** what each note is made of, in the same order */
  notes_parts: CauseShape[]
  /** memories that it is like, the most similar first; `replaces` retires one */
  similar: LookAlike[]
  /** the proposal that a person has to approve before it is written; null: it is written */
  proposal: string | null
}

/** A person who is let in no more. */
export interface RemovedPerson {
  /** the answer in plain words */
  text: string
  name: string
  /** whether their memory is gone */
  erased: boolean
}

/** Which model compares a question with an answer. */
export interface RerankerStatus {
  name: string | null
  /** why there is none */
  why_not: string | null
}

/** A token that lets nobody in any more. */
export interface RevokedToken {
  id: string
  /** what it is for */
  name: string
  /** whose memory it opens */
  person: string
  role: string
  created: string
  last_used: string | null
  /** the answer in plain words */
  text: string
}

/** A change that a run made. */
export interface RunChange {
  id: string
  at: string
  /** null if that was not noted */
  verb: string | null
  reason: string | null
  outcome: string | null
  /** what the job did, in its own sentences */
  words: string[]
  memories: NamedMemory[]
}

/** The changes that a run made, newest first, and how it went. */
export interface RunDetail {
  changes: RunChange[]
  total: number
  /** null if that was not noted */
  job: string | null
  applied: number | null
  in_force: number
  /** null if it is too long ago */
  report: PageRun | null
}

/** What the jobs did, newest first. */
export interface RunPage {
  runs: PageRun[]
  more: boolean
}

/** How far a backup is. */
export interface RunningBackup {
  id: 'backup'
  done: number
  total: number
}

/** The job that is under way. */
export interface RunningJob {
  began: string
  dry_run: boolean
  done: number
  total: number
  /** its name */
  id: string
}

/** The task that is under way. */
export interface RunningTask {
  began: string
  dry_run: boolean
  done: number
  total: number
  task: string
}

/** Every number that a score is made of. */
export interface ScoreParts {
  /** which weights were used */
  head: string | null
  features: Record<string, number>
  weights: Record<string, number>
  evidence: Record<string, number>
  chance: number | null
  lifts: Record<string, number>
  boosts: Record<string, number>
  cross_encoder: number | null
  /** from a memory that it is connected with */
  inherited: number | null
}

/** The memories that answer a question that is being typed. */
export interface SearchPage {
  memories: BriefHit[]
  /** why nothing was found */
  silence: string | null
  /** what the silence is made of */
  silence_parts: CauseShape | null
  notes: string[]
  /** what each note is made of, in the same order */
  notes_parts: CauseShape[]
  /** why a memory that was missed is not there */
  why_not: string | null
  /** the same in parts */
  absent: AbsenceReason | null
  /** how many more were found below the floor */
  folded: number
}

/** Why the search for a whisper found nothing. */
export interface SearchSilenceShape {
  /** what programs decide by; docs/reference/kinds.md has all */
  kind: string
  /** the sentence */
  text: string
  /** what the nearest memory is called */
  title: string | null
  /** how many came near */
  count?: number
  /** the id of the nearest memory */
  nearest?: string
  /** what the nearest does not have enough of */
  lacks?: 'score' | 'words'
  /** of the nearest */
  score?: number
  /** the score that would do */
  needed?: number
  [name: string]: unknown
}

/** A space that several people share. */
export interface SharedSpace {
  name: string
  /** what you are in it */
  role: string | null
  /** who shares it, and their roles */
  members: Record<string, string>
}

/** The spaces that you share with others. */
export interface SharedSpaceList {
  /** the answer in plain words */
  text: string
  spaces: SharedSpace[]
}

/** A memory whole, with its connections both ways and its neighbours. */
export interface ShownMemory {
  /** the answer in plain words */
  text: string
  /** the id of the memory */
  node_id: string
  memory: Memory
  /** its file in the vault */
  path: string
  connections: MemoryLink[]
  neighbours: Memory[]
  /** the paths, globs, commands and the like before which it is told */
  triggers: string[]
  /** whether it says how things are to be done */
  standing: boolean
  /** what a standing note is mostly about */
  activity: string | null
  /** what is worth knowing beside it */
  notes: string[]
  /** what each note is made of, in the same order */
  notes_parts: CauseShape[]
}

/** A proposal, the difference it would make to files, and why it cannot be done, if so. */
export interface ShownProposal {
  /** the answer in plain words */
  text: string
  proposal: Proposal
  /** what approving it would change, line by line */
  difference: string
  /** why it cannot be carried out */
  problem: string | null
}

/** The memories nearest to one in meaning. */
export interface SimilarMemories {
  memories: SimilarMemory[]
  /** whether the model has read it */
  embedded: boolean
}

/** A memory with how near it is to another in meaning. */
export interface SimilarMemory {
  id: string
  short_id: string
  type: 'fact' | 'decision' | 'preference' | 'event' | 'person' | 'project' | 'concept' | 'procedure' | 'goal' | 'observation'
  tier: 'core' | 'working' | 'archival'
  space: string | null
  headline: string
  /** the beginning of the text, or the place that answers */
  extract: string
  tags: string[]
  created: string
  updated: string
  valid_until: string | null
  superseded_by: string | null
  /** whether it is retired, expired or superseded */
  outdated: boolean
  likeness: number
}

/** A procedure as an Agent Skill: a folder of that name with the text as its SKILL.md. */
export interface SkillEntry {
  /** of the folder */
  name: string
  /** what it does and when it is of use */
  description: string
  /** the whole SKILL.md */
  text: string
  /** the id of the memory */
  memory: string
  title: string
  space: string | null
  /** who remembered it */
  source: string
  /** how often it was of use */
  worked: number
  /** how often it was not */
  failed: number
}

/** The procedures that were used and worked, those that did most often first. */
export interface SkillList {
  /** the answer in plain words */
  text: string
  skills: SkillEntry[]
}

/** How every job and every task of consolidation stands. */
export interface SleepPage {
  enabled: boolean
  consolidation_enabled: boolean
  judge: string
  running: string | null
  /** how many wait for a decision */
  proposals: number
  jobs: PageJob[]
  tasks: PageJob[]
}

/** What came of a request to run jobs. */
export interface SleepRun {
  /** the answer in plain words */
  text: string
  status: 'started' | 'finished' | 'stopped' | 'failed'
  /** what `undo` takes back */
  request: string
  jobs: string[]
  reports: JobReport[]
}

/** How each job's last run went, and what waits for a person. */
export interface SleepStatus {
  enabled: boolean
  judge: string
  /** how many wait for a decision */
  proposals: number
  jobs: JobStatus[]
}

/** A question that was put off, or is asked again. */
export interface SnoozedProposal {
  /** the answer in plain words */
  text: string
  id: string
  /** when it is asked again; null if it is asked now */
  until: string | null
}

/** How many memories of one space became known in each stretch of time. */
export interface SpaceGrowth {
  /** null for what belongs to no space, and for the others */
  space: string | null
  /** whether it stands for all spaces that are not named */
  others: boolean
  known: number[]
}

/** Which space a folder belongs to, and why. */
export interface SpaceHere {
  /** the answer in plain words */
  text: string
  /** null is global */
  space: string | null
  /** the space of the branch that is checked out; null on a trunk */
  branch: string | null
  /** the space that is asked in from there: the branch's where anything is known of it */
  asked: string | null
  /** why */
  because: string | null
  /** what the reason is made of */
  because_parts: CauseShape | null
  /** other spaces that it might be taken for: what is in them is not heard there */
  unheard: string[]
  /** how many memories are in it */
  memories: number
  /** the spaces that have memories, with how many */
  spaces: Record<string, number>
}

/** How much there is and how much of it was used, in few numbers. */
export interface Stats {
  /** the answer in plain words */
  text: string
  generated_at: string
  window: StatsWindow
  usage: UsageStats
  store: StoreStats
}

/** The time that is counted. */
export interface StatsWindow {
  kind: 'rolling' | 'calendar_week'
  days: number
  cutoff: string
}

/** Whether a run was stopped. */
export interface StoppedJob {
  /** the answer in plain words */
  text: string
  /** whether one was under way or waiting */
  stopped: boolean
}

/** That the daemon ends. */
export interface Stopping {
  stopping: boolean
}

/** How much there is. */
export interface StoreStats {
  total_nodes: number
  total_edges: number
  by_tier: Record<string, number>
}

/** How likely a memory comes to mind, now, before and after, and what that is due to. */
export interface Strength {
  now: string
  chance: number
  stability_days: number
  curve: [string, number][]
  uses: string[]
  uses_total: number
  /** below this chance a night may move it to the archive */
  least: number
  fades_at: string | null
  /** until when it is too young for a night to move it */
  spared_until: string | null
  /** why it stays where it is all the same */
  stays: 'self' | 'core' | 'archival' | 'protected' | 'type' | 'upcoming' | 'importance' | null
  importance: number
  relevance: number | null
  drawn_connections: number
  parts: ImportanceParts
}

/** A memory, those connected with it, and some of those connected with them. */
export interface Surroundings {
  memories: GraphNode[]
  connections: ([string, string, string, number] | [string, string, string, number, string | null])[]
  id: string
  /** the ids of those connected with it */
  near: string[]
}

/** What a sync did. */
export interface SyncReceipt {
  /** the answer in plain words */
  text: string
  place: string
  /** versions of memories that are new at the place */
  sent: number
  /** versions of others that are new here */
  received: number
  /** journal events */
  events_sent: number
  events_received: number
  /** memories that were written here */
  written: number
  /** memories that were forgotten elsewhere and went to the trash here */
  trashed: number
  /** memories that were purged elsewhere, and are gone here too */
  purged: number
  /** memories that several machines had changed */
  merged: number
  /** questions about what two machines changed differently */
  asked: number
  /** memories that do not leave this machine */
  held: number
  /** versions that came before those that they were made from */
  waiting: number
  /** what is worth knowing beside it */
  notes: string[]
  seconds: number
}

/** How this machine stands with others of the same person. */
export interface SyncStatus {
  /** the answer in plain words */
  text: string
  /** where machines meet; empty where none is set */
  place: string
  /** how often the daemon syncs; 0: never by itself */
  every_minutes: number
  /** when it last met the others */
  last: string | null
  /** what the last try ran into */
  problem: string | null
  /** files that changed here since */
  changed: number
  /** versions that came before those that they were made from */
  waiting: number
  /** memories of which something came that could not be written here yet */
  unread: number
  /** memories that do not leave this machine */
  held: HeldMemory[]
}

/** One run of a task. */
export interface TaskRun {
  task: string | null
  ran_at: string
  memories_processed: number
  duration_seconds: number
  success: boolean
  /** what `undo` takes back */
  run: string | null
  applied: number
  proposed: number
  error: string | null
  /** the task's own words and numbers */
  result: Record<string, unknown>
}

/** A prompt for which a memory was whispered. */
export interface TellingPrompt {
  prompt: WhisperLine
  /** the chance that the memory answers it */
  score: number | null
  /** whether the memory shows in the reply */
  seen: boolean
  /** what was said about it there */
  feedback: 1 | -1 | null
}

/** Two memories that cannot both hold. */
export interface Tension {
  one: Memory
  other: Memory
  reason: string | null
  by: string | null
  at: string | null
}

/** Memories by when they became known, newest first, with what turned in that time. */
export interface TimelinePage {
  memories: Brief[]
  turns: MindTurn[]
  total: number
}

/** A token of a client. */
export interface TokenEntry {
  id: string
  /** what it is for */
  name: string
  /** whose memory it opens */
  person: string
  role: string
  created: string
  last_used: string | null
}

/** Tokens: your own, to an admin everybody's. */
export interface TokenList {
  /** the answer in plain words */
  text: string
  tokens: TokenEntry[]
}

/** A memory that was told, by what it was called then. */
export interface ToldMemory {
  id: string | null
  title: string | null
}

/** What names still what is gone, or may still say it. */
export interface TracesLeft {
  connections: number
  journal_lines: number
  /** made from it */
  memories: NamedMemory[]
  merged_into: NamedMemory[]
}

/** A memory in the trash, and how it came there. */
export interface TrashLine {
  id: string
  short_id: string
  type: 'fact' | 'decision' | 'preference' | 'event' | 'person' | 'project' | 'concept' | 'procedure' | 'goal' | 'observation'
  tier: 'core' | 'working' | 'archival'
  space: string | null
  headline: string
  /** the beginning of the text, or the place that answers */
  extract: string
  tags: string[]
  created: string
  updated: string
  valid_until: string | null
  superseded_by: string | null
  /** whether it is retired, expired or superseded */
  outdated: boolean
  /** when it went there; null if nobody knows */
  at: string | null
  /** who moved it there */
  by: string | null
  /** what they did: forget, merge, undo … */
  verb: string | null
  reason: string | null
  /** the change that did it */
  change: string | null
  /** the memory that it was merged into, if it is still there */
  into: Mention | null
}

/** What lies in the trash, newest first. */
export interface TrashLines {
  memories: TrashLine[]
  /** how many of those asked for */
  total: number
  /** how many lie there */
  all: number
}

/** What was forgotten and can be restored. */
export interface TrashPage {
  /** the answer in plain words */
  text: string
  memories: TrashedMemory[]
}

/** A forgotten memory, and where its file is. */
export interface TrashedMemory {
  memory: Memory
  path: string
}

/** What replaced what, and what cannot hold beside what, newest first. */
export interface TurnPage {
  turns: MindTurn[]
}

/** Which changes were taken back, and the change that did it. */
export interface UndoneChanges {
  /** the answer in plain words */
  text: string
  /** the change that took them back */
  change: string
  /** the changes that were taken back */
  undone: string[]
  /** the ids of the memories concerned */
  memories: string[]
  /** the proposals that were withdrawn, or wait again */
  questions: string[]
}

/** A file that cannot be read. */
export interface UnreadableFile {
  path: string
  line: number
  problem: string
}

/** Why a memory was not whispered for a prompt. */
export interface UnwhisperedMemory {
  memory: Brief
  text: string
  /** the same in parts */
  absent: AbsenceReason | null
  fate: string
  stage: string | null
  score: number | null
  gate: number
}

/** How much was whispered and remembered. */
export interface UsageStats {
  whispers_used_this_week: number
  whispers_used_total: number
  memories_this_week: number
  memories_total: number
}

/** How many wait of one type in one space. */
export interface WaitingGroup {
  type: 'merge' | 'conflict' | 'decay' | 'link' | 'consolidate' | 'space' | 'forget' | 'remember'
  space: string | null
  count: number
}

/** What is worth saying before a prompt is answered. An empty text is silence. */
export interface WhisperAnswer {
  /** what the agent reads; empty is silence */
  text: string
  whisper_id: string
  /** the memories in it */
  injected: WhisperedMemory[]
  /** why nothing is said */
  silence: string | null
  /** what the silence is made of */
  silence_parts: CauseShape | null
  /** where it was decided */
  stage: string
  took_ms: number
  /** why words alone decided though there is a model: it was late, there were too many prompts at once, or it is down */
  without_model: 'late' | 'busy' | 'down' | null
  /** only if asked for */
  explained?: Record<string, unknown>
}

/** One prompt with its stages and every memory that was considered for it. */
export interface WhisperDetail {
  id: string
  moment: 'prompt' | 'start' | 'deed'
  /** how the session began, at the start of one: startup, compact ... */
  start: string | null
  at: string
  session: string | null
  space: string | null
  prompt: string
  outcome: 'whispered' | 'silent' | 'held_out' | 'late' | 'undelivered'
  told: ToldMemory[]
  silence: string | null
  /** what the silence is made of; null also in entries of earlier releases */
  silence_parts: WhisperSilenceShape | null
  /** where it was decided; null if that was not noted */
  stage: string | null
  best: number | null
  took_ms: number | null
  /** how many of the told memories show in the reply; null if unread */
  seen: number | null
  /** what was decided by words alone */
  without_model: string | null
  /** why it was: late, busy or down */
  without_model_kind: 'late' | 'busy' | 'down' | null
  intents: string[]
  /** the spaces that were looked at */
  among: (string | null)[]
  gate: number
  floor: number
  stages: WhisperStage[]
  memories: ConsideredMemory[]
  /** the very text that was told; null if none was, and in entries of earlier releases */
  text: string | null
  /** what it cost the agent, in tokens */
  tokens: number | null
}

/** A prompt as a line of a list, or another moment at which something was told. */
export interface WhisperLine {
  id: string
  moment: 'prompt' | 'start' | 'deed'
  /** how the session began, at the start of one: startup, compact ... */
  start: string | null
  at: string
  session: string | null
  space: string | null
  prompt: string
  outcome: 'whispered' | 'silent' | 'held_out' | 'late' | 'undelivered'
  told: ToldMemory[]
  silence: string | null
  /** what the silence is made of; null also in entries of earlier releases */
  silence_parts: WhisperSilenceShape | null
  /** where it was decided; null if that was not noted */
  stage: string | null
  best: number | null
  took_ms: number | null
  /** how many of the told memories show in the reply; null if unread */
  seen: number | null
  /** what was decided by words alone */
  without_model: string | null
  /** why it was: late, busy or down */
  without_model_kind: 'late' | 'busy' | 'down' | null
}

/** The last prompts and what came of each, newest first. */
export interface WhisperPage {
  whispers: WhisperLine[]
  /** after which id to go on */
  next: string | null
  gate: number
  /** how far back the log reaches */
  days: number
}

/** Why the last whisper, or silence, was what it was. */
export interface WhisperReason {
  /** the answer in plain words */
  text: string
  /** the log's entry: id, at, session, space, and what was noted at each stage */
  whisper: Record<string, unknown> | null
}

/** How often memories show in replies, whispered and held out, and what came of each week. */
export interface WhisperReport {
  /** the answer in plain words */
  text: string
  /** how far back the log reaches */
  days: number
  /** whether there are enough replies to say anything */
  enough: boolean
  told: HoldOutSide
  held_out: HoldOutSide
  late: number
  undelivered: number
  /** of the two shares */
  difference: number | null
  /** how far the difference may be off */
  margin: number | null
  /** week by week, the last one first */
  weeks: WhisperWeekShape[]
}

/** What the silence of a whisper is made of. */
export interface WhisperSilenceShape {
  /** what programs decide by; docs/reference/kinds.md has all */
  kind: string
  /** why the search found nothing */
  because?: SearchSilenceShape | null
  /** how alike the topics are, where it is still the same */
  similarity?: number
  [name: string]: unknown
}

/** A stage that a prompt passes. */
export interface WhisperStage {
  name: string
  state: 'passed' | 'decided' | 'not_reached'
  /** how many memories it held back */
  held: number
}

/** What came of the whispers of one week. */
export interface WhisperWeekShape {
  /** its Monday */
  begins: string
  told: HoldOutSide
  held_out: HoldOutSide
  /** memories of whispers that were called useful */
  thumbs_up: number
  /** and not useful */
  thumbs_down: number
  /** what they cost an agent to read, about */
  tokens: number
}

/** A memory that was whispered: in full, or by its title only. */
export interface WhisperedMemory {
  /** the id of the memory */
  node_id: string
  score: number
  /** whether its text was told, not only its title */
  full: boolean
  /** whether it was told to learn if it helps */
  explorer: boolean
  memory: Memory
}

/** One memory, also a forgotten one, with connections and strength. */
export interface WholeMemory {
  memory: Memory
  /** what an edit is made for; it is refused if it says something else */
  version: string
  path: string
  forgotten: boolean
  is_self: boolean
  brief: Brief
  connections: LinkedMemory[]
  connections_total: number
  replaces: Brief[]
  strength: Strength | null
  /** as it was at the moment asked for, if that is known */
  then: Memory | null
  /** whether it says how things are to be done */
  standing: boolean
}

/** What the whispers of one week were worth. */
export interface WorthWeek {
  /** the Monday, as a day */
  begins: string
  /** shown in the reply, or said to be useful */
  useful: number
  /** neither, though the reply was read, or said not to be useful */
  useless: number
  /** whispers of which nobody knows */
  unknown: number
}

/** What became of one draft among many: a memory's id, or the error that refused it. */
export interface WriteOutcome {
  /** the id of the memory */
  node_id?: string
  /** it was known; nothing was written */
  existing?: boolean
  /** why it was refused */
  error?: MadeleineError
  /** the proposal that a person has to approve before it is written */
  proposal?: string
}
