"""Which pairs a job has judged, and what it was told about them.

Work grows with what changed, not with the store: only memories whose text a job has not seen
yet are paired, each with its few nearest neighbours. A memory without a vector takes part in
no pair; it waits until it has one. The newest are looked at first, so that a bound on a run's
work delays what is old.

What was looked at is noted after the patches were applied (`PairJob.done`), and only if every
pair of a memory got an answer: a judge that failed, a bound that was reached and a patch that
could not be applied leave it to the next night.

A cheap judge may have no time for all pairs: it reads each for some milliseconds. What it has no
answer for waits with all that is older, and a later run takes some of that after what is new.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from madeleine.index.graph import EdgeRow, MemoryGraph
from madeleine.language.replacements import find_replacement
from madeleine.language.stems import is_telling, split_words
from madeleine.language.subjects import speak_of_others
from madeleine.language.word_hints import is_first_person
from madeleine.model.cause import Cause
from madeleine.model.memory import Memory
from madeleine.model.query import Filter
from madeleine.model.verdict import MemoryPair, Relation, Verdict
from madeleine.model.words import META_SOURCE, SELF_SOURCE
from madeleine.rules.associations import is_contrast
from madeleine.sleep.seen import (
    IdsToLookAt,
    find_ids_to_look_at,
    judge_pairs,
    note_backlog,
    note_seen,
)
from madeleine.sleep.store_words import StoreWords
from madeleine.sleep.values import JobContext, Patch, StopKind

PORTION = 256  # memories whose neighbours are looked up in one go
BACKLOG_PORTION = 64  # the same of what earlier runs left: there is time for few of them
BACKLOG_SECONDS = 0.2  # of CPU for what earlier runs left, where somebody asked for the run
BACKLOG_SECONDS_DUE = 5.0  # the same by the timetable: nobody waits, and others go first
KNOWN_AT_MOST = 20_000  # memories kept at hand while pairs are made: some 50 MB
RARE_AT_MOST = 24  # memories that may share a word before it stops telling them from others
RARE_WORDS = 2  # of a memory: what it is about is among its rarest words
WORD_CHARS = 2_000  # of a text, in which its subject is looked for

Arrows = Sequence[EdgeRow]


@dataclass(frozen=True, slots=True)
class PairQuery:
    """Which pairs a job looks at."""

    chosen: Filter
    """The memories that it looks at when they changed."""
    beside: Callable[[Memory], Filter]
    """Those that a memory may be paired with; obeyed inside the search (I11)."""
    neighbours: int
    least: float
    worth: Callable[[MemoryPair, Arrows], bool]
    """Whether to ask the judge about a pair, given the arrows between the two."""
    one_subject: bool = True
    """Whether texts about different things are passed over, as far as that shows. A language
    model sees it better by itself."""
    by_words: bool = False
    """Whether to pair with what shares a rare word too, however unlike the rest of it is."""
    for_links: bool = False
    """Whether it asks how two memories hang together, and not only whether one can go."""


@dataclass(slots=True)
class PairCandidates:
    """Pairs to be judged, those of the newest memories first, and whose pairs they all are."""

    pairs: list[MemoryPair] = field(default_factory=list)
    looked: dict[str, Memory] = field(default_factory=dict)
    """Memories all of whose pairs are among them."""
    left: int = 0
    """Memories that have to wait because the bound was reached."""

    def add(self, more: PairCandidates) -> None:
        self.pairs += more.pairs
        self.looked |= more.looked
        self.left += more.left


@dataclass(slots=True)
class PairAnswers:
    """What a judge said about pairs that have something to do with each other."""

    found: list[tuple[MemoryPair, Verdict]] = field(default_factory=list)
    looked: dict[str, Memory] = field(default_factory=dict)

    def add(self, more: PairAnswers) -> None:
        self.found += more.found
        self.looked |= more.looked

    def with_relation(self, *relations: Relation) -> list[tuple[MemoryPair, Verdict]]:
        """Return what was answered with one of these, the surest first, then the newest."""
        wanted = [each for each in self.found if each[1].relation in relations]
        return sorted(wanted, key=_surest_first, reverse=True)


def _surest_first(answer: tuple[MemoryPair, Verdict]) -> tuple[float, object, object]:
    pair, verdict = answer
    return verdict.sure, pair.newer.created, pair.ids


@dataclass(slots=True)
class PairJob:
    """A job that asks a judge about pairs and makes patches of the answers."""

    name: str
    look: Callable[[JobContext], PairQuery]
    patches: Callable[[JobContext, PairAnswers], list[Patch]]
    rounds: int = 1
    """How often it is planned anew in one run, while patches wait for each other."""
    note: Callable[[JobContext, PairAnswers], None] = lambda context, answers: None
    """Keeps what else is known after a run."""
    answers: PairAnswers = field(default_factory=PairAnswers)

    def plan(self, context: JobContext) -> Sequence[Patch]:
        self.answers = PairAnswers()
        for wanted in find_portions(context, self.look(context)):
            self.answers.add(ask_judge(context, wanted))
            if context.unanswered:
                waiting = len(context.again) + wanted.left
                context.report.stopped = Cause(StopKind.PAIRS_WAIT, {"memories": waiting})
        return self.patches(context, self.answers)

    def done(self, context: JobContext) -> None:
        note_seen(context, self.answers.looked.values())
        note_backlog(context)
        self.note(context, self.answers)


def ask_judge(context: JobContext, wanted: PairCandidates) -> PairAnswers:
    """Return what the judge says about the candidates; nobody holds a lock meanwhile (I6)."""
    verdicts = judge_pairs(context, wanted.pairs)
    answers = zip(wanted.pairs, verdicts, strict=True)
    related = [(p, v) for p, v in answers if v is not None and v.relation is not Relation.NONE]
    context.report.looked += len(wanted.looked)
    if wanted.left:
        context.report.counts["left"] = wanted.left
    return PairAnswers(related, dict(wanted.looked))


def find_candidates(context: JobContext, look: PairQuery) -> PairCandidates:
    """Return the pairs of what changed since this job last looked, within the bound of a run."""
    made = PairCandidates()
    for each in find_portions(context, look):
        made.add(each)
    return made


def find_portions(context: JobContext, look: PairQuery) -> Iterator[PairCandidates]:
    """Yield these pairs, some memories at a time: what is new first, then what earlier runs left.
    Once a cheap judge has no time for more, what remains is the backlog of later runs."""
    wanted = find_ids_to_look_at(context, look.chosen)
    room, pairing = _PairBudget(context), _PairFinder(context, look)
    for start, ids in _split_ids(wanted):
        if start >= wanted.new and context.out_of_time_at is None:
            seconds = BACKLOG_SECONDS_DUE if context.due else BACKLOG_SECONDS
            context.out_of_time_at = time.thread_time() + seconds
        if context.stop() or room.full or context.unanswered:
            yield PairCandidates(left=len(wanted.ids) - start)
            break
        with context.stores.index.steady():
            around = pairing.read_around(ids)
        made = PairCandidates()
        for memory in around.memories:
            context.stores.priority_gate.give_way()
            made.left += not room.take(memory, pairing.pairs_of(memory, around), made)
        yield made


def _split_ids(wanted: IdsToLookAt) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield where each portion begins, and its ids."""
    for start in range(0, wanted.new, PORTION):
        yield start, wanted.ids[start : min(start + PORTION, wanted.new)]
    for start in range(wanted.new, len(wanted.ids), BACKLOG_PORTION):
        yield start, wanted.ids[start : start + BACKLOG_PORTION]


