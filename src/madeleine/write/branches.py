"""Branches: what holds on one until it is merged, and what becomes of it then.

A memory of a branch is in a space of its own (`model/spaces.py`). Whoever works on the branch is
told of it. Once the branch is merged its memories become the project's; once it is deleted without
being merged they fade: they go to the archive, where asking finds them. Either is one change that
`undo` takes back.

Which branch is checked out is read from files. What became of one is asked of `git`, beside all
that anybody waits for, at most every ten minutes for a repository, and only where a branch has
memories. A repository tells nothing of a branch that it never had: a clone on another machine does
not end it. A merge is a tip that the trunk holds, or its changes in one commit of the trunk.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from madeleine.errors import MadeleineError
from madeleine.model.event import EventKind
from madeleine.model.query import Filter
from madeleine.model.spaces import BRANCH_MARK, split_space
from madeleine.model.words import Tier
from madeleine.write.change_file import make_change_context
from madeleine.write.commit import commit
from madeleine.write.find_space import find_space, read_known_spaces
from madeleine.write.projects import Repository, find_branch_space, find_repository, is_trunk
from madeleine.write.record import new_event, record_events
from madeleine.write.rename_space import MAX_MEMORIES, merge_spaces
from madeleine.write.stores import Stores

LOOK_EVERY = timedelta(minutes=10)
GIT_SECONDS = 5.0
SQUASHES_MOST = 30  # commits of the trunk that may be a branch in one piece
PATHS_MOST = 200
LOG_BYTES = 262_144  # of where HEAD was, the end
GIT_AUTHOR = "git"
OFFERED = (Tier.CORE, Tier.WORKING)


@dataclass(frozen=True, slots=True)
class BranchState:
    """What a repository had of a branch when it was last looked."""

    tip: str
    is_ahead: bool
    """Whether it ever held something that the trunk did not."""


def find_working_space(stores: Stores, folder: str | None, reads_disk: bool = True) -> str | None:
    """Return the space that is asked in from a folder: that of its branch where anything is known
    of the branch, else that of its project."""
    space = find_space(stores, folder, reads_disk).space
    if space is None or folder is None or not reads_disk:
        return space
    known = read_known_spaces(stores)
    if not any(each.startswith(f"{space}{BRANCH_MARK}") for each in known):
        return space
    _look_later(stores, folder, space)
    branch = find_branch_space(folder, space)
    return branch if branch in known else space


def _look_later(stores: Stores, folder: str, project: str) -> None:
    """Have it looked what became of the branches, unless that was done just now."""
    now, looked_at = stores.clock.now(), stores.branch_watch.looked_at
    last = looked_at.get(project)
    if last is not None and now - last < LOOK_EVERY:
        return
    looked_at[project] = now

    def look() -> str | None:
        try:
            settle_branches(stores, folder, project)
        except MadeleineError as error:
            return f"what became of the branches of {project}: {error.message}"
        return None

    stores.executor.submit(look)


def settle_branches(stores: Stores, folder: str, project: str) -> tuple[str, ...]:
    """Let what is known of branches become the project's or fade, as their repository says;
    return the changes."""
    repository = find_repository((Path(folder), *Path(folder).parents))
    git = None if repository is None else _Git.open(repository)
    if git is None:
        return ()
    named = sorted(each for each in read_known_spaces(stores) if split_space(each)[0] == project)
    changes = (_settle_branch(stores, git, each) for each in named if split_space(each)[1])
    return tuple(each for each in changes if each)


def _settle_branch(stores: Stores, git: _Git, space: str) -> str | None:
    """Return the change that ended a branch; nothing while it lasts."""
    project, branch = split_space(space)
    offered = Filter(spaces=(space,), tiers=OFFERED, outdated=True)
    if branch is None or not stores.search.listing(offered, stores.clock.now(), 1):
        return None
    before, tip = _read_state(stores, space, git), git.find_tip(branch)
    if tip is None and before is None:
        return None
    at = tip or git.find_last_tip(branch) or ("" if before is None else before.tip)
    is_held = git.is_in_trunk(at)
    has_moved = before is not None and (before.is_ahead or at != before.tip)
    is_ahead = not is_held or (has_moved if tip is None else before is not None and before.is_ahead)
    if is_ahead and (is_held or (tip is None and git.is_squashed(at))):
        return merge_spaces(stores, space, project, GIT_AUTHOR).change
    if tip is None:
        return _archive(stores, space, f"branch {branch} was deleted")
    if before != (now := BranchState(at, is_ahead)):
        _write_state(stores, space, git, now)
    return None


def _archive(stores: Stores, space: str, reason: str) -> str:
    hand = make_change_context(stores, GIT_AUTHOR, reason)
    chosen = Filter(spaces=(space,), tiers=OFFERED, outdated=True)
    found = stores.search.listing(chosen, hand.at, MAX_MEMORIES)
    current = [hand.read(each.id) for each in found]
    edits = [
        each.edit(replace(each.memory, tier=Tier.ARCHIVAL, updated=hand.at)) for each in current
    ]
    change = hand.change("revise", edits)
    commit(stores, change)
    return change.id


# -- what is remembered of a branch ----------------------------------------------------------


def _state_key(space: str) -> str:
    return f"branch:{space}"


def _read_states(stores: Stores, space: str) -> dict[str, object]:
    value = stores.log.state(_state_key(space))
    return dict(value) if isinstance(value, dict) else {}


def _read_state(stores: Stores, space: str, git: _Git) -> BranchState | None:
    value = _read_states(stores, space).get(str(git.folder))
    if not isinstance(value, dict):
        return None
    return BranchState(str(value.get("tip")), bool(value.get("is_ahead")))


def _write_state(stores: Stores, space: str, git: _Git, state: BranchState) -> None:
    told = {"tip": state.tip, "is_ahead": state.is_ahead}
    value = {**_read_states(stores, space), str(git.folder): told}
    mark = new_event(stores, EventKind.STATE, {"key": _state_key(space), "value": value})
    with stores.writing:
        record_events(stores, [mark], durable=True)


# -- git -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Git:
    """A repository, asked by `git`: commands that look up objects, and run nothing of its own."""

    folder: Path
    head: Path
    references: Mapping[str, str]
    """Commits by the names of branches, local and remote."""
    trunks: tuple[str, ...]

    @classmethod
    def open(cls, repository: Repository) -> _Git | None:
        """Return a repository with its branches; nothing where that cannot be found out."""
        listed = _run(repository.git, "for-each-ref", "--format=%(objectname) %(refname)")
        if listed is None:
            return None
        lines = (line.partition(" ") for line in listed.splitlines())
        found = {name: tip for tip, _, name in lines}
        trunks = dict.fromkeys(tip for name, tip in found.items() if _is_trunk_reference(name))
        return cls(repository.git, repository.head, found, tuple(trunks)) if trunks else None

    def find_tip(self, branch: str) -> str | None:
        """Return the last commit of a branch; nothing of one that is deleted here."""
        local = self.references.get(f"refs/heads/{branch}")
        return local or next(self._iterate_remote_tips(branch), None)

    def _iterate_remote_tips(self, branch: str) -> Iterator[str]:
        for name, tip in self.references.items():
            if name.startswith("refs/remotes/") and name.split("/", 3)[-1] == branch:
                yield tip

    def find_last_tip(self, branch: str) -> str | None:
        """Return where a branch was when it was left for another one here; git writes that down,
        and keeps it when the branch is deleted."""
        try:
            with (self.head / "logs" / "HEAD").open("rb") as log:
                log.seek(max(log.seek(0, os.SEEK_END) - LOG_BYTES, 0))
                lines = log.read().decode("utf-8", "replace").splitlines()
        except OSError:
            return None
        left = f"\tcheckout: moving from {branch} to "
        return next((each.partition(" ")[0] for each in reversed(lines) if left in each), None)

    def is_in_trunk(self, commit: str) -> bool:
        return any(self._is_ancestor(commit, each) for each in self.trunks)

    def _is_ancestor(self, commit: str, of: str) -> bool:
        return self._ask("merge-base", "--is-ancestor", commit, of) is not None

    def is_squashed(self, tip: str) -> bool:
        """Whether some commit of a trunk left the files of a branch as the branch did."""
        for trunk in self.trunks:
            base = (self._ask("merge-base", tip, trunk) or "").strip()
            changed = self._ask("diff-tree", "-r", "-z", "--name-only", base, tip) if base else None
            paths = [f":(literal){each}" for each in (changed or "").split("\0") if each]
            if not 0 < len(paths) <= PATHS_MOST:
                continue
            among = ("rev-list", "--first-parent", f"-n{SQUASHES_MOST}", f"{base}..{trunk}", "--")
            for each in (self._ask(*among, *paths) or "").split():
                if self._ask("diff-tree", "--quiet", each, tip, "--", *paths) is not None:
                    return True
        return False

    def _ask(self, *words: str) -> str | None:
        return _run(self.folder, *words)


def _is_trunk_reference(name: str) -> bool:
    kind, _, rest = name.removeprefix("refs/").partition("/")
    if kind == "remotes":
        rest = rest.partition("/")[2]
        return rest == "HEAD" or is_trunk(rest)
    return kind == "heads" and is_trunk(rest)


def _run(folder: Path, *words: str) -> str | None:
    """Return what git says; nothing where it says no, is not there, or takes too long."""
    command: Sequence[str] = ("git", "--git-dir", os.fspath(folder), *words)
    try:
        done = subprocess.run(command, capture_output=True, timeout=GIT_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None
