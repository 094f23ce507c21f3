"""How long the four tasks take on homes of two sizes, and who has to wait for them."""

from __future__ import annotations

import statistics
import threading
from collections.abc import Generator, Iterator
from itertools import cycle, islice
from pathlib import Path

from _measure import ms, progress, timed
from _recall_homes import Homes
from _recall_report import Figure, Target
from _recall_scale import Plan, made
from _sleep_cycle import p95
from _sleep_homes import lent

from madeleine.api.call import OperationCall
from madeleine.api.operations import perform_operation
from madeleine.bootstrap import HomeContext, open_home
from madeleine.model.event import EventKind
from madeleine.model.query import Filter
from madeleine.sleep.seen import EVERYTHING
from madeleine.sleep.sleeper import TASKS
from madeleine.sleep.values import RunReport
from madeleine.write.record import new_event, record_events

SECONDS = {"decay": 1.5, "creative": 0.5, "cluster": 15.0, "forget": 2.0}
GROWTH_AT_MOST = 12.0
TIMES_IDLE = 1.5
CLUSTER_MB = 300.0
IN_ORDER = ("creative", "cluster", "decay", "forget")
# The world is years old and nobody used it. Here nothing fades by that, so everything takes part;
# what is of no importance is the least relevant, and forget moves just that to the trash.
CONFIG = """[consolidation]
base_decay_rate = 0.0
access_decay_rate = 0.0
delete_threshold = 0.6
protected_types = ""
"""
ONE_IN = 100  # memories that are of no importance
LOOK_SECONDS = 0.02


def speed(homes: Homes, small: int, large: int, embedded: int, recalls: int) -> Iterator[Figure]:
    """Yield how long each task takes, how that grows, and how much slower recall is meanwhile."""
    took: dict[int, dict[str, float]] = {}
    for size in (small, large):
        plan = Plan(size, embedded)
        home, _ = made(homes, plan)
        with lent(homes, home) as work:
            (work / "config.toml").write_text(CONFIG, encoding="utf-8")
            context = open_home(work)
            try:
                weigh(context)
                asked = list(islice(cycle(each.text for each in plan.questions("para")), recalls))
                took[size] = yield from _tasks(context, size, size == large, asked)
            finally:
                context.close()
    for task in TASKS:
        growth = took[large][task] / max(took[small][task], 0.001)
        bound = Target(GROWTH_AT_MOST, at_most=True)
        what = f"{task}: {large:,} against {small:,}"
        yield Figure("growth", what, growth, 1, bound, "x")


def _tasks(
    context: HomeContext, size: int, is_large: bool, asked: list[str]
) -> Generator[Figure, None, dict[str, float]]:
    took: dict[str, float] = {}
    _recall(context, asked[0])
    for task in IN_ORDER:
        progress(f"{task} on {size:,} memories")
        base = _resident()
        with _Peak() as peak:
            report = run_task(context, task)
        took[task] = report.seconds
        bound = Target(SECONDS[task], at_most=True) if is_large else None
        note = f"{report.applied:,} changes, {report.proposed:,} proposals"
        yield Figure(f"{size:,}", task, report.seconds, report.looked, bound, "s", note=note)
        if task == "cluster":
            most = Target(CLUSTER_MB, at_most=True) if is_large else None
            what = "cluster: memory above idle"
            yield Figure(f"{size:,}", what, (peak.most - base) / 1e6, 1, most, "MB")
        if is_large:
            yield _meanwhile(context, task, asked)
    return took


def weigh(context: HomeContext) -> None:
    """Let a few memories be of no importance, so that there is something to forget."""
    stores = context.stores
    everyone = stores.search.listing(Filter(), stores.clock.now(), EVERYTHING)
    scores = {"importance": {each.id: 0.0 for each in everyone[::ONE_IN]}}
    record_events(stores, [new_event(stores, EventKind.SCORED, {"scores": scores})], durable=False)


def run_task(context: HomeContext, task: str) -> RunReport:
    asked = context.sleeper.ask([task])
    context.sleeper.wait(asked)
    (report,) = asked.reports
    if report.error:
        raise SystemExit(f"{task} failed: {report.error}")
    return report


def _meanwhile(context: HomeContext, task: str, asked: list[str]) -> Figure:
    """Return how much longer a recall takes while a task runs, over and over if it is short,
    than just before and just after."""
    idle = _recalls(context, asked)
    over = threading.Event()

    def keep_running() -> None:
        while not over.is_set():
            run_task(context, task)

    runner = threading.Thread(target=keep_running)
    runner.start()
    took = _recalls(context, asked)
    over.set()
    context.sleeper.stop(task)
    runner.join()
    idle += _recalls(context, asked)
    note = f"{ms(p95(took))} against {ms(p95(idle))}; medians {ms(statistics.median(took))} and "
    note += ms(statistics.median(idle))
    bound = Target(TIMES_IDLE, at_most=True)
    what = f"recall p95 while {task} runs, against idle"
    return Figure("meanwhile", what, p95(took) / p95(idle), len(asked), bound, "x", note=note)


def _recalls(context: HomeContext, asked: list[str]) -> list[float]:
    questions = iter(asked)
    return [timed(lambda: _recall(context, next(questions))) for _ in asked]


def _recall(context: HomeContext, query: str) -> None:
    perform_operation(context, "recall", OperationCall(body={"query": query}))


class _Peak(threading.Thread):
    """Watches how much memory this process holds."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most = _resident()
        self._over = threading.Event()

    def __enter__(self) -> _Peak:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self.join()

    def run(self) -> None:
        while not self._over.wait(LOOK_SECONDS):
            self.most = max(self.most, _resident())


def _resident() -> int:
    """Return the bytes of memory that this process holds now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096
