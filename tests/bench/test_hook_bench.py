"""The hook benchmark runs, and measures what it says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench" / "hook.py"


@pytest.mark.soak
def test_the_hook_benchmark_runs_on_a_small_home(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(BENCH), "--quick", "--json", "--folder", str(tmp_path)],
        capture_output=True,
        timeout=50,
        check=False,
    )

    assert done.returncode == 0, done.stderr.decode()
    rows = json.loads(done.stdout)
    assert [row["what"] for row in rows] == [
        "hook process, warm daemon, 200 memories",
        "the client alone",
        "hook before a deed",
        "hook in a burst of edits",
        "`madeleine whisper inject`",
        "without a daemon",
    ]
    assert all(row["figure"].endswith(" x") for row in rows)
