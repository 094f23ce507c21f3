"""Stores that the model which ships reads for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from madeleine.index.sqlite.index import SqliteIndex
from madeleine.minds.cache import CachedEmbedder, EmbeddingCache
from madeleine.minds.local import load_built_in, why_not_built_in
from madeleine.minds.port import Minds
from madeleine.write.stores import Stores
from tests.fakes import close, make_stores


@pytest.fixture(scope="module")
def minds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Minds]:
    """The model, loaded once for a module; without it the test is left out."""
    embedder = load_built_in(threads=2)
    if embedder is None:
        pytest.skip(why_not_built_in())
    cache = EmbeddingCache.open(tmp_path_factory.mktemp("cache") / "embeddings.db")
    cached = CachedEmbedder(embedder, cache)
    yield Minds(cached)
    cached.close()


@contextmanager
def opened_real(folder: Path, minds: Minds) -> Iterator[Stores]:
    """Lend stores in a folder, and close all of them but the model."""
    plain = make_stores(folder, with_model=False)
    plain.index.close()
    assert minds.embedder is not None
    index = SqliteIndex.open(
        folder / "real.db",
        model=minds.embedder.name,
        dimension=minds.embedder.dimension,
        token_dimension=minds.embedder.token_dimension,
        exact_up_to=200_000,
        keeper=minds.embedder.keeper,
    )
    stores = replace(plain, index=index, minds=minds)
    yield stores
    close(replace(stores, minds=Minds()))
