"""How Madeleine finds this engine and opens an index with it."""

from __future__ import annotations

import importlib.util

from madeleine.errors import BadSetting
from madeleine.index.engines import IndexOpening
from madeleine_falkordb.connection import FalkorAddress
from madeleine_falkordb.index import FalkorIndex
from madeleine_falkordb.vector_store import VectorStore


class FalkorEngine:
    """Opens indexes in FalkorDB, with vectors in Qdrant if an address for them is given."""

    def open_index(self, opening: IndexOpening) -> FalkorIndex:
        return FalkorIndex.open(
            opening.url,
            opening.model,
            opening.dimension,
            opening.token_dimension,
            tenant=opening.tenant,
            apart=_open_vector_store(opening.vectors_url) if opening.vectors_url else None,
        )

    def place_of(self, url: str) -> str:
        return FalkorAddress.of(url).place


def _open_vector_store(url: str) -> VectorStore:
    if importlib.util.find_spec("qdrant_client") is None:
        raise BadSetting("store.vectors", "needs `pip install 'madeleine-memory[qdrant]'`")
    from madeleine_falkordb.qdrant import QdrantVectors  # noqa: PLC0415  # an extra, and slow

    return QdrantVectors.open(url)
