"""What operations answer, except those of the page (`page_responses`).

`text` is for an agent or a person to read; the other fields are for programs. A field that was
added later has a default, for a daemon of an earlier release does not send it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Literal

from madeleine.api.contract.memories import BriefPart, CauseParts, TimeText
from madeleine.api.contract.shape import field, shape
from madeleine.errors import MadeleineError
from madeleine.model.cause import MissingModel
from madeleine.model.event import EventKind
from madeleine.model.memory import Connection, Memory
from madeleine.model.proposal import Proposal, ProposalType
from madeleine.model.words import Edge, MemoryType, Tier

TEXT_HELP = "the answer in plain words"
CHANGE_HELP = "what `undo` takes back; null if it was so already"
NOTES_HELP = "what is worth knowing beside it"
NOTES_PARTS_HELP = "what each note is made of, in the same order"


# -- writing -------------------------------------------------------------------------------


@shape
class LookAlike:
    """A memory that a new one is like: it may say the same, or be replaced by it."""

    id: str = field("the id of the memory")
    title: str | None = field("its title, if it has one")
    text: str = field("how its text begins")
    score: float = field("how similar the two are, 0 to 1")


@shape
class RememberedMemory:
    """A memory that was written, or was known already."""

    text: str = field(TEXT_HELP)
    node_id: str = field("the id of the memory")
    memory: Memory = field()
    linked: tuple[Connection, ...] = field("connections that were drawn by themselves")
    existing: bool = field("it was known; nothing was written")
    change: str | None = field(CHANGE_HELP)
    notes: tuple[str, ...] = field(NOTES_HELP)
    notes_parts: tuple[CauseParts, ...] = field(NOTES_PARTS_HELP, default=())
    similar: tuple[LookAlike, ...] = field(
        "memories that it is like, the most similar first; `replaces` retires one", default=()
    )
    proposal: str | None = field(
        "the proposal that a person has to approve before it is written; null: it is written",
        default=None,
    )


@shape
class WriteOutcome:
    """What became of one draft among many: a memory's id, or the error that refused it."""

    node_id: str | None = field("the id of the memory", left_out=True, default=None)
    existing: bool = field(
        "it was known; nothing was written", left_out=True, default=False, absent_with="error"
    )
    error: MadeleineError | None = field("why it was refused", left_out=True, default=None)
    proposal: str | None = field(
        "the proposal that a person has to approve before it is written",
        left_out=True,
        default=None,
    )

    @property
    def id(self) -> str | None:
        return self.node_id


@shape
class RememberedMany:
    """What became of each of many drafts, in their order."""

    text: str = field(TEXT_HELP)
    results: tuple[WriteOutcome, ...] = field()


@shape
class ChangedMemory:
    """A memory after a change."""

    text: str = field(TEXT_HELP)
    node_id: str = field("the id of the memory")
    memory: Memory = field()
    change: str | None = field(CHANGE_HELP)
    notes: tuple[str, ...] = field(NOTES_HELP)
    notes_parts: tuple[CauseParts, ...] = field(NOTES_PARTS_HELP, default=())

    @property
    def trash_path(self) -> str | None:
        """Where its file is, of a memory that was forgotten."""
        return None

    @property
    def removed(self) -> str | None:
        """The id of the memory that a merge took away."""
        return None


@shape
class ForgottenMemory:
    """A memory that lies in the trash."""

    text: str = field(TEXT_HELP)
    node_id: str = field("the id of the memory")
    memory: Memory = field()
    change: str | None = field(CHANGE_HELP)
    trash_path: str = field("where its file is")

    @property
    def notes(self) -> tuple[str, ...]:
        return ()

    @property
    def removed(self) -> str | None:
        """The id of the memory that a merge took away."""
        return None


@shape
class MergedMemory:
    """One memory that was made of two."""

    text: str = field(TEXT_HELP)
    node_id: str = field("the id of the memory")
    memory: Memory = field()
    removed: str = field("the id of the one that went into it")
    change: str | None = field(CHANGE_HELP)
    neighbours: int = field("memories whose connections were moved")
    notes: tuple[str, ...] = field(NOTES_HELP)
    notes_parts: tuple[CauseParts, ...] = field(NOTES_PARTS_HELP, default=())

    @property
    def trash_path(self) -> str | None:
        """Where its file is, of a memory that was forgotten."""
        return None


@shape
class UndoneChanges:
    """Which changes were taken back, and the change that did it."""

    text: str = field(TEXT_HELP)
    change: str = field("the change that took them back")
    undone: tuple[str, ...] = field("the changes that were taken back")
    memories: tuple[str, ...] = field("the ids of the memories concerned")
    questions: tuple[str, ...] = field(
        "the proposals that were withdrawn, or wait again", default=()
    )


@shape
class NotedFeedback:
    """That something was said about a memory."""

    text: str = field(TEXT_HELP)
    node_id: str = field("the id of the memory")


# -- reading -------------------------------------------------------------------------------


@shape
class HitPassage:
    """The piece of a long memory that answers."""

    start: int = field("its first character")
    end: int = field("the one after its last")
    text: str = field()


@shape
class HitTurn:
    """A turn of the conversation that a hit is from, shortly before or after it."""

    id: str = field("the id of the memory")
    turn: int | None = field("its number in the conversation")
    speaker: str | None = field()
    text: str = field("what was said; a long one is cut")


@shape
class ScoreParts:
    """Every number that a score is made of."""

    head: str | None = field("which weights were used")
    features: Mapping[str, float] = field()
    weights: Mapping[str, float] = field()
    evidence: Mapping[str, float] = field()
    chance: float | None = field()
    lifts: Mapping[str, float] = field()
    boosts: Mapping[str, float] = field()
    cross_encoder: float | None = field()
    inherited: float | None = field("from a memory that it is connected with")


