"""A question made ready for comparing: its words with what they tell, its tokens, its names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from madeleine.index.search import CollectionStatistics, IndexedTerm
from madeleine.language.word_hints import LIGHT_WORDS, META_WORDS, QUESTION_WORDS, STOP_WORDS
from madeleine.model.embedding import QueryEmbedding
from madeleine.model.vector import Vector
from madeleine.recall.kin import QuestionKin
from madeleine.recall.parsing import ParsedQuestion
from madeleine.rules.fusion import idf

STOP_WORD_TELLS = 0.5  # of a token that is a stop word, where a rare word's is 5 to 10
USUAL_STORE = 600  # memories in the stores that weights were learnt from
DAY_DIGITS = 2  # the 11 of a date is not the 11 of a ticket
LEAST_RARITY = 0.15  # of a kin: what half of the memories have is no other word for anything
NEAR_SHARE = 0.3  # of the whole question in the direction that is searched


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """The stems looked for, each once, as columns. `pairs` are places of neighbours."""

    stems: NDArray[np.uint32]
    idf: NDArray[np.float64]
    telling: NDArray[np.bool_]
    names: NDArray[np.bool_]
    light: NDArray[np.bool_]
    """Whether a word says how, not what: `use`."""
    holders: NDArray[np.int64]
    pairs: tuple[tuple[int, int], ...]
    others: NDArray[np.uint32]
    """Stems of the same words in other languages, and whose they are, as places of `stems`."""
    other_of: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class QueryVectors:
    """Where a question points: the vectors to search by, and the weight of each token."""

    scan: Vector
    near: Vector
    focus: Vector
    tokens: NDArray[np.float32]
    weights: NDArray[np.float32]
    model: str = ""
    """Which model has read the question, if that is known."""


@dataclass(frozen=True, slots=True)
class QueryKin:
    """Other words for those of the question, as columns.

    `slots` are where the stems of each are counted: after the question's own, with those of all
    others in `stems`. `places` are those of the stems that each stands for, and `weights` how much
    it tells of them, from 0 to 1: less if many memories have it.
    """

    entries: tuple[QuestionKin, ...] = ()
    stems: NDArray[np.uint32] = field(default_factory=lambda: np.empty(0, np.uint32))
    slots: tuple[list[int], ...] = ()
    places: tuple[tuple[int, ...], ...] = ()
    weights: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class WeightedQuestion:
    """All that is compared with a memory."""

    understood: ParsedQuestion
    extent: CollectionStatistics
    terms: QueryTerms
    named: tuple[int, ...]
    """The speakers that the question names."""
    aim: QueryVectors | None = None
    kin: QueryKin = field(default_factory=QueryKin)


def weigh_question(
    understood: ParsedQuestion,
    extent: CollectionStatistics,
    found: Sequence[tuple[IndexedTerm, ...]],
    trace: QueryEmbedding | None,
    kin: Sequence[QuestionKin] = (),
) -> WeightedQuestion:
    """Join what was understood with what the index and the model say of it. `found` are the
    terms of `understood.terms`, in order; `kin` are other words for them."""
    terms = _build_terms(understood, extent, found)
    aim = None if trace is None else _build_vectors(understood, extent, found, trace)
    return WeightedQuestion(
        understood,
        extent,
        terms,
        _find_named_speakers(understood, extent),
        aim,
        _build_kin(understood, extent, found, terms, kin) if kin else QueryKin(),
    )


def _build_kin(
    understood: ParsedQuestion,
    extent: CollectionStatistics,
    found: Sequence[tuple[IndexedTerm, ...]],
    terms: QueryTerms,
    kin: Sequence[QuestionKin],
) -> QueryKin:
    place = {stem: number for number, stem in enumerate(terms.stems.tolist())}
    places = {
        word: [place[each.stem] for each in stems]
        for word, stems in zip(understood.terms, found, strict=True)
    }
    rarest = idf(1, extent.memories)
    rarity = [min(idf(each.holders, extent.memories) / rarest, 1.0) for each in kin]
    rare = [number for number, value in enumerate(rarity) if value >= LEAST_RARITY]
    slot = dict(place)
    for number in rare:
        for stem in kin[number].stems:
            slot.setdefault(stem, len(slot))
    return QueryKin(
        entries=tuple(kin[number] for number in rare),
        stems=np.array(list(slot)[len(place) :], np.uint32),
        slots=tuple([slot[stem] for stem in kin[number].stems] for number in rare),
        places=tuple(
            tuple(at for word in kin[number].words for at in places.get(word, ()))
            for number in rare
        ),
        weights=tuple(kin[number].kin.tie.strength * rarity[number] for number in rare),
    )


def _build_terms(
    understood: ParsedQuestion,
    extent: CollectionStatistics,
    found: Sequence[tuple[IndexedTerm, ...]],
) -> QueryTerms:
    place: dict[int, int] = {}
    telling: list[bool] = []
    names: list[bool] = []
    light: list[bool] = []
    flat: list[IndexedTerm] = []
    about = understood.telling or frozenset(understood.terms)
    for word, stems in zip(understood.terms, found, strict=True):
        for each in stems:
            if each.stem not in place:
                place[each.stem] = len(flat)
                flat.append(each)
                telling.append(word in about)
                names.append(word in extent.speakers)
                light.append(word in LIGHT_WORDS)
    others = {
        number: place[each.stem] for each in flat for number in each.also if number not in place
    }
    return QueryTerms(
        others=np.array(list(others), np.uint32),
        other_of=np.array(list(others.values()), np.int64),
        stems=np.array([each.stem for each in flat], np.uint32),
        idf=np.array([idf(each.holders, extent.memories) for each in flat]) * _idf_scale(extent),
        telling=np.array(telling, np.bool_),
        names=np.array(names, np.bool_),
        light=np.array(light, np.bool_),
        holders=np.array([each.holders for each in flat], np.int64),
        pairs=_adjacent_term_pairs(understood, found, place),
    )


def _idf_scale(extent: CollectionStatistics) -> float:
    """Return the factor that makes the rarest word tell as much in any store as in one of
    usual size: in a store of three every word would tell next to nothing (I10)."""
    return idf(0, USUAL_STORE) / idf(0, max(extent.memories, 1))


def _adjacent_term_pairs(
    understood: ParsedQuestion, found: Sequence[tuple[IndexedTerm, ...]], place: Mapping[int, int]
) -> tuple[tuple[int, int], ...]:
    """Return the places of telling words that stand side by side in the question."""
    stem_of = {
        word: place[stems[0].stem]
        for word, stems in zip(understood.terms, found, strict=True)
        if stems and word in understood.telling
    }
    beside = pairwise(word.text for word in understood.words)
    pairs = ((stem_of[one], stem_of[two]) for one, two in beside if {one, two} <= stem_of.keys())
    return tuple(dict.fromkeys((one, two) for one, two in pairs if one != two))


def _find_named_speakers(
    understood: ParsedQuestion, extent: CollectionStatistics
) -> tuple[int, ...]:
    """Return who is named: by a word of the name, or by its first letters if only one
    speaker's name begins so."""
    named: dict[int, None] = {}
    for word in understood.words:
        codes = extent.speakers.get(word.text) or ()
        if not codes:
            short = extent.short_names.get(word.text, ())
            codes = short if len(short) == 1 else ()
        named.update(dict.fromkeys(codes))
    return tuple(named)


