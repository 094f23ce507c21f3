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

INTERCEPT = -2.5624
WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "chance": 0.3504,
        "below_best": 0.5286,
        "near": 2.3623,
        "coverage": 2.058,
        "path": -1.5454,
        "near_path": 0.9269,
        "other_path": -0.9816,
        "glob": -0.0062,
        "names": -0.0114,
        "command": -0.6203,
        "whole_command": -0.113,
        "environment": 0.1346,
        "other_environment": -3.1084,
        "activity": 0.3844,
        "constraint": 0.1493,
        "looks": -1.5119,
        "looks_chance": 0.0676,
        "looks_path": -5.5102,
        "looks_prohibits": -0.678,
        "same_space": 0.5864,
        "file": 0.0165,
        "shell": 0.184,
        "shell_command": -0.6203,
        "constraint_path": 1.1988,
        "constraint_command": -0.4797,
        "constraint_activity": 0.1003,
        "activity_chance": -0.1049,
        "command_chance": -0.3708,
        "prohibits": 0.3371,
        "prohibited_path": -0.4196,
        "pointed_path": -0.56,
        "shared": 1.5558,
        "shared_prohibited": 1.6277,
        "is_fact": -0.1267,
        "is_decision": 0.3361,
        "is_preference": 0.5746,
        "is_event": -0.1471,
        "is_person": 0.101,
        "is_project": -1.2907,
        "is_concept": -1.5006,
        "is_procedure": -0.8201,
        "is_goal": -1.3089,
        "is_observation": 0.2197,
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
