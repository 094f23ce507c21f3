"""Qdrant's own engine in this process, behind the port for vectors that stand apart.

The client's in-memory engine is Python that has the server's interface; this is the server's engine
without its interface. Both have to give the same answers.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from madeleine.model.vector import Vector


class EdgeVectors:
    """Collections as shards in a folder."""

    place = "in process"

    def __init__(self, folder: Path) -> None:
        self._edge: Any = importlib.import_module("qdrant_edge")
        self._folder = folder
        self._shards: dict[str, Any] = {}

    def make(self, collection: str, dimension: int) -> None:
        if collection not in self._shards:
            edge, path = self._edge, self._folder / collection
            path.mkdir(parents=True)
            wide = edge.EdgeVectorParams(size=dimension, distance=edge.Distance.Dot)
            config = edge.EdgeConfig(vectors=wide)
            self._shards[collection] = edge.EdgeShard.create(str(path), config)

    def remove(self, collection: str) -> None:
        shard = self._shards.pop(collection, None)
        if shard is not None:
            shard.close()

    def collections(self, beginning: str) -> list[str]:
        return [each for each in self._shards if each.startswith(beginning)]

    def put(self, collection: str, vectors: Mapping[int, NDArray[np.float16]]) -> None:
        points = [
            self._edge.Point(point, half.astype(np.float32).tolist(), {})
            for point, half in vectors.items()
        ]
        self._shards[collection].update(self._edge.UpdateOperation.upsert_points(points))

    def drop(self, collection: str, points: Sequence[int]) -> None:
        self._shards[collection].update(self._edge.UpdateOperation.delete_points(list(points)))

    def nearest(self, collection: str, query: Vector, limit: int) -> list[int]:
        near = self._edge.Query.Nearest(query.tolist())
        found = self._shards[collection].query(self._edge.QueryRequest(limit=limit, query=near))
        return [int(each.id) for each in found]

    def read(self, collection: str, points: Sequence[int]) -> dict[int, bytes]:
        found = self._shards[collection].retrieve(list(points), False, True)
        return {int(each.id): np.array(each.vector, "<f2").tobytes() for each in found}

    def close(self) -> None:
        for each in list(self._shards):
            self.remove(each)
