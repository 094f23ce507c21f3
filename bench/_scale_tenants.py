"""Many memories in one database: what does a neighbour cost?"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from contextlib import ExitStack

from _measure import ms, progress, timed
from _recall_homes import Homes
from _recall_report import Figure, Target
from _recall_scale import Plan, made
from _scale_engines import Databases, postgres
from _scale_growth import multiplied
from _scale_parts import filled, in_turns

TIMES_ALONE = 1.5


def tenants(homes: Homes, server: Databases, count: int, each: int, times: int) -> Iterator[Figure]:
    """Yield how long a recall takes in one of many memories, against one that is alone."""
    plan = Plan(each, each)
    home, _ = made(homes, plan)
    part = f"tenants {count:,} x {each:,}"
    with server.made() as alone, server.made() as crowded, ExitStack() as stack:
        contexts = [
            stack.enter_context(filled(homes, home, postgres(url), called))[0]
            for url, called in ((alone, "alone"), (crowded, "crowded"))
        ]
        progress(f"filling {count:,} memories of {each:,}")
        with server.connect(crowded) as connection:
            names = [f"tenant {number}" for number in range(1, count)]
            seconds = timed(lambda: multiplied(connection, "home", names))
        yield Figure(part, "made inside the database in", seconds, count, unit="s")
        one, many = (statistics.median(took) for took in in_turns(contexts, plan, times))
    note = f"p50 {ms(many)} against {ms(one)}; in turns"
    bound = Target(TIMES_ALONE, at_most=True)
    what = "recall of one against a single one"
    yield Figure(part, what, many / one, times, bound, "x", note=note)
