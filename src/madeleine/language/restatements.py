"""Whether two texts say the same but for a number, or have nothing that is new.

`The limit is 100` and `the limit is 250` say the same but for a number. Such a pair is as close in
meaning as a restatement, and yet one of the two is out of date. It counts only when all else is
nearly the same. A number that tells which thing is meant (`step 3`, a date) is part of the name:
texts about different things do not disagree.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from madeleine.language.change_words import NUMBERS, ORDINALS
from madeleine.language.late_pattern import compile_late
from madeleine.language.stems import is_telling, split_words, stem
from madeleine.language.word_hints import STOP_WORDS

TEXT_CHARS = 600  # a longer text says more than one thing
SIMILAR_SHARE = 0.8  # share of the other words that both have
READING_CACHE_SIZE = 1_024  # texts whose readings are kept: each is held against several others
WORDS_LEAST = 2  # besides the number; fewer are no statement

_TOKEN = compile_late(r"\d{4}-\d\d(?:-\d\d)?|v?\d+(?:[.,:]\d+)*|[^\W\d_][^\W_]*|[^\W_]+")
_DATE = compile_late(r"\d{4}-\d\d(?:-\d\d)?|(?:19|20)\d\d")
_NUMBER = compile_late(r"v?\d+(?:[.,:]\d+)*")

_COUNTS = """
zero one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty
sixty hundred thousand million once twice
"""
_THINGS = """
bug case chapter day entry episode figure issue item line no nr number page part phase pr season
section session sprint step task ticket track volume week
"""
_TIMES = """
january february march april may june july august september october november december
monday tuesday wednesday thursday friday saturday sunday
"""
_IN_WORDS = frozenset(_COUNTS.split())
_NAMED = frozenset(_THINGS.split())
"""Words whose number says which one is meant."""
_DATED = frozenset(_TIMES.split())


@dataclass(frozen=True, slots=True)
class _CountedText:
    words: frozenset[str]
    names: tuple[str, ...]
    numbers: tuple[str, ...]


def differs_in_numbers(one: str, other: str) -> bool:
    """Whether two texts are nearly the same but for what they count."""
    if max(len(one), len(other)) > TEXT_CHARS:
        return False
    mine, theirs = _read_counted_text(one), _read_counted_text(other)
    if mine.numbers == theirs.numbers or len(mine.numbers) != len(theirs.numbers):
        return False
    if mine.names != theirs.names or len(mine.words) < WORDS_LEAST:
        return False
    return len(mine.words & theirs.words) >= SIMILAR_SHARE * len(mine.words | theirs.words)


def have_same_numbers(one: str, other: str) -> bool:
    """Whether two texts count the same, and name the same dates and steps, in the same order."""
    mine, theirs = _read_counted_text(one), _read_counted_text(other)
    return (mine.numbers, mine.names) == (theirs.numbers, theirs.names)


def find_added_roots(older: str, newer: str) -> frozenset[str]:
    """Return the roots of telling words that only the newer text has. A number is one word however
    it is written: `30`, `thirty`, `5th`, `fifth`."""
    return _read_roots(newer) - _read_roots(older)


@lru_cache(maxsize=READING_CACHE_SIZE)
def _read_roots(text: str) -> frozenset[str]:
    return frozenset(
        _read_root(word) for word in split_words(text) if is_telling(word) and word not in _EACH
    )


def _read_root(word: str) -> str:
    ranked = _RANK.fullmatch(word)
    if ranked:
        return ranked["number"]
    return NUMBERS.get(word) or ORDINALS.get(word) or stem(word)


_RANK = compile_late(r"(?P<number>\d+)(?:st|nd|rd|th)")
_EACH = frozenset({"each", "every"})


@lru_cache(maxsize=READING_CACHE_SIZE)
def _read_counted_text(text: str) -> _CountedText:
    words: set[str] = set()
    names: list[str] = []
    numbers: list[str] = []
    before = ""
    for token in _TOKEN.findall(text.lower()):
        is_number = token in _IN_WORDS or _NUMBER.fullmatch(token) is not None
        if token in _DATED or _DATE.fullmatch(token) or (is_number and _names_item(before)):
            names.append(token)
        elif is_number:
            numbers.append(token)
        elif token not in STOP_WORDS:
            words.add(token)
        before = token
    return _CountedText(frozenset(words), tuple(names), tuple(numbers))


def _names_item(before: str) -> bool:
    """Whether the number after this word tells which one is meant: `step 3`, `May 4`."""
    return before in _NAMED or before in _DATED
