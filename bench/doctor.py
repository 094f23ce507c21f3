"""How long `madeleine doctor` and `madeleine setup` take, spawn to exit: `madeleine bench doctor`.

Measured against an interpreter that does nothing, in turns, on a home with memories, a daemon, and
a person's folder in which every host is wired. Both are made in a temporary folder.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, os.fspath(Path(__file__).parent))

from _measure import Row, in_turns, ms, progress, table, write_json

HOSTS = ["claude", "codex", "cursor", "gemini", "opencode", "copilot", "windsurf", "zed"]
QUICK_TIMES = 3


class Bench:
    """A person's folder with everything wired, and a daemon."""

    def __init__(self, folder: Path, times: int) -> None:
        self._times = times
        own = {"HOME": os.fspath(folder), "MADELEINE_HOME": os.fspath(folder / "home")}
        kept = ("PATH", "PYTHONPATH", "MADELEINE_EMBEDDER_KIND")
        self._variables = {**own, **{name: os.environ[name] for name in kept if name in os.environ}}

    def rows(self, memories: int) -> list[Row]:
        lines = "\n".join(f'{{"content": "memory {number} of many"}}' for number in range(memories))
        self._madeleine("remember", "--jsonl", "-", sent=lines)
        self._madeleine("setup", *HOSTS)
        self._madeleine("serve", "--port", "0")
        try:
            return [
                self._row(f"`doctor`, {memories:,} memories, {len(HOSTS)} agents", 12, "doctor"),
                self._row("`setup`, everything wired already", 12, "setup", *HOSTS),
            ]
        finally:
            self._madeleine("stop")

    def _row(self, what: str, most: float, *words: str) -> Row:
        progress(what)
        pair = in_turns(
            lambda: self._madeleine(*words),
            lambda: subprocess.run([sys.executable, "-c", "pass"], check=True),
            self._times,
        )
        told = (
            f"{ms(pair.one)} against {ms(pair.other)} for `python -c pass`; median of {self._times}"
        )
        return Row(what, f"at most {most:g} x", f"{pair.ratio:.1f} x", pair.ratio <= most, told)

    def _madeleine(self, *words: str, sent: str = "") -> None:
        command = [sys.executable, "-m", "madeleine", *words]
        done = _run(command, sent, self._variables)
        if done.returncode:
            raise SystemExit(f"{' '.join(words)}: {done.stderr.decode()}{done.stdout.decode()}")


def _run(
    command: list[str], sent: str, variables: Mapping[str, str]
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        command, input=sent.encode(), capture_output=True, check=False, env=dict(variables)
    )


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark; 0 when every target is met."""
    parser = argparse.ArgumentParser(prog="madeleine bench doctor", description=__doc__)
    parser.add_argument("--memories", type=int, default=1_000, help="memories in the home")
    parser.add_argument("--times", type=int, default=21, help="how often each is done")
    parser.add_argument("--quick", action="store_true", help="does it run at all?")
    parser.add_argument("--json", nargs="?", const="-", metavar="FILE", help="rows as JSON")
    given = parser.parse_args(argv)
    memories, times = (20, QUICK_TIMES) if given.quick else (given.memories, given.times)
    with tempfile.TemporaryDirectory(prefix="madeleine-bench-") as folder:
        rows = Bench(Path(folder), times).rows(memories)
    if given.json:
        write_json(given.json, rows)
    if given.json != "-":
        print(table(rows))
    return 0 if all(row.passed for row in rows) or given.quick else 1


if __name__ == "__main__":
    sys.exit(main())
