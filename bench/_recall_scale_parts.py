"""The parts that are measured in the made-up world: size, speed, changes and filters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from _recall_asking import Asked, ask, ask_all
from _recall_cold import Cold, cold
from _recall_homes import Homes, Notes
from _recall_metrics import Mean, any_at, mean, percentile
from _recall_report import Figure, Target, share
from _recall_scale import BEFORE, Plan, Update, made
from _recall_sets import Question
from _recall_speed import LIMIT, WARM, against_embedding, ratio
from _recall_world import KINDS

from madeleine import Madeleine

MOST = 100  # that may be asked for at once
MB = 1_048_576


def scale(homes: Homes, plan: Plan) -> list[Figure]:
    """Return how often a needle is found, and what the home costs."""
    home, notes = made(homes, plan)
    with homes.copy(home) as work:
        with Madeleine.open(work, in_process=True) as opened:
            asked = ask_all(opened, plan.all_questions, f"asking at {plan.size:,}", LIMIT)
        first = cold(work, plan.all_questions[0].text)
    part = f"scale {plan.size:,}"
    return [*_hits(part, plan, asked), *_times(part, asked), *_costs(part, plan, notes, first)]


def latency(homes: Homes, plan: Plan) -> list[Figure]:
    """Return how much longer a recall takes than reading the question."""
    home, _ = made(homes, plan)
    with _opened(homes, home) as opened:
        pair = against_embedding(homes, opened, plan.all_questions)
    bound = Target(most_times(plan.size), at_most=True)
    return [ratio("latency", f"recall at {plan.size:,}", pair, bound)]


def updates(homes: Homes, plan: Plan) -> list[Figure]:
    """Return how often a fact that is no longer true comes first, and whether it does when
    the past is asked about."""
    home, _ = made(homes, plan)
    with _opened(homes, home) as opened:
        now = [_first(opened, each) for each in plan.updates]
        then = [_first(opened, each, as_of=BEFORE) for each in plan.updates]
        ever = [_first(opened, each, outdated=True) for each in plan.updates]
    olds = [str(each.old["id"]) for each in plan.updates]
    news = [str(each.new["id"]) for each in plan.updates]
    return [
        share("updates", "a retired fact at rank 1", _equal(now, olds), Target(0, at_most=True)),
        share("updates", "the new fact at rank 1", _equal(now, news)),
        share("updates", "as of before the change, the old fact at rank 1", _equal(then, olds)),
        share("updates", "with outdated ones let in, a retired fact at rank 1", _equal(ever, olds)),
    ]


def filters(homes: Homes, plan: Plan) -> list[Figure]:
    """Return how often the one memory that a filter lets through is found."""
    home, _ = made(homes, plan)
    questions = [each.question for each in plan.sought]
    bare = [replace(each, options={}) for each in questions]
    with _opened(homes, home) as opened:
        found = ask_all(opened, questions, "asking with filters", LIMIT)
        unfiltered = ask_all(opened, bare, "asking without", MOST)
    part, figures = f"filters {plan.size:,}", []
    for kind in dict.fromkeys(each.label for each in questions):
        hits = mean(_hit(each, LIMIT) for each in found if each.question.label == kind)
        figures.append(share(part, f"found by {kind}", hits, Target(1)))
    among = mean(_hit(each, MOST) for each in unfiltered)
    note = "so hard it is: all the others fit the question better"
    return [*figures, share(part, f"without the filter, among the first {MOST}", among, None, note)]


# -- pieces --------------------------------------------------------------------------------


def most_times(size: int) -> float:
    """Return how many times as long as an embedding a recall may take at this size."""
    return 2.5 if size <= 10_000 else 4.0 if size <= 100_000 else 10.0


def _hits(part: str, plan: Plan, asked: list[Asked]) -> Iterator[Figure]:
    rare = {each.gold for each in plan.questions("lex", rare=True)}
    for kind in KINDS:
        of_kind = [each for each in asked if each.question.label == kind]
        with_rare = [each for each in of_kind if each.question.gold in rare]
        with_common = [each for each in of_kind if each.question.gold not in rare]
        for k in (1, 5):
            yield share(part, f"{kind} hit@{k}", _found(of_kind, k), _hit_target(plan, kind, k))
            yield share(part, f"{kind} hit@{k}, rare names", _found(with_rare, k))
            yield share(part, f"{kind} hit@{k}, common names", _found(with_common, k))


def _hit_target(plan: Plan, kind: str, k: int) -> Target | None:
    return Target(0.97) if (kind, k) == ("para", 5) and plan.size >= 100_000 else None


def _times(part: str, asked: list[Asked]) -> Iterator[Figure]:
    took = [1_000 * each.seconds for each in asked[WARM:] or asked]
    for name, point in (("p50", 0.5), ("p95", 0.95)):
        yield Figure(part, f"recall {name}", percentile(took, point), len(took), unit="ms")


def _costs(part: str, plan: Plan, notes: Notes, first: Cold) -> Iterator[Figure]:
    many, size = len(plan.remembered), notes["index_bytes"]
    ingest, indexed = notes["remembered_per_second"], notes["indexed_per_second"]
    each = f"{size / plan.size:,.0f} bytes a memory"
    yield Figure(part, "remembered", ingest, many, unit="/s", note="embedding included")
    count = round(notes["indexed"])
    yield Figure(part, "indexed from files", indexed, count, unit="/s", note="none embedded")
    yield Figure(part, "index", size / MB, plan.size, unit="MB", note=each)
    yield Figure(part, "cold start to first answer", first.seconds, 1, unit="s")
    yield Figure(part, "resident", first.resident_bytes / MB, 1, unit="MB", note="at most, ever")


@contextmanager
def _opened(homes: Homes, home: Path) -> Iterator[Madeleine]:
    with homes.copy(home) as work, Madeleine.open(work, in_process=True) as opened:
        yield opened


def _first(opened: Madeleine, update: Update, **options: object) -> str:
    asked = ask(opened, Question(update.question, frozenset(), options=options), LIMIT)
    return asked.ranked[0] if asked.ranked else ""


def _equal(found: Sequence[str], wanted: Sequence[str]) -> Mean:
    return mean(float(one == other) for one, other in zip(found, wanted, strict=True))


def _found(asked: Sequence[Asked], depth: int) -> Mean:
    return mean(_hit(each, depth) for each in asked)


def _hit(asked: Asked, depth: int) -> float:
    return any_at(asked.ranked, asked.question.gold, depth)
