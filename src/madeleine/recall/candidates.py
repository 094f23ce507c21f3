"""Which memories are compared closely with a question.

Words, vectors, ids, a tag and recency each bring some, all inside the filter (I11). A quick
score over all of them picks the hundred or two that are worth the closer look.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

import numpy as np
from numpy.typing import NDArray

from madeleine.errors import MindDown
from madeleine.index.search import (
    CandidatePool,
    CandidateQuery,
    CollectionStatistics,
    IndexedTerm,
    WordMatches,
)
from madeleine.language.spelling import may_be_typo
from madeleine.language.word_hints import word_forms
from madeleine.language.word_stems import (
    ANY_LANGUAGE,
    find_words,
    iterate_marked,
    language_mark,
    stemmed_languages,
)
from madeleine.model.cause import Cause, NoteKind
from madeleine.model.embedding import LEAST_KNOWN_SHARE, QueryEmbedding
from madeleine.model.query import Filter, RecallQuery
from madeleine.model.words import ABOUT_SELF
from madeleine.recall.features import subject_features
from madeleine.recall.kin import (
    QuestionKin,
    find_known_terms,
    find_question_kin,
    find_thesaurus,
)
from madeleine.recall.parsing import ParsedQuestion, parse_question
from madeleine.recall.weighted_question import WeightedQuestion, weigh_question
from madeleine.rules.fusion import select_rarest_words
from madeleine.rules.passage_context import (
    PassageNeighbours,
    drawing_score,
    join_places,
    subject_score,
)
from madeleine.write.stores import Stores

WORDS_BUDGET = 2_000  # memories that the words together may bring: what takes 2 ms to read
ABOUT_ASKER = 50  # compared beside the others, when the asker speaks of themselves
ONLY_WORDS = 10  # times as many, where there is no model to bring what words leave out
KIN_DRAWN = 6  # kin that candidates are drawn by: each takes 20 microseconds to look for
KIN_BUDGET = 60  # memories that they together may bring: what is common tells little
LANGUAGES_AT_MOST = 4  # in which a word of a question is looked for
NEWEST = 50  # of the most recent, when those are asked for
NO_MATCHES = WordMatches(np.empty(0, np.int64), np.empty(0, np.float32))


@dataclass(frozen=True, slots=True)
class PreparedQuestion:
    """A question with what the model and the index make of it. `notes` say what is missing."""

    asked: WeightedQuestion
    matches: WordMatches
    named: tuple[str, ...]
    """Ids of memories that the question names."""
    notes: tuple[Cause, ...]


@dataclass(frozen=True, slots=True)
class _QuestionWords:
    """What a question's words tell without a model."""

    understood: ParsedQuestion
    extent: CollectionStatistics
    terms: list[tuple[IndexedTerm, ...]]
    stems: list[tuple[str, ...]]
    """For each term its stems in the other languages of the store."""
    matches: WordMatches
    kin: tuple[QuestionKin, ...] = ()
    in_tables: frozenset[str] = frozenset()
    """Words that the thesaurus knows: they are not misspelt."""


def prepare_question(
    stores: Stores, query: RecallQuery, trace: QueryEmbedding | None = None, forgive: bool = True
) -> PreparedQuestion:
    """Understand a question; the model is asked once, under no lock (I6), unless somebody has
    asked it already. Its words are looked up while the model reads. Where a word stands nowhere
    and one slip away from one that does, the question is read again as it was meant."""
    telling: Callable[[], _QuestionWords] = partial(_look_up_words, stores, query)
    notes: tuple[Cause, ...] = ()
    if trace is None and stores.minds.embedder is not None:
        telling = stores.executor.start(telling)
        trace, notes = embed_question(stores, query.text)
    elif trace is None:
        notes = embed_question(stores, query.text)[1]
    told = telling()
    meant = _correct_spelling(stores, told, trace) if forgive else query.text
    if meant != query.text:
        return prepare_question(stores, replace(query, text=meant), forgive=False)
    if trace is None and stores.minds.embedder is not None:  # words have to bring all there is
        told = replace(told, matches=_match_rare_words(stores, told, alone=True))
    return _prepare_question(stores, told, trace, notes)


