"""Learning from what became of whispers: feedback, and what it does to later ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import numpy as np

from madeleine.errors import InvalidValue, MindDown, NoSuchMemory, NoSuchWhisper
from madeleine.index.log import WhisperEntry
from madeleine.language.reply_use import reply_use_confidence
from madeleine.model.embedding import Passage
from madeleine.model.event import Event, EventKind
from madeleine.model.vector import Vector
from madeleine.rules.whisper_gate import affinity_boost
from madeleine.whisper.config import WhisperConfig
from madeleine.whisper.log import amend_entry, entry_ids, is_delivered
from madeleine.write.record import new_event, record_events
from madeleine.write.record_use import record_use
from madeleine.write.stores import Stores

SOURCES = ("explicit", "implicit")
SECONDS_A_DAY = 86_400.0
PROMPT_CHARS = 2_000
WHISPERS_WATCHED = 10  # of a session, the newest: a reply is about what was asked just now
SURELY_USED = 0.9  # from which a reply counts as feedback


def give_feedback(
    stores: Stores, memory_id: str, signal: int, source: str, whisper_id: str | None
) -> str:
    """Note that a memory was useful (1) or not (-1) and return the event's id. A useful one
    counts as used; the prompt of the whisper is kept, so that a similar one profits. What was
    said about it in a whisper can be taken back (0); the same word again is not noted twice."""
    if signal not in (1, -1) and not (signal == 0 and whisper_id):
        what = f"is {signal}; it is 1 or -1, or 0 with the whisper in which it is taken back"
        raise InvalidValue("signal", what)
    if source not in SOURCES:
        raise InvalidValue("source", f"is {source!r}; it is explicit or implicit")
    if stores.search.get(memory_id) is None:
        raise NoSuchMemory(memory_id)
    entry = stores.log.whisper(whisper_id) if whisper_id else None
    if whisper_id and entry is None:
        raise NoSuchWhisper(whisper_id)
    if (before := _last_feedback(stores, memory_id, whisper_id)) and _is_same_feedback(
        before, signal, source
    ):
        return before.id
    body: dict[str, object] = {"memory": memory_id, "signal": signal, "source": source}
    session = None
    if entry is not None:
        body |= {"whisper": entry.id, "prompt": str(entry.body.get("prompt", ""))[:PROMPT_CHARS]}
        session = entry.session
    made = new_event(stores, EventKind.FEEDBACK, body)
    record_events(stores, [made], durable=True)
    if signal > 0:
        record_use(stores, [memory_id], "feedback", session)
    return made.id


def _last_feedback(stores: Stores, memory_id: str, whisper_id: str | None) -> Event | None:
    """Return what was said last about a memory of a whisper."""
    said = stores.log.feedback([memory_id]) if whisper_id else []
    return next((each for each in said if each.body.get("whisper") == whisper_id), None)


def _is_same_feedback(before: Event, signal: int, source: str) -> bool:
    return before.body.get("signal") == signal and before.body.get("source") == source


def notice_use(stores: Stores, session: str, reply: str, at: datetime | None = None) -> list[str]:
    """Note which memories, whispered in a session, an agent's reply shows to have been used;
    each whisper's memory at most once. What was not delivered nobody read, and a reply given
    `at` a time is about no later prompt. Of what was held out, it is only noted that it came up."""
    noticed: list[str] = []
    for entry in stores.log.whispers(WHISPERS_WATCHED, session):
        if not is_delivered(entry.body) or (at is not None and at < entry.at):
            continue
        told = entry_ids(entry, "injected")
        watched = told or entry_ids(entry, "withheld")
        seen = _find_used_in_reply(stores, entry, watched, reply)
        if watched:
            _note_seen(stores, entry, seen)
        noticed += _give_implicit_feedback(stores, entry, seen) if told else []
    return noticed


def _find_used_in_reply(
    stores: Stores, entry: WhisperEntry, ids: Sequence[str], reply: str
) -> list[str]:
    """Return which of the memories show in a reply."""
    prompt = str(entry.body.get("prompt", ""))
    return [
        each.id
        for each in stores.search.memories(ids).values()
        if reply_use_confidence(reply, prompt, each.short_id, each.title, each.content)
        >= SURELY_USED
    ]


def _note_seen(stores: Stores, entry: WhisperEntry, seen: Sequence[str]) -> None:
    """Write to the log that the whisper was replied to, and what showed."""
    known = set(entry_ids(entry, "seen"))
    if not entry.body.get("replied") or not known.issuperset(seen):
        amend_entry(stores, entry, {"replied": True, "seen": sorted(known.union(seen))})


def _give_implicit_feedback(stores: Stores, entry: WhisperEntry, seen: Sequence[str]) -> list[str]:
    known = _ids_with_feedback(stores, seen, entry.id)
    new = [each for each in seen if each not in known]
    for each in new:
        give_feedback(stores, each, 1, "implicit", entry.id)
    return new


def _ids_with_feedback(stores: Stores, ids: Sequence[str], whisper_id: str) -> set[str]:
    """Return the memories of a whisper about which something was said already."""
    said = stores.log.feedback(ids) if ids else []
    return {str(each.body["memory"]) for each in said if each.body.get("whisper") == whisper_id}


def compute_affinities(
    stores: Stores,
    config: WhisperConfig,
    ids: Sequence[str],
    vector: Vector | None,
    now: datetime,
) -> dict[str, float]:
    """Return what feedback on similar prompts adds to each memory's score."""
    told = [
        each
        for each in select_standing_feedback(stores.log.feedback(ids))
        if each.body.get("prompt")
    ]
    if not told or vector is None:
        return {}
    similarity = _prompt_similarities(stores, told, vector)
    rows: dict[str, list[tuple[float, float, float, float]]] = {}
    for each in told:
        alike = similarity.get(str(each.body["prompt"]), 0.0)
        if alike >= config.affinity_similarity:
            rows.setdefault(str(each.body["memory"]), []).append(
                _feedback_row(each, alike, config, now)
            )
    return {
        memory: affinity_boost(given, config.affinity_max_boost, config.affinity_half_life_days)
        for memory, given in rows.items()
        if memory in ids
    }


