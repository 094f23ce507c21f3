"""Learns the weights of the local judge and writes them to a file.

    python -m bench.training.train_judge --out weights.json [--data DIR] [--cache DIR]

Weights are learnt from invented pairs only (`_judge_pairs.py`). How they do is told by folds of
groups that they were not learnt from, and with `--data` on pairs that may only be measured on:
STS-B, SICK, MRPC and the conflicts of BEAM. `--leave-one-out` also fits weights to the conflicts
of all BEAM chats but the one they are then tried on, to tell how much is left to gain; these are
never written.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from bench._sleep_pairs import Chat, chats, conflict_figures, judge_rows
from bench.training._judge_fit import Examples, Rows, fit, fit_calibrated, left_out
from bench.training._judge_pairs import SEED, Made, made
from bench.training.calibration import reliability
from madeleine.errors import MindDown
from madeleine.language.pair_signs import LEARNT_RELATIONS, SIGNS, JudgeHead, JudgeModel
from madeleine.language.passages import split_passages
from madeleine.minds.cache import CachedEmbedder, EmbeddingCache
from madeleine.minds.judges.local import LocalJudge
from madeleine.minds.judges.weights import render_weights
from madeleine.minds.local import load_built_in, why_not_built_in
from madeleine.minds.port import Embedder
from madeleine.model.memory import Memory
from madeleine.model.verdict import MemoryPair

NOON = datetime(2025, 6, 1, 12, tzinfo=UTC)
TRAINED_ON = "invented pairs"
THRESHOLDS = (0.5, 0.6, 0.7, 0.85, 0.97)


def main(argv: Sequence[str] | None = None) -> int:
    """Learn, write, and measure what is asked for."""
    given = _parser().parse_args(argv)
    with _embedder(given.cache) as embedder:
        pairs = made(given.seed)
        examples = examples_of(pairs, pairs_of(pairs, embedder))
        model = fit_calibrated(examples)
        _write(given.out, render_weights(model, f"{len(pairs)} {TRAINED_ON} (seed {given.seed})"))
        report(examples, model)
        if given.data is not None:
            measure(given.data, model, embedder, given.leave_one_out, examples)
    return 0


def pairs_of(pairs: Sequence[Made], embedder: Embedder) -> list[MemoryPair]:
    """Return the pairs as the jobs would hand them to a judge, with likenesses of the model."""
    older = [_memory(each.older, place, 0) for place, each in enumerate(pairs)]
    newer = [_memory(each.newer, place, 1 + place % 40) for place, each in enumerate(pairs)]
    similarity = np.sum(_vectors(embedder, older) * _vectors(embedder, newer), axis=1)
    return [
        MemoryPair(one, two, float(like))
        for one, two, like in zip(older, newer, similarity, strict=True)
    ]


def examples_of(made_pairs: Sequence[Made], pairs: Sequence[MemoryPair]) -> Examples:
    """Return the rows that the judge itself makes of the pairs."""
    judge = LocalJudge(_blank())
    return Examples(
        rows=np.array([judge.signs(pair).row for pair in pairs]),
        truth=np.array([LEARNT_RELATIONS.index(each.relation) for each in made_pairs]),
        kinds=np.array([each.kind for each in made_pairs]),
        groups=np.array([each.group for each in made_pairs]),
    )


def report(examples: Examples, model: JudgeModel) -> None:
    """Print how well groups are judged by weights that did not see them."""
    chance, truth = left_out(examples, model), examples.truth
    best, sure = chance.argmax(axis=1), chance.max(axis=1)
    heat = f"{model.conflict.temperature:g} and {model.kinship.temperature:g}"
    print(f"temperatures {heat}; folds of groups that were left out:")
    for place, relation in enumerate(LEARNT_RELATIONS):
        figures = []
        for least in THRESHOLDS:
            said_so = (best == place) & (sure >= least)
            right = int((said_so & (truth == place)).sum())
            precision = right / max(int(said_so.sum()), 1)
            figures.append(f"{precision:.3f}/{right / max(int((truth == place).sum()), 1):.2f}")
        print(f"  {relation.value:12} precision/recall at {THRESHOLDS}: {'  '.join(figures)}")
    for each in reliability(sure, best == truth):
        print(f"  said {each.said:.2f}, was {each.was:.2f} ({each.count})")


def measure(
    data: Path, model: JudgeModel, embedder: Embedder, leave_one_out: bool, examples: Examples
) -> None:
    """Print the figures on sets that are only measured on."""
    for row in judge_rows(data, LocalJudge(model), embedder):
        print(f"{row['what']}: {row['figure']} (target {row['target']}, n {row['n']})")
    if leave_one_out:
        told = chats(data, embedder)
        found = [
            _tried(chat, [each for each in told if each is not chat], examples) for chat in told
        ]
        print("conflicts, weights fitted to the other chats too:", _summed(found))


def _tried(chat: Chat, rest: Sequence[Chat], examples: Examples) -> tuple[int, int, int]:
    """Return what weights that were also fitted to other chats find in one: right, said, true."""
    judge = LocalJudge(_blank())
    labelled = [(pair, relation) for each in rest for pair, relation in each.labelled]
    rows = np.array([judge.signs(pair).row for pair, _ in labelled])
    truth = np.array([LEARNT_RELATIONS.index(relation) for _, relation in labelled])
    names = np.array(["beam"] * len(truth))
    both = Examples(
        rows=np.concatenate([examples.rows, rows]),
        truth=np.concatenate([examples.truth, truth]),
        kinds=np.concatenate([examples.kinds, names]),
        groups=np.concatenate([examples.groups, names]),
    )
    return conflict_figures([chat], LocalJudge(fit(both)), least=0.5)


def _summed(found: Sequence[tuple[int, int, int]]) -> str:
    right, said, true = (sum(column) for column in zip(*found, strict=True))
    return f"recall {right / true:.2f}, precision {right / max(said, 1):.2f}"


def _vectors(embedder: Embedder, memories: Sequence[Memory]) -> Rows:
    traces = embedder.read([split_passages(each)[0] for each in memories])
    return np.array([trace.vector for trace in traces], np.float64)


def _memory(text: str, place: int, days: int) -> Memory:
    made_at = NOON + timedelta(days=days)
    return Memory(
        hashlib.sha256(f"{place} {text}".encode()).hexdigest()[:32], text, made_at, made_at
    )


def _blank() -> JudgeModel:
    """Return a model that knows nothing: its judge tells the signs of pairs."""
    nothing = dict.fromkeys(SIGNS, 0.0)
    head = JudgeHead((), (), {}, {})
    return JudgeModel(0, nothing, dict.fromkeys(SIGNS, 1.0), head, head)


def _write(out: Path | None, text: str) -> None:
    if out is None:
        print(text, end="")
    else:
        out.write_text(text, encoding="utf-8")


@contextmanager
def _embedder(cache: Path | None) -> Iterator[Embedder]:
    """Yield the built-in model; what it made is kept in a folder, if one is named."""
    embedder = load_built_in(1)
    if embedder is None:
        raise MindDown("built-in", why_not_built_in())
    with tempfile.TemporaryDirectory() as scratch:
        folder = cache or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        with closing(CachedEmbedder(embedder, EmbeddingCache.open(folder / "judge.db"))) as kept:
            yield kept


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--out", type=Path, help="where to write; printed without it")
    parser.add_argument("--data", type=Path, help="folder of the sets to measure on")
    parser.add_argument("--cache", type=Path, help="folder that keeps what the model made")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--leave-one-out", action="store_true", help="also fit to BEAM, to compare")
    return parser


if __name__ == "__main__":
    sys.exit(main())
