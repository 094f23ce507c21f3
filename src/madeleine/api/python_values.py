"""What the Python face returns beside the answers themselves: lists with what belongs to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields

from madeleine.api.contract.responses import (
    JobReport,
    LookAlike,
    MemoryPage,
    RecallAnswer,
    RecallHit,
    RememberedMemory,
    SleepRun,
)
from madeleine.model.memory import Connection, Memory


@dataclass(frozen=True, slots=True, eq=False)
class WrittenMemory(Memory):
    """A memory that was just remembered, and what that did. It equals the memory that it is."""

    change: str | None = None
    """What `undo` takes back; None if the text was known already."""
    existing: bool = False
    """Whether it was known already; nothing was written then."""
    linked: tuple[Connection, ...] = ()
    """Connections that were drawn by themselves."""
    notes: tuple[str, ...] = ()
    notes_parts: tuple[Mapping[str, object], ...] = ()
    """What each note is made of, with its `kind`."""
    similar: tuple[LookAlike, ...] = ()
    """Memories that it is like, the most similar first."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Memory):
            return NotImplemented
        names = [each.name for each in fields(Memory)]
        return all(getattr(self, name) == getattr(other, name) for name in names)

    __hash__ = Memory.__hash__


class RecallHits(list[RecallHit]):
    """The hits, best first. When there are none, `silence` says why; `notes` say what is
    degraded; `why_not` says why a memory that was asked for is not among them; `folded` is how many
    more were found below the floor. The `parts` of a sentence have its `kind`, for programs."""

    def __init__(
        self,
        hits: Iterable[RecallHit] = (),
        silence: str | None = None,
        notes: Iterable[str] = (),
        why_not: str | None = None,
        silence_parts: Mapping[str, object] | None = None,
        notes_parts: Iterable[Mapping[str, object]] = (),
        folded: int = 0,
    ) -> None:
        super().__init__(hits)
        self.folded = folded
        self.silence = silence
        self.silence_parts = silence_parts
        self.notes = tuple(notes)
        self.notes_parts = tuple(notes_parts)
        self.why_not = why_not


class MemoryList(list[Memory]):
    """Some of the memories that a listing has; `total` says how many there are."""

    def __init__(self, memories: Iterable[Memory], total: int) -> None:
        super().__init__(memories)
        self.total = total


class SleepReports(list[JobReport]):
    """The reports of the jobs that ran, in order; `status` is finished or stopped. `undo` with
    `request` takes all of it back."""

    def __init__(self, reports: Iterable[JobReport], status: str, request: str = "") -> None:
        super().__init__(reports)
        self.status = status
        self.request = request


def build_written_memory(answer: RememberedMemory) -> WrittenMemory:
    """Return a memory with what remembering it did."""
    memory = {each.name: getattr(answer.memory, each.name) for each in fields(Memory)}
    return WrittenMemory(
        **memory,
        change=answer.change,
        existing=answer.existing,
        linked=answer.linked,
        notes=answer.notes,
        notes_parts=answer.notes_parts,
        similar=answer.similar,
    )


def build_recall_hits(answer: RecallAnswer) -> RecallHits:
    return RecallHits(
        answer.results,
        answer.silence,
        answer.notes,
        answer.why_not,
        answer.silence_parts,
        answer.notes_parts,
        answer.folded,
    )


def build_memory_list(answer: MemoryPage) -> MemoryList:
    return MemoryList(answer.memories, answer.total)


def build_sleep_reports(answer: SleepRun) -> SleepReports:
    return SleepReports(answer.reports, answer.status, answer.request)
