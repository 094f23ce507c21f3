"""Whether two notes say different things of one thing, as notes about a boat or a contract do.

`The boat is 9 metres long` and `The boat lies in Roskilde` begin alike, are near each other, and
none replaces the other. A reader of pairs that has learnt updates takes many of them for one. They
are told by their build: both begin with the same name of something, go on with different words, and
share nothing after that: no word, no kind of value, no preposition before it (`on db7`, `on db9`).
"""

from __future__ import annotations

from collections.abc import Sequence

from madeleine.language.changed_words import BY_NOW
from madeleine.language.function_words import read_language
from madeleine.language.kinds import find_kinds
from madeleine.language.stems import is_telling, split_words, stem
from madeleine.language.substance import count_denials
from madeleine.language.word_hints import STOP_WORDS

READ_CHARS = 160  # of a note that states one thing
LEAST_NAME = 2  # telling words of what both are about
_ARTICLES = """
the a an our my your his her their its der die das ein eine unsere mein meine el la los las un
una nuestro nuestra mi le les une notre mon ma il lo gli i uno
"""
ARTICLES = frozenset(_ARTICLES.split())
_BEFORE_VALUES = """
in on at with by from to for under via auf bei mit von nach zu an am im beim en con de del dans sur
avec chez
"""
PREPOSITIONS = frozenset(_BEFORE_VALUES.split())


def say_other_things_of_one(older: str, newer: str) -> bool:
    """Whether both texts begin with one name and then say different things, neither of which is
    told as news."""
    if max(len(older), len(newer)) > READ_CHARS or count_denials(older) or count_denials(newer):
        return False
    before, after = _read_words(older), _read_words(newer)
    same = 0
    while same < min(len(before), len(after)) and before[same] == after[same]:
        same += 1
    name = [word for word in before[:same] if _tells(word, older)]
    rest, instead = before[same:], after[same:]
    if len(name) < LEAST_NAME or min(len(rest), len(instead)) < 2 or BY_NOW & set(instead):
        return False
    shared = set(rest) & set(instead)
    if any(_tells(word, older) or word in PREPOSITIONS for word in shared):
        return False
    return not find_kinds(map(stem, rest)) & find_kinds(map(stem, instead))


def _read_words(text: str) -> Sequence[str]:
    words = split_words(text)
    return words[1:] if words and words[0] in ARTICLES else words


def _tells(word: str, text: str) -> bool:
    known = read_language(text)
    light = STOP_WORDS if known is None else known.stop_words
    return is_telling(word) and word not in light
