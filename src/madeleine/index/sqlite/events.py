"""The journal's events, and all that follows from them.

Each event is kept once, by its id, and has effects on other tables by its kind. An effect
never depends on the order of arrival: of two values for one thing, the one with the later
(time, event id) stays. An event whose body lacks what its kind needs is kept and has no
effect; a single odd line must not stop the others.

`scored` events are kept without their scores, and `judged` ones without what was looked at:
both are as long as the vault is large, and stand with the memories. Uses and scores are no part
of a memory's history: its counters sum them up.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

import apsw

from madeleine.index.common.events import (
    MAX_FEEDBACK,
    MIN_PREFIX_CHARS,
    build_effects,
    build_log_row,
    proposal_from_row,
    select_naming,
)
from madeleine.index.common.rows import ColumnValue
from madeleine.index.common.times import from_micros
from madeleine.index.log import ParseProblem
from madeleine.model.event import Event, EventKind, JournalCursor
from madeleine.model.proposal import Proposal, ProposalStatus


def _upsert_newest_sql(
    table: str, key: str, value: str, at: str = "at", event: str = "event"
) -> str:
    """Return SQL that keeps of several values for one key the one with the latest event."""
    return f"""
        INSERT INTO {table} ({key}, {value}, {at}, {event}) VALUES (?, ?, ?, ?)
        ON CONFLICT ({key}) DO UPDATE
        SET {value} = excluded.{value}, {at} = excluded.{at}, {event} = excluded.{event}
        WHERE {at} IS NULL OR (excluded.{at}, excluded.{event}) > ({at}, {event})
    """


def _upsert_scores_sql(name: str) -> str:
    """Return the same for the scores of many memories in one go: a JSON object of them, then
    time and event. One by one they take longer, and whoever asks something waits meanwhile."""
    return f"""
        INSERT INTO scores (memory, {name}, {name}_at, {name}_event)
        SELECT key, value, ?2, ?3 FROM json_each(?1) WHERE true
        ON CONFLICT (memory) DO UPDATE
        SET {name} = excluded.{name}, {name}_at = excluded.{name}_at,
            {name}_event = excluded.{name}_event
        WHERE {name}_at IS NULL
           OR (excluded.{name}_at, excluded.{name}_event) > ({name}_at, {name}_event)
    """


_INSERT_BY_EFFECT = {
    "uses": "INSERT INTO uses VALUES (?, ?, ?, ?, ?)",
    "adopted": "INSERT OR IGNORE INTO adopted VALUES (?, ?, ?, ?)",
    "mentions": "INSERT OR IGNORE INTO audit_memories VALUES (?, ?, ?)",
    "importance": _upsert_scores_sql("importance"),
    "relevance": _upsert_scores_sql("relevance"),
    "outcomes": _upsert_newest_sql("outcomes", "change", "outcome"),
    "state": _upsert_newest_sql("state", "key", "value"),
    "decided": _upsert_newest_sql("proposals", "id", "status", "resolved"),
    "seen": """
        INSERT INTO seen (job, judge, memory, digest, at, event) VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT (job, judge, memory) DO UPDATE
        SET digest = excluded.digest, at = excluded.at, event = excluded.event
        WHERE (excluded.at, excluded.event) > (at, event)
    """,
    "verdicts": """
        INSERT INTO verdicts
            (older, newer, judge, older_digest, newer_digest, verdict, at, event)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (older, newer, judge) DO UPDATE
        SET older_digest = excluded.older_digest, newer_digest = excluded.newer_digest,
            verdict = excluded.verdict, at = excluded.at, event = excluded.event
        WHERE (excluded.at, excluded.event) > (at, event)
    """,
    "proposed": """
        INSERT INTO proposals
            (id, type, source_nodes, proposed_action, reason, created, action, proposed_event)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (id) DO UPDATE
        SET type = excluded.type, source_nodes = excluded.source_nodes, reason = excluded.reason,
            proposed_action = excluded.proposed_action, created = excluded.created,
            action = excluded.action, proposed_event = excluded.proposed_event
        WHERE type IS NULL
           OR (excluded.created, excluded.proposed_event) > (created, proposed_event)
    """,
}


# --- writing ------------------------------------------------------------------------------


def apply_events(connection: apsw.Connection, events: Sequence[Event]) -> list[str]:
    """Keep the events that are new; return the memories whose counters they touch."""
    fresh = _select_unknown(connection, events) if events else []
    if not fresh:
        return []
    start = connection.execute("SELECT ifnull(max(number), 0) + 1 FROM audit_log").get
    numbered = list(enumerate(fresh, start))
    connection.executemany(
        "INSERT INTO audit_log VALUES (?, ?, ?, ?, ?, ?, ?, ?)", map(build_log_row, numbered)
    )
    effects = build_effects(numbered)
    for name, rows in effects.items():
        connection.executemany(_INSERT_BY_EFFECT[name], rows)
    return [str(row[0]) for name in ("uses", "adopted") for row in effects.get(name, ())]


def note_positions(connection: apsw.Connection, found: Mapping[str, JournalCursor]) -> None:
    """Note how far journal files have been read."""
    rows = ((name, each.offset, each.check) for name, each in found.items())
    connection.executemany("INSERT OR REPLACE INTO positions VALUES (?, ?, ?)", rows)


def note_torn(
    connection: apsw.Connection,
    torn: Mapping[str, Sequence[tuple[int, str]]],
    read_anew: Sequence[str],
) -> None:
    """Note which journal lines were passed over; a file read anew begins without any."""
    connection.executemany("DELETE FROM torn WHERE name = ?", ((name,) for name in read_anew))
    rows = ((name, line, problem) for name, lines in torn.items() for line, problem in lines)
    connection.executemany("INSERT OR REPLACE INTO torn VALUES (?, ?, ?)", rows)


def _select_unknown(connection: apsw.Connection, events: Sequence[Event]) -> list[Event]:
    """Return the events not seen before, each id once."""
    first: dict[str, Event] = {}
    for event in events:
        first.setdefault(event.id, event)
    sql = "SELECT id FROM audit_log WHERE id IN (SELECT value FROM json_each(?))"
    for (event_id,) in connection.execute(sql, (json.dumps(list(first)),)):
        del first[event_id]
    return list(first.values())


# --- reading ------------------------------------------------------------------------------

_SELECT_EVENT = "SELECT l.id, l.at, l.kind, l.device, l.body FROM audit_log l"
_ORDER_NEWEST_FIRST = "ORDER BY l.at DESC, l.id DESC"


def torn_lines(connection: apsw.Connection) -> list[ParseProblem]:
    """Return the journal lines that were passed over."""
    rows = connection.execute("SELECT name, line, problem FROM torn ORDER BY name, line")
    return [ParseProblem(*row) for row in rows]


def positions(connection: apsw.Connection) -> dict[str, JournalCursor]:
    rows = connection.execute('SELECT name, offset, "check" FROM positions')
    return {name: JournalCursor(offset, check) for name, offset, check in rows}


def history(connection: apsw.Connection, memory_id: str, limit: int = 100) -> list[Event]:
    """Return what happened to a memory, newest first."""
    sql = f"""{_SELECT_EVENT} JOIN audit_memories m ON m.number = l.number
              WHERE m.memory = ? {_ORDER_NEWEST_FIRST} LIMIT ?"""
    return list(_read_events(connection, sql, memory_id, max(limit, 0)))


def event(connection: apsw.Connection, event_id: str) -> Event | None:
    return next(_read_events(connection, f"{_SELECT_EVENT} WHERE l.id = ?", event_id), None)


def changes(connection: apsw.Connection, change_or_run: str) -> list[Event]:
    """Return the events of a change or a run, named by its id or the beginning of it."""
    wanted = change_or_run
    last = wanted + "\U0010ffff" if len(wanted) >= MIN_PREFIX_CHARS else wanted
    sql = f"""{_SELECT_EVENT} WHERE (l.change >= ?1 AND l.change <= ?2)
                          OR (l.run >= ?1 AND l.run <= ?2) {_ORDER_NEWEST_FIRST}"""
    return list(_read_events(connection, sql, wanted, last))


def outcome(connection: apsw.Connection, change_id: str) -> str | None:
    sql = "SELECT outcome FROM outcomes WHERE change = ?"
    row = connection.execute(sql, (change_id,)).fetchone()
    return None if row is None else str(row[0])


def in_force(connection: apsw.Connection, runs: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return how many changes each run made, and how many of them still hold."""
    sql = """SELECT l.run, count(DISTINCT l.change),
                    count(DISTINCT iif(ifnull(o.outcome, 'done') = 'done', l.change, NULL))
             FROM audit_log l LEFT JOIN outcomes o ON o.change = l.change
             WHERE l.run IN (SELECT value FROM json_each(?)) GROUP BY l.run"""
    rows = connection.execute(sql, (json.dumps(list(runs)),))
    return {run: (made, left) for run, made, left in rows}


