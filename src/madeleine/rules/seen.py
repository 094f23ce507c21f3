"""Whether an agent's reply shows that it used a memory it was whispered.

The plainest sign decides: its id, its title or a sentence of it word for word, or else so many
of its telling words that chance is unlikely.
"""

from __future__ import annotations

import re

from madeleine.rules.wording import STOP

BY_ID, BY_TITLE, BY_SENTENCE = 1.0, 0.95, 0.9
TITLE_CHARS, SENTENCE_CHARS = 12, 24  # shorter ones stand in a reply by chance
WORDS_LEAST, WORDS_SHARE = 4, 0.5
BY_WORDS, BY_WORDS_MOST = 0.45, 0.85
REPLY_CHARS = 40_000

_WORD = re.compile(r"[^\W_]{3,}")
_SENTENCE = re.compile(r"[.!?\n。！？]+")


def seen_use(reply: str, prompt: str, short_id: str, title: str | None, content: str) -> float:
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
    return _by_words(said, prompt, content)


def _by_words(said: str, prompt: str, content: str) -> float:
    new = _words(content) - _words(prompt)
    shared = new & _words(said)
    share = len(shared) / max(len(new), 1)
    if len(shared) < WORDS_LEAST or share < WORDS_SHARE:
        return 0.0
    return min(BY_WORDS_MOST, BY_WORDS + share)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower())) - STOP
