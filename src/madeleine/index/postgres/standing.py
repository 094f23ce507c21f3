"""What the jobs go by: how memories stand, and what was looked at before."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from madeleine.database.transactions import TenantAccess
from madeleine.index.common.passages import TIER_CODES, TYPE_CODES
from madeleine.index.common.times import from_micros
from madeleine.index.graph import CrossSpaceEdge
from madeleine.index.postgres import graph
from madeleine.index.postgres.filters import build_condition
from madeleine.index.search import MemoryColumns
from madeleine.model.memory import DEFAULT_IMPORTANCE, DEFAULT_STABILITY_DAYS
from madeleine.model.query import Filter
from madeleine.model.verdict import Verdict, verdict_from_json
from madeleine.model.words import ABOUT_SELF, MACHINE_AUTHORS, Edge
from madeleine.rules.forgetting import PROTECTED_TAG
from madeleine.rules.usage import MemoryUse, select_counting_uses

_MACHINES_SQL = ", ".join(f"'{each}'" for each in sorted(MACHINE_AUTHORS))
_IS_BY_HAND = f"(e.by IS NULL OR e.by NOT IN ({_MACHINES_SQL}))"

_TYPE_CASES = " ".join(f"WHEN '{each}' THEN {code}" for each, code in TYPE_CODES.items())
_TIER_CASES = " ".join(f"WHEN '{each}' THEN {code}" for each, code in TIER_CODES.items())
TYPE_CODE_SQL = f"(CASE n.type {_TYPE_CASES} END)::smallint"
TIER_CODE_SQL = f"(CASE n.tier {_TIER_CASES} END)::smallint"
_SELECT_STANDINGS = f"""
    SELECT array_agg(q.id), array_agg(q.space), array_agg(q.source), array_agg(q.type),
           array_agg(q.tier), array_agg(q.created), array_agg(q.used), array_agg(q.uses),
           array_agg(q.stability), array_agg(q.confidence), array_agg(q.importance),
           array_agg(q.relevance), array_agg(q.relevance_at), array_agg(q.node)
    FROM (SELECT n.id, n.space, n.source, {TYPE_CODE_SQL} AS type, {TIER_CODE_SQL} AS tier,
                 n.created, coalesce(u.last_accessed, n.created) AS used,
                 coalesce(u.access_count, 0) AS uses,
                 coalesce(u.stability, {DEFAULT_STABILITY_DAYS}) AS stability, n.confidence,
                 coalesce(s.importance, u.importance, {DEFAULT_IMPORTANCE}) AS importance,
                 coalesce(s.relevance, 'NaN') AS relevance,
                 CASE WHEN s.relevance IS NULL THEN 0 ELSE s.relevance_at END AS relevance_at,
                 n.node
          FROM nodes n LEFT JOIN usage u ON u.tenant = :tenant AND u.memory = n.id
          LEFT JOIN scores s ON s.tenant = :tenant AND s.memory = n.id
          WHERE n.tenant = :tenant {{}} ORDER BY n.id) q
"""
_COUNT_INCOMING = f"""
    SELECT e.target, count(*) FROM edges e WHERE e.tenant = :tenant AND {_IS_BY_HAND}
"""
_COUNT_OUTGOING = f"""
    SELECT n.id, count(*) FROM edges e JOIN nodes n ON n.tenant = :tenant AND n.node = e.source
    JOIN nodes t ON t.tenant = :tenant AND t.id = e.target
    WHERE e.tenant = :tenant AND {_IS_BY_HAND}
"""
_FROM_ARROWS = """FROM edges e JOIN nodes s ON s.tenant = :tenant AND s.node = e.source
             JOIN nodes t ON t.tenant = :tenant AND t.id = e.target WHERE e.tenant = :tenant"""
_SELECT_ACROSS = f"""
    SELECT s.id, s.source, t.id, t.space, e.edge, e.by {_FROM_ARROWS}
    AND s.space IS NULL AND t.space IS NOT NULL
    UNION ALL
    SELECT t.id, t.source, s.id, s.space, e.edge, e.by {_FROM_ARROWS}
    AND t.space IS NULL AND s.space IS NOT NULL
    ORDER BY 1, 3, 5
"""
_STILL_SAID = """
    JOIN nodes o ON o.tenant = :tenant AND o.id = v.older AND o.digest = v.older_digest
    JOIN nodes n ON n.tenant = :tenant AND n.id = v.newer AND n.digest = v.newer_digest
"""
_SELECT_VERDICTS = f"""
    SELECT v.older, v.newer, v.verdict FROM unnest(%s::text[], %s::text[]) AS p (older, newer)
    JOIN verdicts v ON v.tenant = :tenant AND v.older = p.older AND v.newer = p.newer
                   AND v.judge = %s {_STILL_SAID}
"""
_SELECT_VERDICTS_ON_OLDER = f"""
    SELECT v.older, v.newer, v.verdict FROM verdicts v {_STILL_SAID}
    WHERE v.tenant = :tenant AND v.older = ANY(%s::text[]) AND v.judge = %s
