"""Fit the weights of `rules/deed_gate.py` on the actions of Everyday's stores for training.

    python -m bench.training.train_deeds [--cache DIR]

Each action is looked up as the deed path does it, and each memory that it considers becomes a row:
1 if it is needed, .7 if it would help. The figures that are printed leave out the store that a row
is from, a fifth of the stores at a time. Dev is not read.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, os.fspath(Path(__file__).parents[1]))

from _everyday_asking import Labels, same_as
from _everyday_set import read_stores
from _everyday_systems import MadeleineAsked, MadeleineSystem
from _recall_homes import Homes

from madeleine.api.local import LocalDoor
from madeleine.language.deeds import read_named_deed
from madeleine.whisper.deed import DeedRequest, weigh_candidates

FOLDS = 5
HELPS = 0.7
PENALTY = 30.0
STEPS = 40
MOST = 2
GATES = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6)


@dataclass(frozen=True, slots=True)
class ActionRows:
    """An action with what was considered for it."""

    store: str
    labels: Labels
    ids: Sequence[str]
    rows: NDArray[np.float64]


def collect_rows(homes: Homes, split: str) -> tuple[list[str], list[ActionRows]]:
    """Return the names of the numbers, and the rows of each action."""
    names: list[str] = []
    found: list[ActionRows] = []
    for store in read_stores(split):
        same = same_as(store)
        with MadeleineSystem(homes).opened(store) as asked:
            assert isinstance(asked, MadeleineAsked)
            door = asked.opened._door
            assert isinstance(door, LocalDoor)
            context = door.context
            for each in store.actions:
                request = DeedRequest(read_named_deed(each.tool, each.target), each.space)
                weighed = weigh_candidates(context.stores, request, context.stores.clock.now())
                names = names or [*weighed[0].features] if weighed else names
                rows = np.array([[*one.features.values()] for one in weighed])
                ids = [asked.ids.get(one.memory.id, one.memory.id) for one in weighed]
                found.append(ActionRows(store.name, Labels.of(each, same), ids, rows))
    return names, found


def target_of(action: ActionRows) -> list[float]:
    needed = frozenset().union(*action.labels.must)
    return [
        1.0 if each in needed else HELPS if each in action.labels.fitting else 0.0
        for each in action.ids
    ]


def fit_weights(rows: NDArray[np.float64], wanted: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return intercept and weights of a logistic regression, of numbers as they are."""
    middle, spread = rows.mean(0), rows.std(0) + 1e-6
    scaled = np.c_[np.ones(len(rows)), (rows - middle) / spread]
    weights = np.zeros(scaled.shape[1])
    penalty = np.eye(len(weights)) * PENALTY
    penalty[0, 0] = 1e-6
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-scaled @ weights))
        slope = np.maximum(chance * (1 - chance), 1e-4)
        gradient = scaled.T @ (chance - wanted) + penalty @ weights
        weights -= np.linalg.solve((scaled * slope[:, None]).T @ scaled + penalty, gradient)
    plain = weights[1:] / spread
    return np.r_[weights[0] - plain @ middle, plain]


def evaluate(
    actions: Sequence[ActionRows], chances: Sequence[NDArray[np.float64]], gate: float
) -> tuple[float, float, float]:
    """Return hit, precision, and how often a silent one is spoken to."""
    hit, fits, false = [], [], []
    for action, chance in zip(actions, chances, strict=True):
        order = np.argsort(-chance)[:MOST]
        said = {action.ids[place] for place in order if chance[place] >= gate}
        if action.labels.must:
            hit.append(any(said & each for each in action.labels.must))
        fits += [each in action.labels.fitting for each in said]
        if not action.labels.fitting:
            false.append(bool(said))
    return float(np.mean(hit)), float(np.mean(fits or [0])), float(np.mean(false))


def predict(weights: NDArray[np.float64], rows: NDArray[np.float64]) -> NDArray[np.float64]:
    if not len(rows):
        return np.zeros(0)
    chances: NDArray[np.float64] = 1 / (1 + np.exp(-(rows @ weights[1:] + weights[0])))
    return chances


def cross_validate(actions: Sequence[ActionRows]) -> Iterator[tuple[int, NDArray[np.float64]]]:
    stores = sorted({each.store for each in actions})
    for fold in range(FOLDS):
        held = set(stores[fold::FOLDS])
        weights = _fit([each for each in actions if each.store not in held])
        for place, each in enumerate(actions):
            if each.store in held:
                yield place, predict(weights, each.rows)


def _fit(actions: Sequence[ActionRows]) -> NDArray[np.float64]:
    known = [each for each in actions if len(each.rows)]
    wanted = np.array([value for each in known for value in target_of(each)])
    return fit_weights(np.vstack([each.rows for each in known]), wanted)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep the homes here")
    given = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="madeleine-deeds-") as temporary:
        names, actions = collect_rows(Homes(given.cache or Path(temporary)), "train")
    chances: Mapping[int, NDArray[np.float64]] = dict(cross_validate(actions))
    held_out = [chances[place] for place in range(len(actions))]
    for gate in GATES:
        hit, precision, false = evaluate(actions, held_out, gate)
        print(f"gate {gate:.2f}: hit {hit:.3f}, precision {precision:.3f}, false {false:.3f}")
    weights = _fit(actions)
    print(f"INTERCEPT = {weights[0]:.4f}")
    for name, each in zip(names, weights[1:], strict=True):
        print(f'        "{name}": {each:.4f},')
    return 0


if __name__ == "__main__":
    sys.exit(main())
