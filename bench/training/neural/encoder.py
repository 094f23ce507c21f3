"""Trains the sentence model on everyday notes, so that a prompt lies near the note that it needs.

    python -m bench.training.neural.encoder --minilm DIR --public DIR --out DIR [--seed N]

A step takes notes of one store of Everyday, or of one file of blocks (`bench/training/blocks`), and
what was typed to them. The notes that fit are to be nearer than all others, by the vector of the
whole and by those of the tokens; what needs none is to be farther from all than a learnt bound.
What the published model knew is held: vectors of public texts stay near the published ones.

A third of the train stores is left out: the weights of recall are learnt there.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from bench.training.blocks_file import NoteBlock, read_blocks
from bench.training.everyday_split import encoder_stores
from bench.training.neural.low_rank import save_differences
from bench.training.neural.minilm import Batch, MiniLM, TextReader, load_minilm

MOST_TOKENS = 48
RANK = 96  # of what is written for each weight; what is learnt has no bound
BLOCKS_A_STEP = 28
QUERIES_A_BLOCK = 5  # of what needs its note; a follow-up is one of them
QUERIES_A_STEP = 75
HELD_A_STEP = 10
HELD_TEXTS = 4_000
READ_AT_ONCE = 32
PUBLIC = {
    "rel_persona_spc": 2_000,
    "rel_strategyqa": 1_200,
    "rel_tldr": 2_000,
    "rel_qed_nq": 800,
    "rel_timeqa": 800,
    "rel_squad_nqg": 2_000,
    "rel_condaqa": 800,
}
LONGEST_PUBLIC = 320  # characters
NONE = -1  # where the fitting note would stand


@dataclass(frozen=True, slots=True)
class NoteQuery:
    """What somebody typed, and which notes fit it: none means silence."""

    text: str
    fitting: frozenset[str]
    kind: str


@dataclass(frozen=True, slots=True)
class NoteStore:
    """The notes of one store by id, and what was typed to them."""

    name: str
    notes: dict[str, str]
    queries: tuple[NoteQuery, ...]


@dataclass(frozen=True, slots=True)
class TrainingStep:
    """Notes, what was typed, and which notes fit each."""

    notes: list[str]
    queries: list[str]
    fitting: Tensor


# -- data ----------------------------------------------------------------------------------


def read_store(path: Path) -> NoteStore:
    """Read a store of Everyday. A note that says the same as one that fits, fits too."""
    with path.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    memories = [row for row in rows if row["record"] == "memory"]
    same = {row["id"]: row["same_as"] for row in memories if row["same_as"]}
    queries = []
    for row in rows:
        match row["record"]:
            case "prompt":
                before = " ".join(row["session"][-1:])
                short = before and len(row["text"]) < 60
                text = f"{before} {row['text']}" if short else row["text"]
                fitting, kind = {*row["must"], *row["ok"]}, "prompt"
            case "action":
                text, kind = f"{row['tool']}: {row['target']}", "action"
                fitting = {*row["must"], *row["ok"]}
            case "question":
                text, kind = row["text"], "question"
                fitting = {key for key, grade in row["grades"].items() if grade == 2}
            case _:
                continue
        fitting |= {same[each] for each in fitting if each in same}
        fitting |= {each for each, other in same.items() if other in fitting}
        queries.append(NoteQuery(text, frozenset(fitting), kind))
    notes = {row["id"]: row["content"] for row in memories}
    return NoteStore(path.stem, notes, tuple(queries))


def read_stores(folder: Path) -> list[NoteStore]:
    return [read_store(path) for path in sorted(folder.glob("*.jsonl"))]


def read_public(folder: Path, seed: int) -> list[str]:
    """Return texts of public sets whose vectors are to stay."""
    chance = random.Random(seed)
    found = []
    for name, count in PUBLIC.items():
        with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        rows = [row for row in rows if row.get("lang", "en") == "en" and row["pos"]]
        found += [
            chance.choice([row["q"], *row["pos"], *row["neg"][:1]])
            for row in chance.sample(rows, min(count, len(rows)))
        ]
    short = [text for text in found if len(text) <= LONGEST_PUBLIC]
    return chance.sample(short, min(HELD_TEXTS, len(short)))


def store_steps(store: NoteStore, chance: random.Random) -> Iterator[TrainingStep]:
    """Yield all notes of a store with some of what was typed to them."""
    queries, keys = list(store.queries), list(store.notes)
    chance.shuffle(queries)
    for start in range(0, len(queries), QUERIES_A_STEP):
        part = queries[start : start + QUERIES_A_STEP]
        fitting = torch.tensor([[key in each.fitting for key in keys] for each in part])
        yield TrainingStep(
            [store.notes[key] for key in keys], [each.text for each in part], fitting
        )


def block_steps(blocks: Sequence[NoteBlock], chance: random.Random) -> Iterator[TrainingStep]:
    """Yield some blocks: their notes and what looks like them, with what was typed to each."""
    order = list(blocks)
    chance.shuffle(order)
    for start in range(0, len(order) - BLOCKS_A_STEP // 2 + 1, BLOCKS_A_STEP):
        part = order[start : start + BLOCKS_A_STEP]
        notes = [each.note for each in part]
        notes += [each.other for each in part if each.other]
        queries, fits = [], []
        for place, each in enumerate(part):
            for text in chance.sample(each.queries, min(QUERIES_A_BLOCK, len(each.queries))):
                queries.append(text)
                fits.append(place)
            queries += each.silent
            fits += [NONE] * len(each.silent)
        places = torch.arange(len(notes))[None, :]
        yield TrainingStep(notes, queries, places == torch.tensor(fits)[:, None])


# -- model ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TextVectors:
    """The vector of each text, its narrow token vectors, and which of these are tokens."""

    whole: Tensor
    tokens: Tensor
    said: Tensor


class NoteEncoder(nn.Module):
    """The encoder with the scales that turn a cosine into a chance."""

    def __init__(self, encoder: MiniLM, projection: Tensor) -> None:
        super().__init__()
        self.encoder = encoder
        self.register_buffer("projection", projection)
        self.sharpness = nn.Parameter(torch.tensor([3.0, 3.0]))
        self.silence = nn.Parameter(torch.tensor([0.4, 0.5]))

    def read(self, reader: TextReader, texts: Sequence[str]) -> TextVectors:
        """Read texts, those of about equal length together."""
        sizes = reader.lengths(texts)
        order = sorted(range(len(texts)), key=sizes.__getitem__)
        parts = [order[at : at + READ_AT_ONCE] for at in range(0, len(order), READ_AT_ONCE)]
        found = [self._read_part(reader.read([texts[each] for each in part])) for part in parts]
        longest, back = sizes[order[-1]], torch.tensor(order).argsort()
        padded = [
            (
                functional.pad(each.tokens, (0, 0, 0, longest - each.said.shape[1])),
                functional.pad(each.said, (0, longest - each.said.shape[1])),
            )
            for each in found
        ]
        return TextVectors(
            torch.cat([each.whole for each in found])[back],
            torch.cat([tokens for tokens, _ in padded])[back],
            torch.cat([said for _, said in padded])[back],
        )

    def _read_part(self, batch: Batch) -> TextVectors:
        with torch.autocast("cpu", torch.bfloat16):
            hidden = self.encoder(batch)
        hidden = hidden.float()
        places = torch.arange(hidden.shape[1])[None, :]
        sizes = batch.mask.sum(1, keepdim=True)
        weights = batch.mask[:, :, None].float()
        whole = functional.normalize((hidden * weights).sum(1) / weights.sum(1), dim=1)
        tokens = functional.normalize(hidden @ self.projection, dim=2)
        return TextVectors(whole, tokens, (places > 0) & (places < sizes - 1))

    def scores(self, asked: TextVectors, kept: TextVectors) -> tuple[Tensor, Tensor]:
        """Return the cosine of each text asked with each kept, and the mean best cosine of its
        tokens."""
        # Only tokens that are there are compared: padding would be most of it.
        of_asked, of_kept = asked.said.nonzero()[:, 0], kept.said.nonzero()[:, 0]
        near = asked.tokens[asked.said] @ kept.tokens[kept.said].T
        best = near.new_full((len(of_asked), len(kept.whole)), -1.0).scatter_reduce(
            1, of_kept.expand(len(of_asked), -1), near, "amax"
        )
        counts = asked.said.sum(1, keepdim=True).clamp(min=1)
        met = best.new_zeros(len(asked.whole), len(kept.whole)).index_add(0, of_asked, best)
        return asked.whole @ kept.whole.T, met / counts

    def loss(self, scores: tuple[Tensor, Tensor], fitting: Tensor) -> Tensor:
        """Return how badly the fitting ones, or silence where none fits, stand out."""
        total = torch.zeros(())
        gold = torch.cat([fitting, ~fitting.any(1, keepdim=True)], 1).float()
        gold = gold / gold.sum(1, keepdim=True)
        for number, cosines in enumerate(scores):
            none = self.silence[number].expand(len(cosines), 1)
            logits = self.sharpness[number].exp() * torch.cat([cosines, none], 1)
            total = total + functional.cross_entropy(logits, gold)
        return total / len(scores)


@torch.no_grad()
def published_vectors(old: MiniLM, texts: Sequence[str], reader: TextReader) -> Tensor:
    rows = [
        old.sentence_vectors(reader.read(texts[at : at + READ_AT_ONCE]))
        for at in range(0, len(texts), READ_AT_ONCE)
    ]
    return torch.cat(rows)


# -- learning ------------------------------------------------------------------------------


@dataclass(slots=True)
class EncoderTraining:
    """All that one run needs."""

    model: NoteEncoder
    reader: TextReader
    stores: list[NoteStore]
    blocks: Path
    held: list[str]
    held_vectors: Tensor
    hold: float
    chance: random.Random
    published: MiniLM

    def steps(self) -> list[TrainingStep]:
        """Return the steps of one epoch. Blocks are read anew, as there may be more by now."""
        topics: dict[str, list[NoteBlock]] = {}
        for path in sorted(self.blocks.glob("*.txt")):
            one_store = path.stem.split("-")[0].endswith("store")
            topic = path.stem if one_store else path.stem.split("-")[0]
            topics.setdefault(topic, []).extend(read_blocks(path))
        steps = [each for store in self.stores for each in store_steps(store, self.chance)]
        for found in topics.values():
            steps += block_steps(found, self.chance)
        self.chance.shuffle(steps)
        return steps

    def learn(self, step: TrainingStep) -> tuple[Tensor, Tensor]:
        """Return the loss of a step, and how far held vectors have moved."""
        chosen = self.chance.sample(range(len(self.held)), HELD_A_STEP)
        count = len(step.notes)
        read = self.model.read(
            self.reader, [*step.notes, *step.queries, *(self.held[each] for each in chosen)]
        )
        end = count + len(step.queries)
        kept = TextVectors(read.whole[:count], read.tokens[:count], read.said[:count])
        asked = TextVectors(read.whole[count:end], read.tokens[count:end], read.said[count:end])
        lost = self.model.loss(self.model.scores(asked, kept), step.fitting)
        moved = (1 - (read.whole[end:] * self.held_vectors[chosen]).sum(1)).mean()
        return lost, moved


def train(
    run: EncoderTraining, dev: Sequence[NoteStore], out: Path, epochs: int, rate: float
) -> None:
    """Fit the blocks; measure and write them after each epoch."""
    model = run.model
    learnt = [
        each
        for name, each in model.named_parameters()
        if each.requires_grad and name.startswith("encoder")
    ]
    scales = [model.sharpness, model.silence]
    optimiser = torch.optim.AdamW(
        [{"params": learnt, "lr": rate}, {"params": scales, "lr": 0.01}],
        weight_decay=0.01,
        fused=True,
    )
    for epoch in range(epochs):
        model.train()
        steps, began, mean = run.steps(), time.monotonic(), 0.0
        for done, step in enumerate(steps):
            progress = (epoch + done / len(steps)) / epochs
            for group, full in zip(optimiser.param_groups, (rate, 0.01), strict=True):
                group["lr"] = full * min(1.0, progress * epochs * 6 + 0.02) * (1 - progress)
            lost, moved = run.learn(step)
            (lost + run.hold * moved).backward()
            nn.utils.clip_grad_norm_(learnt, 1.0)
            optimiser.step()
            optimiser.zero_grad()
            mean += (lost.item() - mean) / (done + 1)
            if done % 20 == 19:
                pace = (time.monotonic() - began) / (done + 1)
                print(
                    f"epoch {epoch} step {done + 1} of {len(steps)}, {pace:.2f} s each:"
                    f" loss {mean:.3f}, moved {moved.item():.3f}",
                    file=sys.stderr,
                    flush=True,
                )
        report(f"epoch {epoch}", model, dev, run.reader)
        save_differences(model.encoder, run.published, RANK, out / "encoder.npz")
        torch.save(model.state_dict(), out / "encoder.pt")


def report(name: str, model: NoteEncoder, dev: Sequence[NoteStore], reader: TextReader) -> None:
    figures = {key: round(value, 3) for key, value in measure(model, dev, reader).items()}
    print(name, json.dumps(figures), flush=True)


@torch.no_grad()
def measure(
    model: NoteEncoder, stores: Sequence[NoteStore], reader: TextReader
) -> dict[str, float]:
    """Return how often what fits comes first, and how well the best score tells silence."""
    model.eval()
    first: dict[str, list[float]] = {}
    best: dict[str, tuple[list[float], list[float]]] = {}
    for store in stores:
        keys = list(store.notes)
        kept = model.read(reader, [store.notes[key] for key in keys])
        asked = model.read(reader, [each.text for each in store.queries])
        for name, scores in zip(("whole", "tokens"), model.scores(asked, kept), strict=True):
            for query, row in zip(store.queries, scores, strict=True):
                order = row.argsort(descending=True).tolist()
                speaks = best.setdefault(f"{name} {query.kind} auc", ([], []))
                speaks[0 if query.fitting else 1].append(float(row.max()))
                if query.fitting:
                    for count in (1, 3):
                        right = any(keys[place] in query.fitting for place in order[:count])
                        first.setdefault(f"{name} {query.kind} {count}", []).append(float(right))
    found = {name: float(np.mean(values)) for name, values in first.items()}
    for name, (yes, no) in best.items():
        found[name] = float(np.mean(np.array(yes)[:, None] > np.array(no)[None]))
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Train and report on dev."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minilm", type=Path, required=True)
    parser.add_argument("--public", type=Path, required=True)
    parser.add_argument(
        "--projection",
        type=Path,
        default=Path("packages/minilm/src/madeleine_minilm/projection.npy"),
    )
    parser.add_argument("--stores", type=Path, default=Path("bench/everyday/stores"))
    parser.add_argument("--blocks", type=Path, default=Path("bench/training/blocks"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--rate", type=float, default=5e-5)
    parser.add_argument("--hold", type=float, default=1.0)
    parser.add_argument("--resume", type=Path, help="a checkpoint to go on from")
    given = parser.parse_args(argv)
    torch.manual_seed(given.seed)
    torch.set_num_threads(1)
    given.out.mkdir(parents=True, exist_ok=True)
    reader = TextReader(given.minilm, MOST_TOKENS)
    projection = torch.from_numpy(np.load(given.projection).astype(np.float32))
    old, encoder = load_minilm(given.minilm), load_minilm(given.minilm, dropout=0.05)
    old.eval()
    encoder.words.requires_grad_(False)
    encoder.positions.requires_grad_(False)
    model = NoteEncoder(encoder, projection)
    if given.resume is not None:
        model.load_state_dict(torch.load(given.resume))
    dev = read_stores(given.stores / "dev")
    report("before", model, dev, reader)
    held = read_public(given.public, given.seed)
    run = EncoderTraining(
        model,
        reader,
        [read_store(path) for path in encoder_stores()],
        given.blocks,
        held,
        published_vectors(old, held, reader),
        given.hold,
        random.Random(given.seed),
        old,
    )
    train(run, dev, given.out, given.epochs, given.rate)
    return 0


if __name__ == "__main__":
    sys.exit(main())
