"""What two memories are to each other, told by signs that can be named.

A pair gives one number for each of `SIGNS`; weights learnt by `bench/training/train_judge.py`
make a chance for each relation of them. Some signs are not weighed but decide: texts that
differ in a number, a name or a negation are never sure duplicates, whatever the weights say,
because a merge that nobody asked for must not lose the difference.

Everything here is arithmetic on readings (`clauses.py`); `minds/judges/local.py` applies it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from madeleine.language.changed_words import find_changed_words
from madeleine.language.clauses import LIGHT_STEMS, LIGHT_WEIGHT, Clause, ParsedText, stem_weight
from madeleine.language.distinctions import have_same_wording
from madeleine.language.kinds import SELECTING_STEMS, SINGLE_VALUE_STEMS, find_kinds, find_opposites
from madeleine.language.late_pattern import compile_late
from madeleine.language.quantities import Quantity, have_same_value
from madeleine.language.stems import stem
from madeleine.model.verdict import Relation

Rows = NDArray[np.float64]

SHORT_WORDS = 25  # in a longer text two clauses differ in a word by chance
MOST_SPREADS = 8.0  # what a sign counts that is further out than any that was learnt from
SELF_DENIED = 0.4  # what a denial counts that its own text takes back
OPPOSED_SHARE = 0.5  # of what a clause says beside a word, that another says too
LONG_WORDS = 40  # telling words from which on a text says several things
FAR_SHARE = 0.5  # share of what is denied that the other text says only around the clause
LESS_SURE = 0.05  # of a conflict, for each time that a text is twice as long
SURE_AT_MOST = 0.95  # of a duplicate that differs in something that may matter
NO_DENIAL: tuple[float, ...] = (0.0,) * 10
NO_NUMBER: tuple[float, ...] = (0.0,) * 13
CONFLICT_RELATIONS = (Relation.EVOLUTION, Relation.TENSION)
KINSHIP_RELATIONS = (Relation.DUPLICATE, Relation.RELATED_TO, Relation.NONE)
LEARNT_RELATIONS = (*CONFLICT_RELATIONS, *KINSHIP_RELATIONS)
"""The relations that weights decide between. The others are told by what a text says outright."""

SIMILARITY_SIGNS = (
    *("likeness", "jaccard", "covered_least", "covered_most", "equal", "ordered", "title"),
    *("plain", "names_shared", "names_apart", "names_more", "small_apart", "negations_apart"),
    *("numbers_apart", "numbers_shared", "brevity"),
)
CONTRADICTION_SIGNS = (
    *("number_depth", "number_share", "number_told", "number_change", "number_dated"),
    *("number_unsaid", "number_kept", "number_bare", "number_single", "number_near"),
    *("number_strong", "number_was", "number_fit"),
    *("denied_share", "denied_depth", "denied_verb", "denied_never", "denied_wish", "denied_far"),
    *("denied_done", "denied_strong", "denied_object", "denied_unnamed"),
    *("opposed", "swap_share", "swap_change", "swap_kind", "swap_other", "swap_one", "swap_names"),
    *("swap_rest", "gone", "changed"),
)
CONTEXT_SIGNS = ("first_person", "same_session", "days")
SIGNS = (*SIMILARITY_SIGNS, *CONTRADICTION_SIGNS, *CONTEXT_SIGNS)
CONFLICT_SIGNS = (*CONTRADICTION_SIGNS, "likeness", "plain")
"""What tells whether two texts are against each other. How much they have in common beside
that says nothing: two pages may differ in one number."""
KINSHIP_SIGNS = (*SIMILARITY_SIGNS, *CONTEXT_SIGNS, "swap_share", "swap_names", "number_depth")


@dataclass(frozen=True, slots=True)
class PairSide:
    """One memory of a pair: what it says, and what is known of its saying."""

    reading: ParsedText
    title: frozenset[str]
    session: str | None
    first_person: bool
    days: float
    """When it was made, in days from any day."""


@dataclass(frozen=True, slots=True)
class PairSigns:
    """The row of a pair, and the words that a reason is made of."""

    row: tuple[float, ...]
    number: tuple[Quantity, Quantity] | None
    denial: Clause | None
    opposites: tuple[str, str] | None
    swapped: tuple[frozenset[str], frozenset[str]] | None
    may_merge: bool
    """Whether nothing that may matter differs."""
    readings: tuple[ParsedText, ParsedText]


@dataclass(frozen=True, slots=True)
class JudgeHead:
    """Weights of some signs for each of a few answers."""

    answers: tuple[str, ...]
    signs: tuple[str, ...]
    weights: Mapping[str, Mapping[str, float]]
    bias: Mapping[str, float]
    temperature: float = 1.0


@dataclass(frozen=True, slots=True)
class JudgeModel:
    """Two questions one after the other: are the two against each other, and if not, how near
    are they? Signs are scaled by their mean and spread first."""

    version: int
    mean: Mapping[str, float]
    spread: Mapping[str, float]
    conflict: JudgeHead
    kinship: JudgeHead


NEITHER = "neither"
"""What the first question answers of two texts that are not against each other."""


def relation_chances(model: JudgeModel, rows: Sequence[tuple[float, ...]]) -> Rows:
    """Return for each row the chance of each of `LEARNT_RELATIONS`."""
    mean = np.array([model.mean[sign] for sign in SIGNS])
    spread = np.array([model.spread[sign] for sign in SIGNS])
    scaled = (np.array(rows, np.float64).reshape(-1, len(SIGNS)) - mean) / spread
    against = answer_chances(model.conflict, scaled)
    near = answer_chances(model.kinship, scaled) * against[:, [-1]]
    return np.concatenate([against[:, :-1], near], axis=1)


def answer_chances(head: JudgeHead, scaled: Rows) -> Rows:
    """Return for each row of scaled signs the chance of each answer."""
    columns = [SIGNS.index(sign) for sign in head.signs]
    weights = np.array(
        [[head.weights[each].get(sign, 0.0) for sign in head.signs] for each in head.answers]
    )
    bias = np.array([head.bias[each] for each in head.answers])
    sums = (
        np.clip(scaled[:, columns], -MOST_SPREADS, MOST_SPREADS) @ weights.T + bias
    ) / head.temperature
    likely = np.exp(sums - sums.max(axis=1, keepdims=True))
    done: Rows = likely / likely.sum(axis=1, keepdims=True)
    return done


def measure_signs(older: PairSide, newer: PairSide, similarity: float) -> PairSigns:
    """Return the signs of a pair."""
    one, two = older.reading, newer.reading
    shared = one.stems & two.stems
    number, by_number = _find_changed_number(one, two, shared)
    denial, by_denial = _find_denial(one, two)
    swapped, by_swap = _find_swapped(one, two, shared)
    opposites, opposing = (
        _find_opposites(one, two) if shared and _has_short_text(one, two) else (None, 0.0)
    )
    alike = _similarity_signs(older, newer, shared)
    may_merge = _may_merge(one, two) and opposites is None
    row = (
        similarity,
        *alike[:6],
        float(may_merge),
        *alike[6:],
        *by_number,
        *by_denial,
        opposing,
        *by_swap,
        *_context_signs(older, newer),
    )
    return PairSigns(row, number, denial, opposites, swapped, may_merge, (one, two))


def max_conflict_confidence(one: ParsedText, two: ParsedText) -> float:
    """Return how sure a conflict may be at most: in long texts a number, a denial or a word stands
    against another one by chance."""
    longest = max(len(one.telling), len(two.telling), LONG_WORDS)
    return 1 - LESS_SURE * math.log2(longest / LONG_WORDS)


def is_well_founded(relation: Relation, signs: PairSigns) -> bool:
    """Whether a conflict of longer texts stands in one clause of each. A denial must be met where
    the other text says it, not around it; and a change must be told of a number, or show in a
    word that took another's place."""
    one, two = signs.readings
    if max(len(one.telling), len(two.telling)) <= SHORT_WORDS:
        return True
    if relation is Relation.TENSION:
        far = FAR_SHARE * _sign_value(signs, "denied_share")
        return signs.denial is None or _sign_value(signs, "denied_far") < far
    return signs.swapped is not None or _sign_value(signs, "number_change") > 0


