"""`python -m tests.sync STEPS [SEED]`: the simulation, with figures."""

from __future__ import annotations

import random
import sys
import tempfile
import time
from pathlib import Path

from tests.sync.simulation import World

if __name__ == "__main__":
    steps = int(sys.argv[1])
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1_000_000)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder), 5, seed)
        world.run(steps)
        world.settle()
        world.check()
        reports = [each for machine in world.machines for each in machine.reports]
        told = (
            f"seed {seed}: {steps} steps, {time.monotonic() - began:.0f} s, {dict(world.done)}\n"
            f"{len(world.written)} texts written, {sum(each.merged for each in reports)} merges,"
            f" {sum(each.asked for each in reports)} questions,"
            f" {sum(each.received for each in reports)} versions received\n"
        )
        sys.stdout.write(told)
