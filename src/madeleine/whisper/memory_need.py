"""Whether a prompt can want anything from a memory at all.

A definition, a sum, a translation, small talk or a task that brings all it needs wants nothing,
even if a memory shares its words. A small head of learnt weights looks at the vector of the prompt
and at its form. It moves the gate and does not replace it: what clearly fits is still whispered.
Weights belong to one sentence model: there are some for the built-in one and some for that of other
languages. With any other model nothing is said about the need.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from madeleine.language.prompt_form import read_prompt_form
from madeleine.model.vector import Vector

MOST = 4.0  # log odds: nothing is surer by the prompt alone
FILES = ("memory_need.json", "other_language_need.json")


@dataclass(frozen=True, slots=True)
class NeedHead:
    """Weights for the vector that one model gives, and for the form."""

    model: str
    vector: Vector
    form: Mapping[str, float]
    bias: float

    def log_odds(self, text: str, vector: Vector) -> float:
        """Return how likely a prompt wants something from a memory; 0 is even."""
        said = sum(
            weight * value
            for name, value in read_prompt_form(text).items()
            if (weight := self.form.get(name))
        )
        total = float(np.dot(self.vector, vector)) + said + self.bias
        return max(-MOST, min(MOST, total))


@cache
def shipped_need_heads() -> Mapping[str, NeedHead]:
    """Return the weights that come with the package, by the model that they belong to."""
    found = map(_read_need_head, FILES)
    return {each.model: each for each in found}


def _read_need_head(file: str) -> NeedHead:
    values = json.loads(files("madeleine.whisper").joinpath(file).read_text("utf-8"))
    return NeedHead(
        model=values["model"],
        vector=np.array(values["vector"], np.float32),
        form={name: float(weight) for name, weight in values["form"].items()},
        bias=float(values["bias"]),
    )


def estimate_need(text: str, vector: Vector | None, model: str) -> float:
    """Return the log odds that a prompt wants something from a memory; 0 where nothing is known
    because there is no model, or another one than the weights were learnt with."""
    head = shipped_need_heads().get(model)
    if vector is None or head is None:
        return 0.0
    return head.log_odds(text, vector)
