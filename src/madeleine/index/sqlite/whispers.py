"""What was whispered and what was not, for a month: the table that follows from nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

import apsw

from madeleine.index.common.events import LATEST_MICROS
from madeleine.index.common.times import from_micros, to_micros
from madeleine.index.log import WhisperEntry
from madeleine.index.sqlite.packed_json import pack_json, unpack_text

_ENTRY_COLUMNS = "id, at, session, space, body"


def write_entry(connection: apsw.Connection, entry: WhisperEntry, keep_after: datetime) -> None:
    """Write an entry and drop what is too old."""
    connection.execute("DELETE FROM whisper_log WHERE at < ?", (to_micros(keep_after),))
    row = (entry.id, to_micros(entry.at), entry.session, entry.space, pack_json(entry.body))
    connection.execute("INSERT OR REPLACE INTO whisper_log VALUES (?, ?, ?, ?, ?)", row)


def drop_entries(connection: apsw.Connection, naming: Sequence[str]) -> None:
    """Drop the entries that name any of these memories."""
    rows = connection.execute("SELECT id, body FROM whisper_log")
    named = [entry for entry, body in rows if any(each in unpack_text(body) for each in naming)]
    connection.executemany("DELETE FROM whisper_log WHERE id = ?", [(each,) for each in named])


def read_newest(
    connection: apsw.Connection,
    limit: int,
    session: str | None = None,
    after: WhisperEntry | None = None,
    naming: str | None = None,
) -> list[WhisperEntry]:
    """Return entries newest first, those of one moment by their ids, from where `after` ends."""
    last = to_micros(after.at) if after else LATEST_MICROS
    sql = f"""SELECT {_ENTRY_COLUMNS} FROM whisper_log WHERE (?1 IS NULL OR session = ?1)
              AND at <= ?2 AND (at < ?2 OR id > ?3) ORDER BY at DESC, id LIMIT ?4"""
    wanted = max(limit, 0)
    bindings = (session, last, after.id if after else "", wanted if naming is None else -1)
    rows = (
        row
        for row in connection.execute(sql, bindings)
        if naming is None or naming in unpack_text(row[-1])
    )
    return list(_read_entries(islice(rows, wanted)))


def read_entry(connection: apsw.Connection, whisper_id: str) -> WhisperEntry | None:
    rows = connection.execute(
        f"SELECT {_ENTRY_COLUMNS} FROM whisper_log WHERE id = ?", (whisper_id,)
    )
    return next(_read_entries(rows), None)


def _read_entries(rows: Iterable[tuple[Any, ...]]) -> Iterator[WhisperEntry]:
    for whisper_id, at, session, space, body in rows:
        yield WhisperEntry(
            whisper_id, from_micros(at), session, space, json.loads(unpack_text(body))
        )
