"""The journal's events, and all that follows from them.

Which rows follow from an event is the same for every engine and stands in `common/events.py`;
here is how PostgreSQL keeps them. An effect never depends on the order of arrival: of two values
for one thing, the one with the later (time, event id) stays.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from madeleine.database.connection import DatabaseRow
from madeleine.database.transactions import TenantAccess
from madeleine.index.common.events import (
    MAX_FEEDBACK,
    MIN_PREFIX_CHARS,
    build_effects,
    build_log_row,
    proposal_from_row,
    select_naming,
)
from madeleine.index.common.times import from_micros
from madeleine.index.log import ParseProblem
from madeleine.index.postgres.nodes import upsert_sql
from madeleine.model.event import Event, EventKind, JournalCursor
from madeleine.model.proposal import Proposal, ProposalStatus


def _upsert_newest_sql(
    table: str, keys: str, values: str, at: str = "at", event: str = "event"
) -> str:
    """Return SQL that keeps of several values for one key the one with the latest event."""
    names = [*values.split(", "), at, event]
    marks = ", ".join(["%s"] * (len(keys.split(", ")) + len(names)))
    new = ", ".join(f"{each} = excluded.{each}" for each in names)
    return f"""
        INSERT INTO {table} (tenant, {keys}, {", ".join(names)}) VALUES (:tenant, {marks})
        ON CONFLICT (tenant, {keys}) DO UPDATE SET {new}
        WHERE {table}.{at} IS NULL
           OR (excluded.{at}, excluded.{event}) > ({table}.{at}, {table}.{event})
    """


_INSERT_BY_EFFECT = {
    "uses": "INSERT INTO uses VALUES (:tenant, %s, %s, %s, %s, %s)",
    "adopted": "INSERT INTO adopted VALUES (:tenant, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
    "mentions": "INSERT INTO audit_memories VALUES (:tenant, %s, %s, %s) ON CONFLICT DO NOTHING",
    "outcomes": _upsert_newest_sql("outcomes", "change", "outcome"),
    "state": _upsert_newest_sql("state", "key", "value"),
    "decided": _upsert_newest_sql("proposals", "id", "status", "resolved"),
    "seen": _upsert_newest_sql("seen", "job, judge, memory", "digest"),
    "verdicts": _upsert_newest_sql(
        "verdicts", "older, newer, judge", "older_digest, newer_digest, verdict"
    ),
    "proposed": """
        INSERT INTO proposals (tenant, id, type, source_nodes, proposed_action, reason, created,
                               action, proposed_event)
        VALUES (:tenant, %s, %s, %s, %s, %s, %s, %s, %s)
        ON CONFLICT (tenant, id) DO UPDATE
        SET type = excluded.type, source_nodes = excluded.source_nodes, reason = excluded.reason,
            proposed_action = excluded.proposed_action, created = excluded.created,
            action = excluded.action, proposed_event = excluded.proposed_event
        WHERE proposals.type IS NULL OR (excluded.created, excluded.proposed_event)
            > (proposals.created, proposals.proposed_event)
    """,
}


def _upsert_scores_sql(name: str) -> str:
    """Return the same for the scores of many memories in one go."""
    return f"""
        INSERT INTO scores (tenant, memory, {name}, {name}_at, {name}_event)
        SELECT :tenant, g.memory, g.score, %s, %s
        FROM unnest(%s::text[], %s::double precision[]) AS g (memory, score)
        ON CONFLICT (tenant, memory) DO UPDATE
        SET {name} = excluded.{name}, {name}_at = excluded.{name}_at,
            {name}_event = excluded.{name}_event
        WHERE scores.{name}_at IS NULL OR (excluded.{name}_at, excluded.{name}_event)
            > (scores.{name}_at, scores.{name}_event)
    """


_UPSERT_SCORES_BY_NAME = {name: _upsert_scores_sql(name) for name in ("importance", "relevance")}


# --- writing ------------------------------------------------------------------------------


def apply_events(access: TenantAccess, events: Sequence[Event]) -> list[str]:
    """Keep the events that are new; return the memories whose counters they touch."""
    fresh = _select_unknown(access, events) if events else []
    if not fresh:
        return []
    sql = "SELECT nextval('event_numbers') FROM generate_series(1, %s)"
    numbered = list(zip(access.column(sql, len(fresh)), fresh, strict=True))
    sql = "INSERT INTO audit_log VALUES (:tenant, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
    access.run_many(sql, map(_build_job_log_row, numbered))
    effects = build_effects(numbered)
    for name, rows in effects.items():
        if name in _UPSERT_SCORES_BY_NAME:
            _write_scores(access, _UPSERT_SCORES_BY_NAME[name], rows)
        else:
            access.run_many(_INSERT_BY_EFFECT[name], rows)
    return [str(row[0]) for name in ("uses", "adopted") for row in effects.get(name, ())]


def _build_job_log_row(numbered: tuple[int, Event]) -> tuple[object, ...]:
    """Return an event's row: which job it is about stands in a column, so that the newest of
    one job are found without a look at those of others."""
    *row, body = build_log_row(numbered)
    job = numbered[1].body.get("job")
    return (*row, job if isinstance(job, str) and job.isprintable() else None, body)


def _write_scores(access: TenantAccess, sql: str, rows: Sequence[Sequence[object]]) -> None:
    for scores, at, event in rows:
        given = json.loads(str(scores))
        values = [None if each is None else float(each) for each in given.values()]
        access.run(sql, at, event, list(given), values)


def note_positions(access: TenantAccess, found: Mapping[str, JournalCursor]) -> None:
    """Note how far journal files have been read."""
    rows = ((name, each.offset, each.check) for name, each in found.items())
    access.run_many(upsert_sql("positions", ("name", '"offset"', '"check"')), rows)


def note_torn(
    access: TenantAccess, torn: Mapping[str, Sequence[tuple[int, str]]], read_anew: Sequence[str]
) -> None:
    """Note which journal lines were passed over; a file read anew begins without any."""
    if read_anew:
        sql = "DELETE FROM torn WHERE tenant = :tenant AND name = ANY(%s::text[])"
        access.run(sql, list(read_anew))
    rows = ((name, line, problem) for name, lines in torn.items() for line, problem in lines)
    sql = """INSERT INTO torn VALUES (:tenant, %s, %s, %s)
             ON CONFLICT (tenant, name, line) DO UPDATE SET problem = excluded.problem"""
    access.run_many(sql, rows)


def _select_unknown(access: TenantAccess, events: Sequence[Event]) -> list[Event]:
    """Return the events not seen before, each id once."""
    first: dict[str, Event] = {}
    for event in events:
        first.setdefault(event.id, event)
    sql = "SELECT id FROM audit_log WHERE tenant = :tenant AND id = ANY(%s::text[])"
    for event_id in access.column(sql, list(first)):
        del first[event_id]
    return list(first.values())


# --- reading ------------------------------------------------------------------------------

_SELECT_EVENT = "SELECT l.id, l.at, l.kind, l.device, l.body FROM audit_log l"
_ORDER_NEWEST_FIRST = "ORDER BY l.at DESC, l.id DESC"


def torn_lines(access: TenantAccess) -> list[ParseProblem]:
    """Return the journal lines that were passed over."""
    sql = "SELECT name, line, problem FROM torn WHERE tenant = :tenant ORDER BY name, line"
    return [ParseProblem(*row) for row in access.rows(sql)]


def positions(access: TenantAccess) -> dict[str, JournalCursor]:
    sql = 'SELECT name, "offset", "check" FROM positions WHERE tenant = :tenant'
    return {name: JournalCursor(offset, check) for name, offset, check in access.rows(sql)}


def history(access: TenantAccess, memory_id: str, limit: int = 100) -> list[Event]:
    """Return what happened to a memory, newest first."""
    sql = f"""{_SELECT_EVENT} JOIN audit_memories m ON m.tenant = :tenant AND m.number = l.number
              WHERE l.tenant = :tenant AND m.memory = %s {_ORDER_NEWEST_FIRST} LIMIT %s"""
    return _read_events(access.rows(sql, memory_id, max(limit, 0)))


def read_known_events(access: TenantAccess, event_ids: Sequence[str]) -> dict[str, Event]:
    """Return those of the events that are known."""
    sql = f"{_SELECT_EVENT} WHERE l.tenant = :tenant AND l.id = ANY(%s::text[])"
    return {each.id: each for each in _read_events(access.rows(sql, list(event_ids)))}


def changes(access: TenantAccess, change_or_run: str) -> list[Event]:
    """Return the events of a change or a run, named by its id or the beginning of it."""
    wanted = change_or_run
    last = wanted + "\U0010ffff" if len(wanted) >= MIN_PREFIX_CHARS else wanted
    sql = f"""{_SELECT_EVENT} WHERE l.tenant = :tenant AND ((l.change >= %s AND l.change <= %s)
                          OR (l.run >= %s AND l.run <= %s)) {_ORDER_NEWEST_FIRST}"""
    return _read_events(access.rows(sql, wanted, last, wanted, last))


def outcome(access: TenantAccess, change_id: str) -> str | None:
    sql = "SELECT outcome FROM outcomes WHERE tenant = :tenant AND change = %s"
    row = access.row(sql, change_id)
    return None if row is None else str(row[0])


def in_force(access: TenantAccess, runs: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return how many changes each run made, and how many of them still hold."""
    sql = """SELECT l.run, count(DISTINCT l.change), count(DISTINCT l.change)
                    FILTER (WHERE coalesce(o.outcome, 'done') = 'done')
             FROM audit_log l
             LEFT JOIN outcomes o ON o.tenant = :tenant AND o.change = l.change
             WHERE l.tenant = :tenant AND l.run = ANY(%s::text[]) AND l.change IS NOT NULL
             GROUP BY l.run"""
    return {run: (made, left) for run, made, left in access.rows(sql, list(runs))}


