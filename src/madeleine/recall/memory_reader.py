"""Memories that several steps of one answer look at, each read from the index once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from madeleine.index.search import MemorySearch
from madeleine.model.memory import Memory


@dataclass(slots=True)
class MemoryReader:
    """Reads memories in one state of the index: it is made inside `steady` and lives no longer."""

    search: MemorySearch
    _known: dict[str, Memory] = field(default_factory=dict)

    def read(self, ids: Iterable[str]) -> dict[str, Memory]:
        """Return those of the ids that are there, in the order asked for."""
        wanted = list(dict.fromkeys(ids))
        self._known |= self.search.memories(each for each in wanted if each not in self._known)
        return {each: self._known[each] for each in wanted if each in self._known}
