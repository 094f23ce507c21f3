"""Fits the weights of the local judge: one sum for each relation, and their softmax.

All kinds of pairs count alike, however many of each were made, and those that are nothing much
to each other (`RELATED_TO` and `NONE`) together count as much as all others.
The temperature is fitted on groups that the weights have not seen: it is what makes `sure` mean
what it says on texts about something else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from madeleine.language.pair_signs import (
    CONFLICT_RELATIONS,
    CONFLICT_SIGNS,
    KINSHIP_RELATIONS,
    KINSHIP_SIGNS,
    LEARNT_RELATIONS,
    MOST_SPREADS,
    NEITHER,
    SIGNS,
    JudgeHead,
    JudgeModel,
    relation_chances,
)
from madeleine.model.verdict import Relation

Rows = NDArray[np.float64]
Truth = NDArray[np.int64]
Vector = NDArray[np.float64]

VERSION = 2
L2 = 3.0
STEPS = 40
STILL = 1e-4  # a loss that sinks by less has arrived
LEAST_HOLD = 1e-3  # on a bias, so that there is one best
FOLDS = 6
QUIET = (Relation.RELATED_TO, Relation.NONE)
QUIET_SHARE = 0.5  # of all weight: as much for pairs that are nothing much as for the others
TEMPERATURES = (0.8, 1.0, 1.15, 1.3, 1.5, 1.75, 2.0)
LEAST_SPREAD = 0.02  # a sign that hardly varies would count for too much


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Rows of signs, the place of the true relation in `LEARNT_RELATIONS`, kinds and groups."""

    rows: Rows
    truth: Truth
    kinds: NDArray[np.str_]
    groups: NDArray[np.str_]

    def where(self, chosen: NDArray[np.bool_]) -> Examples:
        return Examples(
            self.rows[chosen], self.truth[chosen], self.kinds[chosen], self.groups[chosen]
        )


def fit(given: Examples, l2: float = L2) -> JudgeModel:
    """Return the weights under which the truth is likeliest, at temperature 1."""
    mean, spread = given.rows.mean(axis=0), np.maximum(given.rows.std(axis=0), LEAST_SPREAD)
    scaled = np.clip((given.rows - mean) / spread, -MOST_SPREADS, MOST_SPREADS)
    counted = _counted(given)
    quiet = given.truth >= len(CONFLICT_RELATIONS)
    against = np.minimum(given.truth, len(CONFLICT_RELATIONS))
    near = given.truth[quiet] - len(CONFLICT_RELATIONS)
    return JudgeModel(
        version=VERSION,
        mean=dict(zip(SIGNS, mean.tolist(), strict=True)),
        spread=dict(zip(SIGNS, spread.tolist(), strict=True)),
        conflict=_head(
            (*CONFLICT_RELATIONS, NEITHER), CONFLICT_SIGNS, scaled, against, counted, l2
        ),
        kinship=_head(KINSHIP_RELATIONS, KINSHIP_SIGNS, scaled[quiet], near, counted[quiet], l2),
    )


def _head(
    answers: tuple[str, ...],
    signs: tuple[str, ...],
    scaled: Rows,
    truth: Truth,
    counted: Vector,
    l2: float,
) -> JudgeHead:
    columns = scaled[:, [SIGNS.index(sign) for sign in signs]]
    design = np.column_stack([columns, np.ones(len(columns))])
    found = _newton(design, np.eye(len(answers))[truth], counted, l2)
    names = tuple(str(each) for each in answers)
    return JudgeHead(
        answers=names,
        signs=signs,
        weights={
            each: dict(zip(signs, row[:-1].tolist(), strict=True))
            for each, row in zip(names, found, strict=True)
        },
        bias={each: float(row[-1]) for each, row in zip(names, found, strict=True)},
    )


def fit_calibrated(given: Examples, l2: float = L2) -> JudgeModel:
    """Return weights learnt from everything, with the temperatures of what was left out."""
    folded = [
        (fit(given.where(~chosen), l2), given.where(chosen)) for chosen in folds(given.groups)
    ]
    best = min(
        ((one, two) for one in TEMPERATURES for two in TEMPERATURES),
        key=lambda each: sum(_loss_at(heated(model, *each), rest) for model, rest in folded),
    )
    return heated(fit(given, l2), *best)


