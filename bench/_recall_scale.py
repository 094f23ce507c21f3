"""Homes of any size that hold the made-up world.

What is asked for, and what stands around it, is remembered through the public door and read by
the model for real. So is the filler, up to a number; the files of the rest are as real, but in
place of what the model would make of them they get a slightly moved copy of what it made of a
fact of the same relation. A million texts would keep it busy for two hours.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import groupby, islice
from pathlib import Path

import numpy as np
from _recall_homes import EMBEDDINGS, FILLER, Homes, Notes, bar, digest, remember_all
from _recall_sets import Draft, Question, memory_id
from _recall_speed import model
from _recall_world import KINDS, Fact, another, facts, needles

from madeleine import Madeleine
from madeleine.bootstrap import make_folders, open_home
from madeleine.language.passages import split_passages
from madeleine.minds.cache import CachedEmbedder, EmbeddingCache
from madeleine.minds.port import CachingEmbedder
from madeleine.model.embedding import Passage, PassageEmbedding, Rows
from madeleine.model.memory import Memory
from madeleine.vault.file_naming import candidate_file_names
from madeleine.vault.markdown import render_memory

SEED = 7
FIRST_DAY = datetime(2023, 1, 1, tzinfo=UTC)
WHOLE_TIME = timedelta(days=600)  # over which the facts were learned, one after the other
CHANGED = FIRST_DAY + timedelta(days=500)  # when facts that changed did so
BEFORE = FIRST_DAY + timedelta(days=400)  # a moment to look back at: most of the world is there
LONG_AGO = datetime(2019, 1, 1, tzinfo=UTC)  # when nothing else was learned

LEAST_SIZE = 200  # a smaller world has no room for what is asked about
NEEDLES = 200
UPDATES = 100
FILTERED = 20  # for each filter that can be as selective as one likes
READ_AT_ONCE = 256
NOISE = math.tan(math.acos(0.95))  # a copy has a cosine of 0.95 with what it is a copy of
SOURCES_KEPT = 2_000  # per relation, to copy from
RARE_TYPES = ("goal", "observation", "procedure", "event", "concept")


@dataclass(frozen=True, slots=True)
class Update:
    """A fact that was true, the one that took its place, and what is asked about both."""

    old: Draft
    new: Draft
    question: str


@dataclass(frozen=True, slots=True)
class Sought:
    """The one memory that a filter lets through, and the question that many others fit better."""

    filter: str
    draft: Draft
    question: Question


@dataclass(frozen=True)
class Plan:
    """What a home of `size` memories holds; the model reads `embedded` of the filler."""

    size: int
    embedded: int

    @cached_property
    def subjects(self) -> list[list[Fact]]:
        """The world, a subject at a time, as much of it as the home holds."""
        world = islice(facts(SEED), self.size)
        return [list(each) for _, each in groupby(world, key=lambda fact: fact.subject)]

    def _few(self, most: int) -> int:
        return min(most, max(2, self.size // 50))  # so that tiny homes are not all needles

    @cached_property
    def needles(self) -> list[Fact]:
        around = [fact for each in self.subjects[: self._few(NEEDLES)] for fact in each]
        return needles(around, self._few(NEEDLES))

    @cached_property
    def updates(self) -> list[Update]:
        dice, first = random.Random(SEED), len(self.needles)
        chosen = self.subjects[first : first + self._few(UPDATES)]
        return [_update(dice, each[place % len(each)]) for place, each in enumerate(chosen)]

    @cached_property
    def sought(self) -> list[Sought]:
        chosen = (each[-1] for each in reversed(self.subjects[len(self.needles) :]))
        return list(_sought(chosen, self._few(FILTERED)))

    @cached_property
    def remembered(self) -> list[Draft]:
        """What comes in by the public door: the facts of the subjects that are asked about."""
        around = [fact for each in self.subjects[: self._asked_about] for fact in each]
        told = {str(each.old["id"]): each.old for each in self.updates}
        plain = [self._draft(fact) for fact in around]
        first = [told.get(str(each["id"]), each) for each in plain]
        return [*first, *(each.new for each in self.updates), *(each.draft for each in self.sought)]

    @property
    def filler(self) -> Iterator[Fact]:
        """All the others."""
        return (fact for each in self.subjects[self._asked_about :] for fact in each)

    @property
    def _asked_about(self) -> int:
        return len(self.needles) + len(self.updates)

    def _draft(self, fact: Fact) -> Draft:
        return {"id": fact_id(fact), "content": fact.text, "created": self.learned(fact)}

    def learned(self, fact: Fact) -> datetime:
        return FIRST_DAY + WHOLE_TIME * (fact.number / self.size)

    def questions(self, kind: str, rare: bool | None = None) -> list[Question]:
        """Return how the needles are asked for."""
        chosen = [fact for fact in self.needles if rare in (None, fact.rare)]
        return [Question(each.question(kind), frozenset([fact_id(each)]), kind) for each in chosen]

    @property
    def all_questions(self) -> list[Question]:
        asked = [self.questions(kind) for kind in KINDS]
        return [each for together in zip(*asked, strict=True) for each in together]


def fact_id(fact: Fact) -> str:
    return memory_id("world", SEED, fact.number)


def _update(dice: random.Random, fact: Fact) -> Update:
    """Return a fact that was known from the first day, and what it changed to."""
    new = fact.with_value(another(dice, fact))
    old_draft: Draft = {"id": fact_id(fact), "content": fact.text, "created": FIRST_DAY}
    new_id = memory_id("world", SEED, fact.number, "changed")
    new_draft: Draft = {"id": new_id, "content": new.text, "created": CHANGED}
    return Update(old_draft, new_draft, fact.question("lex"))


def _sought(chosen: Iterator[Fact], count: int) -> Iterator[Sought]:
    """Yield memories that only their filter tells from the many that fit the question better."""
    for number in range(count):
        name, day = f"pilot-{number}", LONG_AGO + timedelta(days=number)
        range_of_day = {"created_after": day, "created_before": day + timedelta(days=1)}
        yield _one_sought("tag", next(chosen), {"tags": [name]}, {"tags": [name]})
        yield _one_sought("space", next(chosen), {"space": name}, {"spaces": [name]})
        yield _one_sought("time", next(chosen), {"created": day}, range_of_day)
    for kind in RARE_TYPES:
        yield _one_sought("type", next(chosen), {"type": kind}, {"types": [kind]})
    yield _one_sought("tier", next(chosen), {"tier": "archival"}, {"tiers": ["archival"]})


def _one_sought(
    name: str, fact: Fact, fields: Mapping[str, object], options: Mapping[str, object]
) -> Sought:
    known_as = memory_id("world", SEED, fact.number, name)
    draft = {"id": known_as, "content": fact.restated, "created": FIRST_DAY, **fields}
    return Sought(name, draft, Question(fact.whose, frozenset([known_as]), name, options))


# -- making a home -------------------------------------------------------------------------


def made(homes: Homes, plan: Plan) -> tuple[Path, Notes]:
    """Return a home that holds what is planned, and what was measured while it was made."""
    content = digest(
        [plan.size, plan.embedded, plan.remembered, [each.text for each in plan.needles]]
    )
    name = f"world-{plan.size}"
    return homes.made(name, content, lambda home: _build(homes, home, plan))


def _build(homes: Homes, home: Path, plan: Plan) -> Notes:
    make_folders(home)
    _without_embeddings(home)  # copies must not get among what the model made for other homes
    with model(homes.folder) as embedder:
        count = _write_filler(home, plan, embedder)
    indexed = _timed_index(home)
    remembered = _remember(home, plan)  # no filler says the same: it is read for real, and timed
    (home / EMBEDDINGS).rename(home / FILLER)
    _without_embeddings(home)
    homes.share_embeddings(home, home)
    return {
        "indexed": count,
        "indexed_per_second": count / indexed,
        "remembered_per_second": len(plan.remembered) / remembered,
        "index_bytes": sum(path.stat().st_size for path in home.glob("index.db*")),
    }


def _remember(home: Path, plan: Plan) -> float:
    """Remember what is asked about, and return how long that took; retire what changed."""
    with Madeleine.open(home, in_process=True) as opened:
        opened.recall("a first question, so that the model is loaded")
        began = time.perf_counter()
        remember_all(opened, plan.remembered, f"remembering at {plan.size:,}")
        took = time.perf_counter() - began
        for each in plan.updates:
            opened.retire(str(each.old["id"]), superseded_by=str(each.new["id"]))
    return took


def _without_embeddings(home: Path) -> None:
    for path in home.glob(f"{EMBEDDINGS}*"):
        path.unlink()


def _timed_index(home: Path) -> float:
    """Index the files of a home, and return how long it took."""
    began = time.perf_counter()
    with bar("indexing") as advance:
        open_home(home, progress=advance).close()
    return time.perf_counter() - began


def _write_filler(home: Path, plan: Plan, embedder: CachingEmbedder) -> int:
    """Write the filler's files, and keep what the model makes of them, or a copy of such."""
    sources: dict[str, list[PassageEmbedding]] = {}
    cache, count = EmbeddingCache.open(home / EMBEDDINGS), 0
    with bar(f"writing {plan.size:,} memories") as advance:
        for batch in _batches(plan.filler):
            passages = [_written(home, fact, plan.learned(fact)) for fact in batch]
            if count < plan.embedded or not sources:
                traces = embedder.read(passages)
                _remember_sources(sources, batch, traces)
            else:
                traces = [_copy(sources, fact) for fact in batch]
            CachedEmbedder(Told(embedder, passages, traces), cache).read(passages)
            count += len(batch)
            advance(count, plan.size)
    cache.close()
    return count


