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
    hits = find_foreign_phrases(newer, "changes")
    if not hits or find_foreign_phrases(newer, "open"):
        return None
    found = (_read_change(hit, older, newer) for hit in hits)
    return next((each for each in found if each is not None), None)


def _read_change(hit: PhraseHit, older: str, newer: str) -> ForeignChange | None:
    known = load_language(hit.language)
    assert known is not None
    stated, said = _telling_words(older, known), _telling_words(newer, known)
    old = _cut_before_value(hit.gaps["old"], known)
    was, repeated = _telling_words(old, known), _telling_words(hit.gaps["old"], known)
    new = _cut_after_value(hit.gaps["new"], repeated, known)
    now = _telling_words(new, known)
    left = [each for each in was if each not in now]
    taken = [each for each in now if each not in repeated]
    scope = [each for each in stated if each not in left]
    if not left or not taken or not scope or not set(left) <= set(stated):
        return None
    if known.denials.intersection(_WORD.findall(older.lower())):
        return None
    if set(taken) <= set(stated) or not _is_same_scope(scope, said, hit, stated, newer, known):
        return None
    return ForeignChange(_as_written(left, old), _as_written(taken, new))


def _is_same_scope(
    scope: Sequence[str],
    said: Sequence[str],
    hit: PhraseHit,
    stated: Sequence[str],
    newer: str,
    known: LanguageFile,
) -> bool:
    """Whether the newer text speaks of all that the older one speaks of, and of nothing narrower:
    a change for `Mails zu Mahnungen` ends nothing of all mails, and Karl's nothing of ours. `Wir
    nutzen` names nothing, and need not be said again."""
    before = {*_telling_words(newer[: hit.start], known)} - known.states
    if not before <= set(stated):
        return False
    missing = set(scope) - set(said)
    return not missing or (missing <= known.states and bool(set(scope) - known.states))


def _cut_before_value(text: str, known: LanguageFile) -> str:
    """Return what stands after the last word that says nothing: of `Falke von Jenkins` the last."""
    words = text.split()
    light = [at for at, word in enumerate(words[:-1]) if word.lower() in known.stop_words]
    return " ".join(words[light[-1] + 1 :]) if light else text


def _cut_after_value(text: str, was: Sequence[str], known: LanguageFile) -> str:
    """Return a text up to the first word that says nothing behind one that says something new: of
    `PostgreSQL para los pedidos` the first."""
    words = text.split()
    light = [word.lower() in known.stop_words for word in words]
    news = [at for at, word in enumerate(words) if not light[at] and word.lower() not in was]
    ends = [at for at in range(news[0], len(words)) if light[at]] if news else []
    return " ".join(words[: ends[0]]) if ends else text


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
