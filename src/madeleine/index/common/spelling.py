"""What a misspelt word may mean: a word that stands somewhere, one slip away.

Looked for among the words with the same two first letters: the finger slips later, and all
words of a large store are too many to compare while somebody waits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from madeleine.index.common.stems import Stemmer
from madeleine.language.spelling import is_typo
from madeleine.language.word_stems import STEM_MARK

SAME_FIRST_LETTERS = 2
WORD_ENDINGS = (
    "e",
    "s",
    "es",
    "ed",
    "ing",
    "y",
    "ion",
    "al",
    "ity",
    "ent",
    "ence",
    "ance",
    "ement",
)
MAX_ENDING_CHARS = max(map(len, WORD_ENDINGS))
MAX_TERMS_SCANNED = 20_000  # words; as many as the fullest pair of letters begins in a huge store
ReadTermsBetween = Callable[[str, str], Iterable[tuple[str, int]]]
"""Returns the words from one up to another, and how many memories hold each."""


def find_spellings(
    near: ReadTermsBetween, stemmer: Stemmer, words: Sequence[str]
) -> dict[str, str]:
    """Return what each of the words may mean, of several the most common."""
    found = ((word, _find_meant_word(near, stemmer, word)) for word in words)
    return {word: meant for word, meant in found if meant is not None}


def _find_meant_word(near: ReadTermsBetween, stemmer: Stemmer, word: str) -> str | None:
    stems = stemmer.stems(word)
    if len(stems) != 1 or len(stems[0]) <= SAME_FIRST_LETTERS:
        return None
    start = stems[0][:SAME_FIRST_LETTERS]
    rows = near(start, start[:-1] + chr(ord(start[-1]) + 1))
    known = ((holders, term) for term, holders in rows if not term.endswith(STEM_MARK))
    for _, term in sorted(known, reverse=True):
        written = _find_written_form(stemmer, term, word, stems[0])
        if written is not None:
            return written
    return None


def _find_written_form(stemmer: Stemmer, term: str, word: str, stem: str) -> str | None:
    """Return the word with the stem `term` that is meant, if one is: the slip may be in the
    stem, or in an ending that the stemmer did not know for one."""
    if abs(len(word) - len(term)) > MAX_ENDING_CHARS + 1:
        return None
    forms = [term, *(term + ending for ending in WORD_ENDINGS), term[:-1] + "y"]
    like = forms if is_typo(stem, term) else [each for each in forms if is_typo(word, each)]
    return next((each for each in like if stemmer.stems(each) == [term]), None)
