"""Sums that every question needs: how many memories, how long, and who speaks in them.

Counting rows takes longer the more there are, so the sums are kept and changed with each write.
"""

from __future__ import annotations

from collections.abc import Sequence

from madeleine.database.transactions import TenantAccess
from madeleine.index.common.matrix import speakers_by_word
from madeleine.index.postgres.writing import PostgresWrite
from madeleine.index.search import CollectionStatistics

_ADD_SUMS = """
    INSERT INTO tallies
    SELECT :tenant, %s * count(*), %s * coalesce(sum(words), 0), %s * coalesce(sum(length), 0)
    FROM nodes WHERE tenant = :tenant AND node = ANY(%s::bigint[])
    ON CONFLICT (tenant) DO UPDATE SET memories = tallies.memories + excluded.memories,
        words = tallies.words + excluded.words, length = tallies.length + excluded.length
"""
_ADD_SAID = """
    UPDATE speakers s SET said = s.said + %s * p.times FROM
        (SELECT speaker, count(*) AS times FROM passages WHERE tenant = :tenant
         AND node = ANY(%s::bigint[]) AND part = 0 AND speaker IS NOT NULL GROUP BY speaker) p
    WHERE s.tenant = :tenant AND s.speaker = p.speaker
"""

_SPEAKERS_ARRAY = (
    "ARRAY(SELECT {} FROM speakers WHERE tenant = :tenant AND said > 0 ORDER BY speaker)"
)
_SELECT_EXTENT = f"""
    SELECT memories, words, {_SPEAKERS_ARRAY.format("name")}, {_SPEAKERS_ARRAY.format("speaker")}
    FROM tallies WHERE tenant = :tenant
"""
_SELECT_SPEAKER = """(SELECT {}(p.speaker) FROM passages p WHERE p.tenant = :tenant AND p.part = 0
               AND p.speaker IS NOT NULL AND p.session = s.session)"""
_UPDATE_TALKS = f"""
    UPDATE sessions s SET talk = NOT talk WHERE s.tenant = :tenant
    AND s.session = ANY(%s::bigint[])
    AND s.talk <> coalesce({_SELECT_SPEAKER.format("min")} < {_SELECT_SPEAKER.format("max")}, FALSE)
"""


def adjust_sums(writing: PostgresWrite, nodes: Sequence[int], sign: int) -> None:
    """Add these memories to the sums (1), or take them off (-1), as they are now."""
    if not nodes:
        return
    access, listed = writing.access, list(nodes)
    access.run(_ADD_SUMS, sign, sign, sign, listed)
    sql = """SELECT DISTINCT session, speaker IS NOT NULL FROM passages WHERE tenant = :tenant
             AND node = ANY(%s::bigint[]) AND part = 0"""
    found = access.rows(sql, listed)
    writing.sessions.update(session for session, _ in found if session is not None)
    if any(speaks for _, speaks in found):
        access.run(_ADD_SAID, sign, listed)


def update_talks(writing: PostgresWrite) -> None:
    """Note in which of the conversations that changed at least two speak."""
    if writing.sessions:
        writing.access.run(_UPDATE_TALKS, sorted(writing.sessions))


def memory_count(access: TenantAccess) -> int:
    """Return how many there are."""
    row = access.row("SELECT memories FROM tallies WHERE tenant = :tenant")
    return 0 if row is None else int(row[0])


def extent(access: TenantAccess) -> CollectionStatistics:
    """Return how much there is to be found."""
    memories, words, names, speakers = access.row(_SELECT_EXTENT) or (0, 0, [], [])
    whole, short = speakers_by_word(zip(names, map(int, speakers), strict=True))
    return CollectionStatistics(memories, words / max(memories, 1), whole, short)