@shape
class HitVersion:
    """A memory that took the place of another, or whose place another took."""

    id: str = field()
    title: str = field()
    known: bool = field("whether that is settled; else a question waits, or it is suspected only")
    proposal: str | None = field("the question that waits about it, if somebody is asked already")


@shape
class RecallHit:
    """A memory that answers a question, how well from 0 to 1, and why."""

    memory: Memory = field()
    score: float = field("how well it answers, 0 to 1")
    reasons: tuple[str, ...] = field("why it is an answer")
    reasons_parts: tuple[CauseParts, ...] = field(
        "what each reason is made of, in the same order", default=()
    )
    match: Mapping[str, float] = field("how the words and the meaning fit")
    passage: HitPassage | None = field("of a long memory the piece that answers")
    around: tuple[HitTurn, ...] = field(
        "two turns before and two after it, of what was said in a conversation",
        left_out=True,
        default=(),
    )
    explained: ScoreParts | None = field("only if asked for", left_out=True, default=None)
    sure: Literal["sure", "likely", "maybe"] = field("the score in a word", default="maybe")
    replaced_by: HitVersion | None = field(
        "what took its place, or may have", left_out=True, default=None
    )
    replaces: tuple[HitVersion, ...] = field(
        "whose place it took, or may have", left_out=True, default=()
    )
    group: str | None = field(
        "where all standing notes are asked for: the activity that it is about",
        left_out=True,
        default=None,
    )


@shape
class RecallAnswer:
    """The memories that answer a question, best first."""

    text: str = field(TEXT_HELP)
    results: tuple[RecallHit, ...] = field()
    silence: str | None = field("why nothing was found")
    silence_parts: CauseParts | None = field("what the silence is made of", default=None)
    notes: tuple[str, ...] = field(NOTES_HELP)
    notes_parts: tuple[CauseParts, ...] = field(NOTES_PARTS_HELP, default=())
    why_not: str | None = field("why a memory that was missed is not there")
    folded: int = field("how many more were found below the floor; `all` shows them", default=0)
    floor: float | None = field("the score that a hit needed to be shown", default=None)
    more: int = field("how many lie below it: the same as `folded`", default=0)


@shape
class WhisperedMemory:
    """A memory that was whispered: in full, or by its title only."""

    node_id: str = field("the id of the memory")
    score: float = field()
    full: bool = field("whether its text was told, not only its title")
    explorer: bool = field("whether it was told to learn if it helps")
    memory: Memory = field()


@shape
class WhisperAnswer:
    """What is worth saying before a prompt is answered. An empty text is silence."""

    text: str = field("what the agent reads; empty is silence")
    whisper_id: str = field()
    injected: tuple[WhisperedMemory, ...] = field("the memories in it")
    silence: str | None = field("why nothing is said")
    silence_parts: CauseParts | None = field("what the silence is made of", default=None)
    stage: str = field("where it was decided")
    took_ms: float = field()
    without_model: MissingModel | None = field(
        "why words alone decided though there is a model: it was late, there were too many "
        "prompts at once, or it is down",
        default=None,
    )
    explained: Mapping[str, object] = field(
        "only if asked for", left_out=True, default_factory=dict
    )


@shape
class BriefItem:
    """A memory in a brief."""

    node_id: str = field("the id of the memory")
    section: BriefPart = field("the part of the brief that it is told in")
    memory: Memory = field()


@shape
class BriefAnswer:
    """What a session should know at its start. An empty text is silence."""

    text: str = field("what the agent reads; empty is silence")
    brief_id: str = field()
    items: tuple[BriefItem, ...] = field("the memories in it, in their order")
    night: str | None = field("the night it tells of, for `undo`", default=None)
    silence: str | None = field("why nothing is said")
    silence_parts: CauseParts | None = field("what the silence is made of", default=None)
    took_ms: float = field()


@shape
class DeedAnswer:
    """What is worth knowing before a deed. An empty text is silence."""

    text: str = field("what the agent reads; empty is silence")
    whisper_id: str = field()
    injected: tuple[WhisperedMemory, ...] = field("the memories in it")
    asks: bool = field("whether a person wants to be asked first, by `whisper.guard`")
    silence: str | None = field("why nothing is said")
    silence_parts: CauseParts | None = field("what the silence is made of", default=None)
    took_ms: float = field()


@shape
class SpaceHere:
    """Which space a folder belongs to, and why."""

    text: str = field(TEXT_HELP)
    space: str | None = field("null is global")
    branch: str | None = field(
        "the space of the branch that is checked out; null on a trunk", default=None
    )
    asked: str | None = field(
        "the space that is asked in from there: the branch's where anything is known of it",
        default=None,
    )
    because: str | None = field("why")
    because_parts: CauseParts | None = field("what the reason is made of", default=None)
    unheard: tuple[str, ...] = field(
        "other spaces that it might be taken for: what is in them is not heard there"
    )
    memories: int = field("how many memories are in it")
    spaces: Mapping[str, int] = field("the spaces that have memories, with how many")


@shape
class MovedSpaceAnswer:
    """How many memories are in another space now."""

    text: str = field(TEXT_HELP)
    memories: int = field()
    change: str = field("what `undo` takes back")
    notes: tuple[str, ...] = field(default=())
    notes_parts: tuple[CauseParts, ...] = field("what each note is made of", default=())


@shape
class WhisperReason:
    """Why the last whisper, or silence, was what it was."""

    text: str = field(TEXT_HELP)
    whisper: Mapping[str, object] | None = field(
        "the log's entry: id, at, session, space, and what was noted at each stage"
    )


