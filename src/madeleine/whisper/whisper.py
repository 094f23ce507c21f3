"""Whisper: a prompt in, a few memories out, or silence with its reason.

Whatever happens is logged with its stage and scores for a month, so that `whisper why` can
say in plain words what was whispered and what was not.
"""

from __future__ import annotations

import math
import time
import zlib
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from madeleine.errors import Unavailable
from madeleine.index.log import WhisperEntry
from madeleine.language.off_record import asks_not_to_remember, strip_private
from madeleine.minds.deadlines import LATE_REASON, ModelDeadline, ModelThreads
from madeleine.model.cause import Cause, MissingModel, WhisperSilence
from madeleine.model.query import RecallQuery
from madeleine.model.times import format_time
from madeleine.recall.recall import recall
from madeleine.whisper.capacity import BUSY_REASON, LookupEffort, WhisperCapacity
from madeleine.whisper.composing import build_extras, choose_explorer, compose_whisper
from madeleine.whisper.config import WhisperConfig
from madeleine.whisper.delivery import deliver
from madeleine.whisper.examples import IntentExamples
from madeleine.whisper.latency import LatencyEstimate
from madeleine.whisper.log import (
    DeliveryState,
    is_about_prompt,
    log_entry,
    read_turn,
    whisper_notice,
)
from madeleine.whisper.pausing import is_paused, read_pauses
from madeleine.whisper.rendering import count_tokens
from madeleine.whisper.session import RecentPrompts, SeenDeeds, WhisperSessions, WhisperTurn
from madeleine.whisper.stages import (
    STAGES,
    SharedStores,
    Silence,
    WhisperCandidate,
    WhisperContext,
    WhisperState,
    prompt_filter,
)
from madeleine.whisper.standing_notes import StandingNotes
from madeleine.whisper.values import InjectedMemory, Prompt, WhisperResult
from madeleine.write.agent_writes import is_kept_out
from madeleine.write.stores import Stores

FIRST_PROMPT = "which of these is the first?"
LOGGED_PROMPT_CHARS = 2_000
LOGGED_CANDIDATES = 12
RECEIPT_SECONDS = 0.5  # after the deadline, for a confirmation that is on its way


