"""`python -m tests.attack`: throw changed inputs at everything that reads what others wrote."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tests.attack.fuzz import fuzz
from tests.attack.targets import TARGETS

KEPT = Path("build/attack")


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0, help="for each target")
    parser.add_argument("--only", help="these targets, with commas between")
    parser.add_argument("--seed", type=int, help="of an earlier run, to try the same again")
    given = parser.parse_args(argv)
    seed = time.time_ns() % 1_000_000 if given.seed is None else given.seed
    say(f"seed {seed}; inputs that are faults are kept in {KEPT}")
    faults = 0
    for target in given.only.split(",") if given.only else TARGETS:
        report = fuzz(target, given.minutes * 60, seed, KEPT, say)
        faults += len(report.faults)
        did = f"{report.inputs:,} inputs, slowest {report.slowest:.2f} s"
        say(f"{target}: {did}, {len(report.faults)} faults")
    return 1 if faults else 0


def say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