class _PairBudget:
    """How much a run may ask. A costly judge is not paid for what it said before."""

    def __init__(self, context: JobContext) -> None:
        config, self._context = context.config, context
        self._left = config.pairs_per_run if context.judge.cheap else config.costly_pairs_per_run
        self._met: set[tuple[str, str]] = set()
        self.full = False

    def take(self, memory: Memory, pairs: Sequence[MemoryPair], into: PairCandidates) -> bool:
        """Add a memory's pairs as far as they fit; return whether all of them did."""
        new = [pair for pair in pairs if pair.ids not in self._met]
        answered = self._find_answered(new)
        asked = [pair for pair in new if pair.ids not in answered]
        self.full = self.full or len(asked) > self._left
        fit = asked[: self._left]
        self._left -= len(fit)
        taken = [pair for pair in new if pair.ids in answered] + fit
        self._met.update(pair.ids for pair in taken)
        into.pairs.extend(taken)
        if len(taken) == len(new):
            into.looked[memory.id] = memory
        return len(taken) == len(new)

    def _find_answered(self, pairs: Sequence[MemoryPair]) -> Container[tuple[str, str]]:
        if self._context.judge.cheap or not pairs:
            return ()
        ids = [pair.ids for pair in pairs]
        return self._context.stores.log.verdicts(ids, self._context.judge.name)