def replaces_without_saying(signs: PairSigns) -> bool:
    """Whether a value would take another's place though no word says so: nothing tells of a
    change, and nothing that has one value at a time is spoken of. Who likes coffee may like tea,
    and beside room 4 there is a room 5."""
    if any(
        _sign_value(signs, each) > 0 for each in ("swap_change", "number_change", "gone", "changed")
    ):
        return False
    if signs.number is not None:
        return all(each.label and each.label not in SINGLE_VALUE_STEMS for each in signs.number)
    return not _sign_value(signs, "swap_one") or _differs_after_of(signs)


def _differs_after_of(signs: PairSigns) -> bool:
    """Whether what differs is what something is `of`: who leads Atlas may lead Hermes too."""
    sides = zip(signs.readings, signs.swapped or (), strict=False)
    return signs.swapped is not None and all(
        any(before == "of" and stem(word) in own for before, word in pairwise(reading.words))
        for reading, own in sides
    )


def may_both_hold(signs: PairSigns) -> bool:
    """Whether both texts may hold though one seems to deny the other: the words that are against
    each other may say which one is meant, or only `all` is denied, and nobody said `all`."""
    if signs.denial is None:
        return signs.opposites is not None and signs.opposites[0] in SELECTING_STEMS
    other = signs.readings[signs.denial in signs.readings[0].clauses]
    return _NOT_ALL.search(signs.denial.text) is not None and _ALL.isdisjoint(other.words)


