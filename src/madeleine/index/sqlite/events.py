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
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import apsw

from madeleine.errors import InvalidValue
from madeleine.index.port import Unreadable
from madeleine.index.sqlite.filters import Value
from madeleine.index.sqlite.times import instant, maybe_instant, micros
from madeleine.model.event import Event, Kind, Position
from madeleine.model.proposal import Proposal, ProposalStatus, ProposalType
from madeleine.model.times import parse_time
from madeleine.rules.scoring import by_name
from madeleine.rules.usage import use_of

LONG = frozenset({"scores", "was", "seen"})  # parts of a body that are not kept with the event
LEAST_PREFIX = 6  # characters of a change's id that may stand for the whole

Row = tuple[Value, ...]
Effects = defaultdict[str, list[Row]]
"""Rows to be written, by the name of their statement below."""


def _newest(table: str, key: str, value: str, at: str = "at", event: str = "event") -> str:
    """Return SQL that keeps of several values for one key the one with the latest event."""
    return f"""
        INSERT INTO {table} ({key}, {value}, {at}, {event}) VALUES (?, ?, ?, ?)
        ON CONFLICT ({key}) DO UPDATE
        SET {value} = excluded.{value}, {at} = excluded.{at}, {event} = excluded.{event}
        WHERE {at} IS NULL OR (excluded.{at}, excluded.{event}) > ({at}, {event})
    """


def _newest_scores(name: str) -> str:
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


