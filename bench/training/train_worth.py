"""Learns what is worth keeping of a conversation, and as what, and writes the weights to a file.

    python -m bench.training.train_worth --out src/madeleine/ingest/worth_weights.json

Learnt from the sentences in `worth/` and from the train sessions of Everyday, where a sentence is
worth it that says a good part of what the session's author would keep of that turn. Ten times a
tenth of the sessions and of the other rows is held back; the threshold is the lowest at which
`PRECISION` of what is kept of them is right. Everyday's dev and test sessions are never read.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.training.calibration import auc
from bench.training.descent import minimise
from bench.training.logistic import LogisticLoss
from madeleine.ingest.exchanges import Exchange, ExchangeBuilder
from madeleine.ingest.local_findings import list_sentences
from madeleine.ingest.transcript_lines import Voice, parse_line
from madeleine.language.stems import telling_stems
from madeleine.language.worth_signs import read_worth_signs
from madeleine.minds.local import LocalEmbedder, load_built_in

FOLDER = Path(__file__).parent
SESSIONS = FOLDER.parent / "everyday" / "sessions" / "train"
VECTOR_SCALE = 1.0  # beside the signs, which are 0 or 1
L2 = 6.0
L2_TYPES = 2.0
STEPS = 500
FOLDS = 10
DIGITS = 4
PRECISION = 0.6
SESSION_WEIGHT = 1.0  # of a sentence of a session
SAID_SHARE = 0.5  # of a sentence's telling words that the author kept
KEPT_SHARE = 0.3  # of the telling words that the author kept
SIMILARITY = 0.6
SURELY_SHARED = 3  # telling words of a question that says itself what is kept
NOT_KEPT = "no"
_NUMBER = re.compile(r"\d\d+(?:[.,:]\d+)*")

Rows = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LabelledSentence:
    """A sentence, what was said before it, and what a careful person keeps it as."""

    text: str
    lead: str
    after_failure: bool
    type: str
    group: str
    """Rows of one group are held back together."""

    @property
    def kept(self) -> bool:
        return self.type != NOT_KEPT


def read_written() -> list[LabelledSentence]:
    """Return the sentences that were written for this."""
    found = []
    for path in sorted((FOLDER / "worth").glob("*.txt")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
            kind, lead, text = line.split("\t")
            group = f"{path.stem}-{number % (2 * FOLDS)}"
            found.append(LabelledSentence(text, lead, False, kind, group))
    return found


def read_session(path: Path) -> list[Exchange]:
    """Return the exchanges of a transcript."""
    building, found = ExchangeBuilder(), []
    turn = 0
    for number, line in enumerate(path.read_bytes().splitlines()):
        said = parse_line(line)
        if said is None:
            continue
        turn += said.voice is Voice.PERSON
        found.append(building.add(said, number, number + 1, turn))
    found.append(building.rest(ended=True))
    return [each for each in found if each is not None]


def read_turns(path: Path) -> Mapping[str, int]:
    """Return the turn of each line of a transcript, by what tells it from any other."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {each["uuid"]: int(each["promptId"].split("-")[1]) for each in lines}


def label_session(path: Path, embedder: LocalEmbedder) -> list[LabelledSentence]:
    """Return the sentences of a session, each with what its author keeps it as."""
    about = json.loads(path.with_suffix(".keep.json").read_text(encoding="utf-8"))
    turns, found = read_turns(path), []
    for exchange in read_session(path):
        turn = turns[exchange.first.place]
        kept = [each for each in about["keep"] if each["turn"] == turn]
        for said in list_sentences(exchange):
            kind = next(
                (each["type"] for each in kept if says(said.text, each["says"], embedder)), NOT_KEPT
            )
            found.append(
                LabelledSentence(said.text, said.lead, said.after_failure, kind, path.stem)
            )
    return found


def says(text: str, wanted: str, embedder: LocalEmbedder) -> bool:
    """Whether a sentence says a good part of what is wanted."""
    mine, theirs = telling_stems(text), telling_stems(wanted)
    shared = len(mine & theirs)
    if text.endswith("?") and shared < SURELY_SHARED:
        return False
    if _NUMBER.findall(text) and set(_NUMBER.findall(text)) & set(_NUMBER.findall(wanted)):
        return True
    if shared and (shared >= SAID_SHARE * len(mine) or shared >= KEPT_SHARE * len(theirs)):
        return True
    return float(embedder.ask(text).vector @ embedder.ask(wanted).vector) >= SIMILARITY


def rows_of(given: Sequence[LabelledSentence], embedder: LocalEmbedder | None) -> Rows:
    """Return a row for each sentence: its vector, where there is a model, its signs, and 1."""
    rows = []
    for each in given:
        signs = list(read_worth_signs(each.text, each.lead, each.after_failure).values())
        vector = [] if embedder is None else VECTOR_SCALE * embedder.ask(each.text).vector
        rows.append(np.concatenate([vector, signs, [1.0]]))
    return np.array(rows)


