"""What was whispered and what was not, for a month: the table that follows from nothing."""

from __future__ import annotations

import json
from datetime import datetime

import apsw

from madeleine.index.common.events import LATEST_MICROS, read_whisper_entries
from madeleine.index.common.times import to_micros
from madeleine.index.log import WhisperEntry

_ENTRY_COLUMNS = "id, at, session, space, body"


def write_entry(connection: apsw.Connection, entry: WhisperEntry, keep_after: datetime) -> None:
    """Write an entry and drop what is too old."""
    connection.execute("DELETE FROM whisper_log WHERE at < ?", (to_micros(keep_after),))
    body = json.dumps(entry.body, ensure_ascii=False)
    row = (entry.id, to_micros(entry.at), entry.session, entry.space, body)
    connection.execute("INSERT OR REPLACE INTO whisper_log VALUES (?, ?, ?, ?, ?)", row)


def read_newest(
    connection: apsw.Connection,
    limit: int,
    session: str | None = None,
    after: WhisperEntry | None = None,
) -> list[WhisperEntry]:
    """Return entries newest first, those of one moment by their ids, from where `after` ends."""
    last = to_micros(after.at) if after else LATEST_MICROS
    sql = f"""SELECT {_ENTRY_COLUMNS} FROM whisper_log WHERE (?1 IS NULL OR session = ?1)
              AND at <= ?3 AND (at < ?3 OR id > ?4) ORDER BY at DESC, id LIMIT ?2"""
    bindings = (session, max(limit, 0), last, after.id if after else "")
    return list(read_whisper_entries(connection.execute(sql, bindings)))


def read_entry(connection: apsw.Connection, whisper_id: str) -> WhisperEntry | None:
    rows = connection.execute(
        f"SELECT {_ENTRY_COLUMNS} FROM whisper_log WHERE id = ?", (whisper_id,)
    )
    return next(read_whisper_entries(rows), None)
