"""The benchmark of vector search runs on the matrix of today."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).parents[2] / "bench" / "vector_search.py"


def test_the_vector_benchmark_finds_what_is_nearest() -> None:
    done = subprocess.run(
        [sys.executable, str(BENCH), "2000"], capture_output=True, timeout=50, check=False
    )

    assert done.returncode == 0, done.stderr.decode()
    rows = done.stdout.decode().splitlines()[2:]
    assert [row.split("|")[2].strip() for row in rows] == ["many topics", "few topics", "no topics"]
    assert all(row.split("|")[-2].strip() == "1.000" for row in rows)
