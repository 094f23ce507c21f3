"""Fits the gate of whispers for kept notes: how sure it is that a memory fits a prompt.

    python -m bench.training.train_gate --cache DIR

Prompts and actions of the train stores of Everyday that the sentence model has not seen are asked
of recall as it is shipped. From the chance of each candidate and from whether the prompt wants
anything (`whisper/memory_need.py`), a logistic regression makes the chance that the candidate
fits. It prints what stands in `rules/whisper_gate.py`.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.training.collecting import Gathered, gather, home_of, scored_of
from bench.training.descent import minimise
from bench.training.heads import HEADS
from bench.training.logistic import LogisticLoss
from bench.training.stores import everyday
from madeleine.minds.local import LocalEmbedder, load_built_in
from madeleine.recall.weights import shipped_weights
from madeleine.rules.fusion import calibrate_sums
from madeleine.whisper.memory_need import estimate_need

HEAD = "kept"
BEST = 6  # candidates of a prompt that may be whispered
STEPS = 2_000
LEAST = 1e-6


def rows_of(given: Gathered, embedder: LocalEmbedder) -> tuple[NDArray[np.float64], list[bool]]:
    """Return the log odds of the best candidates with the need of their prompt, and which fit."""
    head = shipped_weights()[HEAD]
    plan = HEADS[HEAD]
    weights = {name: head.weights.get(name, 0.0) for name in plan.names}
    scored = scored_of(given, plan, weights)
    chances = np.clip(calibrate_sums(head, scored.sums, scored.evidence), LEAST, 1 - LEAST)[:BEST]
    vector = embedder.ask(given.question.text).vector
    need = estimate_need(given.question.text, vector, embedder.name)
    odds = np.log(chances / (1 - chances))
    ones = np.ones(len(odds))
    return np.column_stack([odds, need * ones, ones]), scored.gold[:BEST].tolist()


def fit(rows: NDArray[np.float64], fits: NDArray[np.bool_]) -> NDArray[np.float64]:
    free = np.full(rows.shape[1], np.inf)
    loss = LogisticLoss(rows, fits, np.ones(len(rows)), l2=1.0)
    return minimise(loss, -free, free, STEPS)


def main(argv: Sequence[str] | None = None) -> int:
    """Fit and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, required=True, help="keep homes for the next run")
    given = parser.parse_args(argv)
    embedder = load_built_in(1)
    assert embedder is not None
    rows, fits = [], []
    for store in everyday():
        prompts = [each for each in store.questions if each.unasked]
        for seen in gather(home_of(given.cache, store), store, prompts):
            if len(seen.answers):
                found, right = rows_of(seen, embedder)
                rows.append(found)
                fits += right
    slope, need, bias = fit(np.concatenate(rows), np.array(fits)).tolist()
    even = 1 / (1 + math.exp(bias / slope))
    print(f"WhisperGate(even={even:.3f}, slope={slope:.3f}, need={need:.3f})")
    print(f"{len(fits)} candidates of {len(rows)} prompts, {sum(fits)} of them fit")
    return 0


if __name__ == "__main__":
    sys.exit(main())
