"""What a job works with: patches, the look that it plans from, and the report it leaves.

A job *plans* from reads only, asks a judge without any lock, and returns patches. Applying
them is the runner's business: each only if the memories it touches are still as planned.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from madeleine.errors import MadeleineError
from madeleine.minds.port import Judge
from madeleine.model.cause import Cause
from madeleine.model.memory import Connection, Memory
from madeleine.model.words import Tier
from madeleine.sleep.config import SleepConfig
from madeleine.write.stores import Stores


@dataclass(frozen=True, slots=True)
class AddConnections:
    """Connections that one memory's file gets. Each carries the job's name as `by`.

    `targets` are the other ends as they were judged, if the judgement depends on what they
    say: the link is drawn only if they still say it.
    """

    source: Memory
    connections: tuple[Connection, ...]
    targets: tuple[Memory, ...] = ()


@dataclass(frozen=True, slots=True)
class Merge:
    """One of two memories goes into the other. Without `content` the keeper's text stays."""

    keep: Memory
    drop: Memory
    title: str | None = None
    content: str | None = None


@dataclass(frozen=True, slots=True)
class Supersede:
    """The newer memory replaces the older: an `evolved_from` connection, and the older one
    is no longer true from the newer's time on."""

    older: Memory
    newer: Memory
    connection: Connection


@dataclass(frozen=True, slots=True)
class SetTier:
    memory: Memory
    tier: Tier


@dataclass(frozen=True, slots=True)
class SetSpace:
    memory: Memory
    space: str


@dataclass(frozen=True, slots=True)
class Synthesise:
    """A new memory says what its members say; they go to the archive and stay linked."""

    memory: Memory
    """As it will be written, with `derived_from` connections to all members."""
    members: tuple[Memory, ...]


@dataclass(frozen=True, slots=True)
class MoveToTrash:
    """A memory goes to the trash, from where it can be restored."""

    memory: Memory


@dataclass(frozen=True, slots=True)
class PutAway:
    """Several memories leave what is at hand, by one decision: they go to the archive, or to the
    trash."""

    archive: tuple[Memory, ...] = ()
    trash: tuple[Memory, ...] = ()


@dataclass(frozen=True, slots=True)
class RemoveConnection:
    """A connection that a job drew is taken away again."""

    source: Memory
    connection: Connection


@dataclass(frozen=True, slots=True)
class Summarise:
    """A summary of a cluster is written, or written anew. Its members stay as they are."""

    memory: Memory
    """As it will be, with `summarizes` connections to the members."""
    was: Memory | None
    """As it is; nothing for a new one."""
    read: tuple[Memory, ...]
    """The members that the text was made from: it is written only if they still say that."""


@dataclass(frozen=True, slots=True)
class Score:
    """New scores of memories, for the journal only, all of one name. `was` brings them back;
    what is not in it had none."""

    name: str
    scores: Mapping[str, float]
    was: Mapping[str, float]


Action = (
    AddConnections
    | Merge
    | Supersede
    | SetTier
    | SetSpace
    | Synthesise
    | MoveToTrash
    | PutAway
    | RemoveConnection
    | Summarise
    | Score
)


@dataclass(frozen=True, slots=True)
class Patch:
    """One change that a job would make, and why. It is made without asking only when the
    judge is `sure` enough for this kind of change; else it becomes a proposal."""

    action: Action
    reason: str
    sure: float = 1.0
    ask: bool = False
    """Whether a person should decide."""


class StopKind(StrEnum):
    """Why a run did not do all that it planned."""

    ASKED_TO_STOP = "asked_to_stop"
    """Somebody ended it."""
    TOO_MUCH_CHANGED = "too_much_changed"
    """`changed` of `of` memories would change, and `asked_lately` were asked about before; that is
    more than the `share` that a run may change by itself. `instead` is what it does."""
    TOO_MUCH_TRASHED = "too_much_trashed"
    """`trashed` of `of` memories that are not archived would go to the trash; likewise."""
    NO_ROOM_FOR_PROPOSALS = "no_room_for_proposals"
    """As many people are asked about already as may be; `without_room` wait."""
    PAIRS_WAIT = "pairs_wait"
    """There was no time to compare all; `memories` wait for a later run."""


class AskedInstead(StrEnum):
    """What a run does in the place of changing too much."""

    ALL = "asked_about_all"
    """About each of them."""
    SOME = "asked_about_some"
    """About `asked` of them."""
    LEAST_RELEVANT = "asked_about_least_relevant"
    """About those that are least relevant."""
    BEFORE = "asked_before"
    """A proposal about some of them waits already."""


