"""Whisper: a prompt in, a few memories out, or silence with its reason.

Whatever happens is logged with its stage and scores for a month, so that `whisper why` can
say in plain words what was whispered and what was not.
"""

from __future__ import annotations

import time
import zlib
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from madeleine.errors import Unavailable
from madeleine.index.log import WhisperEntry
from madeleine.minds.timed import ModelDeadline, ModelThreads
from madeleine.model.cause import Cause, WhisperSilence
from madeleine.model.query import RecallQuery
from madeleine.model.times import format_time
from madeleine.recall.recall import recall
from madeleine.whisper.delivery import deliver
from madeleine.whisper.examples import Examples
from madeleine.whisper.habits import WhisperHabits
from madeleine.whisper.log import Delivery, said_in, told, write_down
from madeleine.whisper.pace import Pace
from madeleine.whisper.session import Recent, Said, Sessions
from madeleine.whisper.stages import STAGES, Candidate, Mind, Other, Silence, Thought, within
from madeleine.whisper.telling import explorer_of, extras, worded
from madeleine.whisper.values import Injected, Prompt, Whispered
from madeleine.write.stores import Stores

FIRST_PROMPT = "which of these is the first?"
LOGGED_PROMPT_CHARS = 2_000
LOGGED_CANDIDATES = 12
RECEIPT_SECONDS = 0.5  # after the deadline, for a confirmation that is on its way
BY_WORDS_ALONE = "by words alone: the model was late"
NOT_ALL_READ = "in part by words alone: the model was late"


