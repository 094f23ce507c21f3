from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from madeleine.rules.three_way import merge_items, merge_texts, merge_values

TEXTS = st.lists(st.sampled_from("abcde"), max_size=6).map("\n".join)


def test_changes_of_different_lines_are_both_kept() -> None:
    assert merge_texts("a\nb\nc\nd", "A\nb\nc\nd", "a\nb\nc\nD") == "A\nb\nc\nD"


def test_what_one_took_away_and_another_left_alone_is_gone() -> None:
    assert merge_texts("a\nb\nc\nd", "a\nc\nd", "a\nb\nc\nd\ne") == "a\nc\nd\ne"


def test_two_changes_of_one_line_clash() -> None:
    assert merge_texts("a\nb", "a\nB", "a\nβ") is None
    assert merge_texts("", "one", "other") is None


def test_what_both_changed_alike_is_one_change() -> None:
    assert merge_texts("a\nb\nc", "a\nX\nc", "a\nX\nc\nd") == "a\nX\nc\nd"


@given(base=TEXTS, ours=TEXTS, theirs=TEXTS)
def test_merging_texts_does_not_depend_on_whose_they_are(base: str, ours: str, theirs: str) -> None:
    one, other = merge_texts(base, ours, theirs), merge_texts(base, theirs, ours)

    assert (one is None) == (other is None)
    if one is not None and other is not None:
        assert sorted(one.split("\n")) == sorted(other.split("\n"))


@given(base=TEXTS, ours=TEXTS)
def test_what_one_side_left_alone_takes_the_other_side(base: str, ours: str) -> None:
    assert merge_texts(base, ours, base) == ours
    assert merge_texts(base, base, ours) == ours


@given(base=TEXTS, ours=TEXTS, theirs=TEXTS)
def test_a_line_that_one_side_added_stays(base: str, ours: str, theirs: str) -> None:
    merged = merge_texts(f"{base}\nend", f"new\n{base}\nend", f"{theirs}\nend")

    assert merged is None or "new" in merged.split("\n")


def test_a_value_that_both_changed_is_a_clash_and_ours() -> None:
    assert merge_values(1, 2, 1) == (2, False)
    assert merge_values(1, 1, 3) == (3, False)
    assert merge_values(1, 2, 2) == (2, False)
    assert merge_values(1, 2, 3) == (2, True)


def test_items_that_one_side_added_or_took_away_follow() -> None:
    assert merge_items(["a", "b"], ["b", "c"], ["a", "b", "d"]) == ["b", "c", "d"]


def test_an_item_that_one_side_changed_and_another_took_away_stays() -> None:
    merged = merge_items([("a", 1)], [("a", 2)], [], key=lambda item: item[0])

    assert merged == [("a", 2)]
