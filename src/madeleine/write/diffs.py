"""What a change would do to files, as people read it: unified differences."""

from __future__ import annotations

import difflib

from madeleine.model.change import Change, FileEdit
from madeleine.vault.vault import is_in_trash

NO_PATH = "/dev/null"  # what diff tools call a file that is not there


def render_diff(change: Change) -> str:
    """Return the difference that a change makes, file by file; empty when it makes none."""
    return "".join(_render_file_diff(edit) for edit in change.edits)


def _render_file_diff(edit: FileEdit) -> str:
    before, after = edit.path_before or NO_PATH, edit.path_after or NO_PATH
    if edit.before == edit.after:
        where = "to the trash" if is_in_trash(after) else f"to {after}"
        return f"{before} goes {where}\n"
    lines = difflib.unified_diff(
        _decode_lines(edit.before), _decode_lines(edit.after), before, after
    )
    return "".join(line if line.endswith("\n") else line + "\n" for line in lines)


def _decode_lines(data: bytes | None) -> list[str]:
    return (data or b"").decode("utf-8", "replace").splitlines(keepends=True)
