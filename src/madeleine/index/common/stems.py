"""Stems: the words of a text, reduced so that `went` meets `go` and `boxes` meets `box`.

The same tokenizer cuts them that FTS5 uses, so that what is counted here is what is found
there. Irregular forms are brought together first, which no stemmer does. A stem is kept as a
number: four bytes tell words apart well enough for a score, and comparing numbers is quick.
Where a script writes without spaces, pairs of letters stand in for words; see `text.py`.
"""

from __future__ import annotations

import unicodedata
import zlib
from typing import cast

import apsw

from madeleine.index.common.text import (
    blank_emoji,
    emoji_words,
    has_unspaced_letter,
    letter_pairs,
    run_letters,
    words_beside,
)
from madeleine.language.word_hints import IRREGULAR_FORMS, word_forms
from madeleine.language.word_stems import (
    find_words,
    iterate_marked,
    replace_letters,
    split_by_language,
)

_TOKENIZER_OPTIONS = ["remove_diacritics", "2", "categories", "L* M* N* Co"]
MAX_CACHED_WORDS = 200_000  # words whose stems are kept at hand: a large vocabulary, a few MB


class Stemmer:
    """Stems by way of a connection, because FTS5's tokenizers belong to one.

    `known` are the numbers of words, shared by all that are made for one index, in all threads.
    """

    def __init__(self, connection: apsw.Connection, known: dict[str, int]) -> None:
        self._cut = connection.fts5_tokenizer("unicode61", _TOKENIZER_OPTIONS)
        self._porter = connection.fts5_tokenizer("porter", ["unicode61", *_TOKENIZER_OPTIONS])
        self._known = known

    def numbers(self, text: str) -> list[int]:
        """Return the stems of a text in order, as numbers, each piece in its own language. A
        letter that is a word by itself stands inside runs too, so that a question of one letter
        meets it there."""
        return [
            number
            for language, piece in split_by_language(text)
            for number in (
                self._english_numbers(piece)
                if language is None
                else self._marked_numbers(piece, language)
            )
        ]

    def _marked_numbers(self, text: str, language: str) -> list[int]:
        """Return the stems of words of a language. A word that is in no language by itself, such
        as an emoji, stands as it does in English."""
        found = [
            self._known.get(stem) or self._note(stem, stem_number(stem))
            for word in find_words(text)
            for stem in iterate_marked(word, language)
        ]
        pictures = emoji_words(text)
        return found + (self._english_numbers(" ".join(pictures)) if pictures else [])

    def _english_numbers(self, text: str) -> list[int]:
        letters = [] if text.isascii() else run_letters(text)
        words = [*self._split_words(text), *letters]
        known = self._known
        return [known.get(word) or self._learn(word) for word in words]

    def stems(self, word: str) -> list[str]:
        """Return the stems that stand for a word of a question: one, or its pairs of letters."""
        return [self._stem_word(each) for each in self._split_words(word)]

    def written(self, stem_or_word: str) -> list[str]:
        """Return how FTS5 writes a word and the other forms of it."""
        return list(dict.fromkeys(self._porter_form(each) for each in word_forms(stem_or_word)))

    def tokens(self, text: str) -> list[str]:
        """Return the words of a text in order, as FTS5 keeps them."""
        return _tokenize(self._porter, text)

    def _split_words(self, text: str) -> list[str]:
        if text.isascii():
            return _tokenize(self._cut, text)
        normal = replace_letters(unicodedata.normalize("NFKC", text))
        cut, pictures = _tokenize(self._cut, blank_emoji(normal)), emoji_words(normal)
        if not has_unspaced_letter(normal):
            return [*cut, *pictures]
        spaced = [word for word in cut if not has_unspaced_letter(word)]
        beside = _tokenize(self._cut, " ".join(words_beside(normal)))
        return [*spaced, *beside, *letter_pairs(normal), *pictures]

    def _learn(self, word: str) -> int:
        return self._note(word, stem_number(self._stem_word(word)))

    def _note(self, word: str, number: int) -> int:
        if len(self._known) >= MAX_CACHED_WORDS:
            self._known.clear()
        self._known[word] = number
        return number

    def _stem_word(self, word: str) -> str:
        return self._porter_form(IRREGULAR_FORMS.get(word, word))

    def _porter_form(self, word: str) -> str:
        tokens = _tokenize(self._porter, word)
        return tokens[0] if tokens else word


def stored_forms(stemmer: Stemmer, word: str, stem: str) -> list[str]:
    """Return how the words that a stem stands for are kept."""
    whole = word.casefold()
    return stemmer.written(whole) if whole in IRREGULAR_FORMS else [stem]


def _tokenize(tokenizer: apsw.FTS5Tokenizer, text: str) -> list[str]:
    raw = text.encode("utf-8", "replace")
    found = tokenizer(
        raw, apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False
    )
    return cast("list[str]", found)  # which it is without offsets and colocated tokens


def stem_number(stem: str) -> int:
    return zlib.crc32(stem.encode("utf-8", "replace"))
