"""What of a text a model is shown."""

from __future__ import annotations


def prepare_text(text: str, limit: int) -> str:
    """Return at most `limit` characters of `text` that every tokenizer and wire accepts.

    A model reads a few hundred tokens and ignores the rest, but a tokenizer works through
    all of a 1 MB text first, which takes a second. Spaces are squeezed in what is too long,
    so that a text which begins with a page of them does not become empty. Half a surrogate
    pair, which JSON can carry and UTF-8 cannot, becomes a question mark.
    """
    if len(text) > limit:
        text = " ".join(text.split(maxsplit=limit))[:limit]
    return text.encode("utf-8", "replace").decode("utf-8")
