"""Whether two texts may be one memory without anybody being asked.

`The switch is on` and `The switch is off` are as alike as two texts can be, and a judge that is
sure of them is wrong. So whoever judges, texts are merged unasked only if nothing that can be
named tells them apart: a number, a unit, a sign, a letter, a name, who, where, when, how much,
whether, a denial, an opposite, or the same words in another order.
"""

from __future__ import annotations

from madeleine.rules.kinds import opposed
from madeleine.rules.stems import stems_of
from madeleine.rules.substance import (
    TURNING,
    Tokens,
    denials,
    exact,
    particulars,
    tokens,
    turning,
)
from madeleine.rules.uniting import missing

_AROUND = ("place", "time")


def same_said(one: str, other: str) -> bool:
    """Whether two texts say the same in the same words, but for what may open or close a
    sentence: `On Monday we deploy`."""
    mine, theirs = tokens(one), tokens(other)
    return mine == theirs or _moved(mine, theirs) or _moved(theirs, mine)


def _moved(one: Tokens, other: Tokens) -> bool:
    """Whether the end of one, from a word of place or time on, is how the other begins."""
    return len(one) == len(other) and any(
        one[:place] == other[-place:] and one[place:] == other[:-place]
        for place in range(2, len(one))
        if TURNING.get(one[place]) in _AROUND
    )


def told_apart(one: str, other: str) -> bool:
    """Whether something that can be named tells two texts apart. Not where one simply says more:
    it says what the other says too."""
    if same_said(one, other) or not missing(one, other) or not missing(other, one):
        return False
    return (
        denials(one) != denials(other)
        or exact(one) != exact(other)
        or sorted(tokens(one)) == sorted(tokens(other))
        or opposed(stems_of(one), stems_of(other)) is not None
        or _each_has_its_own(one, other)
    )


def _each_has_its_own(one: str, other: str) -> bool:
    """Whether each names, counts or turns something as the other does not."""
    mine, theirs = turning(one), turning(other)
    sides = [(mine[each], theirs[each]) for each in mine]
    own = particulars(one) - frozenset(tokens(other)), particulars(other) - frozenset(tokens(one))
    return all(own) or any(a - b and b - a for a, b in sides)
