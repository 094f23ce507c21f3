"""Lists of words and turns of phrase, of which a text holds any.

Every memory that is indexed is asked for several hundred of them, and one regular expression of
all looks at every letter of the text for each list. So words that stand by themselves are looked up
among the words of the text, and the others are only searched for if a piece that they cannot do
without is there. What is found is the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from madeleine.language.late_pattern import compile_late

_WORDS = re.compile(r"\w+")
_WORD_LETTERS = bytes(
    code if chr(code).isalnum() or chr(code) == "_" else ord(" ") for code in range(128)
).ljust(256)
"""What stands for each character of ASCII: itself in a word, or a space."""
_ENDINGS = re.compile(r"(\w+?)(?:(\w)|\[(\w+)\])(\?)?")
_AMOUNT = r"(?:[?*+]|\{[^}]*\})?"
_NOT_LITERAL = re.compile(
    rf"\\.{_AMOUNT}|\[[^\]]*\]{_AMOUNT}|\([^()]*\){_AMOUNT}|.[?*]|.\{{[^}}]*\}}|[.+|()^$]"
)


class WordPattern:
    """Words, and a pattern for what is more than a word. `hints` are such that one of them is in
    every text that the pattern fits."""

    def __init__(self, words: Iterable[str], pattern: str = "", hints: Sequence[str] = ()) -> None:
        self._words = frozenset(words)
        self._ascii_words = frozenset(filter(str.isascii, self._words))
        self._pattern = compile_late(pattern) if pattern else None
        self._hints = tuple(hints)
        self._ascii_hints = tuple(filter(str.isascii, hints))

    @classmethod
    def of(cls, alternatives: Iterable[str]) -> WordPattern:
        """Return what fits each of these expressions where no letter stands before or after it."""
        words, others = set[str](), list[str]()
        for each in alternatives:
            words |= (found := _expand_endings(each))
            if not found:
                others.append(each)
        joined = rf"(?<!\w)(?:{'|'.join(others)})(?!\w)" if others else ""
        return cls(words, joined, list(dict.fromkeys(map(_find_hint, others))))

    def fits(self, lowered: str) -> bool:
        """Whether a text in lower case holds any of it."""
        plain = lowered.isascii()
        words = self._ascii_words if plain else self._words
        if not words.isdisjoint(split_words(lowered)):
            return True
        hints = self._ascii_hints if plain else self._hints
        if self._pattern is None or not any(map(lowered.__contains__, hints)):
            return False
        return self._pattern.search(lowered) is not None


@lru_cache(maxsize=4)
def split_words(lowered: str) -> frozenset[str]:
    """Return the words of a text: one text is asked about often."""
    if lowered.isascii():  # the same words, in a quarter of the time
        return frozenset(lowered.encode("ascii").translate(_WORD_LETTERS).decode("ascii").split())
    return frozenset(_WORDS.findall(lowered))


def _expand_endings(expression: str) -> set[str]:
    """Return the words that an expression stands for, if it is a word whose last letter may be
    another one, or be left out; nothing for any other expression."""
    if _WORDS.fullmatch(expression):
        return {expression}
    found = _ENDINGS.fullmatch(expression)
    if found is None:
        return set()
    stem, letter, letters, optional = found.groups()
    ends = {*(letter or letters), *([""] if optional else [])}
    return {stem + each for each in ends}


def _find_hint(expression: str) -> str:
    """Return the longest run of letters that whatever fits an expression holds."""
    return max(_NOT_LITERAL.split(expression), key=len)