@shape
class HoldOutSide:
    """Whispers of one kind: how many there were, had their reply read, and show in it."""

    whispers: int = field()
    replied: int = field()
    used: int = field()


@shape
class WhisperWeekShape:
    """What came of the whispers of one week."""

    begins: str = field("its Monday")
    told: HoldOutSide = field()
    held_out: HoldOutSide = field()
    thumbs_up: int = field("memories of whispers that were called useful")
    thumbs_down: int = field("and not useful")
    tokens: int = field("what they cost an agent to read, about")


@shape
class WhisperReport:
    """How often memories show in replies, whispered and held out, and what came of each week."""

    text: str = field(TEXT_HELP)
    days: int = field("how far back the log reaches")
    enough: bool = field("whether there are enough replies to say anything")
    told: HoldOutSide = field()
    held_out: HoldOutSide = field()
    late: int = field()
    undelivered: int = field()
    difference: float | None = field("of the two shares")
    margin: float | None = field("how far the difference may be off")
    weeks: tuple[WhisperWeekShape, ...] = field("week by week, the last one first", default=())


@shape
class MemoryLink:
    """A connection as one of its two ends sees it."""

    source: str = field("the id of the memory that it starts from")
    target: str = field("the id of the memory that it leads to")
    edge: Edge = field()
    weight: float = field()
    direction: Literal["out", "in"] = field()
    says: str = field("the edge, or the association that was discovered")
    reason: str | None = field(default=None)
    by: str | None = field(default=None)
    at: datetime | None = field(default=None)
    kind: str | None = field(default=None)
    confidence: float | None = field(default=None)
    discovered_at: datetime | None = field(left_out=True, default=None)
    algorithm: str | None = field(left_out=True, default=None)
    resolved: bool = field("whether the other end is there", default=True)
    implied: bool = field("whether it stands in no file: the self defines it", default=False)
    title: str | None = field("the headline of the other end", default=None)


@shape
class ShownMemory:
    """A memory whole, with its connections both ways and its neighbours."""

    text: str = field(TEXT_HELP)
    node_id: str = field("the id of the memory")
    memory: Memory = field()
    path: str = field("its file in the vault")
    connections: tuple[MemoryLink, ...] = field()
    neighbours: tuple[Memory, ...] = field()
    triggers: tuple[str, ...] = field(
        "the paths, globs, commands and the like before which it is told", default=()
    )
    standing: bool = field("whether it says how things are to be done", default=False)
    activity: str | None = field("what a standing note is mostly about", default=None)
    notes: tuple[str, ...] = field(NOTES_HELP)
    notes_parts: tuple[CauseParts, ...] = field(NOTES_PARTS_HELP, default=())


@shape
class Arrow:
    """A connection from one memory to another."""

    source: str = field("the id of the memory that it starts at")
    target: str = field("the id of the memory that it leads to")
    edge: Edge = field("what it says")
    weight: float = field("how strong it is")
    reason: str | None = field("why it is there")
    kind: str | None = field("which association")
    by: str | None = field("who drew it")
    at: TimeText | None = field("when it was drawn")
    confidence: float | None = field("how sure who drew it was")


@shape
class ConnectedMemories:
    """Memories, those that they are connected with, and the connections at them, both ways."""

    text: str = field(TEXT_HELP)
    memories: tuple[Memory, ...] = field("those asked for, as far as they are there, come first")
    arrows: tuple[Arrow, ...] = field()


@shape
class MemoryPage:
    """Some of the memories that there are, newest first."""

    text: str = field(TEXT_HELP)
    memories: tuple[Memory, ...] = field()
    total: int = field("how many there are in all")


@shape
class TrashedMemory:
    """A forgotten memory, and where its file is."""

    memory: Memory = field()
    path: str = field()


@shape
class TrashPage:
    """What was forgotten and can be restored."""

    text: str = field(TEXT_HELP)
    memories: tuple[TrashedMemory, ...] = field()


@shape
class JournalEvent:
    """One line of the journal."""

    id: str = field()
    at: datetime = field()
    kind: EventKind = field()
    device: str = field("which machine wrote it")
    body: Mapping[str, object] = field("what it says; its fields depend on the kind")


@shape
class JournalChange(JournalEvent):
    """A line of the journal about a change."""

    outcome: str | None = field("what became of the change")


@shape
class MemoryHistory:
    """What happened to a memory, newest first."""

    node_id: str = field("the id of the memory")
    text: str = field(TEXT_HELP)
    events: tuple[JournalChange | JournalEvent, ...] = field()


@shape
class EventPage:
    """Recorded changes, newest first."""

    text: str = field(TEXT_HELP)
    events: tuple[JournalChange | JournalEvent, ...] = field()


@shape
class LogEntry:
    """One thing that happened."""

    at: TimeText = field()
    what: str = field("what happened, in a sentence")
    what_parts: CauseParts = field("what the sentence is made of, with its `kind`")
    by: str = field("who did it: a job, a door, an agent")
    author: Literal["sleep", "agent", "me", "import"] = field("what kind of one that is")
    memories: tuple[str, ...] = field("the ids of those that it happened to")
    change: str | None = field("the change that did it, if it is one")
    undo: str | None = field("what `undo` takes to take it back; null if it cannot be, or was")
    outcome: str | None = field(
        "what became of it: done or undone; of a question, whether it is pending"
    )


@shape
class LogNight:
    """A night whose entries these are; `undo` with its id takes all of it back."""

    id: str = field("the `request` of its runs")
    at: TimeText = field("when its first run ended")


@shape
class LogPage:
    """What happened, newest first."""

    text: str = field(TEXT_HELP)
    entries: tuple[LogEntry, ...] = field()
    night: LogNight | None = field("the last night, if that was asked for and there was one")


