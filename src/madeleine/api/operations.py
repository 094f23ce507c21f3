"""All operations, collected from the modules that declare them.

The order is that of docs/reference/routes.md and /openapi.json. A name, or a method and path, that
is declared twice is an error when this module is imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any

from madeleine.api import (
    change_operations,
    cost_operations,
    daemon_operations,
    home_operations,
    ingest_operations,
    memory_operations,
    moment_operations,
    moving_operations,
    people_operations,
    proposal_operations,
    recall_operations,
    remember_operations,
    sleep_operations,
    space_operations,
    sync_operations,
)
from madeleine.api.operation import Operation
from madeleine.api.page import (
    figures,
    graph,
    home,
    letter,
    memory,
    project,
    proposals,
    search,
    sleep,
    timeline,
    trash,
    whispers,
)
from madeleine.api.performing import perform_in_context

if TYPE_CHECKING:
    from madeleine.api.call import OperationCall
    from madeleine.bootstrap import HomeContext

DECLARING_MODULES = (
    remember_operations,
    recall_operations,
    moment_operations,
    memory_operations,
    proposal_operations,
    change_operations,
    space_operations,
    sleep_operations,
    home_operations,
    cost_operations,
    moving_operations,
    sync_operations,
    ingest_operations,
    people_operations,
    daemon_operations,
    search,  # what only the page asks for, under /ui/data/
    graph,
    memory,
    timeline,
    home,
    letter,
    figures,
    project,
    whispers,
    sleep,
    proposals,
    trash,
)


def collect_operations(modules: Iterable[ModuleType]) -> tuple[Operation[Any], ...]:
    """Return the operations that modules declare, in their order. One that a module has imported
    from another counts once."""
    found: list[Operation[Any]] = []
    for module in modules:
        for value in vars(module).values():
            if not isinstance(value, Operation) or any(value is each for each in found):
                continue
            for each in found:
                if value.name == each.name:
                    raise ValueError(f"two operations are called {each.name}")
                if (value.method, value.path) == (each.method, each.path):
                    raise ValueError(f"two operations are at {each.method} {each.path}")
            found.append(value)
    return tuple(found)


OPERATIONS = collect_operations(DECLARING_MODULES)
OPERATION_BY_NAME: Mapping[str, Operation[Any]] = MappingProxyType(
    {each.name: each for each in OPERATIONS}
)


def perform_operation(context: HomeContext, name: str, call: OperationCall) -> Any:
    """Carry out the operation called `name` in one context."""
    return perform_in_context(context, OPERATION_BY_NAME[name], call)
