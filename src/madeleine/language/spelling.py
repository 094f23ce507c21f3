"""Slips of the finger: `typsecript` for `typescript`, `eror` for `error`.

One letter left out, put in, changed, or exchanged with its neighbour. The first letter is
hardly ever the wrong one, and in short words one letter makes another word.
"""

from __future__ import annotations

LEAST_LETTERS = 4
LEAST_CHANGED = 6  # `bake` is not `base`


def may_be_typo(word: str) -> bool:
    """Whether a word is long enough, and made of letters only, so that one may be wrong."""
    return len(word) >= LEAST_LETTERS and word.isalpha()


def is_typo(word: str, meant: str) -> bool:
    """Whether one slip makes `word` of `meant`."""
    if word == meant or word[:1] != meant[:1] or abs(len(word) - len(meant)) > 1:
        return False
    at = _common_prefix_length(word, meant)
    rest, other = word[at:], meant[at:]
    if len(word) == len(meant):
        exchanged = rest[:2] == other[:2][::-1] and rest[2:] == other[2:]
        return exchanged or (len(word) >= LEAST_CHANGED and rest[1:] == other[1:])
    shorter, longer = sorted((rest, other), key=len)
    return longer[1:] == shorter


def _common_prefix_length(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
