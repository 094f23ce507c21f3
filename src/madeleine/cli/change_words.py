"""What the commands that change a memory say afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from madeleine.cli.memory_words import render_memory_name

CHANGE_ID_CHARS = 8  # enough for `undo` to find it


def render_change(verb: str, answer: Mapping[str, Any]) -> Iterator[str]:
    """Say what was done to which memory, and how to take it back."""
    change = answer.get("change")
    if not change:
        yield f"nothing to change: {render_memory_name(answer['memory'])}"
        return
    yield f"{verb} {render_memory_name(answer['memory'])}"
    yield render_undo_hint(change)


def render_undo_hint(change: str) -> str:
    return f"  undo: madeleine undo {change[:CHANGE_ID_CHARS]}"
