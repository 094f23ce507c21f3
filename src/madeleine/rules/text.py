"""What counts as the same text, and what of a memory is embedded.

Both are hashes that other parts rely on as keys: the first finds a text that was remembered
before, the second finds its vector again after a rebuild.
"""

from __future__ import annotations

import hashlib
import unicodedata


def same_text_key(content: str) -> str:
    """Return a key that two texts share when they differ only in spacing or Unicode form."""
    normal = " ".join(unicodedata.normalize("NFKC", content).split())
    return hashlib.sha256(normal.encode("utf-8")).hexdigest()


def embedded_text(title: str | None, content: str) -> str:
    """Return the text whose meaning stands for a memory."""
    return f"{title}\n{content}" if title and not content.startswith(title) else content


def text_key(text: str) -> str:
    """Return the key under which the vector of `text` is kept."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
