"""What was whispered and what was not, for a month. It follows from nothing, so it stands in a
graph of its own, which neither a rebuild nor clearing the index touches."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from madeleine.index.common.events import read_whisper_entries
from madeleine.index.common.times import to_micros
from madeleine.index.log import WhisperEntry
from madeleine_falkordb.connection import GraphAccess
from madeleine_falkordb.encoding import hash_key
from madeleine_falkordb.filters import CypherCondition

_ENTRY_COLUMNS = "w.id, w.at, w.session, w.space, w.body"
_MERGE_ENTRY = """OPTIONAL MATCH (old:Whisper) WHERE old.at < $keep_after DELETE old
    WITH count(old) AS gone MERGE (w:Whisper {key: $row.key}) SET w = $row RETURN gone"""


def write_entry(access: GraphAccess, entry: WhisperEntry, keep_after: datetime) -> None:
    """Write an entry and drop what is too old."""
    row = {
        "key": hash_key(entry.id),
        "id": entry.id,
        "at": to_micros(entry.at),
        "session": entry.session,
        "space": entry.space,
        "body": json.dumps(entry.body, ensure_ascii=False),
    }
    access.run(_MERGE_ENTRY, {"row": row, "keep_after": to_micros(keep_after)})


def drop_entries(access: GraphAccess, naming: Sequence[str]) -> None:
    """Drop the entries that name any of these memories."""
    for each in naming:
        access.run("MATCH (w:Whisper) WHERE w.body CONTAINS $naming DELETE w", {"naming": each})


def read_newest(
    access: GraphAccess,
    limit: int,
    session: str | None = None,
    after: WhisperEntry | None = None,
    naming: str | None = None,
) -> list[WhisperEntry]:
    """Return entries newest first, those of one moment by their ids, from where `after` ends."""
    wanted = CypherCondition()
    if session is not None:
        wanted.add("w.session = $session", session=session)
    if after is not None:
        later = "w.at <= $last AND (w.at < $last OR w.id > $id)"
        wanted.add(later, last=to_micros(after.at), id=after.id)
    if naming is not None:
        wanted.add("w.body CONTAINS $naming", naming=naming)
    question = f"""MATCH (w:Whisper) WHERE {wanted.cypher}
                   WITH w ORDER BY w.at DESC, w.id LIMIT $limit"""
    rows = access.rows(question, _ENTRY_COLUMNS, limit=max(limit, 0), **wanted.parameters)
    return list(read_whisper_entries(tuple(row) for row in rows))


def read_entry(access: GraphAccess, whisper_id: str) -> WhisperEntry | None:
    rows = access.rows("MATCH (w:Whisper {key: $key})", _ENTRY_COLUMNS, key=hash_key(whisper_id))
    return next(read_whisper_entries(tuple(row) for row in rows), None)
