"""Regular expressions that are compiled when they are first used.

What reads language has several hundred of them. A command that lists memories uses none, and
compiling them all took a third of its time.
"""

from __future__ import annotations

import re
from typing import Any, cast

KEPT = ("search", "match", "fullmatch", "finditer", "findall", "sub", "split")


class LatePattern:
    """Stands for a compiled pattern; after the first use its methods are that pattern's own."""

    def __init__(self, text: str, flags: int) -> None:
        self.pattern = text
        self.flags = flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)  # nothing is compiled because somebody copies or compares it
        compiled = re.compile(self.pattern, self.flags)
        for each in KEPT:
            setattr(self, each, getattr(compiled, each))
        return getattr(compiled, name)


def compile_late(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that is compiled at its first use."""
    return cast("re.Pattern[str]", LatePattern(text, flags))
