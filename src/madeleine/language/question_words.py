"""The words of a question that say nothing, in the language of the question.

English has its own tables (`word_hints.py`), which hold for every question; here is what is added
for one in another language.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from madeleine.language.function_words import read_language

_NOTHING = frozenset[str]()
UNSPACED_LANGUAGES = frozenset({"zh", "ja"})
"""Languages whose questions are one long run of signs."""
LONGEST_UNSPACED = 12  # letters of the longest such word in a script without spaces


class QuestionWords(NamedTuple):
    """What is known of the words of a question in another language than English."""

    language: str | None
    stop_words: frozenset[str]


def read_question_words(text: str) -> QuestionWords:
    """Return what is known of the words of a question; nothing if it is in English."""
    known = read_language(text)
    if known is None:
        return QuestionWords(None, _NOTHING)
    return QuestionWords(known.code, known.stop_words)


def split_unspaced(run: str, stop_words: frozenset[str]) -> Iterator[str]:
    """Yield the parts of a run that is written without spaces: the words that say nothing, the
    longest first, and what stands between them."""
    start = place = 0
    while place < len(run):
        size = _stop_word_size(run, place, stop_words)
        if not size:
            place += 1
            continue
        if start < place:
            yield run[start:place]
        yield run[place : place + size]
        start = place = place + size
    if start < len(run):
        yield run[start:]


def _stop_word_size(run: str, place: int, stop_words: frozenset[str]) -> int:
    sizes = range(min(LONGEST_UNSPACED, len(run) - place), 0, -1)
    return next((size for size in sizes if run[place : place + size] in stop_words), 0)