_NOT_ALL = compile_late(r"\bnot\s(?:all|every\w*|always|each)\b")
_ALL = frozenset({"all", "every", "everyone", "everybody", "everything", "always", "each"})


def _sign_value(signs: PairSigns, name: str) -> float:
    return signs.row[SIGNS.index(name)]


# -- how much of the one stands in the other -------------------------------------------------


def _similarity_signs(
    older: PairSide, newer: PairSide, shared: frozenset[str]
) -> tuple[float, ...]:
    one, two = older.reading, newer.reading
    common, mine, theirs = stem_weight(shared), stem_weight(one.stems), stem_weight(two.stems)
    covered = (common / mine if mine else 0.0, common / theirs if theirs else 0.0)
    apart, more = _name_signs(one, two)
    values, others = one.values, two.values
    return (
        common / max(mine + theirs - common, 1e-9),
        *(min(covered), max(covered), float(one.words == two.words)),
        *(same_order_share(one.telling, two.telling), _jaccard(older.title, newer.title)),
        *(min(len(one.names & two.names), 3) / 3, apart, more),
        float(one.small != two.small),
        float(bool(one.denied) != bool(two.denied)),
        *(float(values != others), float(bool(values & others))),
        1 / (1 + min(len(one.telling), len(two.telling)) / 10),
    )


def _jaccard(one: frozenset[str], two: frozenset[str]) -> float:
    either = one | two
    return len(one & two) / len(either) if either else 0.0


def _name_signs(one: ParsedText, two: ParsedText) -> tuple[float, float]:
    """Whether each side names what the other does not, and whether one does."""
    mine, theirs = one.names - two.stems, two.names - one.stems
    return float(bool(mine) and bool(theirs)), float(bool(mine) != bool(theirs))


def same_order_share(one: Sequence[str], two: Sequence[str]) -> float:
    """Return which share of the neighbouring shared words stand in the same order in both."""
    place = {word: number for number, word in enumerate(two)}
    places = [place[word] for word in dict.fromkeys(one) if word in place]
    if len(places) < 2:
        return 1.0
    steps = sum(before < after for before, after in pairwise(places))
    return steps / (len(places) - 1)


def _may_merge(one: ParsedText, two: ParsedText) -> bool:
    """Whether two texts say the same in the same words, articles and short forms aside."""
    return one.stems == two.stems and have_same_wording(one.text, two.text)


# -- a number that changed ---------------------------------------------------------------------