@dataclass(slots=True)
class Whisperer:
    """What whispering remembers between prompts: sessions, what the examples mean, and how long
    it takes at the moment."""

    sessions: WhisperSessions = field(default_factory=WhisperSessions)
    deeds: SeenDeeds = field(default_factory=SeenDeeds)
    examples: IntentExamples = field(default_factory=IntentExamples)
    pace: LatencyEstimate = field(default_factory=LatencyEstimate)
    notes: StandingNotes = field(default_factory=StandingNotes)
    model_threads: ModelThreads = field(default_factory=ModelThreads)
    capacity: WhisperCapacity = field(default_factory=WhisperCapacity)

    def warm(self, stores: Stores, config: WhisperConfig) -> None:
        """Go through all stages with a prompt of nobody, before somebody waits: the first prompt
        loads and compiles what later ones find ready, also in a home that is still empty."""
        context = WhisperContext(stores, config, self.examples.of(stores), notes=self.notes)
        state = WhisperState(Prompt(FIRST_PROMPT), RecentPrompts(), stores.clock.now())
        for state.stage, stage in STAGES:
            with suppress(Silence):
                stage(context, state)
        recall(stores, RecallQuery(text=FIRST_PROMPT, limit=1), touch=False)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What came of a prompt. `told` is also what only says the same as what was whispered;
    `withheld` would have been whispered, were it not held out."""

    text: str = ""
    injected: tuple[InjectedMemory, ...] = ()
    silence: Cause | None = None
    told: frozenset[str] = frozenset()
    withheld: tuple[InjectedMemory, ...] = ()


def whisper(
    stores: Stores,
    config: WhisperConfig,
    whisperer: Whisperer,
    prompt: Prompt,
    others: tuple[SharedStores, ...] = (),
) -> WhisperResult:
    """Return what is worth saying about a prompt before it is answered. `others` are the
    shared spaces that are asked beside one's own memory.

    If it is a dry run, nothing counts as told and nothing is written down, and the answer has no
    id. If the prompt has a time by which it is due, models are waited for only as long as the rest
    can still be done by then; after that words alone decide, and the log says so. If it awaits a
    receipt, nothing counts as told before somebody confirms it (`delivery.confirm_delivery`).

    While there are too many prompts at once, words alone decide, or nothing is looked up
    (`capacity`).
    """
    if is_paused(read_pauses(stores, prompt.session_id)):
        return _keep_quiet(stores, WhisperSilence.PAUSED)
    with whisperer.capacity.take_turn(prompt.due, config.deadline_ms / 1000) as effort:
        if effort is LookupEffort.NONE:
            return _keep_quiet(stores, WhisperSilence.TOO_BUSY)
        return _look_up(stores, config, whisperer, prompt, others, effort)


def _look_up(
    stores: Stores,
    config: WhisperConfig,
    whisperer: Whisperer,
    prompt: Prompt,
    others: tuple[SharedStores, ...],
    effort: LookupEffort,
) -> WhisperResult:
    begun = time.perf_counter()
    now = stores.clock.now()
    _read_other_servers(stores, config, whisperer, prompt, now)
    recent = whisperer.sessions.recent(prompt.session_id, now, config.session_gap_minutes)
    state = WhisperState(prompt, recent, now)
    model_time = time_for_models(whisperer, prompt.due, effort)
    timed = limit_models(stores, model_time)
    among = tuple((space, limit_models(other, model_time)) for space, other in others)
    context = WhisperContext(timed, config, whisperer.examples.of(timed), among, whisperer.notes)
    outcome = _decide(context, whisperer, state)
    state.model_was_late = model_time is not None and model_time.was_late
    state.too_busy = effort is LookupEffort.WORDS
    whispered = WhisperResult(
        text=outcome.text,
        whisper_id=stores.new_id(),
        injected=outcome.injected,
        silence=outcome.silence,
        stage=state.stage,
        took_ms=round((time.perf_counter() - begun) * 1000, 1),
        without_model=_find_missing_model(state),
        explained=_build_explanation(state, outcome.silence),
    )
    if prompt.dry_run:
        return replace(whispered, whisper_id="")
    logged = _logged_part(prompt.text)
    _remember_turn(context, whisperer, state, outcome, logged)
    _log_outcome(context, whisperer, state, outcome, whispered, logged)
    if state.searched_at is not None:
        whisperer.pace.note(time.perf_counter() - state.searched_at)
    return whispered


def _keep_quiet(stores: Stores, why: WhisperSilence) -> WhisperResult:
    """Return a silence of which nothing is written down: that of a paused session, or of a prompt
    that came among too many."""
    silence = Cause(why)
    return WhisperResult(text="", whisper_id=stores.new_id(), silence=silence, stage="prompt")


def time_for_models(
    whisperer: Whisperer, due: float | None, effort: LookupEffort = LookupEffort.FULL
) -> ModelDeadline | None:
    """Return how long models are waited for by somebody who waits until `due`."""
    if due is None:
        return None
    if effort is not LookupEffort.FULL:
        return ModelDeadline(-math.inf, whisperer.model_threads, BUSY_REASON)
    return ModelDeadline(due - whisperer.pace.reserve, whisperer.model_threads)


def limit_models(stores: Stores, model_time: ModelDeadline | None) -> Stores:
    """Return stores whose models are waited for no longer than that."""
    if model_time is None:
        return stores
    return replace(stores, minds=model_time.limit(stores.minds))


def _read_other_servers(
    stores: Stores, config: WhisperConfig, whisperer: Whisperer, prompt: Prompt, now: datetime
) -> None:
    """Look what other servers whispered in this session. A log that cannot be read keeps nobody
    from being whispered to."""
    if prompt.session_id is None or not stores.leases.shared:
        return
    since = now - timedelta(minutes=config.session_gap_minutes)
    try:
        entries = stores.log.whispers(config.context_buffer_size, prompt.session_id)
    except Unavailable:
        return
    prompts = [each for each in entries if is_about_prompt(each.body) and each.at >= since]
    said = [read_turn(each, now) for each in prompts]
    whisperer.sessions.learn(prompt.session_id, said, config.context_buffer_size)
    for each in entries:
        if not is_about_prompt(each.body):
            whisperer.sessions.keep_told(prompt.session_id, read_turn(each, now).told)


def _decide(context: WhisperContext, whisperer: Whisperer, state: WhisperState) -> _Outcome:
    silence = _run_stages(context, state)
    if silence is not None:
        return _Outcome(silence=silence)
    if _is_held_out(context.config, state.prompt):
        _, withheld = compose_whisper(context, state, None, [])
        return _Outcome(silence=Cause(WhisperSilence.HELD_OUT), withheld=withheld)
    return _claim_and_compose(context, whisperer, state)


def _run_stages(context: WhisperContext, state: WhisperState) -> Cause | None:
    """Go through the stages; return why nothing is to be said, if that is so."""
    for name, stage in STAGES:
        state.stage = name
        try:
            stage(context, state)
        except Silence as silence:
            return silence.cause
    return None


def _is_held_out(config: WhisperConfig, prompt: Prompt) -> bool:
    """Whether this whisper is one of those held back, chosen by the prompt's own text."""
    if config.holdout <= 0:
        return False
    return (hash_of(prompt.text) % 1_000) < config.holdout * 1_000


