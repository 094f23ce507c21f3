"""Systems that Everyday measures: Madeleine, and simple ones to hold it against.

A system is opened on one store at a time. It is told the store's memories once and then asked; it
answers with ids and scores, best first. `cosine` compares the shipped model's vectors, `fts5` is
SQLite's full-text search by BM25: both whisper their best three above a threshold that was fitted
on the stores for training (`--fit`), and recall their best ten. `_everyday_ormah` and
`_everyday_automem` are systems of others.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from _everyday_set import EverydayMemory, EverydayStore
from _recall_homes import Homes, digest, fill
from _recall_sets import Store, memory_id
from _recall_speed import model
from _sleep_homes import lent

from madeleine import Madeleine
from madeleine.model.embedding import Passage

MOST_WHISPERED = 3
MOST_RECALLED = 10


@dataclass(frozen=True, slots=True)
class ScoredId:
    """A memory that a system brought, by its id in the set."""

    id: str
    score: float


@dataclass(frozen=True, slots=True)
class Whispered:
    """What was said to a prompt, and what had been said earlier in its session."""

    now: tuple[ScoredId, ...]
    before: frozenset[str] = frozenset()
    brief: frozenset[str] | None = None
    """What a session is told at its start; None: the system has no such thing."""


class Asked(Protocol):
    """A system that holds one store."""

    def whisper(self, text: str, space: str | None, session: Sequence[str] = ()) -> Whispered:
        """Return what is said unasked to a prompt; `session` are the prompts before it."""

    def act(self, tool: str, target: str, space: str | None) -> Whispered:
        """Return what is said unasked before a tool is used."""

    def recall(self, text: str, space: str | None) -> list[ScoredId]:
        """Return what answers a question."""


class System(Protocol):
    """Something that can be measured on the set."""

    def opened(self, store: EverydayStore) -> AbstractContextManager[Asked]:
        """Lend the system with the memories of a store in it."""


# -- Madeleine -----------------------------------------------------------------------------


def draft_of(memory: EverydayMemory, store: str) -> dict[str, object]:
    """Return a memory of the set as one remembers it. What the set knows about it stays out."""
    return {
        "id": memory_id("everyday", store, memory.id),
        "content": memory.content,
        "type": memory.type,
        "space": memory.space,
        "title": memory.title,
        "tags": list(memory.tags),
        "about_self": memory.about_self,
        "created": memory.created,
    }


@dataclass(frozen=True, slots=True)
class MadeleineSystem:
    """Madeleine as shipped, in one process, by its public face."""

    homes: Homes
    after_night: bool = False
    """Whether a night goes by before anything is asked."""

    @contextmanager
    def opened(self, store: EverydayStore) -> Iterator[Asked]:
        drafts = tuple(draft_of(each, store.name) for each in store.memories)
        ids = {memory_id("everyday", store.name, each.id): each.id for each in store.memories}
        given = Store(f"everyday-{store.name}", drafts, ())
        if not self.after_night:
            with self.homes.of_store(given) as opened:
                yield MadeleineAsked(opened, ids)
            return
        home, _ = self.homes.made(given.name, digest([drafts, ()]), lambda at: fill(at, given))
        with lent(self.homes, home) as work, Madeleine.open(work, in_process=True) as opened:
            opened.sleep()
            yield MadeleineAsked(opened, ids)


@dataclass(slots=True)
class MadeleineAsked:
    opened: Madeleine
    ids: Mapping[str, str]
    """The set's ids by those of the home; what a home adds by itself is in none."""
    sessions: int = 0
    briefs: dict[str | None, frozenset[str]] = field(default_factory=dict)
    """What sessions of each space are told at their start. It counts as told to nobody."""

    def whisper(self, text: str, space: str | None, session: Sequence[str] = ()) -> Whispered:
        self.sessions += 1
        name = f"everyday-{self.sessions}"
        before: set[str] = set()
        for earlier in session:
            before.update(each.id for each in self._say(earlier, space, name))
        told = tuple(self._say(text, space, name))
        return Whispered(told, frozenset(before), self._read_brief(space))

    def _read_brief(self, space: str | None) -> frozenset[str]:
        if space not in self.briefs:
            items = self.opened.brief(space=space).items
            self.briefs[space] = frozenset(self._name(each.node_id) for each in items)
        return self.briefs[space]

    def _say(self, text: str, space: str | None, session: str) -> list[ScoredId]:
        said = self.opened.whisper(text, space=space, session_id=session)
        return [ScoredId(self._name(each.memory.id), each.score) for each in said.injected]

    def act(self, tool: str, target: str, space: str | None) -> Whispered:
        said = self.opened.deed(tool, target, space=space)
        return Whispered(
            tuple(ScoredId(self._name(each.memory.id), each.score) for each in said.injected)
        )

    def recall(self, text: str, space: str | None) -> list[ScoredId]:
        hits = self.opened.recall(text, limit=MOST_RECALLED, space=space)
        return [ScoredId(self._name(each.memory.id), each.score) for each in hits]

    def _name(self, memory: str) -> str:
        return self.ids.get(memory, memory)


