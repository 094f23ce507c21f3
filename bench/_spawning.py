"""What the benchmarks of processes share: a home, a daemon on it, turns, and how they are started.

What a host starts and waits for is measured whole, in turns with what it is compared with, so that
a busy machine burdens all alike.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from _corpus import fill
from _measure import Row, progress, table, write_json

from madeleine.api.remote import RemoteDoor
from madeleine.minds.local import load_built_in

PATIENT_MS = 10_000  # a whisper that comes late would be measured as a quick silence
QUICK = 200  # memories, where only the program is to be tried out


def in_turns(
    acts: Mapping[str, Callable[[], float]], times: int, warm: int = 0
) -> dict[str, float]:
    """Do each in turn, another one first each time; return the median seconds of each. The first
    `warm` turns do not count."""
    names = list(acts)
    found: dict[str, list[float]] = {name: [] for name in names}
    for number in range(warm + times):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            took = acts[name]()
            if number >= warm:
                found[name].append(took)
        if number % 10 == 0:
            progress(f"{', '.join(names)}: {number} of {warm + times}")
    return {name: statistics.median(each) for name, each in found.items()}


@contextlib.contextmanager
def daemon(home: Path, deadline_ms: int = PATIENT_MS) -> Iterator[RemoteDoor]:
    """Start a daemon and wait until it says that it answers. Its hooks have so much time."""
    command = [sys.executable, "-P", "-m", "madeleine.server", "--home", os.fspath(home)]
    patient = {**os.environ, "MADELEINE_WHISPER_DEADLINE_MS": str(deadline_ms)}
    process = subprocess.Popen([*command, "--port", "0"], stdout=subprocess.PIPE, env=patient)
    try:
        assert process.stdout is not None
        with process.stdout as pipe:
            said = json.loads(pipe.readline())
        yield RemoteDoor(Path(said["ready"]["socket"]))
    finally:
        process.terminate()
        process.wait(60)


def made_home(folder: Path, size: int) -> Path:
    """Return a home with `size` memories, made on first use."""
    home = folder / f"home-{size}"
    if not (home / "index.db").exists():
        model = load_built_in(0)
        if model is None:
            raise SystemExit("the built-in model is not installed: pip install madeleine-minilm")
        progress(f"making a home of {size:,} memories")
        fill(home, size, model.name, model.dimension, model.token_dimension, progress)
    return home


def parser_for(name: str, about: str | None) -> argparse.ArgumentParser:
    """Return the options that such a benchmark has."""
    parser = argparse.ArgumentParser(prog=f"madeleine bench {name}", description=about)
    parser.add_argument("--size", type=int, default=10_000, help="memories in the home")
    parser.add_argument("--times", type=int, default=41, help="how often each is done")
    parser.add_argument("--quick", action="store_true", help="a tiny home: does it run at all?")
    parser.add_argument("--folder", type=Path, help="keep the home here and use it again")
    parser.add_argument("--json", nargs="?", const="-", metavar="FILE", help="rows as JSON")
    return parser


def run(given: argparse.Namespace, measure: Callable[[Path, int, int], list[Row]]) -> int:
    """Measure in a folder, with so many memories and so often, and print the rows; 0 when every
    target is met."""
    size, times = (QUICK, 3) if given.quick else (given.size, given.times)
    with contextlib.ExitStack() as stack:
        folder = given.folder or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="madeleine-bench-"))
        )
        folder.mkdir(parents=True, exist_ok=True)
        rows = measure(folder, size, times)
    for row in rows:
        progress(f"{row.what}: {row.figure} ({'pass' if row.passed else 'miss'})")
    if given.json:
        write_json(given.json, rows)
    if given.json != "-":
        print(table(rows))
    return 0 if all(row.passed for row in rows) or given.quick else 1
