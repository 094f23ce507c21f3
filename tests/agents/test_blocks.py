"""A block in a text that people write."""

from __future__ import annotations

import pytest

from madeleine.agents import blocks

TEXTS = ["", "# Mine\n", "# Mine", "# Mine\r\n\r\nkeep\r\n", "a\n\n\n"]


@pytest.mark.parametrize("text", TEXTS)
def test_a_block_comes_and_goes(text: str) -> None:
    added = blocks.put_block(text, "one\ntwo")

    assert added.startswith(text)
    assert blocks.put_block(added, "one\ntwo") == added
    assert blocks.drop_block(added).rstrip("\r\n") == text.rstrip("\r\n")


def test_what_a_person_writes_around_the_block_stays() -> None:
    added = blocks.put_block("above\n", "ours")

    assert blocks.drop_block(f"top\n{added}below\n") == "top\nabove\nbelow\n"


def test_a_newer_text_takes_the_place_of_the_older_one() -> None:
    old = blocks.put_block("above\n", "old") + "below\n"

    assert blocks.put_block(old, "new") == old.replace("old", "new")


def test_a_block_that_was_pasted_twice_becomes_one() -> None:
    once = blocks.put_block("", "ours")

    assert blocks.put_block(once + "mine\n" + once, "ours") == once + "mine\n"


def test_half_a_block_is_refused_with_its_line() -> None:
    with pytest.raises(blocks.BrokenBlock) as refused:
        blocks.put_block(f"one\n{blocks.START_COMMENT}\nthree\n", "ours")

    assert refused.value.line == 2
