"""The journal's events, and all that follows from them.

Which rows follow from an event is the same for every engine and stands in `sqlite/events.py`;
here is how FalkorDB keeps them. An effect never depends on the order of arrival: of two values
for one thing, the one with the later (time, event id) stays.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from madeleine.index.common.events import (
    MAX_FEEDBACK,
    MIN_PREFIX_CHARS,
    EventEffects,
    build_effects,
    build_log_row,
    proposal_from_row,
    select_naming,
)
from madeleine.index.common.times import from_micros
from madeleine.index.log import ParseProblem
from madeleine.model.event import Event, EventKind, JournalCursor
from madeleine.model.proposal import Proposal, ProposalStatus
from madeleine_falkordb import consolidation, graph
from madeleine_falkordb.connection import GraphAccess, GraphRow
from madeleine_falkordb.encoding import float_to_text, hash_key
from madeleine_falkordb.statement import merge_newest_step, merge_step
from madeleine_falkordb.writing import FalkorWrite

RowCells = dict[str, Any]
EffectValues = Sequence[Any]


def _make_row_builder(*names: str, key: int = 1) -> Callable[[EffectValues], RowCells]:
    """Return what makes a row of values: its first `key` values are what it is known by."""

    def made(values: EffectValues) -> RowCells:
        return {"key": hash_key(*values[:key]), **dict(zip(names, values, strict=True))}

    return made


_LATEST_BY_EFFECT: dict[str, tuple[str, Callable[[EffectValues], RowCells], str, str]] = {
    "outcomes": ("Outcome", _make_row_builder("change", "outcome", "at", "event"), "at", "event"),
    "state": ("State", _make_row_builder("name", "value", "at", "event"), "at", "event"),
    "decided": (
        "Proposal",
        _make_row_builder("id", "status", "resolved", "event"),
        "resolved",
        "event",
    ),
    "seen": (
        "Seen",
        _make_row_builder("job", "judge", "memory", "digest", "at", "event", key=3),
        "at",
        "event",
    ),
    "verdicts": (
        "Verdict",
        _make_row_builder(
            *("older", "newer", "judge", "older_digest", "newer_digest", "verdict", "at", "event"),
            key=3,
        ),
        "at",
        "event",
    ),
    "proposed": (
        "Proposal",
        _make_row_builder(
            *("id", "type", "source_nodes", "proposed_action", "reason", "created", "action"),
            "proposed_event",
        ),
        "created",
        "proposed_event",
    ),
}
"""By the name of an effect: label, row, and what tells which of two came later."""

_MERGE_SCORES = """MERGE (k:Known {{key: r[0]}}) ON CREATE SET k.id = r[1] WITH k, r
    WHERE k.{name}_at IS NULL OR r[3] > k.{name}_at
       OR (r[3] = k.{name}_at AND r[4] > k.{name}_event)
    SET k.{name} = r[2], k.{name}_at = r[3], k.{name}_event = r[4], k.{name}_value = r[5]"""


# --- writing ------------------------------------------------------------------------------


def apply_events(writing: FalkorWrite, events: Sequence[Event]) -> EventEffects:
    """Keep the events that are new; return what follows from them."""
    fresh = _select_unknown(writing.access, events) if events else []
    numbered = [(writing.number(), event) for event in fresh]
    writing.statement.each(map(_build_event_cells, numbered), "CREATE (e:Event) SET e = r")
    effects = build_effects(numbered)
    for name, (label, row, at, event) in _LATEST_BY_EFFECT.items():
        rows = _select_latest(map(row, effects.get(name, ())), at, event)
        writing.statement.each(map(_hex_digests, rows), merge_newest_step(label, at, event))
    for name in ("importance", "relevance"):
        _write_scores(writing, name, effects.get(name, ()))
    consolidation.note_runs(writing, fresh)
    keys = {number: hash_key(event.id) for number, event in numbered}
    _write_mentions(writing, keys, effects.get("mentions", ()))
    return effects


def _build_event_cells(numbered: tuple[int, Event]) -> RowCells:
    """Return an event's row: which job it is about stands for itself, so that the newest of
    one job are found without a look at those of others."""
    number, event_id, at, kind, device, change, run, body = build_log_row(numbered)
    job = numbered[1].body.get("job")
    return {
        "key": hash_key(event_id),
        "number": number,
        "id": event_id,
        "at": at,
        "kind": kind,
        "device": device,
        "change": change,
        "run": run,
        "job": job if isinstance(job, str) and job.isprintable() else None,
        "body": body,
    }


def _select_latest(rows: Iterable[RowCells], at: str, event: str) -> list[RowCells]:
    """Return for each key the row with the latest event: within one step of a query rows do
    not see each other."""
    found: dict[str, RowCells] = {}
    for row in rows:
        before = found.get(row["key"])
        if before is None or (row[at], row[event]) > (before[at], before[event]):
            found[row["key"]] = row
    return list(found.values())


def _hex_digests(row: RowCells) -> RowCells:
    """Return a row with its digests as the text that memories have."""
    return {key: each.hex() if isinstance(each, bytes) else each for key, each in row.items()}


def _write_scores(writing: FalkorWrite, name: str, rows: Iterable[EffectValues]) -> None:
    """Keep the newest scores of memories."""
    newest_ones: dict[str, tuple[int, str, float | None]] = {}
    for scores, at, event in rows:
        for memory, score in json.loads(scores).items():
            before = newest_ones.get(memory)
            if before is None or (at, event) > before[:2]:
                newest_ones[memory] = (at, event, score)
    writing.statement.each(
        [
            (hash_key(memory), memory, float_to_text(score), at, event, score)
            for memory, (at, event, score) in newest_ones.items()
        ],
        _MERGE_SCORES.format(name=name),
    )


def _write_mentions(
    writing: FalkorWrite, keys: Mapping[int, str], rows: Iterable[EffectValues]
) -> None:
    """Let events, whose keys these are by number, be about what is known."""
    mentions = dict.fromkeys((str(memory), number) for memory, _, number in rows)
    graph.merge_known(writing, (memory for memory, _ in mentions))
    writing.statement.each(
        [(hash_key(memory), keys[number]) for memory, number in mentions],
        """MATCH (e:Event {key: r[1]}) MATCH (k:Known {key: r[0]})
           CREATE (e)-[:ABOUT]->(k)""",
    )


def note_positions(writing: FalkorWrite, found: Mapping[str, JournalCursor]) -> None:
    """Note how far journal files have been read."""
    rows = [
        {"key": hash_key(name), "name": name, "offset": each.offset, "check": each.check}
        for name, each in found.items()
    ]
    writing.statement.each(rows, merge_step("Position", "key"))


def note_torn(
    writing: FalkorWrite, torn: Mapping[str, Sequence[tuple[int, str]]], read_anew: Sequence[str]
) -> None:
    """Note which journal lines were passed over; a file read anew begins without any."""
    anew = [hash_key(each) for each in read_anew]
    writing.statement.each(anew, "MATCH (x:Torn {name_key: r}) DELETE x")
    rows = [
        {
            "key": hash_key(name, line),
            "name_key": hash_key(name),
            "name": name,
            "line": line,
            "problem": problem,
        }
        for name, lines in torn.items()
        for line, problem in lines
    ]
    writing.statement.each(rows, merge_step("Torn", "key"))


def _select_unknown(access: GraphAccess, events: Sequence[Event]) -> list[Event]:
    """Return the events not seen before, each id once."""
    first: dict[str, Event] = {}
    for event in events:
        first.setdefault(event.id, event)
    keys = [hash_key(each) for each in first]
    for event_id in access.column("MATCH (e:Event) WHERE e.key IN $keys", "e.id", keys=keys):
        first.pop(event_id, None)
    return list(first.values())


# --- reading ------------------------------------------------------------------------------

_EVENT_COLUMNS = "e.id, e.at, e.kind, e.device, e.body"
_ORDER_NEWEST_FIRST = "WITH e ORDER BY e.at DESC, e.id DESC"


def torn_lines(access: GraphAccess) -> list[ParseProblem]:
    """Return the journal lines that were passed over."""
    question = "MATCH (x:Torn) WITH x ORDER BY x.name, x.line"
    return [ParseProblem(*row) for row in access.rows(question, "x.name, x.line, x.problem")]


def positions(access: GraphAccess) -> dict[str, JournalCursor]:
    rows = access.rows("MATCH (x:Position)", "x.name, x.offset, x.check")
    return {name: JournalCursor(offset, check) for name, offset, check in rows}


def history(access: GraphAccess, memory_id: str, limit: int = 100) -> list[Event]:
    """Return what happened to a memory, newest first."""
    question = f"""MATCH (k:Known {{key: $key}}) WITH k MATCH (k)<-[:ABOUT]-(e)
                   {_ORDER_NEWEST_FIRST} LIMIT $limit"""
    rows = access.rows(question, _EVENT_COLUMNS, key=hash_key(memory_id), limit=max(limit, 0))
    return [_event_from_row(row) for row in rows]


def event(access: GraphAccess, event_id: str) -> Event | None:
    rows = access.rows("MATCH (e:Event {key: $key})", _EVENT_COLUMNS, key=hash_key(event_id))
    return _event_from_row(rows[0]) if rows else None


def changes(access: GraphAccess, change_or_run: str) -> list[Event]:
    """Return the events of a change or a run, named by its id or the beginning of it."""
    wanted = change_or_run
    last = wanted + "\U0010ffff" if len(wanted) >= MIN_PREFIX_CHARS else wanted
    found: dict[str, Event] = {}
    for column in ("change", "run"):
        question = f"MATCH (e:Event) WHERE e.{column} >= $first AND e.{column} <= $last"
        rows = access.rows(question, _EVENT_COLUMNS, first=wanted, last=last)
        found.update((row[0], _event_from_row(row)) for row in rows)
    return sorted(found.values(), key=lambda each: (each.at, each.id), reverse=True)


def outcome(access: GraphAccess, change_id: str) -> str | None:
    found = access.column("MATCH (x:Outcome {key: $key})", "x.outcome", key=hash_key(change_id))
    return found[0] if found else None


def in_force(access: GraphAccess, runs: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return how many changes each run made, and how many of them still hold."""
    question = """MATCH (e:Event) WHERE e.run IN $runs AND e.change IS NOT NULL
                  WITH DISTINCT e.run AS run, e.change AS change"""
    rows = access.rows(question, "run, change", runs=list(runs)) if runs else []
    over = _find_taken_back(access, [change for _, change in rows])
    found: dict[str, tuple[int, int]] = {}
    for run, change in rows:
        made, left = found.get(run, (0, 0))
        found[run] = (made + 1, left + (change not in over))
    return found


