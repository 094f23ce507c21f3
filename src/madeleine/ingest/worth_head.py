"""Whether something said in a conversation is worth keeping, and as what: a small learnt head.

It weighs the signs of a sentence (`language/worth_signs.py`) and, where the built-in model reads
along, its vector. The weights are learnt by `bench/training/train_worth.py`. With another model
the signs alone decide, by weights of their own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from madeleine.language.worth_signs import read_worth_signs
from madeleine.model.vector import Vector
from madeleine.model.words import MemoryType
from madeleine.rules.chances import chance_from_log_odds


@dataclass(frozen=True, slots=True)
class SignWeights:
    """What each sign weighs, and what each number of a vector does where one is known."""

    bias: float
    signs: Mapping[str, float]
    vector: Vector | None

    def add_up(self, signs: Mapping[str, float], vector: Vector | None) -> float:
        told = sum(value * self.signs.get(name, 0.0) for name, value in signs.items() if value)
        seen = 0.0 if self.vector is None or vector is None else float(self.vector @ vector)
        return self.bias + told + seen


@dataclass(frozen=True, slots=True)
class WorthHead:
    """The weights of being worth it, and of being each type."""

    least: float
    """The chance from which something is kept."""
    worth: SignWeights
    types: Mapping[MemoryType, SignWeights]


@dataclass(frozen=True, slots=True)
class Worth:
    """What a head says of a sentence."""

    chance: float
    type: MemoryType
    kept: bool


@dataclass(frozen=True, slots=True)
class LearntHeads:
    """One head with the vectors of one model, and one without."""

    model: str
    with_vector: WorthHead
    by_signs: WorthHead


@cache
def learnt_worth_heads() -> LearntHeads:
    """Return the weights that were learnt last."""
    text = files("madeleine.ingest").joinpath("worth_weights.json").read_text("utf-8")
    values = json.loads(text)
    return LearntHeads(
        values["model"], _read_head(values["with_vector"]), _read_head(values["by_signs"])
    )


def judge_worth(
    sentence: str, lead: str, after_failure: bool, vector: Vector | None, model: str
) -> Worth:
    """Return whether a sentence is worth keeping, and its type."""
    heads = learnt_worth_heads()
    known = vector is not None and model == heads.model
    head = heads.with_vector if known else heads.by_signs
    signs = read_worth_signs(sentence, lead, after_failure)
    chance = chance_from_log_odds(head.worth.add_up(signs, vector if known else None))
    best = max(head.types, key=lambda each: head.types[each].add_up(signs, vector))
    return Worth(chance, best, chance >= head.least)


def _read_head(values: Mapping[str, object]) -> WorthHead:
    types = values["types"]
    assert isinstance(types, Mapping)
    return WorthHead(
        float(str(values["least"])),
        _read_weights(values["worth"]),
        {MemoryType(name): _read_weights(each) for name, each in types.items()},
    )


def _read_weights(values: object) -> SignWeights:
    assert isinstance(values, Mapping)
    vector = values.get("vector")
    return SignWeights(
        float(values["bias"]),
        {name: float(weight) for name, weight in values["signs"].items()},
        None if vector is None else np.array(vector, np.float32),
    )
