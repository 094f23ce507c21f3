"""What a change would do to files, as people read it: unified differences."""

from __future__ import annotations

import difflib

from madeleine.model.change import Change, FileEdit
from madeleine.vault.vault import is_in_trash

NOWHERE = "/dev/null"  # what diff tools call a file that is not there


def difference(change: Change) -> str:
    """Return the difference that a change makes, file by file; empty when it makes none."""
    return "".join(_of_file(edit) for edit in change.edits)


def _of_file(edit: FileEdit) -> str:
    before, after = edit.path_before or NOWHERE, edit.path_after or NOWHERE
    if edit.before == edit.after:
        where = "to the trash" if is_in_trash(after) else f"to {after}"
        return f"{before} goes {where}\n"
    lines = difflib.unified_diff(_lines(edit.before), _lines(edit.after), before, after)
    return "".join(line if line.endswith("\n") else line + "\n" for line in lines)


def _lines(data: bytes | None) -> list[str]:
    return (data or b"").decode("utf-8", "replace").splitlines(keepends=True)