@dataclass(frozen=True, slots=True)
class _PairSurroundings:
    """Some memories, what is near each and how near, and what is drawn between them."""

    memories: list[Memory]
    near: Mapping[str, Mapping[str, float]]
    known: Mapping[str, Memory]
    arrows: Mapping[frozenset[str], Arrows]


class _PairFinder:
    """Finds the pairs of a portion of memories. What it learnt of words serves the next one."""

    def __init__(self, context: JobContext, look: PairQuery) -> None:
        self._context, self._look = context, look
        self._one_subject = look.one_subject and context.judge.cheap
        self._known: dict[str, Memory] = {}
        self._words = StoreWords(context.stores.search)
        self._holders: dict[str, int] = {}
        self._sharing: dict[tuple[str, Filter], list[str]] = {}

    def read_around(self, ids: Sequence[str]) -> _PairSurroundings:
        """Return the memories that are still there, in the order of the ids, with what is near."""
        memories = self._read_memories(ids)
        near = self._find_near(memories)
        known = self._read_memories({*ids, *(other for found in near.values() for other in found)})
        self._words.learn(known.values())
        arrows = read_arrows(self._context.stores.graph, list(memories))
        kept = [memories[each] for each in ids if each in memories]
        return _PairSurroundings(kept, near, known, arrows)

    def pairs_of(self, memory: Memory, around: _PairSurroundings) -> list[MemoryPair]:
        """Return the pairs of a memory that are worth asking about."""
        near = around.near.get(memory.id, {})
        pairs = [
            self._words.weigh(self._build_pair(memory, around.known[o], similarity))
            for o, similarity in near.items()
            if o in around.known
        ]
        return [pair for pair in pairs if self._is_worth(pair, around.arrows)]

    def _read_memories(self, ids: Iterable[str]) -> dict[str, Memory]:
        """Return memories; each is read once, as far as they can be kept at hand."""
        wanted = list(ids)
        unknown = [each for each in wanted if each not in self._known]
        if len(self._known) + len(unknown) > KNOWN_AT_MOST:
            self._known.clear()
            unknown = wanted
        self._known |= self._context.stores.search.memories(unknown)
        return {each: self._known[each] for each in wanted if each in self._known}

    def _build_pair(self, memory: Memory, other: Memory, similarity: float) -> MemoryPair:
        return replace(build_pair(memory, other, similarity), for_links=self._look.for_links)

    def _is_worth(self, pair: MemoryPair, arrows: Mapping[frozenset[str], Arrows]) -> bool:
        if _has_self(pair) or _has_summary(pair):
            return False
        if not self._look.worth(pair, arrows.get(frozenset(pair.ids), ())):
            return False
        return not (self._one_subject and is_about_different_things(pair))

    def _find_near(self, memories: Mapping[str, Memory]) -> dict[str, dict[str, float]]:
        """Return the neighbours of each memory and how alike they are."""
        look, context = self._look, self._context
        near: dict[str, dict[str, float]] = {}
        for beside, ids in self._by_filter(memories).items():
            found = context.stores.search.neighbours(
                ids, beside, context.now, look.neighbours, look.least
            )
            near.update({k: {hit.id: hit.score for hit in hits} for k, hits in found.items()})
        if look.by_words:
            self._add_sharing(memories, near)
        return near

    def _by_filter(self, memories: Mapping[str, Memory]) -> dict[Filter, list[str]]:
        groups: dict[Filter, list[str]] = defaultdict(list)
        for memory in memories.values():
            groups[self._look.beside(memory)].append(memory.id)
        return groups

    def _add_sharing(
        self, memories: Mapping[str, Memory], near: dict[str, dict[str, float]]
    ) -> None:
        """Add what shares a rare word. Contradicting texts are often little alike: what they
        have in common is the name of what they are about."""
        more = {
            each: [other for other in self._find_sharing(memories[each]) if other not in near[each]]
            for each in near
        }
        wanted = {other for found in more.values() for other in found} | more.keys()
        vectors = self._context.stores.search.vectors(list(wanted))
        for each, found in more.items():
            for other in found:
                if each in vectors and other in vectors:
                    near[each][other] = float(vectors[each] @ vectors[other])

    def _find_sharing(self, memory: Memory) -> list[str]:
        beside = self._look.beside(memory)
        found = [
            each
            for word in self._find_rare_words(memory)
            for each in self._find_holders(word, beside)
        ]
        return [each for each in dict.fromkeys(found) if each != memory.id]

    def _find_rare_words(self, memory: Memory) -> list[str]:
        """Return the rarest words of a memory that stand in another one too."""
        text = f"{memory.title or ''}\n{memory.content}"[:WORD_CHARS]
        mine = sorted({word for word in split_words(text) if is_telling(word) and len(word) > 2})
        unknown = [word for word in mine if word not in self._holders]
        terms = self._context.stores.search.terms(unknown) if unknown else []
        for word, stems in zip(unknown, terms, strict=True):
            self._holders[word] = stems[0].holders if len(stems) == 1 else 0
        shared = [word for word in mine if 2 <= self._holders[word] <= RARE_AT_MOST]
        return sorted(shared, key=lambda word: (self._holders[word], word))[:RARE_WORDS]

    def _find_holders(self, word: str, beside: Filter) -> list[str]:
        key = (word, beside)
        if key not in self._sharing:
            search, now = self._context.stores.search, self._context.now
            hits = search.search_text([word], beside, now, RARE_AT_MOST)
            self._sharing[key] = [hit.id for hit in hits]
        return self._sharing[key]


