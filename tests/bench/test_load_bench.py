"""The benchmark of many agents at once runs, and measures what it says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench" / "load.py"


@pytest.mark.soak
@pytest.mark.timeout(180)
def test_the_load_benchmark_runs_on_a_small_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    monkeypatch.delenv("MADELEINE_HOME", raising=False)

    done = subprocess.run(
        [sys.executable, str(BENCH), "--quick", "--json", "--cache", str(tmp_path)],
        capture_output=True,
        timeout=170,
        check=False,
    )

    assert done.returncode == 0, done.stderr.decode()
    rows = json.loads(done.stdout)
    assert [row["what"].rpartition(": ")[2] for row in rows] == ["p95", "late"] * 4
    assert rows[0]["figure"].endswith(" ms")