QUIET = frozenset({"index_updater", "update_spotter"})
"""Jobs that come every few minutes: of their runs that found nothing to do one an hour is written
down, since half a million of them a year would fill the journal. The daemon knows them all."""
JUDGE_SILENT = "judge_silent"  # the kind of error of a run in which the judge never answered
STOPPED = Cause(StopKind.ASKED_TO_STOP)


@dataclass(slots=True)
class RunReport:
    """What a run did. `counts` are the job's own words and numbers."""

    job: str
    run: str
    began: datetime
    dry_run: bool = False
    request: str | None = None
    """The id of the night: of all runs for one request, or that were due together."""
    seconds: float = 0.0
    looked: int = 0
    judged: int = 0
    applied: int = 0
    proposed: int = 0
    skipped: int = 0
    """Patches whose memories changed meanwhile; they are planned anew the next time."""
    stopped: Cause | None = None
    """Why a run did not do all it planned: the breaker, or a request to stop (`STOPPED`)."""
    error: str | None = None
    error_kind: str | None = None
    """The kind of error, as docs/reference/kinds.md has it."""
    problems: dict[str, int] = field(default_factory=dict)
    counts: dict[str, object] = field(default_factory=dict)
    patches: list[dict[str, object]] = field(default_factory=list)
    """The patches as plain values: all of them in a dry run, with the difference each would
    make, else the first few."""

    @property
    def was_halted(self) -> bool:
        """Whether somebody asked it to stop before it was through."""
        return self.stopped is not None and self.stopped.kind == StopKind.ASKED_TO_STOP

    @property
    def idle(self) -> bool:
        """Whether the run found nothing to do and nothing to tell."""
        done = self.judged or self.applied or self.proposed or self.skipped
        return not (done or self.stopped or self.error or self.problems or self.counts)


def report_refusal(job: str, at: datetime, dry_run: bool, error: MadeleineError) -> RunReport:
    """Return the report of a run that could not begin."""
    return RunReport(job, "", at, dry_run, error=error.message, error_kind=error.kind)


@dataclass(slots=True)
class JobContext:
    """What a job may use. `judge` answers about pairs; `stop` says that somebody waits for
    the end; `progress` is told how far the job is."""

    stores: Stores
    config: SleepConfig
    judge: Judge
    report: RunReport
    now: datetime
    stop: Callable[[], bool] = lambda: False
    progress: Callable[[int, int], None] = lambda done, total: None
    due: bool = False
    """Whether nobody asked for the run: its time has come."""
    waits: bool = True
    """Whether memories get the time that they have before they fade. Who asks for a run with
    `now` does not wait."""
    again: set[str] = field(default_factory=set)
    """Memories that have to be looked at again: the judge had no answer, or a patch about
    them was not carried out. `seen.note_seen` leaves them out."""
    unanswered: dict[str, Memory] = field(default_factory=dict)
    """Memories of pairs for which a cheap judge had no time: a later run has."""
    out_of_time_at: float | None = None
    """When the time is over that is given to what earlier runs left, by this thread's CPU clock."""
    waiting: dict[str, None] = field(default_factory=dict)
    """Memories about which there is a question that nobody can be asked yet. They are looked
    at again when there is room for questions, and not before."""
    heavy: int = 0
    """Patches carried out by this run that count for the breaker."""
    changed: set[str] = field(default_factory=set)
    """Memories that they touched."""
    carried_out: list[Patch] = field(default_factory=list)
    """Patches that this run carried out; in a dry run, those that it would."""
    tell: Callable[[], None] = lambda: None
    """Puts into the report what became of the plan, from `carried_out`: a job that plans says
    here how. It is called when the patches were applied or shown, also if that was cut short."""
    let_go: set[str] = field(default_factory=set)
    """Memories that waited so and are not there any more, or no longer this job's business."""


class Job(Protocol):
    """One of the jobs."""

    @property
    def name(self) -> str: ...

    def plan(self, context: JobContext) -> Sequence[Patch]:
        """Return the patches this job would make now, those first that matter most. Reads
        only; `JobContext.report.counts` is for what it has to tell."""
        ...

    def done(self, context: JobContext) -> None:
        """Note what need not be looked at again; called after the patches were applied,
        never in a dry run."""
        ...