def _find_taken_back(access: GraphAccess, among: Sequence[str]) -> set[str]:
    """Return the changes that were undone, or never came about."""
    if not among:
        return set()
    question = "MATCH (x:Outcome) WHERE x.key IN $keys AND x.outcome <> 'done'"
    return set(access.column(question, "x.change", keys=[hash_key(each) for each in among]))


def unsettled_changes(access: GraphAccess) -> list[Event]:
    """Return changes that were begun and have no outcome, oldest first."""
    settled = set(access.column("MATCH (x:Outcome)", "x.change"))
    question = """MATCH (e:Event {kind: 'changed'}) WHERE e.change IS NOT NULL
                  WITH e ORDER BY e.at, e.id"""
    begun = access.rows(question, "e.change, e.id")
    left = [event_id for change, event_id in begun if change not in settled]
    found = read_known_events(access, left)
    return [found[each] for each in left if each in found]


def read_known_events(access: GraphAccess, event_ids: Sequence[str]) -> dict[str, Event]:
    """Return those of the events that are known."""
    if not event_ids:
        return {}
    keys = [hash_key(each) for each in event_ids]
    rows = access.rows("MATCH (e:Event) WHERE e.key IN $keys", _EVENT_COLUMNS, keys=keys)
    return {row[0]: _event_from_row(row) for row in rows}