@shape
class RecordedMerge:
    """A merge that was made."""

    id: str = field("the change")
    at: TimeText = field()
    kept: str | None = field()
    removed: str | None = field()
    by: str | None = field()
    reason: str | None = field()
    outcome: str | None = field("what became of the change")


@shape
class MergePage:
    """Merges that were made, newest first."""

    text: str = field(TEXT_HELP)
    merges: tuple[RecordedMerge, ...] = field()


@shape
class Evolution:
    """One memory that replaced another."""

    from_: Memory = field("the older one")
    to: Memory = field("the newer one")
    reason: str | None = field()
    by: str | None = field()
    at: TimeText | None = field()


@shape
class Tension:
    """Two memories that cannot both hold."""

    one: Memory = field()
    other: Memory = field()
    reason: str | None = field()
    by: str | None = field()
    at: TimeText | None = field()


@shape
class Insights:
    """What changed its mind and what contradicts what, newest first."""

    text: str = field(TEXT_HELP)
    evolutions: tuple[Evolution, ...] = field()
    tensions: tuple[Tension, ...] = field()


@shape
class MaintenanceStatus:
    """Whether an agent has a batch of questions now."""

    status: Literal["idle", "awaiting_results"] = field()
    message: str | None = field(left_out=True, default=None)
    job_id: str | None = field("what the batch is handed in with", left_out=True, default=None)
    phase: str | None = field(left_out=True, default=None)
    started_at: TimeText | None = field("when it was given out", left_out=True, default=None)
    expires_at: TimeText | None = field(
        "until when answers to it are taken", left_out=True, default=None
    )


# -- proposals -----------------------------------------------------------------------------


@shape
class ProposalGroup:
    """Proposals of one kind."""

    kind: ProposalType = field(
        "merge, conflict, decay, link, consolidate, space, forget or remember"
    )
    count: int = field()
    ids: tuple[str, ...] = field("of the proposals, newest first")


@shape
class ProposalPage:
    """What waits for a decision, or was decided."""

    text: str = field(TEXT_HELP)
    proposals: tuple[Proposal, ...] = field("newest first")
    groups: tuple[ProposalGroup, ...] = field("the same by kind, the most first", default=())


@shape
class RefusedDecision:
    """A proposal that could not be decided."""

    id: str = field("the proposal")
    error: str = field("why not")
    code: str = field("what to do about it, such as conflict")
    kind: str = field("the kind of error, as docs/reference/kinds.md has it")


@shape
class SnoozedProposal:
    """A question that was put off, or is asked again."""

    text: str = field(TEXT_HELP)
    id: str = field()
    until: TimeText | None = field("when it is asked again; null if it is asked now")


@shape
class DecidedProposals:
    """What became of proposals that were decided at once."""

    text: str = field(TEXT_HELP)
    decided: tuple[Proposal, ...] = field()
    refused: tuple[RefusedDecision, ...] = field("those that stay as they are, and why")
    undo: str | None = field("what `undo` takes to take all of it back; null if there is nothing")


@shape
class ShownProposal:
    """A proposal, the difference it would make to files, and why it cannot be done, if so."""

    text: str = field(TEXT_HELP)
    proposal: Proposal = field()
    difference: str = field("what approving it would change, line by line")
    problem: str | None = field("why it cannot be carried out")


@shape
class DecidedProposal:
    """A proposal after its decision, and the change that carried it out."""

    text: str = field(TEXT_HELP)
    proposal: Proposal = field()
    change: str | None = field(CHANGE_HELP)


# -- sleep ---------------------------------------------------------------------------------


@shape
class JobReport:
    """What one run of a job did, or in a dry run would do."""

    job: str = field()
    run: str = field("what `undo` takes back")
    began: datetime = field()
    dry_run: bool = field()
    request: str | None = field("the id of the night", default=None)
    seconds: float = field()
    looked: int = field()
    judged: int = field()
    applied: int = field()
    proposed: int = field()
    skipped: int = field()
    stopped: str | None = field("why it did not do all it planned", default=None)
    stopped_parts: CauseParts | None = field("what that is made of", default=None)
    error: str | None = field(default=None)
    error_kind: str | None = field("what kind of error it was", default=None)
    problems: Mapping[str, int] = field(default_factory=dict)
    counts: Mapping[str, object] = field("the job's own words and numbers", default_factory=dict)
    patches: tuple[Mapping[str, object], ...] = field("what it changed", default=())


@shape
class KeptReport:
    """What is known of a run: all of it in the process that ran it, else what the journal keeps."""

    at: TimeText = field()
    job: str | None = field(left_out=True, default=None)
    run: str | None = field("what `undo` takes back", left_out=True, default=None)
    began: TimeText | None = field(left_out=True, default=None)
    dry_run: bool | None = field(left_out=True, default=None)
    request: str | None = field("the id of the night", left_out=True, default=None, nullable=True)
    seconds: float | None = field(left_out=True, default=None)
    looked: int | None = field(left_out=True, default=None)
    judged: int | None = field(left_out=True, default=None)
    applied: int | None = field(left_out=True, default=None)
    proposed: int | None = field(left_out=True, default=None)
    skipped: int | None = field(left_out=True, default=None)
    stopped: str | None = field("why it did not do all", left_out=True, default=None, nullable=True)
    stopped_parts: CauseParts | None = field(
        "what that is made of", left_out=True, default=None, nullable=True
    )
    error: str | None = field(left_out=True, default=None, nullable=True)
    error_kind: str | None = field(
        "what kind of error it was", left_out=True, default=None, nullable=True
    )
    problems: Mapping[str, int] | None = field(left_out=True, default=None)
    counts: Mapping[str, object] | None = field(
        "its own words and numbers", left_out=True, default=None
    )
    patches: Sequence[Mapping[str, object]] | None = field(
        "what it changed", left_out=True, default=None
    )


