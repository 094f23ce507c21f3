"""Which way it is reckoned how likely a memory still comes to mind, from when it counts as faded,
and which types never do: settings, read in one place by the job that archives and by whoever shows
it."""

from __future__ import annotations

from madeleine.errors import BadSetting
from madeleine.minds.fsrs import FsrsLifecycle
from madeleine.model.words import MemoryType
from madeleine.rules.lifecycle import ExponentialLifecycle, Lifecycle
from madeleine.sleep.config import SleepConfig, protected_types


def least_chance(config: SleepConfig) -> float:
    """Return below which chance a memory may go: the curve of fsrs falls below 0.6 after some
    two months without use, and below 0.3 after some fifteen years."""
    fsrs = config.lifecycle == "fsrs"
    return config.decay_retrievability_fsrs if fsrs else config.decay_retrievability


def never_fading_types(config: SleepConfig) -> frozenset[MemoryType]:
    """Return the types that a night never moves to the archive."""
    return protected_types(config.protected_types, "sleep.protected_types")


def protected_codes(config: SleepConfig) -> frozenset[int]:
    """Return the places of these types in the list of types, by which columns name them."""
    return frozenset(map(list(MemoryType).index, never_fading_types(config)))


def build_lifecycle(config: SleepConfig) -> Lifecycle:
    match config.lifecycle:
        case "exponential":
            return ExponentialLifecycle()
        case "fsrs":
            return FsrsLifecycle.load()
        case name:
            raise BadSetting("sleep.lifecycle", f"is {name!r}; exponential or fsrs")
