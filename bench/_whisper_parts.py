"""The parts that are measured on public data, W1 to W5, and dialogues.

Every prompt is typed twice. Once with the gate open: what that says holds for any gate, because
a gate only keeps back what scores below it. Each store is then read at a gate that was chosen on
the other stores of its part (a part with one store: each half of its prompts at a gate of the
other half). That is the main figure. Once with the gate that ships, which stands beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from _recall_asking import ask_all
from _recall_homes import Homes
from _recall_metrics import Mean, mean
from _recall_report import Figure, Target, share
from _recall_sets import Question
from _whisper_asking import MOST, OPEN, SHIPPED, ask_trials
from _whisper_metrics import (
    Answers,
    Choose,
    Frozen,
    Limits,
    auc,
    concept_recall,
    exact,
    false_rates,
    forbidden,
    frozen,
    halves,
    hit_rate,
    lowest_gate,
    most_exact_gate,
    of_kind,
    over_kinds,
    precision,
    recall,
    useful,
    whisper_rate,
)
from _whisper_prompts import OWN, Trial

LEVELS = (0.10, 0.05, 0.01)  # mean false-whisper rates that a sweep goes to
DEEPER = (5, 10, 20)  # how far down recall's list concepts are looked for
OPTIMISTIC = "optimistic: the gate is chosen on these very prompts"


@dataclass(frozen=True, slots=True)
class Plan:
    """Which gates a run shows: chosen on other stores, shipped, swept; how strictly chosen."""

    frozen: bool = True
    swept: bool = False
    margin: float = 1.0

    @property
    def open(self) -> bool:
        return self.frozen or self.swept


@dataclass(frozen=True, slots=True)
class Part:
    """What counts in a part: its negatives, how rarely they may be answered, its targets by
    the name of their figure, and kinds that are counted apart."""

    name: str
    negatives: tuple[str, ...]
    targets: Mapping[str, Target] = field(default_factory=dict)
    limits: Limits | None = None
    """None where sets are exact: then the gate is the one with which most of them are."""
    apart: tuple[str, ...] = ()
    dialogue: bool = False
    """There an answer depends on those before it, so no gate can be tried afterwards."""

    def choose(self, margin: float = 1.0) -> Choose:
        limits = self.limits
        if limits is None:
            return most_exact_gate
        return lambda answers: lowest_gate(answers, self.negatives, limits.within(margin))


def _most(bound: float) -> Target:
    return Target(bound, at_most=True)


PARTS = {
    "locomo": Part(
        "W1 locomo",
        ("other", "swap", "small", "task"),
        {
            "hit": Target(0.65),
            "mean FWR": _most(0.05),
            "FWR other": _most(0.005),
            "FWR small": _most(0.005),
            "FWR task": _most(0.005),
        },
        Limits(0.05, {"other": 0.005, "small": 0.005, "task": 0.005}),
    ),
    "beam": Part(
        "W2 beam",
        ("other", "small", "task"),
        {"hit": Target(0.70), "precision": Target(0.55), "mean FWR": _most(0.01)},
        Limits(0.01),
        ("abstention",),
    ),
    "proactive": Part(
        "W3 proactive",
        ("other", "small", "task"),
        {"hit": Target(0.78), "mean FWR": _most(0.05)},
        Limits(0.05),
    ),
    "ormah": Part(
        "W4 ormah",
        ("noise", "small", "task"),
        {"hit": Target(0.80), "mean FWR": _most(0.05)},
        Limits(0.05),
        ("unanswered",),
    ),
    "precision": Part("W5 precision", ("empty",), {"exact": Target(33 / 39)}),
    "session": Part("session", ("empty",), dialogue=True),
}


def measure(homes: Homes, name: str, trials: Sequence[Trial], plan: Plan) -> Iterator[Figure]:
    """Yield the figures of a part, those at a frozen gate beside those at the shipped one."""
    part = PARTS[name]
    plan = Plan(frozen=False) if part.dialogue else plan
    shipped = list(chain(*ask_trials(homes, trials, SHIPPED)))
    ways = [_figures(part, "shipped", shipped)]
    groups = ask_trials(homes, trials, OPEN) if plan.open else []
    if plan.frozen:
        found = frozen(_independent(groups), part.choose(plan.margin))
        answers = [each for group in found for each in group.answers]
        yield _gates(part, found)
        ways.insert(0, _figures(part, "frozen", answers))
    yield from chain.from_iterable(zip(*ways, strict=True))
    if plan.open:
        yield from _separation(part, list(chain(*groups)))
    if plan.swept:
        yield from _sweep(part, list(chain(*groups)))
    if name == "proactive":
        yield from _concepts(homes, part, trials, shipped)


def _independent(groups: Sequence[Answers]) -> Sequence[Answers]:
    """Return the stores; of one store only, its halves."""
    return groups if len(groups) > 1 else halves([each for group in groups for each in group])


# -- one way of gating ---------------------------------------------------------------------


def _figures(part: Part, way: str, answers: Answers) -> list[Figure]:
    """Return the usual figures of whispers."""
    own, false = of_kind(answers, OWN), false_rates(answers, part.negatives)
    whispers, hit, mean_false = whisper_rate(own), hit_rate(own), over_kinds(false.values())
    means = {
        "whisper rate": whispers,
        "hit": hit,
        "precision": precision(own),
        "recall": recall(own),
        "mean FWR": mean_false,
        **{f"FWR {kind}": rate for kind, rate in false.items()},
        **{f"whisper rate of {kind}": whisper_rate(of_kind(answers, kind)) for kind in part.apart},
        **_sets(part, answers),
    }
    worth = Figure(part.name, f"useful ({way})", useful(hit, whispers, mean_false), hit.n)
    rows = [
        share(part.name, f"{what} ({way})", of, part.targets.get(what), _count(what, of))
        for what, of in means.items()
    ]
    return [*rows, worth]


def _sets(part: Part, answers: Answers) -> dict[str, Mean]:
    """Return how many sets are exact, and how many prompts got what they must not get."""
    named = [each for each in answers if each.prompt.forbidden]
    found = {"forbidden whispered": mean(float(forbidden(each)) for each in named)} if named else {}
    if part.limits is None:
        found["exact"] = mean(float(exact(each)) for each in answers)
    return found


def _count(what: str, of: Mean) -> str:
    """Return a small sample as what it is: so many of so many."""
    counted = what in ("hit", "exact", "forbidden whispered") and of.n < 100
    return f"{round(of.value * of.n)} of {of.n}" if counted else ""


def _gates(part: Part, groups: Sequence[Frozen]) -> Figure:
    gates = [each.gate for each in groups]
    middle = sum(gates) / len(gates)
    each = ", ".join(f"{gate:.3f}" for gate in gates)
    return Figure(
        part.name, "gate (frozen)", middle, len(gates), note=f"without each in turn: {each}"
    )


# -- any gate ------------------------------------------------------------------------------


def _separation(part: Part, answers: Answers) -> Iterator[Figure]:
    """Yield how well scores tell prompts that something fits from each kind of the others."""
    own = [each.best for each in of_kind(answers, OWN)]
    areas = {
        kind: auc(own, [each.best for each in of_kind(answers, kind)])
        for kind in (*part.negatives, *part.apart)
    }
    counted = [areas[kind] for kind in part.negatives if areas[kind].n]
    yield share(part.name, "mean AUC", over_kinds(counted))
    for kind, area in areas.items():
        yield share(part.name, f"AUC {kind}", area)


def _sweep(part: Part, answers: Answers) -> Iterator[Figure]:
    """Yield the figures with gates that were chosen on the prompts they are read on."""
    choices: dict[str, Choose] = {"most exact": most_exact_gate}
    if part.limits is not None:
        choices = {f"{100 * level:.0f} %": _to_level(part, level) for level in LEVELS}
    for level, choose in choices.items():
        gate, way = choose(answers), f"swept to {level}"
        at_gate = [each.at(gate) for each in answers]
        yield Figure(part.name, f"gate ({way})", gate, len(answers), note=OPTIMISTIC)
        for figure in _figures(part, way, at_gate):
            yield Figure(figure.part, figure.what, figure.value, figure.n, spread=figure.spread)


def _to_level(part: Part, level: float) -> Choose:
    return lambda answers: lowest_gate(answers, part.negatives, Limits(level))


# -- concepts ------------------------------------------------------------------------------


def _concepts(
    homes: Homes, part: Part, trials: Iterable[Trial], shipped: Answers
) -> Iterator[Figure]:
    """Yield how many of the concepts come to mind: in whispers, and among what recall finds."""
    own = of_kind(shipped, OWN)
    in_whispers = mean(concept_recall(each.ids, each.prompt.concepts, MOST) for each in own)
    yield share(part.name, f"concept recall@{MOST} (shipped)", in_whispers)
    found = [each for trial in trials for each in _recalled(homes, trial)]
    for k in (MOST, *DEEPER):
        at = mean(concept_recall(ranked, concepts, k) for ranked, concepts in found)
        yield share(part.name, f"concept recall@{k} (recall)", at)


def _recalled(
    homes: Homes, trial: Trial
) -> Iterator[tuple[tuple[str, ...], tuple[frozenset[str], ...]]]:
    own = [each for each in trial.prompts if each.kind == OWN]
    questions = [Question(each.text, each.gold) for each in own]
    with homes.of_store(trial.store) as opened:
        asked = ask_all(opened, questions, f"recalling in {trial.store.name}", max(DEEPER))
    for prompt, each in zip(own, asked, strict=True):
        yield each.ranked, prompt.concepts
