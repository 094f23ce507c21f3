"""Which memories belong together closely enough to be told as one.

A cluster grows around a seed, and whoever joins must be near *everybody* who is in already.
Being near to one of them is not enough: a chain of neighbours, each a little further off, ends
at something that has nothing to do with its beginning.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray


def find_cluster(
    vectors: NDArray[np.float32],
    least: float,
    most: int,
    apart: Collection[tuple[int, int]] = (),
) -> list[int]:
    """Return the places of those that join the first row, itself included, best first.

    Rows are unit vectors. Places that are named in `apart`, in either order, are never in one
    cluster.
    """
    similarity = vectors @ vectors.T
    kept_apart = {frozenset(pair) for pair in apart}
    members = [0]
    for place in _nearest_first(similarity[0]):
        if len(members) == most:
            break
        if _fits_cluster(place, members, similarity, least, kept_apart):
            members.append(place)
    return members


def _nearest_first(row: NDArray[np.float32]) -> Iterator[int]:
    """Yield every place but the first, the most alike first; ties as they stand."""
    order: Sequence[int] = np.argsort(-row[1:], kind="stable").tolist()
    return (place + 1 for place in order)


def _fits_cluster(
    place: int,
    members: Sequence[int],
    similarity: NDArray[np.float32],
    least: float,
    kept_apart: Collection[frozenset[int]],
) -> bool:
    near = bool((similarity[place, list(members)] >= least).all())
    return near and not any(frozenset((place, each)) in kept_apart for each in members)
