"""What the answer to taking in tells: what waits, what could not be read, what was wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from madeleine import Madeleine
from madeleine.api.ingest_operations import _require_exactly_one
from madeleine.errors import InvalidValue, Rejected
from tests.ingest.writing import a_line, an_answer


def flood(path: Path, count: int) -> Path:
    with path.open("ab") as file:
        for number in range(count):
            file.write(a_line(f"What is the story of barrel number {number} in the cellar?"))
            file.write(an_answer(f"Barrel {number} was filled in the year {1800 + number}."))
    return path


@pytest.mark.soak
def test_what_waits_at_the_gate_is_told_each_time_and_in_status(tmp_path: Path) -> None:
    path = flood(tmp_path / "s.jsonl", 120)
    for _ in range(2):
        with Madeleine.open(tmp_path / "home") as m:
            answer = m.ingest(path)
            assert answer.held_back == 40
            assert "40 more wait in the transcript" in answer.notes
            assert "worth" not in answer.text
            assert str(path) in str(m.status())


def test_lines_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    path = flood(tmp_path / "s.jsonl", 1)
    with path.open("ab") as file:
        file.write(a_line("Never push to main").replace(b"main", b"m\xff\xfen"))

    with Madeleine.open(tmp_path / "home") as m:
        assert "lines that could not be read: 1" in m.ingest(path).notes


@pytest.mark.parametrize("role", ["robot", "u", "Mallory"])
def test_a_role_that_nobody_knows_is_refused(tmp_path: Path, role: str) -> None:
    with Madeleine.open(tmp_path / "home") as m, pytest.raises(Rejected, match="role"):
        m.ingest([{"role": role, "content": "Never push to main"}])


def test_a_text_and_messages_at_once_are_refused_for_what_they_are() -> None:
    with pytest.raises(InvalidValue, match="exclude each other"):
        _require_exactly_one("x", [], "messages")
    with pytest.raises(InvalidValue, match="must be given"):
        _require_exactly_one(None, None, "messages")
