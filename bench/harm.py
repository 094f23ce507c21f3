"""What the memory must not do unasked: `madeleine bench harm`, or `python bench/harm.py`.

Each part runs the real thing on homes made for it in a temporary folder and counts harm: what was
put away, silenced or told though nobody asked for it. The sets written by hand are in `bench/harm`;
what needs data from elsewhere is left out without --data.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

sys.path.insert(0, os.fspath(Path(__file__).parent))

import _harm_fading
import _harm_identity
import _harm_retiring
from _measure import progress
from _recall_report import Figure, document, measured, table, verdict, write_document

PARTS: Mapping[str, Callable[[argparse.Namespace], list[Figure]]] = {
    "retiring": _harm_retiring.measure,
    "fading": _harm_fading.measure,
    "identity": _harm_identity.measure,
}


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark; 0 when every bound holds."""
    parser = _make_parser()
    given = parser.parse_args(argv)
    wanted = [each.strip() for each in given.only.split(",") if each.strip()] or list(PARTS)
    for each in wanted:
        if each not in PARTS:
            parser.error(f"there is no part {each!r}; there are {', '.join(PARTS)}")
    left_out = [] if given.data else ["shared pairs and chats are left out: name them with --data"]
    for line in left_out:
        progress(line)
    figures = []
    for part in wanted:
        for figure in PARTS[part](given):
            progress(f"{figure.part}: {figure.what} {measured(figure)} {verdict(figure)}".rstrip())
            figures.append(figure)
    if given.json:
        found = {**json.loads(document(figures, left_out)), "benchmark": "harm"}
        write_document(given.json, json.dumps(found, indent=2, ensure_ascii=False))
    if given.json != "-":
        print(table(figures))
    return 1 if any(each.passed is False for each in figures) else 0


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="madeleine bench harm", description=__doc__)
    parser.add_argument("--only", default="", metavar="PARTS", help=f"some of {','.join(PARTS)}")
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="folder with shared pairs and chats"
    )
    parser.add_argument(
        "--pairs",
        type=Path,
        default=Path(__file__).parent / "harm",
        metavar="DIR",
        help="folder with lookalikes.jsonl and told.jsonl",
    )
    parser.add_argument(
        "--unasked",
        default="told",
        choices=("never", "told", "sure"),
        help="the setting judge.unasked of the homes",
    )
    parser.add_argument("--show", action="store_true", help="print every wrong retirement")
    parser.add_argument("--json", nargs="?", const="-", metavar="FILE", help="one JSON document")
    return parser


if __name__ == "__main__":
    sys.exit(main())
