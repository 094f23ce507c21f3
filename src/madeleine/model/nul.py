"""Texts for servers that keep no NUL in one.

A memory may hold one. It is written as a character that stands for nothing by itself, and comes
back as it was.
"""

from __future__ import annotations

ESCAPE = "\U0010fffe"  # a noncharacter: stands in no text by itself
NUL, ITSELF = ESCAPE + "0", ESCAPE + "1"


def hidden(text: str) -> str:
    """Return a text without any NUL."""
    if "\x00" in text or ESCAPE in text:
        return text.replace(ESCAPE, ITSELF).replace("\x00", NUL)
    return text


def shown(text: str) -> str:
    """Return a text as it was before it was `hidden`."""
    if ESCAPE in text:
        return text.replace(NUL, "\x00").replace(ITSELF, ESCAPE)
    return text
