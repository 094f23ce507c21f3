"""What a `scored` event says.

It names scores by their name and then by memory, which is the shorter way for whole vaults:
{"relevance": {memory: 0.42, …}}. Events of before say it the other way round, memory first.
No value, or null, means that there is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SCORE_NAMES = ("importance", "relevance")
_NUMBERS = (int, float)

Scores = dict[str, dict[str, float | None]]
"""By the name of the score, then by memory."""


def read_scores(given: object) -> Scores:
    """Return the scores that make sense, by their names; anything else is left out."""
    found: Scores = {}
    if not isinstance(given, Mapping):
        return found
    for key, values in given.items():
        if not isinstance(values, Mapping):
            continue
        if key in SCORE_NAMES:
            found.setdefault(key, {}).update(_select_valid(values))
            continue
        for name, value in _select_valid(values).items():
            if name in SCORE_NAMES:
                found.setdefault(name, {})[key] = value
    return found


def _select_valid(values: Mapping[str, Any]) -> dict[str, float | None]:
    """Return what is a score, or none. There may be one for every memory of a vault, so nothing
    is called for each of them."""
    return {
        key: value
        for key, value in values.items()
        if value is None or (type(value) in _NUMBERS and 0 <= value <= 1)
    }
