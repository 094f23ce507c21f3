"""Scores how relevant each memory still is.

Every memory that is not archived is looked at, a page at a time, and what moved noticeably is
written: into the journal, never into a file. Connections that jobs drew do not count.

In a run that nobody asked for, what matters less than the threshold is passed over, as
documented, but not for good, or the least important would be the only ones that never fade:
it has its turn when it has no score yet, or when the score it has is a week old.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from madeleine.errors import BadSetting
from madeleine.index.search import MemoryColumns, RelevanceThreshold
from madeleine.rules.relevance import (
    RelevanceCurve,
    RelevanceEvidence,
    RelevanceFormula,
    count_by_level,
    relevance_scores,
)
from madeleine.sleep.habits import ConsolidationHabits
from madeleine.sleep.standings import ARCHIVAL, days_before, pages
from madeleine.sleep.values import STOPPED, Night, Patch, Score

DECIMALS = 4  # finer than anybody can tell apart, and shorter in the journal
TURN_DAYS = 7.0  # how old the score of an unimportant memory gets in runs that nobody asked for

Column = NDArray[np.float64]
Flags = NDArray[np.bool_]


def decay() -> Decay:
    """Return the task."""
    return Decay()


class Decay:
    """The task."""

    name = "decay"

    def plan(self, night: Night) -> Sequence[Patch]:
        curve, seen = curve_of(night.habits.consolidation), Seen()
        found = [
            scored(night, page, _wanted(night, page), seen, relevance_of(night, page, curve))
            for page in pages(night)
        ]
        if night.stop():
            night.report.stopped = STOPPED
        night.report.counts.update(seen.counts())
        return [each for each in found if each is not None]

    def done(self, night: Night) -> None:
        """Nothing to note: every memory is looked at each time."""


@dataclass(slots=True)
class Seen:
    """What a run came across, for its report."""

    before: list[Column] = field(default_factory=list)
    after: list[Column] = field(default_factory=list)
    moved: int = 0

    def counts(self) -> dict[str, object]:
        """Return the documented figures. An average of nothing is none."""
        before, after = _joined(self.before), _joined(self.after)
        return {
            "processed": len(after),
            "scored": self.moved,
            "avg_relevance_before": _mean(before[~np.isnan(before)]),
            "avg_relevance_after": _mean(after),
            "distribution": count_by_level(after),
        }


def curve_of(habits: ConsolidationHabits) -> RelevanceCurve:
    """Return the curve that the settings name."""
    if habits.formula not in set(RelevanceFormula):
        known = " or ".join(RelevanceFormula)
        raise BadSetting("consolidation.formula", f"is {habits.formula!r}; {known}")
    rates = (habits.base_decay_rate, habits.access_decay_rate, habits.relationship_preservation)
    return RelevanceCurve(RelevanceFormula(habits.formula), *rates)


def relevance_of(night: Night, page: MemoryColumns, curve: RelevanceCurve) -> Column:
    """Return how relevant the memories of a page are now."""
    known = RelevanceEvidence(
        age=days_before(night, page.created),
        idle=days_before(night, page.last_accessed),
        connections=page.connections.astype(np.float64),
        importance=page.importance,
        confidence=page.confidence,
    )
    return relevance_scores(known, curve)


def bar_of(night: Night) -> RelevanceThreshold:
    """Return how relevant a memory must be to take part in what consolidation finds."""
    curve = curve_of(night.habits.consolidation)
    above = night.habits.consolidation.sample_relevance
    return RelevanceThreshold(
        above, lambda page: np.round(relevance_of(night, page, curve), DECIMALS)
    )


def scored(
    night: Night, page: MemoryColumns, wanted: Flags, seen: Seen, reckoned: Column
) -> Patch | None:
    """Return the patch that gives those of a page that are wanted the scores that were reckoned;
    nothing where none moved noticeably."""
    found = np.round(reckoned, DECIMALS)
    by = np.abs(found - page.relevance)
    far = (by >= night.habits.consolidation.relevance_step) & (by > 0)
    places = np.flatnonzero(wanted & (np.isnan(page.relevance) | far))
    seen.before.append(page.relevance[wanted])
    seen.after.append(found[wanted])
    seen.moved += len(places)
    return _scores(page, places, found) if len(places) else None


def _wanted(night: Night, page: MemoryColumns) -> Flags:
    """Return who has its turn in this run."""
    there: Flags = page.tiers != ARCHIVAL
    if not night.due:
        return there
    matters = page.importance >= night.habits.consolidation.decay_importance_threshold
    stale = days_before(night, page.relevance_at) >= TURN_DAYS
    turn: Flags = there & (matters | np.isnan(page.relevance) | stale)
    return turn


def _scores(page: MemoryColumns, places: NDArray[np.int64], found: Column) -> Patch:
    ids = [page.ids[each] for each in places.tolist()]
    was = zip(ids, page.relevance[places].tolist(), strict=True)
    scores = dict(zip(ids, found[places].tolist(), strict=True))
    known = {each: value for each, value in was if not math.isnan(value)}
    return Patch(Score("relevance", scores, known), "age, use, connections, importance, confidence")


def _joined(columns: Sequence[Column]) -> Column:
    return np.concatenate(columns) if columns else np.zeros(0)


def _mean(column: Column) -> float | None:
    return round(float(column.mean()), 6) if len(column) else None
