"""Teaches a small network whether the best candidate answers a question, and writes its weights.

    python -m bench.training.neural.answer_reader --cache DIR [--out FILE] [--seed N]

It reads the token vectors that recall has anyway: each token of the question, what the memory says
about it, and how well that meets it. It learns from what recall finds for the questions of blocks
and of the English train stores that the sentence model has seen: the first five candidates, each
an answer or not. How much it counts beside the chance is fitted on the other train stores
(`everyday_split.py`), whose vectors are no better than those of stores that nobody has seen.

Whether it helps is told on those stores, each judged by a fit on all others: as they are, and with
a quarter of the notes left out, so that questions lose their answer and keep all that is like it.
"""

from __future__ import annotations

import argparse
import json
import pickle
import random
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from bench.training.calibration import auc
from bench.training.collecting import home_of, memory_id, query_of
from bench.training.descent import minimise
from bench.training.everyday_split import encoder_stores, head_stores
from bench.training.logistic import LogisticLoss
from bench.training.stores import read_everyday_store
from bench.training.values import Item, Question, Store
from madeleine.bootstrap import open_home
from madeleine.minds.local import load_built_in
from madeleine.model.query import DEFAULT_HITS
from madeleine.recall.answering import NOTE_TOKENS, QUESTION_TOKENS, AnswerReader
from madeleine.recall.scoring import collect_training_example
from madeleine.rules.chances import log_odds

BLOCKS = Path(__file__).parents[1] / "blocks"
QUARTERS = 4
STAYING = 3  # one of so many questions is asked again where its answer stays
BEST = 5  # candidates of a question that are learnt from
HIDDEN = 64
EPOCHS, BATCH, RATE, DECAY, DROPPED = 3, 192, 2e-3, 0.05, 0.3
SHARPNESS = 8.0  # of the attention, before anything is learnt
LATER = 0.5  # what a candidate counts that is not the first
KEPT = 0.95  # of the right first hits, at the threshold that figures are said for
STEPS = 2_000

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class ReadQuestion:
    """A question as the network sees it: its tokens with their weights, and its best candidates."""

    store: str
    whole: bool
    """Whether its store is as it is, and not without a quarter of its notes."""
    answerable: bool
    tokens: Floats
    weights: Floats
    notes: tuple[NDArray[np.int8], ...]
    right: tuple[bool, ...]
    chances: tuple[float, ...]


# -- gathering -----------------------------------------------------------------------------


def block_stores() -> Iterator[Store]:
    """Yield a store for each file of blocks of one person or team. Of two lines `s` the second is a
    question that nothing in the file answers."""
    for path in sorted(BLOCKS.glob("*store-*.txt")):
        memories, questions = [], list[Question]()
        for number, part in enumerate(path.read_text(encoding="utf-8").split("\n\n")):
            lines = [(line[0], line[3:].strip()) for line in part.splitlines() if line[1:3] == ": "]
            memories += [Item(f"{mark}{number}", text) for mark, text in lines if mark in "nx"]
            gold = frozenset({f"n{number}"})
            questions += [Question(text, gold, "question") for mark, text in lines if mark == "q"]
            silent = [text for mark, text in lines if mark == "s"]
            questions += [Question(text, frozenset(), "question, none") for text in silent[1:2]]
        yield Store(f"b-{path.stem}", memories, questions)


def everyday_stores(paths: Sequence[Path]) -> Iterator[tuple[Store, str]]:
    """Yield the English stores with what is asked of them, and the same with a quarter of the notes
    left out, with the questions that lose their answer and some that keep it; each with the name of
    its whole."""
    for path in paths:
        if _languages_of(path) != ["en"]:
            continue
        store = read_everyday_store(path)
        asked = [each for each in store.questions if not each.unasked]
        yield Store(store.name, store.memories, asked), store.name
        shuffled = list(store.memories)
        random.Random(f"0 {store.name}").shuffle(shuffled)
        for quarter in range(QUARTERS):
            gone = {each.id for each in shuffled[quarter::QUARTERS]}
            rest = [each for each in store.memories if each.id not in gone]
            lost = [each for each in asked if each.gold and each.gold <= gone]
            stay = [each for each in asked if each.gold and not each.gold & gone]
            questions = [replace(each, gold=frozenset()) for each in lost]
            questions += stay[quarter::STAYING]
            yield Store(f"{store.name}-f{quarter}", rest, questions), store.name


def _languages_of(path: Path) -> list[str]:
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return next(list(row["languages"]) for row in rows if row["record"] == "store")