def build_pair(one: Memory, other: Memory, similarity: float) -> MemoryPair:
    """Return two memories as a pair: the older first, by when it was so, not when it was last
    written."""
    older, newer = sorted((one, other), key=lambda each: (each.created, each.id))
    return MemoryPair(older, newer, similarity)


def arrows_between(rows: Iterable[EdgeRow]) -> dict[frozenset[str], list[EdgeRow]]:
    """Return the arrows by their two ends, whichever way they point. Contrasts are left out: they
    say nothing about how the two stand to each other, so that a job may still find it out."""
    found: dict[frozenset[str], list[EdgeRow]] = defaultdict(list)
    for row in rows:
        if not is_contrast(row.connection):
            found[frozenset((row.source, row.connection.target))].append(row)
    return found


def read_arrows(graph: MemoryGraph, ids: Sequence[str]) -> dict[frozenset[str], list[EdgeRow]]:
    return arrows_between(graph.edges(ids))


def is_about_different_things(pair: MemoryPair) -> bool:
    """Whether the two say the same of different things. Not where the newer one tells that what
    the older one states is over: then both speak of that."""
    older, newer = pair.older.content, pair.newer.content
    return speak_of_others(older, newer) and find_replacement(older, newer) is None


def _has_self(pair: MemoryPair) -> bool:
    return SELF_SOURCE in (pair.older.source, pair.newer.source)


def _has_summary(pair: MemoryPair) -> bool:
    """Whether one of the two sums up others: in their words, so it is like all of them, and
    neither a copy of one nor evidence for it."""
    return META_SOURCE in (pair.older.source, pair.newer.source)


def has_one_scope(pair: MemoryPair) -> bool:
    """Whether both speak of the same project, or one of them of all."""
    return pair.older.space == pair.newer.space or None in (pair.older.space, pair.newer.space)


def has_one_voice(pair: MemoryPair) -> bool:
    """Whether two texts may mean the same person by `I` and `my`: what two people say of
    themselves neither agrees nor disagrees."""
    speakers = [_speaker_of(pair.older), _speaker_of(pair.newer)]
    if None in speakers or speakers[0] == speakers[1]:
        return True
    return not any(is_first_person(each.content) for each in (pair.older, pair.newer))


def is_from_conversation(pair: MemoryPair) -> bool:
    """Whether one of the two is a turn of a conversation: a record of what somebody said then,
    which a later word does not make untrue. A judge that looks at words sees a contradiction
    in every `I never` of a long talk."""
    origins = [pair.older.origin, pair.newer.origin]
    return any(each is not None and each.session and each.speaker for each in origins)


def _speaker_of(memory: Memory) -> str | None:
    speaker = memory.origin.speaker if memory.origin else None
    return speaker.casefold() if speaker else None
