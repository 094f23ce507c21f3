"""Claims: what counts as one address, which of two rivals holds, and whom a project may replace."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from madeleine.language.claims import (
    are_rivals,
    claim_address,
    claim_value_key,
    find_overtaken,
    is_newer,
    normalize_text,
)
from madeleine.model.memory import Claim, Memory

DAY = datetime(2026, 11, 15, tzinfo=UTC)

texts = st.text(min_size=1, max_size=30)
times = st.integers(0, 5).map(lambda days: DAY + timedelta(days=days))
claims = st.builds(
    Claim, st.sampled_from(["Ana", "Bob"]), st.just("city"), st.sampled_from(["Ghent", "Cork"])
)
memories = st.builds(
    Memory,
    id=st.uuids().map(str),
    content=st.just("text"),
    created=times,
    updated=times,
    space=st.sampled_from([None, "atlas", "orion"]),
    claim=st.none() | claims,
)
many = st.lists(memories, max_size=8, unique_by=lambda memory: memory.id)


def saying(value: str, day: int = 0, space: str | None = None, **fields: object) -> Memory:
    claim = Claim(str(fields.pop("subject", "Ana")), "city", value)
    at = DAY + timedelta(days=day)
    return Memory(f"{value}-{day}-{space}", "text", at, at, space=space, claim=claim)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("Ana", "home city"), ("  ANA ", "Home\tCity")),
        (("the API server", "port"), ("API server", "the port")),
        (("Straße", "Länge"), ("STRASSE", "La\u0308nge")),
        (("ﬁle", "size"), ("file", "size")),
    ],
)
def test_an_address_is_the_same_in_any_spelling(
    one: tuple[str, str], other: tuple[str, str]
) -> None:
    assert claim_address(Claim(*one, "x")) == claim_address(Claim(*other, "y"))


def test_subject_and_attribute_do_not_run_into_each_other() -> None:
    assert claim_address(Claim("a b", "c", "x")) != claim_address(Claim("a", "b c", "x"))
    assert claim_address(Claim("theatre", "place", "x")) != claim_address(
        Claim("atre", "place", "x")
    )


def test_an_article_alone_is_a_name() -> None:
    assert normalize_text("The") == "the"
    assert normalize_text("The A") == "a"


@given(texts)
@example("the the a")
@example("\u1e9e\u0345 \u00a8")
def test_what_is_plain_stays_as_it_is(text: str) -> None:
    assert normalize_text(normalize_text(text)) == normalize_text(text)


@given(texts)
def test_case_and_spacing_make_no_other_value(text: str) -> None:
    assert claim_value_key(Claim("a", "b", f"  {text.casefold()} ")) == claim_value_key(
        Claim("a", "b", text)
    )


def test_another_value_is_a_rival_and_the_same_is_a_copy() -> None:
    assert are_rivals(saying("Ghent"), saying("Cork"))
    assert not are_rivals(saying("Ghent"), saying(" GHENT"))
    assert not are_rivals(saying("Ghent"), saying("Cork", subject="Bob"))


@pytest.mark.parametrize(
    ("one", "other"),
    [("30 s", "30s"), ("30 s", "30 seconds"), ("1,000", "1000"), ("5 %", "5%"), ("5%", "5 percent"),
     ("2 GB", "2gb"), ("15 min", "15 Minutes"), ("1,250.5 eur", "1250.5 EUR")],
)  # fmt: skip
def test_a_quantity_is_the_same_value_in_every_way_to_write_it(one: str, other: str) -> None:
    assert not are_rivals(saying(one), saying(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [("30 s", "30 ms"), ("1,000", "1.000"), ("5 %", "5"), ("1,00", "100"), ("C", "C++"),
     ("+1", "1"), ("v1.2", "v1.3"), ("10", "10.5")],
)  # fmt: skip
def test_what_only_looks_alike_is_another_value(one: str, other: str) -> None:
    assert are_rivals(saying(one), saying(other))


def test_projects_do_not_meet_and_everybody_meets_what_is_global() -> None:
    assert not are_rivals(saying("Ghent", space="atlas"), saying("Cork", space="orion"))
    assert are_rivals(saying("Ghent", space="atlas"), saying("Cork", space="atlas"))
    assert are_rivals(saying("Ghent", space="atlas"), saying("Cork"))
    assert are_rivals(saying("Ghent"), saying("Cork", space="atlas"))


@given(memories, memories)
def test_being_rivals_goes_both_ways(one: Memory, other: Memory) -> None:
    assert are_rivals(one, other) == are_rivals(other, one)
    assert not are_rivals(one, one)


@given(memories, memories)
def test_of_two_memories_exactly_one_is_newer(one: Memory, other: Memory) -> None:
    assert is_newer(one, other) + is_newer(other, one) == (one.id != other.id)


def test_when_it_was_so_counts_more_than_when_it_was_written() -> None:
    early, late = saying("Ghent", 1), saying("Cork", 2)
    edited = Memory(early.id, "text", early.created, DAY + timedelta(days=9), claim=early.claim)

    assert is_newer(late, edited)


def test_a_value_that_changed_twice_is_a_chain() -> None:
    first, copy = saying("Ghent", 1), saying("GHENT", 2)
    second, third = saying("Cork", 3), saying("Riga", 4)

    found = find_overtaken([third, copy, second, first])

    assert found == [(first, second), (copy, second), (second, third)]


@given(many)
def test_what_is_left_after_the_overtaken_does_not_disagree(given_ones: list[Memory]) -> None:
    pairs = find_overtaken(given_ones)

    assert all(are_rivals(*pair) and is_newer(pair[1], pair[0]) for pair in pairs)
    gone = {older.id for older, _ in pairs}
    left = [each for each in given_ones if each.id not in gone]
    assert not any(are_rivals(one, other) for one in left for other in left)


@given(many)
def test_what_is_overtaken_does_not_depend_on_the_order_of_looking(
    given_ones: list[Memory],
) -> None:
    assert find_overtaken(given_ones) == find_overtaken(given_ones[::-1])
