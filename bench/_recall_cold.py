"""The first answer of a process that has just begun: `python _recall_cold.py HOME QUESTION`.

A program of its own, so that what the benchmark itself has in memory does not count.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from madeleine import Madeleine


@dataclass(frozen=True, slots=True)
class Cold:
    """How long the first answer took, from the start of the process, and the most memory that
    it had at any moment."""

    seconds: float
    resident_bytes: int


def cold(home: Path, question: str) -> Cold:
    """Start a process that opens a home and recalls once."""
    command = [sys.executable, os.fspath(Path(__file__)), os.fspath(home), question]
    began = time.perf_counter()
    said = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    return Cold(time.perf_counter() - began, int(json.loads(said.stdout)))


def main(home: str, question: str) -> None:
    with Madeleine.open(home, in_process=True) as opened:
        opened.recall(question)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1_024)  # Linux counts kilobytes


if __name__ == "__main__":
    main(*sys.argv[1:])
