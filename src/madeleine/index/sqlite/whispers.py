"""What was whispered and what was not, for a month: the table that follows from nothing."""

from __future__ import annotations

import json
from datetime import datetime

import apsw

from madeleine.index.common.events import LATEST, entries
from madeleine.index.common.times import micros
from madeleine.index.log import WhisperEntry

_COLUMNS = "id, at, session, space, body"


def log(connection: apsw.Connection, entry: WhisperEntry, keep_after: datetime) -> None:
    """Write an entry and drop what is too old."""
    connection.execute("DELETE FROM whisper_log WHERE at < ?", (micros(keep_after),))
    body = json.dumps(entry.body, ensure_ascii=False)
    row = (entry.id, micros(entry.at), entry.session, entry.space, body)
    connection.execute("INSERT OR REPLACE INTO whisper_log VALUES (?, ?, ?, ?, ?)", row)


def newest(
    connection: apsw.Connection,
    limit: int,
    session: str | None = None,
    after: WhisperEntry | None = None,
) -> list[WhisperEntry]:
    """Return entries newest first, those of one moment by their ids, from where `after` ends."""
    last = micros(after.at) if after else LATEST
    sql = f"""SELECT {_COLUMNS} FROM whisper_log WHERE (?1 IS NULL OR session = ?1)
              AND at <= ?3 AND (at < ?3 OR id > ?4) ORDER BY at DESC, id LIMIT ?2"""
    bindings = (session, max(limit, 0), last, after.id if after else "")
    return list(entries(connection.execute(sql, bindings)))


def get(connection: apsw.Connection, whisper_id: str) -> WhisperEntry | None:
    rows = connection.execute(f"SELECT {_COLUMNS} FROM whisper_log WHERE id = ?", (whisper_id,))
    return next(entries(rows), None)
