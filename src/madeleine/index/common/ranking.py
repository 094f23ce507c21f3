"""The order in which the graph is drawn, and a memory as it draws it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from madeleine.index.common.passages import TIER_CODES
from madeleine.index.graph import MemorySketch
from madeleine.index.port import IndexBatch
from madeleine.model.event import EventKind
from madeleine.model.memory import first_words
from madeleine.model.words import MemoryType, Tier

BEGINNING_CHARS = 600  # enough to find the first words in
NodeRanking = Mapping[str | None, NDArray[np.int64]]
"""By space the numbers of its nodes, strongest first; the largest space first."""


def changes_ranking(batch: IndexBatch) -> bool:
    """Whether memories come, go or are scored."""
    scored = any(each.kind is EventKind.SCORED for each in batch.events)
    return bool(batch.puts or batch.drops or scored)


def rank_nodes(rows: Sequence[Sequence[Any]], importance: Sequence[float]) -> NodeRanking:
    """Return nodes by space: what holds before what is outdated, then core, working, archival,
    then by importance; of equals the newest. A row begins with node, space, tier, when it was
    created in microseconds, and whether it is outdated."""
    if not rows:
        return {}
    nodes, spaces, tiers, created, over, *_ = zip(*rows, strict=True)
    keys = (
        np.array(nodes, np.int64),
        -np.array(created, np.int64),
        -np.array(importance),
        np.array([TIER_CODES[each] for each in tiers], np.int8),
        np.array(over, np.int8),
    )
    return _group_by_space(keys[0], spaces, np.lexsort(keys))


def _group_by_space(
    nodes: NDArray[np.int64], spaces: Sequence[str | None], order: NDArray[np.int64]
) -> NodeRanking:
    names = sorted({each for each in spaces if each is not None})
    codes = {None: 0} | {name: code for code, name in enumerate(names, 1)}
    coded, ranked_nodes = np.array([codes[each] for each in spaces], np.int64)[order], nodes[order]
    found = {space: ranked_nodes[coded == code] for space, code in codes.items()}
    filled = [(space, its) for space, its in found.items() if len(its)]
    return dict(sorted(filled, key=lambda each: (-len(each[1]), each[0] or "")))


def sketch_from_row(row: Sequence[Any]) -> MemorySketch:
    """Return what is drawn of id, type, tier, space, title, the beginning of the content,
    importance, and whether it is outdated."""
    memory_id, memory_type, tier, space, title, content, importance, over = row
    return MemorySketch(
        id=memory_id,
        type=MemoryType(memory_type),
        tier=Tier(tier),
        space=space,
        headline=title or first_words(content),
        importance=importance,
        outdated=bool(over),
    )