# -- simple systems ------------------------------------------------------------------------

Score = Callable[[str], Mapping[str, float]]
"""The scores of a text against all memories of a store, by id."""


@dataclass(frozen=True, slots=True)
class ThresholdAsked:
    """Whispers what scores high enough and is of the asker's space or of none."""

    store: EverydayStore
    score: Score
    threshold: float

    def whisper(self, text: str, space: str | None, session: Sequence[str] = ()) -> Whispered:
        spaces = {each.id: each.space for each in self.store.memories}
        near = [
            each
            for each in self._ranked(text)
            if each.score >= self.threshold and (space is None or spaces[each.id] in (None, space))
        ]
        return Whispered(tuple(near[:MOST_WHISPERED]))

    def act(self, tool: str, target: str, space: str | None) -> Whispered:
        return self.whisper(f"{tool}: {target}", space)

    def recall(self, text: str, space: str | None) -> list[ScoredId]:
        return self._ranked(text)[:MOST_RECALLED]

    def _ranked(self, text: str) -> list[ScoredId]:
        found = (ScoredId(key, value) for key, value in self.score(text).items())
        return sorted(found, key=lambda each: (-each.score, each.id))


@dataclass(frozen=True, slots=True)
class CosineSystem:
    """The shipped model's vectors, compared as they are."""

    homes: Homes
    threshold: float = 0.33

    @contextmanager
    def opened(self, store: EverydayStore) -> Iterator[Asked]:
        with model(self.homes.folder) as embedder:
            ids = [each.id for each in store.memories]
            traces = embedder.read(
                [Passage(each.content, 0, len(each.content)) for each in store.memories]
            )
            vectors = np.array([trace.vector for trace in traces], np.float64)

            def score(text: str) -> Mapping[str, float]:
                asked = np.asarray(embedder.ask(text).vector, np.float64)
                return dict(zip(ids, map(float, vectors @ asked), strict=True))

            yield ThresholdAsked(store, score, self.threshold)


@dataclass(frozen=True, slots=True)
class FullTextSystem:
    """SQLite's full-text search: any word may match, ranked by BM25."""

    threshold: float = 5.1

    @contextmanager
    def opened(self, store: EverydayStore) -> Iterator[Asked]:
        database = sqlite3.connect(":memory:")
        database.execute("create virtual table notes using fts5 (id unindexed, content)")
        rows = [(each.id, each.content) for each in store.memories]
        database.executemany("insert into notes values (?, ?)", rows)

        def score(text: str) -> Mapping[str, float]:
            words = " OR ".join(f'"{word}"' for word in dict.fromkeys(re.findall(r"\w+", text)))
            query = "select id, -bm25(notes) from notes where notes match ?"
            return dict(database.execute(query, [words])) if words else {}

        try:
            yield ThresholdAsked(store, score, self.threshold)
        finally:
            database.close()