@dataclass(slots=True)
class Whisperer:
    """What whispering remembers between prompts: sessions, what the examples mean, and how long
    it takes at the moment."""

    sessions: Sessions = field(default_factory=Sessions)
    examples: Examples = field(default_factory=Examples)
    pace: Pace = field(default_factory=Pace)
    model_threads: ModelThreads = field(default_factory=ModelThreads)

    def warm(self, stores: Stores, habits: WhisperHabits) -> None:
        """Go through all stages with a prompt of nobody, before somebody waits: the first prompt
        loads and compiles what later ones find ready, also in a home that is still empty."""
        mind = Mind(stores, habits, self.examples.of(stores))
        thought = Thought(Prompt(FIRST_PROMPT), Recent(), stores.clock.now())
        for thought.stage, stage in STAGES:
            with suppress(Silence):
                stage(mind, thought)
        recall(stores, RecallQuery(text=FIRST_PROMPT, limit=1), touch=False)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What came of a thought. `told` is also what only says the same as what was whispered;
    `withheld` would have been whispered, were it not held out."""

    text: str = ""
    injected: tuple[Injected, ...] = ()
    silence: Cause | None = None
    told: frozenset[str] = frozenset()
    withheld: tuple[Injected, ...] = ()


def whisper(
    stores: Stores,
    habits: WhisperHabits,
    whisperer: Whisperer,
    prompt: Prompt,
    others: tuple[Other, ...] = (),
) -> Whispered:
    """Return what is worth saying about a prompt before it is answered. `others` are the
    shared spaces that are asked beside one's own memory.

    If the prompt has a time by which it is due, models are waited for only as long as the rest can
    still be done by then; after that words alone decide, and the log says so. If it awaits a
    receipt, nothing counts as told before somebody confirms it (`delivery.confirm`).
    """
    begun = time.perf_counter()
    now = stores.clock.now()
    _learn_of_others(stores, habits, whisperer, prompt, now)
    recent = whisperer.sessions.recent(prompt.session_id, now, habits.session_gap_minutes)
    thought = Thought(prompt, recent, now)
    model_time = _time_for_models(whisperer, prompt)
    timed = _limited(stores, model_time)
    among = tuple((space, _limited(other, model_time)) for space, other in others)
    mind = Mind(timed, habits, whisperer.examples.of(timed), among)
    outcome = _decide(mind, whisperer, thought)
    thought.model_was_late = model_time is not None and model_time.was_late
    whispered = Whispered(
        text=outcome.text,
        whisper_id=stores.new_id(),
        injected=outcome.injected,
        silence=outcome.silence,
        stage=thought.stage,
        took_ms=round((time.perf_counter() - begun) * 1000, 1),
        explained=_explained(thought, outcome.silence),
    )
    _note(mind, whisperer, thought, outcome)
    _log(mind, whisperer, thought, outcome, whispered)
    if thought.searched_at is not None:
        whisperer.pace.note(time.perf_counter() - thought.searched_at)
    return whispered


def _time_for_models(whisperer: Whisperer, prompt: Prompt) -> ModelDeadline | None:
    if prompt.due is None:
        return None
    return ModelDeadline(prompt.due - whisperer.pace.reserve, whisperer.model_threads)


def _limited(stores: Stores, model_time: ModelDeadline | None) -> Stores:
    if model_time is None:
        return stores
    return replace(stores, minds=model_time.limit(stores.minds))


def _learn_of_others(
    stores: Stores, habits: WhisperHabits, whisperer: Whisperer, prompt: Prompt, now: datetime
) -> None:
    """Look what other servers whispered in this session. A log that cannot be read keeps nobody
    from being whispered to."""
    if prompt.session_id is None or not stores.leases.shared:
        return
    since = now - timedelta(minutes=habits.session_gap_minutes)
    try:
        entries = stores.log.whispers(habits.context_buffer_size, prompt.session_id)
    except Unavailable:
        return
    said = [said_in(each, now) for each in entries if each.at >= since]
    whisperer.sessions.learn(prompt.session_id, said, habits.context_buffer_size)


def _decide(mind: Mind, whisperer: Whisperer, thought: Thought) -> _Outcome:
    silence = _think(mind, thought)
    if silence is not None:
        return _Outcome(silence=silence)
    if _is_held_out(mind.habits, thought.prompt):
        _, withheld = worded(mind, thought, None, [])
        return _Outcome(silence=Cause(WhisperSilence.HELD_OUT), withheld=withheld)
    return _tell(mind, whisperer, thought)


def _think(mind: Mind, thought: Thought) -> Cause | None:
    """Go through the stages; return why nothing is to be said, if that is so."""
    for name, stage in STAGES:
        thought.stage = name
        try:
            stage(mind, thought)
        except Silence as silence:
            return silence.cause
    return None


def _is_held_out(habits: WhisperHabits, prompt: Prompt) -> bool:
    """Whether this whisper is one of those held back, chosen by the prompt's own text."""
    if habits.holdout <= 0:
        return False
    return (hash_of(prompt.text) % 1_000) < habits.holdout * 1_000


def hash_of(text: str) -> int:
    """Return a number that is the same for a text in every process."""
    return zlib.crc32(text.encode("utf-8", "replace"))


def _tell(mind: Mind, whisperer: Whisperer, thought: Thought) -> _Outcome:
    """Claim what is to be told, so that another prompt of the session does not tell it at the
    same time, and word what this one got."""
    explorer = explorer_of(thought) if mind.habits.exploration else None
    wanted = [*thought.candidates, *([] if explorer is None else [explorer])]
    ids = [each.memory.id for each in wanted]
    with whisperer.sessions.claiming(thought.prompt.session_id, ids) as claim:
        thought.candidates = [each for each in thought.candidates if each.memory.id in claim.ids]
        if not thought.candidates:
            thought.stage = "session"
            return _Outcome(silence=Cause(WhisperSilence.TOLD_BEFORE))
        mine = explorer if explorer is not None and explorer.memory.id in claim.ids else None
        outcome = _worded(mind, thought, mine)
        claim.told = outcome.told
    return outcome


def _worded(mind: Mind, thought: Thought, explorer: Candidate | None) -> _Outcome:
    text, injected = worded(mind, thought, explorer, extras(mind, thought))
    if not injected:
        thought.reviewed = None
        return _Outcome(silence=Cause(WhisperSilence.NO_ROOM))
    told = {each.memory.id for each in injected} | set(thought.restated)
    return _Outcome(text, injected, told=frozenset(told))


