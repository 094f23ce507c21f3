"""Typing every prompt, and noting what is whispered, by the whisper that hooks call."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from _recall_homes import Homes, bar
from _whisper_prompts import Prompt, Trial

from madeleine import Madeleine

WHISPER = "MADELEINE_WHISPER_"
MAX_NODES = f"{WHISPER}MAX_NODES"
GATE = f"{WHISPER}INJECTION_GATE"
MOST = 3  # memories in one whisper
NOTHING = float("-inf")  # the score of what is not there

OPEN = {MAX_NODES: str(MOST), GATE: "0"}
"""Settings by which everything is whispered that comes as far as the gate."""
SHIPPED = {MAX_NODES: str(MOST)}


@dataclass(frozen=True, slots=True)
class Injected:
    """A memory that was whispered."""

    id: str
    score: float


@dataclass(frozen=True, slots=True)
class Answer:
    """A prompt and what was whispered. `best` is the score that came nearest to a whisper,
    as far as a silence tells."""

    prompt: Prompt
    injected: tuple[Injected, ...]
    best: float = 0.0

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(each.id for each in self.injected)

    @property
    def top(self) -> float:
        """The gate that would have kept all of it back is above this."""
        return max((each.score for each in self.injected), default=NOTHING)

    def at(self, gate: float) -> Answer:
        """Return what would have been whispered with this gate."""
        kept = tuple(each for each in self.injected if each.score >= gate)
        return replace(self, injected=kept)


def ask_trials(
    homes: Homes, trials: Sequence[Trial], settings: Mapping[str, str]
) -> list[list[Answer]]:
    """Return the answers of each trial, typed in a home of its own."""
    with environment(settings):
        return [_ask_trial(homes, trial) for trial in trials if trial.prompts]


def _ask_trial(homes: Homes, trial: Trial) -> list[Answer]:
    answers: list[Answer] = []
    with (
        homes.of_store(trial.store) as opened,
        bar(f"whispering to {trial.store.name}") as advance,
    ):
        for prompt in trial.prompts:
            answers.append(ask(opened, prompt, trial.session))
            advance(len(answers), len(trial.prompts))
    return answers


def ask(opened: Madeleine, prompt: Prompt, session: str | None = None) -> Answer:
    """Type one prompt; without a session it is the first and only one."""
    said = whisper(opened, prompt, session_id=session, explain=True)
    injected = tuple(Injected(each.memory.id, each.score) for each in said.injected)
    top = max((each.score for each in injected), default=None)
    return Answer(prompt, injected, _silenced_score(said) if top is None else top)


def whisper(opened: Madeleine, prompt: Prompt, **options: object) -> Any:
    """Return what the public door says to a prompt."""
    return opened.whisper(prompt.text, space=prompt.space, **options)


def _silenced_score(said: Any) -> float:
    best = said.explained.get("best") if said.explained else None
    return float(best) if isinstance(best, int | float) else 0.0


@contextmanager
def environment(settings: Mapping[str, str | None]) -> Iterator[None]:
    """Set variables meanwhile; None takes one away."""
    before = {name: os.environ.get(name) for name in settings}
    _set(settings)
    try:
        yield
    finally:
        _set(before)


def _set(settings: Mapping[str, str | None]) -> None:
    for name, value in settings.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
