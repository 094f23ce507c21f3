"""How a memory is cut, and what is read before each piece."""

from __future__ import annotations

import locale
import time
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.language.passages import (
    MOST_PASSAGES,
    PASSAGE_CHARS,
    TITLE_CHARS,
    context_words,
    find_speaker,
    split_passages,
)
from madeleine.language.text_keys import passage_key
from madeleine.model.embedding import Passage
from madeleine.model.memory import Memory, Origin

CREATED = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()))  # half surrogates and NUL too

PIECES = ["x", "x" * 700, "word ", "One. ", "\n", "\n\n", "語", "語。", "\0", "é"]


def memory(content: str, title: str | None = None, origin: Origin | None = None) -> Memory:
    return Memory("an id", content, CREATED, CREATED, title=title, origin=origin)


def test_a_note_is_read_with_its_title() -> None:
    assert split_passages(memory("Because one file is easy to move.", "SQLite it is")) == [
        Passage("SQLite it is. Because one file is easy to move.", 0, 33)
    ]


@pytest.mark.parametrize("title", [None, "", "  ", "SQLite"])
def test_a_title_that_says_nothing_new_is_not_read(title: str | None) -> None:
    assert split_passages(memory("SQLite it is", title))[0].text == "SQLite it is"


def test_what_was_said_is_read_with_date_and_speaker_and_the_date_is_unspoken() -> None:
    (passage,) = split_passages(memory("I painted it!", origin=Origin("s1", 3, "Melanie")))

    assert passage.text == "[8 May 2023] Melanie: I painted it!"
    assert passage.text[passage.unspoken :] == "Melanie: I painted it!"


def test_a_date_is_read_only_of_what_was_said_in_a_session() -> None:
    assert split_passages(memory("Hm.", origin=Origin(uri="file.md")))[0].text == "Hm."


@pytest.mark.parametrize("role", ["user", "Assistant", " human ", "", "  "])
def test_a_role_is_nobodys_name(role: str) -> None:
    said = memory("Hm.", origin=Origin("s1", 0, role))

    assert find_speaker(said) is None
    assert split_passages(said)[0].text == "[8 May 2023] Hm."


def test_what_is_said_with_a_memory_are_words_to_be_found_by() -> None:
    assert context_words(memory("Hm.", origin=Origin("s1", 0, "Melanie"))) == "Melanie 8 May 2023"
    assert context_words(memory("Hm.", "A note")) == ""


def test_a_title_out_of_bounds_leaves_room_for_the_text() -> None:
    text = split_passages(memory("What matters.", "x\ny " * 10_000))[0].text

    assert len(text) == TITLE_CHARS + len(". What matters.")
    assert text.endswith("What matters.")
    assert "\n" not in text


def test_months_are_english_wherever_the_machine_stands() -> None:
    asked = memory("Hm.", origin=Origin("s1"))
    before = locale.setlocale(locale.LC_TIME)
    try:
        locale.setlocale(locale.LC_TIME, "")
        texts = [
            split_passages(replace(asked, created=datetime(2024, month, 1, tzinfo=UTC)))[0].text
            for month in (3, 5, 12)
        ]
    finally:
        locale.setlocale(locale.LC_TIME, before)

    assert texts == ["[1 March 2024] Hm.", "[1 May 2024] Hm.", "[1 December 2024] Hm."]


@given(
    content=ANY_TEXT | st.lists(st.sampled_from(PIECES), max_size=3_000).map("".join),
    title=st.none() | ANY_TEXT,
    speaker=st.none() | ANY_TEXT,
)
def test_pieces_cover_the_content_without_gaps_or_overlaps(
    content: str, title: str | None, speaker: str | None
) -> None:
    asked = memory(content, title, Origin("s1", 0, speaker))

    passages = split_passages(asked)

    assert passages == split_passages(asked)
    assert passages[0].start == 0
    assert passages[-1].end == len(content) or len(passages) == MOST_PASSAGES
    assert all(one.end == after.start for one, after in pairwise(passages))
    for each in passages:
        assert each.text.endswith(content[each.start : each.end])
        assert each.end - each.start <= PASSAGE_CHARS
        assert each.end > each.start or not content
        assert len(passage_key(each)) == 64


def test_the_last_of_many_pieces_ends_before_the_content_does() -> None:
    content = "Nobody reads all of this. " * 10_000

    passages = split_passages(memory(content))

    assert len(passages) == MOST_PASSAGES
    assert (
        "".join(content[each.start : each.end] for each in passages)
        == (content[: passages[-1].end])
    )


@pytest.mark.parametrize(
    ("between", "cut_after"),
    [("\n\n", "\n\n"), ("\n", "\n"), (". ", ". "), ("。", "。"), (" ", " "), ("", "")],
)
def test_a_piece_ends_where_a_thought_does(between: str, cut_after: str) -> None:
    """The last of the best breaks; here there is one, at 700 characters, and words after it."""
    content = "x" * (700 - len(between)) + between + "y" * 100 + " " * bool(between) + "z" * 500

    first = split_passages(memory(content))[0]

    end = 700 if between.strip(" ") else 801 if between else 900
    assert first.end == end
    assert content[: first.end].endswith(cut_after)


def test_a_number_is_not_cut_at_its_point() -> None:
    content = "x" * 600 + " about 3.14159265 " + "y" * 600

    first = split_passages(memory(content))[0]

    assert content[: first.end].endswith("3.14159265 ")


def test_pieces_of_other_scripts_are_short_enough_to_be_read_whole() -> None:
    """Nearly each of their characters is a token of its own, and a model reads 256."""
    japanese = split_passages(memory("索引は一つのファイルにある" * 100))
    latin = split_passages(memory("Der Index liegt in einer Datei, größer wird er nicht. " * 30))

    assert max(each.end - each.start for each in japanese) <= PASSAGE_CHARS // 4
    assert max(each.end - each.start for each in latin) > PASSAGE_CHARS // 2


@pytest.mark.parametrize("unit", ["x", "語", "\n", " \n", ". "])
def test_a_megabyte_takes_no_time(unit: str) -> None:
    """It takes about two milliseconds; a hundred times that would still pass."""
    content = unit * (1_000_000 // len(unit))

    started = time.perf_counter()
    passages = split_passages(memory(content))

    assert len(passages) == MOST_PASSAGES
    assert time.perf_counter() - started < 0.2


def test_the_key_follows_from_what_is_read() -> None:
    one = Passage("[8 May 2023] Hm.", 0, 3, 13)

    assert passage_key(one) == passage_key(replace(one, start=900, end=903))
    assert passage_key(one) != passage_key(replace(one, unspoken=0))
    assert passage_key(one) != passage_key(replace(one, text="[8 May 2023] Hm?"))