_STATEMENTS = {
    "uses": "INSERT INTO uses VALUES (?, ?, ?, ?, ?)",
    "adopted": "INSERT OR IGNORE INTO adopted VALUES (?, ?, ?, ?)",
    "mentions": "INSERT OR IGNORE INTO audit_memories VALUES (?, ?, ?)",
    "importance": _newest_scores("importance"),
    "relevance": _newest_scores("relevance"),
    "outcomes": _newest("outcomes", "change", "outcome"),
    "state": _newest("state", "key", "value"),
    "decided": _newest("proposals", "id", "status", "resolved"),
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


def apply(connection: apsw.Connection, events: Sequence[Event]) -> list[str]:
    """Keep the events that are new; return the memories whose counters they touch."""
    fresh = _unknown(connection, events) if events else []
    if not fresh:
        return []
    start = connection.execute("SELECT ifnull(max(number), 0) + 1 FROM audit_log").get
    numbered = list(enumerate(fresh, start))
    connection.executemany(
        "INSERT INTO audit_log VALUES (?, ?, ?, ?, ?, ?, ?, ?)", map(log_row, numbered)
    )
    effects = effects_of(numbered)
    for name, rows in effects.items():
        connection.executemany(_STATEMENTS[name], rows)
    return [str(row[0]) for name in ("uses", "adopted") for row in effects.get(name, ())]


def effects_of(numbered: Iterable[tuple[int, Event]]) -> Effects:
    """Return the rows that follow from events, by what they are about."""
    effects: Effects = defaultdict(list)
    for number, event in numbered:
        _EFFECTS.get(event.kind, _none)(number, event, effects)
    return effects


def note_positions(connection: apsw.Connection, found: Mapping[str, Position]) -> None:
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


def _unknown(connection: apsw.Connection, events: Sequence[Event]) -> list[Event]:
    """Return the events not seen before, each id once."""
    first: dict[str, Event] = {}
    for event in events:
        first.setdefault(event.id, event)
    sql = "SELECT id FROM audit_log WHERE id IN (SELECT value FROM json_each(?))"
    for (event_id,) in connection.execute(sql, (json.dumps(list(first)),)):
        del first[event_id]
    return list(first.values())


def log_row(numbered: tuple[int, Event]) -> Row:
    number, event = numbered
    body = {key: value for key, value in event.body.items() if key not in LONG}
    change = run = None
    if event.kind in (Kind.CHANGED, Kind.REMEMBERED, Kind.SCORED):
        change, run = _text(event.body, "change"), _text(event.body, "run")
    text = json.dumps(body)
    return number, event.id, micros(event.at), event.kind.value, event.device, change, run, text


def _none(number: int, event: Event, effects: Effects) -> None:
    """A kind that is only kept."""


def _used(number: int, event: Event, effects: Effects) -> None:
    memory, use = _text(event.body, "memory"), use_of(event)
    if memory is not None and use is not None:
        count = min(use.count, 1_000_000_000)
        session = None if use.session is None else _clean(use.session)
        effects["uses"].append((memory, micros(use.at), number, session, count))


def _adopted(number: int, event: Event, effects: Effects) -> None:
    memory = _text(event.body, "memory")
    if memory is not None:
        body = json.dumps(dict(event.body))
        effects["adopted"].append((memory, micros(event.at), event.id, body))
        _mention(number, event, effects, [memory])


def _scored(number: int, event: Event, effects: Effects) -> None:
    for name, values in by_name(event.body.get("scores")).items():
        plain = all(map(str.isascii, values))
        known = values if plain else {_clean(each): value for each, value in values.items()}
        effects[name].append((json.dumps(known), micros(event.at), event.id))


def _changed(number: int, event: Event, effects: Effects) -> None:
    edits = event.body.get("edits")
    listed = edits if isinstance(edits, Sequence) and not isinstance(edits, str) else ()
    memories = [_text(edit, "memory") for edit in listed if isinstance(edit, Mapping)]
    details = event.body.get("details")
    if isinstance(details, Mapping):
        memories += [
            *_texts(details, "concerns"),
            _text(details, "kept"),
            _text(details, "removed"),
        ]
    _mention(number, event, effects, dict.fromkeys(memories))


def _about_one(number: int, event: Event, effects: Effects) -> None:
    _mention(number, event, effects, [_text(event.body, "memory")])


def _judged(number: int, event: Event, effects: Effects) -> None:
    judge = _text(event.body, "judge")
    if judge is not None:
        _seen(event, judge, effects)
        _verdict(event, judge, effects)
    _mention(number, event, effects, _texts(event.body, "pair"))


def _seen(event: Event, judge: str, effects: Effects) -> None:
    job, seen = _text(event.body, "job"), event.body.get("seen")
    if job is None or not isinstance(seen, Mapping):
        return
    for memory, hexed in seen.items():
        digest = _bytes(hexed)
        if digest is not None:
            effects["seen"].append((job, judge, _clean(memory), digest, micros(event.at), event.id))


def _verdict(event: Event, judge: str, effects: Effects) -> None:
    pair, verdict = _texts(event.body, "pair"), event.body.get("verdict")
    digests = [_bytes(each) for each in _texts(event.body, "digests")]
    if len(pair) == len(digests) == 2 and None not in digests and isinstance(verdict, Mapping):
        said = json.dumps(dict(verdict))
        effects["verdicts"].append((*pair, judge, *digests, said, micros(event.at), event.id))


def _bytes(hexed: object) -> bytes | None:
    try:
        return bytes.fromhex(hexed) if isinstance(hexed, str) else None
    except ValueError:
        return None


def _settled(number: int, event: Event, effects: Effects) -> None:
    change, outcome = _text(event.body, "change"), _text(event.body, "outcome")
    if change is not None and outcome is not None:
        effects["outcomes"].append((change, outcome, micros(event.at), event.id))


def _proposed(number: int, event: Event, effects: Effects) -> None:
    body = event.body
    proposal, kind = _text(body, "proposal"), _text(body, "type")
    if proposal is None or kind not in set(ProposalType):
        return
    nodes = _texts(body, "nodes")
    action = body.get("action")
    pairs = dict(action) if isinstance(action, Mapping) else {}
    row = (
        proposal,
        kind,
        json.dumps(nodes),
        _text(body, "wording") or "",
        _text(body, "reason"),
        micros(_created(event)),
        json.dumps(pairs),
        event.id,
    )
    effects["proposed"].append(row)
    _mention(number, event, effects, nodes)


def _created(event: Event) -> datetime:
    try:
        return parse_time("created", event.body.get("created"))
    except InvalidValue:
        return event.at


def _decided(number: int, event: Event, effects: Effects) -> None:
    proposal, status = _text(event.body, "proposal"), _text(event.body, "status")
    if proposal is not None and status in set(ProposalStatus):
        effects["decided"].append((proposal, status, micros(event.at), event.id))
        _mention(number, event, effects, _texts(event.body, "nodes"))


def _state(number: int, event: Event, effects: Effects) -> None:
    key = _text(event.body, "key")
    if key is not None:
        value = json.dumps(event.body.get("value"))
        effects["state"].append((key, value, micros(event.at), event.id))


_EFFECTS: dict[Kind, Callable[[int, Event, Effects], None]] = {
    Kind.USED: _used,
    Kind.ADOPTED: _adopted,
    Kind.SCORED: _scored,
    Kind.FEEDBACK: _about_one,
    Kind.REVIEWED: _about_one,
    Kind.CHANGED: _changed,
    Kind.SETTLED: _settled,
    Kind.REMEMBERED: _about_one,
    Kind.PROPOSED: _proposed,
    Kind.DECIDED: _decided,
    Kind.JUDGED: _judged,
    Kind.RUN: _none,
    Kind.STATE: _state,
}


def _mention(number: int, event: Event, effects: Effects, memories: Iterable[str | None]) -> None:
    at = micros(event.at)
    effects["mentions"].extend((each, at, number) for each in memories if each is not None)


def _text(body: Mapping[str, object], key: str) -> str | None:
    value = body.get(key)
    return _clean(value) if isinstance(value, str) else None


def _texts(body: Mapping[str, object], key: str) -> list[str]:
    value = body.get(key)
    return (
        [_clean(each) for each in value if isinstance(each, str)] if isinstance(value, list) else []
    )


def _clean(text: str) -> str:
    """Return the text without halves of surrogate pairs, which JSON can hold and UTF-8 cannot."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


# --- reading ------------------------------------------------------------------------------

_EVENT = "SELECT l.id, l.at, l.kind, l.device, l.body FROM audit_log l"
_NEWEST_FIRST = "ORDER BY l.at DESC, l.id DESC"


def torn(connection: apsw.Connection) -> list[Unreadable]:
    """Return the journal lines that were passed over."""
    rows = connection.execute("SELECT name, line, problem FROM torn ORDER BY name, line")
    return [Unreadable(*row) for row in rows]


def positions(connection: apsw.Connection) -> dict[str, Position]:
    rows = connection.execute('SELECT name, offset, "check" FROM positions')
    return {name: Position(offset, check) for name, offset, check in rows}


def history(connection: apsw.Connection, memory_id: str, limit: int) -> list[Event]:
    """Return what happened to a memory, newest first."""
    sql = f"""{_EVENT} JOIN audit_memories m ON m.number = l.number
              WHERE m.memory = ? {_NEWEST_FIRST} LIMIT ?"""
    return list(_events(connection, sql, memory_id, max(limit, 0)))


def event(connection: apsw.Connection, event_id: str) -> Event | None:
    return next(_events(connection, f"{_EVENT} WHERE l.id = ?", event_id), None)


def changes(connection: apsw.Connection, wanted: str) -> list[Event]:
    """Return the events of a change or a run, named by its id or the beginning of it."""
    last = wanted + "\U0010ffff" if len(wanted) >= LEAST_PREFIX else wanted
    sql = f"""{_EVENT} WHERE (l.change >= ?1 AND l.change <= ?2)
                          OR (l.run >= ?1 AND l.run <= ?2) {_NEWEST_FIRST}"""
    return list(_events(connection, sql, wanted, last))


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


def unsettled(connection: apsw.Connection) -> list[Event]:
    """Return changes that were begun and have no outcome, oldest first."""
    sql = f"""{_EVENT} WHERE l.change IS NOT NULL AND l.kind = 'changed'
              AND l.change NOT IN (SELECT change FROM outcomes) ORDER BY l.at, l.id"""
    return list(_events(connection, sql))


def recent(
    connection: apsw.Connection, kinds: Sequence[str], limit: int, jobs: Sequence[str]
) -> list[Event]:
    """Return the newest events of these kinds, or of any. One short walk for each kind; those
    about some jobs may have to be looked for among those about others."""
    about = "AND l.body ->> 'job' IN (SELECT value FROM json_each(?))" if jobs else ""
    sql = f"{_EVENT} WHERE l.kind = ? {about} {_NEWEST_FIRST} LIMIT ?"
    named = [json.dumps(list(jobs))] if jobs else []
    found = [
        each
        for kind in dict.fromkeys(kinds or [kind.value for kind in Kind])
        for each in _events(connection, sql, kind, *named, max(limit, 0))
    ]
    return sorted(found, key=lambda each: (each.at, each.id), reverse=True)[: max(limit, 0)]


def proposals(connection: apsw.Connection, status: ProposalStatus | None) -> list[Proposal]:
    """Return proposals newest first; a decision whose proposal is not known yet waits."""
    sql = """SELECT id, type, source_nodes, proposed_action, created,
                    ifnull(status, 'pending') AS stands, reason, resolved, action
             FROM proposals WHERE type IS NOT NULL AND (?1 IS NULL OR stands = ?1)
             ORDER BY created DESC, id DESC"""
    wanted = None if status is None else status.value
    return [proposal_of(*row) for row in connection.execute(sql, (wanted,))]


def state(connection: apsw.Connection, key: str) -> object | None:
    row = connection.execute("SELECT value FROM state WHERE key = ?", (key,)).fetchone()
    return None if row is None else json.loads(row[0])


def _events(connection: apsw.Connection, sql: str, *bindings: Value) -> Iterator[Event]:
    for event_id, at, kind, device, body in connection.execute(sql, bindings):
        yield Event(event_id, instant(at), Kind(kind), device, json.loads(body))


def proposal_of(
    proposal: str,
    kind: str,
    nodes: str,
    wording: str,
    created: int,
    status: str,
    reason: str | None,
    resolved: int | None,
    action: str,
) -> Proposal:
    pairs: dict[str, Any] = json.loads(action)
    return Proposal(
        id=proposal,
        type=ProposalType(kind),
        source_nodes=tuple(json.loads(nodes)),
        proposed_action=wording,
        created=instant(created),
        status=ProposalStatus(status),
        reason=reason,
        resolved=maybe_instant(resolved),
        action=tuple(sorted((key, str(value)) for key, value in pairs.items())),
    )