def select_standing_feedback(said: Sequence[Event]) -> list[Event]:
    """Return what still counts of feedback, newest first: of each source the last word about a
    memory in a whisper, and nothing that was taken back."""
    found: list[Event] = []
    over: set[tuple[object, ...]] = set()
    for each in said:
        about = (each.body.get("memory"), each.body.get("whisper"))
        by = (*about, each.body.get("source"))
        if about[1] is None or not over & {about, by}:
            found.append(each)
        over.add(about if each.body.get("signal") == 0 else by)
    return [each for each in found if each.body.get("signal") != 0]


def _feedback_row(
    each: Event, alike: float, config: WhisperConfig, now: datetime
) -> tuple[float, float, float, float]:
    explicit = each.body.get("source") == "explicit"
    days = (now - each.at).total_seconds() / SECONDS_A_DAY
    signal = each.body.get("signal")
    value = float(signal) if isinstance(signal, int | float) else 0.0
    return value, alike, days, 1.0 if explicit else config.affinity_implicit_weight


def _prompt_similarities(
    stores: Stores, told: Sequence[Event], vector: Vector
) -> Mapping[str, float]:
    """Return how like the prompt each earlier prompt is; the model has read most before,
    and one that is gone leaves them all unlike."""
    embedder = stores.minds.embedder
    if embedder is None:
        return {}
    prompts = list(dict.fromkeys(str(each.body["prompt"]) for each in told))
    try:
        traces = embedder.read([Passage(each, 0, len(each)) for each in prompts])
    except MindDown:  # it was up when the prompt was read; feedback can wait for the next one
        return {}
    return {
        prompt: float(np.dot(trace.vector, vector))
        for prompt, trace in zip(prompts, traces, strict=True)
    }