def hash_of(text: str) -> int:
    """Return a number that is the same for a text in every process."""
    return zlib.crc32(text.encode("utf-8", "replace"))


def _claim_and_compose(
    context: WhisperContext, whisperer: Whisperer, state: WhisperState
) -> _Outcome:
    """Claim what is to be told, so that another prompt of the session does not tell it at the
    same time, and word what this one got."""
    explorer = choose_explorer(state) if context.config.exploration else None
    if state.prompt.dry_run:
        return _compose(context, state, explorer)
    wanted = [*state.candidates, *([] if explorer is None else [explorer])]
    ids = [each.memory.id for each in wanted]
    with whisperer.sessions.claiming(state.prompt.session_id, ids) as claim:
        state.candidates = [each for each in state.candidates if each.memory.id in claim.ids]
        if not state.candidates:
            state.stage = "session"
            return _Outcome(silence=Cause(WhisperSilence.TOLD_BEFORE))
        mine = explorer if explorer is not None and explorer.memory.id in claim.ids else None
        outcome = _compose(context, state, mine)
        claim.told = outcome.told
    return outcome


def _compose(
    context: WhisperContext, state: WhisperState, explorer: WhisperCandidate | None
) -> _Outcome:
    text, injected = compose_whisper(context, state, explorer, build_extras(context, state))
    if not injected:
        state.reviewed = state.questioned = None
        return _Outcome(silence=Cause(WhisperSilence.NO_ROOM))
    told = {each.memory.id for each in injected} | set(state.restated)
    return _Outcome(text, injected, told=frozenset(told))


# --- what is kept of it ---------------------------------------------------------------------


def _build_explanation(state: WhisperState, silence: Cause | None) -> dict[str, object]:
    rows = [*state.candidates, *state.refused]
    best = max((each.worth for each in rows), default=0.0)
    refused = sorted(state.refused, key=lambda each: -each.worth)
    return {
        "stage": state.stage,
        "silence_parts": silence.to_json() if silence else None,
        "without_model": _render_missing_model(state),
        "without_model_kind": _find_missing_model(state),
        "intents": sorted(each.value for each in state.intents),
        "best": round(best, 4),
        "candidates": [_candidate_row(each) for each in state.candidates[:LOGGED_CANDIDATES]],
        "refused": [_candidate_row(each) for each in refused[:LOGGED_CANDIDATES]],
        "passed_over": [_candidate_row(each) for each in state.passed_over[:LOGGED_CANDIDATES]],
        "restated": dict(state.restated),
    }


def _render_missing_model(state: WhisperState) -> str | None:
    """Say what was done without the model, because it would have been late or does not answer."""
    if state.model_was_late:
        reason = BUSY_REASON if state.too_busy else LATE_REASON
        return f"{'' if state.trace is None else 'in part '}by words alone: {reason}"
    return f"by words alone: {state.no_model}" if state.no_model else None


