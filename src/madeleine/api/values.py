"""What the Python face returns: the daemon's JSON as values with names and types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import cast

from madeleine.api.wire import error_from_json
from madeleine.errors import MadeleineError
from madeleine.model.codec import Json, memory_from_json
from madeleine.model.event import Event, Kind
from madeleine.model.memory import Memory
from madeleine.model.proposal import Proposal, ProposalStatus, ProposalType
from madeleine.model.times import parse_time
from madeleine.model.words import Edge


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that answers a question, how well from 0 to 1, and why."""

    memory: Memory
    score: float
    reasons: tuple[str, ...]
    match: Mapping[str, float] = field(default_factory=dict)
    passage: Mapping[str, object] | None = None
    """Of a long memory the piece that answers: `start`, `end` and `text`."""
    explained: Mapping[str, object] | None = None
    """Every number behind the score, when that was asked for."""


class Hits(list[Hit]):
    """The hits, best first. When there are none, `silence` says why; `notes` say what is
    degraded; `why_not` says why a memory that was asked for is not among them."""

    def __init__(
        self,
        hits: Iterable[Hit] = (),
        silence: str | None = None,
        notes: Iterable[str] = (),
        why_not: str | None = None,
    ) -> None:
        super().__init__(hits)
        self.silence = silence
        self.notes = tuple(notes)
        self.why_not = why_not


@dataclass(frozen=True, slots=True)
class Injected:
    """A memory that was whispered: in full, or by its title only."""

    memory: Memory
    score: float
    full: bool
    explorer: bool = False


@dataclass(frozen=True, slots=True)
class Whisper:
    """What is worth saying before a prompt is answered. An empty text is silence, and
    `silence` says why."""

    text: str
    whisper_id: str
    injected: tuple[Injected, ...]
    silence: str | None
    stage: str
    took_ms: float
    explained: Mapping[str, object] = field(default_factory=dict)


class Page(list[Memory]):
    """Some of the memories that a listing has; `total` says how many there are."""

    def __init__(self, memories: Iterable[Memory], total: int) -> None:
        super().__init__(memories)
        self.total = total