def heated(model: JudgeModel, conflict: float, kinship: float) -> JudgeModel:
    """Return a model at other temperatures: the higher, the less sure."""
    return replace(
        model,
        conflict=replace(model.conflict, temperature=conflict),
        kinship=replace(model.kinship, temperature=kinship),
    )


def left_out(given: Examples, like: JudgeModel, l2: float = L2) -> Rows:
    """Return each chance as said by weights that never saw the pair's group."""
    said = np.zeros((len(given.truth), len(LEARNT_RELATIONS)))
    for chosen in folds(given.groups):
        model = heated(
            fit(given.where(~chosen), l2), like.conflict.temperature, like.kinship.temperature
        )
        said[chosen] = relation_chances(model, given.rows[chosen].tolist())
    return said


def folds(
    groups: Sequence[str] | NDArray[np.str_], count: int = FOLDS
) -> Iterator[NDArray[np.bool_]]:
    """Yield which pairs to leave out, whole groups at a time."""
    names = sorted(set(groups))
    for start in range(min(count, len(names))):
        yield np.isin(groups, names[start::count])


def _loss_at(model: JudgeModel, given: Examples) -> float:
    said = relation_chances(model, given.rows.tolist())[np.arange(len(given.truth)), given.truth]
    return float(-(_counted(given) * np.log(np.maximum(said, 1e-12))).sum())


def _counted(given: Examples) -> Vector:
    """Return how much each pair counts: every kind alike, the quiet ones by their share."""
    names, place, count = np.unique(given.kinds, return_inverse=True, return_counts=True)
    weights = (len(given.kinds) / len(names) / count)[place]
    quiet = np.isin(given.truth, [LEARNT_RELATIONS.index(each) for each in QUIET])
    for chosen, share in ((quiet, QUIET_SHARE), (~quiet, 1 - QUIET_SHARE)):
        total = weights[chosen].sum()
        if total:
            weights[chosen] *= share * len(weights) / total
    return np.asarray(weights, np.float64)


def _newton(design: Rows, gold: Rows, counted: Vector, l2: float) -> Rows:
    """Return the weights of each relation at which the held-back log loss is least.

    The loss is convex and has a few hundred weights, so whole Newton steps are quick; one that
    would go too far is halved."""
    held = np.append(np.full(design.shape[1] - 1, l2), LEAST_HOLD)
    weights = np.zeros((gold.shape[1], design.shape[1]))
    value = np.inf
    for _ in range(STEPS):
        likely = _softmax(design @ weights.T)
        slope = (counted[:, None] * (likely - gold)).T @ design + held * weights
        bend = _curvature(design, likely, counted) + np.diag(np.tile(held, len(weights)))
        step = np.asarray(np.linalg.solve(bend, slope.ravel()), np.float64).reshape(weights.shape)
        weights, before = _halved(weights, step, lambda at: _loss(design, gold, counted, held, at))
        if value - before < STILL:
            break
        value = before
    return weights


def _halved(weights: Rows, step: Rows, loss: Callable[[Rows], float]) -> tuple[Rows, float]:
    """Return where a step leads that makes the loss smaller, and the loss there."""
    before = loss(weights)
    for halving in range(30):
        reached = weights - step / 2**halving
        value = loss(reached)
        if value <= before:
            return reached, value
    return weights, before


def _loss(design: Rows, gold: Rows, counted: Vector, held: Vector, weights: Rows) -> float:
    sums = design @ weights.T
    sums -= sums.max(axis=1, keepdims=True)
    logs = sums - np.log(np.exp(sums).sum(axis=1, keepdims=True))
    return float(-(counted[:, None] * gold * logs).sum() + (held * weights**2).sum() / 2)


def _curvature(design: Rows, likely: Rows, counted: Vector) -> Rows:
    """Return how the slope changes with the weights: a block for each two relations."""
    count, width = likely.shape[1], design.shape[1]
    bend = np.zeros((count, width, count, width))
    for one in range(count):
        for two in range(one, count):
            both = likely[:, one] * ((one == two) - likely[:, two]) * counted
            bend[one, :, two, :] = design.T @ (both[:, None] * design)
            bend[two, :, one, :] = bend[one, :, two, :]
    return bend.reshape(count * width, count * width)


def _softmax(sums: Rows) -> Rows:
    likely = np.exp(sums - sums.max(axis=1, keepdims=True))
    done: Rows = likely / likely.sum(axis=1, keepdims=True)
    return done
