"""The fuzzer finds what it looks for, and a short run of it finds nothing here."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.attack import fuzz as fuzzing
from tests.attack.fuzz import Worker, fuzz
from tests.attack.mutations import MAX_BYTES, mutate
from tests.attack.targets import TARGETS, Target
from tests.attack.worker import try_input

QUICK = ("notes", "settings", "journal", "transcripts", "hooks", "requests")


@pytest.mark.parametrize("target", QUICK)
def test_changed_inputs_are_refused_or_read(target: str) -> None:
    aimed, dice = TARGETS[target], random.Random(target)
    tried = [*aimed.seeds, *(mutate(aimed.seeds, aimed.tokens, dice) for _ in range(60))]

    faults = [told["fault"] for data in tried if (told := try_input(aimed.read, data))["fault"]]

    assert faults == []


def test_what_is_a_fault_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TARGETS, "test-raises", Target(len, (b"seed",)))

    report = fuzz("test-raises", 0.0, 3, tmp_path, lambda line: None)

    assert report.inputs == 1
    assert "ZeroDivisionError" in report.faults[0]
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [b"seed"]


def test_the_same_seed_makes_the_same_inputs() -> None:
    one, other = random.Random("a"), random.Random("a")
    aimed = TARGETS["notes"]

    made = [mutate(aimed.seeds, aimed.tokens, one) for _ in range(50)]

    assert made == [mutate(aimed.seeds, aimed.tokens, other) for _ in range(50)]
    assert len(set(made)) > 40
    assert max(map(len, made)) <= MAX_BYTES


@pytest.mark.parametrize(
    ("target", "data", "told"),
    [
        ("test-raises", b"x", "ZeroDivisionError"),
        ("test-ends", b"x", "ended the process"),
        ("test-hangs", b"x", "took more than"),
        ("test-fine", b"x", ""),
    ],
)
def test_a_fault_is_told_and_the_next_input_is_read(
    monkeypatch: pytest.MonkeyPatch, target: str, data: bytes, told: str
) -> None:
    monkeypatch.setattr(fuzzing, "INPUT_SECONDS", 0.5)
    worker = Worker(target)
    try:
        assert told in worker.try_input(data)["fault"]
        assert bool(worker.try_input(data)["fault"]) == bool(told)
    finally:
        worker.end()


def test_work_that_grows_faster_than_its_input_is_a_fault(tmp_path: Path) -> None:
    worker = Worker("test-squares")
    try:
        fault = fuzzing._find_growth(worker, b"x" * 2_000, 1.0)
    finally:
        worker.end()

    assert "grows faster" in fault