def recent_events(
    access: GraphAccess, kinds: Sequence[str], limit: int, jobs: Sequence[str] = ()
) -> list[Event]:
    """Return the newest events of these kinds, or of any."""
    asked = (("e.kind IN $kinds", kinds), ("e.job IN $jobs", jobs))
    where = " AND ".join(part for part, given in asked if given) or "true"
    question = f"MATCH (e:Event) WHERE {where} {_ORDER_NEWEST_FIRST} LIMIT $limit"
    named = {"kinds": list(kinds), "jobs": list(jobs), "limit": max(limit, 0)}
    return [_event_from_row(row) for row in access.rows(question, _EVENT_COLUMNS, **named)]


def feedback(access: GraphAccess, ids: Sequence[str]) -> list[Event]:
    """Return the events that say how useful these memories were, newest first."""
    question = """MATCH (k:Known) WHERE k.key IN $keys WITH k
                  MATCH (k)<-[:ABOUT]-(e) WHERE e.kind = 'feedback'
                  WITH DISTINCT e ORDER BY e.at DESC, e.id LIMIT $limit"""
    named = {"keys": [hash_key(each) for each in ids], "limit": MAX_FEEDBACK}
    return [_event_from_row(row) for row in access.rows(question, _EVENT_COLUMNS, **named)]