@dataclass(frozen=True, slots=True)
class Link:
    """A connection as one of its two ends sees it."""

    source: str
    target: str
    edge: Edge
    weight: float
    direction: str
    """`out` or `in`."""
    reason: str | None = None
    by: str | None = None
    at: datetime | None = None
    kind: str | None = None
    confidence: float | None = None
    resolved: bool = True
    implied: bool = False
    title: str | None = None
    """The headline of the other end."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A memory whole: the file it stands in, its connections both ways, its neighbours."""

    memory: Memory
    path: str
    connections: tuple[Link, ...]
    neighbours: tuple[Memory, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one draft among many: a memory's id, or the error that refused it."""

    id: str | None = None
    existing: bool = False
    error: MadeleineError | None = None


@dataclass(frozen=True, slots=True)
class Changed:
    """A memory after a change. No `change`: it was so already and nothing was written."""

    memory: Memory
    change: str | None
    notes: tuple[str, ...] = ()
    trash_path: str | None = None
    """Where a forgotten memory's file is."""
    removed: str | None = None
    """The id of the memory that a merge took away."""


@dataclass(frozen=True, slots=True)
class Undone:
    """Which changes were taken back, the memories concerned, and the change that did it."""

    change: str
    undone: tuple[str, ...]
    memories: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Decided:
    """A proposal after its decision, and the change that carried it out."""

    proposal: Proposal
    change: str | None


@dataclass(frozen=True, slots=True)
class ShownProposal:
    """A proposal, the difference it would make to files, and why it cannot be done, if so."""

    proposal: Proposal
    difference: str
    problem: str | None


@dataclass(frozen=True, slots=True)
class JobReport:
    """What one run of a job did, or in a dry run would do."""

    job: str
    run: str
    began: datetime
    dry_run: bool
    seconds: float
    looked: int
    judged: int
    applied: int
    proposed: int
    skipped: int
    stopped: str | None = None
    error: str | None = None
    problems: Mapping[str, int] = field(default_factory=dict)
    counts: Mapping[str, object] = field(default_factory=dict)
    patches: tuple[Mapping[str, object], ...] = ()


class Slept(list[JobReport]):
    """The reports of the jobs that ran, in order; `status` is finished or stopped. `undo` with
    `request` takes all of it back."""

    def __init__(self, reports: Iterable[JobReport], status: str, request: str = "") -> None:
        super().__init__(reports)
        self.status = status
        self.request = request


@dataclass(frozen=True, slots=True)
class Ingested:
    """What came of taking something in. `memories` are those that are new; in a dry run they
    have no `node_id`."""

    text: str
    memories: tuple[Mapping[str, object], ...]
    revised: tuple[str, ...]
    retired: tuple[str, ...]
    known: int
    redacted: int
    held_back: int
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """What a reconcile or a rebuild did."""

    files: int
    written: int
    dropped: int
    unchanged: int
    unreadable: tuple[str, ...]
    notes: tuple[str, ...]
    seconds: float | None = None


def read_hits(answer: Json) -> Hits:
    hits = [
        Hit(
            memory_from_json(cast("Json", each["memory"])),
            cast("float", each["score"]),
            _texts(each["reasons"]),
            cast("Mapping[str, float]", each["match"]),
            cast("Mapping[str, object] | None", each["passage"]),
            cast("Mapping[str, object] | None", each.get("explained")),
        )
        for each in _objects(answer["results"])
    ]
    silence, why_not = (cast("str | None", answer[name]) for name in ("silence", "why_not"))
    return Hits(hits, silence, _texts(answer["notes"]), why_not)


def read_whisper(answer: Json) -> Whisper:
    injected = tuple(
        Injected(
            memory_from_json(cast("Json", each["memory"])),
            cast("float", each["score"]),
            bool(each["full"]),
            bool(each["explorer"]),
        )
        for each in _objects(answer["injected"])
    )
    return Whisper(
        text=str(answer["text"]),
        whisper_id=str(answer["whisper_id"]),
        injected=injected,
        silence=cast("str | None", answer["silence"]),
        stage=str(answer["stage"]),
        took_ms=cast("float", answer["took_ms"]),
        explained=cast("Mapping[str, object]", answer.get("explained") or {}),
    )


def read_memory(answer: Json) -> Memory:
    return memory_from_json(cast("Json", answer["memory"]))


def read_page(answer: Json) -> Page:
    memories = [memory_from_json(each) for each in _objects(answer["memories"])]
    return Page(memories, cast("int", answer["total"]))


def read_shown(answer: Json) -> Shown:
    return Shown(
        read_memory(answer),
        str(answer["path"]),
        tuple(_link(each) for each in _objects(answer["connections"])),
        tuple(memory_from_json(each) for each in _objects(answer["neighbours"])),
    )


def _link(values: Json) -> Link:
    at = values["at"]
    typed = {"edge": Edge(str(values["edge"])), "at": at and parse_time("at", at)}
    known = {each.name for each in fields(Link)}
    given = {name: each for name, each in values.items() if name in known}
    return Link(**{**given, **typed})  # type: ignore[arg-type]  # our own answer


def read_outcome(values: Json) -> Outcome:
    given = values.get("error")
    if isinstance(given, dict):
        return Outcome(error=error_from_json(given))
    return Outcome(str(values["node_id"]), values["existing"] is True)


def read_changed(answer: Json) -> Changed:
    return Changed(
        read_memory(answer),
        cast("str | None", answer["change"]),
        _texts(answer.get("notes", [])),
        cast("str | None", answer.get("trash_path")),
        cast("str | None", answer.get("removed")),
    )


def read_undone(answer: Json) -> Undone:
    return Undone(str(answer["change"]), _texts(answer["undone"]), _texts(answer["memories"]))


def read_events(answer: Json) -> list[Event]:
    return [
        Event(
            id=str(each["id"]),
            at=parse_time("at", each["at"]),
            kind=Kind(str(each["kind"])),
            device=str(each["device"]),
            body=cast("Json", each["body"]),
        )
        for each in _objects(answer["events"])
    ]


def read_proposal(values: Json) -> Proposal:
    resolved = values["resolved"]
    return Proposal(
        id=str(values["id"]),
        type=ProposalType(str(values["type"])),
        source_nodes=_texts(values["source_nodes"]),
        proposed_action=str(values["proposed_action"]),
        created=parse_time("created", values["created"]),
        status=ProposalStatus(str(values["status"])),
        reason=cast("str | None", values["reason"]),
        resolved=None if resolved is None else parse_time("resolved", resolved),
        action=tuple(sorted(cast("dict[str, str]", values["action"]).items())),
    )


def read_proposals(answer: Json) -> list[Proposal]:
    return [read_proposal(each) for each in _objects(answer["proposals"])]


def read_decided(answer: Json) -> Decided:
    proposal = read_proposal(cast("Json", answer["proposal"]))
    return Decided(proposal, cast("str | None", answer["change"]))


def read_shown_proposal(answer: Json) -> ShownProposal:
    proposal = read_proposal(cast("Json", answer["proposal"]))
    return ShownProposal(proposal, str(answer["difference"]), cast("str | None", answer["problem"]))


def read_ingested(answer: Json) -> Ingested:
    """Return what came of taking something in."""
    return Ingested(
        text=str(answer["text"]),
        memories=tuple(_objects(answer["memories"])),
        revised=tuple(cast("list[str]", answer["revised"])),
        retired=tuple(cast("list[str]", answer["retired"])),
        known=cast("int", answer["known"]),
        redacted=cast("int", answer["redacted"]),
        held_back=cast("int", answer["held_back"]),
        notes=tuple(cast("list[str]", answer["notes"])),
    )


def read_slept(answer: Json) -> Slept:
    reports = [_job_report(each) for each in _objects(answer["reports"])]
    return Slept(reports, str(answer["status"]), str(answer["request"]))


def _job_report(given: Json) -> JobReport:
    known = {each.name for each in fields(JobReport)}
    typed = {
        "began": parse_time("began", given["began"]),
        "patches": tuple(_objects(given["patches"])),
    }
    plain = {name: value for name, value in given.items() if name in known}
    return JobReport(**{**plain, **typed})  # type: ignore[arg-type]  # our own answer


def read_report(answer: Json) -> Report:
    return Report(
        files=cast("int", answer["files"]),
        written=cast("int", answer["written"]),
        dropped=cast("int", answer["dropped"]),
        unchanged=cast("int", answer["unchanged"]),
        unreadable=_texts(answer["unreadable"]),
        notes=_texts(answer["notes"]),
        seconds=cast("float | None", answer.get("seconds")),
    )


def _objects(value: object) -> list[Json]:
    return cast("list[Json]", value)


def _texts(value: object) -> tuple[str, ...]:
    return tuple(cast("list[str]", value))
