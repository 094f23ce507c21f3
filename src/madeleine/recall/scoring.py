"""How well each candidate answers: features, the head that weighs them, and the chance.

`collect_training_example` gives the same columns to `bench/training`, so that weights are learnt
from exactly what the product computes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from madeleine.index.common.text import has_unspaced_letter
from madeleine.index.search import CandidatePool, PassageDetails
from madeleine.language.english import is_surely_other, may_be_english
from madeleine.language.traits import PassageTrait
from madeleine.language.word_stems import find_words
from madeleine.model.embedding import Tokens
from madeleine.model.query import RecallQuery
from madeleine.recall.answering import move_chances, shipped_reader
from madeleine.recall.candidates import choose_candidates, draw_candidates, prepare_question
from madeleine.recall.features import (
    READ_BY_TOKEN,
    Columns,
    Places,
    Values,
    collect_evidence,
    compute_features,
    rows_needed,
)
from madeleine.recall.kin import QuestionKin
from madeleine.recall.weighted_question import WeightedQuestion
from madeleine.recall.weights import HEADS, OTHER_HEADS, SAID_HEADS, shipped_weights
from madeleine.rules.chances import SMALLEST
from madeleine.rules.fusion import (
    RecallHead,
    calibrate_sums,
    chance_behind,
    leads_over_others,
    weighted_sums,
)
from madeleine.write.stores import Stores

LEAD = "lead"
MOVED = "read_again"
"""By how many log odds the chances moved, since the best candidate was read once more."""
AS_GOOD = 1.0  # of a sum: two that are nearer say the same of the question
ALIKE = 0.5  # of the words of two passages, that both have, from which they are of one matter
SERIES = 4  # so many alike are a list of things, one of which is asked for
COMPARED_PER_HIT = 2.5  # whoever asks for sixty answers looks far down the list


@dataclass(frozen=True, slots=True)
class ScoredCandidates:
    """The candidates that were compared closely, as columns. `places` are those of the pool,
    `head` says which of `HEADS` weighed each."""

    pool: CandidatePool
    places: Places
    columns: Columns
    head: NDArray[np.int64]
    evidence: Mapping[str, float]
    sums: Values
    leads: Values
    """How far each sum is ahead of the best one of another memory."""
    chances: Values
    kin: Sequence[QuestionKin] = ()
    kin_met: NDArray[np.bool_] | None = None
    """Which of the kin each candidate has, in place of a word of the question."""

    def evidence_at(self, spot: int) -> dict[str, float]:
        """Return the evidence that the chance of one candidate was made from."""
        return {**self.evidence, LEAD: round(float(self.leads[spot]), 4)}


@dataclass(frozen=True, slots=True)
class TrainingExample:
    """What training sees of a question: ids, features and the head of each candidate."""

    ids: tuple[str, ...]
    columns: Columns
    heads: tuple[str, ...]
    evidence: Mapping[str, float]
    words: tuple[frozenset[int], ...]
    """The stems of each candidate, by which rivals are told."""
    tokens: tuple[Tokens, ...]
    chances: Values
    asked: WeightedQuestion


def heads_of(stores: Stores) -> Mapping[str, RecallHead]:
    """Return the weights that are set, or the shipped ones."""
    return stores.config.heads or shipped_weights()


def score_candidates(
    stores: Stores,
    heads: Mapping[str, RecallHead],
    asked: WeightedQuestion,
    pool: CandidatePool,
    limit: int,
    named: Sequence[str] = (),
    is_question: bool = False,
) -> ScoredCandidates:
    """Compare the best candidates of a pool with the question, more of them if many answers
    are wanted, and those that it names by their id in any case. Of what is a question the best one
    is read once more (`answering.py`); gates of what is none go by the chances as they are."""
    count = max(stores.config.recall.compared, int(limit * COMPARED_PER_HIT))
    places = choose_candidates(asked, pool, count)
    if named:
        places = np.union1d(places, _places_of_ids(stores, pool, named))
    rows = rows_needed(pool, places)
    details = stores.search.details(pool, rows)
    titled = _count_title_words(stores, pool, rows) if asked.aim is None else None
    features = compute_features(asked, pool, places, rows, details, titled) if len(places) else None
    columns = features.columns if features else {}
    told = collect_evidence(asked, columns)
    head = _choose_heads(stores, asked, pool, places, columns)
    sums, leads, chances = np.zeros((3, len(places)))
    spots = np.searchsorted(rows, places)
    for number, name in enumerate(HEADS):
        mine = head == number
        if mine.any():
            part = (
                columns if mine.all() else {each: values[mine] for each, values in columns.items()}
            )
            sums[mine] = weighted_sums(heads[name], part)
            words_at = partial(_words_at_spot, details, spots[mine])
            owners = join_rivals(pool.nodes[places[mine]], sums[mine], words_at)
            leads[mine] = leads_over_others(sums[mine], owners)
            known = {**told, LEAD: leads[mine]}
            chances[mine] = calibrate_sums(heads[name], sums[mine], known)
    if is_question:
        chances = _join_languages(chances, head)
    if is_question and (moved := _read_best(asked, details, spots, head, chances)):
        chances = np.where(_is_kept(head), move_chances(chances, moved), chances)
        told |= {MOVED: moved}
    return ScoredCandidates(
        pool,
        places,
        columns,
        head,
        told,
        sums,
        leads,
        chances,
        asked.kin.entries,
        features.kin_met if features else None,
    )


def _is_kept(head: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which candidates were written down to be kept, and not said in a conversation."""
    return ~np.isin(head, [HEADS.index(each) for each in SAID_HEADS])


