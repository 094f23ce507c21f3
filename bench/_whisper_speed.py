"""How long a whisper takes, against reading the prompt alone, in turns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import cycle

from _measure import ms, timed
from _recall_homes import Homes
from _recall_metrics import percentile
from _recall_report import Figure, Target
from _recall_scale import Plan, made
from _recall_speed import WARM, model
from _whisper_asking import whisper
from _whisper_prompts import OWN, Prompt

from madeleine import Madeleine

TIMES = 400  # so that twenty lie above the 95th percentile
MOST_TIMES = 4.0  # as long as the embedding, 19 times in 20


def latency(homes: Homes, plan: Plan) -> list[Figure]:
    """Return how long a whisper takes in a home of that size, and its ratio to an embedding."""
    home, _ = made(homes, plan)
    prompts = [Prompt(each.text, OWN) for each in plan.all_questions]
    with homes.copy(home) as work, Madeleine.open(work, in_process=True) as opened:
        whole, bare = _timed_in_turns(homes, opened, prompts)
    return list(_figures(f"latency {plan.size:,}", whole, bare))


def _figures(part: str, whole: list[float], bare: list[float]) -> Iterator[Figure]:
    for name, point in (("p50", 0.5), ("p95", 0.95)):
        took, read = percentile(whole, point), percentile(bare, point)
        yield Figure(part, f"whisper {name}", 1_000 * took, len(whole), unit="ms")
        note = f"{ms(took)} against {ms(read)}, in turns"
        what = f"whisper {name}, against {name} of embedding"
        yield Figure(part, what, took / read, len(whole), unit="x", note=note)
    ratio = percentile(whole, 0.95) / percentile(bare, 0.5)
    note = "the slowest 5 % of whispers against a usual embedding"
    bound = Target(MOST_TIMES, at_most=True)
    yield Figure(
        part, "whisper p95, against embedding the prompt", ratio, len(whole), bound, "x", note=note
    )


def _timed_in_turns(
    homes: Homes, opened: Madeleine, prompts: list[Prompt]
) -> tuple[list[float], list[float]]:
    """Return how long each whisper and each embedding took; both read every prompt anew."""
    typed, read = cycle(prompts), cycle(prompts)
    with model(homes.folder) as embedder:

        def whole() -> object:
            return whisper(opened, next(typed))

        def bare() -> object:
            return embedder.ask(next(read).text)

        _in_turns(whole, bare, WARM)
        return _in_turns(whole, bare, TIMES)


def _in_turns(
    one: Callable[[], object], other: Callable[[], object], times: int
) -> tuple[list[float], list[float]]:
    """Do the two in turns, each first as often as second."""
    ones: list[float] = []
    others: list[float] = []
    for number in range(times):
        pairs = [(ones, one), (others, other)]
        for kept, act in pairs if number % 2 else reversed(pairs):
            kept.append(timed(act))
    return ones, others
