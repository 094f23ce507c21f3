"""`madeleine bench scale`: the same memory on two engines, and many memories in one database."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests import postgres
from tests.bench.test_recall_bench import bench

scale: Any = bench("scale")
pytestmark = [
    pytest.mark.soak,
    pytest.mark.timeout(180),
]  # homes and databases are made; a busy machine takes its time


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    monkeypatch.delenv("MADELEINE_HOME", raising=False)


def figures(folder: Path, *words: str) -> list[dict[str, Any]]:
    out = folder / "out.json"
    url = ("--url", postgres.server().url)
    scale.main([*words, *url, "--asked", "3", "--cache", str(folder / "cache"), "--json", str(out)])
    return list(json.loads(out.read_text(encoding="utf-8"))["figures"])


def test_both_engines_are_asked_and_one_is_grown(tmp_path: Path) -> None:
    sizes = ("--size", "200", "--embedded", "20", "--grow", "1000")

    found = {
        (each["part"], each["what"]): each["value"]
        for each in figures(tmp_path, "--only", "recall", *sizes)
    }

    assert found["recall 200", "postgres against sqlite"] > 0
    assert found["recall 1,000", "postgres against its 200"] > 0
    assert found["recall 200", "postgres: hit@5 of paraphrases"] >= 0


def test_a_memory_among_others_is_asked_in_turns_with_one_that_is_alone(tmp_path: Path) -> None:
    found = figures(tmp_path, "--only", "tenants", "--tenants", "4", "--each", "200")

    assert found[-1]["what"] == "recall of one against a single one"
    assert found[-1]["value"] > 0


def test_all_tasks_are_timed_on_both(tmp_path: Path) -> None:
    found = figures(tmp_path, "--only", "consolidation", "--size", "200", "--embedded", "20")

    assert {each["what"] for each in found} == {"decay", "creative", "cluster", "forget"}
