"""Words and their stems, for comparing what two texts say.

A stem joins the forms of an English word (`missed`, `missing`, `miss`). It is cruder than what
the text index does, and quicker: it is asked for every word of every memory that is judged.
Scripts that put no spaces between words are cut into pairs of characters, so that two texts in
them can be compared at all.
"""

from __future__ import annotations

from functools import lru_cache

from madeleine.language.late_pattern import compile_late
from madeleine.language.word_hints import IRREGULAR_FORMS, STOP_WORDS

# A letter or digit and what may stand inside a word: `don't`, `c++`, `node.js`, `4/5`, `1,200`.
WORD = compile_late(
    r"\d+(?:[.,:/]\d+)+|[^\W_]+(?:['’](?=[^\W\d_])[^\W_]+|[._](?=[^\W_])[^\W_]+)*(?:\+\+|#)?"
)
UNSPACED = compile_late(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
"""A character of a script that puts no spaces between words."""

_ENDINGS = (
    *(("izations", "iz"), ("ization", "iz"), ("ations", "at"), ("ation", "at"), ("ements", "")),
    *(("ement", ""), ("ments", ""), ("ment", ""), ("nesses", ""), ("ness", ""), ("ings", "")),
    *(("ing", ""), ("ied", "y"), ("ies", "y"), ("ences", ""), ("ence", ""), ("ed", ""), ("ly", "")),
    *(("ions", ""), ("ion", ""), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh")),
    ("s", ""),
)
_ENDINGS_BY_LETTER = {
    letter: tuple(each for each in _ENDINGS if each[0].endswith(letter))
    for letter in {ending[-1] for ending, _ in _ENDINGS}
}
"""The same by their last letter: of most words only a few come into question, or none."""
_LEAST_ROOT_CHARS = 3  # letters that an ending may not take
_SHORT_STEMS = {
    "used": "use", "uses": "use", "using": "use", "tried": "try", "tries": "try", "dies": "die",
    "died": "die", "ties": "tie", "tied": "tie", "status": "status", "news": "news", "bus": "bus",
    "less": "less", "does": "do", "this": "this", "his": "his", "its": "it", "lives": "live",
    "lived": "live", "living": "live", "meeting": "meeting", "meetings": "meeting",
    "building": "building", "buildings": "building", "training": "training",
    "trainings": "training",
}  # fmt: skip
"""Words too short for the endings, or that only look as if they had one."""


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return what all forms of a lower-case word have in common."""
    word = IRREGULAR_FORMS.get(word, word)
    if word in _SHORT_STEMS:
        return _SHORT_STEMS[word]
    if not word.isascii() or not word.isalpha() or len(word) <= _LEAST_ROOT_CHARS:
        return word
    if not word.endswith("ss"):
        for ending, instead in _ENDINGS_BY_LETTER.get(word[-1], ()):
            if word.endswith(ending) and len(word) - len(ending) >= _LEAST_ROOT_CHARS:
                return _strip_tail(word[: len(word) - len(ending)] + instead)
    return _strip_tail(word)


def _strip_tail(root: str) -> str:
    """Return a root without what only some of its forms end in: `plann`, `use`, `tri`."""
    if len(root) > _LEAST_ROOT_CHARS and root[-1] == root[-2] and root[-1] not in "sle":
        root = root[:-1]
    if len(root) > _LEAST_ROOT_CHARS and root[-1] in "ei":
        root = root[:-1]
    return root[:-1] + "i" if root.endswith("y") and len(root) > _LEAST_ROOT_CHARS else root


def split_words(text: str) -> list[str]:
    """Return the words of a text in lower case, in order."""
    found = [word.removesuffix("'s") for word in WORD.findall(text.replace("’", "'").lower())]
    if text.isascii() or not UNSPACED.search(text):
        return found
    return [part for word in found for part in _split_pairs(word)]


def _split_pairs(word: str) -> list[str]:
    if len(word) < 3 or not UNSPACED.search(word):
        return [word]
    return [word[place : place + 2] for place in range(len(word) - 1)]


def is_telling(word: str) -> bool:
    """Whether a word says what a text is about. Whether it is denied is another matter, and what
    must not be lost yet another (`substance.py`)."""
    return word not in _UNTELLING and "'" not in word and (len(word) > 1 or not word.isascii())


_UNTELLING = STOP_WORDS | {"never", "cannot", "always", "already", "yet", "still", "ever"}


def telling_stems(text: str) -> frozenset[str]:
    """Return the stems of the telling words."""
    return frozenset(stem(word) for word in split_words(text) if is_telling(word))
