"""What a question and each candidate have in common, as named columns of numbers.

Features come in groups: words (bm25, coverage), kin (other words for those of the question, by the
thesaurus), meaning (cosines), tokens (late interaction:
the best cosine of each of the question's tokens with a token of the memory), conversation
(the same for what stands beside it and for its session), subject (who speaks, when), and form
(a question, a number, a name). A group that a store cannot give, because there is no model
or no conversation, is left out of the columns, and another head answers.

Where people talk to each other, context counts; who talks alone takes notes, and each note
stands for itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from madeleine.index.common.text import TITLE_WEIGHT
from madeleine.index.search import CandidatePool, PassageDetails
from madeleine.language.times import TimeSpan
from madeleine.language.traits import PassageTrait
from madeleine.recall.weighted_question import QueryTerms, WeightedQuestion
from madeleine.rules.fusion import SOFT_FROM, SOFT_OVER, bm25
from madeleine.rules.passage_context import (
    PassageNeighbours,
    combine_by_session,
    join_places,
    values_at,
)

Places = NDArray[np.int64]
Values = NDArray[np.float64]
Columns = dict[str, Values]

BM25_SCALE = 20.0
SESSION_SCALE = 10.0
BLOCK_TOKENS = 24  # a passage is compared in pieces of two blocks, so that length is no merit
PART_TOKENS, PART_STEP = 16, 6  # of a question that are looked at by themselves
LIGHT_TELLS = 0.2  # what `use` and its like tell beside another word as rare, in what is kept
KIN_COLUMNS = ("kin", "kin_everyday")
EARLY_TURNS = 6.0  # an overview is often asked of how something began
CLOSE_DAYS = 3
UNSHARED = 262_144  # multiplications up to which OpenBLAS does a product on one thread
EPOCH_DAY = datetime(1970, 1, 1, tzinfo=UTC).toordinal()


READ_BY_TOKEN = "read_by_token"
"""Whether a candidate has token vectors: a model of another language may give none."""


@dataclass(frozen=True, slots=True)
class CandidateFeatures:
    """The candidates chosen, as places of the pool, and their columns."""

    places: Places
    columns: Columns
    kin_met: NDArray[np.bool_]
    """Which of the question's kin each candidate has, in place of a word that it has not."""


@dataclass(frozen=True, slots=True)
class _CandidateRows:
    """The candidates and their neighbours as rows of their own."""

    pool: CandidatePool
    rows: Places
    """Places of the pool."""
    chosen: Places
    """Which rows are candidates."""
    around: PassageNeighbours
    """Neighbours of each row, as rows."""
    session: Places
    """Equal for rows of one session."""
    talk: bool
    """Whether any row is of a conversation."""
    all_chosen: bool
    """Whether the rows are the candidates, in the same order."""

    def mine(self, values: NDArray[np.generic]) -> Values:
        """Return the values of the candidates among those of all rows."""
        if self.all_chosen:
            return values.astype(np.float64)
        chosen: Values = values[self.chosen].astype(np.float64)
        return chosen

    def sessionwise(self, values: Values, combine: np.ufunc) -> Values:
        """Return for each row what its session's rows come to together."""
        return combine_by_session(values, self.session, combine)


def rows_needed(pool: CandidatePool, places: Places) -> Places:
    """Return the places whose details are looked at: the candidates and what is beside them."""
    beside = np.concatenate([pool.before[places], pool.after[places]])
    return join_places(len(pool), [places, beside[beside >= 0]])


def compute_features(
    asked: WeightedQuestion,
    pool: CandidatePool,
    places: Places,
    rows: Places,
    details: PassageDetails,
    titled: Places | None = None,
) -> CandidateFeatures:
    """Return the features of the candidates at `places`; `details` are those of `rows`, and
    `titled` says how many words each of them begins with that are its title, where that counts."""
    view = _build_rows(pool, places, rows)
    stems, own = asked.terms.stems, len(asked.terms.stems)
    counts, at = _count_stems(np.concatenate([stems, asked.kin.stems]), asked.terms, details)
    in_titles = None if titled is None else _count_in_titles(counts[:, :own], titled, details, at)
    columns = _word_features(asked, view, details, counts[:, :own], at, in_titles)
    kin_columns, kin_met = _kin_features(asked, view, details, counts, at)
    columns |= kin_columns
    columns |= _form_features(asked, view)
    columns |= subject_features(asked, pool.speaker[places], pool.created[places])
    if asked.aim is not None:
        columns |= _meaning_features(view)
        if asked.aim.tokens.size and details.tokens.size:
            columns |= _token_features(asked, view, details)
        columns |= _unshared_features(columns)
    return CandidateFeatures(places, columns, kin_met)


