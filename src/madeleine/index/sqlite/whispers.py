"""What was whispered and what was not, for a month: the table that follows from nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

import apsw

from madeleine.index.common.events import LATEST, entries
from madeleine.index.common.times import micros
from madeleine.index.port import WhisperEntry

_COLUMNS = "id, at, session, space, body"


def log(connection: apsw.Connection, entry: WhisperEntry, keep_after: datetime) -> None:
    """Write an entry and drop what is too old."""
    connection.execute("DELETE FROM whisper_log WHERE at < ?", (micros(keep_after),))
    body = json.dumps(entry.body, ensure_ascii=False)
    row = (entry.id, micros(entry.at), entry.session, entry.space, body)
    connection.execute("INSERT OR REPLACE INTO whisper_log VALUES (?, ?, ?, ?, ?)", row)


def newest(
    connection: apsw.Connection, limit: int, session: str | None, after: WhisperEntry | None
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


def feedback_ids(connection: apsw.Connection, memories: Sequence[str], limit: int) -> list[str]:
    """Return the events that say how useful these memories were, newest first."""
    sql = """SELECT DISTINCT a.id, a.at FROM audit_memories m JOIN audit_log a USING (number)
             WHERE m.memory IN (SELECT value FROM json_each(?)) AND a.kind = 'feedback'
             ORDER BY a.at DESC, a.id LIMIT ?"""
    rows = connection.execute(sql, (json.dumps(list(memories)), limit))
    return [event for event, _ in rows]
