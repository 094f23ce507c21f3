"""Whether a text that a model wrote from others says what they say.

A model's summary reads well also where it dropped a number. So nothing is taken from a model
whose text lost a number, a sign, a letter or a name of the originals, or a small word that turns
what they say round; nor if it has a number or a name that stands in none of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from madeleine.language.clauses import stem_weight
from madeleine.language.stems import telling_stems
from madeleine.language.substance import (
    find_lost_words,
    find_particulars,
    find_turning_words,
    tokenize,
)
from madeleine.language.text_merging import denies_alike, is_turned_round, says_all

SYNTHESIS_SHARE = 0.8  # share of each original's telling words that a synthesis has to keep
MERGE_SHARE = 1.0  # what a merged text has to keep: the memory it replaces goes


def find_synthesis_fault(
    title: str, content: str, originals: Sequence[tuple[str | None, str]], share: float
) -> str:
    """Return what is wrong with a text that is to stand for the originals; empty if nothing."""
    text = f"{title}\n{content}"
    before = [f"{each or ''}\n{said}" for each, said in originals]
    if any(find_particulars(each) & find_lost_words(text, [each]) for each in before):
        return "it loses a number or a name"
    if find_made_up(text, before):
        return "it makes up a number or a name"
    if share >= MERGE_SHARE and not says_all(text, before):
        return "it loses a word or exchanges some"
    if any(_kept_share(telling_stems(each), telling_stems(text)) < share for each in before):
        return "it loses too many words"
    if not denies_alike(text, before):
        return "it denies what they do not, or the reverse"
    turned = any(
        find_turning_words(each) - find_turning_words(text) for each in before
    ) or is_turned_round(text, before)
    return "it turns something round" if turned else ""


def find_made_up(text: str, originals: Sequence[str]) -> frozenset[str]:
    """Return the numbers and names of a text that stand in none of the originals, however they
    are spelt there."""
    known = {token.casefold() for each in originals for token in tokenize(each)}
    found = {each.casefold() for each in find_particulars(text) if any(map(str.isalnum, each))}
    return frozenset(found - known)


def _kept_share(wanted: frozenset[str], said: frozenset[str]) -> float:
    whole = stem_weight(wanted)
    return stem_weight(wanted & said) / whole if whole else 1.0
