"""Which summary belongs to which cluster."""

from __future__ import annotations

from madeleine.model.digest import members_digest
from madeleine.rules.summary_matching import find_refused, match_summaries


def test_a_summary_belongs_to_the_cluster_that_it_shares_most_with() -> None:
    found = [list("abcd"), list("efgh")]
    known = [list("defg"), list("abc"), list("xyz")]

    assert match_summaries(found, known) == {0: 1, 1: 0}


def test_one_that_shares_little_belongs_to_none() -> None:
    assert match_summaries([list("abcd")], [list("dxyz")]) == {}
    assert match_summaries([], [list("ab")]) == {}


def test_of_two_clusters_with_equal_claims_the_first_gets_it() -> None:
    assert match_summaries([list("abx"), list("aby")], [list("abz")]) == {0: 0}


def test_the_hash_of_members_says_who_they_are_and_what_they_say() -> None:
    one = members_digest([("a", b"1"), ("b", b"2")])

    assert one == members_digest([("b", b"2"), ("a", b"1")])
    assert one != members_digest([("a", b"1"), ("b", b"3")])
    assert one != members_digest([("a", b"1"), ("c", b"2")])


def test_every_part_of_a_refused_cluster_is_refused() -> None:
    found = [["a", "b", "c"], ["d", "e", "f"], ["x", "y", "z"], ["a", "x", "y", "z"]]

    assert find_refused(found, [["a", "b", "c", "d", "e"]]) == {0, 1}
