"""Learns the weights of recall and writes them to a file.

    python -m bench.training.train_recall --out weights.json [--data DIR] [--cache DIR]

Weights are learnt from invented stores and, with `--data`, from ormah and PrecisionMemBench.
`--cross-validate locomo,beam` measures them on sets that they may not be learnt from, beside
weights that are learnt from all stores of such a set but the one that is asked; `own` does the
same among the stores that are learnt from. `--ablate` does all of it without each group of
features in turn. The public sets are read from `--data`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from bench.training import dialogues as talk
from bench.training import notes as kept
from bench.training.calibration import Report, fit_calibration, judge, scale_to_first_hits
from bench.training.collecting import Gathered, example_of, gather, home_of, scored_of
from bench.training.everyday_split import head_stores
from bench.training.fit import Example, Weights, fit_listwise, leave_one_out, sums_of
from bench.training.heads import GROUPS, HEADS, WIDER_GROUPS, HeadPlan
from bench.training.metrics import Figures, measure
from bench.training.negatives import negatives
from bench.training.stores import MEASURING, UNANSWERED, everyday, measuring, permissive
from bench.training.values import Store
from madeleine.rules.fusion import RecallHead

NEGATIVES = 30  # of each kind and store
OF_OTHERS = 12  # the same, for a store that has questions of its own without an answer
OWN_SET = "own"
SET_L2 = {"locomo": 20.0, "beam": 10.0}  # for as many questions as these sets have
SET_HEAD = {"locomo": "dialogue", "beam": "note"}
DIGITS = 4  # of a weight in the file

Sets = Mapping[str, Sequence[Gathered]]
"""What was gathered, by the name of the store."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line asks for."""

    homes: Path
    data: Path | None
    seed: int
    sets: tuple[str, ...]
    ablate: bool
    out: Path | None


def main(argv: Sequence[str] | None = None) -> int:
    """Learn, write, and measure what is asked for."""
    parser = _parser()
    given = parser.parse_args(argv)
    sets = tuple(each for each in given.cross_validate.split(",") if each)
    if unknown := set(sets) - {*MEASURING, OWN_SET}:
        parser.error(f"--cross-validate knows no {', '.join(sorted(unknown))}")
    if set(sets) & set(MEASURING) and given.data is None:
        parser.error("--cross-validate needs --data")
    with _folder(given.cache) as homes:
        run(Asked(homes, given.data, given.seed, sets, given.ablate, given.out))
    return 0


def run(asked: Asked) -> None:
    """Gather, fit and report."""
    taught = gathered(asked, training_stores(asked.data, asked.seed))
    heads = {name: fit_head(plan, taught) for name, plan in HEADS.items()}
    text = weights_file(heads, trained_on(asked.data, asked.seed))
    if asked.out is None:
        print(text, end="")
    else:
        asked.out.write_text(text, encoding="utf-8")
    for name, plan in HEADS.items():
        print(report_line(f"{name}, as learnt", judged(plan, heads[name], taught)))
    for name in asked.sets:
        validate(asked, name, heads, taught)


# -- learning ------------------------------------------------------------------------------


def training_stores(data: Path | None, seed: int) -> list[Store]:
    """Return what weights are learnt from."""
    invented = [*talk.dialogues(seed=talk.SEED + seed), *kept.notes(seed=kept.SEED + seed)]
    return [*invented, *everyday(), *(permissive(data) if data else ())]


def trained_on(data: Path | None, seed: int) -> str:
    """Say in a line what weights were learnt from."""
    invented = f"{talk.COUNT} invented dialogues, {kept.COUNT} invented notebooks (seed {seed})"
    written = f"{invented}, {len(head_stores())} stores of Everyday's train split"
    return f"{written}, ormah, PrecisionMemBench" if data else written


def gathered(asked: Asked, stores: Sequence[Store]) -> Sets:
    """Return what recall sees of all questions, also of those that have no answer."""
    found: dict[str, list[Gathered]] = {}
    for number, store in enumerate(stores, 1):
        print(f"{number} of {len(stores)}: {store.name}", file=sys.stderr)
        own = _has_unanswered(store)
        alike = [each for each in stores if _has_unanswered(each) == own]
        count = OF_OTHERS if own else NEGATIVES
        questions = [*store.questions, *negatives(store, alike, count, asked.seed)]
        found[store.name] = list(gather(home_of(asked.homes, store), store, questions))
    return found


