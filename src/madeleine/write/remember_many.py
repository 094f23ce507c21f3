"""Remember many: one answer per draft, in order, whatever becomes of the others.

Texts are read by the model in chunks ahead of the writing, in another thread, so that the
model and the disk work at the same time. The files of a group are written together and the index
follows in one transaction. Stopping halfway is safe: each file stands for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeAlias

from madeleine.errors import MadeleineError
from madeleine.language.claims import claim_address
from madeleine.language.text import same_text_key
from madeleine.model.cause import Cause
from madeleine.model.draft import Draft
from madeleine.model.memory import Memory
from madeleine.write.change_file import persistently
from madeleine.write.claims import settle
from madeleine.write.commit import New, commit_all_new
from madeleine.write.embedding import Traces, meaning, portions, read_memories
from madeleine.write.heal import heal
from madeleine.write.identity import ensure_self
from madeleine.write.linking import Beside
from madeleine.write.remember import (
    Remembered,
    Written,
    as_memory,
    connected,
    find_known,
    new_file,
    write_new,
    written,
)
from madeleine.write.stores import Stores

# Drafts read ahead, and then written together: enough to keep every core busy; little to
# lose on a kill, and others wait for the lock a tenth of a second at most.
CHUNK = 32
CHUNK_CHARS = 200_000  # of long ones fewer: a few seconds of reading

Outcome = Remembered | MadeleineError
Pair: TypeAlias = tuple[Draft, Memory]
"""A draft, and the memory it becomes."""


def remember_many(
    stores: Stores,
    drafts: Sequence[Draft],
    progress: Callable[[int], None] = lambda done: None,
) -> list[Outcome]:
    """Write the drafts in order; a draft that is refused leaves its error in its place."""
    heal(stores)
    coming = {draft.id: draft.id for draft in drafts if draft.id is not None}
    outcomes: list[Outcome] = []
    for pairs, traces, unread in _read_ahead(stores, drafts):
        outcomes += _write_group(stores, pairs, traces, unread, coming)
        progress(len(outcomes))
    return outcomes


def _write_group(
    stores: Stores,
    pairs: Sequence[Pair],
    traces: Sequence[Traces],
    unread: tuple[Cause, ...],
    coming: Mapping[str, str],
) -> list[Outcome]:
    if any(draft.about_self for draft, _ in pairs):
        ensure_self(stores)
    group = _Group(stores, coming)
    with stores.writing:
        for (draft, memory), made in zip(pairs, traces, strict=True):
            group.add(draft, memory, made)
        group.write()
    return [each.outcome(stores, unread) for each in group.places]


@dataclass(slots=True)
class _Place:
    """One draft's place in the answer: what came of it, or what is being written for it."""

    done: Outcome | None = None
    new: New | None = None
    notes: tuple[Cause, ...] = ()

    def outcome(self, stores: Stores, unread: tuple[Cause, ...]) -> Outcome:
        if self.done is not None:
            return self.done
        assert self.new is not None
        return written(stores, Written(self.new.memory, self.new.change, self.notes), unread)


class _Group:
    """Drafts that are written together. The index knows nothing of those that wait, so one
    that may be the same as another, or wants its name, has them written first."""

    def __init__(self, stores: Stores, coming: Mapping[str, str]) -> None:
        self.places: list[_Place] = []
        self._stores = stores
        self._coming = coming
        self._waiting: list[_Place] = []
        self._beside: list[Beside] = []
        self._taken: set[object] = set()

    def add(self, draft: Draft, memory: Memory, traces: Traces) -> None:
        place = _Place()
        self.places.append(place)
        marks = _marks(draft)
        if not self._taken.isdisjoint(marks):
            self.write()
        try:
            place.done = find_known(self._stores, draft)
            if place.done is None:
                self._plan(place, draft, memory, traces)
                self._taken |= marks
        except MadeleineError as refused:
            place.done = refused

    def _plan(self, place: _Place, draft: Draft, memory: Memory, traces: Traces) -> None:
        memory = connected(self._stores, draft, memory, traces, self._coming, self._beside)
        settled = settle(self._stores, memory)
        if settled.edits:
            self._write_alone(place, draft, memory, traces)
            return
        change = new_file(self._stores, settled, draft.source)
        if ("path", change.edits[0].path_after) in self._taken:
            self.write()
            change = new_file(self._stores, settled, draft.source)
        self._taken.add(("path", change.edits[0].path_after))
        place.new, place.notes = New(settled.memory, change, traces), settled.notes
        self._waiting.append(place)
        vector = meaning(traces)
        if vector is not None:
            self._beside.append(Beside(memory.id, memory.space, vector))

    def _write_alone(self, place: _Place, draft: Draft, memory: Memory, traces: Traces) -> None:
        """Write a memory whose claim changes other files too, after those that wait."""
        self.write()
        new = persistently(lambda: write_new(self._stores, memory, traces, draft.source))
        place.new, place.notes = New(new.memory, new.change, traces), new.notes

    def write(self) -> None:
        """Write what waits."""
        new = [each.new for each in self._waiting if each.new is not None]
        if new:
            refused = commit_all_new(self._stores, new)
            for each in self._waiting:
                each.done = refused.get(each.new.change.id) if each.new else None
        self._waiting, self._beside, self._taken = [], [], set()


def _marks(draft: Draft) -> set[object]:
    """Return by what a later draft could turn out to be the same as this one, or to replace
    it."""
    marks: set[object] = {("text", draft.space, same_text_key(draft.content))}
    if draft.id is not None:
        marks.add(("id", draft.id))
    if draft.idempotency_key is not None:
        marks.add(("key", draft.idempotency_key))
    if draft.claim is not None:
        marks.add(("claim", claim_address(draft.claim)))
    return marks


def _read_ahead(
    stores: Stores, drafts: Sequence[Draft]
) -> Iterator[tuple[Sequence[Pair], Sequence[Traces], tuple[Cause, ...]]]:
    """Give each chunk with its traces, while the next chunk's are being made."""
    chunks = list(portions(drafts, lambda draft: len(draft.content), CHUNK, CHUNK_CHARS))

    def begin(number: int) -> tuple[list[Pair], Future[tuple[list[Traces], tuple[Cause, ...]]]]:
        pairs = [(draft, as_memory(stores, draft)) for draft in chunks[number]]
        memories = [memory for _, memory in pairs]
        return pairs, ahead.submit(read_memories, stores, memories)

    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="embed-ahead") as ahead:
        waiting = [begin(0)] if chunks else []
        for following in range(1, len(chunks) + 1):
            if following < len(chunks):
                waiting.append(begin(following))
            pairs, reading = waiting.pop(0)
            traces, unread = reading.result()
            yield pairs, traces, unread