@shape
class JobProgress:
    """How far a run is."""

    began: TimeText = field()
    dry_run: bool = field()
    done: int = field()
    total: int = field()


@shape
class RunningJob(JobProgress):
    """The job that is under way."""

    id: str = field("its name")


@shape
class JobStatus:
    """How one job stands."""

    id: str = field("its name")
    interval_minutes: float = field()
    paused: bool = field()
    waiting: bool = field()
    running: bool = field()
    progress: JobProgress | None = field()
    last_run: Annotated[Mapping[str, object], KeptReport] | None = field()
    failures: int = field("runs in a row that failed")
    next_run: TimeText | None = field()


@shape
class JobList:
    """The jobs that tend the memory, in the order of the sleep cycle."""

    text: str = field(TEXT_HELP)
    enabled: bool = field("whether there is a timetable")
    running: RunningJob | None = field()
    tasks: Sequence[JobStatus] = field()


@shape
class SleepRun:
    """What came of a request to run jobs."""

    text: str = field(TEXT_HELP)
    status: Literal["started", "finished", "stopped", "failed"] = field()
    request: str = field("what `undo` takes back")
    jobs: Sequence[str] = field()
    reports: Sequence[JobReport] = field()


@shape
class StoppedJob:
    """Whether a run was stopped."""

    text: str = field(TEXT_HELP)
    stopped: bool = field("whether one was under way or waiting")


@shape
class PausedJob:
    """Whether a job runs by itself."""

    text: str = field(TEXT_HELP)
    id: str = field("its name")
    paused: bool = field()


@shape
class AskedMemory:
    """A memory as somebody who judges reads it."""

    type: MemoryType = field()
    space: str | None = field(left_out=True, default=None)
    created: TimeText = field()
    title: str | None = field(left_out=True, default=None)
    content: str = field()


@shape
class AskedPairShape:
    """Two memories whose relation is asked about."""

    pair: str = field("what to call it in the verdict")
    node_a_id: str = field("the newer one")
    node_b_id: str = field("the older one")
    similarity: float = field()


@shape
class AskedClusterShape:
    """Memories of which one text may be made."""

    cluster: str = field("what to call it in the verdict")
    node_ids: Sequence[str] = field()


@shape
class MaintenanceBatch:
    """A batch of questions about memories."""

    text: str = field(TEXT_HELP)
    status: Literal["ready"] = field()
    job_id: str = field("by which verdicts are handed in")
    expires_at: TimeText = field("until when the batch is reserved")
    instructions: str = field()
    memories: Mapping[str, AskedMemory] = field("by their ids")
    merge_candidates: Sequence[AskedPairShape] = field()
    conflict_candidates: Sequence[AskedPairShape] = field()
    link_candidates: Sequence[AskedPairShape] = field()
    consolidation_clusters: Sequence[AskedClusterShape] = field()


@shape
class BusyMaintenance:
    """That another agent has the batch of questions."""

    text: str = field(TEXT_HELP)
    status: Literal["busy"] = field()
    message: str = field("why there is no batch")
    expires_at: TimeText | None = field("until when the batch is reserved; null if just handed in")


@shape
class IdleMaintenance:
    """That there is nothing to judge."""

    text: str = field(TEXT_HELP)
    status: Literal["idle"] = field()
    message: str = field("why there is no batch")


MaintenanceAnswer = MaintenanceBatch | BusyMaintenance | IdleMaintenance


@shape
class HandedInVerdicts:
    """What came of verdicts that were handed in."""

    text: str = field(TEXT_HELP)
    status: Literal["done"] = field()
    job_id: str = field()
    reports: Sequence[JobReport] = field()


@shape
class ConsolidationReport:
    """What the consolidation engine did."""

    mode: str = field("one task, or `full`")
    dry_run: bool = field()
    started_at: TimeText = field()
    completed_at: TimeText | None = field("null while it runs")
    success: bool | None = field("null while it runs")
    paused: Sequence[str] = field("tasks that were left out")
    steps: Mapping[str, Mapping[str, object]] = field("the result of each task")


@shape
class ConsolidationRun:
    """What came of a request to the consolidation engine."""

    text: str = field(TEXT_HELP)
    status: Literal["started", "success", "stopped", "error"] = field()
    request: str = field("what `undo` takes back")
    consolidation: ConsolidationReport = field()


@shape
class RunningTask(JobProgress):
    """The task that is under way."""

    task: str = field()


@shape
class TaskRun:
    """One run of a task."""

    task: str | None = field()
    ran_at: TimeText = field()
    memories_processed: int = field()
    duration_seconds: float = field()
    success: bool = field()
    run: str | None = field("what `undo` takes back")
    applied: int = field()
    proposed: int = field()
    error: str | None = field()
    result: Mapping[str, object] = field("the task's own words and numbers")


@shape
class ConsolidationStatus:
    """When each task of the consolidation engine ran, and when it will run again."""

    text: str = field(TEXT_HELP)
    enabled: bool = field()
    last_decay: TimeText | None = field()
    last_creative: TimeText | None = field()
    last_cluster: TimeText | None = field()
    last_forget: TimeText | None = field()
    next_runs: Mapping[str, str] = field("in words")
    next_run_at: Mapping[str, TimeText | None] = field()
    failing: Mapping[str, str] = field("tasks whose last run failed, and why")
    paused: Sequence[str] = field()
    running: RunningTask | None = field()
    history: Sequence[TaskRun] = field()
    tick_seconds: float = field("how often it is looked whether a task is due")


# -- the home ------------------------------------------------------------------------------


