"""The graph: arrows between memories, those in files and those that follow from a tag."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from madeleine.model.memory import Connection
from madeleine.model.words import Edge, MemoryType, Tier


@dataclass(frozen=True, slots=True)
class EdgeRow:
    """One arrow as the graph sees it. `implied` ones stand in no file: self defines every
    memory tagged about_self."""

    source: str
    connection: Connection
    resolved: bool = True
    """Whether the target exists now; a dangling arrow is kept until it does."""
    implied: bool = False


@dataclass(frozen=True, slots=True)
class CrossSpaceEdge:
    """An arrow between a memory without a space and one that has one, either way."""

    memory: str
    """The one without."""
    source: str
    """Where that one came from."""
    other: str
    space: str
    edge: Edge
    by: str | None


@dataclass(frozen=True, slots=True)
class MemorySketch:
    """A memory as the graph draws it: without its text."""

    id: str
    type: MemoryType
    tier: Tier
    space: str | None
    headline: str
    importance: float
    outdated: bool


class MemoryGraph(Protocol):
    """The port of the graph."""

    def self_id(self) -> str | None:
        """Return the one self: source `system:self`, the oldest if there are several."""
        ...

    def edges(self, ids: Sequence[str], but_by: str | None = None) -> list[EdgeRow]:
        """Return the arrows that start or end at any of the ids, without those whose `by` is
        `but_by`."""
        ...

    def edges_between(self, ids: Sequence[str]) -> list[EdgeRow]:
        """Return the arrows in files that start and end at one of the ids, however many there
        are at each of them."""
        ...

    def associations(self) -> list[EdgeRow]:
        """Return all `discovered` arrows, and the `contradicts` arrows that `creative` drew, whose
        both ends are there, those drawn first first."""
        ...

    def newest_edges(
        self, wanted: Sequence[Edge], limit: int, but_by: str | None = None
    ) -> list[EdgeRow]:
        """Return arrows of these kinds whose both ends are there, those drawn last first, but
        those drawn `but_by`."""
        ...

    def arrows(self, ids: Sequence[str], each: int, incoming: bool = True) -> list[EdgeRow]:
        """Return the strongest arrows at each of the ids, at most so many of those that start
        there and so many of those that end there; only such whose both ends are there. A memory
        with a million arrows takes no longer than one with some thousand."""
        ...

    def across_spaces(self) -> list[CrossSpaceEdge]:
        """Return the arrows in files between memories without a space and those with one."""
        ...

    def superseded_by(self, memory_id: str) -> list[str]:
        """Return the ids of memories whose `superseded_by` names this one."""
        ...

    def regions(self, now: datetime) -> dict[str | None, int]:
        """Return how many memories each space has, the largest first."""
        ...

    def strongest(
        self, space: str | None, now: datetime, limit: int, offset: int = 0
    ) -> list[MemorySketch]:
        """Return a page of a space's memories, strongest first. The order is that of the last
        `regions`, so that pages fit together while memories come and go."""
        ...

    def sketches(self, ids: Sequence[str], now: datetime) -> list[MemorySketch]:
        """Return memories in this order, as the graph draws them; what is gone is left out."""
        ...
