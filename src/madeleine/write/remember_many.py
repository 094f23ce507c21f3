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
from madeleine.language.text_keys import same_text_key
from madeleine.model.cause import Cause
from madeleine.model.draft import Draft
from madeleine.model.memory import Memory
from madeleine.write.change_file import retry_on_conflict
from madeleine.write.claims import settle_claim
from madeleine.write.commit import NewMemory, commit_new_memories
from madeleine.write.embedding import (
    PassageEmbeddings,
    embed_memories,
    neighbour_vector,
    split_by_size,
)
from madeleine.write.identity import ensure_self
from madeleine.write.linking import PendingMemory
from madeleine.write.pending_repairs import run_pending_repairs
from madeleine.write.remember import (
    ConnectedMemory,
    NewMemoryWrite,
    RememberResult,
    build_memory,
    connect_memory,
    find_known,
    finish_remember,
    plan_new_file,
    settle_known,
    write_new,
)
from madeleine.write.stores import Stores

# Drafts read ahead, and then written together: enough to keep every core busy; little to
# lose on a kill, and others wait for the lock a tenth of a second at most.
BATCH_SIZE = 32
BATCH_CHARS = 200_000  # of long ones fewer: a few seconds of reading

RememberOutcome = RememberResult | MadeleineError
DraftAndMemory: TypeAlias = tuple[Draft, Memory]
"""A draft, and the memory it becomes."""


def remember_many(
    stores: Stores,
    drafts: Sequence[Draft],
    progress: Callable[[int], None] = lambda done: None,
) -> list[RememberOutcome]:
    """Write the drafts in order; a draft that is refused leaves its error in its place."""
    run_pending_repairs(stores)
    coming = {draft.id: draft.id for draft in drafts if draft.id is not None}
    outcomes: list[RememberOutcome] = []
    for pairs, traces, unread in _embed_ahead(stores, drafts):
        outcomes += _write_batch(stores, pairs, traces, unread, coming)
        progress(len(outcomes))
    return outcomes


def _write_batch(
    stores: Stores,
    pairs: Sequence[DraftAndMemory],
    traces: Sequence[PassageEmbeddings],
    unread: tuple[Cause, ...],
    coming: Mapping[str, str],
) -> list[RememberOutcome]:
    if any(draft.about_self for draft, _ in pairs):
        ensure_self(stores)
    group = _DraftBatch(stores, coming)
    with stores.writing:
        for (draft, memory), made in zip(pairs, traces, strict=True):
            group.add(draft, memory, made)
        group.write()
    return [each.outcome(stores, unread) for each in group.places]


@dataclass(slots=True)
class _DraftSlot:
    """One draft's place in the answer: what came of it, or what is being written for it."""

    done: RememberOutcome | None = None
    new: NewMemory | None = None
    notes: tuple[Cause, ...] = ()

    def outcome(self, stores: Stores, unread: tuple[Cause, ...]) -> RememberOutcome:
        if self.done is not None:
            return self.done
        assert self.new is not None
        return finish_remember(
            stores, NewMemoryWrite(self.new.memory, self.new.change, self.notes), unread
        )


class _DraftBatch:
    """Drafts that are written together. The index knows nothing of those that wait, so one
    that may be the same as another, or wants its name, has them written first."""

    def __init__(self, stores: Stores, coming: Mapping[str, str]) -> None:
        self.places: list[_DraftSlot] = []
        self._stores = stores
        self._coming = coming
        self._waiting: list[_DraftSlot] = []
        self._beside: list[PendingMemory] = []
        self._taken: set[object] = set()

    def add(self, draft: Draft, memory: Memory, traces: PassageEmbeddings) -> None:
        place = _DraftSlot()
        self.places.append(place)
        marks = _identity_marks(draft)
        if draft.replaces or not self._taken.isdisjoint(marks):
            self.write()
        try:
            known = find_known(self._stores, draft)
            if known is not None:
                place.done = settle_known(self._stores, draft, known)
            else:
                self._plan(place, draft, memory, traces)
                self._taken |= marks
        except MadeleineError as refused:
            place.done = refused

    def _plan(
        self, place: _DraftSlot, draft: Draft, memory: Memory, traces: PassageEmbeddings
    ) -> None:
        made = connect_memory(self._stores, draft, memory, traces, self._coming, self._beside)
        settled = settle_claim(self._stores, made.memory)
        if settled.edits or made.replaced:
            self._write_alone(place, draft, made, traces)
            return
        change = plan_new_file(self._stores, settled, draft.source)
        if ("path", change.edits[0].path_after) in self._taken:
            self.write()
            change = plan_new_file(self._stores, settled, draft.source)
        self._taken.add(("path", change.edits[0].path_after))
        place.new, place.notes = NewMemory(settled.memory, change, traces), settled.notes
        self._waiting.append(place)
        vector = neighbour_vector(traces)
        if vector is not None:
            self._beside.append(PendingMemory(memory.id, memory.space, vector))

    def _write_alone(
        self, place: _DraftSlot, draft: Draft, made: ConnectedMemory, traces: PassageEmbeddings
    ) -> None:
        """Write a memory that changes other files too, after those that wait."""
        self.write()
        new = retry_on_conflict(lambda: write_new(self._stores, made, traces, draft.source))
        place.new, place.notes = NewMemory(new.memory, new.change, traces), new.notes

    def write(self) -> None:
        """Write what waits."""
        new = [each.new for each in self._waiting if each.new is not None]
        if new:
            refused = commit_new_memories(self._stores, new)
            for each in self._waiting:
                each.done = refused.get(each.new.change.id) if each.new else None
        self._waiting, self._beside, self._taken = [], [], set()


def _identity_marks(draft: Draft) -> set[object]:
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


def _embed_ahead(
    stores: Stores, drafts: Sequence[Draft]
) -> Iterator[tuple[Sequence[DraftAndMemory], Sequence[PassageEmbeddings], tuple[Cause, ...]]]:
    """Give each chunk with its traces, while the next chunk's are being made."""
    chunks = list(split_by_size(drafts, lambda draft: len(draft.content), BATCH_SIZE, BATCH_CHARS))

    def begin(
        number: int,
    ) -> tuple[list[DraftAndMemory], Future[tuple[list[PassageEmbeddings], tuple[Cause, ...]]]]:
        pairs = [(draft, build_memory(stores, draft)) for draft in chunks[number]]
        memories = [memory for _, memory in pairs]
        return pairs, ahead.submit(embed_memories, stores, memories)

    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="embed-ahead") as ahead:
        waiting = [begin(0)] if chunks else []
        for following in range(1, len(chunks) + 1):
            if following < len(chunks):
                waiting.append(begin(following))
            pairs, reading = waiting.pop(0)
            traces, unread = reading.result()
            yield pairs, traces, unread