@shape
class Health:
    """That the daemon answers."""

    status: Literal["ok"] = field()
    version: str = field()


@shape
class PausedSession:
    """Whether a session is paused: nothing in it is kept or whispered."""

    text: str = field()
    session_id: str = field()
    paused: bool = field()


@shape
class MemoryCounts:
    """How much there is."""

    memories: int = field()
    edges: int = field()
    events: int = field()
    exchanges: int = field("what was said in sessions, kept apart from memories", default=0)
    unembedded: int = field("memories that the model has not read yet")
    unreadable: int = field("files that cannot be read")
    by_type: Mapping[str, int] = field()
    by_tier: Mapping[str, int] = field()
    by_space: Mapping[str, int] = field()


@shape
class EmbedderStatus:
    """Which model reads texts."""

    name: str | None = field()
    why_not: str | None = field("why there is none")
    others: str | None = field(
        "the model of texts that are not English; null if the first reads them", default=None
    )
    why_only_english: str | None = field(
        "why no other model reads what is not English", default=None
    )
    languages: Sequence[str] = field(
        "languages of the newest memories beside English, by ISO 639-1", default=()
    )
    unembedded: int = field("memories that it has not read yet")
    problem: str | None = field("why it is not asked at the moment", default=None)


@shape
class RerankerStatus:
    """Which model compares a question with an answer."""

    name: str | None = field()
    why_not: str | None = field("why there is none")


@shape
class RelationsStatus:
    """Which model reads two memories together, for the local judge."""

    name: str | None = field()
    why_not: str | None = field("why there is none though the settings want it")


@shape
class UnreadableFile:
    """A file that cannot be read."""

    path: str = field()
    line: int = field()
    problem: str = field()


@shape
class JournalStatus:
    """How the journal stands."""

    files: int = field()
    problems: Sequence[str] = field()


@shape
class SleepStatus:
    """How each job's last run went, and what waits for a person."""

    enabled: bool = field()
    judge: str = field()
    proposals: int = field("how many wait for a decision")
    jobs: Sequence[JobStatus] = field()


@shape
class BackupStatus:
    """Which backups there are."""

    folder: str = field()
    count: int = field()
    newest: TimeText | None = field()


@shape
class HeldMemory:
    """A memory that does not leave this machine."""

    memory: str = field()
    reason: str = field()


@shape
class SyncStatus:
    """How this machine stands with others of the same person."""

    text: str = field(TEXT_HELP)
    place: str = field("where machines meet; empty where none is set")
    every_minutes: int = field("how often the daemon syncs; 0: never by itself")
    last: TimeText | None = field("when it last met the others")
    problem: str | None = field("what the last try ran into")
    changed: int = field("files that changed here since")
    waiting: int = field("versions that came before those that they were made from")
    unread: int = field("memories of which something came that could not be written here yet")
    held: Sequence[HeldMemory] = field("memories that do not leave this machine")


@shape
class SyncReceipt:
    """What a sync did."""

    text: str = field(TEXT_HELP)
    place: str = field()
    sent: int = field("versions of memories that are new at the place")
    received: int = field("versions of others that are new here")
    events_sent: int = field("journal events")
    events_received: int = field()
    written: int = field("memories that were written here")
    trashed: int = field("memories that were forgotten elsewhere and went to the trash here")
    purged: int = field("memories that were purged elsewhere, and are gone here too")
    merged: int = field("memories that several machines had changed")
    asked: int = field("questions about what two machines changed differently")
    held: int = field("memories that do not leave this machine")
    waiting: int = field("versions that came before those that they were made from")
    notes: Sequence[str] = field(NOTES_HELP)
    seconds: float = field()


@shape
class IntakeStatus:
    """How taking in stands."""

    extractor: str | None = field("the language model that reads along")
    why_not: str | None = field("why there is none")
    kept_today: int = field()
    memories_per_day: int = field()
    tokens_today: int = field()
    problems: Sequence[str] = field()


@shape
class LoopStatus:
    """One thing that the daemon does again and again."""

    name: str = field()
    runs: int = field()
    failures: int = field()
    problem: str | None = field()


@shape
class DaemonStatus:
    """How the daemon stands."""

    host: str = field()
    port: int = field()
    wanted_port: int = field("the one that was asked for")
    socket: str = field()
    pid: int = field()
    uptime_seconds: float = field()
    loops: Sequence[LoopStatus] = field()
    failures: int = field("requests that met a bug")
    hooks: Mapping[str, object] = field("what hooks asked and got, and their problems")


@shape
class HomeStatus:
    """What there is and what is wrong. Fields about the server are null unless an admin
    asks."""

    version: str = field()
    home: str | None = field()
    vault: str | None = field("where the memory is")
    device: str | None = field()
    pid: int | None = field()
    counts: MemoryCounts = field()
    embedder: EmbedderStatus = field()
    reranker: RerankerStatus = field()
    unreadable: Sequence[UnreadableFile] = field()
    unread_files: int = field("changed files that wait to be read", default=0)
    ignored: Sequence[str] = field(
        "texts in the vault that are not read, by their names", default=()
    )
    journal: JournalStatus = field()
    index_place: str | None = field("where its index is; null for the home's own")
    index_bytes: int | None = field("how large the home's own index is")
    runs: Sequence[Mapping[str, object]] = field("the last runs of jobs")
    sleep: SleepStatus = field()
    backup: BackupStatus | None = field()
    ingest: IntakeStatus = field()
    notes: Sequence[str] = field(NOTES_HELP)
    daemon: DaemonStatus | None = field("null where there is none, or to who is no admin")
    person: str | None = field(
        "who asks, where several share a database", left_out=True, default=None
    )
    role: str | None = field("what they may do", left_out=True, default=None)
    sync: SyncStatus | None = field("null to who is no admin", default=None)
    relations: RelationsStatus | None = field(
        "what reads two memories together; null in answers of releases before it", default=None
    )


