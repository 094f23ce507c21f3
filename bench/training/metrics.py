"""How good an order is: the figures by which recall is measured here and elsewhere."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from bench.training.descent import Vector
from bench.training.fit import Example

AT = (5, 10, 20, 60)
SESSIONS_AT = (1, 5, 10)


@dataclass(frozen=True, slots=True)
class Figures:
    """Means over questions, from 0 to 1. `by_kind` and `ndcg` are at 10; `sessions` says how
    often a session that holds an answer is among the first so many."""

    questions: int
    recall: dict[int, float]
    ndcg: float
    mrr: float
    by_kind: dict[str, float]
    sessions: dict[int, float]


def measure(asked: Iterable[tuple[Example, Vector]]) -> Figures:
    """Return the figures of questions whose candidates are ordered by their sums."""
    ranked = [(example, _ranks(example, sums), sums) for example, sums in asked]
    by_kind: dict[str, list[float]] = defaultdict(list)
    for example, ranks, _ in ranked:
        by_kind[example.kind].append(_recall(example, ranks, 10))
    return Figures(
        questions=len(ranked),
        recall={k: _mean(_recall(e, ranks, k) for e, ranks, _ in ranked) for k in AT},
        ndcg=_mean(_ndcg(example, ranks) for example, ranks, _ in ranked),
        mrr=_mean(1 / (1 + ranks[0]) if len(ranks) else 0.0 for _, ranks, _ in ranked),
        by_kind={kind: _mean(found) for kind, found in sorted(by_kind.items())},
        sessions=_session_figures([(example, sums) for example, _, sums in ranked]),
    )


def _session_figures(asked: Sequence[tuple[Example, Vector]]) -> dict[int, float]:
    ranks = [_session_rank(example, sums) for example, sums in asked if example.gold_sessions]
    return {k: _mean(float(rank < k) for rank in ranks) for k in SESSIONS_AT} if ranks else {}


def _ranks(example: Example, sums: Vector) -> list[int]:
    """Return at which places answers stand, counted from 0, best first."""
    order = np.argsort(-sums, kind="stable")
    return np.flatnonzero(example.gold[order]).tolist()


def _recall(example: Example, ranks: Sequence[int], k: int) -> float:
    return sum(rank < k for rank in ranks) / example.n_gold_total


def _ndcg(example: Example, ranks: Sequence[int], k: int = 10) -> float:
    ideal = sum(1 / np.log2(place + 2) for place in range(min(k, example.n_gold_total)))
    return float(sum(1 / np.log2(rank + 2) for rank in ranks if rank < k) / ideal)


def _session_rank(example: Example, sums: Vector) -> int:
    """Return how many sessions come before the first that holds an answer."""
    assert example.sessions is not None, "a question with gold sessions has sessions"
    order = example.sessions[np.argsort(-sums, kind="stable")].tolist()
    distinct = list(dict.fromkeys(each for each in order if each >= 0))
    found = (place for place, each in enumerate(distinct) if each in example.gold_sessions)
    return next(found, len(distinct) + max(SESSIONS_AT))


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return float(np.mean(found)) if found else 0.0