def _find_changed_number(
    one: ParsedText, two: ParsedText, shared: frozenset[str]
) -> tuple[tuple[Quantity, Quantity] | None, tuple[float, ...]]:
    """Return the two quantities that most likely measure one thing, if they differ."""
    found, best, signs = None, 0.0, NO_NUMBER
    if not shared:
        return None, signs
    known = one.values
    for clause, quantity in one.measured:
        for other, against in two.measured:
            if (against.kind, against.value) in known or quantity.kind != against.kind:
                continue
            if _are_comparable(clause, quantity, other, against):
                told = _number_signs(one, two, (clause, quantity), (other, against))
                if (fit := _number_fit(told)) > best:
                    found, best, signs = (quantity, against), fit, told
    return found, signs


def _number_fit(signs: tuple[float, ...]) -> float:
    """Return how likely it is that two quantities measure one thing, for choosing among them."""
    depth, share, told, change, dated, unsaid, kept, bare, _, near, *_ = signs
    held = (1 + told) * (1 + change) * (1 + near) * (1 - 0.4 * unsaid) * (1 - 0.5 * dated)
    return depth * (0.5 + share) * held * (1 - 0.5 * kept) * (1 - 0.5 * bare)


def _are_comparable(clause: Clause, one: Quantity, other: Clause, two: Quantity) -> bool:
    if have_same_value(one, two):
        return False
    if one.kind in ("count", "measure", "rank", "version"):
        if one.unit and two.unit:
            return bool(one.unit & two.unit)
        if one.unit or two.unit:
            named = bool(one.unit & other.around) or bool(two.unit & clause.around)
            return named and (other.change or one.kind != "count")
    return True


def _number_signs(
    one: ParsedText, two: ParsedText, was: tuple[Clause, Quantity], now: tuple[Clause, Quantity]
) -> tuple[float, ...]:
    (clause, before), (other, after) = was, now
    near = stem_weight(clause.stems & other.stems)
    around = stem_weight(clause.around & other.around)
    least = min(stem_weight(clause.around), stem_weight(other.around))
    depth = near + 0.5 * (around - near) + 0.25 * (stem_weight(one.stems & two.stems) - around)
    unsaid = not (before.unit & after.unit) and before.kind not in ("percent", "money")
    dated = before.kind in ("date", "clock", "weekday")
    single = bool(clause.stems & other.stems & SINGLE_VALUE_STEMS)
    cue = other.moves if dated else other.change
    told = max(float(cue), float(other.did == 1))
    kept = any(
        have_same_value(before, each) and each.kind == before.kind for _, each in two.measured
    )
    deep = depth / (depth + 2)
    return (
        deep,
        around / least if least else 0.0,
        told * deep,
        float(cue) * deep,
        float(dated and not (cue or single)) * deep,
        float(unsaid),
        float(kept),
        float(not told and not other.states) * deep,
        float(single) * deep,
        near / (near + 1),
        told * max(0.0, near / (near + 1) - 0.45),
        float(clause.change or clause.did == 1 or clause.states) * deep,
        _shared_clause_share(clause, other, near, around),
    )


def _shared_clause_share(clause: Clause, other: Clause, near: float, around: float) -> float:
    """Return which share of the shorter clause both have; of the sentences, where a clause
    says no more than `which has gone up to 78 %`."""
    least = min(stem_weight(clause.stems), stem_weight(other.stems))
    if least >= 1.5:
        return near / least
    return around / max(min(stem_weight(clause.around), stem_weight(other.around)), 1e-9)


# -- something that one side denies ------------------------------------------------------------


def _find_denial(one: ParsedText, two: ParsedText) -> tuple[Clause | None, tuple[float, ...]]:
    """Return the clause of either side that most likely denies what the other side says."""
    best, found = NO_DENIAL, None
    for said, against in ((one, two), (two, one)):
        if said.denied:
            for clause in said.clauses:
                if clause.denied:
                    signs = _denial_signs(clause, said, against)
                    if signs[0] * signs[1] > best[0] * best[1]:
                        best, found = signs, clause
    return found, best


