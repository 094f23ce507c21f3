"""Both ways in which an event may tell scores."""

from __future__ import annotations

from madeleine.model.scored_events import read_scores


def test_scores_come_by_their_name_whichever_way_they_are_told() -> None:
    by_memory = {"a": {"importance": 0.5, "relevance": 1}, "b": {"relevance": None}}
    told = {"importance": {"a": 0.5}, "relevance": {"a": 1, "b": None}}

    assert read_scores(by_memory) == told
    assert read_scores(told) == told


def test_what_is_no_score_is_left_out() -> None:
    odd = {"relevance": {"a": 2, "b": -0.1, "c": "x", "d": True, "e": float("nan"), "f": 0.1}}

    assert read_scores(odd) == {"relevance": {"f": 0.1}}
    assert read_scores({"a": {"beauty": 0.5}, "b": 7}) == {}
    assert read_scores(None) == read_scores([1]) == {}
