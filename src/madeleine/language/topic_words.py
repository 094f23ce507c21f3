"""Words that may name a topic: those of a text that tell it from others."""

from __future__ import annotations

import re
from functools import cache

from madeleine.language.language_files import list_languages, load_language
from madeleine.language.word_hints import QUESTION_WORDS, STOP_WORDS

_WORD_PATTERN = re.compile(r"[^\W\d_][^\W_]{2,30}(?:['’-][^\W_]+)*")
_EMPTY_TEXT = """
also always because before being could every first going good like made make many more most much
need needs never new next often only other our really same should since some still such than that
then there they thing things this time too use used uses using very want wants way well when which
while will with without work works would yes you your the and for not are was
"""
_EMPTY_WORDS = frozenset(_EMPTY_TEXT.split())


@cache
def _load_function_words() -> frozenset[str]:
    """Function words of every language that has a file, and of English."""
    files = (load_language(each) for each in list_languages())
    foreign = {word for each in files if each is not None for word in each.stop_words}
    return frozenset(foreign | STOP_WORDS | QUESTION_WORDS | _EMPTY_WORDS)


def topic_words(text: str) -> dict[str, str]:
    """Return the words of a text that may name what it is about: in lower case, and as they are
    written."""
    empty = _load_function_words()
    found: dict[str, str] = {}
    for match in _WORD_PATTERN.finditer(text):
        word = match[0].strip("'’-").removesuffix("'s").removesuffix("’s")
        low = word.lower()
        if len(low) > 2 and low not in empty:
            found.setdefault(low, word)
    return found
