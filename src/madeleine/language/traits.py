"""What can be told of a passage's form at a glance, kept with it as a few bits.

Questions look for some of it: «how many» for a number, «when» for a time. The words are
English; of other languages nothing is told, which no score holds against them.
"""

from __future__ import annotations

from enum import IntFlag
from typing import NamedTuple

from madeleine.language import wording

CAPITALS_AT_MOST = 1_000
WORDS_AT_MOST = 1_000_000


class Trait(IntFlag):
    """A bit each."""

    QUESTION_LAST = 1
    QUESTION = 2
    TIME = 4
    NUMBER = 8
    FIRST_PERSON = 16
    INSTRUCTION = 32
    PREFERENCE = 64


class Traits(NamedTuple):
    """The bits, how many names there seem to be, and how many words."""

    bits: int
    capitals: int
    words: int


_TOLD = (
    (wording.ends_in_question, Trait.QUESTION_LAST.value),
    (wording.has_question, Trait.QUESTION.value),
    (wording.tells_time, Trait.TIME.value),
    (wording.tells_number, Trait.NUMBER.value),
    (wording.first_person, Trait.FIRST_PERSON.value),
    (wording.is_instruction, Trait.INSTRUCTION.value),
    (wording.is_preference, Trait.PREFERENCE.value),
)


def traits_of(text: str) -> Traits:
    """Return the traits of a passage, without what is only read before it."""
    bits = sum(trait for tells, trait in _TOLD if tells(text))
    capitals = min(wording.capitalised(text), CAPITALS_AT_MOST)
    return Traits(bits, capitals, min(len(text.split()), WORDS_AT_MOST))
