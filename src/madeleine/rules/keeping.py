"""Whether a text that a model wrote from others says what they say.

A model's summary reads well also where it dropped a number. So nothing is taken from a model
whose text lost a number or a name of the originals, or has one that stands in none of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from madeleine.rules.clauses import weight
from madeleine.rules.stems import stems_of
from madeleine.rules.uniting import denies_alike, particulars, says_all

MOST_WORDS = 0.8  # share of each original's telling words that a synthesis has to keep
ALL_WORDS = 1.0  # what a merged text has to keep: the memory it replaces goes


def kept_by(
    title: str, content: str, originals: Sequence[tuple[str | None, str]], share: float
) -> str:
    """Return what is wrong with a text that is to stand for the originals; empty if nothing."""
    text = f"{title}\n{content}"
    before = [f"{each or ''}\n{said}" for each, said in originals]
    said, known = stems_of(text), stems_of("\n".join(before))
    if any(particulars(each) - said for each in before):
        return "it loses a number or a name"
    if particulars(text) - known:
        return "it makes up a number or a name"
    if share >= ALL_WORDS and not says_all(text, before):
        return "it loses a word"
    if any(_share(stems_of(each), said) < share for each in before):
        return "it loses too many words"
    return "" if denies_alike(text, before) else "it denies what they do not, or the reverse"


def _share(wanted: frozenset[str], said: frozenset[str]) -> float:
    whole = weight(wanted)
    return weight(wanted & said) / whole if whole else 1.0