def _unshared_features(columns: Columns) -> Columns:
    """Meaning where no telling word is shared: a note may say it all in other words, and then the
    words that are missing are no evidence against it."""
    unshared = columns["coverage"] <= 0
    return {
        f"{name}_unshared": np.where(unshared, columns[name], 0.0)
        for name in ("near", "tokens")
        if name in columns
    }


def _build_rows(pool: CandidatePool, places: Places, rows: Places) -> _CandidateRows:
    place_of = np.full(len(pool) + 1, -1, np.int64)  # the last is where "none" looks
    place_of[rows] = np.arange(len(rows))
    talk = pool.talk[rows]
    before = np.where(talk, place_of[pool.before[rows]], -1)
    after = np.where(talk, place_of[pool.after[rows]], -1)
    around = PassageNeighbours(before, after)
    return _CandidateRows(
        pool=pool,
        rows=rows,
        chosen=place_of[places],
        around=around,
        session=pool.session[rows],
        talk=bool(talk.any()),
        all_chosen=np.array_equal(places, rows),
    )


# --- words ----------------------------------------------------------------------------------


def _word_features(
    asked: WeightedQuestion,
    view: _CandidateRows,
    details: PassageDetails,
    counts: Values,
    places: tuple[Places, Places, Places],
    in_titles: Values | None = None,
) -> Columns:
    terms = asked.terms
    said = counts + _names_said(asked, view)
    lengths = np.diff(details.stem_starts) + (view.pool.speaker[view.rows] >= 0)
    weighed = said if in_titles is None else said + (TITLE_WEIGHT - 1) * in_titles
    own = bm25(weighed, terms.idf, lengths, asked.extent.mean_words + 1)
    unnamed = _telling_weights(asked)
    columns = {
        "words": view.mine(own) / BM25_SCALE,
        "coverage": view.mine(_measure_coverage(counts, unnamed)),
        "phrases": view.mine(_adjacent_pair_share(asked, view, details, places)),
    }
    return (
        columns | _surrounding_word_features(asked, view, said, lengths) if view.talk else columns
    )


def _count_in_titles(
    counts: Values,
    titled: Places,
    details: PassageDetails,
    places: tuple[Places, Places, Places],
) -> Values:
    """Return how often each row says each stem in its title, which stands first."""
    where, row, stem = places
    inside = (where - details.stem_starts[row] < titled[row]) & (stem < counts.shape[1])
    spots = row[inside] * counts.shape[1] + stem[inside]
    return np.bincount(spots, minlength=counts.size).reshape(counts.shape).astype(np.float64)


def _surrounding_word_features(
    asked: WeightedQuestion, view: _CandidateRows, said: Values, lengths: NDArray[np.int64]
) -> Columns:
    """The words of what stands beside each row, and of its session."""
    terms, beside = asked.terms, said.copy()
    total = lengths.astype(np.float64)
    for side in (view.around.before, view.around.after):
        beside += np.where((side >= 0)[:, None], said[side], 0)
        total += values_at(lengths, side)
    together = bm25(beside, terms.idf, total, 3 * (asked.extent.mean_words + 1))
    session = view.sessionwise(said, np.add)
    return {
        "words_around": view.mine(together) / BM25_SCALE,
        "words_session": view.mine((session / (session + 1.2)) @ terms.idf) / SESSION_SCALE,
        "coverage_session": view.mine(_measure_coverage(session, terms.idf * terms.telling)),
    }


