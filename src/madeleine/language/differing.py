"""Whether two texts may be one memory without anybody being asked.

`The switch is on` and `The switch is off` are as alike as two texts can be, and a judge that is
sure of them is wrong. So whoever judges, texts are merged unasked only if nothing that can be
named tells them apart: a number, a unit, a sign, a letter, a name, who, where, when, how much,
whether, a denial, an opposite, or the same words in another order.
"""

from __future__ import annotations

from collections import Counter

from madeleine.language.kinds import opposed
from madeleine.language.stems import stems_of
from madeleine.language.substance import (
    AROUND,
    CONTRARY,
    TURNING,
    Tokens,
    bound,
    denials,
    exact,
    particulars,
    person,
    tokens,
    turning,
)
from madeleine.language.uniting import missing

_GLUE = frozenset({"of", "for", "as", "and", "that", "this", "it", "do", "does", "has", "have"})
"""Words that come along with others: `out of`."""


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
        if TURNING.get(one[place]) in AROUND
    )


def told_apart(one: str, other: str) -> bool:
    """Whether something that can be named tells two texts apart. Not where one simply says more:
    it says what the other says too."""
    if same_said(one, other) or not missing(one, other) or not missing(other, one):
        return False
    return (
        denials(one) != denials(other)
        or exact(one) != exact(other)
        or opposed(stems_of(one), stems_of(other)) is not None
        or _each_has_its_own(one, other)
        or _only_turned(tokens(one), tokens(other))
        or _against(one, other)
    )


def _each_has_its_own(one: str, other: str) -> bool:
    """Whether each names something, or says who, how much or whether, as the other does not.
    Where and when may be said in many ways: `lives in Turin`, `moved to Turin`."""
    mine, theirs = turning(one), turning(other)
    sides = [(mine[each], theirs[each]) for each in mine if each not in AROUND]
    own = particulars(one) - frozenset(tokens(other)), particulars(other) - frozenset(tokens(one))
    return all(own) or any(a - b and b - a for a, b in sides)


def _only_turned(one: Tokens, other: Tokens) -> bool:
    """Whether two texts differ in nothing but small words that turn them round, and in order."""
    mine, theirs = Counter(one), Counter(other)
    apart = frozenset(map(person, (mine - theirs) + (theirs - mine))) - _GLUE
    return apart <= TURNING.keys() and (bool(apart) or mine == theirs)


def _against(one: str, other: str) -> bool:
    """Whether one says `to` of something, and the other `from`."""
    mine, theirs = bound(one) - bound(other), bound(other) - bound(one)
    return any(
        (contrary, what) in theirs for word, what in mine for contrary in CONTRARY.get(word, ())
    )
