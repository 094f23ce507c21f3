"""What was whispered and what was not, for a month. It follows from nothing, so it stands in a
graph of its own, which neither a rebuild nor clearing the index touches."""

from __future__ import annotations

import json
from datetime import datetime

from madeleine.index.common.events import entries
from madeleine.index.common.times import micros
from madeleine.index.log import WhisperEntry
from madeleine_falkordb.adapting import key_of
from madeleine_falkordb.connection import Access
from madeleine_falkordb.filters import Condition

_COLUMNS = "w.id, w.at, w.session, w.space, w.body"
_LOG = """OPTIONAL MATCH (old:Whisper) WHERE old.at < $keep_after DELETE old
    WITH count(old) AS gone MERGE (w:Whisper {key: $row.key}) SET w = $row RETURN gone"""


def log(access: Access, entry: WhisperEntry, keep_after: datetime) -> None:
    """Write an entry and drop what is too old."""
    row = {
        "key": key_of(entry.id),
        "id": entry.id,
        "at": micros(entry.at),
        "session": entry.session,
        "space": entry.space,
        "body": json.dumps(entry.body, ensure_ascii=False),
    }
    access.run(_LOG, {"row": row, "keep_after": micros(keep_after)})


def newest(
    access: Access,
    limit: int,
    session: str | None = None,
    after: WhisperEntry | None = None,
) -> list[WhisperEntry]:
    """Return entries newest first, those of one moment by their ids, from where `after` ends."""
    wanted = Condition()
    if session is not None:
        wanted.add("w.session = $session", session=session)
    if after is not None:
        later = "w.at <= $last AND (w.at < $last OR w.id > $id)"
        wanted.add(later, last=micros(after.at), id=after.id)
    question = f"""MATCH (w:Whisper) WHERE {wanted.cypher}
                   WITH w ORDER BY w.at DESC, w.id LIMIT $limit"""
    rows = access.rows(question, _COLUMNS, limit=max(limit, 0), **wanted.parameters)
    return list(entries(tuple(row) for row in rows))


def get(access: Access, whisper_id: str) -> WhisperEntry | None:
    rows = access.rows("MATCH (w:Whisper {key: $key})", _COLUMNS, key=key_of(whisper_id))
    return next(entries(tuple(row) for row in rows), None)
