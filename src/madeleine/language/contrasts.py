"""Which of two things was left and which was taken: `from A to B`, `B instead of A`, `B over A`.

A text with the two the other way round says the contrary in the very same words. So the *contrasts*
of what is put anew are held against those of what was told. One is *turned round* if the text has
it only the other way, or if it names one side alone, and that on the wrong side (`moved to A`).

It is narrow on purpose: English, and only where one of a few turns of phrase names the sides. What
is told without them (`runs on B by now`) is neither vouched for nor doubted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from madeleine.language.late_pattern import compile_late
from madeleine.language.stems import telling_stems

SIDE_WORDS = 4  # at most, of what stands on one side
_FROM, _TO, _INSTEAD, _BY = "<from>", "<to>", "<instead>", "<by>"

_SENTENCE = compile_late(r"(?<=[.!?;])\s+|\n+")
_MARK = compile_late(f"({_FROM}|{_TO}|{_INSTEAD}|{_BY})")
_PHRASE_MARKS = tuple(
    (compile_late(turn, re.IGNORECASE), instead)
    for turn, instead in (
        (r"\bnot\s([^,.]{1,40}?),?\sbut\s", rf"{_FROM} \1 {_TO} "),
        (r"\breplac(?:e|es|ed|ing)\s(?!by\b|with\b)([^,.]{1,40}?)\s(?:with|by)\s",
         rf"{_FROM} \1 {_TO} "),
        (r"\breplaced\s(?:by|with)\s", f"{_BY} "),
        (r"\breplace[sd]\s", f"{_INSTEAD} "),
        (r"\b(?:instead\sof|rather\sthan|in\splace\sof)\s", f"{_INSTEAD} "),
        (r"(?:,|\sand|\sbut)\snot\s", f" {_INSTEAD} "),
        (r"(\b(?:prefer|favou?r|cho(?:o)?s|pick|select)[^.<]{1,40}?) over ", rf"\1 {_INSTEAD} "),
        (r"\bpreferred\sto\s", f"preferred {_INSTEAD} "),
        (r"(\bprefers?\s(?!to\b)[^.,<]{1,40}?)\sto\s", rf"\1 {_INSTEAD} "),
        (r"\bfrom\s", f"{_FROM} "),
        (r"\b(?:in)?to\s", f"{_TO} "),
    )
)  # fmt: skip
"""Turns of phrase in the order in which they are looked for, each with the plain mark for it."""
_CLAUSE = compile_late(
    r"[,:()]|\s(?:because|since|so|when|while|if|and|but|or|which|that|who|where)\s"
)
_AFTER = compile_late(
    rf"{_CLAUSE.pattern}|\s(?:as|for|in|on|at|by|with|after|before|during|until|last|this|next|via|is"
    r"|are|was|were|has|have|had|we|they|you|i|he|she|it)\s",
    re.IGNORECASE,
)
"""Where what a mark names is over. Before a mark only another clause ends it."""
_OPENING = compile_late(r",|(?=\s(?:we|they|you|i|he|she|it|the)\s)", re.IGNORECASE)


class Contrast(NamedTuple):
    """The stems of what was left and of what was taken; one of the two may not be told."""

    left: frozenset[str]
    taken: frozenset[str]


def reverses_contrast(said: str, told: str) -> bool:
    """Whether words that are to say what a text tells take what was left there, or leave what
    was taken."""
    known = list(find_contrasts(told))
    whole = [each for each in known if each.left and each.taken]
    return any(
        any(_is_reverse(each, other) for other in whole)
        and not any(_is_same(each, other) for other in known)
        for each in find_contrasts(said)
    )


def find_contrasts(text: str) -> Iterator[Contrast]:
    """Give the contrasts of a text, sentence by sentence."""
    for sentence in _SENTENCE.split(text):
        for left, taken in _find_sides(_MARK.split(_mark_contrasts(sentence))):
            found = Contrast(left - taken, taken - left)
            if found.left or found.taken:
                yield found


def _is_same(one: Contrast, other: Contrast) -> bool:
    return _sides_match(one.left, other.left) and _sides_match(one.taken, other.taken)


def _is_reverse(one: Contrast, other: Contrast) -> bool:
    return _sides_match(one.left, other.taken) and _sides_match(one.taken, other.left)


def _sides_match(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether a side is another one; what is not told is any."""
    return not one or not one.isdisjoint(other)


def _mark_contrasts(sentence: str) -> str:
    for turn, instead in _PHRASE_MARKS:
        sentence = turn.sub(instead, sentence)
    return sentence


def _find_sides(parts: list[str]) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """Give what was left and what was taken around each mark; phrases and marks take turns."""
    phrases, marks = parts[::2], ["", *parts[1::2], ""]
    for at, mark in enumerate(marks[1:-1]):
        before, after, then = phrases[at], phrases[at + 1], marks[at + 2]
        if mark == _INSTEAD:
            yield _split_instead(before, after)
        elif mark == _BY:
            yield _trailing_stems(before), _leading_stems(after)
        elif {mark, then} == {_FROM, _TO}:
            ends = _leading_stems(after), _leading_stems(phrases[at + 2])
            yield ends if mark == _FROM else ends[::-1]
        elif {marks[at], mark} != {_FROM, _TO}:
            yield (
                (_leading_stems(after), _NO_STEMS)
                if mark == _FROM
                else (_NO_STEMS, _leading_stems(after))
            )


def _split_instead(before: str, after: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the sides of `B instead of A`, or of `instead of A, B`."""
    if before.strip():
        return _leading_stems(after), _trailing_stems(before)
    left, *taken = _OPENING.split(after, maxsplit=1)
    return _leading_stems(left), telling_stems(" ".join(taken))


def _leading_stems(phrase: str) -> frozenset[str]:
    words = _AFTER.split(f"{phrase.strip()} ", maxsplit=1)[0].split()
    return telling_stems(" ".join(words[:SIDE_WORDS]))


def _trailing_stems(phrase: str) -> frozenset[str]:
    words = _CLAUSE.split(f" {phrase.rstrip(' ,')}")[-1].split()
    return telling_stems(" ".join(words[-SIDE_WORDS:]))


_NO_STEMS = frozenset[str]()
