"""The weights of recall, from small readable files made by `bench/training`: one for English, and
one for all pairs of a question and a memory that are not both English."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from madeleine.errors import BadSetting
from madeleine.rules.fusion import Calibration, RecallHead

ENGLISH_HEADS = ("dialogue", "note", "kept", "meaning", "words")
"""Which weights count: for what was said in a conversation, for what one person said in a session,
for what was written down to be kept, for what a model without tokens has read, and where there is
no model."""
OTHER_HEADS = ("other_kept", "other_meaning", "other_words")
"""The last three, where a question or a memory is in another language: read by the model of such
languages, read by the English one alone, and where there is no model."""
HEADS = ENGLISH_HEADS + OTHER_HEADS
SAID_HEADS = ("dialogue", "note")
"""Those that weigh what was said in a session."""

CLOSE_HEADS = ("kept", "other_kept", "other_meaning")
"""Those whose chances were learnt on whole stores of what is kept, so that floors hold for them."""


@cache
def shipped_weights() -> dict[str, RecallHead]:
    """Return the weights that come with the package."""
    return read_weights(files("madeleine.recall").joinpath("weights.json").read_text("utf-8"))


@cache
def _other_language_weights() -> dict[str, RecallHead]:
    file = files("madeleine.recall").joinpath("other_language_weights.json")
    heads = json.loads(file.read_text("utf-8"))["heads"]
    return {name: _parse_head(heads[name]) for name in OTHER_HEADS}


def load_weights(path: str) -> dict[str, RecallHead]:
    """Return the weights in a file of the user's, or the shipped ones when none is named."""
    if not path:
        return shipped_weights()
    try:
        return read_weights(Path(path).expanduser().read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadSetting("recall.weights", f"cannot be read from {path}: {error}") from error


def read_weights(text: str) -> dict[str, RecallHead]:
    """Return the heads that a file describes; for other languages the shipped ones, where it says
    nothing of them."""
    heads = json.loads(text)["heads"]
    heads.setdefault("kept", heads["note"])  # files of earlier releases know only one of the two
    own = {name: _parse_head(heads[name]) for name in HEADS if name in heads}
    return _other_language_weights() | own


def _parse_head(values: dict[str, Any]) -> RecallHead:
    said = values["calibration"]
    evidence = {name: float(weight) for name, weight in said["evidence"].items()}
    return RecallHead(
        weights={name: float(weight) for name, weight in values["weights"].items()},
        calibration=Calibration(float(said["slope"]), float(said["bias"]), evidence),
    )
