"""How long the sleep cycle takes, and who has to wait for it.

The home is the made-up world of the recall benchmark. The first night looks at everything. Then
one memory in a hundred changes, half of them new and half revised, and the next night looks at
those. A third copy has a judge that thinks for two seconds before each answer, as a server far
away does; meanwhile somebody remembers, one memory after the other.
"""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from _corpus import Texts
from _measure import ms, progress, timed
from _recall_homes import Homes
from _recall_report import Figure, Target
from _recall_scale import Plan, made
from _sleep_homes import lent

from madeleine import Madeleine
from madeleine.api.python_values import SleepReports
from madeleine.bootstrap import HomeContext, open_home
from madeleine.minds.port import Judge
from madeleine.model.memory import Memory
from madeleine.model.verdict import MemoryPair, Synthesis, Verdict
from madeleine.write.remember import remember

FIRST_SECONDS = 90.0
NEXT_SECONDS = 3.0
TIMES_IDLE = 2.0
CHANGED_SHARE = 0.01
PAUSE_SECONDS = 0.05  # between two memories, idle or not
WARM = 10  # memories before anything is timed
IN_A_ROW = 8  # memories timed idle, then meanwhile
WAITS_AT_MOST_SECONDS = 60.0


def cycle(homes: Homes, plan: Plan) -> list[Figure]:
    """Return how long the first night and the next one take."""
    home, _ = made(homes, plan)
    with lent(homes, home) as work, Madeleine.open(work, in_process=True) as opened:
        opened.recall("a first question, so that the model is loaded")
        progress(f"the first night of {plan.size:,} memories")
        before = _outdated(opened)
        first = _night(opened)
        replaced = _outdated(opened) - before
        changed = _change(opened, plan)
        progress(f"the next night, {changed:,} memories changed")
        following = _night(opened)
        third = _night(opened)
    part = f"cycle {plan.size:,}"
    bounds = [Target(FIRST_SECONDS, at_most=True), Target(NEXT_SECONDS, at_most=True)]
    return [
        Figure(part, "first night", first.seconds, plan.size, bounds[0], "s", note=first.note),
        Figure(part, "next night", following.seconds, changed, bounds[1], "s", note=following.note),
        Figure(part, "facts replaced though none had changed", replaced, plan.size, unit="facts"),
        Figure(part, "a night with nothing changed", third.seconds, 0, None, "s", note=third.note),
    ]


def _outdated(opened: Madeleine) -> int:
    """Return how many memories no longer hold. In this world every fact stands alone, and what
    changed was retired when the home was made."""
    return opened.list(limit=1, outdated=True).total - opened.list(limit=1).total


@dataclass(frozen=True, slots=True)
class Slow:
    """One night: how long it took, and what took long or was done."""

    seconds: float
    note: str


def _night(opened: Madeleine) -> Slow:
    began, worked = time.perf_counter(), time.process_time()
    slept = opened.sleep()
    seconds, cpu = time.perf_counter() - began, time.process_time() - worked
    for report in slept:
        if report.error:
            raise SystemExit(f"{report.job} failed: {report.error}")
    return Slow(seconds, f"{cpu:.1f} s of CPU; {_told(slept)}")


def _told(slept: SleepReports) -> str:
    longest = sorted(slept, key=lambda each: -each.seconds)[:3]
    times = ", ".join(f"{each.job} {each.seconds:.1f} s" for each in longest)
    done, asked = sum(each.applied for each in slept), sum(each.proposed for each in slept)
    return f"{times}; {done:,} changes, {asked:,} proposals"


