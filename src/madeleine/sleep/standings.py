"""All memories as the jobs look at them, page by page, whatever the size of the store."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from madeleine.index.search import MemoryColumns
from madeleine.model.words import Tier
from madeleine.sleep.values import JobContext

PAGE = 5_000  # memories that share a line of the journal: who wants to write waits for one
MICROS_A_DAY = 86_400_000_000

CORE = list(Tier).index(Tier.CORE)
WORKING = list(Tier).index(Tier.WORKING)
ARCHIVAL = list(Tier).index(Tier.ARCHIVAL)


def iterate_pages(context: JobContext) -> Iterator[MemoryColumns]:
    """Yield every memory once; stop when somebody waits for the end."""
    known = context.stores.search.standings(context.stop)
    for start in range(0, len(known), PAGE):
        if context.stop():
            return
        page = known.part(start, start + PAGE)
        context.report.looked += len(page)
        yield page


def days_before(context: JobContext, times: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how many days before now each of the times was; none is in the future."""
    now = int(context.now.timestamp() * 1_000_000)
    return np.maximum(now - times, 0) / MICROS_A_DAY
