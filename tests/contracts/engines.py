"""The engines that the contract of the index is tested on. One joins by adding itself here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from madeleine.index.port import Index
from madeleine.index.sqlite import SqliteIndex
from madeleine.testing.engines import Maker
from madeleine.testing.making import DIMENSION, TOKEN_DIMENSION
from tests import falkordb, postgres


def _sqlite(
    folder: Path, model: str | None = "tiny", token_dimension: int = TOKEN_DIMENSION
) -> Index:
    path = folder / "index.db"
    return SqliteIndex.open(path, model, DIMENSION, token_dimension, exact_up_to=1_000)


def _postgres(
    folder: Path, model: str | None = "tiny", token_dimension: int = TOKEN_DIMENSION
) -> Index:
    return postgres.open_index(folder, model, DIMENSION, token_dimension, exact_up_to=1_000)


def _falkordb(
    folder: Path, model: str | None = "tiny", token_dimension: int = TOKEN_DIMENSION
) -> Index:
    return falkordb.open_index(folder, model, DIMENSION, token_dimension, exact_up_to=1_000)


def _falkordb_qdrant(
    folder: Path, model: str | None = "tiny", token_dimension: int = TOKEN_DIMENSION
) -> Index:
    options = {"exact_up_to": 1_000, "apart": falkordb.qdrant()}
    return falkordb.open_index(folder, model, DIMENSION, token_dimension, **options)


MAKERS: Mapping[str, Maker] = {
    "sqlite": _sqlite,
    "postgres": _postgres,
    "falkordb": _falkordb,
    "falkordb-qdrant": _falkordb_qdrant,
}