def _count_stems(
    wanted: NDArray[np.uint32], terms: QueryTerms, details: PassageDetails
) -> tuple[Values, tuple[Places, Places, Places]]:
    """Return how often each row says each wanted stem, and where: position, row and stem. The
    question's own terms stand first; what they are in other languages counts as they do."""
    stems = np.concatenate([wanted, terms.others])
    rows, count = len(details.stem_starts) - 1, len(stems)
    owner = np.repeat(np.arange(rows), np.diff(details.stem_starts))
    if not count or not len(details.stems):
        return np.zeros((rows, len(wanted))), (owner[:0], owner[:0], owner[:0])
    order = np.argsort(stems)
    slot = np.minimum(np.searchsorted(stems[order], details.stems), count - 1)
    where = np.flatnonzero(stems[order][slot] == details.stems)
    meant = np.concatenate([np.arange(len(wanted)), terms.other_of])
    row, stem, count = owner[where], meant[order[slot[where]]], len(wanted)
    counts = np.bincount(row * count + stem, minlength=rows * count).reshape(rows, count)
    return counts.astype(np.float64), (where, row, stem)


def _names_said(asked: WeightedQuestion, view: _CandidateRows) -> Values:
    """Return 1 where a row's speaker bears a name that the question holds."""
    names = np.zeros((len(view.rows), len(asked.terms.stems)))
    if asked.named and asked.terms.names.any():
        speaking = np.isin(view.pool.speaker[view.rows], asked.named)
        names[np.ix_(speaking, asked.terms.names)] = 1
    return names


def _measure_coverage(counts: Values, weights: Values) -> Values:
    """Return how much of what the question tells each row holds, from 0 to 1."""
    total = weights.sum()
    share: Values = (counts > 0) @ weights / total if total > 0 else np.zeros(len(counts))
    return share


def _adjacent_pair_share(
    asked: WeightedQuestion,
    view: _CandidateRows,
    details: PassageDetails,
    places: tuple[Places, Places, Places],
) -> Values:
    """Return the share of the question's pairs of words that a row says side by side."""
    pairs, (where, row, stem) = asked.terms.pairs, places
    if not pairs or not len(where):
        return np.zeros(len(view.rows))
    size = len(asked.terms.stems)
    own = stem < size
    where, row, stem = where[own], row[own], stem[own]
    number = np.full(size * size, -1)
    number[[one * size + two for one, two in pairs]] = np.arange(len(pairs))
    said = np.zeros((len(view.rows), len(pairs)), np.bool_)
    for step in (1, 2):  # at most one word in between
        near = (where[step:] - where[:-step] <= 2) & (row[step:] == row[:-step])
        pair = number[stem[:-step] * size + stem[step:]]
        seen = near & (pair >= 0)
        said[row[:-step][seen], pair[seen]] = True
    share: Values = said.sum(axis=1) / len(pairs)
    return share


# --- kin ------------------------------------------------------------------------------------


def _telling_weights(asked: WeightedQuestion) -> Values:
    """Return how much each stem tells of what the question is about."""
    return asked.terms.idf * asked.terms.telling * ~asked.terms.names


def _kin_features(
    asked: WeightedQuestion,
    view: _CandidateRows,
    details: PassageDetails,
    counts: Values,
    at: tuple[Places, Places, Places],
) -> tuple[Columns, NDArray[np.bool_]]:
    """The share of what the question tells that a candidate says in other words: in names and
    terms of a trade, and in everyday words; and which of the kin it has. `counts` are of the
    question's stems and then of its kin's."""
    kin, weights = asked.kin, _telling_weights(asked)
    met = np.zeros((len(view.chosen), len(kin.entries)), np.bool_)
    if not kin.entries or not (total := weights.sum()) > 0:
        return {name: np.zeros(len(met)) for name in KIN_COLUMNS}, met
    held: NDArray[np.bool_] = counts > 0
    there: list[bool] = np.any(held, axis=0).tolist()
    mine: NDArray[np.bool_] = held[view.chosen][:, : len(weights)]
    trade, everyday = np.zeros(mine.shape), np.zeros(mine.shape)
    for number, (entry, slots) in enumerate(zip(kin.entries, kin.slots, strict=True)):
        if not all(there[slot] for slot in slots):
            continue
        said: NDArray[np.bool_] = np.all(held[:, slots], axis=1)
        if entry.side_by_side:
            said = _rows_in_a_row(entry.stems, slots[0], details, at)
        places = list(kin.places[number])
        instead = said[view.chosen, None] & ~mine[:, places]
        met[:, number] = instead.any(axis=1)
        surest = everyday if entry.kin.tie.everyday else trade
        surest[:, places] = np.maximum(surest[:, places], kin.weights[number] * instead)
    beyond = np.maximum(everyday - trade, 0)
    light = weights * np.where(asked.terms.light, LIGHT_TELLS, 1.0)
    said = view.pool.turn[view.rows[view.chosen]] >= 0
    shares = (
        np.where(said, each @ weights / total, each @ light / light.sum())
        for each in (trade, beyond)
    )
    return dict(zip(KIN_COLUMNS, shares, strict=True)), met


