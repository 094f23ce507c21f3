"""A text as plain sentences: words in one spelling, verbs, and what says of what it speaks.

Two texts are held against each other by these words (`replacements.py`, `shared_subject.py`). A
number is the same in digits and in words, a unit in every short form; `it isn't` is `it is not`.
What is neither a small word nor a verb of having or being is *scope*: it may tell one thing from
another.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from madeleine.language.change_words import (
    ALWAYS_VERBS,
    ARTICLES,
    BEFORE_VERBS,
    CHANGE_STARTERS,
    CONJUNCTIONS,
    LIGHT_WORDS,
    NUMBERS,
    PREPOSITIONS,
    REASON_WORDS,
    STATES_BY_WORD,
    TIME_WORDS,
    UNITS,
)
from madeleine.language.late_pattern import compile_late
from madeleine.language.stems import WORD, stem

SENTENCE_CACHE_SIZE = 8_192  # texts whose sentences are kept at hand

Words = tuple[str, ...]

_ENDS = compile_late(
    r"(?<!\bMr\.)(?<!\bMs\.)(?<!\bDr\.)(?<!\bSt\.)(?<!\bMrs\.)(?<!\bProf\.)(?<=[.!?])\s+(?=\S)|\n+"
)
_PART = compile_late(
    rf"(?P<word>{WORD.pattern})|(?P<arrow>→|[-=]+>)|(?P<mark>[,;:()\[\]–—]|\s-+\s)"
)
_SHORT_FORMS = (
    (compile_late(r"\b(?:won't|wont)\b", re.IGNORECASE), "will not"),
    (compile_late(r"\b(?:can't|cannot)\b", re.IGNORECASE), "can not"),
    (compile_late(r"\b(\w+)n't\b", re.IGNORECASE), r"\1 not"),
    (compile_late(r"\b(it|that|there|what|here)'s\b", re.IGNORECASE), r"\1 is"),
    (compile_late(r"\b(\w+)'s(?= been\b)", re.IGNORECASE), r"\1 has"),
    (compile_late(r"\b(\w+)'(?:ve|re|m|d|ll)\b", re.IGNORECASE), r"\1"),
    (compile_late(r"([€$£])\s?(\d[\d.,]*)"), r"\2 \1"),
    (compile_late(r"(?<=\d)\s?%"), " percent "),
    (compile_late(r"€"), " eur "),
    (compile_late(r"\$(?!\w)"), " usd "),
    (compile_late(r"(?<=\d)(?=(?:ms|mins?|secs?|s|h|hrs?|[gmt]b|kg|[ap]m)\b)", re.IGNORECASE), " "),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence as words, with a mark where a clause or an explanation begins."""

    words: Words
    """In lower case; numbers as digits; `|` where a clause begins, `:` after a colon."""
    stems: Words
    written: Words
    verbs: frozenset[int]
    """The places of the words by which it states that something has a value."""

    def scope(self, places: Iterable[int], dated: bool = True) -> frozenset[str]:
        """Return the stems of those words that say of what the sentence speaks. Where nothing is
        dated, `on Monday` only says when something changed."""
        return frozenset(self.stems[at] for at in places if self._is_scope(at, dated))

    def _is_scope(self, place: int, dated: bool) -> bool:
        word = self.words[place]
        if word in LIGHT_WORDS or word in ("|", ":") or place in self.verbs:
            return False
        if word in CHANGE_STARTERS and word.endswith("ed"):
            return False
        if word == "last" and TIME_WORDS.intersection(self.words[place + 1 : place + 2]):
            return False
        before = self.words[max(0, place - 2) : place]
        if word in TIME_WORDS and word.endswith("days"):
            return True  # `on Mondays` is no day on which something changed
        return (
            word not in TIME_WORDS
            or not _WHEN.intersection(before)
            or (dated and not _SINCE.intersection(before))
        )

    def find_reason_start(self, start: int) -> int:
        """Return where it begins to explain what it tells, from a place on."""
        return next(
            (at for at in range(start, len(self.words)) if self._is_explaining(at)), len(self.words)
        )

    def _is_explaining(self, place: int) -> bool:
        word = self.words[place]
        if word == "as":  # `as the lead` names a role, `as it was slow` a reason
            return any(at in self.verbs for at in range(place + 1, place + 5))
        return word == ":" or word in REASON_WORDS


_SINCE = frozenset({"last", "since", "this"})
_WHEN = _SINCE | {"on", "in", "of", "from"}


@lru_cache(maxsize=SENTENCE_CACHE_SIZE)
def read_sentences(text: str) -> tuple[Sentence, ...]:
    """Return the sentences of a text."""
    text = text.replace("’", "'").strip()
    for pattern, whole in _SHORT_FORMS:
        text = pattern.sub(whole, text)
    made = (_read_sentence(part) for part in _ENDS.split(text))
    return tuple(each for each in made if each.words)


def _read_sentence(text: str) -> Sentence:
    words: list[str] = []
    written: list[str] = []
    for match in _PART.finditer(text):
        if match["word"]:
            words.append(_normalize_word(match["word"].lower().removesuffix("'s"), words[-1:]))
        elif match["arrow"]:
            words.append("→")
        else:
            words.append(":" if match["mark"].strip() == ":" else "|")
        written.append(match[0].strip())
    while words and words[-1] in ("|", ":"):
        words.pop()
    for place, word in enumerate(words):
        if word in CONJUNCTIONS and _begins_clause(words[place + 1 : place + 6]):
            words[place] = "|"
    stems = tuple(word if word in UNITS.values() else stem(word) for word in words)
    verbs = frozenset(at for at in range(len(words)) if _is_verb(words, at))
    return Sentence(tuple(words), stems, tuple(written[: len(words)]), verbs)


def _is_verb(words: Sequence[str], place: int) -> bool:
    """Whether a word states that something has a value. Some of these may be nouns as well: `logs
    go to Loki`, `the build cache`."""
    word, before = words[place], words[place - 1] if place else ""
    if word not in STATES_BY_WORD or word in ALWAYS_VERBS or word.endswith("ed"):
        return word in STATES_BY_WORD
    if not before or before in _BEFORE_NOUNS or before in CHANGE_STARTERS or before in ("|", ":"):
        return False
    if words[place + 1 : place + 2] and words[place + 1] in ALWAYS_VERBS:
        return False
    return word.endswith("s") or before in BEFORE_VERBS or before.endswith("s")


_BEFORE_NOUNS = ARTICLES | PREPOSITIONS | {"new", "old", "and", "or", "no", "all", "each", "every"}


def _normalize_word(word: str, before: Sequence[str]) -> str:
    """Return one form for all ways to write a number, a unit after it, and a time of day."""
    if word[0].isdigit():
        bare = re.sub(r"(?<=\d),(?=\d{3}\b)", "", word)
        return re.sub(r":00\Z", "", bare).replace(":", ".")
    after_number = bool(before) and before[0][0].isdigit()
    if after_number and word in UNITS:
        return UNITS[word]
    return "may." if after_number and word == "may" else NUMBERS.get(word, word)


def _begins_clause(words: Sequence[str]) -> bool:
    """Whether words after `and` begin a clause of their own, and no second value."""
    own = words[: next((at for at, word in enumerate(words) if word in ("|", ":")), len(words))]
    return any(word in STATES_BY_WORD or word in CHANGE_STARTERS for word in own)
