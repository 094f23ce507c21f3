"""Say how Everyday was written: `python bench/everyday_check.py`, `madeleine bench everyday_check`.

A table of what shows a machine at work and of what gives a label away, each with its bound; the
nearest neighbours between stores; and how long the texts of each store are. Ends with 1 if a
bound is broken. The tests hold the same bounds.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import median

sys.path.insert(0, os.fspath(Path(__file__).parent))

from _everyday_checks import (
    Neighbours,
    leak_figures,
    lengths_by_owner,
    machine_figures,
    nearest_in_phrases,
    nearest_in_words,
    texts_of,
)
from _everyday_set import SPLITS, EverydayStore, read_pairs, read_sessions, read_stores
from _recall_report import table

SHOWN = 5


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="madeleine bench everyday_check", description=__doc__)
    parser.add_argument("--neighbours", type=int, default=SHOWN, help=f"how many ({SHOWN})")
    given = parser.parse_args(argv)
    stores = [each for split in SPLITS for each in read_stores(split)]
    pairs = {split: read_pairs(split) for split in SPLITS}
    every_pair = [each for split in SPLITS for each in pairs[split]]
    sessions = [each for split in SPLITS for each in read_sessions(split)]
    figures = [*machine_figures(stores, every_pair, sessions), *leak_figures(stores, pairs)]
    print(table(figures))
    print(*neighbour_lines(stores, given.neighbours), sep="\n")
    print(*length_lines(stores), sep="\n")
    return int(any(each.passed is False for each in figures))


def neighbour_lines(stores: Sequence[EverydayStore], count: int) -> Iterator[str]:
    """Return the most alike texts of different stores, as markdown."""
    for name, texts in texts_of(stores).items():
        yield f"\n## Nearest {name} of two stores, by phrases\n"
        yield from _named(nearest_in_phrases(texts, count))
        yield f"\n## Nearest {name} of two stores, by words\n"
        yield from _named(nearest_in_words(texts, count))


def _named(found: Iterable[Neighbours]) -> Iterator[str]:
    for each in found:
        one, other = each.one, each.other
        yield f"- {each.similarity:.2f} {one.owner}: “{one.text}” · {other.owner}: “{other.text}”"


def length_lines(stores: Sequence[EverydayStore]) -> Iterator[str]:
    """Return how long the texts of each store are, as a table."""
    texts = texts_of(stores)
    names = ("memories", "prompts", "questions")
    lengths = {name: lengths_by_owner(texts[name]) for name in names}
    yield "\n## Words of a text: shortest, middle, longest\n"
    yield f"| store | {' | '.join(names)} |"
    yield "|---|---|---|---|"
    for store in sorted(each.name for each in stores):
        of_store = [lengths[name][store] for name in names]
        cells = [f"{each[0]}, {median(each):.0f}, {each[-1]}" for each in of_store]
        yield f"| {store} | {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
