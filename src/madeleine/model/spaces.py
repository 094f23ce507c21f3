"""Spaces of branches: what holds on a branch of a project, and not yet in the project.

They are spaces like all others, `atlas#feature/x` beside `atlas`: whoever works on the branch is
told of both, whoever works elsewhere in the project only of the project's.
"""

from __future__ import annotations

BRANCH_MARK = "#"
SPACE_CHARS = 100


def name_branch_space(project: str, branch: str) -> str | None:
    """Return the space of a branch; nothing for one whose name does not fit."""
    name = f"{project}{BRANCH_MARK}{branch}"
    return name if len(name) <= SPACE_CHARS else None


def split_space(space: str) -> tuple[str, str | None]:
    """Return the project of a space, and the branch if it is that of one."""
    project, _, branch = space.partition(BRANCH_MARK)
    return (project, branch) if project and branch else (space, None)


def related_spaces(space: str | None) -> tuple[str, ...]:
    """Return a space and what holds in it too: on a branch, also what the project knows."""
    if space is None:
        return ()
    project, branch = split_space(space)
    return (space,) if branch is None else (space, project)