def unsettled_changes(connection: apsw.Connection) -> list[Event]:
    """Return changes that were begun and have no outcome, oldest first."""
    sql = f"""{_SELECT_EVENT} WHERE l.change IS NOT NULL AND l.kind = 'changed'
              AND l.change NOT IN (SELECT change FROM outcomes) ORDER BY l.at, l.id"""
    return list(_read_events(connection, sql))


def recent_events(
    connection: apsw.Connection, kinds: Sequence[str], limit: int, jobs: Sequence[str] = ()
) -> list[Event]:
    """Return the newest events of these kinds, or of any. One short walk for each kind; those
    about some jobs may have to be looked for among those about others."""
    about = "AND l.body ->> 'job' IN (SELECT value FROM json_each(?))" if jobs else ""
    sql = f"{_SELECT_EVENT} WHERE l.kind = ? {about} {_ORDER_NEWEST_FIRST} LIMIT ?"
    named = [json.dumps(list(jobs))] if jobs else []
    found = [
        each
        for kind in dict.fromkeys(kinds or [kind.value for kind in EventKind])
        for each in _read_events(connection, sql, kind, *named, max(limit, 0))
    ]
    return sorted(found, key=lambda each: (each.at, each.id), reverse=True)[: max(limit, 0)]


def proposals(connection: apsw.Connection, status: ProposalStatus | None = None) -> list[Proposal]:
    """Return proposals newest first; a decision whose proposal is not known yet waits."""
    sql = """SELECT id, type, source_nodes, proposed_action, created,
                    ifnull(status, 'pending') AS stands, reason, resolved, action
             FROM proposals WHERE type IS NOT NULL AND (?1 IS NULL OR stands = ?1)
             ORDER BY created DESC, id DESC"""
    wanted = None if status is None else status.value
    return [proposal_from_row(*row) for row in connection.execute(sql, (wanted,))]


