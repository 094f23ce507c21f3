"""Bringing two changes of one thing together, given what it was before both.

Where only one side changed, that side counts; where both changed alike, there is one change. What
both changed differently is a clash, which is said and never guessed away.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple, TypeVar

Value = TypeVar("Value")
Item = TypeVar("Item")

MAX_LINES = 20_000  # of both texts together; comparing more takes long, and they count as a clash


class MatchedRun(NamedTuple):
    """Lines that stand unchanged in all three texts: where they begin in each, and how many."""

    base: int
    ours: int
    theirs: int
    length: int


class Merged(NamedTuple):
    """A value out of two; of a clash it is the first one's."""

    value: object
    clashes: bool


def merge_values(base: object, ours: object, theirs: object) -> Merged:
    """Return the value that was changed, or ours if both were changed differently."""
    if ours == theirs or theirs == base:
        return Merged(ours, False)
    return Merged(theirs, False) if ours == base else Merged(ours, True)


def merge_texts(base: str, ours: str, theirs: str) -> str | None:
    """Return a text with the changed lines of both; nothing if both changed the same place."""
    if ours == theirs or theirs == base:
        return ours
    if ours == base:
        return theirs
    lines = [each.split("\n") for each in (base, ours, theirs)]
    if len(lines[1]) + len(lines[2]) > MAX_LINES:
        return None
    merged = merge_lines(lines[0], lines[1], lines[2])
    return None if merged is None else "\n".join(merged)


def merge_lines(
    base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]
) -> list[str] | None:
    """Return the lines with the changes of both; nothing if both changed the same place."""
    merged: list[str] = []
    at_base = at_ours = at_theirs = 0
    for run in _find_common_runs(base, ours, theirs):
        before = list(base[at_base : run.base])
        one, other = list(ours[at_ours : run.ours]), list(theirs[at_theirs : run.theirs])
        if one != other and before not in (one, other):
            return None
        merged += other if one == before else one
        merged += base[run.base : run.base + run.length]
        at_base = run.base + run.length
        at_ours, at_theirs = run.ours + run.length, run.theirs + run.length
    return merged


def _find_common_runs(
    base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]
) -> Iterator[MatchedRun]:
    """Give the runs of lines that neither side changed, and an empty one at the end."""
    one, other = _match_lines(base, ours), _match_lines(base, theirs)
    at_one = at_other = 0
    while at_one < len(one) and at_other < len(other):
        in_ours, in_theirs = one[at_one], other[at_other]
        start = max(in_ours.a, in_theirs.a)
        end = min(in_ours.a + in_ours.size, in_theirs.a + in_theirs.size)
        if start < end:
            yield MatchedRun(
                start,
                in_ours.b + start - in_ours.a,
                in_theirs.b + start - in_theirs.a,
                end - start,
            )
        if in_ours.a + in_ours.size < in_theirs.a + in_theirs.size:
            at_one += 1
        else:
            at_other += 1
    yield MatchedRun(len(base), len(ours), len(theirs), 0)


def _match_lines(base: Sequence[str], text: Sequence[str]) -> list[MatchedBlock]:
    found = SequenceMatcher(None, base, text, autojunk=False).get_matching_blocks()
    return [MatchedBlock(*each) for each in found if each.size]


class MatchedBlock(NamedTuple):
    """Lines that stand unchanged in two texts: where in each, and how many."""

    a: int
    b: int
    size: int


def merge_items(
    base: Iterable[Item],
    ours: Iterable[Item],
    theirs: Iterable[Item],
    key: Callable[[Item], Hashable] = lambda item: item,
) -> list[Item]:
    """Return the items of both lists, in the order of the first, without those that one of the
    two took away. Of one that both changed, ours counts; one that a side changed and the other
    took away stays."""
    before = {key(each): each for each in base}
    one, other = ({key(each): each for each in side} for side in (ours, theirs))
    merged: list[Item] = []
    for name in dict.fromkeys((*one, *other)):
        was, mine, its = before.get(name), one.get(name), other.get(name)
        if mine is None:
            kept = None if its == was else its
        elif its is None:
            kept = None if mine == was else mine
        else:
            kept = its if mine == was else mine
        if kept is not None:
            merged.append(kept)
    return merged
