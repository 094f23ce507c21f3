"""Scores how much each memory matters, from its uses, its connections and how fresh it is.

Only what moved noticeably is written, and into the journal: no file changes because a score
does. The pages follow each other without a lock; a use that comes in between counts the next
time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from madeleine.index.search import MemoryColumns
from madeleine.rules.importance import importance_score, stability_of_half_life
from madeleine.sleep.standings import days_before, iterate_pages
from madeleine.sleep.values import JobContext, Patch, Score

DECIMALS = 4  # finer than anybody can tell apart, and shorter in the journal


def make_importance_scorer() -> ImportanceScorer:
    """Return the job."""
    return ImportanceScorer()


class ImportanceScorer:
    """The job."""

    name = "importance_scorer"

    def plan(self, context: JobContext) -> Sequence[Patch]:
        patches = [
            patch for page in iterate_pages(context) for patch in _build_patches(context, page)
        ]
        moved = sum(len(each.action.scores) for each in patches if isinstance(each.action, Score))
        if moved:
            context.report.counts["scored"] = moved
        return patches

    def done(self, context: JobContext) -> None:
        """Nothing to note: every memory is looked at each time."""


def _build_patches(context: JobContext, page: MemoryColumns) -> Iterator[Patch]:
    uses, connections = page.uses.astype(np.float64), page.connections.astype(np.float64)
    days = days_before(context, page.last_accessed)
    half_life = context.config.importance_recency_half_life_days
    stability = page.stability
    if half_life:
        stability = np.full_like(stability, stability_of_half_life(half_life))
    found = np.round(importance_score(uses, connections, days, stability), DECIMALS)
    far = np.abs(found - page.importance) >= context.config.importance_step
    moved = np.flatnonzero(far).tolist()
    if not moved:
        return
    scores = {page.ids[each]: float(found[each]) for each in moved}
    was = {page.ids[each]: float(page.importance[each]) for each in moved}
    yield Patch(Score("importance", scores, was), "uses, connections and freshness")