_PROPOSAL_COLUMNS = """x.id, x.type, x.source_nodes, x.proposed_action, x.created,
    coalesce(x.status, 'pending'), x.reason, x.resolved, x.action"""


def proposals(access: GraphAccess, status: ProposalStatus | None = None) -> list[Proposal]:
    """Return proposals newest first; a decision whose proposal is not known yet waits."""
    question = """MATCH (x:Proposal) WHERE x.type IS NOT NULL
                  AND ($status IS NULL OR coalesce(x.status, 'pending') = $status)
                  WITH x ORDER BY x.created DESC, x.id DESC"""
    wanted = None if status is None else status.value
    rows = access.rows(question, _PROPOSAL_COLUMNS, status=wanted)
    return [proposal_from_row(*row) for row in rows]


def questions_about(access: GraphAccess, ids: Sequence[str]) -> list[Proposal]:
    """Return the proposals that wait and name one of these memories, newest first."""
    told = """MATCH (k:Known) WHERE k.key IN $keys WITH k
              MATCH (k)<-[:ABOUT]-(e) WHERE e.kind = 'proposed'"""
    bodies = access.column(told, "DISTINCT e.body", keys=[hash_key(each) for each in ids])
    named = {str(json.loads(body)["proposal"]) for body in bodies}
    found = """MATCH (x:Proposal) WHERE x.key IN $keys AND x.type IS NOT NULL
               AND coalesce(x.status, 'pending') = 'pending'
               WITH x ORDER BY x.created DESC, x.id DESC"""
    keys = [hash_key(each) for each in sorted(named)]
    rows = access.rows(found, _PROPOSAL_COLUMNS, keys=keys) if keys else []
    return select_naming([proposal_from_row(*row) for row in rows], ids)


def state(access: GraphAccess, key: str) -> object | None:
    found = access.column("MATCH (x:State {key: $key})", "x.value", key=hash_key(key))
    return json.loads(found[0]) if found else None


def _event_from_row(row: GraphRow) -> Event:
    event_id, at, kind, device, body = row
    return Event(event_id, from_micros(at), EventKind(kind), device, json.loads(body))