def gather(cache: Path, store: Store, whole: str) -> list[ReadQuestion]:
    """Return what recall sees of a store's questions. It is kept beside the home."""
    home = home_of(cache, replace(store, questions=[]))
    kept = home.with_suffix(".read")
    if not kept.exists():
        print(store.name, file=sys.stderr, flush=True)
        kept.write_bytes(pickle.dumps(list(_gather(home, store, whole))))
    found: list[ReadQuestion] = pickle.loads(kept.read_bytes())
    return found


def _gather(home: Path, store: Store, whole: str) -> Iterator[ReadQuestion]:
    ids = {memory_id(store, each): each.id for each in store.memories}
    with closing(open_home(home)) as context:
        for question in store.questions:
            seen = collect_training_example(
                context.stores, replace(query_of(question), limit=DEFAULT_HITS)
            )
            aim = seen.asked.aim
            best = np.argsort(-seen.chances, kind="stable")[:BEST].tolist()
            if aim is None or not best:
                continue
            yield ReadQuestion(
                whole,
                store.name == whole,
                bool(question.gold),
                aim.tokens[:QUESTION_TOKENS],
                aim.weights[:QUESTION_TOKENS],
                tuple(seen.tokens[each][:NOTE_TOKENS].copy() for each in best),
                tuple(ids.get(seen.ids[each]) in question.gold for each in best),
                tuple(float(seen.chances[each]) for each in best),
            )


# -- the network ---------------------------------------------------------------------------


class Network(nn.Module):
    """What `recall/answering.py` computes, for many pairs at once."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.look = nn.Linear(width, width, bias=False)
        nn.init.eye_(self.look.weight)
        self.sharpness = nn.Parameter(torch.tensor(SHARPNESS))
        self.first = nn.Linear(4 * width + 2, HIDDEN)
        self.second = nn.Linear(HIDDEN, HIDDEN)
        self.third = nn.Linear(3 * HIDDEN + 3, HIDDEN)
        self.last = nn.Linear(HIDDEN, 1)
        self.drop = nn.Dropout(DROPPED)
        self.bend = nn.GELU(approximate="tanh")

    def forward(
        self, asked: torch.Tensor, note: torch.Tensor, weights: torch.Tensor
    ) -> torch.Tensor:
        said, there = asked.abs().sum(-1) > 0, note.abs().sum(-1) > 0
        cosines = (asked @ note.mT).masked_fill(~there[:, None], -1)
        best = cosines.amax(-1)
        looked = (self.look(asked) @ note.mT * self.sharpness).masked_fill(~there[:, None], -50)
        met = torch.softmax(looked, -1) @ note
        pairs = [asked, met, asked * met, (asked - met).abs(), best[..., None], weights[..., None]]
        rows = self.drop(self.bend(self.first(torch.cat(pairs, -1))))
        rows = self.bend(self.second(rows)) * said[..., None]
        count = said.sum(1, keepdim=True).clamp(min=1)
        greatest = rows.masked_fill(~said[..., None], -9).amax(1)
        together = [
            rows.sum(1) / count,
            greatest,
            (rows * weights[..., None]).sum(1),
            (best * said).sum(1, keepdim=True) / count,
            (best * weights).sum(1, keepdim=True),
            best.masked_fill(~said, 2).amin(1, keepdim=True),
        ]
        hidden = self.bend(self.third(self.drop(torch.cat(together, -1))))
        answer: torch.Tensor = self.last(hidden)[:, 0]
        return answer


def teach(questions: Sequence[ReadQuestion], seed: int) -> Network:
    """Return the network that has learnt from the candidates of all questions."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    pairs = [(each, place) for each in questions for place in range(len(each.notes))]
    width = questions[0].tokens.shape[1]
    asked = np.zeros((len(pairs), QUESTION_TOKENS, width), np.float16)
    notes = np.zeros((len(pairs), NOTE_TOKENS, width), np.int8)
    weights = np.zeros((len(pairs), QUESTION_TOKENS), np.float32)
    for row, (each, place) in enumerate(pairs):
        asked[row, : len(each.tokens)] = each.tokens
        notes[row, : len(each.notes[place])] = each.notes[place]
        weights[row, : len(each.weights)] = each.weights
    right = torch.tensor([float(each.right[place]) for each, place in pairs])
    counted = torch.tensor([LATER if place else 1.0 for _, place in pairs])
    columns = torch.from_numpy(asked), torch.from_numpy(notes), torch.from_numpy(weights)
    network, steps = Network(width), EPOCHS * (len(pairs) // BATCH)
    print(f"{len(questions)} questions, {len(pairs)} pairs, {steps} steps", flush=True)
    descent = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=DECAY)
    plan = torch.optim.lr_scheduler.OneCycleLR(descent, RATE, total_steps=steps + 1)
    for _ in range(EPOCHS):
        order = torch.randperm(len(pairs))
        for at in range(0, len(pairs) - BATCH + 1, BATCH):
            rows = order[at : at + BATCH]
            said = network(
                columns[0][rows].float(), columns[1][rows].float() / 127, columns[2][rows]
            )
            loss = nn.functional.binary_cross_entropy_with_logits(said, right[rows], counted[rows])
            descent.zero_grad()
            loss.backward()
            descent.step()
            plan.step()
    return network.eval()


