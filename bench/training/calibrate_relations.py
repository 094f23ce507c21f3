"""Fits how the numbers of the relation model become chances: `calibration.json` of its package.

    python -m bench.training.calibrate_relations [--write]

It reads the pairs of Everyday's dev split, which the model did not learn, with the built model as
Madeleine runs it. A temperature and a bias for each relation are fitted by maximum likelihood; what
they are worth is told by folds of whole worlds, each calibrated by the others.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from madeleine.minds.relation_reader import RELATION_OF, SAME_FROM, load_relation_network

ROOT = Path(__file__).parents[2]
PAIRS = ROOT / "bench" / "everyday" / "pairs" / "dev.jsonl"
CALIBRATION = ROOT / "packages/relations/src/madeleine_relations/calibration.json"
STEPS = 4_000
RATE = 0.02
DECAY = 0.02  # towards no bias, and a temperature of one

SAME = list(RELATION_OF).index("same")

Rows = NDArray[np.float64]


def chances(logits: Rows, temperature: float, bias: Rows) -> Rows:
    """Return the chances of all rows, as `rules.chances` makes them of one."""
    raised = logits / temperature + bias
    likely = np.exp(raised - raised.max(1, keepdims=True))
    done: Rows = likely / likely.sum(1, keepdims=True)
    return done


def fit(logits: Rows, gold: NDArray[np.int64]) -> tuple[float, Rows]:
    """Return the temperature and the biases under which the labels are likeliest."""
    chosen = np.eye(logits.shape[1])[gold]
    slope, bias = 1.0, np.zeros(logits.shape[1])
    for _ in range(STEPS):
        off = chances(logits, 1 / slope, bias) - chosen
        slope -= RATE * (float((off * logits).sum(1).mean()) + DECAY * (slope - 1))
        bias -= RATE * (off.mean(0) + DECAY * bias)
        slope = max(slope, 0.05)
    return 1 / slope, bias - bias.mean()


def fit_same(one: Rows, turned: Rows, gold: NDArray[np.int64]) -> tuple[float, float]:
    """Return Platt's curve, with his smoothed targets, from the lower chance of `same` of
    pairs that were read both ways to how often it is so."""
    twice = one[:, SAME] >= SAME_FROM
    lower, right = np.minimum(one, turned)[twice, SAME], gold[twice] == SAME
    odds = np.log(lower / (1 - lower))
    many, few = int(right.sum()), int((~right).sum())
    wanted = np.where(right, (many + 1) / (many + 2), 1 / (few + 2))
    slope, shift = 1.0, 0.0
    for _ in range(STEPS * 5):
        off = 1 / (1 + np.exp(-(slope * odds + shift))) - wanted
        slope -= RATE * float((off * odds).mean())
        shift -= RATE * float(off.mean())
    said = 1 / (1 + np.exp(-(slope * odds + shift)))
    for least in (0.6, 0.9, 0.97):
        sure = said >= least
        print(f"same both ways with {least}: {right[sure].sum()} of {sure.sum()} right")
    return slope, shift


def expected_error(given: Rows, gold: NDArray[np.int64], bins: int = 10) -> float:
    """Return how far the sureness of the likeliest answers is from how often they are right."""
    sure, right = given.max(1), given.argmax(1) == gold
    place = np.minimum((sure * bins).astype(int), bins - 1)
    parts = [place == number for number in range(bins)]
    return float(sum(abs(sure[p].sum() - right[p].sum()) for p in parts if p.any()) / len(gold))


def describe(given: Rows, gold: NDArray[np.int64]) -> str:
    """Return how good chances are, in a line."""
    right = given.argmax(1) == gold
    sure = given.max(1) >= 0.9
    loss = -np.log(given[np.arange(len(gold)), gold]).mean()
    off = expected_error(given, gold)
    surely = f"said with .9: {right[sure].mean():.3f} of {sure.sum()}"
    return f"right {right.mean():.3f}, loss {loss:.3f}, expected error {off:.3f}, {surely}"


def main(argv: Sequence[str] | None = None) -> int:
    """Fit, tell, and write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write calibration.json")
    given = parser.parse_args(argv)
    network = load_relation_network()
    if network is None:
        raise SystemExit("the relation model is not installed")
    answers = list(RELATION_OF)
    rows = [json.loads(line) for line in PAIRS.read_text(encoding="utf-8").splitlines()]
    pairs = [(each["older"], each["newer"]) for each in rows]
    logits = np.array(network.read_logits(pairs))
    turned = np.array(network.read_logits([pair[::-1] for pair in pairs]))
    gold = np.array([answers.index(each["label"]) for each in rows])
    worlds = np.array([each["world"] for each in rows])
    folded = np.zeros_like(logits)
    for world in sorted(set(worlds)):
        held = worlds == world
        folded[held] = chances(logits[held], *fit(logits[~held], gold[~held]))
    temperature, bias = fit(logits, gold)
    print("as they come:  ", describe(chances(logits, 1.0, np.zeros(len(answers))), gold))
    print("held-out folds:", describe(folded, gold))
    slope, shift = fit_same(
        chances(logits, temperature, bias), chances(turned, temperature, bias), gold
    )
    found = {
        "temperature": round(temperature, 4),
        "bias": {name: round(float(each), 4) for name, each in zip(answers, bias, strict=True)},
        "same_both_ways": {"slope": round(slope, 4), "shift": round(shift, 4)},
    }
    print(json.dumps(found))
    if given.write:
        kept = json.loads(CALIBRATION.read_text(encoding="utf-8"))
        CALIBRATION.write_text(json.dumps({**kept, **found}, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
