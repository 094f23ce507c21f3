"""What came of taking something in, and the note of it in the journal (I8)."""

from __future__ import annotations

from dataclasses import dataclass, field

from madeleine.errors import MadeleineError
from madeleine.ingest.context import IngestContext
from madeleine.ingest.gate import build_usage_events
from madeleine.ingest.keeping import IngestFinding, Keeper
from madeleine.model.codec import Json
from madeleine.model.event import Event, EventKind
from madeleine.write.record import new_event, record_events

KEPT_SHOWN = 100  # ids that a note in the journal names


@dataclass(slots=True)
class IngestOutcome:
    """What a run did with a conversation or a file."""

    dry_run: bool = False
    kept: list[str] = field(default_factory=list)
    found: list[IngestFinding] = field(default_factory=list)
    """What was kept, or in a dry run would be."""
    revised: list[str] = field(default_factory=list)
    retired: list[str] = field(default_factory=list)
    known: int = 0
    refused: int = 0
    redacted: int = 0
    """Secrets that were taken out before anything was written."""
    excluded: int = 0
    """What the settings keep out."""
    why_excluded: str = ""
    held_back: int = 0
    """What there was no room for."""
    waits: bool = False
    """Whether that waits where it stands, and is taken in once there is room."""
    unreadable: int = 0
    """Lines that are no words anybody can read."""
    stopped: str | None = None
    stopped_kind: str | None = None
    """A kind of error, or an `IntakeStop`."""
    problems: dict[str, int] = field(default_factory=dict)
    """What the language model did not do, in words, and how often."""

    def tally(self, keeper: Keeper) -> None:
        """Take over what a keeper counted."""
        self.kept, self.found = keeper.kept, keeper.found
        self.known, self.refused = self.known + keeper.known, keeper.refused
        self.redacted = keeper.redacted
        self.excluded, self.why_excluded = keeper.excluded, keeper.why_excluded

    def stop(self, error: MadeleineError) -> None:
        """Note why the rest is left out."""
        self.stopped, self.stopped_kind = error.message, error.kind

    @property
    def changed(self) -> bool:
        return bool(self.kept or self.revised or self.retired)

    def to_json(self) -> Json:
        """As the journal keeps it."""
        return {
            "kept": self.kept[:KEPT_SHOWN],
            "revised": self.revised[:KEPT_SHOWN],
            "retired": self.retired[:KEPT_SHOWN],
            "known": self.known,
            "refused": self.refused,
            "redacted": self.redacted,
            "excluded": self.excluded,
            "held_back": self.held_back,
            "stopped": self.stopped,
            "stopped_kind": self.stopped_kind,
            "problems": self.problems,
        }


def record_ingest(
    intake: IngestContext,
    done: IngestOutcome,
    what: str,
    by_day: int = 0,
    state: Event | None = None,
) -> None:
    """Write down what was done, what counts for the day, and the new state of what it is about."""
    marks = [] if state is None else [state]
    stores = intake.stores
    tokens, done.problems = intake.spent()
    if not done.dry_run and (done.changed or done.stopped):
        told = {"what": what, **done.to_json()}
        body = {"run": stores.new_id(), "job": "ingest", "report": told}
        marks = [*marks, new_event(stores, EventKind.RUN, body)]
    with stores.writing:
        marks = [*marks, *build_usage_events(stores, by_day, tokens)]
        if marks:
            record_events(stores, marks, durable=False)