def _prepare_question(
    stores: Stores, told: _QuestionWords, trace: QueryEmbedding | None, notes: tuple[Cause, ...]
) -> PreparedQuestion:
    asked = weigh_question(told.understood, told.extent, told.terms, trace, told.kin)
    return PreparedQuestion(
        asked, told.matches, _find_named_memories(stores, told.understood), notes
    )


def _look_up_words(stores: Stores, query: RecallQuery) -> _QuestionWords:
    understood = parse_question(query.text, stores.clock.now(), query.narrows_by_time)
    with stores.index.steady():
        stems = find_marked_stems(stores, understood)
        terms = _look_up_terms(stores, understood, stems)
        thesaurus = find_thesaurus(stores, query.space)
        asked = find_known_terms(thesaurus, understood)
        told = _QuestionWords(
            understood,
            stores.search.extent(),
            terms,
            stems,
            NO_MATCHES,
            find_question_kin(thesaurus, stores.search, understood, asked, terms),
            frozenset(word.text for term in asked for word in term.words),
        )
        alone = stores.minds.embedder is None
        return replace(told, matches=_match_rare_words(stores, told, alone))


def find_marked_stems(stores: Stores, understood: ParsedQuestion) -> list[tuple[str, ...]]:
    """Return for each term its stems in the languages that the store holds beside English."""
    languages = _find_store_languages(stores, understood)
    return [
        tuple(
            dict.fromkeys(
                stem
                for each in languages
                for word in find_words(term)
                for stem in iterate_marked(word, each)
            )
        )
        for term in understood.terms
    ]


def _find_store_languages(stores: Stores, understood: ParsedQuestion) -> list[str]:
    """Return the languages of most texts, that of the question first; none if all is English."""
    (anything,) = stores.search.terms([ANY_LANGUAGE])
    if not any(each.holders for each in anything):
        return []
    known = stemmed_languages()
    counted = stores.search.terms([language_mark(each) for each in known])
    holders = {
        each: sum(term.holders for term in found)
        for each, found in zip(known, counted, strict=True)
    }
    order = sorted(known, key=lambda each: (each != understood.language, -holders[each]))
    return [each for each in order if holders[each]][:LANGUAGES_AT_MOST]


def _look_up_terms(
    stores: Stores, understood: ParsedQuestion, stems: Sequence[tuple[str, ...]]
) -> list[tuple[IndexedTerm, ...]]:
    """Return what the index says of each term. A word that is held by its stem in another language
    is one word still."""
    plain = stores.search.terms(understood.terms)
    marked = list(dict.fromkeys(stem for its in stems for stem in its))
    if not marked:
        return plain
    known = dict(zip(marked, stores.search.terms(marked), strict=True))
    return [
        _join_stems(found, [known[each] for each in its])
        for found, its in zip(plain, stems, strict=True)
    ]


def _join_stems(
    found: tuple[IndexedTerm, ...], others: Sequence[tuple[IndexedTerm, ...]]
) -> tuple[IndexedTerm, ...]:
    held = [term for its in others for term in its if term.holders]
    if len(found) != 1 or not held:
        return found
    holders = max(found[0].holders, *(each.holders for each in held))
    return (IndexedTerm(found[0].stem, holders, tuple(each.stem for each in held)),)


def _correct_spelling(stores: Stores, told: _QuestionWords, trace: QueryEmbedding | None) -> str:
    """Return the question with its misspelt words as they are meant."""
    odd = [
        word
        for word, stems in zip(told.understood.terms, told.terms, strict=True)
        if not any(each.holders for each in stems) and _may_be_slip(told, word, trace)
    ]
    text = told.understood.text
    meant = stores.search.spellings(odd) if odd else {}
    for each in reversed(told.understood.words):
        if each.text in meant:
            text = text[: each.start] + meant[each.text] + text[each.end :]
    return text


def _may_be_slip(told: _QuestionWords, word: str, trace: QueryEmbedding | None) -> bool:
    """Whether a word may be another one misspelt. A model knows common words as a whole; and a
    word written large is a name, of which one letter makes another one."""
    at = next((each for each in told.understood.words if each.text == word), None)
    if at is None or not may_be_typo(word) or word in told.understood.names:
        return False
    if word in told.in_tables:
        return False
    if trace is None:
        return True
    return sum(at.start <= start < at.end for start, _ in trace.spans) > 1


