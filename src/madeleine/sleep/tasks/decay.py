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
from madeleine.sleep.config import ConsolidationConfig
from madeleine.sleep.standings import ARCHIVAL, days_before, iterate_pages
from madeleine.sleep.values import STOPPED, JobContext, Patch, Score

DECIMALS = 4  # finer than anybody can tell apart, and shorter in the journal
TURN_DAYS = 7.0  # how old the score of an unimportant memory gets in runs that nobody asked for

Column = NDArray[np.float64]
Flags = NDArray[np.bool_]


def make_decay_task() -> DecayTask:
    """Return the task."""
    return DecayTask()


class DecayTask:
    """The task."""

    name = "decay"

    def plan(self, context: JobContext) -> Sequence[Patch]:
        curve, seen = curve_of(context.config.consolidation), DecayStatistics()
        found = [
            build_score_patch(
                context, page, _select_due(context, page), seen, relevance_of(context, page, curve)
            )
            for page in iterate_pages(context)
        ]
        if context.stop():
            context.report.stopped = STOPPED
        context.report.counts.update(seen.counts())
        return [each for each in found if each is not None]

    def done(self, context: JobContext) -> None:
        """Nothing to note: every memory is looked at each time."""


@dataclass(slots=True)
class DecayStatistics:
    """What a run came across, for its report."""

    before: list[Column] = field(default_factory=list)
    after: list[Column] = field(default_factory=list)
    moved: int = 0

    def counts(self) -> dict[str, object]:
        """Return the documented figures. An average of nothing is none."""
        before, after = _concatenate(self.before), _concatenate(self.after)
        return {
            "processed": len(after),
            "scored": self.moved,
            "avg_relevance_before": _mean(before[~np.isnan(before)]),
            "avg_relevance_after": _mean(after),
            "distribution": count_by_level(after),
        }


def curve_of(config: ConsolidationConfig) -> RelevanceCurve:
    """Return the curve that the settings name."""
    if config.formula not in set(RelevanceFormula):
        known = " or ".join(RelevanceFormula)
        raise BadSetting("consolidation.formula", f"is {config.formula!r}; {known}")
    rates = (config.base_decay_rate, config.access_decay_rate, config.relationship_preservation)
    return RelevanceCurve(RelevanceFormula(config.formula), *rates)


def relevance_of(context: JobContext, page: MemoryColumns, curve: RelevanceCurve) -> Column:
    """Return how relevant the memories of a page are now."""
    known = RelevanceEvidence(
        age=days_before(context, page.created),
        idle=days_before(context, page.last_accessed),
        connections=page.connections.astype(np.float64),
        importance=page.importance,
        confidence=page.confidence,
    )
    return relevance_scores(known, curve)


def bar_of(context: JobContext) -> RelevanceThreshold:
    """Return how relevant a memory must be to take part in what consolidation finds."""
    curve = curve_of(context.config.consolidation)
    above = context.config.consolidation.sample_relevance
    return RelevanceThreshold(
        above, lambda page: np.round(relevance_of(context, page, curve), DECIMALS)
    )


def build_score_patch(
    context: JobContext, page: MemoryColumns, wanted: Flags, seen: DecayStatistics, reckoned: Column
) -> Patch | None:
    """Return the patch that gives those of a page that are wanted the scores that were reckoned;
    nothing where none moved noticeably."""
    found = np.round(reckoned, DECIMALS)
    by = np.abs(found - page.relevance)
    far = (by >= context.config.consolidation.relevance_step) & (by > 0)
    places = np.flatnonzero(wanted & (np.isnan(page.relevance) | far))
    seen.before.append(page.relevance[wanted])
    seen.after.append(found[wanted])
    seen.moved += len(places)
    return _score_patch(page, places, found) if len(places) else None


def _select_due(context: JobContext, page: MemoryColumns) -> Flags:
    """Return who has its turn in this run."""
    there: Flags = page.tiers != ARCHIVAL
    if not context.due:
        return there
    matters = page.importance >= context.config.consolidation.decay_importance_threshold
    stale = days_before(context, page.relevance_at) >= TURN_DAYS
    turn: Flags = there & (matters | np.isnan(page.relevance) | stale)
    return turn


def _score_patch(page: MemoryColumns, places: NDArray[np.int64], found: Column) -> Patch:
    ids = [page.ids[each] for each in places.tolist()]
    was = zip(ids, page.relevance[places].tolist(), strict=True)
    scores = dict(zip(ids, found[places].tolist(), strict=True))
    known = {each: value for each, value in was if not math.isnan(value)}
    return Patch(Score("relevance", scores, known), "age, use, connections, importance, confidence")


def _concatenate(columns: Sequence[Column]) -> Column:
    return np.concatenate(columns) if columns else np.zeros(0)


def _mean(column: Column) -> float | None:
    return round(float(column.mean()), 6) if len(column) else None