def _rows_in_a_row(
    stems: Sequence[int],
    first: int,
    details: PassageDetails,
    at: tuple[Places, Places, Places],
) -> NDArray[np.bool_]:
    """Return which rows have the stems one after the other; `first` is the slot of the first of
    them, and `at` says where each slot's stem stands."""
    where, row, slot = at
    begins, rows = where[slot == first], row[slot == first]
    fits = begins + len(stems) <= details.stem_starts[rows + 1]
    begins, rows = begins[fits], rows[fits]
    for step, stem in enumerate(stems):
        same = details.stems[begins + step] == stem
        begins, rows = begins[same], rows[same]
    found = np.zeros(len(details.stem_starts) - 1, np.bool_)
    found[rows] = True
    return found


# --- meaning --------------------------------------------------------------------------------


def _meaning_features(view: _CandidateRows) -> Columns:
    """The cosines with the whole question and with what it turns on."""
    near, focus = view.pool.near[view.rows], view.pool.focus[view.rows]
    columns = {"near": view.mine(near), "focus": view.mine(focus)}
    if not view.talk:
        return columns
    whole, places = _pool_surroundings(view), view.rows[view.chosen]
    return columns | {
        "near_around": whole.cosine(view.pool.near)[places],
        "focus_around": whole.cosine(view.pool.focus)[places],
        "focus_beside": view.mine(view.around.greatest_beside(focus)),
        "focus_session": combine_by_session(
            view.mine(focus), view.session[view.chosen], np.maximum
        ),
    }


def _pool_surroundings(view: _CandidateRows) -> PassageNeighbours:
    """Return the surroundings of every place of the pool, not only of the rows."""
    pool = view.pool
    return PassageNeighbours(
        np.where(pool.talk, pool.before, -1), np.where(pool.talk, pool.after, -1)
    )


# --- tokens ---------------------------------------------------------------------------------


def _token_features(
    asked: WeightedQuestion, view: _CandidateRows, details: PassageDetails
) -> Columns:
    """Late interaction: how well each token of the question is met."""
    assert asked.aim is not None
    weights = asked.aim.weights.astype(np.float64)
    met, pieces, softly = _late_interaction(asked.aim.tokens, weights, details)
    columns = {
        "tokens_mean": view.mine(met.mean(axis=1)),
        "tokens_least": view.mine(met.min(axis=1)),
        "tokens": view.mine(met @ weights),
        "tokens_part": view.mine(_best_part(met, weights)),
        "tokens_piece": view.mine(pieces),
        "tokens_sure_piece": view.mine(softly),
        READ_BY_TOKEN: view.mine(np.diff(details.token_starts) > 0),
    }
    return columns | _surrounding_token_features(view, met, weights) if view.talk else columns


def _best_part(met: Values, weights: Values) -> Values:
    """Return how well each row meets the part of the question that it meets best: of a long prompt
    a note may answer one clause."""
    count = met.shape[1]
    if count <= PART_TOKENS:
        starts = np.array([0])
    else:
        starts = np.arange(0, count - PART_TOKENS + PART_STEP, PART_STEP)
    ends = np.minimum(starts + PART_TOKENS, count)
    gained = np.zeros((len(met), count + 1))
    np.cumsum(met * weights, axis=1, out=gained[:, 1:])
    total = np.concatenate([[0.0], np.cumsum(weights)])
    share = total[ends] - total[starts]
    # A part that tells little proves little: it is measured against at least half a usual share.
    least = 0.5 * PART_TOKENS / max(count, PART_TOKENS)
    part: Values = ((gained[:, ends] - gained[:, starts]) / np.maximum(share, least)).max(axis=1)
    return part


