"""Which space a folder belongs to: the name of the git repository it lies in.

Nothing is run to find out; `.git` is looked for in the folder and upwards. A worktree belongs to
the repository it was made from. Outside of any repository, and in the home folder itself (which
some keep under git), there is no space: what is said there is global.
"""

from __future__ import annotations

from pathlib import Path

SPACE_CHARS = 100
POINTER_BYTES = 4_096


def space_of(folder: str | None) -> str | None:
    """Return the space of a folder, which need not exist any more."""
    if not folder or not Path(folder).is_absolute():
        return None
    for parent in (Path(folder), *Path(folder).parents):
        root = _find_repository(parent)
        if root is not None:
            return None if root == Path.home() else _space_name(root)
    return None


def _find_repository(folder: Path) -> Path | None:
    """Return the repository that has its root, or a worktree, at this folder."""
    mark = folder / ".git"
    try:
        if mark.is_dir():
            return folder
        with mark.open("rb") as file:
            pointer = file.read(POINTER_BYTES).decode("utf-8", "replace").strip()
    except (OSError, ValueError):
        return None  # not here, not for us to see, or no path at all
    main, found, _ = pointer.removeprefix("gitdir:").strip().partition("/worktrees/")
    if not found:
        return folder  # a submodule is a project of its own
    return Path(main).parent if Path(main).name == ".git" else Path(main.removesuffix(".git"))


def _space_name(root: Path) -> str | None:
    return root.name if 0 < len(root.name) <= SPACE_CHARS else None
