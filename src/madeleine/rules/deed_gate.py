"""Whether a memory is worth a word before a deed: numbers about both in, a chance out.

The weights were fitted on the actions of `bench/everyday` for training (`bench/training/
train_deeds.py`); a memory that is needed counts 1, one that would help .7.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

DEED_GATE = 0.3
"""The chance from which a memory is told before a deed."""

SURE_WORTH = 0.6
"""Of what says that the path itself must not be touched."""

INTERCEPT = -4.4859
WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "chance": 0.5273,
        "below_best": 0.3259,
        "near": 5.8081,
        "coverage": 0.4967,
        "path": -1.4064,
        "near_path": 1.0807,
        "other_path": -0.8420,
        "glob": 0.0665,
        "names": -0.0211,
        "command": -0.0152,
        "whole_command": -0.4663,
        "environment": -0.0606,
        "other_environment": -3.2010,
        "activity": 0.0793,
        "constraint": 0.0403,
        "looks": -1.2702,
        "looks_chance": -0.0275,
        "looks_path": -5.7797,
        "looks_prohibits": -0.5781,
        "same_space": 0.6099,
        "file": 0.3982,
        "shell": 0.3095,
        "shell_command": -0.0152,
        "constraint_path": 1.1377,
        "constraint_command": -0.5977,
        "constraint_activity": 0.2931,
        "activity_chance": -0.1376,
        "command_chance": -0.2046,
        "prohibits": 0.2107,
        "prohibited_path": -0.3866,
        "pointed_path": -0.4372,
        "shared": 0.8669,
        "shared_prohibited": 1.9038,
        "is_fact": -0.1534,
        "is_decision": 0.3205,
        "is_preference": 0.5336,
        "is_event": -0.1671,
        "is_person": -0.0464,
        "is_project": -1.2810,
        "is_concept": -1.0954,
        "is_procedure": -0.4750,
        "is_goal": -1.1955,
        "is_observation": 0.1201,
    }
)


def deed_worth(features: Mapping[str, float]) -> float:
    """Return the chance that a memory is worth telling before a deed."""
    sure = 0.0
    if is_forbidden_path(features):
        sure = SURE_WORTH
    total = INTERCEPT + sum(WEIGHTS.get(name, 0.0) * each for name, each in features.items())
    return max(sure, 1 / (1 + math.exp(-max(min(total, 30.0), -30.0))))


def is_forbidden_path(features: Mapping[str, float]) -> bool:
    """Whether a clause that says `no` names the path, and the deed changes something there. On the
    stores for training such a memory fits in 40 of 48 cases, whatever else is so."""
    about = features.get("prohibited_path", 0.0) and features.get("near_path", 0.0)
    other = features.get("looks", 0.0) or features.get("other_environment", 0.0)
    return bool(about and not other)


def log_odds(chance: float) -> float:
    kept = min(max(chance, 1e-4), 1 - 1e-4)
    return math.log(kept / (1 - kept))
