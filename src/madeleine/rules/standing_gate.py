"""Whether a standing note applies to a prompt: numbers about both in, a chance out.

The weights were fitted on the prompts of `bench/everyday` for training (`bench/training/
train_standing.py`), where a note that is needed or would help counts as one that applies.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from madeleine.rules.chances import chance_from_log_odds

STANDING_GATE = 0.42
"""The chance from which a standing note is told, where `whisper.injection_gate` is as it comes."""

DEFAULT_GATE = 0.5  # of `whisper.injection_gate`
INTERCEPT = -1.8909
WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "wanting": 0.0402,
        "not_wanting": 1.6854,
        "question": -0.6121,
        "follow_up": -0.2575,
        "words": -0.3648,
        "prompt_activity": -0.4872,
        "near": 1.5287,
        "near_squared": 0.8162,
        "below_best": -1.4322,
        "preference": 0.4388,
        "same_space": 1.0569,
        "standing": 0.3604,
        "shared_activity": 0.2509,
        "no_activity": 0.4530,
        "profile": 0.4171,
        "profile_correlation": 1.1255,
        "same_activity": 0.4983,
        "note_activity": -1.2853,
        "worth": 0.7480,
        "coverage": 0.6283,
    }
)


def standing_applies(features: Mapping[str, float]) -> float:
    """Return the chance that a standing note applies to a prompt."""
    said = sum(WEIGHTS.get(name, 0.0) * value for name, value in features.items())
    return chance_from_log_odds(INTERCEPT + said)


def standing_gate(injection_gate: float) -> float:
    """Return the chance that a standing note needs; it moves with the gate for all others. A gate
    of 1 lets nothing through."""
    if injection_gate >= 1:
        return 1.0
    return min(1.0, max(0.0, STANDING_GATE + injection_gate - DEFAULT_GATE))
