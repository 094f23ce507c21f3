"""The benchmark of the doctor runs, and measures what it says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench" / "doctor.py"


@pytest.mark.soak
def test_the_doctor_benchmark_runs_on_a_small_home() -> None:
    done = subprocess.run(
        [sys.executable, str(BENCH), "--quick", "--json"],
        capture_output=True,
        timeout=50,
        check=False,
        env={**os.environ, "MADELEINE_EMBEDDER_KIND": "fake"},
    )

    assert done.returncode == 0, done.stderr.decode()
    assert [row["what"] for row in json.loads(done.stdout)] == [
        "`doctor`, 20 memories, 8 agents",
        "`setup`, everything wired already",
    ]
