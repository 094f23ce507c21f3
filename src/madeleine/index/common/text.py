"""Words: what is indexed for them and how they are looked for.

FTS5 cuts a text at spaces and punctuation. Japanese, Chinese, Thai and some others write
without spaces, so a whole sentence would be one word there. For runs of such letters we index
every pair of neighbours (`猫が`, `が好`, …) in columns of their own, and look for the pairs of
a question in the same columns. The last letter of a run stands alone, so that each letter
begins a gram and a question of one letter can be asked as a prefix.

The same columns hold what else FTS5 would not find: words in the spelling that questions come
in (`file` where the text has the ligature `ﬁle`), and a word for each emoji, which FTS5 takes
for punctuation if it is old and for a letter if it is newer than FTS5's tables.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from madeleine.language.text_keys import EMOJI_SELECTOR, is_emoji
from madeleine.language.word_stems import replace_letters

TITLE_WEIGHT = 10.0  # what a word counts in a title, where one in the text counts once
COLUMN_WEIGHTS = (
    TITLE_WEIGHT,
    1.0,
    3.0,
    TITLE_WEIGHT,
    1.0,
    1.0,
)  # title, content, tags, grams of the title, others, said
_UNSPACED_RANGES = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Tibetan, Burmese, Khmer
    "\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff"  # kana and their marks
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\uac00-\ud7af"  # Hangul has spaces, but joins endings to its words
)

_RUN_PATTERN = re.compile(f"[{_UNSPACED_RANGES}]+")
_LETTER_PATTERN = re.compile(f"[{_UNSPACED_RANGES}]")
_OTHER_RUN_PATTERN = re.compile(f"[^\\W{_UNSPACED_RANGES}]+")
_WORD_PATTERN = re.compile(r"[^\W_]+")
_SIGN_PATTERN = re.compile(r"[^\w\s\x00-\u20ff]")


def build_grams(text: str) -> str:
    """Return what stands in for words where FTS5 finds none, or finds others than a question
    would ask for; of most texts nothing.

    A word of another script that touches a run without spaces (`Pythonの`) is one token for
    FTS5 with its neighbour; it is added by itself.
    """
    if text.isascii():
        return ""
    normal = unicodedata.normalize("NFKC", text)
    pictures = [*emoji_words(normal), *_iterate_words_beside_emoji(normal)]
    return " ".join(
        [
            *_iterate_grams(normal),
            *_iterate_words_beside(normal),
            *_iterate_respelt_words(text, normal),
            *pictures,
        ]
    )


def emoji_words(text: str) -> list[str]:
    """Return a word for each emoji and the like in a text."""
    found = _SIGN_PATTERN.findall(text)
    return [f"u{ord(each)}" for each in found if is_emoji(each)]


def blank_emoji(text: str) -> str:
    """Return a text with a space in the place of each emoji."""
    return _SIGN_PATTERN.sub(lambda sign: " " if _is_emoji_character(sign[0]) else sign[0], text)


def _is_emoji_character(sign: str) -> bool:
    return sign == EMOJI_SELECTOR or is_emoji(sign)


def _iterate_words_beside_emoji(text: str) -> Iterator[str]:
    """Yield the words that touch an emoji, which FTS5 may take for a letter of theirs."""
    for found in _WORD_PATTERN.finditer(text) if _SIGN_PATTERN.search(text) else ():
        start, end = found.span()
        if any(map(_is_emoji_character, text[max(start - 1, 0) : start] + text[end : end + 1])):
            yield found.group()


def _iterate_respelt_words(text: str, normal: str) -> Iterator[str]:
    """Yield the words that are spelt otherwise in the normal form, or without letters of their
    own (`ß`, `ø`). Letters taken apart from their accents are none: FTS5 reads past accents."""
    plain = unicodedata.normalize("NFC", text)
    respelt = replace_letters(normal)
    if plain != normal or respelt != normal:
        known = frozenset(_WORD_PATTERN.findall(plain))
        found = dict.fromkeys((*_WORD_PATTERN.findall(normal), *_WORD_PATTERN.findall(respelt)))
        yield from (each for each in found if each not in known and not has_unspaced_letter(each))


def has_unspaced_letter(word: str) -> bool:
    """Whether a word holds a letter of a script that is written without spaces."""
    return _LETTER_PATTERN.search(word) is not None


def letter_pairs(text: str) -> list[str]:
    """Return the pairs of neighbours in runs of such letters, and letters that stand alone."""
    normal = unicodedata.normalize("NFKC", text)
    return [
        run[start : start + 2]
        for run in _RUN_PATTERN.findall(normal)
        for start in range(max(len(run) - 1, 1))
    ]


def run_letters(text: str) -> list[str]:
    """Return the letters in such runs, but for those that stand alone."""
    normal = unicodedata.normalize("NFKC", text)
    return [letter for run in _RUN_PATTERN.findall(normal) if len(run) > 1 for letter in run]


def words_beside(text: str) -> list[str]:
    """Return the words of other scripts that touch such a run: for FTS5 they are part of it."""
    return list(_iterate_words_beside(unicodedata.normalize("NFKC", text)))


def _iterate_grams(text: str) -> Iterator[str]:
    for run in _RUN_PATTERN.findall(text):
        for start in range(len(run)):
            yield run[start : start + 2]


def _iterate_words_beside(text: str) -> Iterator[str]:
    """Yield the words of other scripts that touch a run, in time that grows with the text."""
    for found in _OTHER_RUN_PATTERN.finditer(text):
        start, end = found.span()
        if (start and _LETTER_PATTERN.match(text, start - 1)) or _LETTER_PATTERN.match(text, end):
            yield found.group()


class SearchPhrase(NamedTuple):
    """One of the phrases that are looked for, any of which will do."""

    text: str
    in_grams: bool = False
    """Only where pairs of letters stand."""
    begins: bool = False
    """Whether a word that begins so will do."""


def build_phrases(terms: Sequence[str]) -> list[SearchPhrase]:
    """Return what is looked for on account of the terms, each once; nothing if they say
    nothing."""
    parts: dict[SearchPhrase, None] = {}
    for term in terms:
        clean = term.replace("\x00", " ").encode("utf-8", "replace").decode("utf-8")
        if clean.strip():
            parts[SearchPhrase(clean)] = None
            parts.update(dict.fromkeys(_iterate_gram_phrases(clean)))
    return list(parts)


def _iterate_gram_phrases(term: str) -> Iterator[SearchPhrase]:
    if term.isascii():
        return
    normal = unicodedata.normalize("NFKC", term)
    for run in _RUN_PATTERN.findall(normal):
        pairs = [run[start : start + 2] for start in range(len(run) - 1)]
        yield from (SearchPhrase(pair, in_grams=True) for pair in pairs)
        if not pairs:
            yield SearchPhrase(run, in_grams=True, begins=True)
    respelt = replace_letters(normal)
    others = [respelt] if respelt != normal else []
    yield from (
        SearchPhrase(word)
        for word in (*_iterate_words_beside(normal), *others, *emoji_words(normal))
    )
