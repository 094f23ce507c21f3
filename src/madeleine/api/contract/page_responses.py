"""What the operations of the page answer: small, paged, never the whole store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from madeleine.api.contract.memories import (
    CauseParts,
    CauseShape,
    PromptOutcome,
    ProposalShape,
    TimeText,
    ToldMoment,
)
from madeleine.api.contract.responses import (
    DaemonStatus,
    JobProgress,
    NamedMemory,
)
from madeleine.api.contract.shape import field, shape
from madeleine.model.cause import MissingModel
from madeleine.model.memory import Memory
from madeleine.model.proposal import ProposalStatus, ProposalType
from madeleine.model.words import Edge, MemoryType, Tier
from madeleine.recall.explaining import Absence
from madeleine.rules.likelihood import Likelihood

StayReason = Literal["self", "core", "archival", "protected", "type", "upcoming", "importance"]


# -- memories in lists ---------------------------------------------------------------------


@shape
class Mention:
    """A memory of which words have only the short id."""

    id: str = field()
    short_id: str = field()
    headline: str = field()


@shape
class Brief:
    """A memory as a line of a list: without its whole text."""

    id: str = field()
    short_id: str = field()
    type: MemoryType = field()
    tier: Tier = field()
    space: str | None = field()
    headline: str = field()
    extract: str = field("the beginning of the text, or the place that answers")
    tags: Sequence[str] = field()
    created: TimeText = field()
    updated: TimeText = field()
    valid_until: TimeText | None = field()
    superseded_by: str | None = field()
    outdated: bool = field("whether it is retired, expired or superseded")


@shape
class BriefHit(Brief):
    """A memory that answers a question, as a line of a list."""

    score: float = field()
    likelihood: Likelihood = field("the score in a word; what is unlikely is folded")
    reasons: Sequence[str] = field()
    reasons_parts: Sequence[CauseParts] = field("what each reason is made of, in the same order")
    mentions: Sequence[Mention] = field("memories of which the reasons have the short id")


@shape
class AbsenceReason:
    """Why a memory is not among the answers, in parts."""

    how: Absence = field()
    text: str = field()
    rank: int | None = field()
    others: int | None = field("how many fit better")
    chance: float | None = field()
    filters: Sequence[str] = field()


@shape
class SearchPage:
    """The memories that answer a question that is being typed."""

    memories: Sequence[BriefHit] = field()
    silence: str | None = field("why nothing was found")
    silence_parts: CauseParts | None = field("what the silence is made of")
    notes: Sequence[str] = field()
    notes_parts: Sequence[CauseParts] = field("what each note is made of, in the same order")
    why_not: str | None = field("why a memory that was missed is not there")
    absent: AbsenceReason | None = field("the same in parts")
    folded: int = field("how many more were found below the floor")


@shape
class BriefPage:
    """Memories, newest first."""

    memories: Sequence[Brief] = field()
    total: int = field()


@shape
class Facets:
    """What memories can be filtered by, with how many there are of each."""

    memories: int = field()
    types: Mapping[str, int] = field()
    tiers: Mapping[str, int] = field()
    spaces: Mapping[str, int] = field()
    tags: Mapping[str, int] = field()


# -- the graph -----------------------------------------------------------------------------

GraphArrow = tuple[str, str, str, float] | tuple[str, str, str, float, str | None]
"""Source, target, edge, weight, and why if that was asked for."""
MapSpot = tuple[float, float, int, int]
"""x and y on the map by meaning, when it was made (seconds since 1970), how often it was used."""


@shape
class GraphNode:
    """A memory as the graph draws it."""

    id: str = field()
    type: MemoryType = field()
    tier: Tier = field()
    space: str | None = field()
    headline: str = field()
    importance: float = field()
    outdated: bool = field()
    spot: MapSpot | None = field("where it lies on the map; nothing while it is not on it")


@shape
class Drawing:
    """Memories, and the connections between them: source, target, edge, weight, and why."""

    memories: Sequence[GraphNode] = field()
    connections: Sequence[GraphArrow] = field()


@shape
class MapLand:
    """How many memories lie where: cells of a grid over the map."""

    columns: int = field()
    rows: int = field()
    counts: Sequence[int] = field("row by row, from the left below")


@shape
class MapTopicShape:
    """A group of memories on the map, and what it is about."""

    level: int = field("0 for what is seen from afar, more for what is seen nearer")
    x: float = field()
    y: float = field()
    radius: float = field()
    memories: int = field()
    name: str = field("words that many of its memories hold, and few others")


@shape
class GraphMap:
    """The map of all memories by meaning."""

    making: bool = field("whether a newer one is being made")
    memories: int = field("how many are on it; 0 while there is none")
    bounds: tuple[float, float, float, float] | None = field("left, bottom, right, top")
    land: MapLand | None = field()
    topics: Sequence[MapTopicShape] = field("largest first, level by level")


@shape
class GraphRegion:
    """A space of the graph."""

    space: str | None = field()
    memories: int = field("how many it has")


@shape
class GraphOverview(Drawing):
    """The spaces, largest first, each with its strongest memories."""

    regions: Sequence[GraphRegion] = field()
    spaces: int = field("how many there are")
    total: int = field("how many memories there are")


@shape
class Surroundings(Drawing):
    """A memory, those connected with it, and some of those connected with them."""

    id: str = field()
    near: Sequence[str] = field("the ids of those connected with it")


@shape
class PathStep:
    """One step on the way from a memory to another."""

    id: str = field("where it leads")
    edge: str = field()
    forward: bool = field("whether the arrow is followed, and not gone against")
    reason: str | None = field()


@shape
class GraphPaths(Drawing):
    """The shortest ways between two memories over connections."""

    from_: str = field()
    to: str = field()
    paths: Sequence[Sequence[PathStep]] = field()
    seen: int = field("how many memories were looked at")
    whole: bool = field("whether all of them were")


# -- one memory ----------------------------------------------------------------------------


@shape
class LinkedMemory:
    """A connection of the memory that is shown, with the memory at its other end."""

    target: str = field()
    edge: Edge = field()
    weight: float = field()
    reason: str | None = field()
    by: str | None = field()
    at: TimeText | None = field()
    kind: str | None = field()
    confidence: float | None = field()
    discovered_at: TimeText | None = field(left_out=True, default=None)
    algorithm: str | None = field(left_out=True, default=None)
    source: str = field()
    outward: bool = field("whether it starts at the memory that is shown")
    implied: bool = field("drawn by nobody: the self defines what is about it")
    by_machine: bool = field("whether a job drew it")
    other: Brief | None = field("the memory at the other end; null if it is gone")


@shape
class ImportanceParts:
    """What an importance is made of."""

    uses: float = field()
    connections: float = field()
    recency: float = field()


@shape
class Strength:
    """How likely a memory comes to mind, now, before and after, and what that is due to."""

    now: TimeText = field()
    chance: float = field()
    stability_days: float = field()
    curve: Sequence[tuple[TimeText, float]] = field()
    uses: Sequence[TimeText] = field()
    uses_total: int = field()
    least: float = field("below this chance a night may move it to the archive")
    fades_at: TimeText | None = field()
    spared_until: TimeText | None = field("until when it is too young for a night to move it")
    stays: StayReason | None = field("why it stays where it is all the same")
    importance: float = field()
    relevance: float | None = field()
    drawn_connections: int = field()
    parts: ImportanceParts = field()


@shape
class WholeMemory:
    """One memory, also a forgotten one, with connections and strength."""

    memory: Memory = field()
    version: str = field("what an edit is made for; it is refused if it says something else")
    path: str = field()
    forgotten: bool = field()
    is_self: bool = field()
    brief: Brief = field()
    connections: Sequence[LinkedMemory] = field()
    connections_total: int = field()
    replaces: Sequence[Brief] = field()
    strength: Strength | None = field()
    then: Memory | None = field("as it was at the moment asked for, if that is known")
    standing: bool = field("whether it says how things are to be done", default=False)


@shape
class SimilarMemory(Brief):
    """A memory with how near it is to another in meaning."""

    likeness: float = field()


@shape
class SimilarMemories:
    """The memories nearest to one in meaning."""

    memories: Sequence[SimilarMemory] = field()
    embedded: bool = field("whether the model has read it")


@shape
class MemoryDifference:
    """A memory before and after one change of it."""

    before: Memory | None = field()
    after: Memory | None = field()
    moved: bool = field("whether its file only went elsewhere")
    mentions: Sequence[Mention] = field("memories that the change names")


# -- time ----------------------------------------------------------------------------------


@shape
class MindTurn:
    """Two memories of which one replaced the other, or that cannot both hold."""

    is_: Literal["evolution", "tension"] = field()
    newer: Brief = field()
    older: Brief = field()
    open: bool = field("of a tension: whether both still hold")
    reason: str | None = field()
    by: str | None = field()
    at: TimeText | None = field()


@shape
class TimelinePage:
    """Memories by when they became known, newest first, with what turned in that time."""

    memories: Sequence[Brief] = field()
    turns: Sequence[MindTurn] = field()
    total: int = field()


@shape
class GrowthBar:
    """How many memories became known in a stretch of time."""

    from_: TimeText = field()
    to: TimeText = field()
    known: int = field()


@shape
class Growth:
    """How many memories became known in each stretch of time, oldest first."""

    step_days: int = field()
    bars: Sequence[GrowthBar] = field()
    total: int = field()
    zone: str = field()
    first: TimeText | None = field()


@shape
class DayPage:
    """How much held at a moment, and what has come and gone since."""

    held: int = field()
    holding: int = field()
    come: int = field()
    gone: int = field()
    forgotten: Sequence[Brief] = field("what held then and lies in the trash now")


@shape
class TurnPage:
    """What replaced what, and what cannot hold beside what, newest first."""

    turns: Sequence[MindTurn] = field()


# -- home ----------------------------------------------------------------------------------


@shape
class HomeSize:
    """How much there is."""

    memories: int = field()
    connections: int = field()
    tiers: Mapping[str, int] = field()
    types: Mapping[str, int] = field()
    spaces: Mapping[str, int] = field()
    spaces_total: int = field()
    unembedded: int = field()


@shape
class PromptMark:
    """What came of a prompt and how long that took."""

    id: str = field()
    at: TimeText = field()
    outcome: PromptOutcome = field()
    took_ms: float | None = field()


@shape
class PromptTimes:
    """What came of the last prompts, oldest first."""

    deadline_ms: int = field()
    median_ms: float | None = field()
    slow_ms: float | None = field()
    each: Sequence[PromptMark] = field()


@shape
class AttentionItem:
    """What somebody should look at."""

    kind: Literal["bad", "warn", "ask"] = field()
    text: str = field()
    more: Sequence[str] = field()
    to: str | None = field("where on the page to go")
    job: str | None = field("whom the text is about")
    error_kind: str | None = field("of a job that failed", left_out=True, default=None)
    act: Literal["backup"] | None = field(
        "what the page can do about it", left_out=True, default=None
    )


@shape
class HomeJob:
    """When a job ran and will run."""

    id: str = field()
    paused: bool = field()
    running: bool = field()
    last: TimeText | None = field()
    failures: int = field()
    next: TimeText | None = field()


@shape
class HomeSleep:
    """What a day and a night have done."""

    enabled: bool = field()
    applied: int = field()
    proposed: int = field()
    proposals: int = field("how many wait for a decision")
    jobs: Sequence[HomeJob] = field()


@shape
class HomePage:
    """How the memory stands: what Home and Status show in numbers."""

    now: TimeText = field()
    size: HomeSize = field()
    week: int = field("how many memories became known in it")
    prompts: PromptTimes = field()
    attention: Sequence[AttentionItem] = field()
    sleep: HomeSleep = field()
    backup: TimeText | None = field("when the newest was made")
    daemon: DaemonStatus | None = field()


@shape
class AboutMemory(Brief):
    """A memory about the person, with all that editing it in its place takes."""

    content: str = field()
    version: str = field("what an edit is made for; it is refused if it says something else")


@shape
class AboutPage:
    """Who the person is to their agents, under five headings; newest first."""

    self_id: str | None = field("the memory that stands for the person")
    identity: Sequence[AboutMemory] = field()
    preferences: Sequence[AboutMemory] = field()
    people: Sequence[AboutMemory] = field("also those who belong to no project")
    places: Sequence[AboutMemory] = field()
    goals: Sequence[AboutMemory] = field()
    total: int = field("how many memories are about the person")


@shape
class ProjectCard:
    """A project at a glance."""

    space: str = field()
    memories: int = field()
    week: int = field("how many memories became known in it in the last 7 days")
    goals: int = field("goals that are still open")
    about: str | None = field("what it is, as a memory says it")
    newest: Brief | None = field()


@shape
class ProjectPage:
    """The projects, the largest first."""

    projects: Sequence[ProjectCard] = field()
    total: int = field("how many there are")


# -- figures -------------------------------------------------------------------------------


@shape
class WorthWeek:
    """What the whispers of one week were worth."""

    begins: str = field("the Monday, as a day")
    useful: int = field("shown in the reply, or said to be useful")
    useless: int = field("neither, though the reply was read, or said not to be useful")
    unknown: int = field("whispers of which nobody knows")


@shape
class SpaceGrowth:
    """How many memories of one space became known in each stretch of time."""

    space: str | None = field("null for what belongs to no space, and for the others")
    others: bool = field("whether it stands for all spaces that are not named")
    known: Sequence[int] = field()


@shape
class KnownDay:
    """A day on which memories became known."""

    day: str = field()
    known: int = field()


@shape
class KeptMemory:
    """How often a memory was whispered, and how often it helped."""

    memory: Brief = field()
    whispered: int = field("in the time that the log is kept")
    useful: int = field("of these, how often it showed in the reply or was said to be useful")
    uses: int = field("how often it was recalled or whispered in all its life")


@shape
class FiguresPage:
    """The memory in figures; days are those of the zone that was asked for."""

    zone: str = field()
    days: int = field("how far back the log of whispers reaches")
    weeks: Sequence[WorthWeek] = field("oldest first")
    bars: Sequence[GrowthBar] = field("all memories, oldest first")
    spaces: Sequence[SpaceGrowth] = field("the same by space, the largest first")
    calendar: Sequence[KnownDay] = field("days of the last year on which anything became known")
    earning: Sequence[KeptMemory] = field("memories that were whispered, the most often first")


# -- projects ------------------------------------------------------------------------------


@shape
class ProjectSection:
    """The memories of a project that stand under one heading."""

    name: Literal["about", "goals", "rules", "decisions", "procedures", "people", "facts"] = field()
    memories: Sequence[Brief] = field("newest first")
    total: int = field()


@shape
class ProjectView:
    """A project: what is known of it, and what was whispered there."""

    space: str = field()
    memories: int = field("how many there are that hold")
    sections: Sequence[ProjectSection] = field("those that are not empty")
    timeline: Sequence[Brief] = field("the newest of all, also what holds no longer")
    prompts: Sequence[WhisperLine] = field("the last for which something was whispered")


@shape
class ProjectDocument:
    """A project as one text."""

    name: str = field("of the file")
    text: str = field("markdown")
    memories: int = field("how many stand in it")
    left_out: int = field("how many do not, since it would be too long")


# -- whispers ------------------------------------------------------------------------------


@shape
class ToldMemory:
    """A memory that was told, by what it was called then."""

    id: str | None = field()
    title: str | None = field()


@shape
class SearchSilenceShape(CauseShape):
    """Why the search for a whisper found nothing."""

    text: str = field("the sentence")
    title: str | None = field("what the nearest memory is called")
    count: int | None = field("how many came near", left_out=True, default=None)
    nearest: str | None = field("the id of the nearest memory", left_out=True, default=None)
    lacks: Literal["score", "words"] | None = field(
        "what the nearest does not have enough of", left_out=True, default=None
    )
    score: float | None = field("of the nearest", left_out=True, default=None)
    needed: float | None = field("the score that would do", left_out=True, default=None)


@shape
class WhisperSilenceShape(CauseShape):
    """What the silence of a whisper is made of."""

    because: Annotated[Mapping[str, object], SearchSilenceShape] | None = field(
        "why the search found nothing", left_out=True, default=None, nullable=True
    )
    similarity: float | None = field(
        "how alike the topics are, where it is still the same", left_out=True, default=None
    )


@shape
class WhisperLine:
    """A prompt as a line of a list, or another moment at which something was told."""

    id: str = field()
    moment: ToldMoment = field()
    start: str | None = field("how the session began, at the start of one: startup, compact ...")
    at: TimeText = field()
    session: str | None = field()
    space: str | None = field()
    prompt: str = field()
    outcome: PromptOutcome = field()
    told: Sequence[ToldMemory] = field()
    silence: str | None = field()
    silence_parts: Annotated[Mapping[str, object], WhisperSilenceShape] | None = field(
        "what the silence is made of; null also in entries of earlier releases"
    )
    stage: str | None = field("where it was decided; null if that was not noted")
    best: float | None = field()
    took_ms: float | None = field()
    seen: int | None = field("how many of the told memories show in the reply; null if unread")
    without_model: str | None = field("what was decided by words alone")
    without_model_kind: MissingModel | None = field("why it was: late, busy or down", default=None)


@shape
class WhisperPage:
    """The last prompts and what came of each, newest first."""

    whispers: Sequence[WhisperLine] = field()
    next: str | None = field("after which id to go on")
    gate: float = field()
    days: int = field("how far back the log reaches")


@shape
class WhisperStage:
    """A stage that a prompt passes."""

    name: str = field()
    state: Literal["passed", "decided", "not_reached"] = field()
    held: int = field("how many memories it held back")


@shape
class ConsideredMemory:
    """A memory that was considered for a prompt."""

    id: str = field()
    title: str | None = field("what it was called then; null if that was not noted")
    score: float | None = field("the chance that it answers, as recall says it")
    worth: float | None = field(
        "how sure it is that saying it does more good than harm; the gate asks for it"
    )
    chance: float | None = field("in entries of earlier releases, where `score` is the worth")
    words: float | None = field()
    meaning: float | None = field()
    affinity: float | None = field()
    reasons: Sequence[str] = field()
    reasons_parts: Sequence[CauseParts] | None = field(
        "what each reason is made of; null in entries of earlier releases"
    )
    fate: str = field()
    held: str | None = field("the stage that held it back")
    said_by: str | None = field("the memory that said it already")
    seen: bool = field()
    feedback: Literal[1, -1] | None = field()
    brief: Brief | None = field("null if it is gone")


@shape
class WhisperDetail(WhisperLine):
    """One prompt with its stages and every memory that was considered for it."""

    intents: Sequence[str] = field()
    among: Sequence[str | None] = field("the spaces that were looked at")
    gate: float = field()
    floor: float = field()
    stages: Sequence[WhisperStage] = field()
    memories: Sequence[ConsideredMemory] = field()
    text: str | None = field(
        "the very text that was told; null if none was, and in entries of earlier releases"
    )
    tokens: int | None = field("what it cost the agent, in tokens")


@shape
class TellingPrompt:
    """A prompt for which a memory was whispered."""

    prompt: WhisperLine = field()
    score: float | None = field("the chance that the memory answers it")
    seen: bool = field("whether the memory shows in the reply")
    feedback: Literal[1, -1] | None = field("what was said about it there")


@shape
class MemoryPrompts:
    """All prompts for which a memory was whispered, newest first."""

    prompts: Sequence[TellingPrompt] = field()
    days: int = field("how far back the log reaches")
    older: int = field("how many times it was whispered before that")


@shape
class UnwhisperedMemory:
    """Why a memory was not whispered for a prompt."""

    memory: Brief = field()
    text: str = field()
    absent: AbsenceReason | None = field("the same in parts")
    fate: str = field()
    stage: str | None = field()
    score: float | None = field()
    gate: float = field()


# -- sleep ---------------------------------------------------------------------------------


@shape
class RunNumbers:
    """How a run went, in numbers."""

    run: str | None = field()
    seconds: float | None = field()
    looked: int | None = field()
    judged: int | None = field()
    applied: int | None = field()
    proposed: int | None = field()
    skipped: int | None = field()
    stopped: str | None = field()
    stopped_parts: CauseParts | None = field("what that is made of")
    error: str | None = field()
    error_kind: str | None = field("what kind of error it was")
    counts: Mapping[str, object] = field()
    problems: Mapping[str, int] = field()


@shape
class LastRunNumbers(RunNumbers):
    """How the last run of a job went."""

    at: TimeText = field()


@shape
class PageJob:
    """How one job stands, without what it changed."""

    id: str = field()
    interval_minutes: float = field()
    paused: bool = field()
    waiting: bool = field()
    running: bool = field()
    progress: JobProgress | None = field()
    last_run: LastRunNumbers | None = field()
    failures: int = field()
    next_run: TimeText | None = field()


@shape
class SleepPage:
    """How every job and every task of consolidation stands."""

    enabled: bool = field()
    consolidation_enabled: bool = field()
    judge: str = field()
    running: str | None = field()
    proposals: int = field("how many wait for a decision")
    jobs: Sequence[PageJob] = field()
    tasks: Sequence[PageJob] = field()


@shape
class PageRun(RunNumbers):
    """A run of a job."""

    run: str = field()
    job: str | None = field("null if that was not noted")
    at: TimeText = field()
    changes: int = field()
    in_force: int = field("changes that were not taken back")


@shape
class RunPage:
    """What the jobs did, newest first."""

    runs: Sequence[PageRun] = field()
    more: bool = field()


@shape
class RunChange:
    """A change that a run made."""

    id: str = field()
    at: TimeText = field()
    verb: str | None = field("null if that was not noted")
    reason: str | None = field()
    outcome: str | None = field()
    words: Sequence[str] = field("what the job did, in its own sentences")
    memories: Sequence[NamedMemory] = field()


@shape
class RunDetail:
    """The changes that a run made, newest first, and how it went."""

    changes: Sequence[RunChange] = field()
    total: int = field()
    job: str | None = field("null if that was not noted")
    applied: int | None = field()
    in_force: int = field()
    report: PageRun | None = field("null if it is too long ago")


@shape
class FileChange:
    """A file before and after a change."""

    memory: str = field()
    path_before: str | None = field()
    path_after: str | None = field()
    before: str | None = field()
    after: str | None = field()
    known: bool = field("whether the texts are known")


@shape
class ChangeDetail:
    """What a change made of each file."""

    files: Sequence[FileChange] = field()
    files_total: int = field()


@shape
class ProposalSide:
    """A memory that a proposal is about, with what tells it from the other one."""

    id: str = field()
    headline: str = field()
    text: str = field("its sentences that the other does not have; of one alone its beginning")


@shape
class ProposalLine:
    """A proposal as a line of a list, with who decided it."""

    id: str = field()
    type: ProposalType = field()
    status: ProposalStatus = field()
    source_nodes: Sequence[str] = field()
    proposed_action: str = field()
    reason: str | None = field()
    created: TimeText = field()
    resolved: TimeText | None = field()
    by: str | None = field("who decided it")
    change: str | None = field("the change that still holds because of it")
    undoable: bool | None = field("whether the decision can be taken back")
    space: str | None = field("the space of what it is about")
    sides: Sequence[ProposalSide] = field("the first two memories, what goes before what stays")
    snoozed_until: TimeText | None = field("when it is asked again, if it was put off")


@shape
class WaitingGroup:
    """How many wait of one type in one space."""

    type: ProposalType = field()
    space: str | None = field()
    count: int = field()


@shape
class ProposalLines:
    """What waits for a decision, or was decided, newest first."""

    proposals: Sequence[ProposalLine] = field()
    total: int = field()
    types: Mapping[str, int] = field()
    groups: Sequence[WaitingGroup] = field("what waits, by type and space, as it is listed")
    snoozed: int = field("how many were put off")


@shape
class JudgedProposal(ProposalShape):
    """A proposal with who decided it."""

    by: str | None = field()
    change: str | None = field()
    undoable: bool | None = field()


@shape
class ProposedMemory(Brief):
    """A memory of a proposal, with what it says."""

    content: str = field()


@shape
class ProposalDetail:
    """One proposal with its memories, and exactly what approving it would change."""

    proposal: JudgedProposal = field()
    memories: Sequence[ProposedMemory] = field()
    memories_total: int = field()
    difference: str = field()
    problem: str | None = field("why it cannot be carried out")
    changed: NamedMemory | None = field("the memory that says something else by now")


# -- the trash -----------------------------------------------------------------------------


@shape
class TrashLine(Brief):
    """A memory in the trash, and how it came there."""

    at: TimeText | None = field("when it went there; null if nobody knows")
    by: str | None = field("who moved it there")
    verb: str | None = field("what they did: forget, merge, undo …")
    reason: str | None = field()
    change: str | None = field("the change that did it")
    into: Mention | None = field("the memory that it was merged into, if it is still there")


@shape
class TrashLines:
    """What lies in the trash, newest first."""

    memories: Sequence[TrashLine] = field()
    total: int = field("how many of those asked for")
    all: int = field("how many lie there")
