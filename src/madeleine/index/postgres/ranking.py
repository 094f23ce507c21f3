"""What the graph is drawn from: the memories of each space, strongest first, and their sketches.

The database sends what the order follows from as columns, one array each for a space: sorting by so
much takes it several times longer than that. What is kept is eight bytes for each memory, so that
pages fit together while others write. A version is never given out twice, so an order is worked
out again only after something was written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from madeleine.database.transactions import TenantAccess
from madeleine.index.common.ranking import BEGINNING_CHARS, NodeRanking, sketch_from_row
from madeleine.index.graph import MemorySketch
from madeleine.index.postgres.filters import outdated_condition
from madeleine.index.postgres.nodes import FROM_JOINED, IMPORTANCE_SQL
from madeleine.index.postgres.standing import TIER_CODE_SQL
from madeleine.model.query import Filter

ANY_FILTER = Filter()
NO_VERSION = -1  # no version is that low

_SELECT_RANKING = f"""
    SELECT n.space, array_agg(n.node), array_agg(n.created), array_agg({IMPORTANCE_SQL}),
           array_agg({TIER_CODE_SQL}), array_agg({{over}})
    FROM {FROM_JOINED} WHERE n.tenant = :tenant
    GROUP BY n.space ORDER BY count(*) DESC, coalesce(n.space, '')
"""
_SELECT_SKETCHES = f"""
    SELECT n.id, n.type, n.tier, n.space, t.title, left(t.content, {BEGINNING_CHARS}),
           {IMPORTANCE_SQL}, {{over}}
    FROM {FROM_JOINED} JOIN texts t ON t.tenant = :tenant AND t.node = n.node
    JOIN unnest(%s::{{kind}}[]) WITH ORDINALITY AS w (wanted, place) ON w.wanted = n.{{key}}
    WHERE n.tenant = :tenant ORDER BY w.place
"""


@dataclass(frozen=True, slots=True)
class PostgresRanking:
    """An order, and which rows it is about: those of a rebuild bear other numbers."""

    tenant: int = NO_VERSION
    version: int = NO_VERSION
    by_space: NodeRanking = field(default_factory=dict)

    def is_about(self, access: TenantAccess) -> bool:
        """Whether it orders anything that is read there."""
        return self.tenant == access.tenant and bool(self.by_space)

    def is_of(self, access: TenantAccess) -> bool:
        """Whether nothing was written since. A transaction that writes bears a number that may
        yet be another's, so nothing is of it."""
        known = (self.tenant, self.version) == (access.tenant, access.version)
        return known and not access.transaction

    def page(self, space: str | None, start: int, end: int) -> NDArray[np.int64]:
        return self.by_space.get(space, np.empty(0, np.int64))[start:end]


def read_ranking(access: TenantAccess, now: datetime) -> PostgresRanking:
    """Return all nodes by space: what holds before what is outdated, then core, working,
    archival, then by importance; of equals the newest."""
    over = outdated_condition(ANY_FILTER, now, "n")
    rows = access.rows(_SELECT_RANKING.format(over=over.sql), *over.bindings)
    by_space = {space: _order_nodes(*columns) for space, *columns in rows}
    return PostgresRanking(
        access.tenant, NO_VERSION if access.transaction else access.version, by_space
    )


def _order_nodes(
    nodes: NDArray[np.int64],
    created: NDArray[np.int64],
    importance: NDArray[np.float64],
    tiers: NDArray[np.int16],
    over: NDArray[np.bool_],
) -> NDArray[np.int64]:
    return nodes[np.lexsort((nodes, -created, -importance, tiers, over))]


def sketches_of_nodes(
    access: TenantAccess, nodes: NDArray[np.int64], now: datetime
) -> list[MemorySketch]:
    """Return the sketches of these nodes in this order; what is gone is left out."""
    return _read_sketches(access, "bigint", "node", nodes.tolist(), now)


def sketches(access: TenantAccess, ids: Sequence[str], now: datetime) -> list[MemorySketch]:
    """Return the sketches of these memories in this order; what is gone is left out."""
    return _read_sketches(access, "text", "id", list(ids), now)


def _read_sketches(
    access: TenantAccess, kind: str, key: str, wanted: list[int] | list[str], now: datetime
) -> list[MemorySketch]:
    over = outdated_condition(ANY_FILTER, now, "n")
    sql = _SELECT_SKETCHES.format(over=over.sql, kind=kind, key=key)
    return [sketch_from_row(row) for row in access.rows(sql, *over.bindings, wanted)]
