"""What is forgotten, and what is protected by what."""

from __future__ import annotations

import numpy as np
import pytest

from madeleine.rules.forgetting import (
    ForgettingAction,
    ForgettingColumns,
    ForgettingThresholds,
    Protection,
    find_protections,
    select_actions,
)

BOTH = ForgettingThresholds(archive_below=0.2, delete_below=0.05)


def candidates(count: int = 1, **given: object) -> ForgettingColumns:
    """Old memories that do not matter, but for what is given."""
    columns: dict[str, object] = {
        "relevance": np.zeros(count),
        "importance": np.zeros(count),
        "age": np.full(count, 1_000.0),
        "tagged": np.zeros(count, np.bool_),
        "core": np.zeros(count, np.bool_),
        "of_protected_type": np.zeros(count, np.bool_),
    }
    return ForgettingColumns(**{**columns, **{k: np.array(v) for k, v in given.items()}})  # type: ignore[arg-type]


def told(
    codes: object, words: type[ForgettingAction] | type[Protection]
) -> list[ForgettingAction | Protection]:
    return [list(words)[each] for each in codes]  # type: ignore[attr-defined]


def test_relevance_strictly_below_a_threshold_decides() -> None:
    found = candidates(5, relevance=[0.0, 0.04999, 0.05, 0.19999, 0.2])

    assert told(select_actions(found, BOTH), ForgettingAction) == (
        [
            ForgettingAction.DELETE,
            ForgettingAction.DELETE,
            ForgettingAction.ARCHIVE,
            ForgettingAction.ARCHIVE,
            ForgettingAction.PRESERVE,
        ]
    )


def test_thresholds_of_0_forget_nothing() -> None:
    assert told(
        select_actions(candidates(1, relevance=[0.0]), ForgettingThresholds()), ForgettingAction
    ) == [ForgettingAction.PRESERVE]


def test_thresholds_of_1_spare_only_what_is_wholly_relevant() -> None:
    found = candidates(2, relevance=[0.9999, 1.0])

    assert told(select_actions(found, ForgettingThresholds(1.0, 0.0)), ForgettingAction) == [
        ForgettingAction.ARCHIVE,
        ForgettingAction.PRESERVE,
    ]
    assert told(select_actions(found, ForgettingThresholds(0.0, 1.0)), ForgettingAction) == [
        ForgettingAction.DELETE,
        ForgettingAction.PRESERVE,
    ]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, Protection.NONE),
        ({"tagged": [True]}, Protection.EXPLICIT),
        ({"core": [True]}, Protection.CORE),
        ({"importance": [0.7]}, Protection.IMPORTANCE),
        ({"importance": [0.6999]}, Protection.NONE),
        ({"age": [89.99]}, Protection.GRACE),
        ({"age": [90.0]}, Protection.NONE),
        ({"of_protected_type": [True]}, Protection.TYPE),
    ],
)
def test_each_protection_alone_is_enough(given: dict[str, object], why: Protection) -> None:
    assert told(find_protections(candidates(1, **given), BOTH), Protection) == [why]


def test_the_first_protection_that_holds_is_the_reason() -> None:
    all_of_them = [
        ("tagged", True, Protection.EXPLICIT),
        ("core", True, Protection.CORE),
        ("importance", 1.0, Protection.IMPORTANCE),
        ("age", 0.0, Protection.GRACE),
        ("of_protected_type", True, Protection.TYPE),
    ]

    for place, (_, _, why) in enumerate(all_of_them):
        left = {name: [value] for name, value, _ in all_of_them[place:]}
        assert told(find_protections(candidates(1, **left), BOTH), Protection) == [why]
