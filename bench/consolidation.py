"""What consolidation is worth, and what it costs: `madeleine bench consolidation`, or
`python bench/consolidation.py`.

Without options a store lives through some months of use, updates, repetition and noise, once
without consolidation and once with each part of it, and is asked at the end. With `--speed` the
four tasks are timed on homes of two sizes. Homes are made in a temporary folder; `--cache` keeps
them for the next run.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, os.fspath(Path(__file__).parent))

from _consolidation_life import WAYS, lives
from _consolidation_speed import speed
from _measure import progress
from _recall_homes import Homes
from _recall_report import Figure, document, measured, table, verdict, write_document


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark; 0 when every target is met."""
    parser = _parser()
    given = parser.parse_args(argv)
    ways = [each for each in given.ways.split(",") if each] or list(WAYS)
    for each in ways:
        if each not in WAYS:
            parser.error(f"there is no way {each!r}; there are {', '.join(WAYS)}")
    with ExitStack() as stack:
        folder = given.cache or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="madeleine-bench-"))
        )
        figures = list(_told(_figures(Homes(folder), given, ways)))
    if given.json:
        found = {**json.loads(document(figures, [])), "benchmark": "consolidation"}
        write_document(given.json, json.dumps(found, indent=2, ensure_ascii=False))
    if given.json != "-":
        print(table(figures))
    return 1 if any(each.passed is False for each in figures) else 0


def _figures(homes: Homes, given: argparse.Namespace, ways: list[str]) -> Iterator[Figure]:
    if given.speed:
        yield from speed(homes, given.small, given.large, given.embedded, given.recalls)
    else:
        yield from lives(homes, given.days, ways)


def _told(figures: Iterator[Figure]) -> Iterator[Figure]:
    """Say what comes out as it comes out."""
    for figure in figures:
        progress(f"{figure.part}: {figure.what} {measured(figure)} {verdict(figure)}".rstrip())
        yield figure


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="madeleine bench consolidation", description=__doc__)
    parser.add_argument("--speed", action="store_true", help="time the tasks instead")
    parser.add_argument("--days", type=int, default=180, metavar="N", help="how long a life is")
    parser.add_argument("--ways", default="", metavar="WAYS", help=f"some of {','.join(WAYS)}")
    parser.add_argument("--small", type=int, default=10_000, metavar="N", help="the smaller home")
    parser.add_argument("--large", type=int, default=100_000, metavar="N", help="the larger home")
    parser.add_argument(
        "--embedded", type=int, default=20_000, metavar="N", help="most texts read by the model"
    )
    parser.add_argument(
        "--recalls", type=int, default=120, metavar="N", help="recalls that are timed meanwhile"
    )
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep the homes here")
    parser.add_argument("--json", nargs="?", const="-", metavar="FILE", help="one JSON document")
    return parser


if __name__ == "__main__":
    sys.exit(main())
