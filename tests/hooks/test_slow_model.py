"""A model that would be late: hooks are answered by words alone, in time, and the log says so.

The model is a server of its own that a test makes slow, asked over HTTP by a real daemon.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.hooks.running import claude, client, context, variables
from tests.minds.slow_model import SlowModel
from tests.server.running import WAIT_SECONDS, Daemon, eventually, running

pytestmark = pytest.mark.timeout(90)
DEADLINE_MS = 2_000  # a busy machine answers by words within it
START_SECONDS = 3.0  # that a busy machine takes to start and to end an interpreter
KNOWN = {
    "when does the ferry to Bergen leave?": "The ferry to Bergen leaves at half past nine",
    "is Marta allergic to peanuts?": "Marta is allergic to peanuts",
    "which door has the office in Leeds?": "The office in Leeds has a green door",
    "does the apple pie need cinnamon?": "Grandmother's apple pie needs cinnamon",
    "where does the staging cluster run?": "The staging cluster runs in Frankfurt",
    "how many years are invoices kept?": "Invoices are kept for seven years",
    "which port do the metrics of Marlin use?": "The metrics of Marlin use port 7431",
    "who signs the harbour permits?": "Harbour permits are signed by Ingrid",
    "what colour is the Juniper logo?": "The Juniper logo has the colour teal",
    "who keeps the keys of the Falcon vault?": "The keys of the Falcon vault are kept by Noor",
}


@pytest.fixture(scope="module")
def model() -> Iterator[SlowModel]:
    made = SlowModel()
    yield made
    made.close()


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory, model: SlowModel) -> Iterator[Daemon]:
    with pytest.MonkeyPatch.context() as patch:
        remote = {
            "MADELEINE_EMBEDDER_KIND": "openai",
            "MADELEINE_EMBEDDER_URL": model.url,
            "MADELEINE_EMBEDDER_MODEL": "scripted",
        }
        known = variables(deadline_ms=DEADLINE_MS, nudge_interval=0)
        for name, value in {**known, **remote}.items():
            patch.setenv(name, value)
        patch.delenv("MADELEINE_HOME", raising=False)
        with running(tmp_path_factory.mktemp("home")) as started:
            for each in KNOWN.values():
                started.remember(each)
            yield started


@pytest.fixture
def slow(daemon: Daemon, model: SlowModel) -> Iterator[SlowModel]:
    """The model answers nobody until the test is over, and until then it was asked as ever."""
    eventually(lambda: not is_resting(daemon), WAIT_SECONDS)
    model.may_answer.clear()
    yield model
    model.may_answer.set()


def is_resting(daemon: Daemon) -> bool:
    status: Any = daemon.door.call("status")
    return status["embedder"]["problem"] is not None


def hear(daemon: Daemon, prompt: str, session: str) -> str:
    ran = client(daemon.home, claude(prompt, session))
    assert (ran.code, ran.err) == (0, b"")
    return context(ran.out) if ran.out else ""


def logged(daemon: Daemon, session: str) -> dict[str, Any]:
    found: Any = daemon.door.call("whisper_why", query={"session_id": session})
    return {**found["whisper"], "text": found["text"]}


@pytest.mark.few(3)
@pytest.mark.proves("I5")
@pytest.mark.parametrize("prompt", KNOWN)
def test_words_answer_in_time_when_the_model_would_be_late(
    daemon: Daemon, slow: SlowModel, prompt: str
) -> None:
    began = time.monotonic()
    said = hear(daemon, prompt, f"slow {prompt}")
    took = time.monotonic() - began

    assert KNOWN[prompt] in said, daemon.door.call("whisper_why")["text"]
    assert took < DEADLINE_MS / 1000 + START_SECONDS
    entry = logged(daemon, f"slow {prompt}")
    assert entry["without_model"] == "by words alone: the model was late"
    assert "Decided by words alone: the model was late." in entry["text"]


def test_a_model_that_answers_in_time_is_heard_and_nothing_is_said_about_it(
    daemon: Daemon, model: SlowModel
) -> None:
    said = hear(daemon, "is Marta allergic to peanuts?", "quick model")

    entry = logged(daemon, "quick model")
    assert "peanuts" in said
    assert entry["without_model"] is None
    assert "words alone" not in entry["text"]


def test_the_page_says_that_words_alone_decided(daemon: Daemon, slow: SlowModel) -> None:
    hear(daemon, "does the apple pie need cinnamon?", "on the page")

    lines: Any = daemon.door.call("page_whispers")["whispers"]
    line = next(each for each in lines if each["session"] == "on the page")
    assert line["without_model"] == "by words alone: the model was late"


@pytest.mark.soak
@pytest.mark.proves("I5")
def test_many_prompts_at_once_do_not_queue_for_a_model_that_hangs(
    daemon: Daemon, slow: SlowModel
) -> None:
    """Of a model that answers nobody, only so many threads wait."""

    def ask(number: int) -> tuple[int, bytes]:
        body = {"prompt": list(KNOWN)[number % len(KNOWN)], "session_id": f"many {number}"}
        answer = daemon.ask("POST", "/hook/inject", raw=json.dumps(body).encode(), host="claude")
        return answer.status, json.dumps(answer.body).encode()

    before = slow.asked
    for _ in range(3):
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(ask_or_nothing, [lambda n=n: ask(n) for n in range(8)]))
        assert {status for status, _ in answers} == {200}

    assert slow.asked - before <= 8 + 8


def ask_or_nothing(ask: Any) -> tuple[int, bytes]:
    """Return an answer; silence is an empty body, which is no JSON."""
    try:
        return tuple(ask())
    except json.JSONDecodeError:
        return 200, b""


@pytest.mark.proves("I5")
def test_a_model_known_to_hang_is_not_waited_for_and_the_whisper_says_so(
    daemon: Daemon, slow: SlowModel
) -> None:
    hear(daemon, "who keeps the keys of the Falcon vault?", "first to wait")
    eventually(lambda: is_resting(daemon), WAIT_SECONDS)

    assert "Noor" in hear(daemon, "who keeps the keys of the Falcon vault?", "not waiting")

    entry = logged(daemon, "not waiting")
    assert entry["without_model"].startswith("by words alone: remote:scripted: no answer within")
    assert entry["took_ms"] < DEADLINE_MS / 2


def test_after_the_model_is_back_it_is_heard_again(daemon: Daemon, model: SlowModel) -> None:
    model.may_answer.clear()
    assert hear(daemon, "who signs the harbour permits?", "away")
    model.may_answer.set()

    def is_heard() -> bool:
        session = f"back {time.monotonic()}"
        hear(daemon, "who signs the harbour permits?", session)
        return logged(daemon, session)["without_model"] is None

    eventually(is_heard, WAIT_SECONDS)
