"""Vectors by their numbers: in the graph, each on a node of its own, or apart from it.

A number's vector never changes, so those that were read are kept in this process for as long as
there is room. Which of them count is asked of the graph with each question.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from madeleine.index.common.pools import MAX_CACHED_BYTES
from madeleine.model.vector import Vector
from madeleine_falkordb.connection import GraphAccess
from madeleine_falkordb.encoding import decode_bytes, hash_key, number_keys
from madeleine_falkordb.schema import GraphHead, ensure_vector_index, recreate_vector_index
from madeleine_falkordb.vector_store import VectorStore
from madeleine_falkordb.writing import FalkorWrite

VECTORS_PER_READ = 5_000  # vectors: some megabytes
HALF_DTYPE = "<f2"
DEAD_AT_LEAST, DEAD_SHARE = 500, 4  # entries, and one for so many that live: then the index is new

_QUERY_NEAREST = """CALL db.idx.vector.queryNodes('Trace', 'vector', $limit, vecf32($query))
           YIELD node, score WITH node, score ORDER BY score"""


class GraphVectors:
    """The vectors of one graph, for one model; of width 0 without any."""

    def __init__(self, access: GraphAccess, dimension: int, apart: VectorStore | None) -> None:
        self._access = access
        self._apart = apart
        self.dimension = dimension
        self._kept: dict[int, bytes] = {}
        self._bytes = 0

    @property
    def place(self) -> str | None:
        """Where the vectors are, if not in the graph."""
        return None if self._apart is None else self._apart.place

    # -- writing ---------------------------------------------------------------------------
    def begin(self) -> str | None:
        """Return the name of a new collection, if vectors stand apart."""
        if self._apart is None:
            return None
        name = f"{self._name_prefix}{uuid.uuid4().hex[:12]}"
        self._apart.make(name, self.dimension)
        return name

    @property
    def _name_prefix(self) -> str:
        """What all collections for this graph are called, and none for another."""
        return f"madeleine-{hash_key(self._access.place)}-"

    def check(self, collection: str | None) -> None:
        """See that there is room for vectors, as wide as the model's."""
        if self._apart is None:
            ensure_vector_index(self._access, self.dimension)
        elif collection is not None:
            self._apart.make(collection, self.dimension)

    def add(self, writing: FalkorWrite) -> None:
        """Keep new vectors: in the query that writes all else, or before it."""
        if self._apart is not None:
            if writing.vectors and writing.head.collection is not None:
                self._apart.put(writing.head.collection, writing.vectors)
            return
        writing.statement.each(number_keys(writing.gone), "MATCH (t:Trace {at: r}) DELETE t")
        writing.statement.each(
            [
                (point, str(point), half.astype(np.float32), half.astype(HALF_DTYPE).tobytes())
                for point, half in writing.vectors.items()
            ],
            "CREATE (t:Trace {point: r[0], at: r[1], vector: vecf32(r[2]), half: r[3]})",
        )

    def settle(self, writing: FalkorWrite) -> None:
        """Remove what nobody names any more, after it was so written."""
        head = writing.head
        if self._apart is not None:
            if writing.gone and head.collection is not None:
                self._apart.drop(head.collection, writing.gone)
            return
        dead = head.dead + writing.died
        if writing.died and dead > max(DEAD_AT_LEAST, head.traced // DEAD_SHARE):
            recreate_vector_index(self._access, self.dimension)
            self._access.run("MATCH (g:Head) SET g.dead = 0 RETURN 1", {})

    def sweep(self, but: str | None) -> None:
        """Remove the collections of this graph that nobody names."""
        if self._apart is not None:
            for each in self._apart.collections(self._name_prefix):
                if each != but:
                    self._apart.remove(each)

    # -- reading ---------------------------------------------------------------------------
    def nearest(self, head: GraphHead, query: Vector, limit: int) -> list[int]:
        """Return the numbers of vectors that are near, best first. Fewer than asked for may be
        left of those that were found: some are of no use any more."""
        if self._apart is None:
            return self._access.column(_QUERY_NEAREST, "node.point", limit=limit, query=query)
        if head.collection is None:
            return []
        return self._apart.nearest(head.collection, query, limit)

    def may_have_more(self, head: GraphHead, limit: int, found: int) -> bool:
        """Whether there may be vectors beyond those found. In the graph's index dead entries take
        places without being found; elsewhere there may be some that the head knows nothing of."""
        if self._apart is None:
            return limit < head.traced + head.dead
        return found >= limit

    def read(self, head: GraphHead, points: Sequence[int]) -> NDArray[np.float32]:
        """Return vectors, one to a row; one that is gone meanwhile is all zeros."""
        known, fresh = self._kept, dict[int, bytes]()
        missing = list(dict.fromkeys(each for each in points if each not in known))
        for start in range(0, len(missing), VECTORS_PER_READ):
            fresh.update(self._fetch_vectors(head, missing[start : start + VECTORS_PER_READ]))
        nothing = bytes(2 * self.dimension)
        raw = b"".join(known.get(each) or fresh.get(each) or nothing for each in points)
        self._keep(fresh)
        return (
            np.frombuffer(raw, HALF_DTYPE).astype(np.float32).reshape(len(points), self.dimension)
        )

    def _fetch_vectors(self, head: GraphHead, points: list[int]) -> dict[int, bytes]:
        if self._apart is not None:
            return self._apart.read(head.collection, points) if head.collection else {}
        rows = self._access.rows(
            "MATCH (t:Trace) WHERE t.at IN $points", "t.point, t.half", points=number_keys(points)
        )
        return {point: decode_bytes(half) for point, half in rows}

    def _keep(self, fresh: dict[int, bytes]) -> None:
        self._bytes += sum(map(len, fresh.values()))
        if self._bytes > MAX_CACHED_BYTES:
            self._kept, self._bytes = {}, 0
        else:
            self._kept.update(fresh)
