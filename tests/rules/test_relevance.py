"""The curves of relevance, against figures worked out elsewhere."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.model.levels import relevance_level
from madeleine.rules.relevance import (
    Column,
    RelevanceCurve,
    RelevanceEvidence,
    RelevanceFormula,
    count_by_level,
    relevance_scores,
)

UNSAID = 0.5  # the confidence that the figures go by where none is named

# age, idle, importance, confidence, connections, document, floored
GOLDEN = [
    (0, 0, 0.5, UNSAID, 0, 0.850000, 0.510000),
    (1, 1, 0.5, UNSAID, 0, 0.800500, 0.492613),
    (10, 10, 0.5, UNSAID, 0, 0.466490, 0.370681),
    (30, 0.5, 0.5, UNSAID, 0, 0.629695, 0.377817),
    (30, 30, 0.5, UNSAID, 0, 0.140504, 0.231060),
    (30, 30, 0.5, UNSAID, 6, 0.222527, 0.365946),
    (30, 30, 0.9, UNSAID, 0, 0.196706, 0.323484),
    (90, 90, 0.5, UNSAID, 0, 0.003839, 0.150000),
    (90, 90, 0.5, UNSAID, 10, 0.006601, 0.180236),
    (180, 180, 0.7, UNSAID, 0, 2.081e-05, 0.210000),
    (365, 365, 0.1, UNSAID, 0, 1.572e-10, 0.030000),
    (365, 365, 0.4, UNSAID, 0, 2.358e-10, 0.120000),
    (365, 365, 0.8, 1.0, 20, 7.668e-10, 0.240000),
    (0, 0, 1.0, 1.0, 10, 1.0, 1.0),
]
DOCUMENT, FLOORED = RelevanceCurve(), RelevanceCurve(RelevanceFormula.FLOORED)

DAYS = st.floats(0, 20_000)
SHARES = st.floats(0, 1)
CURVES = st.builds(
    RelevanceCurve,
    st.sampled_from(RelevanceFormula),
    st.floats(0, 10),
    st.floats(0, 10),
    st.floats(0, 10),
)


def evidence(*rows: tuple[float, ...]) -> RelevanceEvidence:
    age, idle, importance, confidence, connections = np.array(rows, np.float64).T
    return RelevanceEvidence(age, idle, connections, importance, confidence)


def one(curve: RelevanceCurve, *row: float) -> float:
    return float(relevance_scores(evidence(row), curve)[0])


@pytest.mark.parametrize("row", GOLDEN)
def test_relevance_matches_the_documented_curve(row: tuple[float, ...]) -> None:
    assert one(DOCUMENT, *row[:5]) == pytest.approx(row[5], rel=3e-4, abs=5e-7 * (row[5] > 1e-3))


@pytest.mark.parametrize("row", GOLDEN)
def test_relevance_matches_the_floored_curve(row: tuple[float, ...]) -> None:
    assert one(FLOORED, *row[:5]) == pytest.approx(row[6], abs=5e-7)


def test_the_whole_table_is_worked_out_in_one_go() -> None:
    found = relevance_scores(evidence(*(row[:5] for row in GOLDEN)), FLOORED)

    assert found == pytest.approx([row[6] for row in GOLDEN], abs=5e-7)


def test_no_importance_at_all_is_the_least_there_is() -> None:
    """The figure that others give for a missing importance is that of 0. With us a missing one
    is the default, which every reader of a memory sees."""
    assert one(FLOORED, 2, 2, 0.0, UNSAID, 0) == pytest.approx(0.238058, abs=5e-7)


@pytest.mark.parametrize(
    ("curve", "importance", "days"),
    [
        *((FLOORED, i, d) for i, d in [(0.3, 9.6), (0.5, 18.0), (0.7, 26.0), (0.9, 34.1)]),
        *((DOCUMENT, i, d) for i, d in [(0.3, 13.6), (0.5, 17.4), (0.7, 20.4), (1.0, 24.1)]),
    ],
)
def test_an_untouched_memory_falls_to_0_3_on_the_known_day(
    curve: RelevanceCurve, importance: float, days: float
) -> None:
    assert one(curve, days - 0.06, days - 0.06, importance, UNSAID, 0) > 0.3
    assert one(curve, days + 0.06, days + 0.06, importance, UNSAID, 0) < 0.3


@given(CURVES, DAYS, DAYS, SHARES, SHARES, st.integers(0, 1_000_000))
def test_relevance_is_never_outside_0_and_1(
    curve: RelevanceCurve,
    age: float,
    idle: float,
    importance: float,
    confidence: float,
    arrows: int,
) -> None:
    assert 0 <= one(curve, age, idle, importance, confidence, arrows) <= 1


@given(CURVES, DAYS, DAYS, DAYS, SHARES, SHARES)
def test_waiting_never_raises_relevance(
    curve: RelevanceCurve,
    age: float,
    idle: float,
    wait: float,
    importance: float,
    confidence: float,
) -> None:
    now = one(curve, age, idle, importance, confidence, 2)
    later = one(curve, age + wait, idle + wait, importance, confidence, 2)

    assert later <= now


@given(CURVES, DAYS, DAYS, SHARES, SHARES, SHARES, st.integers(0, 100))
def test_what_speaks_for_a_memory_never_lowers_its_relevance(
    curve: RelevanceCurve,
    age: float,
    idle: float,
    importance: float,
    confidence: float,
    more: float,
    arrows: int,
) -> None:
    def found(matters: float, sure: float, connected: float) -> float:
        return one(curve, age, idle, matters, sure, connected)

    plain = found(importance, confidence, arrows)

    assert found(max(importance, more), confidence, arrows) >= plain
    assert found(importance, max(confidence, more), arrows) >= plain
    assert found(importance, confidence, arrows + 1) >= plain


def test_confidence_is_really_used() -> None:
    sure, unsure = (one(DOCUMENT, 5, 5, 0.5, each, 0) for each in (1.0, 0.0))

    assert sure / unsure == pytest.approx(1.0 / 0.7)


def test_a_clock_that_was_set_back_fades_nothing() -> None:
    assert one(DOCUMENT, -5, -5, 0.5, 1.0, 0) == one(DOCUMENT, 0, 0, 0.5, 1.0, 0)


def test_rates_of_nothing_keep_everything_as_it_is() -> None:
    still = replace(DOCUMENT, age_rate=0.0, idle_rate=0.0)

    assert one(still, 999, 999, 0.5, 1.0, 0) == one(still, 0, 0, 0.5, 1.0, 0)


def test_levels_begin_strictly_above_their_bounds() -> None:
    scores: Column = np.array([1.0, 0.70001, 0.7, 0.3, 0.10001, 0.1, 0.0])

    assert count_by_level(scores) == {"high": 2, "medium": 1, "low": 2, "archive": 2}
    assert [relevance_level(float(each)) for each in scores] == (
        ["high", "high", "medium", "low", "low", "archive", "archive"]
    )
    assert count_by_level(np.zeros(0)) == {"high": 0, "medium": 0, "low": 0, "archive": 0}
