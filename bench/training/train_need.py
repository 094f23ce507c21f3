"""Learns whether a prompt wants anything from a memory, and writes the weights to a file.

    python -m bench.training.train_need --out src/madeleine/whisper/memory_need.json

Learnt from the prompts in `wants/`, from the prompts of blocks (`p` want something, the first
`s` does not), and from the train stores of Everyday that the sentence model has seen. The
gate weighs what is learnt here and is fitted on the other stores (`train_gate.py`). Everyday's dev
stores only measure.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.training.blocks_file import read_blocks
from bench.training.calibration import auc
from bench.training.descent import minimise
from bench.training.everyday_split import encoder_stores
from bench.training.logistic import LogisticLoss
from madeleine.language.prompt_form import read_prompt_form
from madeleine.minds.local import LocalEmbedder, load_built_in

FOLDER = Path(__file__).parent
DEV = FOLDER.parent / "everyday" / "stores" / "dev"
WANTED = ("project", "identity", "time", "standing_rule", "follow_up")
VECTOR_SCALE = 4.0  # beside the form, whose numbers are about 1
L2 = 3.0
STEPS = 600
MOST_CHARS = 1_500
DIGITS = 4


@dataclass(frozen=True, slots=True)
class LabelledPrompt:
    """A prompt, whether it wants something, and what kind it is."""

    text: str
    wants: bool
    kind: str


def read_wants() -> list[LabelledPrompt]:
    rows = [
        line.split("\t")
        for path in sorted((FOLDER / "wants").glob("*.txt"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    return [LabelledPrompt(text, kind in WANTED, kind) for kind, text in rows]


def read_block_prompts() -> list[LabelledPrompt]:
    """Return the prompts of blocks that need their note, and the first of each that needs none: the
    second asks a memory for something that it does not hold, and so wants something. Follow-ups are
    left out: by their line break alone they would be told from all that needs nothing."""
    found = []
    for path in sorted((FOLDER / "blocks").glob("*.txt")):
        for block in read_blocks(path):
            alone = [text for text in block.prompts if "\n" not in text]
            found += [LabelledPrompt(text, True, "block") for text in alone]
            found += [LabelledPrompt(text, False, "block") for text in block.silent[:1]]
    return found


def read_stores(paths: Iterable[Path]) -> list[LabelledPrompt]:
    """Return the prompts of stores of Everyday."""
    found = []
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if row["record"] == "prompt":
                silent = row["silence"]
                found.append(LabelledPrompt(row["text"], silent is None, silent or row["kind"]))
    return found


def rows_of(prompts: Sequence[LabelledPrompt], embedder: LocalEmbedder) -> NDArray[np.float64]:
    """Return a row for each prompt: its vector, its form, and 1 for the bias."""
    rows = []
    for number, each in enumerate(prompts):
        if number % 1_000 == 0:
            print(f"{number} of {len(prompts)} prompts read", file=sys.stderr)
        vector = embedder.ask(each.text[:MOST_CHARS]).vector
        form = list(read_prompt_form(each.text).values())
        rows.append(np.concatenate([VECTOR_SCALE * vector, form, [1.0]]))
    return np.array(rows)


def fit(rows: NDArray[np.float64], wants: NDArray[np.bool_]) -> NDArray[np.float64]:
    loss = LogisticLoss(rows, wants, np.ones(len(rows)), L2)
    free = np.full(rows.shape[1], np.inf)
    return minimise(loss, -free, free, STEPS)


def report(prompts: Sequence[LabelledPrompt], sums: NDArray[np.float64]) -> None:
    """Print how well those that want something are told from each kind that does not."""
    by_kind = defaultdict(list)
    for each, total in zip(prompts, sums, strict=True):
        by_kind["wants" if each.wants else each.kind].append(total)
    wants = np.array(by_kind.pop("wants"))
    silent = np.array([total for totals in by_kind.values() for total in totals])
    print(f"AUC {auc(wants, silent):.3f} over {len(wants)} and {len(silent)} prompts")
    for kind, totals in sorted(by_kind.items()):
        print(f"  {kind} {auc(wants, np.array(totals)):.3f} ({len(totals)})")


def need_values(
    model: str, count: int, weights: NDArray[np.float64], names: Sequence[str]
) -> dict[str, object]:
    """Return what the file says: the weights of `names` stand after those of the vector."""
    size = len(weights) - len(names) - 1
    form = [round(each, DIGITS) for each in weights[size:-1].tolist()]
    return {
        "model": model,
        "trained_on": f"{count} prompts of bench/training and of Everyday's train stores",
        "vector": [round(VECTOR_SCALE * each, DIGITS) for each in weights[:size].tolist()],
        "form": dict(zip(names, form, strict=True)),
        "bias": round(float(weights[-1]), DIGITS),
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Learn, measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--folder", type=Path, help="another model than the built-in one")
    given = parser.parse_args(argv)
    embedder = LocalEmbedder.from_folder(given.folder, 1) if given.folder else load_built_in(1)
    assert embedder is not None
    taught = [*read_wants(), *read_block_prompts(), *read_stores(encoder_stores())]
    weights = fit(rows_of(taught, embedder), np.array([each.wants for each in taught]))
    dev = read_stores(sorted(DEV.glob("*.jsonl")))
    report(dev, rows_of(dev, embedder) @ weights)
    values = need_values(embedder.name, len(taught), weights, list(read_prompt_form("")))
    if given.out is not None:
        given.out.write_text(json.dumps(values) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