def _has_unanswered(store: Store) -> bool:
    """Whether a store brings questions of its own without an answer."""
    return any(not each.gold for each in store.questions)


def fit_head(plan: HeadPlan, taught: Sets) -> RecallHead:
    """Return the weights and the calibration of a head."""
    weights = fit_weights(
        plan, [each for given in examples(plan, taught).values() for each in given]
    )
    scored = [
        scored_of(each, plan, weights)
        for each in weighed(plan, taught)
        if not (plan.only_asked and each.question.unasked)
    ]
    calibration = fit_calibration(scored, plan.evidence, alike=not plan.only_asked)
    if plan.only_asked:
        written = {path.stem: taught[path.stem] for path in head_stores() if path.stem in taught}
        own = {"question", "question, none"}
        asked = [each for each in weighed(plan, written) if each.question.kind in own]
        calibration = scale_to_first_hits(
            calibration, [scored_of(each, plan, weights) for each in asked]
        )
    return RecallHead(weights, calibration)


def fit_weights(plan: HeadPlan, given: Sequence[Example]) -> Weights:
    return fit_listwise(given, plan.names, plan.signs, plan.l2)


def examples(plan: HeadPlan, sets: Sets) -> dict[str, list[Example]]:
    """Return the questions that have an answer, by store, as far as the head weighs them."""
    found = {
        name: [
            example_of(each, plan)
            for each in given
            if each.question.gold and each.question.kind not in UNANSWERED and _is_for(plan, each)
        ]
        for name, given in sets.items()
    }
    return {name: given for name, given in found.items() if given}


def weighed(plan: HeadPlan, sets: Sets) -> list[Gathered]:
    """Return all questions with a candidate that the head weighs."""
    return [
        each
        for given in sets.values()
        for each in given
        if each.question.kind not in UNANSWERED and _is_for(plan, each)
    ]


def _is_for(plan: HeadPlan, given: Gathered) -> bool:
    return bool(set(given.heads.tolist()) & set(plan.candidates))


def weights_file(heads: Mapping[str, RecallHead], trained: str) -> str:
    """Return the file that recall reads. What counts nothing is left out."""
    written = {
        name: {
            "weights": _rounded(head.weights),
            "calibration": {
                "slope": round(head.calibration.slope, DIGITS),
                "bias": round(head.calibration.bias, DIGITS),
                "evidence": _rounded(head.calibration.evidence),
            },
        }
        for name, head in heads.items()
    }
    given = {"version": 1, "trained_on": trained, "heads": written}
    return json.dumps(given, indent=1, ensure_ascii=False) + "\n"


def _rounded(weights: Mapping[str, float]) -> dict[str, float]:
    short = {name: round(weight, DIGITS) for name, weight in weights.items()}
    return {name: weight for name, weight in short.items() if weight}


# -- measuring -----------------------------------------------------------------------------


def validate(asked: Asked, name: str, heads: Mapping[str, RecallHead], taught: Sets) -> None:
    """Print how weights do on stores they have not seen."""
    if name == OWN_SET:
        for kind in ("dialogue", "note"):
            _print_own(kind, HEADS[kind], taught, asked.ablate)
        return
    assert asked.data is not None
    head, plan = heads[SET_HEAD[name]], HEADS[SET_HEAD[name]]
    unseen = gathered(asked, measuring(asked.data, name))
    print(f"\n## {name}\n\n{TABLE_HEAD}")
    print(figures_line("permissive weights", with_weights(plan, dict(head.weights), unseen)))
    print(figures_line("leave one out", left_out(replace(plan, l2=SET_L2[name]), unseen)))
    print(report_line("chances, unseen", judged(plan, head, unseen)))
    if asked.ablate:
        ablate(plan, SET_L2[name], taught, unseen)


def _print_own(name: str, plan: HeadPlan, taught: Sets, without_each: bool) -> None:
    print(f"\n## {name}, leave one store out\n\n{TABLE_HEAD}")
    print(figures_line("all", left_out(plan, taught)))
    for group, names in _groups(plan).items() if without_each else ():
        print(figures_line(f"without {group}", left_out(plan.without(names), taught)))


