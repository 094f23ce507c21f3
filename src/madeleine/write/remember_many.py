"""Remember many: one answer per draft, in order, whatever becomes of the others.

Texts are embedded in chunks ahead of the writing, in another thread, so that the model and
the disk work at the same time. The files of a group are written together and the index
follows in one transaction. Stopping halfway is safe: each file stands for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeAlias

from madeleine.errors import MadeleineError
from madeleine.model.draft import Draft
from madeleine.model.vector import Vector
from madeleine.rules.text import embedded_text, same_text_key
from madeleine.write.commit import New, commit_all_new
from madeleine.write.embedding import embed_texts
from madeleine.write.heal import heal
from madeleine.write.identity import ensure_self
from madeleine.write.linking import Beside
from madeleine.write.remember import Remembered, as_memory, find_known, new_file, written
from madeleine.write.stores import Stores

# Drafts embedded ahead, and then written together: enough to keep every core busy; little to
# lose on a kill, and others wait for the lock a tenth of a second at most.
CHUNK = 32

Outcome = Remembered | MadeleineError
Embedded: TypeAlias = "tuple[list[Vector | None], str | None]"


def remember_many(
    stores: Stores,
    drafts: Sequence[Draft],
    progress: Callable[[int], None] = lambda done: None,
) -> list[Outcome]:
    """Write the drafts in order; a draft that is refused leaves its error in its place."""
    heal(stores)
    coming = {draft.id: draft.id for draft in drafts if draft.id is not None}
    outcomes: list[Outcome] = []
    for chunk, (vectors, problem) in _embedded_ahead(stores, drafts):
        pairs = list(zip(chunk, vectors, strict=True))
        outcomes += _write_group(stores, pairs, problem, coming)
        progress(len(outcomes))
    return outcomes


def _write_group(
    stores: Stores,
    pairs: Sequence[tuple[Draft, Vector | None]],
    problem: str | None,
    coming: Mapping[str, str],
) -> list[Outcome]:
    if any(draft.about_self for draft, _ in pairs):
        ensure_self(stores)
    group = _Group(stores, coming)
    with stores.writing:
        for draft, vector in pairs:
            group.add(draft, vector)
        group.write()
    return [each.outcome(stores, problem) for each in group.places]


@dataclass(slots=True)
class _Place:
    """One draft's place in the answer: what came of it, or what is being written for it."""

    done: Outcome | None = None
    new: New | None = None

    def outcome(self, stores: Stores, problem: str | None) -> Outcome:
        if self.done is not None:
            return self.done
        assert self.new is not None
        return written(stores, self.new.memory, self.new.change, problem)


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

    def add(self, draft: Draft, vector: Vector | None) -> None:
        place = _Place()
        self.places.append(place)
        marks = _marks(draft)
        if not self._taken.isdisjoint(marks):
            self.write()
        try:
            place.done = find_known(self._stores, draft)
            if place.done is None:
                self._plan(place, draft, vector)
                self._taken |= marks
        except MadeleineError as refused:
            place.done = refused

    def _plan(self, place: _Place, draft: Draft, vector: Vector | None) -> None:
        memory = as_memory(self._stores, draft, vector, self._coming, self._beside)
        change = new_file(self._stores, memory, draft.source)
        if ("path", change.edits[0].path_after) in self._taken:
            self.write()
            change = new_file(self._stores, memory, draft.source)
        self._taken.add(("path", change.edits[0].path_after))
        place.new = New(memory, change, vector)
        self._waiting.append(place)
        if vector is not None:
            self._beside.append(Beside(memory.id, memory.space, vector))

    def write(self) -> None:
        """Write what waits."""
        new = [each.new for each in self._waiting if each.new is not None]
        if new:
            refused = commit_all_new(self._stores, new)
            for each in self._waiting:
                each.done = refused.get(each.new.change.id) if each.new else None
        self._waiting, self._beside, self._taken = [], [], set()


def _marks(draft: Draft) -> set[object]:
    """Return by what a later draft could turn out to be the same as this one."""
    marks: set[object] = {("text", draft.space, same_text_key(draft.content))}
    if draft.id is not None:
        marks.add(("id", draft.id))
    if draft.idempotency_key is not None:
        marks.add(("key", draft.idempotency_key))
    return marks


def _embedded_ahead(
    stores: Stores, drafts: Sequence[Draft]
) -> Iterator[tuple[Sequence[Draft], Embedded]]:
    """Give each chunk with its vectors, while the next chunk's are being made."""
    chunks = [drafts[start : start + CHUNK] for start in range(0, len(drafts), CHUNK)]
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="embed-ahead") as ahead:
        waiting = [ahead.submit(_embed, stores, chunk) for chunk in chunks[:1]]
        for number, chunk in enumerate(chunks):
            if number + 1 < len(chunks):
                waiting.append(ahead.submit(_embed, stores, chunks[number + 1]))
            yield chunk, waiting.pop(0).result()


def _embed(stores: Stores, chunk: Sequence[Draft]) -> Embedded:
    return embed_texts(stores, [embedded_text(draft.title, draft.content) for draft in chunk])
