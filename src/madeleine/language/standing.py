"""Whether a memory is a standing note: one that says how things are to be done.

`Short sentences, no emojis` holds for every answer, `use uv, never pip` for every install; a fact
only answers who asks for it. Two heads of learnt weights tell them apart (`bench/training/
train_standing.py`): one by the form of the text and the vector that the built-in model makes of it,
one by the form alone, for other languages and where there is no such vector. Who writes `kind:
standing` or `kind: plain` into the front matter has the last word.

An index keeps those that may be standing notes under the keys of `standing_keys`, by their form: it
lets nearly all of them through, and the vector decides when they are read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from madeleine.language.english import may_be_english
from madeleine.language.standing_signs import read_standing_signs
from madeleine.model.memory import Memory
from madeleine.model.vector import Vector
from madeleine.model.words import SELF_SOURCE, MemoryKind, MemoryType
from madeleine.rules.chances import chance_from_log_odds

SET_KEY = "standing:set"
PREFERENCE_KEY = "standing:preference"
READ_KEY = "standing:read"
STANDING_KEYS = (SET_KEY, PREFERENCE_KEY, READ_KEY)
"""Under what an index keeps a memory that somebody calls a standing note, a preference that may be
one, and another memory that may be one."""

STANDING_FROM = 0.5
MAY_BE_FROM = 0.15  # by its form alone; of what is written for training 1 of 100 is below
PREFERENCE_MORE = 1.5  # log odds: what somebody keeps as a preference mostly is one


@dataclass(frozen=True, slots=True)
class _StandingHead:
    bias: float
    signs: Mapping[str, float]
    vector: Vector | None = None

    def log_odds(self, text: str, vector: Vector | None = None) -> float:
        said = read_standing_signs(text)
        total = self.bias + sum(self.signs[name] * value for name, value in said.items())
        if self.vector is not None and vector is not None:
            total += float(np.dot(self.vector, vector))
        return total


@dataclass(frozen=True, slots=True)
class _StandingWeights:
    model: str
    with_vector: _StandingHead
    by_signs: _StandingHead


def standing_chance(memory: Memory, vector: Vector | None = None, model: str = "") -> float:
    """Return the chance that a memory says how things are to be done. `vector` is what `model`
    made of its first passage."""
    if memory.kind is not None:
        return float(memory.kind is MemoryKind.STANDING)
    more = PREFERENCE_MORE if memory.type is MemoryType.PREFERENCE else 0.0
    return chance_from_log_odds(read_standing_log_odds(memory.content, vector, model) + more)


def is_standing(memory: Memory, vector: Vector | None = None, model: str = "") -> bool:
    """Whether a memory says how things are to be done."""
    return standing_chance(memory, vector, model) >= STANDING_FROM


def read_standing_log_odds(text: str, vector: Vector | None, model: str) -> float:
    """Return how likely a text says how things are to be done, by itself; 0 is even."""
    weights = _shipped_weights()
    fits = vector is not None and weights.model in model.split("+")
    if fits and may_be_english(text):
        return weights.with_vector.log_odds(text, vector)
    return weights.by_signs.log_odds(text)


def standing_keys(memory: Memory) -> list[str]:
    """Return under which key a memory is looked up as a standing note; none if it hardly is one."""
    if memory.kind is MemoryKind.STANDING:
        return [SET_KEY]
    if memory.source == SELF_SOURCE or standing_chance(memory) < MAY_BE_FROM:
        return []
    return [PREFERENCE_KEY if memory.type is MemoryType.PREFERENCE else READ_KEY]


@cache
def _shipped_weights() -> _StandingWeights:
    values = json.loads(
        files("madeleine.language").joinpath("standing_weights.json").read_text("utf-8")
    )
    both, signs = values["with_vector"], values["by_signs"]
    vector = np.array(both["vector"], np.float32)
    return _StandingWeights(
        values["model"],
        _StandingHead(both["bias"], both["signs"], vector),
        _StandingHead(signs["bias"], signs["signs"]),
    )
