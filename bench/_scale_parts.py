"""The same memory on two engines: does it answer as well, as quickly, and sleep as quickly?"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import cycle
from pathlib import Path

from _consolidation_speed import CONFIG, IN_ORDER, run_task, weigh
from _measure import ms, progress, timed
from _recall_asking import Asked, ask_all
from _recall_homes import Homes, bar, digest, fill
from _recall_metrics import any_at, mean, recall_at
from _recall_parts import MAIN
from _recall_report import Figure, Target
from _recall_scale import Plan, made
from _recall_sets import Store
from _recall_speed import LIMIT, WARM
from _scale_engines import SQLITE, Databases, Engine, postgres
from _scale_growth import grown
from _sleep_homes import lent

from madeleine import Madeleine
from madeleine.api.call import OperationCall
from madeleine.api.operations import perform_operation
from madeleine.bootstrap import HomeContext, open_home

POINT = 0.01
TIMES_SQLITE = 2.0
TIMES_SMALLER = 2.0
TIMES_ASLEEP = 3.0
ASKED_AT_MOST = 200  # questions that tell how often an answer is found
LEAST_SECONDS = 0.05  # a shorter task says nothing by its ratio


# -- quality -------------------------------------------------------------------------------


def quality(homes: Homes, server: Databases, stores: Sequence[Store]) -> Iterator[Figure]:
    """Yield how well both engines answer, and how far they are apart."""
    with server.made() as url:
        sqlite = _answers(homes, stores, lambda store: SQLITE)
        other = _answers(homes, stores, lambda store: postgres(url, store.name))
    for depth in (5, 10):
        shares = [_share(asked, depth) for asked in (sqlite, other)]
        for name, value in zip(("sqlite", "postgres"), shares, strict=True):
            yield Figure("quality", f"recall@{depth}, {name}", value, len(sqlite))
        apart = abs(shares[0] - shares[1])
        bound = Target(POINT, at_most=True)
        yield Figure("quality", f"recall@{depth}, apart", apart, len(sqlite), bound)
    same = [one.ranked[:10] == two.ranked[:10] for one, two in zip(sqlite, other, strict=True)]
    yield Figure("quality", "the same first ten in the same order", _mean(same), len(same))


def _answers(
    homes: Homes, stores: Sequence[Store], engine_of: Callable[[Store], Engine]
) -> list[Asked]:
    found: list[Asked] = []
    for store in stores:
        content = digest([store.drafts, store.retired])
        home, _ = homes.made(store.name, content, _filling(store))
        engine = engine_of(store)
        with (
            homes.copy(home, engine.name, engine.settings) as work,
            Madeleine.open(work, in_process=True) as opened,
        ):
            asked = [each for each in store.questions if each.label in MAIN]
            found += ask_all(opened, asked, f"asking {store.name} in {engine.name}")
    return found


def _filling(store: Store) -> Callable[[Path], dict[str, float]]:
    return lambda home: fill(home, store)


def _share(asked: Sequence[Asked], depth: int) -> float:
    return mean(recall_at(each.ranked, each.question.gold, depth) for each in asked).value


def _mean(values: Sequence[bool]) -> float:
    return sum(values) / max(len(values), 1)


# -- speed ---------------------------------------------------------------------------------


def recall_speed(
    homes: Homes, server: Databases, plan: Plan, million: int | None, times: int
) -> Iterator[Figure]:
    """Yield how long a recall takes on both, asked in turns; and in a store grown to `million`,
    against what it took before."""
    home, _ = made(homes, plan)
    part = f"recall {plan.size:,}"
    with server.made() as url, ExitStack() as stack:
        contexts = []
        for engine in (SQLITE, postgres(url)):
            context, seconds = stack.enter_context(filled(homes, home, engine))
            yield Figure(part, f"{engine.name}: filled in", seconds, plan.size, unit="s")
            contexts.append(context)
        took = in_turns(contexts, plan, times)
        yield from _both(part, took)
        yield from _found(part, contexts[1], plan)
        if million is not None:
            before = statistics.median(took[1])
            yield from _larger(server, url, contexts[1], plan, million, before, times)


@contextmanager
def filled(
    homes: Homes, home: Path, engine: Engine, called: str = ""
) -> Iterator[tuple[HomeContext, float]]:
    """Lend an open copy of a home on an engine, and say how long it took to be filled."""
    with homes.copy(home, called or engine.name, engine.settings) as work:
        homes.lend_filler(home, work)
        opened: list[HomeContext] = []
        progress(f"filling {home.name} in {engine.name}")
        with bar(f"filling {engine.name}") as advance:
            seconds = timed(lambda: opened.append(_open_filling(work, engine, advance)))
        try:
            yield opened[0], seconds
        finally:
            opened[0].close()


def _open_filling(
    work: Path, engine: Engine, advance: Callable[[int, int | None], None]
) -> HomeContext:
    """Open a home whose index is made anew, as a first opening does."""
    return open_home(work, progress=advance, fresh_index=engine is SQLITE)


def in_turns(contexts: Sequence[HomeContext], plan: Plan, times: int) -> list[list[float]]:
    """Ask each house the same questions, each in its turn first. What a house writes behind an
    answer is waited for, so that no other pays for it."""
    took: list[list[float]] = [[] for _ in contexts]
    questions = cycle(each.text for each in plan.all_questions)
    warm = min(WARM, times)
    for number in range(warm + times):
        text = next(questions)
        for place in sorted(range(len(contexts)), key=lambda each: (each + number) % len(contexts)):
            seconds = _recall(contexts[place], text)
            if number >= warm:
                took[place].append(seconds)
    return took


def _recall(context: HomeContext, text: str) -> float:
    call = OperationCall(body={"query": text, "limit": LIMIT})
    seconds = timed(lambda: perform_operation(context, "recall", call))
    context.stores.executor.wait()
    return seconds


def _both(part: str, took: Sequence[Sequence[float]]) -> Iterator[Figure]:
    sqlite, other = (statistics.median(each) for each in took)
    note = f"p50 {ms(other)} against {ms(sqlite)}, p95 {ms(_p95(took[1]))} against "
    note += f"{ms(_p95(took[0]))}; in turns"
    bound = Target(TIMES_SQLITE, at_most=True)
    what, n = "postgres against sqlite", len(took[0])
    yield Figure(part, what, other / sqlite, n, bound, "x", note=note)


def _p95(values: Sequence[float]) -> float:
    return sorted(values)[int(0.95 * len(values))]


def _found(part: str, context: HomeContext, plan: Plan) -> Iterator[Figure]:
    """Yield how often the one memory that answers is found, so that speed is not bought by it."""
    asked = plan.questions("para")[:ASKED_AT_MOST]
    hits = []
    for each in asked:
        answer = perform_operation(
            context, "recall", OperationCall(body={"query": each.text, "limit": 5})
        )
        ids = [one.memory.id for one in answer.results]
        hits.append(any_at(ids, each.gold, 5))
    yield Figure(part, "postgres: hit@5 of paraphrases", mean(hits).value, len(hits))


def _larger(
    server: Databases,
    url: str,
    context: HomeContext,
    plan: Plan,
    million: int,
    before: float,
    times: int,
) -> Iterator[Figure]:
    part = f"recall {million:,}"
    progress(f"growing to {million:,} memories")
    with server.connect(url) as connection:
        seconds = timed(lambda: grown(connection, "home", million // plan.size))
    yield Figure(part, "grown inside the database in", seconds, million, unit="s")
    (took,) = in_turns([context], plan, times)
    after = statistics.median(took)
    note = f"p50 {ms(after)} against {ms(before)}, p95 {ms(_p95(took))}"
    bound = Target(TIMES_SMALLER, at_most=True)
    what = f"postgres against its {plan.size:,}"
    yield Figure(part, what, after / before, len(took), bound, "x", note=note)
    yield from _found(part, context, plan)


# -- sleep ---------------------------------------------------------------------------------


def consolidation(homes: Homes, server: Databases, plan: Plan) -> Iterator[Figure]:
    """Yield how long each task takes on both engines."""
    home, _ = made(homes, plan)
    took: dict[str, dict[str, float]] = {}
    with server.made() as url:
        for engine in (SQLITE, postgres(url)):
            took[engine.name] = _tasks(homes, home, engine)
    for task in IN_ORDER:
        one, other = took["postgres"][task], took["sqlite"][task]
        bound = Target(TIMES_ASLEEP, at_most=True)
        note = f"{one:.2f} s against {other:.2f} s"
        times = one / max(other, LEAST_SECONDS)
        yield Figure(f"consolidation {plan.size:,}", task, times, 1, bound, "x", note=note)


def _tasks(homes: Homes, home: Path, engine: Engine) -> dict[str, float]:
    with lent(homes, home, engine.name) as work:
        homes.lend_filler(home, work)
        (work / "config.toml").write_text(CONFIG + engine.settings, encoding="utf-8")
        progress(f"filling {home.name} in {engine.name}")
        context = open_home(work)
        try:
            weigh(context)
            took = {}
            for task in IN_ORDER:
                progress(f"{task} in {engine.name}")
                took[task] = run_task(context, task).seconds
            return took
        finally:
            context.close()
