"""Whether a text that a model wrote from others says what they say.

A model's summary reads well also where it dropped a number. So nothing is taken from a model
whose text lost a number, a sign, a letter or a name of the originals, or a small word that turns
what they say round; nor if it has a number or a name that stands in none of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from madeleine.language.clauses import weight
from madeleine.language.stems import stems_of
from madeleine.language.substance import lost_words, particulars, tokens, turns
from madeleine.language.uniting import denies_alike, says_all, turned_round

MOST_WORDS = 0.8  # share of each original's telling words that a synthesis has to keep
ALL_WORDS = 1.0  # what a merged text has to keep: the memory it replaces goes


def kept_by(
    title: str, content: str, originals: Sequence[tuple[str | None, str]], share: float
) -> str:
    """Return what is wrong with a text that is to stand for the originals; empty if nothing."""
    text = f"{title}\n{content}"
    before = [f"{each or ''}\n{said}" for each, said in originals]
    if any(particulars(each) & lost_words(text, [each]) for each in before):
        return "it loses a number or a name"
    if made_up(text, before):
        return "it makes up a number or a name"
    if share >= ALL_WORDS and not says_all(text, before):
        return "it loses a word or exchanges some"
    if any(_share(stems_of(each), stems_of(text)) < share for each in before):
        return "it loses too many words"
    if not denies_alike(text, before):
        return "it denies what they do not, or the reverse"
    turned = any(turns(each) - turns(text) for each in before) or turned_round(text, before)
    return "it turns something round" if turned else ""


def made_up(text: str, originals: Sequence[str]) -> frozenset[str]:
    """Return the numbers and names of a text that stand in none of the originals, however they
    are spelt there."""
    known = {token.casefold() for each in originals for token in tokens(each)}
    found = {each.casefold() for each in particulars(text) if any(map(str.isalnum, each))}
    return frozenset(found - known)


def _share(wanted: frozenset[str], said: frozenset[str]) -> float:
    whole = weight(wanted)
    return weight(wanted & said) / whole if whole else 1.0
