"""Whisper: a prompt in, a few memories out, or silence with its reason.

Whatever happens is logged with its stage and scores for a month, so that `whisper why` can
say in plain words what was whispered and what was not.
"""

from __future__ import annotations

import threading
import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import numpy as np

from madeleine.errors import MindDown, StoreUnwritable, Unavailable
from madeleine.index.port import WhisperEntry
from madeleine.minds.port import Embedder
from madeleine.model.memory import Memory
from madeleine.model.trace import Passage
from madeleine.model.vector import Vector
from madeleine.model.words import Edge
from madeleine.rules.intent import EXAMPLES, Intent
from madeleine.whisper.habits import WhisperHabits
from madeleine.whisper.session import Said, Sessions
from madeleine.whisper.stages import STAGES, Candidate, Mind, Silence, Thought, within
from madeleine.whisper.values import Injected, Prompt, Whispered
from madeleine.whisper.wording import MAINTENANCE, review_block, whisper_text
from madeleine.write.stores import Stores

LOGGED_PROMPT_CHARS = 2_000
LOGGED_CANDIDATES = 12
RESTATED = 0.92  # a cosine from which two memories say the same
REVIEWED_FROM = 0.30  # a score from which a memory that was held back is worth asking about
REVIEWED_AFTER_HOURS = 12
REVIEWED_OF = 200  # logged prompts that are looked through for one
EXPLORED_FROM = 0.30  # a score below which there is nothing to learn from saying it
Conflicts = Mapping[frozenset[str], tuple[Memory, Memory]]
HELD_OUT = "held back to measure whether whispers help"


@dataclass(slots=True)
class Whisperer:
    """What whispering remembers between prompts: sessions, and what the examples mean."""

    sessions: Sessions = field(default_factory=Sessions)
    examples: dict[str, dict[Intent, list[Vector]]] = field(default_factory=dict)
    reading: threading.Lock = field(default_factory=threading.Lock)

    def warm(self, stores: Stores) -> None:
        """Read the examples before somebody waits for it."""
        _examples(stores, self)


def whisper(
    stores: Stores, habits: WhisperHabits, whisperer: Whisperer, prompt: Prompt
) -> Whispered:
    """Return what is worth saying about a prompt before it is answered."""
    begun = time.perf_counter()
    now = stores.clock.now()
    recent = whisperer.sessions.recent(prompt.session_id, now, habits.session_gap_minutes)
    thought = Thought(prompt, recent, now)
    mind = Mind(stores, habits, _examples(stores, whisperer))
    silence = _think(mind, thought)
    chosen = [] if silence else thought.candidates
    if chosen and _is_held_out(habits, prompt):
        silence, chosen = HELD_OUT, []
    text, told = _worded(mind, thought, chosen)
    if chosen and not told:
        silence = "there is no room within whisper.token_budget and whisper.max_nodes"
    whispered = Whispered(
        text=text,
        whisper_id=stores.new_id(),
        injected=told,
        silence=silence,
        stage=thought.stage,
        explained=_explained(thought, silence),
    )
    took = round((time.perf_counter() - begun) * 1000, 1)
    _note(mind, whisperer, thought, whispered, took)
    return Whispered(
        text, whispered.whisper_id, told, silence, thought.stage, took, whispered.explained
    )


def _think(mind: Mind, thought: Thought) -> str | None:
    """Go through the stages; return why nothing is to be said, if that is so."""
    for name, stage in STAGES:
        thought.stage = name
        try:
            stage(mind, thought)
        except Silence as silence:
            return str(silence)
    return None


def _examples(stores: Stores, whisperer: Whisperer) -> dict[Intent, list[Vector]]:
    """Return what the examples of each intent mean to the model; it reads them once."""
    embedder = stores.minds.embedder
    if embedder is None:
        return {}
    known = whisperer.examples.get(embedder.name)
    if known is None:
        with whisperer.reading:
            known = whisperer.examples.get(embedder.name)  # another may have read them meanwhile
            try:
                known = known or _read_examples(embedder)
            except MindDown:
                return {}
            whisperer.examples[embedder.name] = known
    return known


def _read_examples(embedder: Embedder) -> dict[Intent, list[Vector]]:
    return {
        intent: [
            each.vector for each in embedder.read([Passage(text, 0, len(text)) for text in texts])
        ]
        for intent, texts in EXAMPLES.items()
    }


def _is_held_out(habits: WhisperHabits, prompt: Prompt) -> bool:
    """Whether this whisper is one of those held back, chosen by the prompt's own text."""
    if habits.holdout <= 0:
        return False
    return (hash_of(prompt.text) % 1_000) < habits.holdout * 1_000


def hash_of(text: str) -> int:
    """Return a number that is the same for a text in every process."""
    return zlib.crc32(text.encode("utf-8", "replace"))


# --- wording --------------------------------------------------------------------------------


def _worded(
    mind: Mind, thought: Thought, chosen: Sequence[Candidate]
) -> tuple[str, tuple[Injected, ...]]:
    conflicts = _conflicts(mind, [each.memory for each in chosen])
    distinct = _without_restatements(mind, chosen, conflicts)
    injected = [
        Injected(each.memory, round(each.score, 4), place < mind.habits.full_nodes)
        for place, each in enumerate(distinct)
    ]
    if chosen and mind.habits.exploration:
        injected += _explorer(thought)
    thought.restated = {each.memory.id for each in chosen} - {each.memory.id for each in distinct}
    shown = [pair for pair in conflicts.values() if thought.restated.isdisjoint(_ids(pair))]
    extras = _extras(mind, thought) if injected else []  # silence stays silence
    return whisper_text(injected, shown, mind.habits, extras)


