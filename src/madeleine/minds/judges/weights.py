"""The weights of the local judge, from a small readable file made by `bench/training`."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from madeleine.errors import BadSetting
from madeleine.language.pair_signs import (
    CONFLICT_RELATIONS,
    CONFLICT_SIGNS,
    KINSHIP_RELATIONS,
    KINSHIP_SIGNS,
    NEITHER,
    SIGNS,
    JudgeHead,
    JudgeModel,
)


@cache
def shipped_weights() -> JudgeModel:
    """Return the weights that come with the package."""
    text = files("madeleine.minds.judges").joinpath("weights.json").read_text("utf-8")
    return read_weights(text)


def load_weights(path: str) -> JudgeModel:
    """Return the weights in a file of the user's, or the shipped ones when none is named."""
    if not path:
        return shipped_weights()
    try:
        return read_weights(Path(path).expanduser().read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadSetting("judge.weights", f"cannot be read from {path}: {error}") from error


def read_weights(text: str) -> JudgeModel:
    """Return the model that a file describes. Every sign has a scale; a weight may be absent."""
    values: dict[str, Any] = json.loads(text)
    return JudgeModel(
        version=int(values["version"]),
        mean={sign: float(values["signs"][sign]["mean"]) for sign in SIGNS},
        spread={sign: float(values["signs"][sign]["spread"]) for sign in SIGNS},
        conflict=_read_head(values["conflict"], (*CONFLICT_RELATIONS, NEITHER), CONFLICT_SIGNS),
        kinship=_read_head(values["kinship"], KINSHIP_RELATIONS, KINSHIP_SIGNS),
    )


def _read_head(
    values: dict[str, Any], answers: tuple[str, ...], signs: tuple[str, ...]
) -> JudgeHead:
    given = values["answers"]
    return JudgeHead(
        answers=tuple(str(each) for each in answers),
        signs=signs,
        weights={str(each): _read_weights(given[each]["weights"], signs) for each in answers},
        bias={str(each): float(given[each]["bias"]) for each in answers},
        temperature=float(values["temperature"]),
    )


def _read_weights(values: dict[str, Any], signs: tuple[str, ...]) -> dict[str, float]:
    if unknown := values.keys() - set(signs):
        raise ValueError(f"no such sign: {', '.join(sorted(unknown))}")
    return {sign: float(weight) for sign, weight in values.items()}


def render_weights(model: JudgeModel, trained_on: str, digits: int = 4) -> str:
    """Return a model as its file."""
    scale = {
        sign: {"mean": round(model.mean[sign], digits), "spread": round(model.spread[sign], digits)}
        for sign in SIGNS
    }
    values = {
        "version": model.version,
        "trained_on": trained_on,
        "signs": scale,
        "conflict": _head_to_json(model.conflict, digits),
        "kinship": _head_to_json(model.kinship, digits),
    }
    return json.dumps(values, indent=1) + "\n"


def _head_to_json(head: JudgeHead, digits: int) -> dict[str, object]:
    answers = {
        each: {
            "bias": round(head.bias[each], digits),
            "weights": {
                sign: round(weight, digits)
                for sign, weight in head.weights[each].items()
                if round(weight, digits)
            },
        }
        for each in head.answers
    }
    return {"temperature": round(head.temperature, digits), "answers": answers}