def _surrounding_token_features(view: _CandidateRows, met: Values, weights: Values) -> Columns:
    """The same, when what stands beside a row or in its session may meet a token too."""
    around = met.copy()
    for side in (view.around.before, view.around.after):
        np.maximum(around, np.where((side >= 0)[:, None], met[side], -1), out=around)
    session = view.sessionwise(met, np.maximum)
    return {
        "tokens_mean_around": view.mine(around.mean(axis=1)),
        "tokens_around": view.mine(around @ weights),
        "tokens_session": view.mine(session @ weights),
        "tokens_sure_around": view.mine(_soft_match(around) @ weights),
    }


def _late_interaction(
    asked: NDArray[np.float32], weights: Values, details: PassageDetails
) -> tuple[Values, Values, Values]:
    """Return for each row the best cosine of each of the question's tokens, and how well its
    best piece meets them all, plainly and as far as they are surely met."""
    counts = np.diff(details.token_starts)
    rows, read = len(counts), np.flatnonzero(counts)
    cosines = multiply_on_one_thread(details.tokens.astype(np.float32), asked.T / np.float32(127))
    blocks = -(-counts[read] // BLOCK_TOKENS)
    first = np.cumsum(blocks) - blocks
    owner = np.repeat(np.arange(len(read)), blocks)
    starts = details.token_starts[read][owner]
    starts = starts + BLOCK_TOKENS * (np.arange(len(owner)) - first[owner])
    best = np.maximum.reduceat(cosines, starts, axis=0).astype(np.float64)
    pieces = best.copy()
    same = owner[1:] == owner[:-1]
    pieces[:-1][same] = np.maximum(best[:-1][same], best[1:][same])
    met, plain, sure = np.zeros((rows, len(asked))), np.zeros(rows), np.zeros(rows)
    met[read] = np.maximum.reduceat(best, first, axis=0)
    plain[read] = np.maximum.reduceat(pieces @ weights, first)
    sure[read] = np.maximum.reduceat(_soft_match(pieces) @ weights, first)
    return met, plain, sure


def multiply_on_one_thread(
    rows: NDArray[np.float32], columns: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return `rows @ columns` on this thread alone.

    A large product is shared between threads, and a thread that has helped spins for a while:
    it takes the core from the model that reads the next question. Small ones are not shared.
    """
    step = max(1, UNSHARED // max(columns.size, 1))
    whole = len(rows) // step * step
    first = rows[:whole].reshape(whole // step, step, rows.shape[1]) @ columns
    first = first.reshape(whole, columns.shape[1])
    return np.concatenate([first, rows[whole:] @ columns])


def _soft_match(cosines: Values) -> Values:
    """Return how sure it is that a token is met, from 0 to 1."""
    return np.clip((cosines - SOFT_FROM) / SOFT_OVER, 0, 1)


# --- subject and form -----------------------------------------------------------------------


def subject_features(
    asked: WeightedQuestion, speaker: NDArray[np.int32], created: NDArray[np.int64]
) -> Columns:
    """Who speaks, and when."""
    theirs = np.zeros(len(speaker))
    if asked.named:
        theirs[np.isin(speaker, asked.named)] = 1
    alone = float(len(asked.named) == 1)
    return {
        "speaker": alone * theirs,
        "other_speaker": alone * ((speaker >= 0) - theirs),
        "any_speaker": theirs,
        **_date_features(asked, created),
    }


def _date_features(asked: WeightedQuestion, created: NDArray[np.int64]) -> Columns:
    """How well a memory's day fits the dates that the question names: the month or the day
    itself, and soon after, because what happened is told later."""
    inside, near = np.zeros(len(created)), np.zeros(len(created))
    named = [span for span in asked.understood.spans if span.month and not span.firm]
    if named:
        moments = created.astype("datetime64[us]")
        months = moments.astype("datetime64[M]").astype(np.int64)
        day = moments.astype("datetime64[D]").astype(np.int64) + EPOCH_DAY
        for span in named:
            inside = np.maximum(inside, _date_match(span, months, day))
            near = np.maximum(near, _date_proximity(span, months, day))
    return {"date": inside, "date_near": near}


def _date_match(span: TimeSpan, months: Places, day: Places) -> Values:
    """Return 1 in the month that is named, 2 within three days of the day that is."""
    fits = months % 12 + 1 == span.month
    if span.year:
        fits &= months // 12 + 1970 == span.year
    value: Values = fits.astype(np.float64)
    if span.day:
        first = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
        value += fits & (np.abs(day - EPOCH_DAY - first + 1 - span.day) <= CLOSE_DAYS)
    return value


def _date_proximity(span: TimeSpan, months: Places, day: Places) -> Values:
    """Return how soon after the date a memory is, from 1 to 0; sooner before it means less."""
    near = np.zeros(len(day))
    years = [span.year] if span.year else np.unique(months // 12 + 1970).tolist()
    slow = 10 if span.day else 25
    for year in years:
        if not 1 <= year <= 9999:
            continue
        named = datetime(year, span.month or 1, min(span.day or 15, 28), tzinfo=UTC).toordinal()
        late = day - named
        after = np.exp(-np.maximum(late, 0) / slow)
        near = np.maximum(near, np.where(late >= -2, after, np.exp(np.minimum(late, 0) / 4)))
    return near


def _form_features(asked: WeightedQuestion, view: _CandidateRows) -> Columns:
    """What kind of sentence it is, and whether that is what is asked for."""
    pool, places = view.pool, view.rows[view.chosen]
    asks = asked.understood.asks
    traits = _read_traits(pool.traits[places])
    previous = np.where(pool.talk[places], pool.before[places], -1)
    before = _read_traits(values_at(pool.traits, previous))
    capitals = np.log1p(pool.capitals[places].astype(np.float64))
    turn = pool.turn[places].astype(np.float64)
    early = np.where(turn >= 0, np.exp(-np.maximum(turn, 0) / EARLY_TURNS), 0)
    return {
        "question_last": traits[PassageTrait.QUESTION_LAST],
        "question": traits[PassageTrait.QUESTION],
        "after_question_last": before[PassageTrait.QUESTION_LAST],
        "after_question": before[PassageTrait.QUESTION],
        "time": traits[PassageTrait.TIME],
        "time_asked": asks.when * traits[PassageTrait.TIME],
        "number": traits[PassageTrait.NUMBER],
        "number_asked": asks.how_many * traits[PassageTrait.NUMBER],
        "first_person": traits[PassageTrait.FIRST_PERSON],
        "instruction_asked": asks.help * traits[PassageTrait.INSTRUCTION],
        "preference_asked": asks.help * traits[PassageTrait.PREFERENCE],
        "capitals": capitals,
        "capitals_asked": asks.who_or_where * capitals,
        "early_overview": asks.overview * early,
        "length": np.log1p(pool.words[places].astype(np.float64)),
    }


_TRAIT_BITS = np.array([[each.value] for each in PassageTrait], np.int64)


def _read_traits(traits: NDArray[np.generic]) -> dict[PassageTrait, Values]:
    """Return for each trait 1 where a passage has it."""
    there = ((traits.astype(np.int64) & _TRAIT_BITS) > 0).astype(np.float64)
    return dict(zip(PassageTrait, there, strict=True))


def collect_evidence(asked: WeightedQuestion, columns: Mapping[str, Values]) -> dict[str, float]:
    """Return what the candidates together say about whether there is an answer at all."""
    best = {
        f"best_{name}": float(columns[name].max(initial=0.0))
        for name in ("coverage", "near", "focus", "tokens_sure_piece", "tokens_piece")
        if name in columns
    }
    telling = int((asked.terms.telling & ~asked.terms.names).sum())
    return best | {"telling_words": float(np.log1p(telling))}
