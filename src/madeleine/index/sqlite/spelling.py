"""What a misspelt word may mean: a word that stands somewhere, one slip away.

Looked for among the words with the same two first letters: the finger slips later, and all
words of a large store are too many to compare while somebody waits.
"""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from madeleine.index.sqlite.stems import Stemmer
from madeleine.rules.spelling import is_slip

SAME_LETTERS = 2
ENDINGS = ("e", "s", "es", "ed", "ing", "y", "ion", "al", "ement")
LOOKED_AT = 20_000  # words; as many as the fullest pair of letters begins in a huge store

_NEAR = f"SELECT term, doc FROM fts_words WHERE term >= ? AND term < ? LIMIT {LOOKED_AT}"


def spellings(
    connection: apsw.Connection, stemmer: Stemmer, words: Sequence[str]
) -> dict[str, str]:
    """Return what each of the words may mean, of several the most common."""
    found = ((word, _meant(connection, stemmer, word)) for word in words)
    return {word: meant for word, meant in found if meant is not None}


def _meant(connection: apsw.Connection, stemmer: Stemmer, word: str) -> str | None:
    stems = stemmer.stems(word)
    if len(stems) != 1 or len(stems[0]) <= SAME_LETTERS:
        return None
    start = stems[0][:SAME_LETTERS]
    rows = connection.execute(_NEAR, (start, start[:-1] + chr(ord(start[-1]) + 1)))
    near = [(holders, term) for term, holders in rows if is_slip(stems[0], term)]
    written = (_written(stemmer, term) for _, term in sorted(near, reverse=True))
    return next((each for each in written if each is not None), None)


def _written(stemmer: Stemmer, stem: str) -> str | None:
    """Return a word with this stem: where the stem itself would be cut further, one with an
    ending."""
    forms = [stem, *(stem + ending for ending in ENDINGS), stem[:-1] + "y"]
    return next((each for each in forms if stemmer.stems(each) == [stem]), None)
