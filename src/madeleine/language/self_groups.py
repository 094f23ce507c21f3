"""Under which heading a memory about the person stands: who they are, what they like, their people,
their places, what they want to reach.

A heading is where somebody looks for it; nothing depends on it. What fits under several stands
under the first of them, in the order of `group_about_self`.
"""

from __future__ import annotations

import enum

from madeleine.language.person_tables import GOALS, PREFERENCES
from madeleine.language.self_statements import read_self_statement
from madeleine.model.memory import Memory
from madeleine.model.words import MemoryType

_WHO = frozenset({"name", "job", "birthday", "age"})
_PEOPLE = frozenset(
    {
        *("spouse", "children", "grandchildren", "parents", "siblings"),
        *("grandparents", "relatives", "friends"),
    }
)
_PLACES = frozenset({"home", "origin", "timezone"})
_LIKES = frozenset({PREFERENCES, "style", "reminders"})


class SelfGroup(enum.StrEnum):
    """A heading under which memories about the person stand."""

    IDENTITY = "identity"
    """Who they are, and all that has no heading of its own."""
    PREFERENCES = "preferences"
    """How they like things."""
    PEOPLE = "people"
    """Who belongs to them."""
    PLACES = "places"
    """Where they live and come from."""
    GOALS = "goals"
    """What they want to reach."""


def group_about_self(memory: Memory) -> SelfGroup:
    """Return the heading of a memory that is about the person."""
    by_type = {
        MemoryType.PREFERENCE: SelfGroup.PREFERENCES,
        MemoryType.GOAL: SelfGroup.GOALS,
        MemoryType.PERSON: SelfGroup.PEOPLE,
    }.get(memory.type)
    if by_type is not None:
        return by_type
    aspects = read_self_statement(memory.content).aspects
    for found, group in (
        (_WHO, SelfGroup.IDENTITY),
        (_PEOPLE, SelfGroup.PEOPLE),
        (_PLACES, SelfGroup.PLACES),
        ({GOALS}, SelfGroup.GOALS),
        (_LIKES, SelfGroup.PREFERENCES),
    ):
        if aspects & found:
            return group
    return SelfGroup.IDENTITY
