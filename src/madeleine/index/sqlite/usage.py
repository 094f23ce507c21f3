"""Counters: how a memory has been used, folded from all that the journal says.

Events come in any order and from any device, and a file may come after its events. So the
uses are kept as they are, and the fold is made again for whoever was touched.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime

import apsw

from madeleine.index.common.events import usage_row
from madeleine.index.common.times import DAY_MICROS, from_micros, to_micros
from madeleine.rules.usage import (
    WHISPER_COUNT,
    AdoptedCounters,
    MemoryUse,
    fold_uses,
    read_adopted_counters,
)

_IN_LIST = "(SELECT value FROM json_each(?))"


def refresh_usage(connection: apsw.Connection, ids: Iterable[str]) -> None:
    """Fold the uses of these memories anew, as far as their files are there."""
    wanted = json.dumps(list(dict.fromkeys(ids)))
    uses, adopted = _read_uses(connection, wanted), _read_adoptions(connection, wanted)
    if not uses and not adopted:
        return
    born = connection.execute(f"SELECT id, created FROM nodes WHERE id IN {_IN_LIST}", (wanted,))
    rows = [
        usage_row(
            memory, fold_uses(from_micros(created), uses.get(memory, ()), adopted.get(memory))
        )
        for memory, created in list(born)
        if memory in uses or memory in adopted
    ]
    connection.executemany("INSERT OR REPLACE INTO usage VALUES (?, ?, ?, ?, ?, ?)", rows)


def used_today(
    connection: apsw.Connection,
    ids: Iterable[str],
    session: str | None,
    at: datetime,
    whispers: bool = False,
) -> set[str]:
    """Return those of the memories whose use in this session and UTC day already counts."""
    start, least = to_micros(at) // DAY_MICROS * DAY_MICROS, WHISPER_COUNT if whispers else 1
    sql = f"""SELECT DISTINCT memory FROM uses WHERE memory IN {_IN_LIST}
              AND at >= ? AND at < ? AND session IS ? AND n >= ?"""
    bindings = (json.dumps(list(ids)), start, start + DAY_MICROS, session, least)
    return {memory for (memory,) in connection.execute(sql, bindings)}


def _read_uses(connection: apsw.Connection, wanted: str) -> dict[str, list[MemoryUse]]:
    found: dict[str, list[MemoryUse]] = defaultdict(list)
    sql = f"SELECT memory, at, session, n FROM uses WHERE memory IN {_IN_LIST}"
    for memory, at, session, count in connection.execute(sql, (wanted,)):
        found[memory].append(MemoryUse(from_micros(at), session, count))
    return found


def _read_adoptions(connection: apsw.Connection, wanted: str) -> dict[str, AdoptedCounters]:
    """Return the counters each memory brought along; the first time counts."""
    found: dict[str, AdoptedCounters] = {}
    sql = f"SELECT memory, body FROM adopted WHERE memory IN {_IN_LIST} ORDER BY memory, at, event"
    for memory, body in connection.execute(sql, (wanted,)):
        found.setdefault(memory, read_adopted_counters(json.loads(body)))
    return found
