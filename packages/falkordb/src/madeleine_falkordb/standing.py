"""What the jobs go by: how memories stand, and what was looked at before."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import numpy as np

from madeleine.index.common.passages import TIER_CODES, TYPE_CODES
from madeleine.index.graph import CrossSpaceEdge
from madeleine.index.search import MemoryColumns
from madeleine.model.memory import DEFAULT_IMPORTANCE, DEFAULT_STABILITY_DAYS
from madeleine.model.query import Filter
from madeleine.model.verdict import Verdict, verdict_from_json
from madeleine.model.words import ABOUT_SELF, MACHINE_AUTHORS, Edge
from madeleine.rules.forgetting import PROTECTED_TAG
from madeleine_falkordb import graph
from madeleine_falkordb.connection import GraphAccess
from madeleine_falkordb.encoding import hash_key
from madeleine_falkordb.filters import build_condition

_STANDING_COLUMNS = f"""m.id, m.space, m.source, m.type, m.tier, m.created,
    coalesce(k.last_accessed, m.created), coalesce(k.access_count, 0), k.stability, m.confidence,
    coalesce(k.importance, k.folded), k.relevance, k.relevance_at,
    '{ABOUT_SELF}' IN m.tags, '{PROTECTED_TAG}' IN m.tags"""
_IS_BY_HAND = "(e.by IS NULL OR NOT e.by IN $machines)"
_MATCH_INCOMING = "WITH m MATCH (m)-[:IS]->()<-[e:ARROW]-()"
_MATCH_OUTGOING = "WITH m MATCH (m)-[e:ARROW]->()<-[:IS]-()"


def standings(access: GraphAccess, ids: Sequence[str] | None = None) -> MemoryColumns:
    """Return the columns of all memories, or of these."""
    among = "MATCH (m:Memory)" if ids is None else "MATCH (m:Memory) WHERE m.id IN $ids"
    listed: dict[str, object] = {} if ids is None else {"ids": list(ids)}
    question = f"{among} WITH m MATCH (m)-[:IS]->(k) WITH m, k ORDER BY m.id"
    rows = access.rows(question, _STANDING_COLUMNS, **listed)
    arrows = _count_arrows(access, among, listed)
    the_self = graph.self_id(access)
    columns: list[Sequence[Any]] = list(zip(*rows, strict=True)) if rows else [()] * 15
    about = np.array(columns[13], np.bool_)
    is_self = np.array([each == the_self for each in columns[0]], np.bool_)
    scored = [None if value is None else at for value, at in zip(*columns[11:13], strict=True)]
    drawn = np.array([arrows.get(each, 0) for each in columns[0]], np.int64)
    return MemoryColumns(
        ids=list(columns[0]),
        spaces=list(columns[1]),
        sources=list(columns[2]),
        types=np.array([TYPE_CODES[each] for each in columns[3]], np.uint8),
        tiers=np.array([TIER_CODES[each] for each in columns[4]], np.uint8),
        created=np.array(columns[5], np.int64),
        last_accessed=np.array(columns[6], np.int64),
        uses=np.array(columns[7], np.int64),
        stability=_to_floats(columns[8], DEFAULT_STABILITY_DAYS),
        confidence=_to_floats(columns[9], np.nan),
        importance=_to_floats(columns[10], DEFAULT_IMPORTANCE),
        relevance=_to_floats(columns[11], np.nan),
        relevance_at=np.array([each or 0 for each in scored], np.int64),
        connections=drawn + (about & ~is_self if the_self else 0),
        about_self=about | is_self,
        is_self=is_self,
        protected=np.array(columns[14], np.bool_),
    )


def _to_floats(texts: Sequence[str | None], default: float) -> Any:
    return np.array([default if each is None else float(each) for each in texts], np.float64)


def _count_arrows(access: GraphAccess, among: str, listed: dict[str, object]) -> dict[str, int]:
    """Return how many arrows somebody drew from each memory, and to it."""
    found: dict[str, int] = {}
    for walk in (_MATCH_INCOMING, _MATCH_OUTGOING):
        question = f"{among} {walk} WHERE {_IS_BY_HAND} WITH m.id AS id, count(e) AS times"
        rows = access.rows(question, "id, times", machines=sorted(MACHINE_AUTHORS), **listed)
        for memory, times in rows:
            found[memory] = found.get(memory, 0) + times
    return found


def across_spaces(access: GraphAccess) -> list[CrossSpaceEdge]:
    """Return the arrows between memories without a space and those with one."""
    question = """MATCH (s:Memory)-[e:ARROW]->()<-[:IS]-(t)
                  WHERE (s.space IS NULL AND t.space IS NOT NULL)
                     OR (s.space IS NOT NULL AND t.space IS NULL)"""
    columns = "s.id, s.source, s.space, t.id, t.source, t.space, e.edge, e.by"
    found = []
    for one, source, space, other, others, its, edge, by in access.rows(question, columns):
        if space is None:
            found.append(CrossSpaceEdge(one, source, other, its, Edge(edge), by))
        else:
            found.append(CrossSpaceEdge(other, others, one, space, Edge(edge), by))
    return sorted(found, key=lambda each: (each.memory, each.other, each.edge.value))


def unseen(
    access: GraphAccess,
    job: str,
    judge: str,
    chosen: Filter,
    now: datetime,
    limit: int,
    also: Sequence[str] = (),
) -> list[str]:
    """Return memories that say something else than when they were last looked at."""
    passing = build_condition(chosen, now)
    seen: dict[str, str] = dict(
        access.rows(
            "MATCH (s:Seen) WHERE s.job = $job AND s.judge = $judge",
            "s.memory, s.digest",
            job=job,
            judge=judge,
        )
    )
    question = f"""MATCH (m:Memory) WHERE m.embedded AND {passing.cypher}
                   WITH m ORDER BY m.created, m.id"""
    rows = access.rows(question, "m.id, m.digest", **passing.parameters)
    anyway = set(also)
    found = [each for each, digest in rows if seen.get(each) != digest or each in anyway]
    return found[: max(limit, 0)]


def verdicts(
    access: GraphAccess, pairs: Sequence[tuple[str, str]], judge: str
) -> dict[tuple[str, str], Verdict]:
    """Return the verdicts about pairs of which neither side has changed."""
    if not pairs:
        return {}
    keys = [hash_key(*pair, judge) for pair in dict.fromkeys(pairs)]
    return _read_verdicts(access, "MATCH (v:Verdict) WHERE v.key IN $keys", keys=keys)


def verdicts_on_older(
    access: GraphAccess, ids: Sequence[str], judge: str
) -> dict[tuple[str, str], Verdict]:
    """Return the verdicts about pairs whose older memory is one of these, where neither side has
    changed."""
    if not ids:
        return {}
    chosen = "MATCH (v:Verdict) WHERE v.older IN $ids AND v.judge = $judge"
    return _read_verdicts(access, chosen, ids=list(dict.fromkeys(ids)), judge=judge)


def _read_verdicts(
    access: GraphAccess, chosen: str, **parameters: object
) -> dict[tuple[str, str], Verdict]:
    question = f"""{chosen}
                   WITH v MATCH (o:Memory {{id: v.older}})
                   WITH v, o MATCH (n:Memory {{id: v.newer}})
                   WHERE o.digest = v.older_digest AND n.digest = v.newer_digest"""
    found = {}
    for older, newer, text in access.rows(question, "v.older, v.newer, v.verdict", **parameters):
        verdict = verdict_from_json(json.loads(text))
        if verdict is not None:
            found[older, newer] = verdict
    return found


def of_source(access: GraphAccess, source: str) -> list[str]:
    """Return the memories that come from there."""
    question = "MATCH (m:Memory {source_key: $key}) WITH m ORDER BY m.id"
    return access.column(question, "m.id", key=hash_key(source))
