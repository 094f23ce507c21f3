"""A git remote: one branch of a repository that holds the files of all machines and nothing else.

Each machine adds files in its own folder, so there is nothing to merge: when somebody else pushed
first, ours are put on top of what is there now and pushed again. What is taken away (after a
purge) is taken out of the history too: the branch begins anew with what is left, if nobody pushed
meanwhile.

The clone in the home is only scratch. It can be removed at any time.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from madeleine.errors import StoreUnwritable
from madeleine.sync.places.commands import CommandFailed, run_program
from madeleine.sync.places.folder import list_folder, read_bounded, write_segments
from madeleine.sync.places.port import PlaceDown
from madeleine.sync.segments import Segment

BRANCH = "madeleine-sync"  # beside whatever else the repository holds
PUSH_ATTEMPTS = 8
_CREDENTIALS = re.compile(r"(?<=://)[^/@]+@")
_IDENTITY = (
    *("-c", "user.name=madeleine", "-c", "user.email=sync@madeleine.invalid"),
    *("-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0"),
    *("-c", "core.autocrlf=false", "-c", "safe.directory=*"),
)


class GitPlace:
    """The remote, and the clone through which it is reached."""

    def __init__(self, url: str, clone: Path, timeout: float) -> None:
        self._url = url
        self._clone = clone
        self._timeout = timeout

    @property
    def name(self) -> str:
        return f"git+{_CREDENTIALS.sub('', self._url)}"

    def list_segments(self) -> dict[str, int]:
        self._fetch()
        try:
            return dict(list_folder(self._clone))
        except OSError as error:
            raise StoreUnwritable(self._clone, error.strerror or str(error)) from error

    def fetch(self, names: Sequence[str]) -> Iterator[Segment]:
        for name in names:
            try:
                yield Segment(name, read_bounded(self._clone / name))
            except FileNotFoundError:
                continue
            except OSError as error:
                raise StoreUnwritable(self._clone, error.strerror or str(error)) from error

    def publish(self, add: Sequence[Segment], remove: Sequence[str]) -> None:
        for _ in range(PUSH_ATTEMPTS):
            try:
                self._push(add, remove)
            except CommandFailed as error:
                if not _is_rejected(error.said):
                    raise
                self._fetch()  # somebody was quicker: ours go on top of theirs
            else:
                return
        raise PlaceDown(self.name, f"others were quicker {PUSH_ATTEMPTS} times in a row")

    def _push(self, add: Sequence[Segment], remove: Sequence[str]) -> None:
        try:
            write_segments(self._clone, add, remove)
        except OSError as error:
            raise StoreUnwritable(self._clone, error.strerror or str(error)) from error
        before = self._head()
        anew = bool(remove) and before is not None
        if anew:
            self._git("checkout", "--quiet", "--orphan", "anew")
        self._git("add", "--all", "--force", ".")
        if self._git("status", "--porcelain") or anew:
            self._git("commit", "--quiet", "--allow-empty", "--message", "sync")
        if anew:
            self._git("branch", "--quiet", "--force", BRANCH, "HEAD")
            self._git("checkout", "--quiet", BRANCH)
            lease = f"--force-with-lease=refs/heads/{BRANCH}:{before}"
            self._git("push", "--quiet", lease, "origin", BRANCH)
        else:
            self._git("push", "--quiet", "origin", BRANCH)

    def _fetch(self) -> None:
        """Make the clone what the remote is now."""
        if not (self._clone / ".git").is_dir():
            self._begin()
        self._git("fetch", "--quiet", "--prune", "origin")
        known = self._git("branch", "--remotes", "--list", f"origin/{BRANCH}")
        if known:
            self._git("checkout", "--quiet", "--force", "-B", BRANCH, f"origin/{BRANCH}")
        else:
            self._git("symbolic-ref", "HEAD", f"refs/heads/{BRANCH}")
        self._git("clean", "--quiet", "-ffdx")

    def _begin(self) -> None:
        try:
            shutil.rmtree(self._clone, ignore_errors=True)
            self._clone.mkdir(mode=0o700, parents=True)
        except OSError as error:
            raise StoreUnwritable(self._clone, error.strerror or str(error)) from error
        self._git("init", "--quiet")
        self._git("remote", "add", "--", "origin", self._url)

    def _head(self) -> str | None:
        """Return the commit that the remote has, as far as is known."""
        found = self._git("for-each-ref", "--format=%(objectname)", f"refs/remotes/origin/{BRANCH}")
        return found.decode("ascii").strip() or None

    def _git(self, *arguments: str) -> bytes:
        command = ["git", *_IDENTITY, *arguments]
        return run_program(self.name, command, self._timeout, self._clone)


def _is_rejected(said: str) -> bool:
    """Whether a push was refused because somebody else pushed."""
    words = ("rejected", "fetch first", "stale info", "non-fast-forward", "cannot lock ref")
    return any(each in said for each in words)
