"""A cross-encoder on this machine: it reads a question and a text together.

A folder with `model.onnx` and `tokenizer.json`, as for the sentence model; none comes with
the install. One pair is one call of the model, for the reason given in `local.py`, and so
that whoever has a deadline can hand in one text at a time.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from madeleine.errors import MindDown
from madeleine.minds.loading import (
    MODEL_FILE,
    TOKENIZER_FILE,
    OnnxNetwork,
    load_network,
    load_tokenizer,
)
from madeleine.minds.texts import prepare_text

MAX_TOKENS = 512  # of question and text together: what such models are trained to read
MAX_CHARS = 8_000  # of each: four times what 512 tokens of prose are


class LocalReranker:
    """A cross-encoder in a folder. It is loaded on first use, once."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.name = name
        self._loaded: _LoadedReranker | None = None
        self._loading = threading.Lock()

    @classmethod
    def from_folder(cls, folder: Path, name: str) -> LocalReranker:
        """Return the cross-encoder in a folder. Raises `MindDown` when a file is not there."""
        for file in (MODEL_FILE, TOKENIZER_FILE):
            if not (folder / file).is_file():
                raise MindDown(name, f"there is no {folder / file}")
        return cls(folder, name)

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        if not texts:
            return []
        model = self._loaded_model()
        return [model.score(question, text) for text in texts]

    def _loaded_model(self) -> _LoadedReranker:
        with self._loading:
            if self._loaded is None:
                self._loaded = _load_reranker(self.folder, self.name)
            return self._loaded


@dataclass(frozen=True, slots=True)
class _LoadedReranker:
    network: OnnxNetwork
    tokenizer: Any

    def score(self, question: str, text: str) -> float:
        import numpy as np

        encoded = self.tokenizer.encode(
            prepare_text(question, MAX_CHARS), prepare_text(text, MAX_CHARS)
        )
        # Two empty texts may leave nothing, of which a graph makes nothing.
        ids = np.array([encoded.ids or [0]], np.int64)
        kinds = np.array([encoded.type_ids or [0]], np.int64)
        (given,) = self.network.run(ids, kinds, [self.network.outputs[0]])
        if given.size != 1:
            raise MindDown(
                self.network.name,
                f"the model gives {given.size} numbers for a pair of texts; "
                "a cross-encoder gives one",
            )
        return self._check_score(float(given.reshape(-1)[0]))

    def _check_score(self, given: float) -> float:
        if not math.isfinite(given):
            raise MindDown(self.network.name, "the model gave a score that is no number")
        return given


def _load_reranker(folder: Path, name: str) -> _LoadedReranker:
    network = load_network(folder / MODEL_FILE, name)
    return _LoadedReranker(network, load_tokenizer(folder / TOKENIZER_FILE, name, MAX_TOKENS))
