"""One score from many signs: the documented numbers, and what holds for all."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.model.words import ACTIVATION_BY_EDGE, Edge, Tier
from madeleine.rules.fusion import (
    LEAD_MOST,
    TIER_BOOST,
    BoostInputs,
    Calibration,
    RecallHead,
    blend_with_rerank,
    bm25,
    boost_chance,
    boost_factors,
    calibrate_sums,
    chance_behind,
    display_score,
    idf,
    leads_over_others,
    lift_chance,
    select_rarest_words,
    spread_score,
    weighted_sums,
)

NEUTRAL = BoostInputs()
SHARE = st.floats(0, 1)
VALUES = st.floats(-50, 50)
NAMES = ("cosine", "coverage", "length", "question")

columns = st.integers(1, 6).flatmap(
    lambda count: st.fixed_dictionaries(
        {name: st.lists(VALUES, min_size=count, max_size=count).map(np.array) for name in NAMES}
    )
)
heads = st.builds(
    RecallHead,
    weights=st.fixed_dictionaries({name: st.floats(-5, 5) for name in NAMES}),
    calibration=st.builds(
        Calibration,
        slope=st.floats(0.01, 5),
        bias=VALUES,
        evidence=st.dictionaries(st.sampled_from(["best", "telling"]), st.floats(0, 5)),
    ),
)
standings = st.builds(
    BoostInputs,
    tier=st.sampled_from(list(TIER_BOOST)),
    confidence=SHARE,
    same_space=st.booleans(),
    idle_days=st.floats(-1, 10_000) | st.just(math.inf),
    uses=st.integers(0, 10_000),
    importance=SHARE,
    outdated=st.booleans(),
    age_days=st.none() | st.floats(-1, 10_000),
    on_date=st.sampled_from([None, True, False]),
)


# --- boosts -------------------------------------------------------------------------------


def test_a_memory_that_stands_like_most_is_not_boosted() -> None:
    assert boost_factors(NEUTRAL) == dict.fromkeys(
        ("tier", "confidence", "space", "recency", "use", "importance", "validity", "newest",
         "date"), 1.0
    )  # fmt: skip
    assert boost_chance(0.37, boost_factors(NEUTRAL)) == 0.37


@pytest.mark.parametrize(("tier", "expected"), [("core", 1.1), ("working", 1), ("archival", 0.9)])
def test_core_counts_a_tenth_more_and_archival_a_tenth_less(tier: str, expected: float) -> None:
    assert boost_factors(BoostInputs(tier=tier))["tier"] == pytest.approx(expected)


def test_every_tier_has_its_boost() -> None:
    assert {each.value for each in Tier} == TIER_BOOST.keys()


@pytest.mark.parametrize(("confidence", "expected"), [(0, 0.4), (0.25, 0.55), (0.5, 0.7), (1, 1)])
def test_confidence_counts_from_four_tenths_to_all(confidence: float, expected: float) -> None:
    assert boost_factors(BoostInputs(confidence=confidence))["confidence"] == pytest.approx(
        expected
    )


def test_a_memory_of_another_space_counts_for_six_tenths() -> None:
    assert boost_factors(BoostInputs(same_space=False))["space"] == 0.6


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        (0, 1.05),
        (7, 1.025),
        (14, 1.0125),
        (3.5, 1.035355),
        (70, 1.000049),
        (math.inf, 1),
        (-3, 1.05),
    ],
)
def test_a_use_counts_a_twentieth_and_half_of_it_a_week_later(days: float, expected: float) -> None:
    assert boost_factors(BoostInputs(idle_days=days))["recency"] == pytest.approx(
        expected, abs=5e-7
    )


@pytest.mark.parametrize(
    ("uses", "expected"), [(0, 1), (1, 1.011384), (5, 1.029426), (20, 1.05), (9999, 1.05)]
)
def test_use_counts_by_its_logarithm_until_twenty(uses: int, expected: float) -> None:
    assert boost_factors(BoostInputs(uses=uses))["use"] == pytest.approx(expected, abs=5e-7)
    by_hand = 1 + 0.05 * min(1, math.log(1 + uses) / math.log(21))
    assert boost_factors(BoostInputs(uses=uses))["use"] == pytest.approx(by_hand)


@pytest.mark.parametrize(
    ("importance", "expected"), [(0, 0.95), (0.5, 1), (0.75, 1.025), (1, 1.05)]
)
def test_importance_counts_a_twentieth_up_or_down(importance: float, expected: float) -> None:
    assert boost_factors(BoostInputs(importance=importance))["importance"] == pytest.approx(
        expected
    )


def test_what_is_outdated_counts_half() -> None:
    assert boost_factors(BoostInputs(outdated=True))["validity"] == 0.5


@pytest.mark.parametrize(
    ("days", "expected"), [(None, 1), (0, 2.5), (14, 1.75), (28, 1.375), (-1, 2.5)]
)
def test_the_newest_count_more_when_they_are_asked_for(days: float | None, expected: float) -> None:
    assert boost_factors(BoostInputs(age_days=days))["newest"] == pytest.approx(expected)


@pytest.mark.parametrize(("on_date", "expected"), [(None, 1), (True, 1.3), (False, 0.7)])
def test_a_note_of_the_date_asked_about_counts_more(on_date: bool | None, expected: float) -> None:
    assert boost_factors(BoostInputs(on_date=on_date))["date"] == expected


def test_a_note_of_the_very_day_counts_most() -> None:
    assert boost_factors(BoostInputs(on_date=True, on_day=True))["date"] == 2.0


def test_boosts_act_together() -> None:
    standing = BoostInputs("core", 0.5, False, 0, 20, 1, True, 0, True)

    expected = 0.5 * 1.1 * 0.7 * 0.6 * 1.05 * 1.05 * 1.05 * 0.5 * 2.5 * 1.3
    assert boost_chance(0.5, boost_factors(standing)) == pytest.approx(expected)


@given(one=SHARE, two=SHARE, standing=standings)
def test_boosts_never_turn_two_that_stand_alike(
    one: float, two: float, standing: BoostInputs
) -> None:
    less, more = sorted((one, two))

    factors = boost_factors(standing)
    assert boost_chance(less, factors) <= boost_chance(more, factors)
    if more - less > 1e-9:
        assert boost_chance(less, factors) < boost_chance(more, factors)


@given(chance=st.floats(0.01, 1), standing=standings, gain=SHARE)
def test_standing_better_never_lowers_a_score(
    chance: float, standing: BoostInputs, gain: float
) -> None:
    better = (
        replace(standing, tier="core"),
        replace(standing, confidence=max(standing.confidence, gain)),
        replace(standing, same_space=True),
        replace(standing, idle_days=standing.idle_days * gain if gain else 0.0),
        replace(standing, uses=standing.uses + 1),
        replace(standing, importance=max(standing.importance, gain)),
        replace(standing, outdated=False),
        replace(standing, on_date=True),
    )

    before = boost_chance(chance, boost_factors(standing))

    assert before >= 0
    for each in better:
        assert boost_chance(chance, boost_factors(each)) >= before * (1 - 1e-12)


@given(chance=SHARE, standing=standings)
def test_what_is_shown_is_between_0_and_1(chance: float, standing: BoostInputs) -> None:
    assert 0 <= display_score(boost_chance(chance, boost_factors(standing))) <= 1


# --- lifts and reranking ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chance", "lift", "expected"),
    [(0.2, 0.5, 0.6), (0.5, 0.15, 0.575), (0, 0.6, 0.6), (0.3, 0, 0.3), (0.3, 1, 1), (1, 0.5, 1)],
)
def test_a_lift_goes_part_of_the_way_to_certainty(
    chance: float, lift: float, expected: float
) -> None:
    assert lift_chance(chance, lift) == pytest.approx(expected)


@given(chance=SHARE, lifts=st.lists(SHARE, min_size=3, max_size=3))
def test_lifts_never_lower_and_their_order_does_not_matter(
    chance: float, lifts: list[float]
) -> None:
    found = []
    for some in permutations(lifts):
        score = chance
        for lift in some:
            score = lift_chance(score, lift)
        found.append(score)

    assert all(chance - 1e-12 <= each <= 1 for each in found)
    assert found == pytest.approx([found[0]] * len(found))


@pytest.mark.parametrize(
    ("logit", "expected"), [(-12, 0), (6, 1), (-3, 0.5), (0, 2 / 3), (-40, 0), (40, 1)]
)
def test_the_logits_of_a_cross_encoder_run_from_minus_12_to_6(
    logit: float, expected: float
) -> None:
    assert blend_with_rerank(0.25, logit, blend=1) == pytest.approx(expected)
    assert blend_with_rerank(0.25, logit, blend=0) == 0.25
    assert blend_with_rerank(0.25, logit, blend=0.6) == pytest.approx(0.6 * expected + 0.4 * 0.25)


@pytest.mark.parametrize(
    ("score", "expected"), [(0.123456, 0.1235), (1.3, 1), (-0.1, 0), (0.99999, 1)]
)
def test_a_score_is_shown_with_four_digits_and_never_above_1(score: float, expected: float) -> None:
    assert display_score(score) == expected


# --- features -----------------------------------------------------------------------------


def plain(**weights: float) -> RecallHead:
    return RecallHead(weights, Calibration(1.0, 0.0, {}))


def test_features_are_weighed_and_summed() -> None:
    features = {"cosine": np.array([0.5, 1.0]), "coverage": np.array([1.0, 0.0])}

    assert weighted_sums(plain(cosine=2, coverage=-1), features).tolist() == [0, 2]


def test_a_sum_becomes_a_chance_by_slope_bias_and_evidence() -> None:
    head = RecallHead({}, Calibration(2.0, -1.0, {"best": 3.0, "absent": 9.0}))

    found = calibrate_sums(head, np.array([0.0, 0.5, -1e9, 1e9]), {"best": 0.5, "unknown": 7.0})

    expected = [1 / (1 + math.exp(-0.5)), 1 / (1 + math.exp(-1.5)), 0, 1]
    assert found.tolist() == pytest.approx(expected)


@given(head=heads, features=columns, absent=st.sampled_from(NAMES))
def test_a_source_that_is_absent_changes_nothing(
    head: RecallHead, features: dict[str, np.ndarray], absent: str
) -> None:
    without = {name: values for name, values in features.items() if name != absent}
    unweighed = RecallHead(
        {name: weight for name, weight in head.weights.items() if name != absent}, head.calibration
    )
    silent = features | {absent: np.zeros_like(features[absent])}

    expected = weighted_sums(unweighed, features)

    np.testing.assert_allclose(weighted_sums(head, without), expected, atol=1e-9)
    np.testing.assert_allclose(weighted_sums(head, silent), expected, atol=1e-9)


@given(head=heads, features=columns)
def test_a_feature_nobody_weighs_changes_nothing(
    head: RecallHead, features: dict[str, np.ndarray]
) -> None:
    more = features | {"unheard": features["cosine"] * 100}

    np.testing.assert_array_equal(weighted_sums(head, more), weighted_sums(head, features))


def test_without_any_known_feature_each_candidate_has_the_sum_of_nothing() -> None:
    assert weighted_sums(plain(cosine=2), {"unheard": np.array([1.0, 2.0])}).tolist() == [0, 0]
    assert weighted_sums(plain(cosine=2), {"cosine": np.array([])}).tolist() == []
    assert weighted_sums(plain(cosine=2), {}).tolist() == []


@given(head=heads, features=columns, name=st.sampled_from(NAMES), more=st.floats(0, 50))
def test_the_chance_follows_the_sign_of_every_weight(
    head: RecallHead, features: dict[str, np.ndarray], name: str, more: float
) -> None:
    raised = features | {name: features[name] + more}
    evidence = {"best": 1.0, "telling": 2.0}

    before = calibrate_sums(head, weighted_sums(head, features), evidence)
    after = calibrate_sums(head, weighted_sums(head, raised), evidence)

    sign = math.copysign(1.0, head.weights[name])
    assert (sign * (after - before) >= -1e-9).all()


@given(head=heads, features=columns, best=st.floats(0, 10), more=st.floats(0, 10))
def test_a_chance_stays_between_0_and_1_and_no_evidence_lowers_it(
    head: RecallHead, features: dict[str, np.ndarray], best: float, more: float
) -> None:
    sums = weighted_sums(head, features)

    found = calibrate_sums(head, sums, {"best": best})

    assert ((found >= 0) & (found <= 1)).all()
    assert (calibrate_sums(head, sums, {"best": best + more}) >= found).all()
    assert (calibrate_sums(head, sums, {}) <= found).all()


@given(head=heads, features=columns)
def test_a_chance_does_not_depend_on_who_else_is_a_candidate(
    head: RecallHead, features: dict[str, np.ndarray]
) -> None:
    """I10: absolute, so that the best of nothing does not look good."""
    whole = calibrate_sums(head, weighted_sums(head, features), {})

    for place in range(len(whole)):
        alone = {name: values[place : place + 1] for name, values in features.items()}
        assert calibrate_sums(head, weighted_sums(head, alone), {})[0] == pytest.approx(
            whole[place], abs=1e-9
        )


# --- words --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("holders", "memories", "expected"),
    [(0, 10, math.log(22)), (1, 10, math.log(1 + 9.5 / 1.5)), (10, 10, math.log(1 + 0.5 / 10.5)),
     (15, 10, math.log(1 + 0.5 / 15.5)), (0, 0, math.log(2))],
)  # fmt: skip
def test_a_rare_word_tells_more(holders: int, memories: int, expected: float) -> None:
    assert idf(holders, memories) == pytest.approx(expected)


@given(holders=st.integers(0, 10**6), more=st.integers(0, 10**6), memories=st.integers(0, 10**6))
def test_a_more_common_word_never_tells_more(holders: int, more: int, memories: int) -> None:
    assert 0 < idf(holders + more, memories) <= idf(holders, memories)


def test_bm25_is_the_idf_for_a_word_said_once_in_a_text_of_usual_length() -> None:
    counts = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 0.0]])

    found = bm25(counts, np.array([2.0, 3.0]), np.full(4, 7.0), 7.0)

    assert found.tolist() == pytest.approx([2, 3, 5, 0])


def test_bm25_of_a_word_said_often_and_of_a_long_text() -> None:
    counts = np.array([[3.0], [1.0], [1.0]])

    found = bm25(counts, np.array([1.0]), np.array([10.0, 20.0, 0.0]), 10.0)

    expected = [3 * 2.2 / (3 + 1.2), 2.2 / (1 + 1.2 * 1.75), 2.2 / (1 + 1.2 * 0.25)]
    assert found.tolist() == pytest.approx(expected)


@given(
    count=st.integers(0, 50),
    length=st.floats(0, 1000),
    mean=st.floats(0, 1000),
    more=st.floats(0, 1000),
)
def test_bm25_grows_with_the_count_up_to_a_bound_and_falls_with_the_length(
    count: int, length: float, mean: float, more: float
) -> None:
    def of(said: int, long: float) -> float:
        counts, lengths = np.array([[float(said)]]), np.array([long])
        return float(bm25(counts, np.array([1.0]), lengths, mean)[0])

    assert of(count, length) <= of(count + 1, length) <= 2.2
    assert of(count, length + more) <= of(count, length)


@pytest.mark.parametrize(
    ("holders", "budget", "least", "expected"),
    [
        ([5, 100, 0, 20], 30, 1, [0, 3]),
        ([5, 100, 0, 20], 200, 1, [0, 3, 1]),
        ([500, 900], 30, 1, [0]),
        ([500, 900], 30, 2, [0, 1]),
        ([0, 0], 30, 1, []),
        ([], 30, 1, []),
        ([30, 1], 30, 1, [1]),
        ([29, 1], 30, 1, [1, 0]),
    ],
)
def test_candidates_are_drawn_by_the_rarest_words(
    holders: list[int], budget: int, least: int, expected: list[int]
) -> None:
    assert select_rarest_words(holders, budget, least) == expected


@given(
    holders=st.lists(st.integers(0, 1000), max_size=12),
    budget=st.integers(0, 3000),
    least=st.integers(1, 4),
)
def test_words_are_drawn_within_the_budget_and_the_rarest_always(
    holders: list[int], budget: int, least: int
) -> None:
    chosen = select_rarest_words(holders, budget, least)

    held = [holders[place] for place in chosen]
    there = sorted(count for count in holders if count)
    assert held == there[: len(chosen)]
    assert len(set(chosen)) == len(chosen) >= min(least, len(there))
    assert sum(held) <= budget or len(chosen) <= least
    if len(chosen) < len(there):
        assert sum(held) + there[len(chosen)] > budget


# --- activation ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("edge", "factor"),
    [
        (Edge.SUPPORTS, 1.0),
        (Edge.PART_OF, 1.0),
        (Edge.DEPENDS_ON, 1.0),
        (Edge.DEFINES, 1.0),
        (Edge.DERIVED_FROM, 1.0),
        (Edge.EVOLVED_FROM, 0.8),
        (Edge.RELATED_TO, 0.7),
        (Edge.CONTRADICTS, 0.4),
    ],
)
def test_a_neighbour_inherits_by_the_documented_factor(edge: Edge, factor: float) -> None:
    assert spread_score(0.8, 0.9, ACTIVATION_BY_EDGE[edge], 0.5) == pytest.approx(
        0.8 * 0.9 * factor * 0.5
    )


def test_every_edge_has_a_factor_of_at_most_1() -> None:
    assert ACTIVATION_BY_EDGE.keys() == set(Edge)
    assert all(0 < factor <= 1 for factor in ACTIVATION_BY_EDGE.values())


@given(score=SHARE, weight=SHARE, edge=st.sampled_from(list(Edge)))
def test_a_neighbour_never_inherits_more_than_half_of_the_score(
    score: float, weight: float, edge: Edge
) -> None:
    assert 0 <= spread_score(score, weight, ACTIVATION_BY_EDGE[edge], 0.5) <= score / 2


@pytest.mark.parametrize(
    ("sums", "owners", "leads"),
    [
        ([], [], []),
        ([2.0], [7], [2.0]),  # alone: as if beside one that shares nothing with the question
        ([9.0, 4.0], [7, 7], [3.0, 3.0]),
        ([-1.0], [7], [-1.0]),
        ([3.0, 1.0, 2.0], [1, 2, 3], [1.0, -2.0, -1.0]),
        ([3.0, 2.5, 1.0], [1, 1, 2], [2.0, 1.5, -2.0]),  # two passages of one memory
        ([9.0, 1.0], [1, 2], [3.0, -3.0]),  # no further than LEAD_MOST
        ([2.0, 2.0], [1, 2], [0.0, 0.0]),
    ],
)
def test_a_lead_is_the_distance_to_the_best_of_the_others(
    sums: list[float], owners: list[int], leads: list[float]
) -> None:
    found = leads_over_others(np.array(sums), np.array(owners, np.int64))

    assert found.tolist() == pytest.approx(leads)


@given(st.lists(st.tuples(st.floats(-9, 9), st.integers(0, 4)), min_size=1, max_size=8))
def test_at_most_one_memory_is_ahead_of_all_others(rows: list[tuple[float, int]]) -> None:
    sums, owners = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])

    leads = leads_over_others(sums, owners)

    assert len({owners[place] for place in np.flatnonzero(leads > 0)}) <= 1
    assert np.all(np.abs(leads) <= LEAD_MOST)


def test_what_is_beside_a_sure_answer_is_hardly_one_and_keeps_its_order() -> None:
    said = np.array([0.7, 0.3, 0.0])

    assert chance_behind(said, 0.0).tolist() == said.tolist()
    assert chance_behind(said, 0.98)[0] < 0.05
    assert chance_behind(said, 1.0).tolist() == [0.0, 0.0, 0.0]
    behind = chance_behind(said, 0.6).tolist()
    assert behind == sorted(behind, reverse=True)
