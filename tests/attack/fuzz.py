"""Throw changed inputs at a target until its time is over.

Each target reads in a process of its own. What ends it, raises what is no error of ours, takes too
long, or takes four times the time for twice the input is a fault; its input is kept in a file.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import select
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.attack.mutations import MAX_BYTES, mutate
from tests.attack.targets import TARGETS

INPUT_SECONDS = 20.0  # of CPU: a busy machine must not look like a fault
WAIT_SECONDS = 120.0  # by the clock, for one that waits instead of working
LOOK_SECONDS = 0.5
SLOW_SECONDS = 0.25  # from which it is looked how the time grows
MEASURABLE_SECONDS = 0.004
QUADRATIC_FACTOR = 3.2  # for twice the input; linear work takes 2
HASH_SEED = {"PYTHONHASHSEED": "0", "MADELEINE_EMBEDDER_KIND": "fake"}


@dataclass
class FuzzReport:
    """How it went with one target."""

    target: str
    inputs: int = 0
    slowest: float = 0.0
    faults: list[str] = field(default_factory=list)


class Worker:
    """The process that reads."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._process = self._start()

    def try_input(self, data: bytes) -> dict[str, Any]:
        """Have it read one input; a process that ends, or does not, is begun anew."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(len(data).to_bytes(4, "big") + data)
            process.stdin.flush()
        except BrokenPipeError:
            return self._begin_anew("the process ended between two inputs")
        if fault := self._wait_for_answer(process):
            return self._begin_anew(fault)
        line = process.stdout.readline()
        if not line:
            return self._begin_anew(f"ended the process: {process.wait()}")
        told: dict[str, Any] = json.loads(line)
        return told

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()

    def _start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "tests.attack.worker", self._target]
        environment = os.environ | HASH_SEED
        pipe = subprocess.PIPE
        started = subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment)
        assert started.stdout is not None
        started.stdout.readline()  # it has loaded everything by then
        return started

    def _wait_for_answer(self, process: subprocess.Popen[bytes]) -> str:
        """Wait for a line, and return what is wrong if there is none."""
        began, used, answers = time.monotonic(), read_cpu_seconds(process.pid), process.stdout
        assert answers is not None
        while not select.select([answers], [], [], LOOK_SECONDS)[0]:
            if read_cpu_seconds(process.pid) - used > INPUT_SECONDS:
                return f"took more than {INPUT_SECONDS:.0f} s"
            if time.monotonic() - began > WAIT_SECONDS:
                return f"did nothing for {WAIT_SECONDS:.0f} s"
        return ""

    def _begin_anew(self, fault: str) -> dict[str, Any]:
        self.end()
        self._process = self._start()
        return {"seconds": 0.0, "fault": fault}


def read_cpu_seconds(pid: int) -> float:
    """Return how long a process has worked."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def fuzz(
    target: str, seconds: float, seed: int, kept: Path, say: Callable[[str], None]
) -> FuzzReport:
    """Try inputs for so long, and return how it went."""
    report, dice, worker = FuzzReport(target), random.Random(f"{target} {seed}"), Worker(target)
    aimed = TARGETS[target]
    deadline = time.monotonic() + seconds
    for data in aimed.seeds:
        _try(worker, data, report, kept, say)
    while time.monotonic() < deadline:
        _try(worker, mutate(aimed.seeds, aimed.tokens, dice), report, kept, say)
    worker.end()
    return report


def _try(
    worker: Worker, data: bytes, report: FuzzReport, kept: Path, say: Callable[[str], None]
) -> None:
    told = worker.try_input(data)
    report.inputs += 1
    report.slowest = max(report.slowest, told["seconds"])
    fault = told["fault"]
    if not fault and told["seconds"] > SLOW_SECONDS:
        fault = _find_growth(worker, data, told["seconds"])
    if fault:
        path = kept / f"{report.target}-{hashlib.sha256(data).hexdigest()[:12]}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        report.faults.append(f"{path}: {fault}")
        say(f"{report.target}: {path}: {fault}")


def _find_growth(worker: Worker, data: bytes, seconds: float) -> str:
    """Say so if half of an input takes far less than half of the time, and a quarter of half."""
    if len(data) > MAX_BYTES:
        return ""
    half = worker.try_input(data[: len(data) // 2])["seconds"]
    quarter = worker.try_input(data[: len(data) // 4])["seconds"]
    again = worker.try_input(data)["seconds"]
    whole = min(seconds, again)
    steady = quarter > MEASURABLE_SECONDS and whole > SLOW_SECONDS
    if steady and min(whole / half, half / quarter) > QUADRATIC_FACTOR:
        return f"grows faster than its input: {quarter:.3f}, {half:.3f}, {whole:.3f} s"
    return ""