@shape
class StatsWindow:
    """The time that is counted."""

    kind: Literal["rolling", "calendar_week"] = field()
    days: int = field()
    cutoff: TimeText = field()


@shape
class UsageStats:
    """How much was whispered and remembered."""

    whispers_used_this_week: int = field()
    whispers_used_total: int = field()
    memories_this_week: int = field()
    memories_total: int = field()


@shape
class StoreStats:
    """How much there is."""

    total_nodes: int = field()
    total_edges: int = field()
    by_tier: Mapping[str, int] = field()


@shape
class Stats:
    """How much there is and how much of it was used, in few numbers."""

    text: str = field(TEXT_HELP)
    generated_at: TimeText = field()
    window: StatsWindow = field()
    usage: UsageStats = field()
    store: StoreStats = field()


@shape
class ReconcileReport:
    """What a reconcile did."""

    text: str = field(TEXT_HELP)
    files: int = field()
    written: int = field()
    dropped: int = field()
    unchanged: int = field()
    unreadable: tuple[str, ...] = field("files that cannot be read")
    notes: tuple[str, ...] = field(NOTES_HELP)
    notes_parts: tuple[CauseParts, ...] = field(NOTES_PARTS_HELP, default=())

    @property
    def seconds(self) -> float | None:
        """How long it took; only a rebuild says so."""
        return None


@shape
class RebuildReport:
    """What a rebuild did."""

    text: str = field(TEXT_HELP)
    files: int = field()
    written: int = field()
    dropped: int = field()
    unchanged: int = field()
    unreadable: tuple[str, ...] = field("files that cannot be read")
    notes: tuple[str, ...] = field(NOTES_HELP)
    notes_parts: tuple[CauseParts, ...] = field(NOTES_PARTS_HELP, default=())
    seconds: float = field()


@shape
class NamedMemory:
    """A memory by its id and what it is called."""

    id: str = field()
    title: str | None = field()


@shape
class PurgedTraces:
    """What was removed where."""

    files: int = field()
    journal_lines: int = field()
    journal_lines_cut: int = field()
    embeddings: int = field()


@shape
class TracesLeft:
    """What names still what is gone, or may still say it."""

    connections: int = field()
    journal_lines: int = field()
    memories: Sequence[NamedMemory] = field("made from it")
    merged_into: Sequence[NamedMemory] = field()


@shape
class PurgeReceipt:
    """Which memories are gone for good, what was removed of them and what is left."""

    text: str = field(TEXT_HELP)
    memories: Sequence[NamedMemory] = field()
    removed: PurgedTraces = field()
    left: TracesLeft = field()


@shape
class CompactReport:
    """What tidying the journal did."""

    text: str = field(TEXT_HELP)
    files: Sequence[str] = field("written anew")
    busy: Sequence[str] = field("left alone, for somebody writes there")
    dropped: int = field("lines")
    damaged: int = field("lines")
    bytes_saved: int = field()


@shape
class CostLine:
    """What remote models were asked for one purpose, by one model."""

    purpose: str = field("questions, memories, judging, synthesis or extraction")
    model: str = field()
    requests: int = field()
    tokens_in: int = field("tokens that it read")
    tokens_out: int = field("tokens that it wrote")
    cost: float = field("in the currency of the prices; 0 where no price is set")


@shape
class CostTotal:
    """What remote models were asked in a time, the dearest purpose first."""

    requests: int = field()
    tokens_in: int = field()
    tokens_out: int = field()
    cost: float = field()
    lines: Sequence[CostLine] = field()


@shape
class CostReport:
    """What remote models were asked today and this month (UTC), and what a day may cost."""

    text: str = field(TEXT_HELP)
    day: str = field("today, such as 2026-11-15")
    today: CostTotal = field()
    month: CostTotal = field()
    daily_cap: float = field("0: no bound")
    daily_tokens: int = field("0: no bound")
    refused: str | None = field("why nobody is asked any more today, where that is so")


# -- moving in and out ---------------------------------------------------------------------


@shape
class SkillEntry:
    """A procedure as an Agent Skill: a folder of that name with the text as its SKILL.md."""

    name: str = field("of the folder")
    description: str = field("what it does and when it is of use")
    text: str = field("the whole SKILL.md")
    memory: str = field("the id of the memory")
    title: str = field()
    space: str | None = field()
    source: str = field("who remembered it")
    worked: int = field("how often it was of use")
    failed: int = field("how often it was not")


@shape
class SkillList:
    """The procedures that were used and worked, those that did most often first."""

    text: str = field(TEXT_HELP)
    skills: Sequence[SkillEntry] = field()


@shape
class ImportOutcome:
    """What became of one item: a memory's id and its fate, or the error that refused it."""

    node_id: str | None = field("the id of the memory", left_out=True, default=None)
    outcome: Literal["written", "known", "revised", "kept", "forgotten"] | None = field(
        left_out=True, default=None
    )
    note: str | None = field(left_out=True, default=None)
    error: MadeleineError | None = field("why it was refused", left_out=True, default=None)


@shape
class ImportReport:
    """What became of everything that was brought in."""

    text: str = field(TEXT_HELP)
    run: str = field("what `undo` takes back")
    results: Sequence[ImportOutcome] = field()
    counts: Mapping[str, int] = field("by what became of them")