def ablate(plan: HeadPlan, l2: float, taught: Sets, unseen: Sets) -> None:
    """Print what is lost without each group of features."""
    print(f"\n{TABLE_HEAD}")
    for group, names in _groups(plan).items():
        less = plan.without(names)
        given = [each for found in examples(less, taught).values() for each in found]
        shown = with_weights(less, fit_weights(less, given), unseen)
        print(figures_line(f"permissive without {group}", shown))
        print(
            figures_line(f"leave one out without {group}", left_out(replace(less, l2=l2), unseen))
        )


def with_weights(plan: HeadPlan, weights: Weights, sets: Sets) -> Figures:
    """Return the figures of some weights."""
    whole = {name: weights.get(name, 0.0) for name in plan.names}
    given = [each for found in examples(plan, sets).values() for each in found]
    return measure((each, sums_of(each, plan.names, whole)) for each in given)


def left_out(plan: HeadPlan, sets: Sets) -> Figures:
    """Return the figures when each store is asked with weights of the others."""
    given = examples(plan, sets)
    sums = leave_one_out(given, plan.names, lambda rest: fit_weights(plan, rest))
    return measure(
        (each, found)
        for name, asked in given.items()
        for each, found in zip(asked, sums[name], strict=True)
    )


def judged(plan: HeadPlan, head: RecallHead, sets: Sets) -> Report:
    """Return how far a head's chances can be trusted."""
    whole = {name: head.weights.get(name, 0.0) for name in plan.names}
    return judge(head.calibration, [scored_of(each, plan, whole) for each in weighed(plan, sets)])


TABLE_HEAD = (
    "| weights | questions | R@5 | R@10 | R@20 | R@60 | nDCG@10 | MRR | R@10 by kind "
    "| session any@1/5/10 |\n|---|---|---|---|---|---|---|---|---|---|"
)


def figures_line(what: str, figures: Figures) -> str:
    """Return figures as a line of the table, in percent."""
    recall = " | ".join(f"{100 * value:.1f}" for value in figures.recall.values())
    kinds = ", ".join(f"{kind} {100 * value:.0f}" for kind, value in figures.by_kind.items())
    sessions = "/".join(f"{100 * value:.1f}" for value in figures.sessions.values())
    order = f"{100 * figures.ndcg:.1f} | {100 * figures.mrr:.1f}"
    return f"| {what} | {figures.questions} | {recall} | {order} | {kinds} | {sessions} |"


def report_line(what: str, report: Report) -> str:
    """Return in a few lines how far chances can be trusted."""
    bins = ", ".join(
        f"{b.low:.1f}: {b.said:.2f} said, {b.was:.2f} so ({b.count})" for b in report.bins
    )
    foreign = ", ".join(
        f"{kind} AUC {value:.3f}, 95 % below {report.ceiling[kind]:.2f}"
        for kind, value in report.auc.items()
    )
    return (
        f"{what}: error {report.error:.3f}, in the middle {report.middle_error:.3f}; "
        f"median of the best {report.median_own:.2f}\n  {bins}\n  {foreign}"
    )


def _groups(plan: HeadPlan) -> dict[str, tuple[str, ...]]:
    return {
        group: names
        for group, names in (GROUPS | WIDER_GROUPS).items()
        if set(names) & set(plan.names)
    }


# -- the command line ----------------------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="without it weights are printed")
    parser.add_argument("--data", type=Path, metavar="DIR", help="where the public sets are")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep homes for the next run")
    parser.add_argument("--seed", type=int, default=0, help="of the invented stores")
    parser.add_argument("--cross-validate", default="", metavar="SET,…", help="locomo, beam, own")
    parser.add_argument("--ablate", action="store_true", help="also without each group of features")
    return parser


@contextmanager
def _folder(cache: Path | None) -> Iterator[Path]:
    if cache is not None:
        yield cache
        return
    with tempfile.TemporaryDirectory(prefix="madeleine-training-") as folder:
        yield Path(folder)


if __name__ == "__main__":
    sys.exit(main())