def _build_vectors(
    understood: ParsedQuestion,
    extent: CollectionStatistics,
    found: Sequence[tuple[IndexedTerm, ...]],
    trace: QueryEmbedding,
) -> QueryVectors:
    weights = _token_weights(understood, extent, found, trace.spans)
    focus = _normalize(weights @ trace.tokens) if len(weights) else trace.vector
    return QueryVectors(
        scan=_normalize(focus + NEAR_SHARE * trace.vector),
        near=trace.vector,
        focus=focus,
        tokens=trace.small,
        weights=weights,
        model=trace.model,
    )


def _token_weights(
    understood: ParsedQuestion,
    extent: CollectionStatistics,
    found: Sequence[tuple[IndexedTerm, ...]],
    spans: Sequence[tuple[int, int]],
) -> NDArray[np.float32]:
    """Return how much each token tells, all together 1: its word's idf, shared among the
    tokens of the word. Names tell who speaks, not what of, and are counted elsewhere."""
    tells = _word_weights(understood, extent, found)
    owner = _word_of_each_token(understood, spans)
    shares = np.bincount(owner[owner >= 0], minlength=len(understood.words) + 1)
    weights = np.array(
        [0.0 if word < 0 else tells[understood.words[word].text] / shares[word] for word in owner],
        np.float32,
    )
    total = weights.sum()
    return weights / total if total > 0 else np.full(len(spans), 1 / max(len(spans), 1), np.float32)


def _word_weights(
    understood: ParsedQuestion,
    extent: CollectionStatistics,
    found: Sequence[tuple[IndexedTerm, ...]],
) -> dict[str, float]:
    """Return how much each word of the question tells."""
    known = {
        word: max((idf(each.holders, extent.memories) for each in stems), default=0.0)
        for word, stems in zip(understood.terms, found, strict=True)
    }
    held = {
        word: any(each.holders for each in stems)
        for word, stems in zip(understood.terms, found, strict=True)
    }
    timely = {
        word.text
        for word in understood.words
        if any(
            span.at[0] <= word.start and word.end <= span.at[1]
            for span in (*understood.spans, *understood.hints)
        )
        and (not held.get(word.text) or len(word.text) <= DAY_DIGITS)
    }
    told: dict[str, float] = {}
    for word in dict.fromkeys(each.text for each in understood.words):
        asking = word in QUESTION_WORDS or (word in META_WORDS and word not in known)
        if asking or word in extent.speakers or word in timely:
            told[word] = 0.0
        elif word in STOP_WORDS or word in understood.silent:
            told[word] = STOP_WORD_TELLS
        else:
            told[word] = known.get(word, 0.0)
    return told


def _word_of_each_token(
    understood: ParsedQuestion, spans: Sequence[tuple[int, int]]
) -> NDArray[np.int64]:
    """Return for each token the place of the word that it is part of, or -1."""
    if not understood.words or not spans:
        return np.full(len(spans), -1, np.int64)
    starts = np.array([word.start for word in understood.words])
    ends = np.array([word.end for word in understood.words])
    first = np.array([span[0] for span in spans])
    place = np.searchsorted(starts, first, side="right") - 1
    inside = (place >= 0) & (first < ends[np.maximum(place, 0)])
    return np.where(inside, place, -1)


def _normalize(vector: NDArray[np.float32]) -> Vector:
    length = float(np.sqrt((vector * vector).sum()))
    scaled: Vector = (vector / length if length > 0 else vector).astype(np.float32)
    return scaled