def _read_best(
    asked: WeightedQuestion,
    details: PassageDetails,
    spots: Places,
    head: NDArray[np.int64],
    chances: Values,
) -> float:
    """Return by how many log odds the chances of what is kept move, since the best of it was read;
    0 where the weights do not hold. Who asks for advice is answered by a rule, which says nothing
    of the matter itself."""
    aim, reader = asked.aim, shipped_reader()
    if aim is None or aim.model != reader.model or not len(chances) or not len(aim.tokens):
        return 0.0
    if asked.understood.asks.help:
        return 0.0
    first = int(chances.argmax())
    note = _tokens_at(details, int(spots[first]))
    if HEADS[head[first]] != "kept" or not len(note):
        return 0.0
    chance = min(max(float(chances[first]), SMALLEST), 1 - SMALLEST)
    return round(reader.move(chance, reader.read(aim.tokens, aim.weights, note)), 4)


def _join_languages(chances: Values, head: NDArray[np.int64]) -> Values:
    """Return the chances where English memories and others stand side by side. A head knows how far
    a candidate is ahead of others that it weighs itself; beside the best one of the other language
    it is behind."""
    kept = _is_kept(head)
    other = np.isin(head, [HEADS.index(each) for each in OTHER_HEADS])
    if not (kept & other).any() or not (kept & ~other).any():
        return chances
    first = int(np.where(kept, chances, -1).argmax())
    behind = kept & (other != other[first])
    return np.where(behind, chance_behind(chances, float(chances[first])), chances)


def join_rivals(
    owners: NDArray[np.int64], sums: Values, words_at: Callable[[int], frozenset[int]]
) -> NDArray[np.int64]:
    """Return whose each sum is when leads are taken: the best one and those as good that speak of
    the same matter, such as its old value and the new one, are ahead of the rest together.
    `words_at` says which stems the candidate at a place has."""
    first = int(sums.argmax())
    near = np.flatnonzero((sums >= sums[first] - AS_GOOD) & (owners != owners[first])).tolist()
    best = words_at(first) if near else frozenset[int]()
    alike = {int(owners[spot]) for spot in near if _share_words(best, words_at(spot))}
    if not 0 < len(alike) < SERIES - 1:
        return owners
    return np.where(np.isin(owners, list(alike)), owners[first], owners)


def _words_at_spot(details: PassageDetails, rows: Places, spot: int) -> frozenset[int]:
    return _words_at(details, rows[spot])


def _words_at(details: PassageDetails, row: int) -> frozenset[int]:
    start, end = details.stem_starts[row : row + 2]
    return frozenset(details.stems[start:end].tolist())


def _tokens_at(details: PassageDetails, row: int) -> Tokens:
    start, end = details.token_starts[row : row + 2]
    return details.tokens[start:end]


