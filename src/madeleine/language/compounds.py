"""Words that are made of others, in languages that write them as one: `Zahnarzttermin`.

A compound is cut before its last word, which says what it is, and what is left is cut in the same
way. Which words compounds are made of stands in the file of the language (`parts`); one that is not
there may still be the first part, if it is long enough to be a word. Between two parts stands
nothing, or one of a few joints (`joints`). A word that only looks like a compound gets a stem more
and loses none.
"""

from __future__ import annotations

from functools import lru_cache

from madeleine.language.language_files import LanguageFile, load_language

LEAST_PART = 4  # letters of the last word
LEAST_FIRST = 3
LEAST_UNKNOWN = 5  # letters of a first word that is in no table
SHORTEST = LEAST_PART + LEAST_FIRST
VOWELS = frozenset("aeiouyäöüéèáàëï")


@lru_cache(maxsize=65_536)
def split_compound(word: str, language: str) -> tuple[str, ...]:
    """Return the words that a lower-case word is made of; none if it is not made of any."""
    known = load_language(language)
    if known is None or not known.parts or len(word) < SHORTEST or not word.isalpha():
        return ()
    if word in known.parts:
        return ()
    for cut in range(LEAST_FIRST, len(word) - LEAST_PART + 1):  # the longest last word first
        first = _without_joint(word[:cut], known)
        if first and _is_part(word[cut:], known):
            return (*(split_compound(first, language) or (first,)), word[cut:])
    return ()


def _is_part(word: str, known: LanguageFile) -> bool:
    """Whether a word, in one of its forms, is one that compounds are made of."""
    return word in known.parts or any(
        word.endswith(ending) and word.removesuffix(ending) in known.parts
        for ending in known.part_endings
    )


def _without_joint(first: str, known: LanguageFile) -> str:
    """Return the first part without what joins it to the next; nothing if it is no word."""
    endings = [each for each in ("", *known.joints) if first.endswith(each)]
    bare = [first.removesuffix(each) for each in endings]
    for is_word in (known.parts.__contains__, lambda word: _is_part(word, known)):
        found = next((each for each in bare if len(each) >= LEAST_FIRST and is_word(each)), "")
        if found:
            return found
    likely = len(first) >= LEAST_UNKNOWN and not VOWELS.isdisjoint(first)
    return first if likely else ""
