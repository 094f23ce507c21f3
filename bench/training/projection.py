"""Writes the texts from which the projection of token vectors is made, one on each line.

    python -m bench.training.projection --out texts.txt [--data DIR]
    python packages/minilm/make_projection.py texts.txt --out projection.npy

They are read as the product reads them, with speaker, title and date. Only invented texts are
taken, and with `--data` the sets that may be used for anything.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench.training.dialogues import dialogues
from bench.training.notes import notes
from bench.training.stores import permissive
from bench.training.values import Item, Store
from madeleine.language.passages import split_passages
from madeleine.model.memory import Memory, Origin

DIALOGUES, NOTES = 2, 6  # enough for some fifty thousand tokens
SEED = 29  # not that of the stores that weights are learnt from
SOME_DAY = datetime(2024, 1, 1, tzinfo=UTC)


def main(argv: Sequence[str] | None = None) -> int:
    """Write the texts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")
    parser.add_argument("--data", type=Path, metavar="DIR", help="where the public sets are")
    given = parser.parse_args(argv)
    stores = [*dialogues(DIALOGUES, SEED), *notes(NOTES, SEED)]
    stores += permissive(given.data) if given.data else []
    lines = list(dict.fromkeys(line for store in stores for line in texts_of(store)))
    given.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


def texts_of(store: Store) -> Iterator[str]:
    """Yield each memory as a model reads it, and each question, on one line each."""
    for item in store.memories:
        yield from (" ".join(each.text.split()) for each in split_passages(_memory(item)))
    yield from (" ".join(question.text.split()) for question in store.questions)


def _memory(item: Item) -> Memory:
    at = item.created or SOME_DAY
    origin = Origin(item.session, item.turn, item.speaker) if item.session else None
    return Memory(item.id, item.text, at, at, title=item.title, origin=origin)


if __name__ == "__main__":
    sys.exit(main())
