"""Whether words really stand in a text: what proves that nothing was made up.

Spacing, case, typographic quotes and dashes may differ, since a model rarely copies those
faithfully. Nothing else may.
"""

from __future__ import annotations

import re
import unicodedata

LEAST_CHARS = 8  # shorter words stand in any text by chance

_QUOTES = {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-"}


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Return where in a text the quoted words begin and end; nothing if they do not stand there."""
    words = _plain(quote).split()
    if sum(map(len, words)) < LEAST_CHARS:
        return None
    plain, places = _with_places(text)
    found = re.search(r"\s+".join(map(re.escape, words)), plain)
    return None if found is None else (places[found.start()], places[found.end() - 1] + 1)


def _with_places(text: str) -> tuple[str, list[int]]:
    """Return a text in its plain form, and for each character where it came from."""
    pieces = [(each, place) for place, character in enumerate(text) for each in _plain(character)]
    return "".join(each for each, _ in pieces), [place for _, place in pieces]


def _plain(text: str) -> str:
    return "".join(
        _QUOTES.get(each, each) for each in unicodedata.normalize("NFKC", text)
    ).casefold()
