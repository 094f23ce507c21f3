"""Lists of words find what one regular expression of all of them finds."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from madeleine.language.word_pattern import WordPattern

LISTED = (
    *(
        "always",
        "jede[rsnm]?",
        "todos?",
        "by default",
        "don't",
        r"kein\w{0,2}",
        r"20\d\d",
        "may \\d",
    ),
    *(r"\w+malı", "last (?:week|month)", r"ist \w+ \w*ge\w+t", "carr(?:y|ies)", "tutt[ieao]", "же"),
)
PIECES = (
    *("always", "jede", "jeder", "todo", "todos", "by", "default", "don't", "don", "t", "kein"),
    *("keines", "keinerlei", "2026", "20261", "may", "5", "55", "yazmalı", "malı", "last week"),
    *("last monthly", "ist schon gesagt", "carries", "carrying", "tutti", "tutto", "же", "уже"),
    *(" ", "  ", ", ", "-", "_", "。", "'", "\n"),
)


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=8).map("".join))
def test_the_list_finds_what_one_expression_finds(text: str) -> None:
    lowered = text.lower()
    whole = re.compile(rf"(?<!\w)(?:{'|'.join(LISTED)})(?!\w)")

    assert WordPattern.of(LISTED).fits(lowered) == (whole.search(lowered) is not None)
