"""What the commands that change a memory say afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from madeleine.cli.words import named

CHANGE_ID_SHOWN = 8  # enough for `undo` to find it


def change_words(verb: str, answer: Mapping[str, Any]) -> Iterator[str]:
    """Say what was done to which memory, and how to take it back."""
    change = answer.get("change")
    if not change:
        yield f"nothing to change: {named(answer['memory'])}"
        return
    yield f"{verb} {named(answer['memory'])}"
    yield undo_words(change)


def undo_words(change: str) -> str:
    return f"  undo: madeleine undo {change[:CHANGE_ID_SHOWN]}"