def _denial_signs(denying: Clause, said: ParsedText, against: ParsedText) -> tuple[float, ...]:
    """Return how well a sentence of the other side says what is denied here."""
    whole = denying.denied
    targets = denying.denials if stem_weight(whole) > 1 else (denying.stems,)
    if denying.verb in against.denied or _both_deny(whole, against):
        return NO_DENIAL  # both deny it
    met = (
        _denial_match_signs(denying, target, clause)
        for target in targets
        for clause in against.clauses
    )
    best = max(met, key=_denial_rank_key, default=NO_DENIAL)
    if best[0] and _affirms_itself(denying, said):
        best = tuple(SELF_DENIED * each for each in best)
    unnamed = bool(whole & said.names - against.stems)
    return (*best[:-1], float(unnamed) * best[0])


def _both_deny(denied: frozenset[str], against: ParsedText) -> bool:
    least = min(stem_weight(denied), stem_weight(against.denied))
    return stem_weight(denied & against.denied) > 0.4 * least > 0


def _affirms_itself(denying: Clause, said: ParsedText) -> bool:
    """Whether the text that denies it tells of it too: `I never did, but recently I did two`."""
    return any(
        each.did == 1
        and stem_weight(denying.denied & each.stems) > 0.5 * stem_weight(denying.denied)
        for each in said.clauses
        if each is not denying and not each.denied
    )


def _denial_rank_key(signs: tuple[float, ...]) -> tuple[float, float, float]:
    share, depth, _, _, wish, far, done, *_ = signs
    return share * depth * (1 + done), -wish, -far


def _denial_match_signs(
    denying: Clause, target: frozenset[str], clause: Clause
) -> tuple[float, ...]:
    met = target & clause.around - clause.denied
    if not met:
        return NO_DENIAL
    depth = stem_weight(met)
    share = depth / (stem_weight(target) + 0.5)
    near = stem_weight(met & clause.stems) / depth
    return (
        share,
        depth / (depth + 2),
        float(denying.verb in met) * share,
        float(denying.never) * share,
        float(clause.wish and not clause.did) * share,
        (1 - near) * share,
        clause.did * share,
        max(0.0, share - 0.45) * (0.5 + clause.did),
        len(denying.object & met) / (len(denying.object) or 1),
        0.0,
    )


def _find_opposites(one: ParsedText, two: ParsedText) -> tuple[tuple[str, str] | None, float]:
    """Return two words that mean the contrary in clauses that otherwise say the same, and how much
    of both texts these clauses are: who sits in one story may stand in the next."""
    words = find_opposites(one.stems, two.stems)
    if words is None:
        return None, 0.0
    clauses = [each for each in one.clauses if words[0] in each.stems]
    others = [each for each in two.clauses if words[1] in each.stems]
    common, least = max(
        (
            (stem_weight(each.stems & other.stems), _shorter_clause_weight(each, other))
            for each in clauses
            for other in others
        ),
        key=lambda found: found[0] / found[1],
        default=(0.0, 1.0),
    )
    if common < OPPOSED_SHARE * least:
        return None, 0.0
    return words, common / min(stem_weight(one.stems), stem_weight(two.stems))


def _shorter_clause_weight(clause: Clause, other: Clause) -> float:
    """Return how much the shorter of two clauses says beside one word."""
    return max(min(stem_weight(clause.stems), stem_weight(other.stems)) - 1, LIGHT_WEIGHT)


# -- a value that took the place of another ------------------------------------------------------


