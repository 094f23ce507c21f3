"""What one write needs: the graph as it was read, and the query that grows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from madeleine.index.common.postings import TermTokenizer
from madeleine_falkordb.connection import GraphAccess
from madeleine_falkordb.schema import GraphHead
from madeleine_falkordb.statement import WriteStatement


@dataclass(slots=True)
class FalkorWrite:
    """A write in the making. Whatever is read for it is of the head's version."""

    access: GraphAccess
    head: GraphHead
    cutter: TermTokenizer
    statement: WriteStatement = field(default_factory=WriteStatement)
    given: int = 0
    """Numbers given out."""
    memories: int = 0
    words: int = 0
    length: int = 0
    traced: int = 0
    """How much more there is of each than before, beside the vectors below."""
    vectors: dict[int, NDArray[np.float16]] = field(default_factory=dict)
    """New vectors by their numbers."""
    gone: list[int] = field(default_factory=list)
    """Numbers of vectors that are of no use any more."""

    @property
    def version(self) -> int:
        """The version that the graph will have."""
        return self.head.version + 1

    def number(self) -> int:
        """Give out a number."""
        self.given += 1
        return self.head.next + self.given

    def numbers(self) -> Iterator[int]:
        """Give out numbers, one after the other."""
        while True:
            yield self.number()

    @property
    def died(self) -> int:
        """How many vectors go."""
        return len(self.gone) + max(-self.traced, 0)

    def finish(self) -> WriteStatement:
        """Return the whole, with the sums that follow from it."""
        head = self.head
        self.statement.head.update(
            next=head.next + self.given + 1,
            memories=head.memories + self.memories,
            words=head.words + self.words,
            length=head.length + self.length,
            traced=head.traced + self.traced + len(self.vectors) - len(self.gone),
            dead=head.dead + self.died,
        )
        return self.statement
