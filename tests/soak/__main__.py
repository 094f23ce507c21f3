"""`python -m tests.soak`: the long run, by `make soak`. A failure keeps the home and says where."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from tests.soak.run import ENVIRONMENT, Plan, Soak


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--operations", type=int, default=10_000, help="how many, at least")
    parser.add_argument("--clients", type=int, default=4, help="how many at once")
    parser.add_argument("--minutes", type=float, default=60.0, help="end after this long anyway")
    parser.add_argument("--seed", type=int, help="of an earlier run, to try the same again")
    given = parser.parse_args(argv)
    seed = time.time_ns() % 1_000_000 if given.seed is None else given.seed
    plan = Plan(seed, given.operations, given.clients, given.minutes * 60)
    os.environ.update(ENVIRONMENT)
    folder = Path(tempfile.mkdtemp(prefix="madeleine-soak-"))
    say(f"seed {seed}, home {folder / 'home'}")
    began = time.monotonic()
    soak = Soak(plan, folder / "home", say)
    try:
        report = soak.run()
    except BaseException:
        say(f"failed with seed {seed} after {soak.report}; kept {folder / 'home'}")
        raise
    shutil.rmtree(folder)
    say(f"all as promised in {time.monotonic() - began:.0f} s: {report}")
    return 0


def say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
