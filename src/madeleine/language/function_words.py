"""Whether a text is in another language than English beyond doubt, told by its function words.

Letters tell the language of a sentence, and guess that of a name or a heading. What is cut by the
rules of a language has to be in it: a text in Latin letters must hold a word that stands in every
text of the language and in no English one, and more such words than English ones. Where no such
word of either stands, the letters of a few words together have to be quite sure.
"""

from __future__ import annotations

import string
import unicodedata
from functools import cache
from typing import NamedTuple

from madeleine.language.identification import SURE_FROM, guess_languages
from madeleine.language.language_files import LanguageFile, load_language, load_stop_words
from madeleine.language.late_pattern import compile_late
from madeleine.language.word_hints import QUESTION_WORDS, STOP_WORDS

TEXT_CHARS = 600  # function words show long before that
FEWEST_WORDS = 3
FEWEST_ENGLISH = 2  # function words by which a text shows to be English at a glance
SURE_WITHOUT = 0.97  # of probability, where no function word shows the language
_WORD = compile_late(r"[^\W\d_]{2,}")
_ENGLISH = STOP_WORDS | QUESTION_WORDS
_LOWER_LETTERS = bytes(
    ord(chr(code).lower()) if chr(code) in string.ascii_letters else ord(" ") for code in range(256)
)
"""What stands for each character of ASCII: a letter in lower case, or a space."""
_LATIN_END = "\u0250"  # where letters that only some languages write in Latin end


def read_language(text: str) -> LanguageFile | None:
    """Return what is known of the language of a text, if that is another than English, there is a
    file for it, and the text is in it beyond doubt."""
    if (text.isascii() or _is_latin(text)) and _holds_english(_read_words(text)):
        return None  # whatever its letters say, which takes ten times as long to tell
    best = guess_languages(text, limit=1)
    if not best or best[0].probability < SURE_FROM:
        return None
    known = load_language(best[0].code)
    if known is None or not _is_latin(text):
        return known
    words = {each for each in _read_words(text) if len(each) > 1}
    own, english = words & known.stop_words - _ENGLISH, words & _ENGLISH - known.stop_words
    if not own and words.isdisjoint(_ENGLISH) and len(words) >= FEWEST_WORDS:
        return known if best[0].probability >= SURE_WITHOUT else None
    return known if len(own) > len(english) else None


def shows_english(text: str) -> bool:
    """Whether function words show at a glance that a text is English: several, of which no other
    language has one, and none of any other language. Most English texts do; of the others nothing
    is said."""
    if not text.isascii():
        return False
    words, sides = _read_words(text), _load_stop_words()
    return (
        words.isdisjoint(sides.foreign)
        and not words.isdisjoint(sides.english)
        and len(words & _ENGLISH) >= FEWEST_ENGLISH
    )


def _read_words(text: str) -> set[str]:
    """Return the words of the beginning of a text, in lower case; some of one letter, too."""
    if text.isascii():  # the same words, in a quarter of the time
        letters = text[:TEXT_CHARS].encode("ascii").translate(_LOWER_LETTERS)
        return set(letters.decode("ascii").split())
    return set(_WORD.findall(unicodedata.normalize("NFKC", text[:TEXT_CHARS]).lower()))


class StopWordSides(NamedTuple):
    """Function words of two letters and more that tell English from all other languages that have
    a file."""

    foreign: frozenset[str]
    english: frozenset[str]


@cache
def _load_stop_words() -> StopWordSides:
    foreign = load_stop_words()
    return StopWordSides(
        frozenset(word for word in foreign - _ENGLISH if len(word) > 1),
        frozenset(word for word in _ENGLISH - foreign if len(word) > 1),
    )


def _holds_english(words: set[str]) -> bool:
    """Whether these words hold so many of English alone that no other language can have more."""
    sides = _load_stop_words()
    if words.isdisjoint(sides.foreign):
        return not words.isdisjoint(sides.english)
    return len(words & sides.foreign) <= len(words & sides.english)


def _is_latin(text: str) -> bool:
    letters = [each for each in text[:TEXT_CHARS] if each.isalpha()]
    return 2 * sum(each < _LATIN_END for each in letters) > len(letters)
