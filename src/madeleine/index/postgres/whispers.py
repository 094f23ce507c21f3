"""What was whispered and what was not, for a month: the table that follows from nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from madeleine.database.transactions import TenantAccess
from madeleine.index.common.events import LATEST_MICROS, read_whisper_entries
from madeleine.index.common.times import to_micros
from madeleine.index.log import WhisperEntry

_ENTRY_COLUMNS = ("id", "at", "session", "space", "body")
_SELECT_ENTRIES = f"SELECT {', '.join(_ENTRY_COLUMNS)} FROM whisper_log WHERE truth = :truth"
_UPSERT_ENTRY = """
    INSERT INTO whisper_log (truth, id, at, session, space, body)
    VALUES (:truth, %s, %s, %s, %s, %s) ON CONFLICT (truth, id) DO UPDATE
    SET at = excluded.at, session = excluded.session, space = excluded.space, body = excluded.body
"""
_DROP_NAMING = "DELETE FROM whisper_log WHERE truth = :truth AND position(%s in body) > 0"


def write_entry(access: TenantAccess, entry: WhisperEntry, keep_after: datetime) -> None:
    """Write an entry and drop what is too old."""
    access.run("DELETE FROM whisper_log WHERE truth = :truth AND at < %s", to_micros(keep_after))
    body = json.dumps(entry.body, ensure_ascii=False)
    row = (entry.id, to_micros(entry.at), entry.session, entry.space, body)
    access.run(_UPSERT_ENTRY, *row)


def drop_entries(access: TenantAccess, naming: Sequence[str]) -> None:
    """Drop the entries that name any of these memories."""
    for each in naming:
        access.run(_DROP_NAMING, each)


def read_newest(
    access: TenantAccess,
    limit: int,
    session: str | None = None,
    after: WhisperEntry | None = None,
    naming: str | None = None,
) -> list[WhisperEntry]:
    """Return entries newest first, those of one moment by their ids, from where `after` ends."""
    last = to_micros(after.at) if after else LATEST_MICROS
    sql = f"""{_SELECT_ENTRIES} AND (%s::text IS NULL OR session = %s) AND at <= %s
              AND (at < %s OR id > %s) AND (%s::text IS NULL OR position(%s in body) > 0)
              ORDER BY at DESC, id LIMIT %s"""
    begins = after.id if after else ""
    bindings = (session, session, last, last, begins, naming, naming or "", max(limit, 0))
    return list(read_whisper_entries(iter(access.rows(sql, *bindings))))


def read_entry(access: TenantAccess, whisper_id: str) -> WhisperEntry | None:
    return next(
        read_whisper_entries(iter(access.rows(f"{_SELECT_ENTRIES} AND id = %s", whisper_id))), None
    )
