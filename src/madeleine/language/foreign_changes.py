"""Told changes in other languages: `nicht mehr mit Jenkins, sondern mit Buildkite`.

As in English (`replacements.py`), a newer text ends an older statement only if it names what was
left and what was taken, and both speak of the same: every word of the older one that says anything,
but for what was left, stands in the newer one in the same form, and what was taken does not stand
in the older one. Forms are not joined: `abuelo` and `abuela` have one stem. Only turns of phrase
count that the file of the language gives (`changes`). A newer text that asks or plans (`open`) ends
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from madeleine.language.language_files import LanguageFile, load_language
from madeleine.language.phrases import PhraseHit, find_foreign_phrases
from madeleine.language.question_words import UNSPACED_LANGUAGES, split_unspaced

MOST_CHARS = 320
_QUESTION_MARKS = ("?", "？")
_WORD = re.compile(r"[^\W_]+(?:[.+#_-]+[^\W_]+)*")
_UNSPACED_WORD = re.compile(r"[a-z0-9][a-z0-9.+#_-]*|[\u30a0-\u30ff]+|[^\W_a-z0-9\u30a0-\u30ff]+")


class ForeignChange(NamedTuple):
    """What a text says was left, and what was taken instead, as it is written."""

    left: str
    taken: str


def find_foreign_change(older: str, newer: str) -> ForeignChange | None:
    """Return the change that ends what the older text states, if the newer one tells it."""
    if max(len(older), len(newer)) > MOST_CHARS or newer.rstrip().endswith(_QUESTION_MARKS):
        return None
    if find_foreign_phrases(newer, "open"):
        return None
    found = (_read_change(hit, older, newer) for hit in find_foreign_phrases(newer, "changes"))
    return next((each for each in found if each is not None), None)


def _read_change(hit: PhraseHit, older: str, newer: str) -> ForeignChange | None:
    known = load_language(hit.language)
    assert known is not None
    old, new = (_telling_words(hit.gaps[name], known) for name in ("old", "new"))
    left = [each for each in old if each not in new]
    taken = [each for each in new if each not in old]
    stated, said = _telling_words(older, known), _telling_words(newer, known)
    scope = [each for each in stated if each not in left]
    if not left or not taken or not scope or not set(left) <= set(stated):
        return None
    if set(taken) <= set(stated) or not set(scope) <= set(said):
        return None
    return ForeignChange(_as_written(left, hit.gaps["old"]), _as_written(taken, hit.gaps["new"]))


def _telling_words(text: str, known: LanguageFile) -> list[str]:
    """Return the words that say anything, in lower case."""
    if known.code in UNSPACED_LANGUAGES:
        words = [
            part
            for run in _UNSPACED_WORD.findall(text.lower())
            for part in ([run] if run.isascii() else split_unspaced(run, known.stop_words))
        ]
    else:
        words = _WORD.findall(text.lower())
    return [each for each in words if each not in known.stop_words]


def _as_written(words: Sequence[str], text: str) -> str:
    """Return the stretch of a text from the first of some words to the last."""
    small = text.lower()
    start, end = small.find(words[0]), small.rfind(words[-1]) + len(words[-1])
    return text[start:end]
