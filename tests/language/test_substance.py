"""What a text must not lose, down to the last letter."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.language.stems import is_telling
from madeleine.language.substance import (
    count_denials,
    find_lost_words,
    find_particulars,
    find_turning_words,
    tokenize,
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Ben's blood type is A", "ben 's blood type a"),
        ("A boy is checking a calendar", "boy checking calendar"),
        ("There are people out on the street.", "people out on street"),
        ("Plan A isn't plan B", "plan a not plan b"),
        ("It can't be 9:00 am", "it can not 9:00 am"),
        ("I'm sure they've left", "i sure they have left"),
        ("Run `rm -R Build` with --force", "run rm -R Build with --force"),
        ("-5 to +5 degrees, 5-10 ms", "-5 to +5 degrees 5 - 10 ms"),
        ("Disk >= 5GB, 10 €", "disk >= 5 gb 10 €"),
        ("The limit is 1,200", "limit 1200"),
        ("We ship to US, not to us", "we ship to US not to us"),
        ("- first\n# Second", "first second"),
        ("call getName in ~/src/Atlas", "call getName in ~/ src / Atlas"),
        ("C++, C# and node.js", "c++ c# and node.js"),
        ("我不喝茶", "我 不 喝 茶"),
        ("Is it open?", "it open ?"),
    ],
)
def test_a_text_is_all_its_words_and_signs_but_fillers(text: str, said: str) -> None:
    assert " ".join(tokenize(text)) == said


def test_small_words_and_letters_count_here_and_not_for_finding() -> None:
    for word in ("on", "off", "from", "her", "b", "5"):
        assert not is_telling(word)
        assert find_lost_words("The lamp", [f"The lamp {word}"]) == {word}


def test_particular_are_numbers_units_letters_signs_and_names() -> None:
    text = "We pay Ana 5 $ for 3 ms in zone B of Fly.io"

    assert find_particulars(text) == {"ana", "5", "$", "3", "ms", "b", "Fly.io"}


def test_denials_are_counted_in_other_scripts_too() -> None:
    assert count_denials("She doesn't drink, never") == 2
    assert (
        count_denials("我不喝茶")
        == count_denials("住んでいない")
        == count_denials("차를 마시지 않는다")
        == 1
    )
    assert count_denials("我喝茶") == 0


def test_who_speaks_may_be_retold_and_other_small_words_may_not() -> None:
    assert find_turning_words("I keep my bike in the shed after noon") == {"in", "after"}


@given(st.lists(st.sampled_from(["A", "a", "am", "B", "`", "-v", "5", "\n", "it's", "茶", "."])))
def test_a_text_that_holds_another_loses_none_of_it(pieces: list[str]) -> None:
    text = " ".join(pieces)

    assert find_lost_words(f"Before.\n{text}\n\nAfter `that`", [text]) == frozenset()
