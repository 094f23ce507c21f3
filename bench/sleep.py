"""How well the memory tends itself, and who has to wait meanwhile: `madeleine bench sleep`, or
`python bench/sleep.py`.

Every night is a real one on homes made for it in a temporary folder; `--cache` keeps them for the
next run. The labelled pairs are not part of this repository: that part is left out without them
under --data.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, os.fspath(Path(__file__).parent))

from _measure import progress
from _recall_homes import Homes
from _recall_report import Figure, Target, document, measured, table, verdict, write_document
from _recall_scale import LEAST_SIZE, Plan
from _recall_speed import all_models
from _sleep_cycle import busy, cycle
from _sleep_kept import kept
from _sleep_pairs import judge_rows
from _sleep_story import story
from _sleep_updates import stale

from madeleine.bootstrap import load_settings, make_judge

PAIRS = "pairs"
PARTS: Mapping[str, Callable[[Homes, argparse.Namespace], list[Figure]]] = {
    "cycle": lambda homes, given: cycle(homes, Plan(given.size, given.embedded)),
    "busy": lambda homes, given: busy(
        homes, Plan(given.size, given.embedded), given.thinks, given.remembered
    ),
    PAIRS: lambda homes, given: pairs(homes, given.data),
    "stale": lambda homes, given: stale(homes, given.changes),
    "kept": lambda homes, given: kept(homes, given.facts),
    "story": lambda homes, given: story(homes, given.store, given.nights),
}


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark; 0 when every target is met."""
    parser = _parser()
    given = parser.parse_args(argv)
    wanted = _wanted(parser, given.only)
    left_out = []
    if PAIRS in wanted and given.data is None:
        wanted.remove(PAIRS)
        left_out.append(f"{PAIRS} is left out: name its data with --data")
    if left_out and given.only:
        parser.error(left_out[0])
    for line in left_out:
        progress(line)
    with ExitStack() as stack:
        homes = Homes(given.cache or _temporary(stack))
        figures = [each for part in wanted for each in _measured(homes, part, given)]
    _report(figures, left_out, given.json)
    return 1 if any(each.passed is False for each in figures) else 0


def _measured(homes: Homes, part: str, given: argparse.Namespace) -> Iterator[Figure]:
    """Measure a part, and say what comes out."""
    for figure in PARTS[part](homes, given):
        progress(f"{figure.part}: {figure.what} {measured(figure)} {verdict(figure)}".rstrip())
        yield figure


def pairs(homes: Homes, data: Path) -> list[Figure]:
    """Return how well the local judge does on labelled pairs."""
    with all_models(homes.folder) as minds:
        judge = make_judge(load_settings(homes.folder), os.environ, minds.relations)
        rows = judge_rows(data, judge, minds.embedder)
    return [_figure(each) for each in rows]


def _figure(row: Mapping[str, object]) -> Figure:
    """Return a row of the judge's figures, whose target is a text such as `>= .97`."""
    wanted = str(row["target"]).split()
    target = Target(float(wanted[1]), at_most=wanted[0] == "<=") if len(wanted) == 2 else None
    return Figure(PAIRS, str(row["what"]), float(str(row["figure"])), int(str(row["n"])), target)


def _report(figures: list[Figure], left_out: list[str], where: str | None) -> None:
    if where:
        found = {**json.loads(document(figures, left_out)), "benchmark": "sleep"}
        write_document(where, json.dumps(found, indent=2, ensure_ascii=False))
    if where != "-":
        print(table(figures))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="madeleine bench sleep", description=__doc__)
    parser.add_argument("--only", default="", metavar="PARTS", help=f"some of {','.join(PARTS)}")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder with labelled pairs")
    parser.add_argument(
        "--size", type=_size, default=10_000, metavar="N", help="memories of the made-up world"
    )
    parser.add_argument(
        "--embedded", type=int, default=20_000, metavar="N", help="most of them read by the model"
    )
    parser.add_argument(
        "--thinks", type=float, default=2.0, metavar="S", help="seconds that the slow judge takes"
    )
    parser.add_argument(
        "--remembered", type=int, default=200, metavar="N", help="memories told meanwhile"
    )
    parser.add_argument(
        "--changes", type=int, default=100, metavar="N", help="facts that change their value"
    )
    parser.add_argument(
        "--facts", type=int, default=400, metavar="N", help="facts that are said several times"
    )
    parser.add_argument(
        "--store",
        default="",
        metavar="NAME",
        help="whose story is told: a train store of Everyday",
    )
    parser.add_argument(
        "--nights", type=int, default=60, metavar="N", help="how many nights the story has"
    )
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep the homes here")
    parser.add_argument("--json", nargs="?", const="-", metavar="FILE", help="one JSON document")
    return parser


def _size(text: str) -> int:
    size = int(text)
    if size < LEAST_SIZE:
        raise argparse.ArgumentTypeError(f"{size} is too small; at least {LEAST_SIZE}")
    return size


def _wanted(parser: argparse.ArgumentParser, only: str) -> list[str]:
    named = [each.strip() for each in only.split(",") if each.strip()]
    for each in named:
        if each not in PARTS:
            parser.error(f"there is no part {each!r}; there are {', '.join(PARTS)}")
    return named or list(PARTS)


def _temporary(stack: ExitStack) -> Path:
    return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="madeleine-bench-")))


if __name__ == "__main__":
    sys.exit(main())
