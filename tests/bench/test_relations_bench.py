"""`madeleine bench relations`: what its figures mean, and that it runs."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from madeleine.model.memory import Memory, Origin
from madeleine.model.verdict import MemoryPair, Relation, Verdict
from tests.bench.test_recall_bench import bench

everyday_set: Any = bench("_everyday_set")
judging: Any = bench("_everyday_pairs")
relating: Any = bench("_relation_figures")
program: Any = bench("relations")

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
PAIRS = everyday_set.read_pairs("dev")


def judged(place: int, label: str, relation: Relation, sure: float, *texts: str) -> Any:
    labelled = replace(PAIRS[place], label=label)
    older, newer = texts or (f"Note {place} says this.", "Another one says something else.")
    pair = MemoryPair(memory(2 * place, older), memory(2 * place + 1, newer), 0.7)
    return judging.JudgedPair(labelled, pair, Verdict(relation, sure, "so it reads"))


def memory(number: int, text: str) -> Memory:
    return Memory(f"{number:032x}", text, NOON, NOON, origin=Origin())


def figures(found: Any) -> dict[str, float]:
    return {f"{each.part}: {each.what}": each.value for each in found}


def test_what_is_said_surely_is_held_against_how_often_it_is_right() -> None:
    said = [("same", "same", 0.95)] * 3 + [("same", "update", 0.93), ("update", "same", 0.6)]

    found = figures(relating.reliability("reader", said))

    assert found["reader: said with 0.9 to 1.0: right"] == 0.75
    assert found["reader: said with 0.5 to 0.7: right"] == 0
    assert len(found) == 2


def test_a_merge_needs_sureness_and_nothing_that_tells_the_two_apart() -> None:
    told_apart = ("Vera owns 3 services", "Vera owns 4 services")
    rows = [
        judged(0, "same", Relation.DUPLICATE, 0.98, "Chose SQLite for Ormah", "Ormah uses SQLite"),
        judged(1, "same", Relation.DUPLICATE, 0.98, *told_apart),
        judged(2, "same", Relation.DUPLICATE, 0.7, "Chose tea for Ana", "Ana gets tea"),
        judged(3, "update", Relation.DUPLICATE, 0.7),
    ]

    found = figures(relating.night_figures(rows))

    assert found["judge: merged unasked: right"] == 1
    assert found["judge: merged unasked: of all"] == pytest.approx(1 / 3)
    assert found["judge: merged or asked about: right"] == 0.75
    assert found["judge: merged or asked about: of all"] == 1
    assert found["judge: different ones merged"] == 0


def test_only_a_told_change_is_retired_unasked() -> None:
    told = ("We use Celery for background jobs", "Switched background jobs from Celery to Arq")
    rows = [
        judged(0, "update", Relation.EVOLUTION, 0.95, *told),
        judged(1, "update", Relation.EVOLUTION, 0.99, "Prefers tea", "Prefers coffee"),
        judged(2, "contradiction", Relation.EVOLUTION, 0.65),
        judged(3, "update", Relation.EVOLUTION, 0.5),
    ]

    found = figures(relating.night_figures(rows))

    assert found["judge: retired unasked: right"] == 1
    assert found["judge: retired unasked: of all"] == pytest.approx(1 / 3)
    assert found["judge: retired or asked about: right"] == pytest.approx(2 / 3)
    assert found["judge: retired or asked about: of all"] == pytest.approx(2 / 3)


def test_every_part_runs_on_some_pairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(program, "read_pairs", lambda split: PAIRS[:40])

    program.main(["--cache", str(tmp_path), "--json"])

    told = json.loads(capsys.readouterr().out)
    assert (told["benchmark"], told["split"]) == ("relations", "dev")
    assert {each["part"] for each in told["figures"]} == set(program.PARTS)


def test_a_part_that_there_is_not_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        program.main(["--only", "moods"])

    assert "there is no part 'moods'" in capsys.readouterr().err