def questions_about(connection: apsw.Connection, ids: Sequence[str]) -> list[Proposal]:
    """Return the proposals that wait and name one of these memories, newest first."""
    sql = """SELECT id, type, source_nodes, proposed_action, created, 'pending', reason, resolved,
                    action
             FROM proposals WHERE id IN
                 (SELECT a.body ->> 'proposal' FROM audit_memories m JOIN audit_log a USING (number)
                  WHERE m.memory IN (SELECT value FROM json_each(?)) AND a.kind = 'proposed')
             AND type IS NOT NULL AND ifnull(status, 'pending') = 'pending'
             ORDER BY created DESC, id DESC"""
    rows = connection.execute(sql, (json.dumps(list(ids)),))
    return select_naming([proposal_from_row(*row) for row in rows], ids)


def state(connection: apsw.Connection, key: str) -> object | None:
    row = connection.execute("SELECT value FROM state WHERE key = ?", (key,)).fetchone()
    return None if row is None else json.loads(row[0])


def feedback(connection: apsw.Connection, ids: Sequence[str]) -> list[Event]:
    """Return what was said about how useful memories were, newest first."""
    sql = """SELECT DISTINCT a.id, a.at FROM audit_memories m JOIN audit_log a USING (number)
             WHERE m.memory IN (SELECT value FROM json_each(?)) AND a.kind = 'feedback'
             ORDER BY a.at DESC, a.id LIMIT ?"""
    known = connection.execute(sql, (json.dumps(list(ids)), MAX_FEEDBACK)).fetchall()
    found = (event(connection, str(each)) for each, _ in known)
    return [each for each in found if each is not None]


def _read_events(connection: apsw.Connection, sql: str, *bindings: ColumnValue) -> Iterator[Event]:
    for event_id, at, kind, device, body in connection.execute(sql, bindings):
        yield Event(event_id, from_micros(at), EventKind(kind), device, json.loads(body))