def _change(opened: Madeleine, plan: Plan) -> int:
    """Remember some new memories and revise some old ones."""
    count = max(1, round(plan.size * CHANGED_SHARE / 2))
    texts = Texts(seed=31)
    opened.remember_many([{"content": texts.text()} for _ in range(count)])
    for memory in opened.list(limit=count, offset=plan.size // 2):
        opened.revise(memory, content=f"{memory.content} It was looked at again.")
    return 2 * count


# -- remembering meanwhile -----------------------------------------------------------------


class Thinking:
    """A judge that thinks before each answer. Asking it again costs, so it is not asked twice.

    It can be made to wait once it has thought: then the whole cycle stands still, and what is
    timed meanwhile is timed on an idle home.
    """

    cheap = False

    def __init__(self, judge: Judge, seconds: float) -> None:
        self.name = f"thinking:{judge.name}"
        self.calls = 0
        self.waits = threading.Event()
        self.stays = True
        self._go = threading.Event()
        self._judge = judge
        self._seconds = seconds

    def judge(self, pairs: Sequence[MemoryPair]) -> list[Verdict | None]:
        self._think()
        return self._judge.judge(pairs)

    def synthesise(self, members: Sequence[Memory]) -> Synthesis | None:
        self._think()
        return self._judge.synthesise(members)

    def problems(self) -> dict[str, int]:
        return self._judge.problems()

    def go_on(self) -> None:
        self.waits.clear()
        self._go.set()

    def _think(self) -> None:
        self.calls += 1
        time.sleep(self._seconds)
        if self.stays:
            self._go.clear()
            self.waits.set()
            self._go.wait(WAITS_AT_MOST_SECONDS)


def busy(homes: Homes, plan: Plan, seconds: float, count: int) -> list[Figure]:
    """Return how much longer a remember takes while the cycle runs, at the 95th percentile.

    The two are timed in turns, some while the cycle works and some while it stands still, since
    the machine is not equally quiet all the time.
    """
    home, _ = made(homes, plan)
    with lent(homes, home) as work:
        context = open_home(work)
        try:
            idle, meanwhile, calls = _both(context, seconds, count)
        finally:
            context.close()
    note = f"{ms(p95(meanwhile))} against {ms(p95(idle))} idle; the judge was asked {calls} times"
    what = f"remember p95 while a judge thinks {seconds:g} s per call, against idle"
    part, times = f"busy {plan.size:,}", len(meanwhile)
    bound, ratio = Target(TIMES_IDLE, at_most=True), p95(meanwhile) / p95(idle)
    medians = statistics.median(meanwhile) / statistics.median(idle)
    return [
        Figure(part, what, ratio, times, bound, "x", note=note),
        Figure(part, "the same at the median", medians, times, None, "x"),
    ]


def _both(context: HomeContext, seconds: float, count: int) -> tuple[list[float], list[float], int]:
    """Return how long remembering takes, idle and meanwhile, and how often the judge was asked."""
    texts, idle, meanwhile = Texts(seed=32), list[float](), list[float]()
    for _ in range(WARM):
        _remember(context, texts)
    judge = Thinking(context.shift.judge, seconds)
    context.shift.judge = judge  # every job asks the shift for it
    asked = context.sleeper.ask()
    night = threading.Thread(target=context.sleeper.wait, args=(asked,))
    night.start()
    progress("remembering while the cycle runs")
    while len(meanwhile) < count and not asked.over.is_set():
        if judge.waits.is_set():
            idle += [_remember(context, texts) for _ in range(IN_A_ROW)]
            judge.go_on()
        meanwhile += [_remember(context, texts) for _ in range(IN_A_ROW)]
    judge.stays = False
    judge.go_on()
    context.sleeper.stop()
    night.join()
    idle += [_remember(context, texts) for _ in range(IN_A_ROW)]
    return idle, meanwhile, judge.calls


def _remember(context: HomeContext, texts: Texts) -> float:
    """Return how long one remember takes."""
    draft = texts.draft()
    took = timed(lambda: remember(context.stores, draft))
    time.sleep(PAUSE_SECONDS)
    return took


def p95(values: Sequence[float]) -> float:
    """Return the value that 95 in 100 stay within."""
    return statistics.quantiles(values, n=20)[-1] if len(values) > 1 else values[0]
