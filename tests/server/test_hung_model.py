"""A daemon whose remote model hangs starts, answers by words, keeps what it is told and ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.minds.slow_model import SlowModel
from tests.server.running import WAIT_SECONDS, Daemon, eventually, running

BUSY_SECONDS = 2.0  # that a busy machine takes beside what is waited for
RECALL_SECONDS = 2.0
STOP_SECONDS = 5.0


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowModel]:
    made = SlowModel()
    given = {"KIND": "openai", "URL": made.url, "MODEL": "scripted"}
    for name, value in given.items():
        monkeypatch.setenv(f"MADELEINE_EMBEDDER_{name}", value)
    yield made
    made.close()


@pytest.fixture
def daemon(tmp_path: Path, model: SlowModel) -> Iterator[Daemon]:
    with running(tmp_path / "home") as started:
        started.remember("The ferry to Bergen leaves at half past nine")
        yield started


def seconds_of_recall(daemon: Daemon) -> float:
    began = time.monotonic()
    answer = daemon.ok("POST", "/agent/recall", {"query": "when does the ferry to Bergen leave?"})
    took = time.monotonic() - began
    assert [each["memory"]["title"] for each in answer["results"]], answer
    assert any("no answer within 2 seconds" in note for note in answer["notes"]), answer["notes"]
    return took


def test_recall_waits_two_seconds_once_and_says_that_words_answered(
    daemon: Daemon, model: SlowModel
) -> None:
    model.may_answer.clear()

    assert seconds_of_recall(daemon) < RECALL_SECONDS + BUSY_SECONDS
    assert seconds_of_recall(daemon) < RECALL_SECONDS
    assert "no answer" in daemon.ok("GET", "/admin/status")["embedder"]["problem"]


def test_what_is_remembered_meanwhile_gets_its_vector_when_the_model_is_back(
    daemon: Daemon, model: SlowModel
) -> None:
    model.may_answer.clear()
    seconds_of_recall(daemon)

    began = time.monotonic()
    daemon.remember("The harbour office closes at noon")
    assert time.monotonic() - began < BUSY_SECONDS
    assert daemon.ok("GET", "/admin/status")["embedder"]["unembedded"] == 1

    model.may_answer.set()
    eventually(
        lambda: not daemon.ok("GET", "/admin/status")["embedder"]["unembedded"], WAIT_SECONDS
    )


def test_a_daemon_ends_within_five_seconds_whoever_waits_for_the_model(
    daemon: Daemon, model: SlowModel
) -> None:
    model.may_answer.clear()
    before = model.asked
    texts = [f"The archive box number {number} holds letters" for number in range(30)]
    waiting = threading.Thread(
        target=daemon.ask,
        args=("POST", "/agent/remember/batch", {"items": [{"content": each} for each in texts]}),
    )
    waiting.start()
    eventually(lambda: model.asked > before, WAIT_SECONDS)

    began = time.monotonic()
    assert daemon.end() == 0
    assert time.monotonic() - began < STOP_SECONDS + BUSY_SECONDS
    waiting.join(WAIT_SECONDS)


@pytest.mark.parametrize("known", [True, False])
def test_a_daemon_starts_though_the_model_hangs(
    tmp_path: Path, model: SlowModel, known: bool
) -> None:
    """Also one that has never met its model, and one that finds files which nothing has read."""
    home = tmp_path / "home"
    if known:
        with running(home) as before:
            before.remember("The ferry to Bergen leaves at half past nine")
    for number in range(100):
        home.joinpath("vault").mkdir(parents=True, exist_ok=True)
        (home / "vault" / f"note-{number}.md").write_text(
            f"Box {number} holds old letters\n", "utf-8"
        )
    model.may_answer.clear()

    began = time.monotonic()
    with running(home) as daemon:
        took = time.monotonic() - began
        assert daemon.recall("box letters")
    assert took < 1.0 + 3 * BUSY_SECONDS
