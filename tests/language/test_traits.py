"""What can be told of a passage at a glance."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.language.traits import CAPITALS_AT_MOST, WORDS_AT_MOST, Trait, traits_of

NOTHING = Trait(0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Paris is lovely", NOTHING),
        ("Is it lovely?", Trait.QUESTION_LAST | Trait.QUESTION),
        ("Is it? Yes.", Trait.QUESTION),
        ("They met last week", Trait.TIME),
        ("There were seven of them", Trait.NUMBER),
        ("It was in 2019", Trait.TIME | Trait.NUMBER),
        ("I gave her my word", Trait.FIRST_PERSON),
        ("Always write tests", Trait.INSTRUCTION),
        ("She prefers tea", Trait.PREFERENCE),
        ("Whenever I ask, would you rather we met 2 days ago? I'd rather not",
         Trait.QUESTION | Trait.TIME | Trait.NUMBER | Trait.FIRST_PERSON | Trait.INSTRUCTION
         | Trait.PREFERENCE),
        ("", NOTHING),
        ("私は猫が好きです", NOTHING),
        ("猫が好きですか？", Trait.QUESTION_LAST | Trait.QUESTION),
    ],
)  # fmt: skip
def test_the_form_of_a_passage_is_told_in_bits(text: str, expected: Trait) -> None:
    assert Trait(traits_of(text).bits) == expected


def test_names_and_words_are_counted() -> None:
    found = traits_of("Yesterday Anna met Ben in Paris, and it rained")

    assert (found.capitals, found.words) == (3, 9)
    assert traits_of("").words == 0


def test_every_trait_is_a_bit_of_its_own_that_sixteen_have_room_for() -> None:
    bits = [each.value for each in Trait]

    assert len(set(bits)) == len(bits)
    assert all(bit.bit_count() == 1 for bit in bits)
    assert sum(bits) < 2**16


@given(text=st.text(max_size=300))
def test_any_text_has_traits_that_fit_where_they_are_kept(text: str) -> None:
    found = traits_of(text)

    assert 0 <= found.bits < 2**16
    assert 0 <= found.capitals <= CAPITALS_AT_MOST < 2**16
    assert 0 <= found.words <= WORDS_AT_MOST < 2**31
    assert traits_of(text) == found
