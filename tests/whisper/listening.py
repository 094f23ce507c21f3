"""Being whispered to, as these tests do it; and thoughts that begin at any stage."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import numpy as np

from madeleine.api.wording import word
from madeleine.language.intent import Intent
from madeleine.model.memory import Memory
from madeleine.model.trace import QueryEmbedding
from madeleine.model.vector import Vector
from madeleine.whisper.habits import WhisperHabits
from madeleine.whisper.session import Recent, Said
from madeleine.whisper.stages import Candidate, Mind, Silence, Stage, Thought
from madeleine.whisper.values import Prompt, Whispered
from madeleine.whisper.whisper import Whisperer, whisper
from madeleine.write.stores import Stores
from tests.fakes import NOON, FakeClock

HABITS = WhisperHabits()


@dataclass(slots=True)
class Listener:
    """Somebody who types prompts and is whispered to."""

    stores: Stores
    habits: WhisperHabits = HABITS
    whisperer: Whisperer = field(default_factory=Whisperer)

    @property
    def clock(self) -> FakeClock:
        assert isinstance(self.stores.clock, FakeClock)
        return self.stores.clock

    def hears(self, prompt: str, session: str | None = None, space: str | None = None) -> Whispered:
        return whisper(self.stores, self.habits, self.whisperer, Prompt(prompt, space, session))

    def is_sent(self, prompt: str, session: str | None = None) -> Whispered:
        """Hear what counts as told only once `confirm` says that it was delivered."""
        asked = Prompt(prompt, session_id=session, awaits_receipt=True)
        return whisper(self.stores, self.habits, self.whisperer, asked)


def contents(said: Whispered) -> list[str]:
    """Return what the whispered memories say, in their order."""
    return [each.memory.content for each in said.injected]


# --- stages alone ---------------------------------------------------------------------------


def a_mind(stores: Stores, habits: WhisperHabits = HABITS) -> Mind:
    return Mind(stores, habits, {})


def a_memory(number: int = 1, content: str = "a thing worth knowing", **fields: object) -> Memory:
    """Return a memory; each is a day older than the one before."""
    at = NOON - timedelta(days=number)
    known: dict[str, object] = {"created": at, "updated": at, **fields}
    return Memory(f"{number:08}-0000-4000-8000-000000000000", content, **known)  # type: ignore[arg-type]  # tests name real fields


def a_candidate(number: int = 1, score: float = 0.8, **fields: object) -> Candidate:
    """Return a candidate that shares words with the prompt, unless the fields say otherwise."""
    memory = fields.pop("memory", None) or a_memory(number)
    known: dict[str, object] = {"chance": score, "coverage": 0.5, "near": 0.5, **fields}
    return Candidate(memory, score, **known)  # type: ignore[arg-type]  # tests name real fields


def a_thought(
    *candidates: Candidate,
    prompt: str = "which database did we pick?",
    said: Sequence[Said] = (),
    told: Iterable[str] = (),
    intents: Iterable[Intent] = (Intent.GENERAL,),
    vector: Vector | None = None,
) -> Thought:
    """Return a thought as it arrives at a stage."""
    recent = Recent(tuple(said), frozenset(told), first=not said)
    thought = Thought(Prompt(prompt), recent, NOON, frozenset(intents))
    thought.candidates = list(candidates)
    if vector is not None:
        rows = np.zeros((0, len(vector)), np.float32)
        thought.trace = QueryEmbedding(vector, rows, rows, ())
    return thought


def why_silent(stage: Stage, mind: Mind, thought: Thought) -> str:
    """Return the reason that a stage ends a thought with; nothing if it passes it on."""
    try:
        stage(mind, thought)
    except Silence as silence:
        return word(silence.cause)
    return ""


def scores(candidates: Iterable[Candidate]) -> list[float]:
    return [round(each.score, 4) for each in candidates]
