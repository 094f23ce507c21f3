"""The benchmark of the page runs, and measures what it says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench" / "page.py"
CHROMIUM = Path("/usr/bin/chromium")


@pytest.mark.skipif(not CHROMIUM.exists(), reason=f"{CHROMIUM} is not installed")
@pytest.mark.timeout(180)
@pytest.mark.soak
def test_the_page_benchmark_runs_on_a_small_home() -> None:
    done = subprocess.run(
        [sys.executable, str(BENCH), "--quick", "--json"],
        capture_output=True,
        timeout=170,
        check=False,
    )

    assert done.returncode == 0, done.stderr.decode()
    rows = {row["what"]: row for row in json.loads(done.stdout)}
    assert rows["first view of `/ui/`, bytes over the wire"]["passed"]
    assert len(rows) == 5
