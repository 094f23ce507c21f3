"""Stems of words in other languages than English, as the index keeps them.

Each language has its own endings, so a stem depends on the language of the text that a word stands
in. Such a stem ends in a mark, a character that is in no text: it never meets an English word by
accident, and no stemmer of an engine takes anything off it. The mark says nothing of the language:
what two languages write alike is found from either. English words are stemmed by the engines.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from functools import cache, lru_cache

from madeleine.language.compounds import split_compound
from madeleine.language.function_words import read_language
from madeleine.language.language_files import list_languages, load_language
from madeleine.language.late_pattern import compile_late

ANALYSER = "4"
"""Says how words are made of texts; an index that was made by another one is made anew."""
STEM_MARK = "\ue0f5"  # private use: no text has it, and engines take it for a letter
FEWEST_STEM_CHARS = 2
LEAST_AFTER_ARTICLE = 3
PIECE_CHARS = 400  # a text is read in pieces of at least so much, each in its own language
_WORD = compile_late(r"[^\W_]+")
_BLANK_LINE = compile_late(r"\n\s*\n")
_ARABIC_MARKS = compile_late("[\u0640\u064b-\u065f\u0670]")
_SAME_LETTERS = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ı": "i", "þ": "th", "ð": "d",
     "ẞ": "SS", "Æ": "AE", "Œ": "OE", "Ø": "O", "Ł": "L", "Đ": "D", "İ": "I", "Þ": "TH", "Ð": "D",
     "أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ة": "ه"}
)  # fmt: skip
"""Letters that are the same to who types them in a hurry; accents are dropped beside these."""


def replace_letters(text: str) -> str:
    """Return a text with letters that have no accent to be dropped as they are typed without
    them: `Sørensen` as `Sorensen`, `Straße` as `Strasse`."""
    return text if text.isascii() else text.translate(_SAME_LETTERS)


def fold_letters(word: str) -> str:
    """Return a word as it is compared: in lower case, without accents and full-width forms."""
    plain = unicodedata.normalize("NFKC", word).replace("İ", "i").lower()
    if plain.isascii():
        return plain
    bare = _ARABIC_MARKS.sub("", plain).translate(_SAME_LETTERS)
    taken_apart = unicodedata.normalize("NFD", bare)
    return "".join(each for each in taken_apart if not unicodedata.combining(each))


@lru_cache(maxsize=65_536)
def mark_stem(word: str, language: str) -> str:
    """Return the stem of a word of a language, marked. A language without rules for endings has
    its words folded and no more."""
    plain = unicodedata.normalize("NFKC", word).replace("İ", "i").lower()
    stem_by_rules = _load_stemmer(language)
    plain = _without_article(plain, language)
    found = fold_letters(stem_by_rules(plain))
    return (found if len(found) >= FEWEST_STEM_CHARS else fold_letters(plain)) + STEM_MARK


def _without_article(word: str, language: str) -> str:
    """Return a word without an article that is written as one with it. A stemmer may know of such,
    and still cut other endings off where one stands."""
    known = load_language(language)
    for article in sorted(known.articles, key=len, reverse=True) if known is not None else ():
        if word.startswith(article) and len(word) - len(article) >= LEAST_AFTER_ARTICLE:
            return word.removeprefix(article)
    return word


@cache
def _load_stemmer(language: str) -> Callable[[str], str]:
    known = load_language(language)
    if known is None or not known.stemmer:
        return lambda word: word
    # It loads the rules of thirty languages: a store in English only needs none of them.
    import snowballstemmer

    stem_by_rules: Callable[[str], str] = snowballstemmer.stemmer(known.stemmer).stemWord
    return stem_by_rules


@cache
def language_mark(language: str) -> str:
    """Return the word that stands in the index where a text is in a language."""
    return f"{language}{STEM_MARK * 2}"


ANY_LANGUAGE = STEM_MARK * 2
"""Stands in the index wherever a text is in another language than English."""
_UNSPACED = frozenset({"zh", "ja", "th", "ko"})


@cache
def stemmed_languages() -> tuple[str, ...]:
    """Return the languages whose words are stemmed here: those that have a file, and put spaces
    between words that the index would otherwise keep as they are."""
    return tuple(each for each in list_languages() if each not in _UNSPACED)


def find_stemmed_language(text: str) -> str | None:
    """Return the language of a text if its words are stemmed here, and nothing for English."""
    known = read_language(text)
    return known.code if known is not None and known.code in stemmed_languages() else None


def split_by_language(text: str) -> Iterator[tuple[str | None, str]]:
    """Yield the pieces of a text, each with its language if its words are stemmed here."""
    for piece in _split_pieces(text):
        yield find_stemmed_language(piece), piece


def _split_pieces(text: str) -> Iterator[str]:
    """Yield pieces that end at a blank line, none of them very short."""
    if len(text) <= PIECE_CHARS:
        yield text
        return
    start = 0
    for found in _BLANK_LINE.finditer(text):
        if found.start() - start >= PIECE_CHARS:
            yield text[start : found.end()]
            start = found.end()
    yield text[start:]


def find_words(text: str) -> list[str]:
    """Return the words of a text as they are written."""
    return _WORD.findall(unicodedata.normalize("NFKC", text))


def iterate_marked(word: str, language: str) -> Iterator[str]:
    """Yield the marked stem of a word of a language, and those of the words it is made of."""
    yield mark_stem(word, language)
    for part in split_compound(word.lower(), language):
        yield mark_stem(part, language)


def mark_words(text: str, language: str | None) -> list[str]:
    """Return the marked stems of the words of a text in a language; of English none."""
    if language is None:
        return []
    return [stem for word in find_words(text) for stem in iterate_marked(word, language)]


def iterate_stems(text: str, language: str | None) -> Iterator[str]:
    """Yield the marked stems of what is not English in a text, and which languages it is in. A
    short text is in the given language, of a long one each piece in its own."""
    pieces = [(language, text)] if len(text) <= PIECE_CHARS else split_by_language(text)
    found: dict[str, None] = {}
    for its_language, piece in pieces:
        if its_language is not None:
            found[its_language] = None
            yield from mark_words(piece, its_language)
    if found:
        yield ANY_LANGUAGE
    yield from map(language_mark, found)
