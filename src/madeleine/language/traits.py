"""What can be told of a passage's form at a glance, kept with it as a few bits.

Questions look for some of it: «how many» for a number, «when» for a time. The words are
English; of other languages nothing is told but that they are others, which no score holds against
them.
"""

from __future__ import annotations

from enum import IntFlag
from typing import NamedTuple

from madeleine.language import word_hints
from madeleine.language.english import may_be_english

CAPITALS_AT_MOST = 1_000
WORDS_AT_MOST = 1_000_000


class PassageTrait(IntFlag):
    """A bit each."""

    QUESTION_LAST = 1
    QUESTION = 2
    TIME = 4
    NUMBER = 8
    FIRST_PERSON = 16
    INSTRUCTION = 32
    PREFERENCE = 64
    OTHER_LANGUAGE = 128
    """It is not English, beyond doubt: it is compared as such texts can be."""


class PassageTraits(NamedTuple):
    """The bits, how many names there seem to be, and how many words."""

    bits: int
    capitals: int
    words: int


_TRAIT_TESTS = (
    (word_hints.ends_in_question, PassageTrait.QUESTION_LAST.value),
    (word_hints.has_question, PassageTrait.QUESTION.value),
    (word_hints.tells_time, PassageTrait.TIME.value),
    (word_hints.tells_number, PassageTrait.NUMBER.value),
    (word_hints.is_first_person, PassageTrait.FIRST_PERSON.value),
    (word_hints.is_instruction, PassageTrait.INSTRUCTION.value),
    (word_hints.is_preference, PassageTrait.PREFERENCE.value),
    (lambda text: not may_be_english(text), PassageTrait.OTHER_LANGUAGE.value),
)


def read_traits(text: str) -> PassageTraits:
    """Return the traits of a passage, without what is only read before it."""
    bits = sum(trait for tells, trait in _TRAIT_TESTS if tells(text))
    capitals = min(word_hints.count_capitalised(text), CAPITALS_AT_MOST)
    return PassageTraits(bits, capitals, min(len(text.split()), WORDS_AT_MOST))
