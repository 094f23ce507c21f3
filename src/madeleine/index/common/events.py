"""The rows that follow from the journal's events, whatever keeps them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from madeleine.errors import InvalidValue
from madeleine.index.common.rows import Value
from madeleine.index.common.times import instant, maybe_instant, maybe_micros, micros
from madeleine.index.log import WhisperEntry
from madeleine.model.event import Event, EventKind
from madeleine.model.memory import Usage
from madeleine.model.proposal import Proposal, ProposalStatus, ProposalType
from madeleine.model.times import parse_time
from madeleine.rules.scoring import read_scores
from madeleine.rules.usage import read_use

LONG = frozenset({"scores", "was", "seen"})  # parts of a body that are not kept with the event
LEAST_PREFIX = 6  # characters of a change's id that may stand for the whole
Row = tuple[Value, ...]
Effects = defaultdict[str, list[Row]]
"""Rows to be written, by the name of their statement below."""


def effects_of(numbered: Iterable[tuple[int, Event]]) -> Effects:
    """Return the rows that follow from events, by what they are about."""
    effects: Effects = defaultdict(list)
    for number, event in numbered:
        _EFFECTS.get(event.kind, _none)(number, event, effects)
    return effects


def log_row(numbered: tuple[int, Event]) -> Row:
    number, event = numbered
    body = {key: value for key, value in event.body.items() if key not in LONG}
    change = run = None
    if event.kind in (EventKind.CHANGED, EventKind.REMEMBERED, EventKind.SCORED):
        change, run = _text(event.body, "change"), _text(event.body, "run")
    text = json.dumps(body)
    return number, event.id, micros(event.at), event.kind.value, event.device, change, run, text


def _none(number: int, event: Event, effects: Effects) -> None:
    """A kind that is only kept."""


def _used(number: int, event: Event, effects: Effects) -> None:
    memory, use = _text(event.body, "memory"), read_use(event)
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
    for name, values in read_scores(event.body.get("scores")).items():
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


_EFFECTS: dict[EventKind, Callable[[int, Event, Effects], None]] = {
    EventKind.USED: _used,
    EventKind.ADOPTED: _adopted,
    EventKind.SCORED: _scored,
    EventKind.FEEDBACK: _about_one,
    EventKind.REVIEWED: _about_one,
    EventKind.CHANGED: _changed,
    EventKind.SETTLED: _settled,
    EventKind.REMEMBERED: _about_one,
    EventKind.PROPOSED: _proposed,
    EventKind.DECIDED: _decided,
    EventKind.JUDGED: _judged,
    EventKind.RUN: _none,
    EventKind.STATE: _state,
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


def row_of(memory: str, usage: Usage) -> tuple[Value, ...]:
    return (
        memory,
        usage.access_count,
        maybe_micros(usage.last_accessed),
        maybe_micros(usage.last_review),
        usage.stability,
        usage.importance,
    )


LATEST = 2**63 - 1  # no moment is later


def entries(rows: Iterator[tuple[Any, ...]]) -> Iterator[WhisperEntry]:
    for whisper_id, at, session, space, body in rows:
        yield WhisperEntry(whisper_id, instant(at), session, space, json.loads(body))


FEEDBACK_AT_MOST = 200  # what was said longer ago counts hardly anything
