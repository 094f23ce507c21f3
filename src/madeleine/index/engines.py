"""Engines that come as packages of their own, found by entry points.

A package says in its pyproject.toml which addresses it answers for:

    [project.entry-points."madeleine.index"]
    falkordb = "madeleine_falkordb:ENGINE"

The name is the scheme of the address in `store.graph`, the value an `IndexEngine`. What an engine
must do is in `index/port.py`; `madeleine.testing` holds it to that.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Protocol

from madeleine.errors import BadSetting
from madeleine.index.port import Index
from madeleine.model.server_address import split_address

ENTRY_POINT_GROUP = "madeleine.index"
FORM = "falkordb://host:port/name"
HOW_TO_INSTALL = "FalkorDB needs `pip install 'madeleine-memory[falkordb]'`"


@dataclass(frozen=True, slots=True)
class IndexOpening:
    """Which index is wanted, and whose traces it keeps. No model: text search only."""

    url: str
    """What `store.graph` says."""
    vectors_url: str
    """What `store.vectors` says: where vectors are kept apart from the rest; often empty."""
    tenant: str
    model: str | None
    dimension: int | None
    token_dimension: int


class IndexEngine(Protocol):
    """What an entry point names."""

    def open_index(self, opening: IndexOpening) -> Index:
        """Open an index, or make an empty one; `BadSetting` for addresses that cannot be."""
        ...

    def place_of(self, url: str) -> str:
        """Return where an index is, without credentials."""
        ...


def find_engine(url: str) -> IndexEngine:
    """Return the engine that answers for an address."""
    if "://" not in url:
        raise BadSetting("store.graph", f"is not {FORM}", hint=f"write it as {FORM}")
    scheme = split_address("store.graph", url).scheme
    for found in entry_points(group=ENTRY_POINT_GROUP, name=scheme):
        try:
            engine: IndexEngine = found.load()
        except ImportError as error:
            raise BadSetting(
                "store.graph", f"needs what is not installed: {error.name}", hint=HOW_TO_INSTALL
            ) from error
        return engine
    raise BadSetting(
        "store.graph",
        f"needs an engine for `{scheme}://` that is not installed",
        hint=HOW_TO_INSTALL,
    )
