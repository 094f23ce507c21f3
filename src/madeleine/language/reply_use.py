"""Whether an agent's reply shows that it used a memory it was whispered.

The plainest sign decides: its id, its title or a sentence of it word for word, or else so many
of its telling words that chance is unlikely. And whether memories show more often where they
were whispered than where they were held out.
"""

from __future__ import annotations

import math

from madeleine.language.late_pattern import compile_late
from madeleine.language.word_hints import STOP_WORDS

BY_ID, BY_TITLE, BY_SENTENCE = 1.0, 0.95, 0.9
TITLE_CHARS, SENTENCE_CHARS = 12, 24  # shorter ones stand in a reply by chance
WORDS_LEAST, WORDS_SHARE = 4, 0.5
BY_WORDS, BY_WORDS_MOST = 0.45, 0.85
REPLY_CHARS = 40_000
STANDARD_ERRORS = 1.96  # standard errors within which the truth lies 19 times in 20

_WORD = compile_late(r"[^\W_]{3,}")
_SENTENCE = compile_late(r"[.!?\n。！？]+")


def reply_use_confidence(
    reply: str, prompt: str, short_id: str, title: str | None, content: str
) -> float:
    """Return how sure it is that a reply used a memory, from 0 to 1. Words that the prompt
    itself said tell nothing."""
    said = " ".join(reply[:REPLY_CHARS].lower().split())
    if short_id.lower() in said:
        return BY_ID
    if title and len(title) >= TITLE_CHARS and " ".join(title.lower().split()) in said:
        return BY_TITLE
    sentences = (" ".join(each.lower().split()) for each in _SENTENCE.split(content))
    if any(len(each) >= SENTENCE_CHARS and each in said for each in sentences):
        return BY_SENTENCE
    return _shared_words_confidence(said, prompt, content)


def _shared_words_confidence(said: str, prompt: str, content: str) -> float:
    new = _content_words(content) - _content_words(prompt)
    shared = new & _content_words(said)
    share = len(shared) / max(len(new), 1)
    if len(shared) < WORDS_LEAST or share < WORDS_SHARE:
        return 0.0
    return min(BY_WORDS_MOST, BY_WORDS + share)


def _content_words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower())) - STOP_WORDS


def share_difference(some: tuple[int, int], others: tuple[int, int]) -> tuple[float, float]:
    """Return by how much one share exceeds another, each given as how many of how many, and how
    far that may be off by chance. A share of nothing is taken as a half, and may be anything."""
    (mine, my_error), (theirs, their_error) = _share_with_error(*some), _share_with_error(*others)
    return mine - theirs, STANDARD_ERRORS * math.hypot(my_error, their_error)


def _share_with_error(number: int, of: int) -> tuple[float, float]:
    """Return a share and its standard error, as if one more had been seen on either side: none
    of three is not surely none of all."""
    share = (number + 1) / (of + 2)
    return (number / of if of else 0.5), math.sqrt(share * (1 - share) / (of + 2))
