"""Suspects, minutes after something was written, what it replaces.

Nights are rare, and until one has been, the old value of a thing stands beside the new one as if
both were so. This looks at what was written since it last looked, with a few near neighbours of
each, as `conflict_detector` does, and keeps what it suspects (`sleep/suspicions.py`): recall puts
the newer one first, and what is told unasked names the older. It changes no memory and asks
nobody; that is for the night, which reads no pair again that was read here.

It is no part of the sleep cycle. A judge that costs is not asked by it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from madeleine.model.query import Filter
from madeleine.sleep.jobs.conflict_detector import (
    TELLING,
    build_pair_query,
    note_suspected_updates,
)
from madeleine.sleep.pairs import PairJob, PairQuery
from madeleine.sleep.values import JobContext, Patch

NAME = "update_spotter"
NEW_FOR = timedelta(days=2)  # after it was so; what is older is left to the night
NEIGHBOURS = 6
SECONDS = 1.0  # of CPU in a run; what is left waits for the next one


def make_update_spotter() -> UpdateSpotter:
    """Return the job."""
    return UpdateSpotter()


@dataclass(slots=True)
class UpdateSpotter:
    """The job. It makes no patches."""

    name: str = NAME
    pairs: PairJob = field(default_factory=lambda: PairJob(NAME, _build_pair_query, _no_patches))

    def plan(self, context: JobContext) -> Sequence[Patch]:
        if not context.judge.cheap:
            return []
        context.out_of_time_at = time.thread_time() + SECONDS
        return self.pairs.plan(context)

    def done(self, context: JobContext) -> None:
        if context.judge.cheap:
            self.pairs.done(context)
            note_suspected_updates(context, self.pairs.answers)


def _build_pair_query(context: JobContext) -> PairQuery:
    """Return the pairs of `conflict_detector`, of what is new only, and fewer of each."""
    look = build_pair_query(context)
    since = context.now - NEW_FOR
    spaces = look.chosen.spaces
    new = Filter(types=TELLING, spaces=spaces, created_after=since)
    return replace(look, chosen=new, neighbours=min(NEIGHBOURS, look.neighbours))


def _no_patches(context: JobContext, answers: object) -> list[Patch]:
    return []
