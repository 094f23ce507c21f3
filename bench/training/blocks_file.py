"""Files of blocks: a note, one that only looks like it, and what is typed to them.

A block is `n` the note, `x` another one that looks like it, `p`, `q` and `a` what needs the note
(prompts, questions, actions), `f` a prompt and what was typed after it, and `s` what needs neither.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_FOLLOWS = re.compile(r"\s*\|\s*")  # between a prompt and what was typed after it


@dataclass(frozen=True, slots=True)
class NoteBlock:
    """A note, one that only looks like it, what was typed for the first, and what for neither."""

    note: str
    other: str
    prompts: tuple[str, ...]
    questions: tuple[str, ...]
    actions: tuple[str, ...]
    silent: tuple[str, ...]

    @property
    def queries(self) -> tuple[str, ...]:
        """All that needs the note."""
        return (*self.prompts, *self.questions, *self.actions)


def read_blocks(path: Path) -> list[NoteBlock]:
    """Return the blocks of a file. A follow-up is read with the prompt before it."""
    found = []
    for part in path.read_text(encoding="utf-8").split("\n\n"):
        lines: dict[str, list[str]] = {}
        for line in part.splitlines():
            if line[1:3] == ": ":
                lines.setdefault(line[0], []).append(line[3:].strip())
        if lines.get("n") and lines.get("p"):
            follow_ups = [_FOLLOWS.sub("\n", text, count=1) for text in lines.get("f", [])]
            found.append(
                NoteBlock(
                    note=lines["n"][0],
                    other=lines.get("x", [""])[0],
                    prompts=(*lines["p"], *follow_ups),
                    questions=tuple(lines.get("q", [])),
                    actions=tuple(lines.get("a", [])),
                    silent=tuple(lines.get("s", [])),
                )
            )
    return found
