"""A program that uses Madeleine is checked by mypy against whole signatures."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """\
from datetime import datetime, timezone
from madeleine import Madeleine

with Madeleine("~/x") as m:
    memory = m.remember("Ana lives in Ghent", type="fact", tags=["ana"], confidence=0.9,
                        created=datetime(2026, 1, 1, tzinfo=timezone.utc))
    change: str | None = memory.change
    words: list[str] = [hit.memory.content for hit in m.recall("where?", limit=3, spaces=["a"])]
    title: str | None = m.revise(memory, title=None).memory.title
    counts: int = m.status().counts.memories
    stays: str = m.sleep(dry_run=True)[0].job + m.proposals()[0].id + m.history(memory)[0].id
"""

WRONG = """\
from madeleine import Madeleine

with Madeleine.open() as m:
    m.remember("x", colour="red")
    m.remember(3)
    m.recall("x").total
    m.status().memories
    m.revise("7f3b", confidence=None)
    number: int = m.remember("x").content
"""


@pytest.mark.timeout(300)
def test_a_program_is_held_to_the_signatures_in_mypys_strict_way(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "wrong.py").write_text(WRONG, encoding="utf-8")
    quiet = {name: each for name, each in os.environ.items() if name != "PYTHONWARNDEFAULTENCODING"}
    cache = Path(__file__).parents[2] / ".mypy_cache" / "typed"
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={cache}"),
            *("program.py", "wrong.py"),
        ],
        cwd=tmp_path,
        env=quiet,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )

    errors = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert [int(line.split(":")[1]) for line in errors] == [4, 5, 6, 7, 8, 9]
    assert all(line.startswith("wrong.py:") for line in errors), done.stdout


def test_the_mark_that_types_are_shipped_stands_in_the_package() -> None:
    package = Path(__file__).parents[2] / "src" / "madeleine"

    assert (package / "py.typed").exists()
