"""Whether anything answers a question: the best candidate is read once more, more closely.

The chance of a candidate goes by how much of the question it meets. Where a topic is known and the
answer is not, much is met too: of somebody whose working days are asked for, a note says where
they live. A small network looks at each token of the question, at what the note says about
it, and at how well that meets it, and says how likely the note is an answer. What it says of
the best candidate moves the chances of all: their order stays, and what is said stays a chance.

Weights hold for the vectors of one sentence model and for questions. With any other model, in other
languages, and of prompts that nobody asks, nothing is reconsidered. `bench/training/neural`
(`answer_reader.py`) makes them.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from madeleine.model.embedding import Tokens

QUESTION_TOKENS, NOTE_TOKENS = 18, 40  # that are read; the rest of a longer text is passed over
MOST = 2.0  # of log odds by which a chance is moved: a hint beside what was compared
FULL = 127.0  # the length of a row that is kept

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class AnswerReader:
    """The network's weights, and what its word counts beside the chance, all in log odds."""

    model: str
    weights: Mapping[str, Floats]
    slope: float
    reading: float
    bias: float

    def read(self, asked: Floats, weights: Floats, note: Tokens) -> float:
        """Return the log odds that a note answers, by tokens alone: those of the question with
        what each of them tells, and those of the note."""
        tokens, weights = asked[:QUESTION_TOKENS], weights[:QUESTION_TOKENS]
        rows = note[:NOTE_TOKENS].astype(np.float32) / FULL
        best = (tokens @ rows.T).max(axis=1)
        looked = (tokens @ self.weights["look"].T) @ rows.T * self.weights["sharpness"]
        looked = np.exp(looked - looked.max(axis=1, keepdims=True))
        met = looked / looked.sum(axis=1, keepdims=True) @ rows
        pairs = [tokens, met, tokens * met, np.abs(tokens - met), best[:, None], weights[:, None]]
        said = self._layer("second", self._layer("first", np.concatenate(pairs, axis=1)))
        shares = np.array([best.mean(), best @ weights, best.min()], np.float32)
        together = np.concatenate([said.mean(axis=0), said.max(axis=0), weights @ said, shares])
        hidden = self._layer("third", together)
        return float(hidden @ self.weights["last.weight"][0] + self.weights["last.bias"][0])

    def move(self, chance: float, reading: float) -> float:
        """Return by how many log odds what is said of the best candidate has to move."""
        before = np.log(chance / (1 - chance))
        after = self.slope * before + self.reading * reading + self.bias
        return float(np.clip(after - before, -MOST, MOST))

    def _layer(self, name: str, rows: Floats) -> Floats:
        bent = rows @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]
        inner = 0.7978845608 * (bent + 0.044715 * bent**3)  # the usual shortcut for GELU
        curved: Floats = 0.5 * bent * (1 + np.tanh(inner))
        return curved


def move_chances(chances: NDArray[np.float64], by: float) -> NDArray[np.float64]:
    """Return the chances with their log odds moved: all alike, none past another."""
    factor = np.exp(by)
    moved: NDArray[np.float64] = chances * factor / (1 - chances + chances * factor)
    return moved


@cache
def shipped_reader() -> AnswerReader:
    """Return the weights that come with the package."""
    return parse_reader(files("madeleine.recall").joinpath("answer_reader.npz").read_bytes())


def parse_reader(content: bytes) -> AnswerReader:
    with np.load(io.BytesIO(content), allow_pickle=False) as stored:
        arrays = {name: stored[name] for name in stored.files}
    slope, reading, bias = arrays.pop("head").tolist()
    model = str(arrays.pop("model"))
    weights = {name: values.astype(np.float32) for name, values in arrays.items()}
    return AnswerReader(model, weights, slope, reading, bias)