def _written(home: Path, fact: Fact, learned: datetime) -> Passage:
    """Write the file of a fact; return what a model reads of it."""
    memory = Memory(fact_id(fact), fact.text, created=learned, updated=learned)
    (home / "vault" / next(candidate_file_names(memory))).write_bytes(render_memory(memory))
    (passage,) = split_passages(memory)
    return passage


def _batches(given: Iterator[Fact]) -> Iterator[list[Fact]]:
    while batch := list(islice(given, READ_AT_ONCE)):
        yield batch


# -- copies in place of what the model would make ------------------------------------------


def _remember_sources(
    sources: dict[str, list[PassageEmbedding]],
    batch: Sequence[Fact],
    made: Sequence[PassageEmbedding],
) -> None:
    for fact, trace in zip(batch, made, strict=True):
        kept = sources.setdefault(fact.relation.name, [])
        if len(kept) < SOURCES_KEPT:
            kept.append(trace)


def _copy(sources: Mapping[str, Sequence[PassageEmbedding]], fact: Fact) -> PassageEmbedding:
    known = sources[fact.relation.name]
    return moved(fact.number, known[fact.number % len(known)])


class Told:
    """An embedder that says what it was told.

    It stands where the model stands, under its name, so that what it says is kept in the same
    way and nobody behind it knows the difference.
    """

    def __init__(
        self,
        model: CachingEmbedder,
        passages: Sequence[Passage],
        traces: Sequence[PassageEmbedding],
    ) -> None:
        self.name = model.name
        self.dimension = model.dimension
        self.token_dimension = model.token_dimension
        self.ask = model.ask
        self._told = dict(zip(passages, traces, strict=True))

    def read(self, passages: Sequence[Passage]) -> list[PassageEmbedding]:
        return [self._told[each] for each in passages]


def moved(number: int, trace: PassageEmbedding) -> PassageEmbedding:
    """Return a copy of a trace, moved a little in a direction of its own."""
    dice = np.random.default_rng(number)
    (vector,) = _moved(dice, trace.vector[np.newaxis])
    if not len(trace.tokens):
        return PassageEmbedding(vector, trace.tokens)
    tokens = np.rint(127 * _moved(dice, _unit(trace.tokens.astype(np.float32))))
    return PassageEmbedding(vector, tokens.astype(np.int8))


def _moved(dice: np.random.Generator, rows: Rows) -> Rows:
    """Return rows of length 1, each turned by the same angle."""
    noise = dice.standard_normal(rows.shape, dtype=np.float32)
    turned = rows + NOISE * _unit(noise)
    return _unit(turned)


def _unit(rows: Rows) -> Rows:
    """Return the rows with length 1."""
    lengths = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    return np.asarray(rows / lengths, np.float32)