def _explorer(thought: Thought) -> list[Injected]:
    """Return the best of what was held back and not told before, if it is not hopeless."""
    new = [each for each in thought.refused if each.memory.id not in thought.recent.told]
    best = max(new, key=lambda each: each.score, default=None)
    if best is None or best.score < EXPLORED_FROM:
        return []
    return [Injected(best.memory, round(best.score, 4), False, True)]


def _without_restatements(
    mind: Mind, chosen: Sequence[Candidate], conflicts: Conflicts
) -> list[Candidate]:
    """Leave out what only says again what a better one says. What contradicts it may be as
    close in meaning, and is told."""
    vectors = mind.stores.index.vectors([each.memory.id for each in chosen])
    kept: list[Candidate] = []
    for each in chosen:
        mine = vectors.get(each.memory.id)
        same = (
            mine is not None
            and (theirs := vectors.get(other.memory.id)) is not None
            and float(np.dot(mine, theirs)) >= RESTATED
            and frozenset((each.memory.id, other.memory.id)) not in conflicts
            for other in kept
        )
        if not any(same):
            kept.append(each)
    return kept


def _conflicts(mind: Mind, memories: Sequence[Memory]) -> Conflicts:
    """Return the pairs that are known to contradict each other, each once."""
    by_id = {each.id: each for each in memories}
    edges = mind.stores.index.edges(list(by_id)) if len(by_id) > 1 else []
    return {
        frozenset((each.source, each.connection.target)): (
            by_id[each.source],
            by_id[each.connection.target],
        )
        for each in edges
        if each.connection.edge is Edge.CONTRADICTS
        and each.source in by_id
        and each.connection.target in by_id
    }


def _ids(pair: tuple[Memory, Memory]) -> set[str]:
    return {each.id for each in pair}


def _extras(mind: Mind, thought: Thought) -> list[str]:
    """Return what comes after the memories: a question for review, and a due maintenance."""
    extras = []
    if thought.recent.first and mind.habits.review and thought.prompt.session_id:
        extras.append(_review(mind, thought))
    if mind.habits.maintenance and _maintenance_is_due(mind, thought):
        extras.append(MAINTENANCE)
    return extras


def _review(mind: Mind, thought: Thought) -> str:
    """Return the question about a memory that another session held back."""
    since = thought.now - timedelta(hours=REVIEWED_AFTER_HOURS)
    told = {each.memory.id for each in thought.candidates}
    index = mind.stores.index
    for entry in index.whispers(REVIEWED_OF):
        if entry.at > since or entry.session == thought.prompt.session_id:
            continue
        refused = entry.body.get("refused")
        rows = refused if isinstance(refused, list) else []
        ids = [row["memory"] for row in rows if row["score"] >= REVIEWED_FROM]
        passing = index.allowed(ids, within(thought.prompt), thought.now) - told
        for memory in index.memories([each for each in ids if each in passing][:1]).values():
            return review_block(memory)
    return ""


def _maintenance_is_due(mind: Mind, thought: Thought) -> bool:
    value = mind.stores.index.state("maintenance")
    if not isinstance(value, str):
        return True
    return value < (thought.now - timedelta(hours=mind.habits.maintenance_hours)).isoformat()


# --- what is kept of it ---------------------------------------------------------------------


def _explained(thought: Thought, silence: str | None) -> dict[str, object]:
    rows = [*thought.candidates, *thought.refused]
    best = max((each.score for each in rows), default=0.0)
    return {
        "stage": thought.stage,
        "silence": silence,
        "intents": sorted(each.value for each in thought.intents),
        "best": round(best, 4),
        "candidates": [_row(each) for each in thought.candidates[:LOGGED_CANDIDATES]],
        "refused": [
            _row(each)
            for each in sorted(thought.refused, key=lambda each: -each.score)[:LOGGED_CANDIDATES]
        ],
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
    }


def _note(
    mind: Mind, whisperer: Whisperer, thought: Thought, whispered: Whispered, took_ms: float
) -> None:
    """Remember the prompt for the session, and log what came of it. A full disk must not keep
    anybody from being whispered to."""
    prompt, habits = thought.prompt, mind.habits
    told = {each.memory.id for each in whispered.injected}
    said = Said(prompt.text[:LOGGED_PROMPT_CHARS], thought.now, thought.vector, bool(told))
    told |= thought.restated if told else set()  # what says the same has been said
    whisperer.sessions.note(prompt.session_id, said, told, habits.context_buffer_size)
    body = {
        **whispered.explained,
        "prompt": prompt.text[:LOGGED_PROMPT_CHARS],
        "injected": [each.memory.id for each in whispered.injected],
        "held_out": whispered.silence == HELD_OUT,
        "took_ms": took_ms,
    }
    entry = WhisperEntry(whispered.whisper_id, thought.now, prompt.session_id, prompt.space, body)
    try:
        mind.stores.index.log_whisper(entry, thought.now - timedelta(days=habits.log_days))
    except (StoreUnwritable, Unavailable):
        return
