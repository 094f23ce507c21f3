"""The rows that follow from the journal's events, whatever keeps them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from madeleine.errors import InvalidValue
from madeleine.index.common.rows import ColumnValue
from madeleine.index.common.times import (
    from_micros,
    from_micros_or_none,
    to_micros,
    to_micros_or_none,
)
from madeleine.index.log import WhisperEntry
from madeleine.model.event import Event, EventKind
from madeleine.model.memory import Usage
from madeleine.model.proposal import Proposal, ProposalStatus, ProposalType
from madeleine.model.scored_events import read_scores
from madeleine.model.times import parse_time
from madeleine.rules.usage import read_use

LONG_BODY_KEYS = frozenset(
    {"scores", "was", "seen"}
)  # parts of a body that are not kept with the event
MIN_PREFIX_CHARS = 6  # characters of a change's id that may stand for the whole
EffectRow = tuple[ColumnValue, ...]
EventEffects = defaultdict[str, list[EffectRow]]
"""Rows to be written, by the name of their statement below."""


def build_effects(numbered: Iterable[tuple[int, Event]]) -> EventEffects:
    """Return the rows that follow from events, by what they are about."""
    effects: EventEffects = defaultdict(list)
    for number, event in numbered:
        _EFFECT_BY_KIND.get(event.kind, _add_nothing)(number, event, effects)
    return effects


def build_log_row(numbered: tuple[int, Event]) -> EffectRow:
    number, event = numbered
    body = {key: value for key, value in event.body.items() if key not in LONG_BODY_KEYS}
    change = run = None
    if event.kind in (EventKind.CHANGED, EventKind.REMEMBERED, EventKind.SCORED):
        change, run = _read_text(event.body, "change"), _read_text(event.body, "run")
    text = json.dumps(body)
    return number, event.id, to_micros(event.at), event.kind.value, event.device, change, run, text


def _add_nothing(number: int, event: Event, effects: EventEffects) -> None:
    """A kind that is only kept."""


def _add_use(number: int, event: Event, effects: EventEffects) -> None:
    memory, use = _read_text(event.body, "memory"), read_use(event)
    if memory is not None and use is not None:
        count = min(use.count, 1_000_000_000)
        session = None if use.session is None else _replace_surrogates(use.session)
        effects["uses"].append((memory, to_micros(use.at), number, session, count))


def _add_adoption(number: int, event: Event, effects: EventEffects) -> None:
    memory = _read_text(event.body, "memory")
    if memory is not None:
        body = json.dumps(dict(event.body))
        effects["adopted"].append((memory, to_micros(event.at), event.id, body))
        _add_mentions(number, event, effects, [memory])


def _add_scores(number: int, event: Event, effects: EventEffects) -> None:
    for name, values in read_scores(event.body.get("scores")).items():
        plain = all(map(str.isascii, values))
        known = (
            values
            if plain
            else {_replace_surrogates(each): value for each, value in values.items()}
        )
        effects[name].append((json.dumps(known), to_micros(event.at), event.id))


def _add_change(number: int, event: Event, effects: EventEffects) -> None:
    edits = event.body.get("edits")
    listed = edits if isinstance(edits, Sequence) and not isinstance(edits, str) else ()
    memories = [_read_text(edit, "memory") for edit in listed if isinstance(edit, Mapping)]
    details = event.body.get("details")
    if isinstance(details, Mapping):
        memories += [
            *_read_texts(details, "concerns"),
            _read_text(details, "kept"),
            _read_text(details, "removed"),
        ]
    _add_mentions(number, event, effects, dict.fromkeys(memories))


def _add_mention_of_one(number: int, event: Event, effects: EventEffects) -> None:
    _add_mentions(number, event, effects, [_read_text(event.body, "memory")])


def _add_judgement(number: int, event: Event, effects: EventEffects) -> None:
    judge = _read_text(event.body, "judge")
    if judge is not None:
        _add_seen(event, judge, effects)
        _add_verdict(event, judge, effects)
    _add_mentions(number, event, effects, _read_texts(event.body, "pair"))


def _add_seen(event: Event, judge: str, effects: EventEffects) -> None:
    job, seen = _read_text(event.body, "job"), event.body.get("seen")
    if job is None or not isinstance(seen, Mapping):
        return
    for memory, hexed in seen.items():
        digest = _parse_hex(hexed)
        if digest is not None:
            effects["seen"].append(
                (job, judge, _replace_surrogates(memory), digest, to_micros(event.at), event.id)
            )


def _add_verdict(event: Event, judge: str, effects: EventEffects) -> None:
    pair, verdict = _read_texts(event.body, "pair"), event.body.get("verdict")
    digests = [_parse_hex(each) for each in _read_texts(event.body, "digests")]
    if len(pair) == len(digests) == 2 and None not in digests and isinstance(verdict, Mapping):
        said = json.dumps(dict(verdict))
        effects["verdicts"].append((*pair, judge, *digests, said, to_micros(event.at), event.id))


def _parse_hex(hexed: object) -> bytes | None:
    try:
        return bytes.fromhex(hexed) if isinstance(hexed, str) else None
    except ValueError:
        return None


def _add_outcome(number: int, event: Event, effects: EventEffects) -> None:
    change, outcome = _read_text(event.body, "change"), _read_text(event.body, "outcome")
    if change is not None and outcome is not None:
        effects["outcomes"].append((change, outcome, to_micros(event.at), event.id))


def _add_proposal(number: int, event: Event, effects: EventEffects) -> None:
    body = event.body
    proposal, kind = _read_text(body, "proposal"), _read_text(body, "type")
    if proposal is None or kind not in set(ProposalType):
        return
    nodes = _read_texts(body, "nodes")
    action = body.get("action")
    pairs = dict(action) if isinstance(action, Mapping) else {}
    row = (
        proposal,
        kind,
        json.dumps(nodes),
        _read_text(body, "wording") or "",
        _read_text(body, "reason"),
        to_micros(_read_proposal_time(event)),
        json.dumps(pairs),
        event.id,
    )
    effects["proposed"].append(row)
    _add_mentions(number, event, effects, nodes)


def _read_proposal_time(event: Event) -> datetime:
    try:
        return parse_time("created", event.body.get("created"))
    except InvalidValue:
        return event.at


def _add_decision(number: int, event: Event, effects: EventEffects) -> None:
    proposal, status = _read_text(event.body, "proposal"), _read_text(event.body, "status")
    if proposal is not None and status in set(ProposalStatus):
        effects["decided"].append((proposal, status, to_micros(event.at), event.id))
        _add_mentions(number, event, effects, _read_texts(event.body, "nodes"))


def _add_state(number: int, event: Event, effects: EventEffects) -> None:
    key = _read_text(event.body, "key")
    if key is not None:
        value = json.dumps(event.body.get("value"))
        effects["state"].append((key, value, to_micros(event.at), event.id))


_EFFECT_BY_KIND: dict[EventKind, Callable[[int, Event, EventEffects], None]] = {
    EventKind.USED: _add_use,
    EventKind.ADOPTED: _add_adoption,
    EventKind.SCORED: _add_scores,
    EventKind.FEEDBACK: _add_mention_of_one,
    EventKind.REVIEWED: _add_mention_of_one,
    EventKind.CHANGED: _add_change,
    EventKind.SETTLED: _add_outcome,
    EventKind.REMEMBERED: _add_mention_of_one,
    EventKind.PROPOSED: _add_proposal,
    EventKind.DECIDED: _add_decision,
    EventKind.JUDGED: _add_judgement,
    EventKind.RUN: _add_nothing,
    EventKind.STATE: _add_state,
}


def _add_mentions(
    number: int, event: Event, effects: EventEffects, memories: Iterable[str | None]
) -> None:
    at = to_micros(event.at)
    effects["mentions"].extend((each, at, number) for each in memories if each is not None)


def _read_text(body: Mapping[str, object], key: str) -> str | None:
    value = body.get(key)
    return _replace_surrogates(value) if isinstance(value, str) else None


def _read_texts(body: Mapping[str, object], key: str) -> list[str]:
    value = body.get(key)
    return (
        [_replace_surrogates(each) for each in value if isinstance(each, str)]
        if isinstance(value, list)
        else []
    )


def _replace_surrogates(text: str) -> str:
    """Return the text without halves of surrogate pairs, which JSON can hold and UTF-8 cannot."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def proposal_from_row(
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
        created=from_micros(created),
        status=ProposalStatus(status),
        reason=reason,
        resolved=from_micros_or_none(resolved),
        action=tuple(sorted((key, str(value)) for key, value in pairs.items())),
    )


def select_naming(proposals: Iterable[Proposal], ids: Iterable[str]) -> list[Proposal]:
    """Return those of the proposals that name one of these memories."""
    wanted = set(ids)
    return [each for each in proposals if not wanted.isdisjoint(each.source_nodes)]


def usage_row(memory: str, usage: Usage) -> tuple[ColumnValue, ...]:
    return (
        memory,
        usage.access_count,
        to_micros_or_none(usage.last_accessed),
        to_micros_or_none(usage.last_review),
        usage.stability,
        usage.importance,
    )


LATEST_MICROS = 2**63 - 1  # no moment is later


def read_whisper_entries(rows: Iterator[tuple[Any, ...]]) -> Iterator[WhisperEntry]:
    for whisper_id, at, session, space, body in rows:
        yield WhisperEntry(whisper_id, from_micros(at), session, space, json.loads(body))


MAX_FEEDBACK = 200  # what was said longer ago counts hardly anything
