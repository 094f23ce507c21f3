"""A change: the files a verb or a job wants to write, as one value.

The same value is shown in a dry run, written to the journal before any file is touched, and
taken back by undo (I7). `before` is the whole text of a file as it was; from it an interrupted
change is rolled back and a finished one is undone, byte for byte.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class FileEdit:
    """One file's part of a change. Paths are relative to the vault, with `/`.

    No `path_before`: the file is new. No `path_after`: it goes for good (only undo of a new
    file does that). A path that begins with `trash/` is a forgotten memory.
    """

    memory_id: str
    path_before: str | None
    before: bytes | None
    path_after: str | None
    after: bytes | None


@dataclass(frozen=True, slots=True)
class Change:
    """Edits that belong together: either all of them happen, or none."""

    id: str
    verb: str
    edits: tuple[FileEdit, ...]
    by: str = "unknown"
    reason: str | None = None
    run: str | None = None
    details: dict[str, object] = field(default_factory=dict)