def _find_swapped(
    one: ParsedText, two: ParsedText, shared: frozenset[str]
) -> tuple[tuple[frozenset[str], frozenset[str]] | None, tuple[float, ...]]:
    """Return what stands only in the one and only in the other of the best matching clauses."""
    nothing = (0.0,) * 8
    if not shared or not one.clauses or not two.clauses:
        return None, nothing
    clause, other, common = _find_best_clauses(one, two)
    rest, instead = clause.stems - two.stems, other.stems - one.stems
    gone = max((stem_weight(each.gone & one.stems) for each in two.clauses), default=0.0)
    if not common:
        return None, (*nothing[:7], gone / (gone + 1))
    share = common / (common + max(stem_weight(rest), stem_weight(instead), 0.3))
    rest, instead = rest - LIGHT_STEMS, instead - LIGHT_STEMS
    mine, theirs = find_kinds(rest), find_kinds(instead)
    swap = share if rest and instead and (_has_short_text(one, two) or mine & theirs) else 0.0
    functional = bool((clause.stems & other.stems) & SINGLE_VALUE_STEMS)
    signs = (
        swap,
        swap * other.change,
        swap * bool(mine & theirs),
        swap * bool(mine and theirs and not mine & theirs),
        swap * functional,
        swap * (bool(rest & one.names) and bool(instead & two.names)),
        1 / (1 + max(len(rest), len(instead))) if rest and instead else 0.0,
        gone / (gone + 1),
    )
    return ((rest, instead) if swap else None), signs


def _has_short_text(one: ParsedText, two: ParsedText) -> bool:
    return min(len(one.telling), len(two.telling)) <= SHORT_WORDS


def _find_best_clauses(one: ParsedText, two: ParsedText) -> tuple[Clause, Clause, float]:
    best, found = -1.0, (one.clauses[0], two.clauses[0])
    for clause in one.clauses:
        for other in two.clauses:
            shared = clause.stems & other.stems
            if shared and (common := stem_weight(shared)) > best:
                best, found = common, (clause, other)
    return (*found, max(best, 0.0))


# -- when and by whom ------------------------------------------------------------------------------


def _context_signs(older: PairSide, newer: PairSide) -> tuple[float, ...]:
    together = older.session is not None and older.session == newer.session
    return (
        float(any(each.change for each in newer.reading.clauses[:3])),
        float(older.first_person and newer.first_person),
        float(together),
        math.log1p(max(newer.days - older.days, 0.0)) / 6,
    )


# -- why -------------------------------------------------------------------------------------

SHOWN_CHARS = 80


def render_reason(relation: Relation, signs: PairSigns, similarity: float) -> str:
    """Return in a sentence what speaks most plainly for a relation."""
    match relation:
        case Relation.DUPLICATE:
            return "both say the same" if signs.may_merge else "both seem to say the same"
        case Relation.EVOLUTION | Relation.TENSION:
            return _render_conflict(relation, signs)
        case Relation.SUPPORTS:
            return "one seems to be evidence for the other"
        case Relation.PART_OF:
            return "one seems to be a part of the other"
        case Relation.DEPENDS_ON:
            return "one seems to wait for the other"
        case Relation.RELATED_TO:
            return f"they are about similar things ({similarity:.2f})"
        case _:
            return "they have nothing to do with each other"


def _render_conflict(relation: Relation, signs: PairSigns) -> str:
    """Return what speaks most plainly for a conflict. Words are named only where both texts show
    which they are."""
    by_denial = (
        signs.denial and f"one says `{_quote_clause(signs.denial, signs)}`, the other says it is so"
    )
    by_number = signs.number and f"{signs.number[0].shown} became {signs.number[1].shown}"
    older, newer = signs.readings
    by_opposites = signs.opposites and (
        f"one says {older.spell_stems(frozenset(signs.opposites[:1]), 1)},"
        f" the other {newer.spell_stems(frozenset(signs.opposites[1:]), 1)}"
    )
    if relation is Relation.TENSION:
        return by_denial or by_opposites or by_number or "both cannot hold"
    changed = find_changed_words(older.text, newer.text)
    by_value = changed and f"{changed[1]} took the place of {changed[0]}"
    return by_number or by_value or by_denial or "the newer one says it otherwise"


def _quote_clause(clause: Clause, signs: PairSigns) -> str:
    """Return a clause as its text writes it."""
    for reading in signs.readings:
        at = reading.text.lower().find(clause.text.lower())
        if at >= 0:
            clause_text = reading.text[at : at + len(clause.text)]
            return _truncate(clause_text.strip(" ,;:.!"))
    return _truncate(clause.text.strip(" ,;:.!"))


def _truncate(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= SHOWN_CHARS else text[: SHOWN_CHARS - 1] + "…"
