"""How well and how quickly recall answers: `madeleine bench recall`, or `python bench/recall.py`.

Every question goes through the recall that everybody calls, on homes made for it in a
temporary folder; `--cache` keeps them for the next run. The public data sets are not part of
this repository: each is named by an option, and its parts are left out without it.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, os.fspath(Path(__file__).parent))

from _measure import progress
from _recall_homes import Homes
from _recall_parts import LOCOMO, beam, locomo, one_store, ormah, precision
from _recall_report import Figure, document, measured, table, verdict, write_document
from _recall_scale import LEAST_SIZE, Plan
from _recall_scale_parts import filters, latency, scale, updates
from _recall_sets import SOURCES, pooled, read_beam, read_locomo, read_ormah, read_precision

WEIGHTS = "MADELEINE_RECALL_WEIGHTS"

OnData = Callable[[Homes, Path], list[Figure]]
InWorld = Callable[[Homes, Sequence[Plan]], list[Figure]]

# Each part with the set that it needs.
ON_DATA: Mapping[str, tuple[str, OnData]] = {
    "locomo": ("locomo", lambda homes, at: locomo(homes, read_locomo(at), "locomo", LOCOMO)),
    "pooled": ("locomo", lambda homes, at: one_store(homes, pooled(read_locomo(at)))),
    "beam": ("beam", lambda homes, at: beam(homes, read_beam(at))),
    "precision": ("precision", lambda homes, at: precision(homes, read_precision(at))),
    "ormah": ("ormah", lambda homes, at: ormah(homes, read_ormah(at))),
}
# Changes are looked for in the smallest home, filters in the largest.
IN_WORLD: Mapping[str, InWorld] = {
    "scale": lambda homes, plans: [each for plan in plans for each in scale(homes, plan)],
    "latency": lambda homes, plans: [each for plan in plans for each in latency(homes, plan)],
    "updates": lambda homes, plans: updates(homes, plans[0]),
    "filters": lambda homes, plans: filters(homes, plans[-1]),
}
PLACES = {  # of each set under --data
    "locomo": "locomo/locomo*.json",
    "beam": "beam*",
    "precision": "precision*",
    "ormah": "ormah/golden*.jsonl",
}


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark; 0 when every target is met."""
    parser = _parser()
    given = parser.parse_args(argv)
    wanted = _wanted(parser, given.only)
    left_out = [_lacking(part) for part in wanted if _needs_data(part, given)]
    if left_out and given.only:
        parser.error("; ".join(left_out))
    for line in left_out:
        progress(line)
    with _homes(given.cache) as homes, _weights(given.weights):
        figures = [each for part in wanted for each in _measured(homes, part, given)]
    if given.json:
        write_document(given.json, document(figures, left_out))
    if given.json != "-":
        print(table(figures))
    return 1 if any(each.passed is False for each in figures) else 0


def _measured(homes: Homes, part: str, given: argparse.Namespace) -> Iterator[Figure]:
    """Measure a part, unless its data are not there, and say what came out."""
    if part in IN_WORLD:
        plans = [Plan(size, given.embedded) for size in given.sizes]
        figures = IN_WORLD[part](homes, plans)
    else:
        name, measure = ON_DATA[part]
        place = _place(name, given)
        figures = measure(homes, place) if place else []
    for figure in figures:
        progress(f"{figure.part}: {figure.what} {measured(figure)} {verdict(figure)}".rstrip())
        yield figure


# -- options -------------------------------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="madeleine bench recall", description=__doc__)
    parts = ",".join([*ON_DATA, *IN_WORLD])
    parser.add_argument("--only", default="", metavar="PARTS", help=f"some of {parts}")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder with the public sets")
    for name, source in SOURCES.items():
        parser.add_argument(f"--{name}", type=Path, metavar="PATH", help=f"this set: {source}")
    parser.add_argument(
        "--sizes",
        type=_sizes,
        default=[10_000, 100_000],
        metavar="N,…",
        help="of the made-up world",
    )
    parser.add_argument(
        "--embedded", type=int, default=20_000, metavar="N", help="most fillers read by the model"
    )
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep the homes here")
    parser.add_argument("--weights", type=Path, metavar="FILE", help="instead of the shipped ones")
    parser.add_argument("--json", nargs="?", const="-", metavar="FILE", help="one JSON document")
    return parser


def _sizes(text: str) -> list[int]:
    sizes = sorted(int(each) for each in text.split(","))
    if sizes[0] < LEAST_SIZE:
        raise argparse.ArgumentTypeError(f"{sizes[0]} is too small; at least {LEAST_SIZE}")
    return sizes


def _wanted(parser: argparse.ArgumentParser, only: str) -> list[str]:
    known = [*ON_DATA, *IN_WORLD]
    named = [each.strip() for each in only.split(",") if each.strip()]
    for each in named:
        if each not in known:
            parser.error(f"there is no part {each!r}; there are {', '.join(known)}")
    return named or known


def _needs_data(part: str, given: argparse.Namespace) -> bool:
    return part in ON_DATA and _place(ON_DATA[part][0], given) is None


def _place(name: str, given: argparse.Namespace) -> Path | None:
    """Return where a set is, by its own option or under --data."""
    own: Path | None = getattr(given, name)
    if own is not None:
        return own
    return min(given.data.glob(PLACES[name]), default=None) if given.data else None


def _lacking(part: str) -> str:
    name, _ = ON_DATA[part]
    return f"{part} is left out: name its data with --{name} or --data ({SOURCES[name]})"


# -- surroundings --------------------------------------------------------------------------


@contextmanager
def _homes(cache: Path | None) -> Iterator[Homes]:
    if cache is not None:
        yield Homes(cache)
        return
    with tempfile.TemporaryDirectory(prefix="madeleine-bench-") as folder:
        yield Homes(Path(folder))


@contextmanager
def _weights(path: Path | None) -> Iterator[None]:
    """Let recall go by other weights meanwhile."""
    before = os.environ.get(WEIGHTS)
    if path is not None:
        os.environ[WEIGHTS] = os.fspath(path.resolve())
    try:
        yield
    finally:
        os.environ.pop(WEIGHTS, None)
        if before is not None:
            os.environ[WEIGHTS] = before


if __name__ == "__main__":
    sys.exit(main())
