"""Which summary belongs to which cluster, and the text of one."""

from __future__ import annotations

from datetime import timedelta

from madeleine.language.gist import build_gist
from madeleine.model.memory import Memory
from madeleine.rules.summary_matching import find_refused, match_summaries, members_digest
from madeleine.testing.making import NOON, memory_id


def told(*texts: str) -> list[Memory]:
    return [
        Memory(memory_id(at + 1), text, NOON + timedelta(days=at), NOON)
        for at, text in enumerate(texts)
    ]


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


def test_a_gist_has_the_sentences_that_say_what_many_say() -> None:
    members = told(
        "Backups run at night. Ana likes tea.",
        "The backups run every night. The sky was grey.",
        "Night backups run on the small server.",
    )

    made = build_gist(members, 200)

    assert "backups" in made.title
    assert "night" in made.title
    assert "backups" in made.content.lower()
    assert "tea" not in made.content
    assert "sky" not in made.content


def test_a_gist_says_each_thing_once_and_keeps_to_its_length() -> None:
    members = told(*["Backups run at night."] * 8)

    assert build_gist(members, 500).content == "Backups run at night."
    long = told(*[f"Backups of shelf {each} run at night on shelf {each}." for each in range(50)])
    assert len(build_gist(long, 200).content) <= 200


def test_a_gist_tells_a_denial_beside_what_it_denies() -> None:
    members = told(
        "Backups run at night.",
        "The backups run at night.",
        "Backups do not run at night.",
        "Since May backups do not run at night.",
    )

    assert "not" in build_gist(members, 500).content
    assert build_gist(members, 500).content.startswith("Backups run at night.")


def test_texts_without_anything_in_common_still_have_a_gist() -> None:
    made = build_gist(told("Tea.", "Rain"), 100)

    assert made.title
    assert made.content


def test_every_part_of_a_refused_cluster_is_refused() -> None:
    found = [["a", "b", "c"], ["d", "e", "f"], ["x", "y", "z"], ["a", "x", "y", "z"]]

    assert find_refused(found, [["a", "b", "c", "d", "e"]]) == {0, 1}
