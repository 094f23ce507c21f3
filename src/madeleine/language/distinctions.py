"""Whether two texts may be one memory without anybody being asked.

`The switch is on` and `The switch is off` are as alike as two texts can be, and a judge that is
sure of them is wrong. So whoever judges, texts are merged unasked only if nothing that can be
named tells them apart: a number, a unit, a sign, a letter, a name, who, where, when, how much,
whether, a denial, an opposite, or the same words in another order.
"""

from __future__ import annotations

from collections import Counter

from madeleine.language.kinds import find_opposites
from madeleine.language.stems import telling_stems
from madeleine.language.substance import (
    CONTRARY_WORDS,
    PLACE_AND_TIME,
    TURNING_WORDS,
    Tokens,
    count_denials,
    find_bound_words,
    find_exact_tokens,
    find_particulars,
    group_turning_words,
    normalize_pronoun,
    tokenize,
)
from madeleine.language.text_merging import find_missing_sentences

_GLUE = frozenset({"of", "for", "as", "and", "that", "this", "it", "do", "does", "has", "have"})
"""Words that come along with others: `out of`."""


def have_same_wording(one: str, other: str) -> bool:
    """Whether two texts say the same in the same words, but for what may open or close a
    sentence: `On Monday we deploy`."""
    mine, theirs = tokenize(one), tokenize(other)
    return mine == theirs or _is_rotated(mine, theirs) or _is_rotated(theirs, mine)


def _is_rotated(one: Tokens, other: Tokens) -> bool:
    """Whether the end of one, from a word of place or time on, is how the other begins."""
    return len(one) == len(other) and any(
        one[:place] == other[-place:] and one[place:] == other[:-place]
        for place in range(2, len(one))
        if TURNING_WORDS.get(one[place]) in PLACE_AND_TIME
    )


def are_told_apart(one: str, other: str) -> bool:
    """Whether something that can be named tells two texts apart. Not where one simply says more:
    it says what the other says too."""
    if (
        have_same_wording(one, other)
        or not find_missing_sentences(one, other)
        or not find_missing_sentences(other, one)
    ):
        return False
    return (
        count_denials(one) != count_denials(other)
        or find_exact_tokens(one) != find_exact_tokens(other)
        or find_opposites(telling_stems(one), telling_stems(other)) is not None
        or _each_names_its_own(one, other)
        or _differ_only_in_small_words(tokenize(one), tokenize(other))
        or _have_opposite_directions(one, other)
    )


def have_contrary_words(one: str, other: str) -> bool:
    """Whether one says `on`, `before` or `with` where the other says `off`, `after` or `without`,
    of whatever."""
    mine, theirs = frozenset(tokenize(one)), frozenset(tokenize(other))
    return any(
        not theirs.isdisjoint(CONTRARY_WORDS.get(each, ())) for each in mine - theirs
    ) and any(not mine.isdisjoint(CONTRARY_WORDS.get(each, ())) for each in theirs - mine)


def _each_names_its_own(one: str, other: str) -> bool:
    """Whether each names something, or says who, how much or whether, as the other does not.
    Where and when may be said in many ways: `lives in Turin`, `moved to Turin`."""
    mine, theirs = group_turning_words(one), group_turning_words(other)
    sides = [(mine[each], theirs[each]) for each in mine if each not in PLACE_AND_TIME]
    own = (
        find_particulars(one) - frozenset(tokenize(other)),
        find_particulars(other) - frozenset(tokenize(one)),
    )
    return all(own) or any(a - b and b - a for a, b in sides)


def _differ_only_in_small_words(one: Tokens, other: Tokens) -> bool:
    """Whether two texts differ in nothing but small words that turn them round, and in order."""
    mine, theirs = Counter(one), Counter(other)
    apart = frozenset(map(normalize_pronoun, (mine - theirs) + (theirs - mine))) - _GLUE
    return apart <= TURNING_WORDS.keys() and (bool(apart) or mine == theirs)


def _have_opposite_directions(one: str, other: str) -> bool:
    """Whether one says `to` of something, and the other `from`."""
    mine, theirs = (
        find_bound_words(one) - find_bound_words(other),
        find_bound_words(other) - find_bound_words(one),
    )
    return any(
        (contrary, what) in theirs
        for word, what in mine
        for contrary in CONTRARY_WORDS.get(word, ())
    )
