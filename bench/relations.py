"""How well two notes are told apart: `madeleine bench relations`, or `python bench/relations.py`.

The pairs are those of Everyday, which are part of this repository. Three parts: the reader by
itself, as it was trained; the local judge, which puts rules before it, with what would be merged
and asked at the thresholds of the night; and how many pairs a second are read. The test split is
for release figures only.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, os.fspath(Path(__file__).parent))

from _everyday_set import SPLITS, read_pairs
from _measure import progress
from _recall_homes import Homes
from _recall_report import Figure, document, measured, table, verdict, write_document
from _relation_figures import judge_figures, reader_figures, speed_figures

PARTS: Mapping[str, Callable[[Homes, str], Iterator[Figure]]] = {
    "reader": lambda homes, split: reader_figures(homes, read_pairs(split)),
    "judge": lambda homes, split: judge_figures(homes, read_pairs(split)),
    "speed": lambda homes, split: speed_figures(read_pairs(split)),
}


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark; 0 when every target is met."""
    parser = _make_parser()
    given = parser.parse_args(argv)
    wanted = [each.strip() for each in given.only.split(",") if each.strip()] or list(PARTS)
    for each in wanted:
        if each not in PARTS:
            parser.error(f"there is no part {each!r}; there are {', '.join(PARTS)}")
    with ExitStack() as stack:
        homes = Homes(given.cache or _make_folder(stack))
        figures = list(_measure(homes, wanted, given.split))
    if given.json:
        about = {"benchmark": "relations", "split": given.split}
        found = {**json.loads(document(figures, ())), **about}
        write_document(given.json, json.dumps(found, indent=2, ensure_ascii=False))
    if given.json != "-":
        print(table(figures))
    return 1 if any(each.passed is False for each in figures) else 0


def _make_folder(stack: ExitStack) -> Path:
    return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="madeleine-relations-")))


def _measure(homes: Homes, wanted: Sequence[str], split: str) -> Iterator[Figure]:
    for part in wanted:
        for figure in PARTS[part](homes, split):
            progress(f"{figure.part}: {figure.what} {measured(figure)} {verdict(figure)}".rstrip())
            yield figure


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="madeleine bench relations", description=__doc__)
    parser.add_argument("--split", choices=SPLITS, default="dev", help="which pairs (dev)")
    parser.add_argument("--only", default="", metavar="PARTS", help=f"some of {','.join(PARTS)}")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep what was read here")
    parser.add_argument("--json", nargs="?", const="-", metavar="FILE", help="one JSON document")
    return parser


if __name__ == "__main__":
    sys.exit(main())