def unsettled_changes(access: TenantAccess) -> list[Event]:
    """Return changes that were begun and have no outcome, oldest first."""
    sql = f"""{_SELECT_EVENT} WHERE l.tenant = :tenant AND l.change IS NOT NULL
              AND l.kind = 'changed' AND NOT EXISTS (SELECT 1 FROM outcomes o
                              WHERE o.tenant = :tenant AND o.change = l.change)
              ORDER BY l.at, l.id"""
    return _read_events(access.rows(sql))


def recent_events(
    access: TenantAccess, kinds: Sequence[str], limit: int, jobs: Sequence[str] = ()
) -> list[Event]:
    """Return the newest events of these kinds, or of any. One short walk for each kind."""
    about = "AND l.job = ANY(%s::text[])" if jobs else ""
    wanted = list(dict.fromkeys(kinds or [kind.value for kind in EventKind]))
    sql = f"""SELECT f.* FROM unnest(%s::text[]) AS k (kind) CROSS JOIN LATERAL
              ({_SELECT_EVENT} WHERE l.tenant = :tenant AND l.kind = k.kind {about}
               {_ORDER_NEWEST_FIRST} LIMIT %s) f ORDER BY f.at DESC, f.id DESC LIMIT %s"""
    named = [list(jobs)] if jobs else []
    return _read_events(access.rows(sql, wanted, *named, max(limit, 0), max(limit, 0)))


