"""Both ways in which an event may tell scores."""

from __future__ import annotations

from madeleine.rules.scoring import by_name


def test_scores_come_by_their_name_whichever_way_they_are_told() -> None:
    by_memory = {"a": {"importance": 0.5, "relevance": 1}, "b": {"relevance": None}}
    told = {"importance": {"a": 0.5}, "relevance": {"a": 1, "b": None}}

    assert by_name(by_memory) == told
    assert by_name(told) == told


def test_what_is_no_score_is_left_out() -> None:
    odd = {"relevance": {"a": 2, "b": -0.1, "c": "x", "d": True, "e": float("nan"), "f": 0.1}}

    assert by_name(odd) == {"relevance": {"f": 0.1}}
    assert by_name({"a": {"beauty": 0.5}, "b": 7}) == {}
    assert by_name(None) == by_name([1]) == {}
