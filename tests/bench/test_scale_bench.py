"""`madeleine bench scale`: the same memory on two engines, and many memories in one database."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests import postgres
from tests.bench.test_recall_bench import bench

scale: Any = bench("scale")
engines: Any = bench("_scale_engines")
growth: Any = bench("_scale_growth")
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


def test_the_graph_of_vectors_is_there_again_in_every_piece_once_a_memory_is_grown() -> None:
    server = engines.Databases(postgres.server().url)
    with server.made() as url, server.connect(url) as connection:
        for sql in (
            "CREATE SCHEMA madeleine",
            "SET search_path = madeleine, public",
            "CREATE TABLE passages (tenant int, vector halfvec(3)) PARTITION BY HASH (tenant)",
            "CREATE TABLE passages_0 PARTITION OF passages"
            " FOR VALUES WITH (MODULUS 1, REMAINDER 0)",
            "CREATE INDEX passages_near_3 ON passages USING hnsw (vector halfvec_cosine_ops)",
        ):
            connection.execute(sql)

        growth._without_graphs(connection, lambda: None)

        valid = """SELECT count(*) FROM pg_index WHERE indisvalid
                   AND indrelid IN ('passages'::regclass, 'passages_0'::regclass)"""
        assert connection.execute(valid).fetchone()[0] == 2


def test_a_memory_among_others_is_asked_in_turns_with_one_that_is_alone(tmp_path: Path) -> None:
    found = figures(tmp_path, "--only", "tenants", "--tenants", "4", "--each", "200")

    assert found[-1]["what"] == "recall of one against a single one"
    assert found[-1]["value"] > 0


def test_all_tasks_are_timed_on_both(tmp_path: Path) -> None:
    found = figures(tmp_path, "--only", "consolidation", "--size", "200", "--embedded", "20")

    assert {each["what"] for each in found} == {"decay", "creative", "cluster", "forget"}
