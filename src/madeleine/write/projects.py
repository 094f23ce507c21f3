"""Which project a folder is, by what stands on disk: in it, and in the folders above.

Nothing is run to find out: `.git` and its `config` are read as files. First comes a
`.madeleine.toml` with `space = "NAME"`. Then the name of the git remote, which is the same in every
clone, worktree and fork, whatever its folder is called: `upstream` before `origin` before any
other. Then the folder of the repository; a worktree belongs to the one that it was made from. The
home folder itself, which some keep under git, is no project: what is said there is global.

What says itself that it holds on a branch gets the space of the branch (`model/spaces.py`).

What a memory knows (aliases, spaces that there are) is asked in `find_space.py`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from madeleine.language.branch_words import speaks_of_branch
from madeleine.model.cause import Cause, SpaceKind
from madeleine.model.spaces import SPACE_CHARS, name_branch_space
from madeleine.model.words import GLOBAL

MARKER_FILE = ".madeleine.toml"
POINTER_BYTES = 4_096
CONFIG_BYTES = 65_536
_REMOTE = re.compile(r'\s*\[\s*remote\s+"([^"]{1,200})"\s*\]', re.IGNORECASE)
_URL = re.compile(r'\s*url\s*=\s*"?([^"\s#;]{1,1000})', re.IGNORECASE)
_REMOTES_FIRST = ("upstream", "origin")
_TRUNKS = frozenset(["main", "master", "trunk", "develop", "development", "dev", "default"])
_RELEASES = ("release/", "release-", "releases/")


@dataclass(frozen=True, slots=True)
class FolderSpace:
    """A space that a folder may belong to, None for what is global, and why."""

    space: str | None
    because: Cause


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository on disk: its root folder, and where its `config` lies."""

    root: Path
    git: Path
    head: Path
    """Where its `HEAD` lies; a worktree has one of its own."""


def space_of(folder: str | None) -> str | None:
    """Return the space of a folder, which need not exist any more, by what is on disk."""
    found = next(find_projects(folder), None)
    return None if found is None else found.space


def find_projects(folder: str | None) -> Iterator[FolderSpace]:
    """Give what a folder may belong to, the surest first; nothing outside of any project."""
    if not folder or not Path(folder).is_absolute():
        return
    parents = (Path(folder), *Path(folder).parents)
    marked = next(filter(None, map(_read_marker, parents)), None)
    if marked is not None:
        yield marked
        return
    found = find_repository(parents)
    if found is None or found.root == Path.home():
        return
    url = _find_remote_url(found)
    name = None if url is None else _name_remote(url)
    if url is not None and name is not None:
        yield FolderSpace(name, Cause(SpaceKind.REMOTE, {"url": _hide_credentials(url)}))
    if 0 < len(found.root.name) <= SPACE_CHARS:
        yield FolderSpace(found.root.name, Cause(SpaceKind.REPOSITORY, {"folder": str(found.root)}))


def find_repository(parents: tuple[Path, ...]) -> Repository | None:
    """Return the repository that the first of these folders lies in."""
    return next(filter(None, map(_read_repository, parents)), None)


def choose_space(folder: str | None, space: str | None, text: str) -> str | None:
    """Return where in a project something is to be remembered: in its space, or in that of the
    folder's branch, where the text says so itself."""
    if space is None or not speaks_of_branch(text):
        return space
    return find_branch_space(folder, space) or space


def find_branch_space(folder: str | None, space: str) -> str | None:
    """Return the space of the branch that is checked out in a folder; nothing on a trunk."""
    if not folder or not Path(folder).is_absolute():
        return None
    found = find_repository((Path(folder), *Path(folder).parents))
    branch = None if found is None else _read_feature_branch(found)
    return None if branch is None else name_branch_space(space, branch)


def _read_feature_branch(repository: Repository) -> str | None:
    """Return the branch that is checked out, unless that is the trunk or one of its releases."""
    branch = _read_ref(repository.head / "HEAD", "refs/heads/")
    if branch is None or is_trunk(branch) or branch == ".invalid":  # so say reftables
        return None
    remotes = repository.git / "refs" / "remotes"
    default = (
        _read_ref(remotes / each / "HEAD", f"refs/remotes/{each}/") for each in _REMOTES_FIRST
    )
    return None if branch in default else branch


def is_trunk(branch: str) -> bool:
    """Whether a branch is where others are merged to, by its name."""
    return branch.lower() in _TRUNKS or branch.lower().startswith(_RELEASES)


def _read_ref(file: Path, under: str) -> str | None:
    """Return what a file such as `HEAD` points to, below a folder of references."""
    try:
        with file.open("rb") as opened:
            said = opened.read(POINTER_BYTES).decode("utf-8", "replace").strip()
    except (OSError, ValueError):
        return None
    pointed = said.removeprefix("ref:").strip()
    return pointed[len(under) :] if pointed.startswith(under) and said != pointed else None


def _read_marker(folder: Path) -> FolderSpace | None:
    """Return what a marker file in this folder says; one that says nothing legible is none."""
    file = folder / MARKER_FILE
    try:
        with file.open("rb") as opened:
            said = tomllib.loads(opened.read(POINTER_BYTES).decode("utf-8", "replace"))
    except (OSError, ValueError):
        return None
    space = said.get("space")
    if not isinstance(space, str) or len(space.strip()) > SPACE_CHARS or "\n" in space:
        return None
    name = space.strip()
    named = None if name in ("", GLOBAL) else name
    return FolderSpace(named, Cause(SpaceKind.MARKER, {"file": str(file)}))


def _read_repository(folder: Path) -> Repository | None:
    """Return the repository that has its root, or a worktree, at this folder."""
    mark = folder / ".git"
    try:
        if mark.is_dir():
            return Repository(folder, mark, mark)
        with mark.open("rb") as file:
            pointer = file.read(POINTER_BYTES).decode("utf-8", "replace").strip()
    except (OSError, ValueError):
        return None  # not here, not for us to see, or no path at all
    at = pointer.removeprefix("gitdir:").strip()
    main, found, _ = at.partition("/worktrees/")
    if not found:
        here = folder / at  # a submodule is a project of its own
        return Repository(folder, here, here)
    bare = Path(main).name != ".git"
    root = Path(main.removesuffix(".git")) if bare else Path(main).parent
    return Repository(root, Path(main), folder / at)


def _find_remote_url(repository: Repository) -> str | None:
    """Return the address that a repository was cloned from."""
    try:
        with (repository.git / "config").open("rb") as file:
            text = file.read(CONFIG_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return None
    urls = dict(reversed([*_iterate_remotes(text)]))  # of two with one name the first counts
    return next((urls[each] for each in (*_REMOTES_FIRST, *urls) if each in urls), None)


def _iterate_remotes(config: str) -> Iterator[tuple[str, str]]:
    remote = None
    for line in config.splitlines():
        if line.lstrip().startswith("["):
            section = _REMOTE.match(line)
            remote = None if section is None else section[1]
        elif remote is not None and (url := _URL.match(line)) is not None:
            yield remote, url[1]


def _name_remote(url: str) -> str | None:
    """Return the last part of an address: `atlas` of `git@host:org/atlas.git`."""
    name = re.split(r"[/:\\]", url.rstrip("/").removesuffix(".git").rstrip("/"))[-1]
    return name if 0 < len(name) <= SPACE_CHARS and name not in (".", "..") else None


def _hide_credentials(url: str) -> str:
    return re.sub(r"://[^/@]*@", "://", url)
