"""What no settings file has: a key of hundreds of parts, which takes a TOML parser hours."""

from __future__ import annotations

import re

TOML_PARTS = 100
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?<![\w-])(?:{_PART}[ \t]*+\.[ \t]*+){{{TOML_PARTS}}}")


def find_long_key(text: str) -> int | None:
    """Return the line of a dotted key with more parts than are read, counted from 1."""
    found = _LONG_KEY.search(text)
    return text.count("\n", 0, found.start()) + 1 if found else None
