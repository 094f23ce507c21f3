"""Sums that every question needs: how many memories, how long, and who speaks in them.

Counting rows takes longer the more there are, so the sums are kept and changed with each write.
"""

from __future__ import annotations

from collections.abc import Sequence

from madeleine.database.access import Access
from madeleine.index.common.matrix import bearers
from madeleine.index.postgres.writing import Writing
from madeleine.index.search import Extent

_SUMS = """
    INSERT INTO tallies
    SELECT :tenant, %s * count(*), %s * coalesce(sum(words), 0), %s * coalesce(sum(length), 0)
    FROM nodes WHERE tenant = :tenant AND node = ANY(%s::bigint[])
    ON CONFLICT (tenant) DO UPDATE SET memories = tallies.memories + excluded.memories,
        words = tallies.words + excluded.words, length = tallies.length + excluded.length
"""
_SAID = """
    UPDATE speakers s SET said = s.said + %s * p.times FROM
        (SELECT speaker, count(*) AS times FROM passages WHERE tenant = :tenant
         AND node = ANY(%s::bigint[]) AND part = 0 AND speaker IS NOT NULL GROUP BY speaker) p
    WHERE s.tenant = :tenant AND s.speaker = p.speaker
"""

_WHO = "ARRAY(SELECT {} FROM speakers WHERE tenant = :tenant AND said > 0 ORDER BY speaker)"
_EXTENT = f"""
    SELECT memories, words, {_WHO.format("name")}, {_WHO.format("speaker")}
    FROM tallies WHERE tenant = :tenant
"""
_SPEAKER = """(SELECT {}(p.speaker) FROM passages p WHERE p.tenant = :tenant AND p.part = 0
               AND p.speaker IS NOT NULL AND p.session = s.session)"""
_TALKS = f"""
    UPDATE sessions s SET talk = NOT talk WHERE s.tenant = :tenant
    AND s.session = ANY(%s::bigint[])
    AND s.talk <> coalesce({_SPEAKER.format("min")} < {_SPEAKER.format("max")}, FALSE)
"""


def count(writing: Writing, nodes: Sequence[int], sign: int) -> None:
    """Add these memories to the sums (1), or take them off (-1), as they are now."""
    if not nodes:
        return
    access, listed = writing.access, list(nodes)
    access.run(_SUMS, sign, sign, sign, listed)
    sql = """SELECT DISTINCT session, speaker IS NOT NULL FROM passages WHERE tenant = :tenant
             AND node = ANY(%s::bigint[]) AND part = 0"""
    found = access.rows(sql, listed)
    writing.sessions.update(session for session, _ in found if session is not None)
    if any(speaks for _, speaks in found):
        access.run(_SAID, sign, listed)


def settle(writing: Writing) -> None:
    """Note in which of the conversations that changed at least two speak."""
    if writing.sessions:
        writing.access.run(_TALKS, sorted(writing.sessions))


def memories(access: Access) -> int:
    """Return how many there are."""
    row = access.row("SELECT memories FROM tallies WHERE tenant = :tenant")
    return 0 if row is None else int(row[0])


def extent(access: Access) -> Extent:
    """Return how much there is to be found."""
    memories, words, names, speakers = access.row(_EXTENT) or (0, 0, [], [])
    whole, short = bearers(zip(names, map(int, speakers), strict=True))
    return Extent(memories, words / max(memories, 1), whole, short)
