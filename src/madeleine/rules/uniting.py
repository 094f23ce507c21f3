"""Making one text of two without losing what either says.

A sentence is *said* by a text when one of its sentences has all its telling words in a row
(`tabs over spaces` is not `spaces over tabs`), and denies as much. That is narrower than
meaning: what is said in other words counts as missing, because a word too many costs a line and
a word too few costs a memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from madeleine.model.memory import Memory
from madeleine.rules.extracts import lost_words
from madeleine.rules.marks import marks
from madeleine.rules.stems import stem, telling, words

_ENDS = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_CODE = "```"
_NUMBER = re.compile(r"\b[^\W_]*\d[\w.,:/-]*")
_NAME = re.compile(r"(?<=[^\s.!?:] )[A-ZÀ-ÞА-Я][\w-]*|\b\w*[a-z][A-Z]\w*|\b[A-Z]{2,}\w*")
_DENYING = """
not no never none nobody nothing neither nor without cannot
nicht nichts nie niemals kein keine keinen keinem ohne ne pas jamais aucun aucune sans nunca jamás
ningún ninguna sin non mai senza nessun não sem nem niet geen nooit zonder inte aldrig utan ikke
nie nigdy bez не нет никогда без нельзя لا ليس لم لن
"""
DENYING = frozenset(_DENYING.split())
_TURNING = """
over under above below before after until unless except only all some less more
"""
TURNING = frozenset(_TURNING.split())
"""Small words without which a sentence says something else."""


@dataclass(frozen=True, slots=True)
class _Said:
    words: tuple[str, ...]
    """The telling ones and the small ones that matter, in order."""
    turns: frozenset[str]
    """The small words and the signs without which it says something else."""
    denials: int


def missing(text: str, other: str) -> list[str]:
    """Return what `other` says and `text` does not, sentence by sentence. Code is not taken
    apart: where something is missing of a text with code, all of it is."""
    known = [_said(each) for each in _sentences(text)]
    unsaid = [each for each in _sentences(other) if not _holds(known, _said(each))]
    return [other.strip()] if unsaid and _CODE in other else unsaid


def united(kept: Memory, dropped: Memory) -> str | None:
    """Return the text of one memory with what only the other says after it; nothing if the
    other says nothing of its own."""
    title = dropped.title or ""
    untold = (
        [f"{title.rstrip('.')}."] if lost_words(f"{full(kept)}\n{dropped.content}", [title]) else []
    )
    unsaid = [*untold, *missing(full(kept), dropped.content)]
    return f"{kept.content.rstrip()}\n\n{' '.join(unsaid)}" if unsaid else None


def says_all(text: str, others: Sequence[str]) -> bool:
    """Whether every telling word of the others stands in a text that may have put it anew, and
    it denies something just if they do. For texts that a model wrote from others."""
    turns = frozenset[str]().union(*(_said(each).turns for each in others))
    return (
        not lost_words(text, others) and turns <= _said(text).turns and denies_alike(text, others)
    )


def denies_alike(text: str, others: Iterable[str]) -> bool:
    """Whether a text denies something just if one of the others does."""
    return bool(_said(text).denials) == any(_said(each).denials for each in others)


def particulars(text: str) -> frozenset[str]:
    """Return the stems of what a text is particular about: its numbers, and what has capitals
    inside sentences or in odd places."""
    found = [*_NUMBER.findall(text), *_NAME.findall(text)]
    return frozenset(stem(word) for each in found for word in words(each) if telling(word))


def full(memory: Memory) -> str:
    """Return title and text as one."""
    return f"{memory.title}\n{memory.content}" if memory.title else memory.content


def _sentences(text: str) -> list[str]:
    return [part.strip() for part in _ENDS.split(text) if part and not part.isspace()]


def _holds(known: Sequence[_Said], wanted: _Said) -> bool:
    return any(
        wanted.denials == each.denials
        and wanted.turns <= each.turns
        and _stands_in(wanted.words, each.words)
        for each in known
    )


def _stands_in(part: Sequence[str], whole: Sequence[str]) -> bool:
    """Whether the words of one stand in the other in a row: what Ben likes is not said by what
    Ben's wife likes."""
    wide = len(part)
    return any(tuple(whole[at : at + wide]) == tuple(part) for at in range(len(whole) - wide + 1))


def _said(text: str) -> _Said:
    found = words(text)
    return _Said(
        tuple(word for word in found if telling(word) or word in TURNING),
        TURNING.intersection(found).union(marks(text)),
        sum(word in DENYING or word.endswith("n't") for word in found),
    )
