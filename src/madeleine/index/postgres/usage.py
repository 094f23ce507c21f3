"""Counters: how a memory has been used, folded from all that the journal says.

Events come in any order and from any device, and a file may come after its events. So the
uses are kept as they are, and the fold is made again for whoever was touched.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime

from madeleine.database.transactions import TenantAccess
from madeleine.index.common.events import usage_row
from madeleine.index.common.times import DAY_MICROS, from_micros, to_micros
from madeleine.index.postgres.nodes import upsert_sql
from madeleine.rules.usage import (
    WHISPER_COUNT,
    AdoptedCounters,
    MemoryUse,
    fold_uses,
    read_adopted_counters,
)

_WHERE_MEMORIES = "WHERE tenant = :tenant AND memory = ANY(%s::text[])"
_USAGE_COLUMNS = (
    *("memory", "access_count", "last_accessed", "last_review", "stability", "importance"),
)


def refresh_usage(access: TenantAccess, ids: Iterable[str]) -> None:
    """Fold the uses of these memories anew, as far as their files are there."""
    wanted = list(dict.fromkeys(ids))
    if not wanted:
        return
    uses, adopted = _read_uses(access, wanted), _read_adoptions(access, wanted)
    if not uses and not adopted:
        return
    sql = "SELECT id, created FROM nodes WHERE tenant = :tenant AND id = ANY(%s::text[])"
    rows = [
        usage_row(
            memory, fold_uses(from_micros(created), uses.get(memory, ()), adopted.get(memory))
        )
        for memory, created in access.rows(sql, wanted)
        if memory in uses or memory in adopted
    ]
    access.run_many(upsert_sql("usage", _USAGE_COLUMNS), rows)


def used_today(
    access: TenantAccess,
    ids: Iterable[str],
    session: str | None,
    at: datetime,
    whispers: bool = False,
) -> set[str]:
    """Return those of the memories whose use in this session and UTC day already counts."""
    start, least = to_micros(at) // DAY_MICROS * DAY_MICROS, WHISPER_COUNT if whispers else 1
    sql = f"""SELECT DISTINCT memory FROM uses {_WHERE_MEMORIES}
              AND at >= %s AND at < %s AND session IS NOT DISTINCT FROM %s AND n >= %s"""
    return set(access.column(sql, list(ids), start, start + DAY_MICROS, session, least))


def _read_uses(access: TenantAccess, wanted: list[str]) -> dict[str, list[MemoryUse]]:
    found: dict[str, list[MemoryUse]] = defaultdict(list)
    rows = access.rows(f"SELECT memory, at, session, n FROM uses {_WHERE_MEMORIES}", wanted)
    for memory, at, session, count in rows:
        found[memory].append(MemoryUse(from_micros(at), session, count))
    return found


def _read_adoptions(access: TenantAccess, wanted: list[str]) -> dict[str, AdoptedCounters]:
    """Return the counters each memory brought along; the first time counts."""
    found: dict[str, AdoptedCounters] = {}
    sql = f"SELECT memory, body FROM adopted {_WHERE_MEMORIES} ORDER BY memory, at, event"
    for memory, body in access.rows(sql, wanted):
        found.setdefault(memory, read_adopted_counters(json.loads(body)))
    return found
