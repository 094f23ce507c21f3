"""Stems: the words of a text, reduced so that `went` meets `go` and `boxes` meets `box`.

The same tokenizer cuts them that FTS5 uses, so that what is counted here is what is found
there. Irregular forms are brought together first, which no stemmer does. A stem is kept as a
number: four bytes tell words apart well enough for a score, and comparing numbers is quick.
Where a script writes without spaces, pairs of letters stand in for words; see `text.py`.
"""

from __future__ import annotations

import unicodedata
import zlib

import apsw

from madeleine.index.common.text import (
    is_unspaced,
    letters_of,
    pairs_of,
    pictures_of,
    without_pictures,
    words_beside,
)
from madeleine.language.wording import IRREGULAR_FORMS, word_forms

_CUT = ["remove_diacritics", "2", "categories", "L* M* N* Co"]
REMEMBERED = 200_000  # words whose stems are kept at hand: a large vocabulary, a few MB


class Stemmer:
    """Stems by way of a connection, because FTS5's tokenizers belong to one.

    `known` are the numbers of words, shared by all that are made for one index, in all threads.
    """

    def __init__(self, connection: apsw.Connection, known: dict[str, int]) -> None:
        self._cut = connection.fts5_tokenizer("unicode61", _CUT)
        self._porter = connection.fts5_tokenizer("porter", ["unicode61", *_CUT])
        self._known = known

    def numbers(self, text: str) -> list[int]:
        """Return the stems of a text in order, as numbers. A letter that is a word by itself
        stands inside runs too, so that a question of one letter meets it there."""
        letters = [] if text.isascii() else letters_of(text)
        words = [*self._words(text), *letters]
        known = self._known
        return [known.get(word) or self._learn(word) for word in words]

    def stems(self, word: str) -> list[str]:
        """Return the stems that stand for a word of a question: one, or its pairs of letters."""
        return [self._stem(each) for each in self._words(word)]

    def written(self, stem_or_word: str) -> list[str]:
        """Return how FTS5 writes a word and the other forms of it."""
        return list(dict.fromkeys(self._plain(each) for each in word_forms(stem_or_word)))

    def tokens(self, text: str) -> list[str]:
        """Return the words of a text in order, as FTS5 keeps them."""
        return _tokens(self._porter, text)

    def _words(self, text: str) -> list[str]:
        if text.isascii():
            return _tokens(self._cut, text)
        normal = unicodedata.normalize("NFKC", text)
        cut, pictures = _tokens(self._cut, without_pictures(normal)), pictures_of(normal)
        if not is_unspaced(normal):
            return [*cut, *pictures]
        spaced = [word for word in cut if not is_unspaced(word)]
        beside = _tokens(self._cut, " ".join(words_beside(normal)))
        return [*spaced, *beside, *pairs_of(normal), *pictures]

    def _learn(self, word: str) -> int:
        if len(self._known) >= REMEMBERED:
            self._known.clear()
        number = self._known[word] = number_of(self._stem(word))
        return number

    def _stem(self, word: str) -> str:
        return self._plain(IRREGULAR_FORMS.get(word, word))

    def _plain(self, word: str) -> str:
        tokens = _tokens(self._porter, word)
        return tokens[0] if tokens else word


def spelt(stemmer: Stemmer, word: str, stem: str) -> list[str]:
    """Return how the words that a stem stands for are kept."""
    whole = word.casefold()
    return stemmer.written(whole) if whole in IRREGULAR_FORMS else [stem]


def _tokens(tokenizer: apsw.FTS5Tokenizer, text: str) -> list[str]:
    raw = text.encode("utf-8", "replace")
    found = tokenizer(
        raw, apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False
    )
    return [str(each) for each in found]


def number_of(stem: str) -> int:
    return zlib.crc32(stem.encode("utf-8", "replace"))