"""


def standings(access: TenantAccess, ids: Sequence[str] | None = None) -> MemoryColumns:
    """Return the columns of all memories, or of these."""
    listed = [] if ids is None else [list(ids)]
    among = "" if ids is None else "AND {} = ANY(%s::text[])"
    found = access.columns(_SELECT_STANDINGS.format(among.format("n.id")), *listed)
    texts = [each or [] for each in found[:TEXT_COLUMN_COUNT]]
    numbers = [_array_or_empty(each) for each in found[TEXT_COLUMN_COUNT:]]
    sql = f"{_COUNT_INCOMING} {among.format('e.target')} GROUP BY e.target"
    incoming: dict[str, int] = dict(access.rows(sql, *listed))
    sql = f"{_COUNT_OUTGOING} {among.format('n.id')} GROUP BY n.id"
    outgoing: dict[str, int] = dict(access.rows(sql, *listed))
    the_self = graph.self_id(access)
    about = _mask_tagged(access, ABOUT_SELF, numbers[-1])
    is_self = np.array([each == the_self for each in texts[0]], np.bool_)
    arrows = [incoming.get(each, 0) + outgoing.get(each, 0) for each in texts[0]]
    return MemoryColumns(
        ids=texts[0],
        spaces=texts[1],
        sources=texts[2],
        types=numbers[0].astype(np.uint8),
        tiers=numbers[1].astype(np.uint8),
        created=numbers[2],
        last_accessed=numbers[3],
        uses=numbers[4],
        stability=numbers[5],
        confidence=numbers[6],
        importance=numbers[7],
        relevance=numbers[8],
        relevance_at=numbers[9],
        connections=np.array(arrows, np.int64) + (about & ~is_self if the_self else 0),
        about_self=about | is_self,
        is_self=is_self,
        protected=_mask_tagged(access, PROTECTED_TAG, numbers[-1]),
    )


TEXT_COLUMN_COUNT = 3  # the first columns: ids, spaces, sources


def _array_or_empty(column: NDArray[Any] | None) -> NDArray[Any]:
    return np.empty(0, np.int64) if column is None else column


def _mask_tagged(access: TenantAccess, tag: str, nodes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which of the nodes bear a tag."""
    sql = "SELECT array_agg(node) FROM node_tags WHERE tenant = :tenant AND tag = %s"
    found = access.value(sql, tag)
    return np.isin(nodes, [] if found is None else found)


def across_spaces(access: TenantAccess) -> list[CrossSpaceEdge]:
    """Return the arrows between memories without a space and those with one."""
    return [
        CrossSpaceEdge(memory, source, other, space, Edge(edge), by)
        for memory, source, other, space, edge, by in access.rows(_SELECT_ACROSS)
    ]


def uses(access: TenantAccess, ids: Sequence[str]) -> dict[str, list[MemoryUse]]:
    """Return the uses of memories, each session and day once, oldest first."""
    sql = """SELECT memory, at, session, n FROM uses
             WHERE tenant = :tenant AND memory = ANY(%s::text[]) ORDER BY memory, at, number"""
    return {
        memory: select_counting_uses(MemoryUse(from_micros(row[1]), *row[2:]) for row in its)
        for memory, its in groupby(access.rows(sql, list(ids)), key=itemgetter(0))
    }


def unseen(
    access: TenantAccess,
    job: str,
    judge: str,
    chosen: Filter,
    now: datetime,
    limit: int,
    also: Sequence[str] = (),
) -> list[str]:
    """Return memories that say something else than when they were last looked at."""
    passing = build_condition(chosen, now)
    sql = f"""SELECT n.id FROM nodes n LEFT JOIN seen s ON s.tenant = :tenant
              AND s.job = %s AND s.judge = %s AND s.memory = n.id
              WHERE n.tenant = :tenant
              AND (s.digest IS DISTINCT FROM n.digest OR n.id = ANY(%s::text[]))
              AND n.embedded AND {passing.sql} ORDER BY n.created, n.id LIMIT %s"""
    bindings = (job, judge, list(also), *passing.bindings, max(limit, 0))
    return access.column(sql, *bindings)


def verdicts(
    access: TenantAccess, pairs: Sequence[tuple[str, str]], judge: str
) -> dict[tuple[str, str], Verdict]:
    """Return the verdicts about pairs of which neither side has changed."""
    older, newer = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return _read_verdicts(access.rows(_SELECT_VERDICTS, older, newer, judge))


def verdicts_on_older(
    access: TenantAccess, ids: Sequence[str], judge: str
) -> dict[tuple[str, str], Verdict]:
    """Return the verdicts about pairs whose older memory is one of these, where neither side has
    changed."""
    return _read_verdicts(access.rows(_SELECT_VERDICTS_ON_OLDER, list(ids), judge))


def _read_verdicts(rows: Iterable[Sequence[Any]]) -> dict[tuple[str, str], Verdict]:
    found = {}
    for one, other, text in rows:
        verdict = verdict_from_json(json.loads(text))
        if verdict is not None:
            found[one, other] = verdict
    return found
