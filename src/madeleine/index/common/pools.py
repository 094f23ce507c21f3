"""Limits and steps by which candidates become a pool in every engine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from madeleine.index.search import PassageDetails

COSINE_DIGITS = 6
MAX_TAGGED = 1_000
MAX_CACHED_BYTES = 67_108_864  # 10,000 passages, about
Floats = NDArray[np.float32]


def align_text_scores(
    nodes: NDArray[np.int64], matching: NDArray[np.int64], scores: Floats
) -> Floats:
    """Return the score of each node, where those that match have one, and 0 elsewhere."""
    if not len(matching):
        return np.zeros(len(nodes), np.float32)
    order = np.argsort(matching)
    matching, scores = matching[order], scores[order]
    place = np.minimum(np.searchsorted(matching, nodes), len(matching) - 1)
    return np.where(matching[place] == nodes, scores[place], np.float32(0)).astype(np.float32)


def join_details(found: list[tuple[bytes, bytes]], token_dimension: int) -> PassageDetails:
    """Return stems and tokens of passages end to end."""
    if not token_dimension:  # those in the file belong to a model that is away
        found = [(stems, b"") for stems, _ in found]
    stems = np.frombuffer(b"".join(each[0] for each in found), np.uint32)
    tokens = np.frombuffer(b"".join(each[1] for each in found), np.int8)
    width = max(token_dimension, 1)
    return PassageDetails(
        stems=stems,
        stem_starts=start_offsets([len(each[0]) for each in found], stems.itemsize),
        tokens=tokens.reshape(-1, width),
        token_starts=start_offsets([len(each[1]) for each in found], width),
    )


def start_offsets(lengths: list[int], unit: int) -> NDArray[np.int64]:
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(np.array(lengths, np.int64) // unit, out=starts[1:])
    return starts
