"""Counters: how a memory has been used, folded from all that the journal says.

Events come in any order and from any device, and a file may come after its events. So the
uses are kept as they are, and the fold is made again for whoever was touched.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

from madeleine.index.common.events import EventEffects
from madeleine.index.common.rows import PlacedMemory, find_newborn_ids
from madeleine.index.common.times import DAY_MICROS, from_micros, to_micros, to_micros_or_none
from madeleine.model.memory import Usage
from madeleine.rules.usage import (
    WHISPER_COUNT,
    AdoptedCounters,
    MemoryUse,
    fold_uses,
    read_adopted_counters,
    select_counting_uses,
)
from madeleine_falkordb.connection import GraphAccess
from madeleine_falkordb.encoding import float_to_text, hash_key
from madeleine_falkordb.statement import merge_step
from madeleine_falkordb.writing import FalkorWrite

_USES, _USE = "MATCH (u:Use) WHERE u.memory IN $keys", "u.memory_id, u.at, u.number, u.session, u.n"
_MATCH_ADOPTIONS = "MATCH (a:Adopted) WHERE a.memory IN $keys"
_ADOPTION_COLUMNS = "a.memory_id, a.at, a.event, a.body"


# --- writing ------------------------------------------------------------------------------


def apply_usage(
    writing: FalkorWrite, effects: EventEffects, placed: Sequence[PlacedMemory]
) -> None:
    """Keep uses, and fold anew whatever is touched by them or was not there before."""
    uses, adopted = effects.get("uses", []), effects.get("adopted", [])
    writing.statement.each(map(_use_row, uses), "CREATE (u:Use) SET u = r")
    writing.statement.each(map(_adopted_row, adopted), merge_step("Adopted", "key"))
    touched = [str(row[0]) for row in (*uses, *adopted)]
    _fold_usage(writing, [*touched, *find_newborn_ids(placed)], effects, placed)


def _use_row(row: Sequence[Any]) -> dict[str, object]:
    memory, at, number, session, n = row
    return {
        "memory": hash_key(memory),
        "memory_id": memory,
        "at": at,
        "number": number,
        "session": session,
        "n": n,
    }


def _adopted_row(row: Sequence[Any]) -> dict[str, object]:
    memory, at, event, body = row
    key = hash_key(memory, at, event)
    named = {
        "memory": hash_key(memory),
        "memory_id": memory,
        "at": at,
        "event": event,
        "body": body,
    }
    return {"key": key, **named}


def _fold_usage(
    writing: FalkorWrite, ids: Iterable[str], effects: EventEffects, placed: Sequence[PlacedMemory]
) -> None:
    wanted = list(dict.fromkeys(ids))
    if not wanted:
        return
    keys = {"keys": [hash_key(each) for each in wanted]}
    kept = writing.access.several((_USES, _USE, keys), (_MATCH_ADOPTIONS, _ADOPTION_COLUMNS, keys))
    uses = _group_uses([*kept[0], *effects.get("uses", [])], set(wanted))
    adopted = _select_first_adoptions([*kept[1], *effects.get("adopted", [])])
    if not uses and not adopted:
        return
    born = _read_created(writing.access, wanted) | {
        each.memory.id: each.memory.created for each in placed
    }
    rows = [
        _build_usage_row(memory, fold_uses(born[memory], uses.get(memory, ()), adopted.get(memory)))
        for memory in wanted
        if memory in born and (memory in uses or memory in adopted)
    ]
    writing.statement.each(
        rows, "MERGE (k:Known {key: r[0]}) ON CREATE SET k.id = r[1] SET k += r[2]"
    )


def _build_usage_row(memory: str, usage: Usage) -> tuple[str, str, Mapping[str, object]]:
    counters = {
        "access_count": usage.access_count,
        "last_accessed": to_micros_or_none(usage.last_accessed),
        "last_review": to_micros_or_none(usage.last_review),
        "stability": float_to_text(usage.stability),
        "folded": float_to_text(usage.importance),
    }
    return hash_key(memory), memory, counters


def _read_created(access: GraphAccess, ids: list[str]) -> dict[str, datetime]:
    rows = access.rows("MATCH (m:Memory) WHERE m.id IN $ids", "m.id, m.created", ids=ids)
    return {memory: from_micros(created) for memory, created in rows}


def _group_uses(rows: Iterable[Any], wanted: set[str]) -> dict[str, list[MemoryUse]]:
    found: dict[str, list[MemoryUse]] = defaultdict(list)
    for memory, at, _, session, n in rows:
        if memory in wanted:
            found[memory].append(MemoryUse(from_micros(at), session, n))
    return found


def _read_use_rows(access: GraphAccess, ids: Iterable[str]) -> list[list[Any]]:
    keys = [hash_key(each) for each in ids]
    return access.rows(_USES, _USE, keys=keys) if keys else []


def _select_first_adoptions(rows: Iterable[Any]) -> dict[str, AdoptedCounters]:
    """Return the counters each memory brought along; the first time counts."""
    found: dict[str, AdoptedCounters] = {}
    for memory, _, _, body in sorted(rows, key=itemgetter(0, 1, 2)):
        found.setdefault(memory, read_adopted_counters(json.loads(body)))
    return found


# --- reading ------------------------------------------------------------------------------


def used_today(
    access: GraphAccess,
    ids: Iterable[str],
    session: str | None,
    at: datetime,
    whispers: bool = False,
) -> set[str]:
    """Return those of the memories whose use in this session and UTC day already counts."""
    start, least = to_micros(at) // DAY_MICROS * DAY_MICROS, WHISPER_COUNT if whispers else 1
    return {
        memory
        for memory, used, _, during, n in _read_use_rows(access, ids)
        if start <= used < start + DAY_MICROS and during == session and n >= least
    }


def uses(access: GraphAccess, ids: Sequence[str]) -> dict[str, list[MemoryUse]]:
    """Return the uses of memories, each session and day once, oldest first."""
    rows = sorted(_read_use_rows(access, ids), key=itemgetter(0, 1, 2))
    return {
        memory: select_counting_uses(MemoryUse(from_micros(row[1]), *row[3:]) for row in its)
        for memory, its in groupby(rows, key=itemgetter(0))
    }


def used_together(
    access: GraphAccess, pairs: Sequence[tuple[str, str]], since: Sequence[datetime]
) -> set[tuple[str, str]]:
    """Return the pairs that were used in one session."""
    during: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for memory, at, _, session, n in _read_use_rows(
        access, {each for pair in pairs for each in pair}
    ):
        if session is not None and n != WHISPER_COUNT:
            during[memory].append((at, session))
    return {
        pair
        for pair, moment in zip(pairs, since, strict=True)
        if not _sessions_since(during[pair[0]], moment).isdisjoint(
            _sessions_since(during[pair[1]], moment)
        )
    }


def _sessions_since(used: Sequence[tuple[int, str]], since: datetime) -> set[str]:
    return {session for at, session in used if at >= to_micros(since)}
