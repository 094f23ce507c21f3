"""Memories that mean just what a test wants them to: vectors by hand, and no links of their own."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from madeleine.model.embedding import PassageEmbedding
from madeleine.model.memory import Memory
from madeleine.model.vector import Vector
from madeleine.write.config import WriteConfig
from madeleine.write.stores import Stores, VerbConfig
from tests.fakes import close, keep, make_stores

WIDE = 64  # numbers in a vector of the embedder that tests use


@contextmanager
def unlinked(home: Path) -> Iterator[Stores]:
    """Open stores in which nothing that is remembered is linked by its similarity."""
    opened = make_stores(home, config=VerbConfig(write=WriteConfig(link_neighbours=0)))
    yield opened
    close(opened)


def at_cosine(cosine: float, axis: int = 0, towards: int = WIDE - 1) -> Vector:
    """Return a unit vector with this cosine to the one along an axis."""
    vector = np.zeros(WIDE, np.float32)
    vector[axis] = cosine
    vector[towards] += math.sqrt(1 - cosine**2)
    return vector


def along(axis: int) -> Vector:
    return at_cosine(1.0, axis)


def mean(stores: Stores, memory: Memory, vector: Vector) -> Memory:
    """Let a memory mean something else than its text says."""
    assert stores.minds.embedder is not None
    kept = np.zeros((0, stores.minds.embedder.token_dimension), np.int8)
    stores.index.set_traces({memory.id: [PassageEmbedding(vector, kept)]})
    return memory


def keep_as(stores: Stores, content: str, vector: Vector, **fields: object) -> Memory:
    """Remember a text that means this."""
    return mean(stores, keep(stores, content, **fields), vector)
