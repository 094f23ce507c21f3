"""The four documented rules about pairs that nobody connected."""

from __future__ import annotations

import pytest

from madeleine.model.memory import Connection
from madeleine.model.words import Edge, MemoryType
from madeleine.rules.associations import Association, edge_name, find_association, is_contrast

DECISION, FACT = MemoryType.DECISION, MemoryType.FACT
INSIGHT, PATTERN = MemoryType.OBSERVATION, MemoryType.CONCEPT
EXPLAINS = Association(Edge.DISCOVERED, 0.7, "explains")
PARALLEL = Association(Edge.DISCOVERED, 0.5, "parallel_context")
CONTRAST = Association(Edge.CONTRADICTS, 0.6)
FAR = 100.0


@pytest.mark.parametrize(("similarity", "said"), [(0.29, CONTRAST), (0.3, None), (0.99, None)])
def test_two_decisions_are_the_first_rules_business_alone(
    similarity: float, said: Association | None
) -> None:
    assert find_association(DECISION, DECISION, similarity, 0.0) == said
    assert find_association(DECISION, DECISION, similarity, FAR) == said


@pytest.mark.parametrize(("similarity", "said"), [(0.5, None), (0.51, EXPLAINS), (0.99, EXPLAINS)])
def test_an_insight_explains_a_pattern_it_is_like(
    similarity: float, said: Association | None
) -> None:
    assert find_association(INSIGHT, PATTERN, similarity, FAR) == said
    assert find_association(PATTERN, INSIGHT, similarity, FAR) == said


def test_different_types_that_are_alike_share_a_theme_as_surely_as_they_are_alike() -> None:
    assert find_association(FACT, DECISION, 0.7, FAR) is None
    assert find_association(FACT, DECISION, 0.83, FAR) == Association(
        Edge.DISCOVERED, 0.83, "shares_theme"
    )
    assert find_association(FACT, DECISION, 1.0000001, FAR) == Association(
        Edge.DISCOVERED, 1.0, "shares_theme"
    )


def test_alike_memories_of_one_type_are_not_news() -> None:
    assert find_association(FACT, FACT, 0.95, 1.0) is None


@pytest.mark.parametrize("days", [0.0, 6.99, -6.99])
def test_unlike_memories_of_one_week_are_parallel(days: float) -> None:
    assert find_association(FACT, FACT, 0.39, days) == PARALLEL
    assert find_association(INSIGHT, PATTERN, 0.1, days) == PARALLEL
    assert find_association(FACT, FACT, 0.4, days) is None


@pytest.mark.parametrize("days", [7.0, -7.0, FAR])
def test_unlike_memories_of_different_weeks_are_nothing(days: float) -> None:
    assert find_association(FACT, FACT, 0.1, days) is None


def test_the_first_rule_that_speaks_wins() -> None:
    assert find_association(INSIGHT, PATTERN, 0.8, 0.0) == EXPLAINS


@pytest.mark.parametrize(
    ("edge", "by", "said"),
    [
        (Edge.CONTRADICTS, "creative", True),
        (Edge.CONTRADICTS, "conflict_detector", False),
        (Edge.CONTRADICTS, "auto_linker", False),
        (Edge.CONTRADICTS, "user", False),
        (Edge.CONTRADICTS, None, False),
        (Edge.DISCOVERED, "creative", False),
    ],
)
def test_only_what_creative_draws_is_a_contrast(edge: Edge, by: str | None, said: bool) -> None:
    arrow = Connection("7f3a91c2", edge, by=by)

    assert is_contrast(arrow) is said
    assert edge_name(arrow) == ("contrasts_with" if said else edge.value)