def fit(rows: Rows, gold: NDArray[np.bool_], counted: Rows, l2: float) -> Rows:
    free = np.full(rows.shape[1], np.inf)
    return minimise(LogisticLoss(rows, gold, counted, l2), -free, free, STEPS)


def held_back_sums(
    rows: Rows, gold: NDArray[np.bool_], counted: Rows, groups: Sequence[str], l2: float
) -> Rows:
    """Return for each row what a head says that never saw its group."""
    names = sorted(set(groups))
    fold = np.array([names.index(each) % FOLDS for each in groups])
    sums = np.zeros(len(rows))
    for number in range(FOLDS):
        held = fold == number
        sums[held] = rows[held] @ fit(rows[~held], gold[~held], counted[~held], l2)
    return sums


def find_threshold(sums: Rows, gold: NDArray[np.bool_], precision: float) -> float:
    """Return the lowest chance from which `precision` of what is kept is right."""
    order = np.argsort(-sums)
    right = np.cumsum(gold[order]) / np.arange(1, len(gold) + 1)
    enough = np.flatnonzero(right >= precision)
    last = sums[order][enough[-1]] if len(enough) else sums.max()
    return float(1 / (1 + np.exp(-last)))


def learn(
    given: Sequence[LabelledSentence], embedder: LocalEmbedder | None, precision: float
) -> dict[str, object]:
    """Return a head as it is written, and print how good it is."""
    rows = rows_of(given, embedder)
    gold = np.array([each.kept for each in given])
    sessions = np.array([each.group.startswith("s-") for each in given])
    counted = np.where(sessions, SESSION_WEIGHT, 1.0)
    sums = held_back_sums(rows, gold, counted, [each.group for each in given], L2)
    least = find_threshold(sums[sessions], gold[sessions], precision)
    kept = sums >= np.log(least / (1 - least))
    right = gold & sessions
    print(
        f"AUC {auc(sums[right], sums[~gold & sessions]):.3f} on sessions,"
        f" {auc(sums[gold & ~sessions], sums[~gold & ~sessions]):.3f} on written;"
        f" from {least:.3f} on {kept[right].mean():.3f} of what is right,"
        f" precision {gold[kept & sessions].mean():.3f}",
        file=sys.stderr,
    )
    return {
        "least": round(least, DIGITS),
        "worth": write_weights(fit(rows, gold, counted, L2), embedder),
        "types": learn_types(given, rows, embedder),
    }


def learn_types(
    given: Sequence[LabelledSentence], rows: Rows, embedder: LocalEmbedder | None
) -> dict[str, object]:
    kept = np.array([each.kept for each in given])
    kinds = np.array([each.type for each in given])
    names = sorted(set(kinds[kept]))
    sums = np.array(
        [
            held_back_sums(
                rows[kept],
                kinds[kept] == name,
                np.ones(kept.sum()),
                [each.group for each in given if each.kept],
                L2_TYPES,
            )
            for name in names
        ]
    )
    found = np.array(names)[np.argmax(sums, axis=0)]
    print(f"type right {np.mean(found == kinds[kept]):.3f}", file=sys.stderr)
    return {
        name: write_weights(
            fit(rows[kept], kinds[kept] == name, np.ones(kept.sum()), L2_TYPES), embedder
        )
        for name in names
    }


def write_weights(weights: Rows, embedder: LocalEmbedder | None) -> dict[str, object]:
    names = list(read_worth_signs(""))
    size = len(weights) - len(names) - 1
    signs = weights[size:-1].tolist()
    found: dict[str, object] = {
        "bias": round(float(weights[-1]), DIGITS),
        "signs": {name: round(each, DIGITS) for name, each in zip(names, signs, strict=True)},
    }
    if embedder is not None:
        found["vector"] = [round(VECTOR_SCALE * each, DIGITS) for each in weights[:size].tolist()]
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Learn, measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--precision", type=float, default=PRECISION)
    given = parser.parse_args(argv)
    embedder = load_built_in(1)
    assert embedder is not None
    rows = read_written()
    for path in sorted(SESSIONS.glob("s-*.jsonl")):
        rows += label_session(path, embedder)
    print(f"{len(rows)} sentences, {sum(each.kept for each in rows)} kept", file=sys.stderr)
    values = {
        "model": embedder.name,
        "trained_on": f"{len(rows)} sentences of training/worth and Everyday's train sessions",
        "with_vector": learn(rows, embedder, given.precision),
        "by_signs": learn(rows, None, given.precision),
    }
    if given.out is not None:
        given.out.write_text(json.dumps(values) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
