"""What counts as the same text, and what in a text is a picture.

The keys are hashes that other parts rely on: the first finds a text that was remembered before,
the second finds again what a model made of a passage.
"""

from __future__ import annotations

import hashlib
import unicodedata

from madeleine.model.embedding import Passage

EMOJI_SELECTOR = "\ufe0f"  # a mark after a sign that is to be drawn as an emoji; part of no word


def is_emoji(character: str) -> bool:
    """Whether it is an emoji or another sign that stands for something."""
    return unicodedata.category(character) == "So"


def same_text_key(content: str) -> str:
    """Return a key that two texts share when they differ only in spacing or Unicode form."""
    normal = " ".join(unicodedata.normalize("NFKC", content).split())
    return hashlib.sha256(normal.encode("utf-8")).hexdigest()


def passage_key(passage: Passage) -> str:
    """Return the key under which the trace of a passage is kept: it follows from what is read,
    wherever that stands in its memory."""
    read = f"{passage.unspoken}\n{passage.text}"
    return hashlib.sha256(read.encode("utf-8", "surrogatepass")).hexdigest()
