"""What the graph holds of a memory before it is written again."""

from __future__ import annotations

from dataclasses import dataclass

from madeleine.index.common.rows import ExistingNode
from madeleine_falkordb.connection import GraphRow


@dataclass(frozen=True, slots=True)
class ExistingMemory:
    """What there is of a memory that is put again or goes."""

    id: str
    known: ExistingNode
    path: str
    words: int
    length: int
    session: int | None
    speaker: int | None
    points: list[int]
    """The numbers of its vectors."""

    @classmethod
    def of(cls, row: GraphRow) -> ExistingMemory:
        memory, node, created, embedded, *rest = row
        known = ExistingNode(node, created, embedded, tuple(rest[:6]))
        return cls(memory, known, *rest[6:])
