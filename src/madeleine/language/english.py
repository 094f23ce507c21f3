"""Whether a text may be English.

Whoever has one way for English and another for all else asks here. What is English is to stay so
at nearly any cost: a text counts as foreign only when English is next to impossible, or when a good
part of it is in another script. A few names or a quotation do not make an English text foreign, and
a log in English does not make a question in Russian English.
"""

from __future__ import annotations

from madeleine.language.function_words import shows_english
from madeleine.language.identification import TEXT_CHARS, find_chance

ENGLISH = "en"
LEAST_CHANCE = 0.005  # of three thousand lines of English conversation none has less
FOREIGN_SHARE = 0.15  # of the letters, in another script
LAST_LATIN = "\u024f"
FEWEST_WORDS = 4  # in Latin letters, of which a name alone is no language


def may_be_english(text: str) -> bool:
    """Whether a text is English, or shows no other language."""
    if shows_english(text):
        return True  # whatever its letters say, which takes ten times as long to tell
    if _is_in_other_script(text):
        return False
    chance = find_chance(text, ENGLISH)
    return chance is None or chance >= LEAST_CHANCE


def is_surely_other(text: str) -> bool:
    """Whether a text is in another language whatever it is compared with: a few words in Latin
    letters may be an English question for a name (`Agnieszka's birthday`)."""
    if may_be_english(text):
        return False
    return _is_in_other_script(text) or len(text.split()) >= FEWEST_WORDS


def _is_in_other_script(text: str) -> bool:
    if text.isascii():
        return False
    letters = [each for each in text[:TEXT_CHARS] if each.isalpha()]
    foreign = sum(each > LAST_LATIN for each in letters)
    return foreign > 0 and foreign >= FOREIGN_SHARE * len(letters)
