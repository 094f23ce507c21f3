"""The way to the memories of one home: through its daemon, else by opening it here.

Nothing is opened before the first call. With a daemon the command stays light; without one
the home is opened under its lock, which loads everything (`madeleine.api.local`).
"""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from madeleine.api.home_paths import home_path
from madeleine.api.remote import RemoteDoor, find_daemon
from madeleine.cli.output import CommandOutput
from madeleine.errors import HomeBusy

CLI_AUTHOR = "cli"  # who made a change, in history and audit


class OperationCaller(Protocol):
    """What both doors can do."""

    def call(
        self,
        name: str,
        id: str | None = None,
        query: dict[str, object] | None = None,
        body: dict[str, object] | None = None,
        by: str = ...,
    ) -> dict[str, Any]: ...

    def close(self) -> None: ...


class CommandDoor:
    """Calls operations by name (see api/routes.py) and returns their answers."""

    def __init__(self, home: str | None, say: CommandOutput) -> None:
        self.home: Path = home_path(home)
        self._say = say
        self._opened: OperationCaller | None = None

    def call(
        self,
        name: str,
        id: str | None = None,
        *,
        query: dict[str, object] | None = None,
        body: dict[str, object] | None = None,
    ) -> dict[str, Any]:
        """Carry out one operation and return its answer."""
        return self.open().call(name, id=id, query=query, body=body, by=CLI_AUTHOR)

    def open(self) -> OperationCaller:
        """Find the way to the memories; from then on several threads may call."""
        if self._opened is None:
            self._opened = self.daemon() or self._open_here()
        return self._opened

    def daemon(self) -> RemoteDoor | None:
        """Return the daemon that has this home open, if one answers."""
        return find_daemon(self.home)

    def open_fresh(self) -> None:
        """Open the home here with an index made anew, whatever state the old one is in."""
        self._opened = self._open_here(fresh_index=True)

    def _open_here(self, fresh_index: bool = False) -> OperationCaller:
        try:
            return self._open_local(fresh_index)
        except HomeBusy:
            started = self.daemon()  # it may have come up while we waited for the lock
            if started is None or fresh_index:
                raise
            return started

    def _open_local(self, fresh_index: bool) -> OperationCaller:
        from madeleine.api.local import LocalDoor
        from madeleine.bootstrap import open_home

        with self._say.progress("indexing") as bar:
            context = open_home(self.home, progress=bar, fresh_index=fresh_index)
        self._say.notes([*context.notes, *context.journal_problems])
        return LocalDoor(context)

    def close(self) -> None:
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def __enter__(self) -> CommandDoor:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()