# --- what is kept of it ---------------------------------------------------------------------


def _explained(thought: Thought, silence: Cause | None) -> dict[str, object]:
    rows = [*thought.candidates, *thought.refused]
    best = max((each.score for each in rows), default=0.0)
    refused = sorted(thought.refused, key=lambda each: -each.score)
    return {
        "stage": thought.stage,
        "silence_parts": silence.to_json() if silence else None,
        "without_model": _without_model(thought),
        "intents": sorted(each.value for each in thought.intents),
        "best": round(best, 4),
        "candidates": [_row(each) for each in thought.candidates[:LOGGED_CANDIDATES]],
        "refused": [_row(each) for each in refused[:LOGGED_CANDIDATES]],
        "passed_over": [_row(each) for each in thought.passed_over[:LOGGED_CANDIDATES]],
        "restated": dict(thought.restated),
    }


def _without_model(thought: Thought) -> str | None:
    """Say what was done without the model, because it would have been late."""
    if not thought.model_was_late:
        return None
    return BY_WORDS_ALONE if thought.trace is None else NOT_ALL_READ


def _row(each: Candidate) -> dict[str, object]:
    return {
        "memory": each.memory.id,
        "title": each.memory.headline,
        "score": round(each.score, 4),
        "chance": round(each.chance, 4),
        "words": round(each.coverage, 4),
        "meaning": round(each.near, 4),
        "affinity": round(each.affinity, 4),
        "reasons_parts": [reason.to_json() for reason in each.reasons],
        **({"held": each.held} if each.held else {}),
    }


def _is_kind(silence: Cause | None, kind: WhisperSilence) -> bool:
    return silence is not None and silence.kind == kind


def _note(mind: Mind, whisperer: Whisperer, thought: Thought, outcome: _Outcome) -> None:
    """Remember the prompt for the session, and what is told about it or awaits its receipt."""
    prompt = thought.prompt
    said = Said(prompt.text[:LOGGED_PROMPT_CHARS], thought.now, thought.vector, outcome.told)
    whisperer.sessions.note(prompt.session_id, said, mind.habits.context_buffer_size)


def _log(
    mind: Mind, whisperer: Whisperer, thought: Thought, outcome: _Outcome, whispered: Whispered
) -> None:
    """Write down what came of a prompt; what nobody has to confirm is delivered with it. While
    somebody waits with a deadline nothing is written: it is done right after."""
    prompt = thought.prompt
    body = {
        **whispered.explained,
        "prompt": prompt.text[:LOGGED_PROMPT_CHARS],
        "among": list(within(prompt).spaces),
        "injected": [each.memory.id for each in outcome.injected],
        "withheld": [each.memory.id for each in outcome.withheld],
        "held_out": _is_kind(outcome.silence, WhisperSilence.HELD_OUT),
        "took_ms": whispered.took_ms,
        **({} if thought.reviewed is None else {"reviewed": thought.reviewed}),
    }
    keep_after = thought.now - timedelta(days=mind.habits.log_days)
    entry = WhisperEntry(whispered.whisper_id, thought.now, prompt.session_id, prompt.space, body)
    if outcome.injected and prompt.awaits_receipt:
        left = 0.0 if prompt.due is None else max(prompt.due - time.monotonic(), 0.0)
        until = format_time(thought.now + timedelta(seconds=left + RECEIPT_SECONDS))
        awaited = {"delivery": Delivery.AWAITED.value, "awaited_until": until}
        entry = replace(entry, body={**body, **awaited})

    def write() -> None:
        if outcome.injected and not prompt.awaits_receipt:
            deliver(mind.everywhere, whisperer.sessions, entry, keep_after)
            return
        write_down(mind.stores, entry, keep_after)
        if not outcome.injected:
            mind.stores.event_bus.publish([told(entry, outcome.silence)])

    if prompt.due is None:
        write()
    else:
        mind.stores.executor.submit(write)
