"""What everything costs, in one table with the last release's figures beside it: `make bench`, or
`madeleine bench lean`.

The table is the one by which the project keeps itself lean: ratios within one run where two things
can be compared, sizes and counts elsewhere. It is measured in parts, each a process of its own,
within a bound of time (`--minutes`): a part for which nothing is left is left out, and named.
`--keep RELEASE` writes what was measured to `bench/figures.json`, with date and machine; the next
run shows that beside its own.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, os.fspath(Path(__file__).parent))

from _lean_parts import PARTS, LeanRow

HERE = Path(__file__).parent
FIGURES = HERE / "figures.json"
MINUTES = 14.0  # of the quarter of an hour that the whole may take
PART_SHARE = 0.4  # of that for one part at most, so that a slow one leaves time for others


@dataclass(frozen=True, slots=True)
class KeptFigures:
    """What was measured for a release."""

    release: str
    date: str
    machine: str
    figures: Mapping[str, str]

    @classmethod
    def read(cls, path: Path) -> KeptFigures:
        """Return what is kept; nothing, where nothing is."""
        if not path.exists():
            return cls("no release", "", "", {})
        return cls(**json.loads(path.read_text(encoding="utf-8")))


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark; 0 when every target is met."""
    parser = _parser()
    given = parser.parse_args(argv)
    if given.part:
        rows = PARTS[given.part](given.cache, given.sizes)
        print(json.dumps([asdict(each) for each in rows]))
        return 0
    wanted = [each for each in given.only.split(",") if each] or list(PARTS)
    for each in wanted:
        if each not in PARTS:
            parser.error(f"there is no part {each!r}; there are {', '.join(PARTS)}")
    with ExitStack() as stack:
        folder = given.cache or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="madeleine-bench-"))
        )
        rows, left_out = _measure(wanted, folder, given)
    before = KeptFigures.read(given.figures)
    if given.keep:
        _keep(given.figures, given.keep, rows)
    if given.json:
        _write_json(given.json, rows, left_out, before)
    if given.json != "-":
        print(render_table(rows, before))
        for line in left_out:
            print(f"\n{line}")
    return 0 if given.quick or all(each.passed for each in rows) else 1


def _measure(
    wanted: Sequence[str], folder: Path, given: argparse.Namespace
) -> tuple[list[LeanRow], list[str]]:
    """Return what the parts measured, and a sentence for each that was left out."""
    ends, most = time.monotonic() + given.minutes * 60, PART_SHARE * given.minutes * 60
    rows: list[LeanRow] = []
    left_out: list[str] = []
    for part in wanted:
        began, left = time.monotonic(), ends - time.monotonic()
        sys.stderr.write(f"{part}: load {os.getloadavg()[0]:.1f}, {left / 60:.1f} minutes left\n")
        command = [sys.executable, os.fspath(Path(__file__)), "--part", part]
        command += ["--cache", os.fspath(folder), "--sizes", ",".join(map(str, given.sizes))]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
        try:
            said, _ = process.communicate(timeout=max(min(left, most), 1.0))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # with the programs that it started
            process.communicate()
            minutes = max(min(left, most), 0.0) / 60
            left_out.append(f"{part} is left out: it did not end within {minutes:.1f} minutes")
            continue
        if process.returncode:
            left_out.append(f"{part} is left out: it failed (exit {process.returncode})")
            continue
        found = [LeanRow(**each) for each in json.loads(said)]
        rows += found
        for each in found:
            sys.stderr.write(f"  {each.what}: {each.figure}\n")
        sys.stderr.write(f"  {time.monotonic() - began:.0f} s\n")
    return rows, left_out


def render_table(rows: Sequence[LeanRow], before: KeptFigures) -> str:
    """Return the rows as a markdown table, beside what was kept."""
    release = f"{before.release} ({before.date})" if before.date else before.release
    lines = [f"| what | target | now | {release} | | how |", "|---|---|---|---|---|---|"]
    for row in rows:
        verdict = "pass" if row.passed else "**miss**"
        cells = (row.what, row.target, row.figure, before.figures.get(row.what, ""), verdict)
        lines.append(f"| {' | '.join(cells)} | {row.note} |")
    return "\n".join(lines)


def _keep(path: Path, release: str, rows: Sequence[LeanRow]) -> None:
    date = datetime.now(tz=UTC).date().isoformat()
    figures = {each.what: each.figure for each in rows}
    kept = KeptFigures(release, date, describe_machine(), figures)
    path.write_text(json.dumps(asdict(kept), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def describe_machine() -> str:
    """Return what figures were measured on, and how busy it was."""
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    return (
        f"{os.cpu_count()} cores {platform.machine()}, {platform.system()}, "
        f"Python {platform.python_version()}, load {load}"
    )


def _write_json(
    where: str, rows: Sequence[LeanRow], left_out: Sequence[str], before: KeptFigures
) -> None:
    found: dict[str, Any] = {
        "benchmark": "lean",
        "machine": describe_machine(),
        "rows": [{**asdict(each), "before": before.figures.get(each.what)} for each in rows],
        "left_out": list(left_out),
    }
    text = json.dumps(found, indent=2, ensure_ascii=False)
    if where == "-":
        print(text)
    else:
        Path(where).write_text(text + "\n", encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="madeleine bench lean", description=__doc__)
    add = parser.add_argument
    add("--only", default="", metavar="PARTS", help=f"some of {','.join(PARTS)}")
    add("--minutes", type=float, default=MINUTES, metavar="N", help="how long all may take")
    add("--sizes", type=_sizes, default=[10_000, 100_000], metavar="N,N", help="of the homes")
    add("--quick", action="store_true", help="whatever the targets say, that it ran is enough")
    add("--keep", metavar="RELEASE", help="keep the figures as those of this release")
    add("--figures", type=Path, default=FIGURES, metavar="FILE", help="where they are kept")
    add("--cache", type=Path, metavar="DIR", help="keep the homes here")
    add("--json", nargs="?", const="-", metavar="FILE", help="one JSON document")
    add("--part", choices=list(PARTS), help=argparse.SUPPRESS)
    return parser


def _sizes(text: str) -> list[int]:
    if not re.fullmatch(r"\d+,\d+", text):
        raise argparse.ArgumentTypeError("name two sizes, such as 10000,100000")
    return [int(each) for each in text.split(",")]


if __name__ == "__main__":
    sys.exit(main())
