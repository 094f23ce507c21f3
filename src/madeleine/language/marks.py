"""Signs that are no words and yet change what a text says.

`x < 0` is not `x > 0`, `$10` is not `€10`, and `~/src/atlas` is another folder than
`~/src/Atlas`. Two texts that differ in such a sign are not one, however alike their words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterator

from madeleine.language.late_pattern import compile_late

# All that is neither a letter, a digit, a space nor what sentences are pointed with; a hyphen
# counts where it stands alone or before an option.
_SIGN = compile_late(r"[^\w\s.,;:!?'\"“”‘’«»()\[\]…–—-]|(?<!\S)-+(?=\s|\w)|(?<=\d)%")
_LITERAL = compile_late(r"[/\\_@=]|\w\.\w|[a-z][A-Z]")
_CHUNK = compile_late(r"\S+")
_QUOTED = compile_late(r"(`+)[^`]+\1")
_POINTING = ".,;:!?'\"“”‘’()[]`"


def count_marks(text: str) -> Counter[str]:
    """Return the signs of a text, and what is written to the letter: paths, names in code."""
    literal = (each[0].strip(_POINTING) for each in _find_literals(text))
    return Counter([*_SIGN.findall(text), *(each for each in literal if each)])


def have_same_marks(one: str, other: str) -> bool:
    """Whether two texts differ in words only."""
    return count_marks(one) == count_marks(other)


def find_literal_places(text: str) -> Container[int]:
    """Return the places where a text is written to the letter, so that case tells too."""
    spans = (each.span() for each in (*_find_literals(text), *_QUOTED.finditer(text)))
    return frozenset(place for start, end in spans for place in range(start, end))


def _find_literals(text: str) -> Iterator[re.Match[str]]:
    return (each for each in _CHUNK.finditer(text) if _LITERAL.search(each[0]))
