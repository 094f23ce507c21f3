"""`madeleine bench consolidation`: lives that go by, and tasks that are timed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.bench.test_recall_bench import bench

life: Any = bench("_consolidation_life")
consolidation: Any = bench("consolidation")


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    monkeypatch.delenv("MADELEINE_HOME", raising=False)


def figures(path: Path) -> list[dict[str, Any]]:
    return list(json.loads(path.read_text(encoding="utf-8"))["figures"])


@pytest.mark.soak
def test_each_life_is_asked_the_same_and_told_apart(tmp_path: Path) -> None:
    out = tmp_path / "out.json"

    words = ["--days", "8", "--ways", "none,forget", "--cache", str(tmp_path), "--json", str(out)]
    consolidation.main(words)

    found = figures(out)
    asked = {name: [f["what"] for f in found if f["part"] == name] for name in ("none", "forget")}
    assert asked["none"] == asked["forget"]
    assert any("whisper" in each for each in asked["none"])
    assert any("old value" in each for each in asked["none"])
    sizes = [f["value"] for f in found if f["what"] == "memories outside the archive"]
    assert all(value >= 8 * (life.LEARNED + life.NOISE) * 0.5 for value in sizes)


@pytest.mark.soak
def test_a_life_is_the_same_every_time(tmp_path: Path) -> None:
    outs = []
    for name in ("one", "other"):
        folder = tmp_path / name
        out = folder.with_suffix(".json")
        words = ["--days", "4", "--ways", "none", "--cache", str(folder), "--json", str(out)]
        consolidation.main(words)
        outs.append([(f["what"], f["n"]) for f in figures(out)])

    assert outs[0] == outs[1]


@pytest.mark.soak
def test_the_tasks_are_timed_on_two_sizes(tmp_path: Path) -> None:
    out = tmp_path / "out.json"

    sizes = ["--small", "200", "--large", "400", "--embedded", "400", "--recalls", "4"]
    consolidation.main(["--speed", *sizes, "--cache", str(tmp_path), "--json", str(out)])

    found = figures(out)
    timed = {(f["part"], f["what"]) for f in found if f["unit"] == "s"}
    tasks = ("decay", "creative", "cluster", "forget")
    assert timed == {(size, task) for size in ("200", "400") for task in tasks}
    assert sum(f["part"] == "growth" for f in found) == 4
    assert sum(f["part"] == "meanwhile" for f in found) == 4
    looked = {f["what"]: f["n"] for f in found if f["part"] == "400" and f["unit"] == "s"}
    assert looked["decay"] >= 400
    assert looked["cluster"] >= 400


def test_an_unknown_way_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        consolidation.main(["--ways", "dream"])

    assert "documented" in capsys.readouterr().err