# -- what it counts ------------------------------------------------------------------------


def rows_of(reader: AnswerReader, questions: Sequence[ReadQuestion]) -> NDArray[np.float64]:
    """Return for each question the log odds of its best candidate, and what is read of it."""
    return np.array(
        [
            (log_odds(each.chances[0]), reader.read(each.tokens, each.weights, each.notes[0]))
            for each in questions
        ]
    )


def fit_head(rows: NDArray[np.float64], right: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return what the chance and the reading count, and the bias."""
    design = np.column_stack([rows, np.ones(len(rows))])
    loss = LogisticLoss(design, right, np.ones(len(right)), l2=0.0)
    lower, upper = np.array([0.0, 0.0, -np.inf]), np.full(3, np.inf)
    return minimise(loss, lower, upper, STEPS)


def left_out(
    rows: NDArray[np.float64], right: NDArray[np.bool_], questions: Sequence[ReadQuestion]
) -> NDArray[np.float64]:
    """Return the log odds of each question's best candidate by a fit on all other stores."""
    stores = np.array([each.store for each in questions])
    whole = np.array([each.whole for each in questions])
    said = np.zeros(len(rows))
    for store in np.unique(stores):
        mine, others = stores == store, (stores != store) & whole
        head = fit_head(rows[others], right[others])
        said[mine] = rows[mine] @ head[:2] + head[2]
    return said


def report(what: str, said: NDArray[np.float64], questions: Sequence[ReadQuestion]) -> None:
    """Print how well right first hits are told from those of questions without an answer."""
    for name, whole in (("as they are", True), ("a quarter left out", False)):
        mine = np.array([each.whole == whole for each in questions])
        right = np.array([each.right[0] for each in questions])
        answerable = np.array([each.answerable for each in questions])
        good, none = said[mine & right], said[mine & ~answerable]
        wrong = said[mine & ~right & answerable]
        least = float(np.quantile(good, 1 - KEPT))
        print(
            f"{what}, {name}: {len(good)} right, {len(none)} without an answer: AUC "
            f"{auc(good, none):.3f}; from {1 / (1 + np.exp(-least)):.2f} on {KEPT:.2f} of the "
            f"right, {np.mean(none >= least):.3f} without, {np.mean(wrong >= least):.3f} wrong"
        )


def main(argv: Sequence[str] | None = None) -> int:
    """Gather, teach, fit, report and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, required=True, help="where homes are kept")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args(argv)
    stores = [(each, each.name) for each in block_stores()] + [*everyday_stores(encoder_stores())]
    taught = [each for store, name in stores for each in gather(given.cache, store, name)]
    asked = [
        each
        for store, name in everyday_stores(head_stores())
        for each in gather(given.cache, store, name)
    ]
    network = teach(taught, given.seed)
    weights = {
        name.removesuffix(".weight") if name == "look.weight" else name: values.numpy()
        for name, values in network.state_dict().items()
    }
    english = load_built_in(1)
    assert english is not None
    reader = AnswerReader(english.name, weights, 1.0, 0.0, 0.0)
    rows = rows_of(reader, asked)
    right = np.array([each.right[0] for each in asked])
    report("the chance alone", rows[:, 0], asked)
    report("the reading alone", rows[:, 1], asked)
    report("both, left out", left_out(rows, right, asked), asked)
    whole = np.array([each.whole for each in asked])
    head = fit_head(rows[whole], right[whole])
    print(f"the chance counts {head[0]:.3f}, the reading {head[1]:.3f}, bias {head[2]:.3f}")
    if given.out is not None:
        small = {name: values.astype(np.float16) for name, values in weights.items()}
        content = small | {"head": head, "model": np.array(english.name)}
        np.savez_compressed(given.out, **content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
