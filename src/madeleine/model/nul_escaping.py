"""Texts for servers that keep no NUL in one.

A memory may hold one. It is written as a character that stands for nothing by itself, and comes
back as it was.
"""

from __future__ import annotations

NUL_ESCAPE = "\U0010fffe"  # a noncharacter: stands in no text by itself
ESCAPED_NUL, ESCAPED_ESCAPE = NUL_ESCAPE + "0", NUL_ESCAPE + "1"


def escape_nul(text: str) -> str:
    """Return a text without any NUL."""
    if "\x00" in text or NUL_ESCAPE in text:
        return text.replace(NUL_ESCAPE, ESCAPED_ESCAPE).replace("\x00", ESCAPED_NUL)
    return text


def unescape_nul(text: str) -> str:
    """Return a text as it was before `escape_nul`."""
    if NUL_ESCAPE in text:
        return text.replace(ESCAPED_NUL, "\x00").replace(ESCAPED_ESCAPE, NUL_ESCAPE)
    return text