def _match_rare_words(stores: Stores, told: _QuestionWords, alone: bool) -> WordMatches:
    """Return what holds the words that candidates are drawn by: the rare ones, their kin as
    far as there is room left, and what is quoted. `alone`, words have to bring more."""
    budget = WORDS_BUDGET * ONLY_WORDS if alone else WORDS_BUDGET
    holders = [max((each.holders for each in stems), default=0) for stems in told.terms]
    places = select_rarest_words(holders, budget)
    looked_for = [
        form
        for place in places
        for form in (*word_forms(told.understood.terms[place]), *told.stems[place])
    ]
    left = min(budget - sum(holders[place] for place in places), KIN_BUDGET)
    return stores.search.matching(
        [*looked_for, *_select_rare_kin(told.kin, left), *told.understood.phrases]
    )


def _select_rare_kin(kin: Sequence[QuestionKin], budget: int) -> list[str]:
    """Return the kin that candidates are drawn by: the rarest of the surest."""
    surest = [each for each in kin if each.holders <= budget][:KIN_DRAWN]
    places = select_rarest_words([each.holders for each in surest], budget, least=0)
    return [surest[place].kin.key for place in places]


def embed_question(stores: Stores, text: str) -> tuple[QueryEmbedding | None, tuple[Cause, ...]]:
    """Return what the model makes of a question, and what to say if it makes nothing of it."""
    embedder = stores.minds.embedder
    if embedder is None:
        return None, (Cause(NoteKind.TEXT_SEARCH_ONLY, {"why": stores.minds.why_not}),)
    try:
        trace = embedder.ask(text)
        return (trace if trace.known >= LEAST_KNOWN_SHARE else None), ()
    except MindDown as down:
        return None, (Cause(NoteKind.TEXT_SEARCH_ONLY, {"why": down.message}),)


def _find_named_memories(stores: Stores, understood: ParsedQuestion) -> tuple[str, ...]:
    found = [each for prefix in understood.ids for each in stores.search.ids_with_prefix(prefix, 2)]
    return tuple(dict.fromkeys(found))


def draw_candidates(
    stores: Stores, query: RecallQuery, prepared: PreparedQuestion, chosen: Filter, now: datetime
) -> CandidatePool:
    """Return the candidates of all sources."""
    asked, understood = prepared.asked, prepared.asked.understood
    wanted = CandidateQuery(
        matches=prepared.matches,
        scan=asked.aim.scan if asked.aim else None,
        near=asked.aim.near if asked.aim else None,
        focus=asked.aim.focus if asked.aim else None,
        ids=prepared.named,
        tag=ABOUT_SELF if understood.about_self else None,
        newest=NEWEST if understood.newest_first else 0,
        draw=max(stores.config.recall.pool, query.limit),
        space=query.space,
    )
    return stores.search.pool(wanted, chosen, now)


def choose_candidates(
    asked: WeightedQuestion, pool: CandidatePool, count: int
) -> NDArray[np.int64]:
    """Return the places of the candidates to be compared closely. What is known about the asker
    comes beside the others: it is to crowd nobody out, nor be crowded out."""
    places = np.flatnonzero(pool.allowed)
    if len(places) <= count:
        return places
    around = PassageNeighbours(
        np.where(pool.talk, pool.before, -1), np.where(pool.talk, pool.after, -1)
    )
    quick = drawing_score(
        pool.text.astype(np.float64),
        pool.near.astype(np.float64),
        pool.focus.astype(np.float64),
        around,
        pool.talk,
        pool.session,
    )
    quick += subject_score(subject_features(asked, pool.speaker, pool.created))
    about_asker = places[pool.tagged[places]]
    best = _best_places(places, quick, count), _best_places(about_asker, quick, ABOUT_ASKER)
    return join_places(len(pool), best)


def _best_places(
    places: NDArray[np.int64], quick: NDArray[np.float64], count: int
) -> NDArray[np.int64]:
    """Return the best of the places, with all that tie with the last of them: which row stands
    where is no reason to leave one out."""
    if len(places) <= count:
        return places
    values = np.round(quick[places], 9)
    chosen: NDArray[np.int64] = places[values >= np.partition(values, -count)[-count]]
    return chosen
