"""The benchmark of the tools runs, and measures what it says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench" / "tools.py"


@pytest.mark.soak
def test_the_benchmark_of_the_tools_runs_on_a_small_home(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(BENCH), "--quick", "--json", "--folder", str(tmp_path)],
        capture_output=True,
        timeout=50,
        check=False,
    )

    assert done.returncode == 0, done.stderr.decode()
    start, size, call = json.loads(done.stdout)
    assert start["figure"].endswith(" x")
    assert "with the list of tools" in start["note"]
    assert size["passed"], "a proxy is small whatever else the machine does"
    assert call["figure"].endswith(" ms")
