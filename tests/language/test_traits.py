"""What can be told of a passage at a glance."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.language.traits import CAPITALS_AT_MOST, WORDS_AT_MOST, PassageTrait, read_traits

NOTHING = PassageTrait(0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Paris is lovely", NOTHING),
        ("Is it lovely?", PassageTrait.QUESTION_LAST | PassageTrait.QUESTION),
        ("Is it? Yes.", PassageTrait.QUESTION),
        ("They met last week", PassageTrait.TIME),
        ("There were seven of them", PassageTrait.NUMBER),
        ("It was in 2019", PassageTrait.TIME | PassageTrait.NUMBER),
        ("I gave her my word", PassageTrait.FIRST_PERSON),
        ("Always write tests", PassageTrait.INSTRUCTION),
        ("She prefers tea", PassageTrait.PREFERENCE),
        ("Whenever I ask, would you rather we met 2 days ago? I'd rather not",
         PassageTrait.QUESTION | PassageTrait.TIME | PassageTrait.NUMBER
         | PassageTrait.FIRST_PERSON | PassageTrait.INSTRUCTION | PassageTrait.PREFERENCE),
        ("", NOTHING),
        ("私は猫が好きです", PassageTrait.OTHER_LANGUAGE),
        ("猫が好きですか？",
             PassageTrait.QUESTION_LAST | PassageTrait.QUESTION | PassageTrait.OTHER_LANGUAGE),
            ("Die Katze schläft auf dem Sofa im Wohnzimmer", PassageTrait.OTHER_LANGUAGE),
    ],
)  # fmt: skip
def test_the_form_of_a_passage_is_told_in_bits(text: str, expected: PassageTrait) -> None:
    assert PassageTrait(read_traits(text).bits) == expected


def test_names_and_words_are_counted() -> None:
    found = read_traits("Yesterday Anna met Ben in Paris, and it rained")

    assert (found.capitals, found.words) == (3, 9)
    assert read_traits("").words == 0


def test_every_trait_is_a_bit_of_its_own_that_sixteen_have_room_for() -> None:
    bits = [each.value for each in PassageTrait]

    assert len(set(bits)) == len(bits)
    assert all(bit.bit_count() == 1 for bit in bits)
    assert sum(bits) < 2**16


@given(text=st.text(max_size=300))
def test_any_text_has_traits_that_fit_where_they_are_kept(text: str) -> None:
    found = read_traits(text)

    assert 0 <= found.bits < 2**16
    assert 0 <= found.capitals <= CAPITALS_AT_MOST < 2**16
    assert 0 <= found.words <= WORDS_AT_MOST < 2**31
    assert read_traits(text) == found
