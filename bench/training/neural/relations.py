"""Trains the relation model: two notes, which came first, and what they are to each other.

    python -m bench.training.neural.relations --minilm DIR --public DIR --out DIR [--seed N]

First it learns inference and paraphrase from public sets (`--public`, the folder
`relevance_and_relation` of the training data), then the eight relations from the pairs of Everyday
and of `bench/training/pairs`.
A checkpoint is written after the first stage, where a second run goes on, and after each epoch of
the second.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from bench.training.neural.minilm import (
    HIDDEN,
    Batch,
    MiniLM,
    TextReader,
    load_minilm,
    published_name,
)

RELATIONS = (
    "same",
    "update",
    "contradiction",
    "related",
    "different",
    "supports",
    "part_of",
    "depends_on",
)
INFERENCE = ("same", "entails", "contradicts", "neutral", "update", "different")
PUBLIC = {
    "nli_snli": 36_000,
    "nli_mnli": 30_000,
    "nli_conjnli": 4_000,
    "nli_scitail": 2_500,
    "nli_semiauto_wiki": 2_000,
    "nli_fever_symmetric": 1_400,
    "nli_foolmetwice": 1_000,
    "nli_med": 2_000,
    "nli_help": 1_500,
    "nli_negation": 2_500,
    "nli_breaking": 1_200,
    "par_paws": 6_000,
    "par_banking77": 2_000,
    "par_disflqa": 1_500,
    "upd_condaqa_edits": 1_900,
    "upd_sgd": 3_500,
}
"""How many rows of each public set are read."""
MOST_TOKENS = 72
LONGEST_PUBLIC = 56  # tokens; longer pairs cost more than they teach about short notes
BATCH = 32
HEAD_RATE = 5e-4
PUBLIC_RATE = 1e-4
DIRECTED = "update"
"""The one relation that turning the notes round would change."""


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """An older and a newer note, and what they are to each other."""

    older: str
    newer: str
    label: int
    allowed: tuple[int, ...]
    """The labels that its set knows: the others are no evidence against it."""


class RelationModel(nn.Module):
    """MiniLM over both notes, and one head for each kind of label."""

    def __init__(self, encoder: MiniLM, heads: Mapping[str, int], dropout: float = 0.1) -> None:
        super().__init__()
        self.encoder = encoder
        self.dropout = nn.Dropout(dropout)
        self.heads = nn.ModuleDict(
            {name: nn.Linear(4 * HIDDEN, size) for name, size in heads.items()}
        )

    def forward(self, batch: Batch, head: str) -> Tensor:
        logits: Tensor = self.heads[head](self.dropout(self.summary(batch)))
        return logits.float()

    def summary(self, batch: Batch) -> Tensor:
        """Return the first token, the mean of each note, and the difference of the means."""
        hidden = self.encoder(batch)
        older = _mean(hidden, batch.mask & (batch.types == 0))
        newer = _mean(hidden, batch.mask & (batch.types == 1))
        return torch.cat([hidden[:, 0], older, newer, (older - newer).abs()], dim=1)


def freeze_tables(encoder: MiniLM) -> None:
    """Leave the tables of words and positions as published: they ship with the sentence model."""
    encoder.words.requires_grad_(False)
    encoder.positions.requires_grad_(False)


def _mean(hidden: Tensor, mask: Tensor) -> Tensor:
    weights = mask[:, :, None].float()
    return (hidden * weights).sum(1) / weights.sum(1).clamp(min=1)


# -- data ----------------------------------------------------------------------------------


def read_public(folder: Path, seed: int) -> list[LabelledPair]:
    """Return a sample of the public sets, English and short."""
    chance = random.Random(seed)
    found: list[LabelledPair] = []
    for name, count in PUBLIC.items():
        with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        allowed = tuple(sorted({INFERENCE.index(row["label"]) for row in rows}))
        rows = [row for row in rows if row.get("lang", "en") == "en"]
        for row in chance.sample(rows, min(count, len(rows))):
            label = INFERENCE.index(row["label"])
            found.append(LabelledPair(row["a"], row["b"], label, allowed))
    return found


def read_relations(path: Path) -> list[LabelledPair]:
    """Return the pairs of a file, each with one of the eight relations."""
    every = tuple(range(len(RELATIONS)))
    with path.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [
        LabelledPair(row["older"], row["newer"], RELATIONS.index(row["label"]), every)
        for row in rows
    ]


def turn_some(pairs: Sequence[LabelledPair], chance: random.Random) -> list[LabelledPair]:
    """Return the pairs, half of those that mean the same the other way round turned."""
    directed = RELATIONS.index(DIRECTED)
    return [
        LabelledPair(each.newer, each.older, each.label, each.allowed)
        if each.label != directed and chance.random() < 0.5
        else each
        for each in pairs
    ]


def batches(
    pairs: Sequence[LabelledPair], reader: TextReader, chance: random.Random
) -> Iterator[list[LabelledPair]]:
    """Yield batches of about equal length, in random order."""
    order = list(range(len(pairs)))
    chance.shuffle(order)
    sizes = reader.lengths([(each.older, each.newer) for each in pairs])
    found: list[list[LabelledPair]] = []
    for start in range(0, len(order), BATCH * 40):
        near = sorted(order[start : start + BATCH * 40], key=sizes.__getitem__)
        found += [
            [pairs[each] for each in near[first : first + BATCH]]
            for first in range(0, len(near), BATCH)
        ]
    chance.shuffle(found)
    yield from found


# -- learning ------------------------------------------------------------------------------


@dataclass(slots=True)
class HeadTraining:
    """Fits one head and the adapters."""

    model: RelationModel
    head: str
    reader: TextReader
    chance: random.Random
    smoothing: float = 0.05

    def run(self, pairs: Sequence[LabelledPair], epochs: int, rate: float) -> Iterator[int]:
        """Yield the number of each epoch when it is learnt."""
        parameters = [each for each in self.model.parameters() if each.requires_grad]
        head = list(self.model.heads.parameters())
        blocks = [each for each in self.model.encoder.parameters() if each.requires_grad]
        groups = [{"params": blocks, "lr": rate}, {"params": head, "lr": HEAD_RATE}]
        optimiser = torch.optim.AdamW(groups, weight_decay=0.01, fused=True)
        total = epochs * (len(pairs) // BATCH + 1)
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimiser, lambda step: min((step + 1) / (0.06 * total + 1), max(0.0, 1 - step / total))
        )
        for epoch in range(epochs):
            self.model.train()
            began, done, lost = time.monotonic(), 0, 0.0
            taught = turn_some(pairs, self.chance) if self.head == "relation" else pairs
            for batch in batches(taught, self.reader, self.chance):
                loss = self.loss(batch)
                loss.backward()
                nn.utils.clip_grad_norm_(parameters, 1.0)
                optimiser.step()
                schedule.step()
                optimiser.zero_grad()
                done, lost = done + len(batch), lost + len(batch) * loss.item()
                if done // BATCH % 50 == 0:
                    print(
                        f"{self.head} {epoch}: {done} of {len(pairs)}, loss {lost / done:.3f},"
                        f" {done / (time.monotonic() - began):.0f} pairs a second",
                        file=sys.stderr,
                        flush=True,
                    )
            self.model.eval()
            yield epoch

    def loss(self, batch: Sequence[LabelledPair]) -> Tensor:
        """Return how badly a batch is told."""
        read = self.reader.read([(each.older, each.newer) for each in batch])
        with torch.autocast("cpu", torch.bfloat16):
            logits = self.model(read, self.head)
        barred = torch.ones_like(logits, dtype=torch.bool)
        for row, each in enumerate(batch):
            barred[row, list(each.allowed)] = False
        gold = torch.tensor([each.label for each in batch])
        soft = 0.0 if barred.any() else self.smoothing
        return functional.cross_entropy(
            logits.masked_fill(barred, -1e4), gold, label_smoothing=soft
        )


@torch.no_grad()
def predict(model: RelationModel, pairs: Sequence[LabelledPair], reader: TextReader) -> np.ndarray:
    """Return the logits of the eight relations."""
    model.eval()
    rows = [
        model(
            reader.read([(each.older, each.newer) for each in pairs[start : start + 64]]),
            "relation",
        )
        for start in range(0, len(pairs), 64)
    ]
    return torch.cat(rows).numpy()


def macro_f1(logits: np.ndarray, gold: np.ndarray) -> tuple[float, dict[str, float]]:
    """Return the mean F1 over the relations, and that of each."""
    said = logits.argmax(1)
    each = {}
    for number, name in enumerate(RELATIONS):
        right = int(((said == number) & (gold == number)).sum())
        both = int((said == number).sum() + (gold == number).sum())
        each[name] = 2 * right / both if both else 0.0
    return sum(each.values()) / len(each), each


def main(argv: Sequence[str] | None = None) -> int:
    """Train both stages and report on dev."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minilm", type=Path, required=True)
    parser.add_argument("--public", type=Path, required=True)
    parser.add_argument("--everyday", type=Path, default=Path("bench/everyday/pairs"))
    parser.add_argument("--pairs", type=Path, default=Path("bench/training/pairs"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--rate", type=float, default=7e-5)
    given = parser.parse_args(argv)
    torch.manual_seed(given.seed)
    torch.set_num_threads(1)
    given.out.mkdir(parents=True, exist_ok=True)
    reader = TextReader(given.minilm, MOST_TOKENS)
    encoder = load_minilm(given.minilm, dropout=0.1)
    freeze_tables(encoder)
    model = RelationModel(encoder, {"inference": len(INFERENCE), "relation": len(RELATIONS)})
    first = given.out / "inference.pt"
    if not first.exists():
        public = read_public(given.public, 0)
        sizes = reader.lengths([(each.older, each.newer) for each in public])
        public = [each for each, size in zip(public, sizes, strict=True) if size <= LONGEST_PUBLIC]
        print(len(public), "public pairs", flush=True)
        for _ in HeadTraining(model, "inference", reader, random.Random(0)).run(
            public, 1, PUBLIC_RATE
        ):
            torch.save(model.state_dict(), first)
    model.load_state_dict(torch.load(first))
    files = [given.everyday / "train.jsonl", *sorted(given.pairs.glob("*.jsonl"))]
    taught = [each for path in files for each in read_relations(path)]
    asked = read_relations(given.everyday / "dev.jsonl")
    training = HeadTraining(model, "relation", reader, random.Random(given.seed))
    for epoch in training.run(taught, given.epochs, given.rate):
        logits = predict(model, asked, reader)
        gold = np.array([each.label for each in asked])
        print(f"seed {given.seed}, epoch {epoch}:", told_right(logits, gold), flush=True)
        write_model(model, given.out, given.seed)
        np.savez_compressed(given.out / f"dev-{given.seed}.npz", logits=logits, gold=gold)
    return 0


def told_right(logits: np.ndarray, gold: np.ndarray) -> str:
    """Return the F1 of all relations and of each, to be printed."""
    whole, each = macro_f1(logits, gold)
    return f"macro F1 {whole:.3f} {json.dumps({k: round(v, 3) for k, v in each.items()})}"


def write_model(model: RelationModel, folder: Path, seed: int) -> None:
    """Write what is shipped, and a checkpoint."""
    tensors = {
        published_name(name): value.numpy().astype(np.float16)
        for name, value in model.encoder.state_dict().items()
        if not name.startswith(("words.", "positions."))
    }
    head = model.heads["relation"].state_dict()
    tensors |= {f"head_{name}": value.numpy().astype(np.float16) for name, value in head.items()}
    np.savez_compressed(folder / f"relations-{seed}.npz", **tensors)  # type: ignore[arg-type]
    torch.save(model.state_dict(), folder / f"relations-{seed}.pt")


if __name__ == "__main__":
    sys.exit(main())
