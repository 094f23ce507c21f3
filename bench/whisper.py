"""How often a whisper is right, and how often it comes where nothing fits:
`madeleine bench whisper`, or `python bench/whisper.py`.

Every prompt goes through the whisper that hooks call, on homes made for it in a temporary
folder; `--cache` keeps them for the next run. The public data sets are not part of this
repository: a part is left out without its own under --data.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, os.fspath(Path(__file__).parent))

from _measure import progress
from _recall_homes import Homes
from _recall_report import Figure, document, measured, table, verdict, write_document
from _recall_scale import LEAST_SIZE
from _recall_scale import Plan as World
from _whisper_asking import WHISPER, environment
from _whisper_parts import PARTS, Plan, measure
from _whisper_sets import READERS, WHISPER_PLACES, WHISPER_SOURCES, place, read_trials
from _whisper_speed import latency

LATENCY = "latency"
KNOWN = (*PARTS, LATENCY)
OTHERS, NOTHING = "others", "nothing"


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark; 0 when every target is met."""
    parser = _parser()
    given = parser.parse_args(argv)
    wanted = _wanted(parser, given.only)
    lacking = {part: missing for part in wanted if (missing := _lacking(part, given.data))}
    left_out = [f"{part} is left out: {missing}" for part, missing in lacking.items()]
    if left_out and given.only:
        parser.error("; ".join(left_out))
    for line in left_out:
        progress(line)
    with ExitStack() as stack:
        homes = _homes(given.cache, stack)
        parts = (part for part in wanted if part not in lacking)
        figures = [each for part in parts for each in _measured(homes, part, given)]
    _report(figures, left_out, given.json)
    return 1 if any(each.passed is False for each in figures) else 0


def _measured(homes: Homes, part: str, given: argparse.Namespace) -> Iterator[Figure]:
    """Measure a part, and say what comes out."""
    found: Iterable[Figure]
    if part == LATENCY:
        found = latency(homes, World(given.size, given.embedded))
    else:
        plan = Plan(given.frozen_on == OTHERS, given.sweep, given.margin)
        found = measure(homes, part, read_trials(part, given.data), plan)
    for figure in found:
        progress(f"{figure.part}: {figure.what} {measured(figure)} {verdict(figure)}".rstrip())
        yield figure


def _report(figures: list[Figure], left_out: list[str], where: str | None) -> None:
    if where:
        found = {**json.loads(document(figures, left_out)), "benchmark": "whisper"}
        write_document(where, json.dumps(found, indent=2, ensure_ascii=False))
    if where != "-":
        print(table(figures))


# -- options -------------------------------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="madeleine bench whisper", description=__doc__)
    parser.add_argument("--only", default="", metavar="PARTS", help=f"some of {','.join(KNOWN)}")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder with the public sets")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep the homes here")
    parser.add_argument(
        "--frozen-on",
        choices=(OTHERS, NOTHING),
        default=OTHERS,
        help="read each store at a gate chosen on the others, or only at the shipped gate",
    )
    parser.add_argument(
        "--margin", type=float, default=1.0, metavar="TIMES", help="choose it so much stricter"
    )
    parser.add_argument(
        "--sweep", action="store_true", help="also gates chosen on the prompts they are read on"
    )
    parser.add_argument(
        "--size", type=_size, default=10_000, metavar="N", help="memories where latency is timed"
    )
    parser.add_argument(
        "--embedded", type=int, default=20_000, metavar="N", help="most fillers read by the model"
    )
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
        if each not in KNOWN:
            parser.error(f"there is no part {each!r}; there are {', '.join(KNOWN)}")
    return named or list(KNOWN)


def _lacking(part: str, data: Path | None) -> str:
    """Return which sets a part needs and are not there."""
    _, names = READERS.get(part, (None, ()))
    missing = [each for each in names if data is None or place(each, data) is None]
    said = (f"--data has no {WHISPER_PLACES[each]} ({WHISPER_SOURCES[each]})" for each in missing)
    return ", ".join(said)


def _homes(cache: Path | None, stack: ExitStack) -> Homes:
    """Return homes to ask. How one whispers does not decide what a home holds, so such settings
    are out of sight meanwhile: with others the same homes are used again."""
    if cache is None:
        cache = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="madeleine-bench-")))
    with environment({name: None for name in os.environ if name.startswith(WHISPER)}):
        return Homes(cache)


if __name__ == "__main__":
    sys.exit(main())
