"""Making one text of two without losing what either says.

A sentence is *said* by a text when one of its sentences has all its tokens (`substance.py`) in a
row (`tabs over spaces` is not `spaces over tabs`), denies as much, and puts it under no other
condition. That is narrower than meaning: what is said in other words counts as missing, because
a word too many costs a line and a word too few costs a memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from madeleine.language.late_pattern import compile_late
from madeleine.language.substance import (
    Tokens,
    bound,
    denials,
    is_number,
    lost_words,
    particulars,
    tokens,
    turning,
)
from madeleine.model.memory import Memory

_ENDS = compile_late(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_CODE = "```"


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence, as far as another may say it too."""

    tokens: Tokens
    denials: int
    under: frozenset[str]
    """The small words that say whether, and when, it holds."""


def said(sentence: str) -> Said:
    found = turning(sentence)
    return Said(tokens(sentence), denials(sentence), found["duty"])


def holds(whole: Said, part: Said) -> bool:
    """Whether a sentence says all that another says, and says it as surely."""
    return (
        part.denials == whole.denials
        and part.under == whole.under
        and _stands_in(part.tokens, whole.tokens)
    )


def missing(text: str, other: str) -> list[str]:
    """Return what `other` says and `text` does not, sentence by sentence. Code is not taken
    apart: where something is missing of a text with code, all of it is."""
    known = [said(each) for each in _sentences(text)]
    wanted = [(each, said(each)) for each in _sentences(other)]
    unsaid = [each for each, part in wanted if not any(holds(whole, part) for whole in known)]
    return [other.strip()] if unsaid and _CODE in other else unsaid


def united(kept: Memory, dropped: Memory) -> str | None:
    """Return the text of one memory with what only the other says after it; nothing if the
    other says nothing of its own."""
    title, around = dropped.title or "", f"{full(kept)}\n{dropped.content}"
    untold = [f"{title.rstrip('.')}."] if _untold(around, title) else []
    unsaid = [*untold, *missing(full(kept), dropped.content)]
    return f"{kept.content.rstrip()}\n\n{' '.join(unsaid)}" if unsaid else None


def _untold(text: str, title: str) -> bool:
    """Whether a title says something of its own: a word, or the same words another way round."""
    turned = any(turning(title).values()) or denials(title)
    return bool(lost_words(text, [title]) or (turned and missing(text, title)))


def says_all(text: str, others: Sequence[str]) -> bool:
    """Whether every token of the others stands in a text that may have put it anew: what is
    particular in the order it had, nothing bound to another direction, and with a denial just
    if they have one. For texts that a model wrote from others."""
    return (
        not lost_words(text, others)
        and _in_order(text, others)
        and not turned_round(text, others)
        and denies_alike(text, others)
    )


def turned_round(text: str, others: Sequence[str]) -> bool:
    """Whether a text says `to` of something of which the others say `from`, or that Ben likes
    Ana where Ana likes Ben."""
    before = frozenset[tuple[str, str]]().union(*map(bound, others))
    now, threes = bound(text), _threes(text)
    if any(three[::-1] in threes for other in others for three in _threes(other) - threes):
        return True
    lost = frozenset(each for _, each in before - now)
    return any(each in lost for _, each in now - before)


def denies_alike(text: str, others: Iterable[str]) -> bool:
    """Whether a text denies something just if one of the others does."""
    return bool(denials(text)) == any(map(denials, others))


def full(memory: Memory) -> str:
    """Return title and text as one."""
    return f"{memory.title}\n{memory.content}" if memory.title else memory.content


def _threes(text: str) -> frozenset[Tokens]:
    found = tokens(text)
    return frozenset(zip(found, found[1:], found[2:], strict=False))


def _in_order(text: str, others: Sequence[str]) -> bool:
    """Whether several numbers of one text, with the names among them, stand in the new one in
    their order: it is not Ana who owes what Ben owes."""
    matter = frozenset[str]().union(*map(particulars, others))
    for other in others:
        found, rest = tokens(other), iter(tokens(text))
        several = len([each for each in found if is_number(each)]) > 1
        if several and not all(each in rest for each in found if each in matter):
            return False
    return True


def _sentences(text: str) -> list[str]:
    return [part.strip() for part in _ENDS.split(text) if part and not part.isspace()]


def _stands_in(part: Tokens, whole: Tokens) -> bool:
    """Whether the tokens of one stand in the other in a row: what Ben likes is not said by what
    Ben's wife likes."""
    wide, first = len(part), part[:1]
    return any(
        whole[at : at + wide] == part and not _cut(whole, at, at + wide)
        for at in range(len(whole) - wide + 1)
        if whole[at : at + 1] == first or not first
    )


def _cut(whole: Tokens, start: int, end: int) -> bool:
    """Whether a number at an edge is cut off from its unit or sign."""
    if start == end:
        return False
    before = start > 0 and is_number(whole[start])
    return before or (end < len(whole) and is_number(whole[end - 1]))
