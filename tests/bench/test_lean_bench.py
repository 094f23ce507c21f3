"""The table of costs: it keeps to its time, and shows what the last release had."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from tests.bench.test_recall_bench import bench

lean: Any = bench("lean")
parts: Any = bench("_lean_parts")
ROW = parts.LeanRow("recall", "≤ 2.20 x", "2.10 x", True, "in turns")


def test_the_last_release_stands_beside_what_was_measured(tmp_path: Path) -> None:
    kept = tmp_path / "figures.json"
    lean._keep(kept, "0.1.0", [parts.LeanRow("recall", "≤ 2.20 x", "3.00 x", False)])

    table = lean.render_table([ROW], lean.KeptFigures.read(kept))

    before = json.loads(kept.read_text(encoding="utf-8"))
    assert "| recall | ≤ 2.20 x | 2.10 x | 3.00 x | pass | in turns |" in table
    assert f"0.1.0 ({before['date']})" in table
    assert "cores" in before["machine"]


def test_without_a_kept_release_the_column_is_empty(tmp_path: Path) -> None:
    table = lean.render_table([ROW], lean.KeptFigures.read(tmp_path / "none.json"))

    assert "| no release |" in table
    assert "| 2.10 x |  | pass |" in table


def test_the_kept_figures_of_the_last_release_are_of_rows_that_there_are() -> None:
    kept = lean.KeptFigures.read(lean.FIGURES)

    assert kept.figures
    assert kept.date
    assert {type(each) for each in kept.figures.values()} == {str}


def test_a_part_without_time_is_left_out_and_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--only", "doctor", "--minutes", "0", "--quick", "--cache", str(tmp_path))

    lean.main([*words, "--sizes", "200,300", "--figures", str(tmp_path / "none.json")])

    assert "doctor is left out: it did not end within 0.0 minutes" in capsys.readouterr().out


@pytest.mark.soak
@pytest.mark.timeout(300)
def test_parts_measure_small_homes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--only", "whispers,growth", "--quick", "--json", "--sizes", "300,600")

    lean.main([*words, "--cache", str(tmp_path), "--figures", str(tmp_path / "f.json")])

    found = json.loads(capsys.readouterr().out)
    assert [row["what"] for row in found["rows"]] == [
        "whisper, first of a session, 300, against one embedding",
        "a whisper in the log",
        "decay, 600 against 300",
        "forget, 600 against 300",
    ]
    assert found["left_out"] == []


def test_a_row_says_whether_its_bound_is_met() -> None:
    assert asdict(parts._row("disk", 95.0, 90.0, "MB"))["passed"] is False
    assert asdict(parts._row("batch", 0.95, 0.9, "", at_least=True))["target"] == "≥ 0.90"
