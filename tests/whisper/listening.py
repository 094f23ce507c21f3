"""Being whispered to, as these tests do it; and thoughts that begin at any stage."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import numpy as np

from madeleine.api.wording import render_cause
from madeleine.language.intent import Intent
from madeleine.model.embedding import QueryEmbedding
from madeleine.model.memory import Memory
from madeleine.model.vector import Vector
from madeleine.whisper.config import WhisperConfig
from madeleine.whisper.session import RecentPrompts, WhisperTurn
from madeleine.whisper.stages import Silence, Stage, WhisperCandidate, WhisperContext, WhisperState
from madeleine.whisper.values import Prompt, WhisperResult
from madeleine.whisper.whisper import Whisperer, whisper
from madeleine.write.stores import Stores
from tests.fakes import NOON, FakeClock

CONFIG = WhisperConfig()


@dataclass(slots=True)
class Listener:
    """Somebody who types prompts and is whispered to."""

    stores: Stores
    config: WhisperConfig = CONFIG
    whisperer: Whisperer = field(default_factory=Whisperer)

    @property
    def clock(self) -> FakeClock:
        assert isinstance(self.stores.clock, FakeClock)
        return self.stores.clock

    def hears(
        self, prompt: str, session: str | None = None, space: str | None = None
    ) -> WhisperResult:
        return whisper(self.stores, self.config, self.whisperer, Prompt(prompt, space, session))

    def is_sent(self, prompt: str, session: str | None = None) -> WhisperResult:
        """Hear what counts as told only once `confirm` says that it was delivered."""
        asked = Prompt(prompt, session_id=session, awaits_receipt=True)
        return whisper(self.stores, self.config, self.whisperer, asked)


def contents(said: WhisperResult) -> list[str]:
    """Return what the whispered memories say, in their order."""
    return [each.memory.content for each in said.injected]


# --- stages alone ---------------------------------------------------------------------------


def a_mind(stores: Stores, config: WhisperConfig = CONFIG) -> WhisperContext:
    return WhisperContext(stores, config, {})


def a_memory(number: int = 1, content: str = "a thing worth knowing", **fields: object) -> Memory:
    """Return a memory; each is a day older than the one before."""
    at = NOON - timedelta(days=number)
    known: dict[str, object] = {"created": at, "updated": at, **fields}
    return Memory(f"{number:08}-0000-4000-8000-000000000000", content, **known)  # type: ignore[arg-type]  # tests name real fields


def a_candidate(number: int = 1, worth: float = 0.8, **fields: object) -> WhisperCandidate:
    """Return a candidate that shares words with the prompt, unless the fields say otherwise."""
    memory = fields.pop("memory", None) or a_memory(number)
    known: dict[str, object] = {"score": worth, "coverage": 0.5, "near": 0.5, **fields}
    return WhisperCandidate(memory, worth, **known)  # type: ignore[arg-type]  # tests name real fields


def a_thought(
    *candidates: WhisperCandidate,
    prompt: str = "which database did we pick?",
    said: Sequence[WhisperTurn] = (),
    told: Iterable[str] = (),
    intents: Iterable[Intent] = (Intent.GENERAL,),
    vector: Vector | None = None,
) -> WhisperState:
    """Return a thought as it arrives at a stage."""
    recent = RecentPrompts(tuple(said), frozenset(told), first=not said)
    state = WhisperState(Prompt(prompt), recent, NOON, frozenset(intents))
    state.candidates = list(candidates)
    if vector is not None:
        rows = np.zeros((0, len(vector)), np.float32)
        state.trace = QueryEmbedding(vector, rows, rows, ())
    return state


def why_silent(stage: Stage, context: WhisperContext, state: WhisperState) -> str:
    """Return the reason that a stage ends a thought with; nothing if it passes it on."""
    try:
        stage(context, state)
    except Silence as silence:
        return render_cause(silence.cause)
    return ""


def worths(candidates: Iterable[WhisperCandidate]) -> list[float]:
    return [round(each.worth, 4) for each in candidates]