def _find_missing_model(state: WhisperState) -> MissingModel | None:
    if state.model_was_late:
        return MissingModel.BUSY if state.too_busy else MissingModel.LATE
    return MissingModel.DOWN if state.no_model else None


def _candidate_row(each: WhisperCandidate) -> dict[str, object]:
    return {
        "memory": each.memory.id,
        "title": each.memory.headline,
        "score": round(each.score, 4),
        "worth": round(each.worth, 4),
        "words": round(each.coverage, 4),
        "meaning": round(each.near, 4),
        "affinity": round(each.affinity, 4),
        "reasons_parts": [reason.to_json() for reason in each.reasons],
        **({"held": each.held} if each.held else {}),
    }


def _is_kind(silence: Cause | None, kind: WhisperSilence) -> bool:
    return silence is not None and silence.kind == kind


def _remember_turn(
    context: WhisperContext,
    whisperer: Whisperer,
    state: WhisperState,
    outcome: _Outcome,
    logged: str,
) -> None:
    """Remember the prompt for the session, and what is told about it or awaits its receipt."""
    prompt = state.prompt
    said = WhisperTurn(logged, state.now, state.vector, outcome.told)
    standing = {each.memory.id for each in state.standing}
    whisperer.sessions.keep_told(prompt.session_id, outcome.told & standing)
    whisperer.sessions.note(prompt.session_id, said, context.config.context_buffer_size)


def _logged_part(prompt: str) -> str:
    """Return as much of a prompt as is written down: nothing private, and nothing of one that is
    not to be kept."""
    if asks_not_to_remember(prompt[:LOGGED_PROMPT_CHARS]):
        return ""
    return strip_private(prompt)[:LOGGED_PROMPT_CHARS]


def _is_kept_out(context: WhisperContext, prompt: Prompt) -> bool:
    """Whether the settings want nothing kept of where a prompt was typed, or of its words."""
    return is_kept_out(context.stores.config, prompt.cwd, prompt.space, prompt.text)


def _log_outcome(
    context: WhisperContext,
    whisperer: Whisperer,
    state: WhisperState,
    outcome: _Outcome,
    whispered: WhisperResult,
    logged: str,
) -> None:
    """Write down what came of a prompt; what nobody has to confirm is delivered with it. While
    somebody waits with a deadline nothing is written: it is done right after."""
    prompt = state.prompt
    body = {
        **whispered.explained,
        "prompt": "" if _is_kept_out(context, prompt) else logged,
        "among": list(prompt_filter(prompt).spaces),
        "injected": [each.memory.id for each in outcome.injected],
        "withheld": [each.memory.id for each in outcome.withheld],
        "held_out": _is_kind(outcome.silence, WhisperSilence.HELD_OUT),
        "took_ms": whispered.took_ms,
        "tokens": count_tokens(outcome.text),
        **({"text": outcome.text} if outcome.text else {}),
        **({} if state.reviewed is None else {"reviewed": state.reviewed}),
        **({} if state.questioned is None else {"questioned": state.questioned}),
    }
    keep_after = state.now - timedelta(days=context.config.log_days)
    entry = WhisperEntry(whispered.whisper_id, state.now, prompt.session_id, prompt.space, body)
    if outcome.injected and prompt.awaits_receipt:
        left = 0.0 if prompt.due is None else max(prompt.due - time.monotonic(), 0.0)
        until = format_time(state.now + timedelta(seconds=left + RECEIPT_SECONDS))
        awaited = {"delivery": DeliveryState.AWAITED.value, "awaited_until": until}
        entry = replace(entry, body={**body, **awaited})

    def write() -> None:
        if outcome.injected and not prompt.awaits_receipt:
            deliver(context.everywhere, whisperer.sessions, entry, keep_after)
            return
        log_entry(context.stores, entry, keep_after)
        if not outcome.injected:
            context.stores.event_bus.publish([whisper_notice(entry, outcome.silence)])

    if prompt.due is None:
        write()
    else:
        context.stores.executor.submit(write)
