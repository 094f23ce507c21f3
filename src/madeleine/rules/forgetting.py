"""What controlled forgetting does with a memory, and what keeps it from doing so.

A memory whose relevance is below the threshold is archived, or moved to the trash; a threshold
of 0 does nothing. Five things protect a memory, looked at in this order; the first that holds
is the reason given. Fading (`rules.lifecycle`) has the same protection, and what is still to come
has it besides (`language.upcoming`): that is read from the text, of the few that nothing else
keeps.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Flags = NDArray[np.bool_]
Codes = NDArray[np.uint8]

PROTECTED_TAG = "protected"  # the tag that keeps a memory whatever becomes of its relevance


class ForgettingAction(enum.StrEnum):
    """What becomes of a memory; its place in this list is its code."""

    PRESERVE = "preserve"
    ARCHIVE = "archive"
    DELETE = "delete"
    """To the trash."""


class Protection(enum.StrEnum):
    """Why a memory stays; its place in this list is its code."""

    NONE = "none"
    EXPLICIT = "protected"
    """Somebody tagged it so."""
    CORE = "core"
    """It is offered in every session, or it is about the user."""
    IMPORTANCE = "importance"
    GRACE = "grace_period"
    """It is too young."""
    TYPE = "type"
    UPCOMING = "upcoming"
    """It is about a time that is still to come."""


@dataclass(frozen=True, slots=True)
class ForgettingThresholds:
    """The thresholds."""

    archive_below: float = 0.0
    delete_below: float = 0.0
    keep_importance: float = 0.7
    grace_days: float = 90.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectionColumns:
    """What may protect memories that are not archived, as columns."""

    importance: NDArray[np.float64]
    age: NDArray[np.float64]
    """In days."""
    tagged: Flags
    """Whether somebody protected it."""
    core: Flags
    """Whether it is core, the self, or about the self."""
    of_protected_type: Flags


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgettingColumns(ProtectionColumns):
    """The same, with what decides about them."""

    relevance: NDArray[np.float64]


def select_actions(found: ForgettingColumns, rules: ForgettingThresholds) -> Codes:
    """Return what would become of each memory if nothing protected it."""
    conditions = [found.relevance < rules.delete_below, found.relevance < rules.archive_below]
    return np.select(
        conditions, _member_codes(ForgettingAction.DELETE, ForgettingAction.ARCHIVE), np.uint8(0)
    )


def find_protections(found: ProtectionColumns, rules: ForgettingThresholds) -> Codes:
    """Return what protects each memory: the first that holds."""
    conditions = {
        Protection.EXPLICIT: found.tagged,
        Protection.CORE: found.core,
        Protection.IMPORTANCE: found.importance >= rules.keep_importance,
        Protection.GRACE: found.age < rules.grace_days,
        Protection.TYPE: found.of_protected_type,
    }
    return np.select(list(conditions.values()), _member_codes(*conditions), np.uint8(0))


def member_code(member: ForgettingAction | Protection) -> int:
    """Return the number by which a column speaks of a fate or a protection."""
    return list(type(member)).index(member)


def _member_codes(*members: ForgettingAction | Protection) -> list[np.uint8]:
    return [np.uint8(member_code(each)) for each in members]
