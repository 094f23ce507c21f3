"""Which way it is reckoned how likely a memory still comes to mind, from when it counts as faded,
and which types never do: settings, read in one place by the job that archives and by whoever shows
it."""

from __future__ import annotations

from madeleine.errors import BadSetting
from madeleine.minds.fsrs import FsrsLifecycle
from madeleine.model.words import MemoryType
from madeleine.rules.lifecycle import ExponentialLifecycle, Lifecycle
from madeleine.sleep.habits import SleepHabits, protected_types


def least_chance(habits: SleepHabits) -> float:
    """Return below which chance a memory may go: the curve of fsrs falls below 0.6 after some
    two months without use, and below 0.3 after some fifteen years."""
    fsrs = habits.lifecycle == "fsrs"
    return habits.decay_retrievability_fsrs if fsrs else habits.decay_retrievability


def never_fading_types(habits: SleepHabits) -> frozenset[MemoryType]:
    """Return the types that a night never moves to the archive."""
    return protected_types(habits.protected_types, "sleep.protected_types")


def protected_codes(habits: SleepHabits) -> frozenset[int]:
    """Return the places of these types in the list of types, by which columns name them."""
    return frozenset(map(list(MemoryType).index, never_fading_types(habits)))


def lifecycle(habits: SleepHabits) -> Lifecycle:
    match habits.lifecycle:
        case "exponential":
            return ExponentialLifecycle()
        case "fsrs":
            return FsrsLifecycle.load()
        case name:
            raise BadSetting("sleep.lifecycle", f"is {name!r}; exponential or fsrs")
