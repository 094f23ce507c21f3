"""The way without a daemon: this process opens the home and calls the verbs itself."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from madeleine.api.call import OperationCall
from madeleine.api.contract.memories import to_json
from madeleine.api.operations import OPERATION_BY_NAME
from madeleine.api.performing import prepare_for
from madeleine.api.reach import local_reach
from madeleine.bootstrap import LOCK_TIMEOUT_SECONDS, HomeContext, open_home
from madeleine.model.codec import Json


class LocalDoor:
    """Calls operations on an open home."""

    def __init__(self, context: HomeContext) -> None:
        self.context = context
        self._reach = local_reach(context)

    def call(
        self,
        name: str,
        id: str | None = None,
        query: Mapping[str, object] | None = None,
        body: Mapping[str, object] | None = None,
        by: str = "python",
    ) -> Json:
        """Carry out an operation and return its answer as JSON."""
        answer: Json = to_json(self.perform(name, id, query, body, by))
        return answer

    def perform(
        self,
        name: str,
        id: str | None = None,
        query: Mapping[str, object] | None = None,
        body: Mapping[str, object] | None = None,
        by: str = "python",
    ) -> Any:
        """Carry out an operation and return its answer."""
        operation = OPERATION_BY_NAME[name]
        call = OperationCall(id, _drop_none(query), body or {}, by)
        with prepare_for(self._reach, operation, call) as doing:
            answer = doing()
        if operation.about_people:
            self._reach = local_reach(self.context)
        return answer

    def close(self) -> None:
        (self.context.contexts or self.context).close()


def open_local(home: Path, wait_seconds: float = LOCK_TIMEOUT_SECONDS) -> LocalDoor:
    """Open a home for this process alone; `HomeBusy` if another one keeps it open."""
    return LocalDoor(open_home(home, wait_seconds=wait_seconds))


def _drop_none(query: Mapping[str, object] | None) -> dict[str, object]:
    """Leave out what is None: over HTTP such a parameter is not there either."""
    return {name: value for name, value in (query or {}).items() if value is not None}