def _share_words(one: frozenset[int], other: frozenset[int]) -> bool:
    return len(one & other) >= ALIKE * max(1, len(one | other))


def _count_title_words(stores: Stores, pool: CandidatePool, rows: Places) -> Places:
    """Return with how many words of its title each passage begins. Where there is no model, the
    title is what tells best what a memory is about, and its words count as in the search for
    candidates. A script that is written without spaces has no words to count."""
    nodes = pool.nodes[rows].tolist()
    ids = stores.search.ids(nodes)
    known = stores.search.memories(ids.values())
    titles = {memory.id: memory.title or "" for memory in known.values()}
    words = {
        each: 0 if has_unspaced_letter(title) else len(find_words(title))
        for each, title in titles.items()
    }
    return np.array([words.get(ids.get(node, ""), 0) for node in nodes], np.int64)


def _places_of_ids(stores: Stores, pool: CandidatePool, named: Sequence[str]) -> Places:
    """Return the places of the memories with these ids, as far as the filter allows them."""
    ids = stores.search.ids(pool.nodes.tolist())
    meant = [ids.get(node) in named for node in pool.nodes.tolist()]
    return np.flatnonzero(pool.allowed & np.array(meant, np.bool_))


def _choose_heads(
    stores: Stores,
    asked: WeightedQuestion,
    pool: CandidatePool,
    places: Places,
    columns: Columns,
) -> NDArray[np.int64]:
    """Return which head weighs each candidate. What was said in a conversation has the same ones in
    every language."""
    read = pool.embedded[places] & ("near" in columns)
    closely = read & (columns[READ_BY_TOKEN] > 0 if READ_BY_TOKEN in columns else False)
    talk = closely & pool.talk[places]
    said = closely & (pool.turn[places] >= 0)
    chosen = np.full(len(places), HEADS.index("words"))
    for name, mine in (("meaning", read), ("kept", closely), ("note", said), ("dialogue", talk)):
        chosen[mine] = HEADS.index(name)
    return np.where(said | talk, chosen, _heads_by_language(stores, asked, pool, places, chosen))


def _heads_by_language(
    stores: Stores,
    asked: WeightedQuestion,
    pool: CandidatePool,
    places: Places,
    english: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the heads with those for other languages, where a question or a memory is in one."""
    others = (pool.traits[places] & PassageTrait.OTHER_LANGUAGE.value) > 0
    question, mixed = asked.understood.text, bool(others.any())
    if is_surely_other(question) or (mixed and not may_be_english(question)):
        others = np.ones(len(places), np.bool_)
    elif not mixed:
        return english
    read = "other_kept" if stores.minds.reads_other_languages else "other_meaning"
    unread = english == HEADS.index("words")
    instead = np.where(unread, HEADS.index("other_words"), HEADS.index(read))
    return np.where(others, instead, english)


def collect_training_example(stores: Stores, query: RecallQuery) -> TrainingExample:
    """Return the columns of every candidate of a question, the best passage of each memory."""
    now = stores.clock.now()
    prepared = prepare_question(stores, query)
    pool = draw_candidates(stores, query, prepared, query.filter, now)
    scored = score_candidates(stores, heads_of(stores), prepared.asked, pool, query.limit)
    best = _best_passages(scored)
    nodes = pool.nodes[scored.places[best]].tolist()
    ids = stores.search.ids(nodes)
    details = stores.search.details(pool, scored.places[best])
    return TrainingExample(
        ids=tuple(ids.get(node, "") for node in nodes),
        columns={name: values[best] for name, values in scored.columns.items()},
        heads=tuple(HEADS[number] for number in scored.head[best].tolist()),
        evidence=scored.evidence,
        words=tuple(_words_at(details, row) for row in range(len(best))),
        tokens=tuple(_tokens_at(details, row) for row in range(len(best))),
        chances=scored.chances[best],
        asked=prepared.asked,
    )


def _best_passages(scored: ScoredCandidates) -> Places:
    order = np.argsort(-scored.chances, kind="stable")
    _, first = np.unique(scored.pool.nodes[scored.places][order], return_index=True)
    return np.sort(order[first])