@shape
class ExportedMemory:
    """A memory as its own fields; what is not set is left out."""

    id: str = field()
    type: MemoryType = field()
    tier: Tier = field()
    space: str | None = field(left_out=True, default=None)
    title: str | None = field(left_out=True, default=None)
    content: str = field()
    tags: Sequence[str] | None = field(left_out=True, default=None)
    source: str | None = field(left_out=True, default=None)
    confidence: float = field()
    created: TimeText = field()
    updated: TimeText = field()
    valid_until: TimeText | None = field(left_out=True, default=None)
    superseded_by: str | None = field(left_out=True, default=None)
    origin: Mapping[str, object] | None = field(left_out=True, default=None)
    claim: Mapping[str, object] | None = field(left_out=True, default=None)
    idempotency_key: str | None = field(left_out=True, default=None)
    connections: Sequence[Connection] | None = field(left_out=True, default=None)
    path: str = field("its file")
    usage: Mapping[str, object] | None = field(
        "what the journal says of it", left_out=True, default=None
    )
    file: str | None = field(
        "the text of its file, where it says more", left_out=True, default=None
    )
    trashed: bool | None = field(left_out=True, default=None)


@shape
class ExportPage:
    """A page of memories with all that belongs to them, in the order of their ids."""

    text: str = field(TEXT_HELP)
    items: Sequence[Annotated[Mapping[str, object], ExportedMemory]] = field()
    next: str | None = field("from where to go on; null when these were the last")
    total: int = field()


@shape
class BackupReport:
    """A backup that was made."""

    text: str = field(TEXT_HELP)
    path: str = field()
    made: TimeText = field()
    memories: int = field()
    files: int = field()
    bytes: int = field()
    removed: Sequence[str] = field("backups that were let go")
    seconds: float = field()
    notes: Sequence[str] = field(NOTES_HELP)


@shape
class KeptBackup:
    """A backup that there is."""

    path: str = field()
    made: TimeText = field()
    bytes: int = field()


@shape
class RunningBackup:
    """How far a backup is."""

    id: Literal["backup"] = field()
    done: int = field()
    total: int = field()


@shape
class BackupList:
    """The backups that there are, newest first."""

    text: str = field(TEXT_HELP)
    folder: str = field()
    backups: Sequence[KeptBackup] = field()
    running: RunningBackup | None = field()


@shape
class FoundMemory:
    """A memory that was found in what was taken in."""

    title: str = field()
    content: str = field()
    type: MemoryType = field()
    tier: Tier = field()
    space: str | None = field()
    tags: Sequence[str] = field()
    about_self: bool = field()
    confidence: float = field()
    node_id: str | None = field("its id; in a dry run it has none", left_out=True, default=None)


@shape
class IngestReport:
    """What came of taking something in."""

    text: str = field(TEXT_HELP)
    status: Literal["processed", "dry_run"] = field()
    extracted: int = field("how many memories are new")
    memories: tuple[FoundMemory, ...] = field("those that are new")
    revised: tuple[str, ...] = field("ids")
    retired: tuple[str, ...] = field("ids")
    known: int = field()
    refused: int = field()
    redacted: int = field("secrets that were taken out")
    held_back: int = field("what was left for later")
    notes: tuple[str, ...] = field(NOTES_HELP)


# -- people --------------------------------------------------------------------------------


@shape
class PersonEntry:
    """A person, and the role they have in shared spaces."""

    name: str = field()
    created: TimeText = field()
    spaces: Mapping[str, str] = field()


@shape
class PeopleList:
    """The people who have a memory of their own in this database."""

    text: str = field(TEXT_HELP)
    people: Sequence[PersonEntry] = field()
    server: str = field("the name of the server's own memory")


@shape
class AddedPerson:
    """A person who was given a memory of their own."""

    text: str = field(TEXT_HELP)
    person: PersonEntry = field()
    kept: int = field("memories that were kept under this name")


@shape
class RemovedPerson:
    """A person who is let in no more."""

    text: str = field(TEXT_HELP)
    name: str = field()
    erased: bool = field("whether their memory is gone")


@shape
class TokenEntry:
    """A token of a client."""

    id: str = field()
    name: str = field("what it is for")
    person: str = field("whose memory it opens")
    role: str = field()
    created: TimeText = field()
    last_used: TimeText | None = field()


@shape
class TokenList:
    """Tokens: your own, to an admin everybody's."""

    text: str = field(TEXT_HELP)
    tokens: Sequence[TokenEntry] = field()


@shape
class CreatedToken(TokenEntry):
    """A new token with its secret."""

    text: str = field(TEXT_HELP)
    token: str = field("the secret; it is told this once")


@shape
class RevokedToken(TokenEntry):
    """A token that lets nobody in any more."""

    text: str = field(TEXT_HELP)


@shape
class SharedSpace:
    """A space that several people share."""

    name: str = field()
    role: str | None = field("what you are in it")
    members: Mapping[str, str] = field("who shares it, and their roles")


@shape
class SharedSpaceList:
    """The spaces that you share with others."""

    text: str = field(TEXT_HELP)
    spaces: Sequence[SharedSpace] = field()


@shape
class JoinedSpace:
    """A person who was given a role in a shared space."""

    text: str = field(TEXT_HELP)
    space: str = field()
    person: str = field()
    role: str = field()
    kept: int = field("memories that were kept under this name")


@shape
class LeftSpace:
    """A person who left a shared space, or a space that nobody shares any more."""

    text: str = field(TEXT_HELP)
    space: str = field()
    person: str | None = field("who left", left_out=True, default=None)
    erased: bool | None = field("whether what was in it is gone", left_out=True, default=None)


@shape
class Stopping:
    """That the daemon ends."""

    stopping: bool = field()


@shape
class PageLink:
    """A link that signs a browser in to the page, once."""

    text: str = field(TEXT_HELP)
    url: str = field()
    seconds: float = field("how long it holds")