def proposals(access: TenantAccess, status: ProposalStatus | None = None) -> list[Proposal]:
    """Return proposals newest first; a decision whose proposal is not known yet waits."""
    sql = """SELECT id, type, source_nodes, proposed_action, created,
                    coalesce(status, 'pending'), reason, resolved, action
             FROM proposals WHERE tenant = :tenant AND type IS NOT NULL
             AND (%s::text IS NULL OR coalesce(status, 'pending') = %s)
             ORDER BY created DESC, id DESC"""
    wanted = None if status is None else status.value
    return [proposal_from_row(*row) for row in access.rows(sql, wanted, wanted)]


def questions_about(access: TenantAccess, ids: Sequence[str]) -> list[Proposal]:
    """Return the proposals that wait and name one of these memories, newest first."""
    sql = """SELECT id, type, source_nodes, proposed_action, created, 'pending', reason, resolved,
                    action
             FROM proposals WHERE tenant = :tenant AND id = ANY(ARRAY
                 (SELECT a.body::json ->> 'proposal' FROM audit_memories m
                  JOIN audit_log a ON a.tenant = :tenant AND a.number = m.number
                  WHERE m.tenant = :tenant AND m.memory = ANY(%s::text[])
                  AND a.kind = 'proposed'))
             AND type IS NOT NULL AND coalesce(status, 'pending') = 'pending'
             ORDER BY created DESC, id DESC"""
    rows = access.rows(sql, list(ids))
    return select_naming([proposal_from_row(*row) for row in rows], ids)


def state(access: TenantAccess, key: str) -> object | None:
    row = access.row("SELECT value FROM state WHERE tenant = :tenant AND key = %s", key)
    return None if row is None else json.loads(row[0])


def event(access: TenantAccess, event_id: str) -> Event | None:
    return read_known_events(access, [event_id]).get(event_id)


def feedback(access: TenantAccess, ids: Sequence[str]) -> list[Event]:
    """Return what was said about how useful memories were, newest first."""
    sql = """SELECT DISTINCT a.id, a.at FROM audit_memories m
             JOIN audit_log a ON a.tenant = :tenant AND a.number = m.number
             WHERE m.tenant = :tenant AND m.memory = ANY(%s::text[]) AND a.kind = 'feedback'
             ORDER BY a.at DESC, a.id LIMIT %s"""
    said: list[str] = access.column(sql, list(ids), MAX_FEEDBACK)
    found = read_known_events(access, said)
    return [found[each] for each in said if each in found]


def _read_events(rows: Sequence[DatabaseRow]) -> list[Event]:
    return list(_iterate_events(rows))


def _iterate_events(rows: Sequence[DatabaseRow]) -> Iterator[Event]:
    for event_id, at, kind, device, body in rows:
        yield Event(event_id, from_micros(at), EventKind(kind), device, json.loads(body))
