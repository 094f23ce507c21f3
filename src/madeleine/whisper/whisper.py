"""Whisper: a prompt in, a few memories out, or silence with its reason.

Whatever happens is logged with its stage and scores for a month, so that `whisper why` can
say in plain words what was whispered and what was not.
"""

from __future__ import annotations

import time
import zlib
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from madeleine.errors import StoreUnwritable, Unavailable
from madeleine.index.port import WhisperEntry
from madeleine.model.event import Kind
from madeleine.model.times import format_time
from madeleine.whisper.examples import Examples
from madeleine.whisper.habits import WhisperHabits
from madeleine.whisper.log import amend, ids_in, said_in, told, write_down
from madeleine.whisper.session import Said, Sessions
from madeleine.whisper.stages import STAGES, Candidate, Mind, Other, Silence, Thought, within
from madeleine.whisper.telling import explorer_of, extras, review_key, worded
from madeleine.whisper.values import Injected, Prompt, Whispered
from madeleine.write.record import event, record
from madeleine.write.stores import Stores

LOGGED_PROMPT_CHARS = 2_000
LOGGED_CANDIDATES = 12
HELD_OUT = "held back to measure whether whispers help"
TOLD = "all of it was whispered before in this session"
NO_ROOM = "there is no room within whisper.token_budget and whisper.max_nodes"


@dataclass(slots=True)
class Whisperer:
    """What whispering remembers between prompts: sessions, and what the examples mean."""

    sessions: Sessions = field(default_factory=Sessions)
    examples: Examples = field(default_factory=Examples)

    def warm(self, stores: Stores) -> None:
        """Read the examples before somebody waits for it."""
        self.examples.of(stores)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What came of a thought. `told` is also what only says the same as what was whispered;
    `withheld` would have been whispered, were it not held out."""

    text: str = ""
    injected: tuple[Injected, ...] = ()
    silence: str | None = None
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
    shared spaces that are asked beside one's own memory."""
    begun = time.perf_counter()
    now = stores.clock.now()
    _learn_of_others(stores, habits, whisperer, prompt, now)
    recent = whisperer.sessions.recent(prompt.session_id, now, habits.session_gap_minutes)
    thought = Thought(prompt, recent, now)
    mind = Mind(stores, habits, whisperer.examples.of(stores), others)
    outcome = _decide(mind, whisperer, thought)
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
    _log(mind, thought, outcome, whispered)
    return whispered


def _learn_of_others(
    stores: Stores, habits: WhisperHabits, whisperer: Whisperer, prompt: Prompt, now: datetime
) -> None:
    """Look what other servers whispered in this session. A log that cannot be read keeps nobody
    from being whispered to."""
    if prompt.session_id is None or not stores.leases.shared:
        return
    since = now - timedelta(minutes=habits.session_gap_minutes)
    try:
        entries = stores.index.whispers(habits.context_buffer_size, prompt.session_id)
    except Unavailable:
        return
    said = [said_in(each) for each in entries if each.at >= since]
    whisperer.sessions.learn(prompt.session_id, said, habits.context_buffer_size)


def came_too_late(stores: Stores, whisperer: Whisperer, whisper_id: str) -> None:
    """Note that nobody got to read a whisper: its memories, and no others, may be told again,
    and it counts neither as whispered nor as held out."""
    entry = stores.index.whisper(whisper_id)
    if entry is None:
        return
    unread = [*ids_in(entry, "injected"), *ids_in(entry, "restated")]
    whisperer.sessions.take_back(entry.session, unread)
    amend(stores, entry, {"late": True})


def _decide(mind: Mind, whisperer: Whisperer, thought: Thought) -> _Outcome:
    silence = _think(mind, thought)
    if silence is not None:
        return _Outcome(silence=silence)
    if _is_held_out(mind.habits, thought.prompt):
        _, withheld = worded(mind, thought, None, [])
        return _Outcome(silence=HELD_OUT, withheld=withheld)
    return _tell(mind, whisperer, thought)


def _think(mind: Mind, thought: Thought) -> str | None:
    """Go through the stages; return why nothing is to be said, if that is so."""
    for name, stage in STAGES:
        thought.stage = name
        try:
            stage(mind, thought)
        except Silence as silence:
            return str(silence)
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
            return _Outcome(silence=TOLD)
        mine = explorer if explorer is not None and explorer.memory.id in claim.ids else None
        outcome = _worded(mind, thought, mine)
        claim.told = outcome.told
    return outcome


def _worded(mind: Mind, thought: Thought, explorer: Candidate | None) -> _Outcome:
    text, injected = worded(mind, thought, explorer, extras(mind, thought))
    if not injected:
        thought.reviewed = None
        return _Outcome(silence=NO_ROOM)
    told = {each.memory.id for each in injected} | set(thought.restated)
    return _Outcome(text, injected, told=frozenset(told))


# --- what is kept of it ---------------------------------------------------------------------


def _explained(thought: Thought, silence: str | None) -> dict[str, object]:
    rows = [*thought.candidates, *thought.refused]
    best = max((each.score for each in rows), default=0.0)
    refused = sorted(thought.refused, key=lambda each: -each.score)
    return {
        "stage": thought.stage,
        "silence": silence,
        "intents": sorted(each.value for each in thought.intents),
        "best": round(best, 4),
        "candidates": [_row(each) for each in thought.candidates[:LOGGED_CANDIDATES]],
        "refused": [_row(each) for each in refused[:LOGGED_CANDIDATES]],
        "passed_over": [_row(each) for each in thought.passed_over[:LOGGED_CANDIDATES]],
        "restated": dict(thought.restated),
    }


def _row(each: Candidate) -> dict[str, object]:
    return {
        "memory": each.memory.id,
        "title": each.memory.headline,
        "score": round(each.score, 4),
        "chance": round(each.chance, 4),
        "words": round(each.coverage, 4),
        "meaning": round(each.near, 4),
        "affinity": round(each.affinity, 4),
        "reasons": list(each.reasons),
        **({"held": each.held} if each.held else {}),
    }


def _note(mind: Mind, whisperer: Whisperer, thought: Thought, outcome: _Outcome) -> None:
    """Remember the prompt for the session, and which memory it was asked about."""
    prompt = thought.prompt
    said = Said(prompt.text[:LOGGED_PROMPT_CHARS], thought.now, thought.vector, outcome.told)
    whisperer.sessions.note(prompt.session_id, said, mind.habits.context_buffer_size)
    if thought.reviewed is not None:
        value = {"key": review_key(thought.reviewed), "value": format_time(thought.now)}
        try:
            record(mind.stores, [event(mind.stores, Kind.STATE, value)], durable=False)
        except (StoreUnwritable, Unavailable):
            return  # then it may be asked about once more


def _log(mind: Mind, thought: Thought, outcome: _Outcome, whispered: Whispered) -> None:
    prompt = thought.prompt
    body = {
        **whispered.explained,
        "prompt": prompt.text[:LOGGED_PROMPT_CHARS],
        "among": list(within(prompt).spaces),
        "injected": [each.memory.id for each in outcome.injected],
        "withheld": [each.memory.id for each in outcome.withheld],
        "held_out": outcome.silence == HELD_OUT,
        "took_ms": whispered.took_ms,
    }
    entry = WhisperEntry(whispered.whisper_id, thought.now, prompt.session_id, prompt.space, body)
    write_down(mind.stores, entry, thought.now - timedelta(days=mind.habits.log_days))
    mind.stores.bell.ring([told(entry, outcome.silence)])
