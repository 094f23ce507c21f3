"""The breaker in front of a remote model: whoever asks one that hangs waits once, and briefly."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from madeleine.errors import MindDown
from madeleine.minds import breaker
from madeleine.minds.breaker import GuardedEmbedder
from madeleine.minds.remote import RemoteEmbedder
from tests.minds.reading import passage
from tests.minds.slow_model import SlowModel
from tests.server.running import WAIT_SECONDS, eventually

PATIENCE = 0.3
AT_ONCE = 0.1


@pytest.fixture
def model() -> Iterator[SlowModel]:
    made = SlowModel()
    yield made
    made.close()


@pytest.fixture
def ending() -> threading.Event:
    return threading.Event()


@pytest.fixture
def guarded(
    model: SlowModel, ending: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> Iterator[GuardedEmbedder]:
    for name in ("ASK_SECONDS", "FIRST_SECONDS"):
        monkeypatch.setattr(breaker, name, PATIENCE)
    monkeypatch.setattr(breaker, "FIRST_PAUSE_SECONDS", 0.05)
    yield GuardedEmbedder(RemoteEmbedder(model.url, "scripted", "", WAIT_SECONDS), 20, ending)
    ending.set()


def seconds_until_refused(guarded: GuardedEmbedder) -> float:
    began = time.monotonic()
    with pytest.raises(MindDown):
        guarded.ask("is anybody there?")
    return time.monotonic() - began


def test_only_the_first_question_waits_for_a_model_that_hangs(
    guarded: GuardedEmbedder, model: SlowModel
) -> None:
    model.may_answer.clear()

    assert seconds_until_refused(guarded) >= PATIENCE
    assert max(seconds_until_refused(guarded) for _ in range(20)) < AT_ONCE
    assert "no answer within 0.3 seconds" in guarded.problem


def test_hundreds_who_ask_a_model_that_hangs_send_it_two_requests(
    guarded: GuardedEmbedder, model: SlowModel
) -> None:
    model.may_answer.clear()

    for _ in range(300):
        seconds_until_refused(guarded)

    assert model.asked <= 2  # the question and a probe


def test_a_model_that_answers_again_is_asked_again(
    guarded: GuardedEmbedder, model: SlowModel
) -> None:
    model.may_answer.clear()
    seconds_until_refused(guarded)
    model.may_answer.set()

    eventually(lambda: not guarded.problem, WAIT_SECONDS)

    assert len(guarded.ask("is anybody there?").vector) == guarded.dimension


def test_one_text_that_a_model_refuses_keeps_no_other_from_being_read(
    guarded: GuardedEmbedder, model: SlowModel
) -> None:
    model.refuses = "poison"
    with pytest.raises(MindDown, match="400"):
        guarded.read([passage("poison")])

    eventually(lambda: not guarded.problem, WAIT_SECONDS)

    assert len(guarded.read([passage("harmless")])) == 1


def test_a_long_work_is_not_begun_with_a_model_that_does_not_answer_a_word(
    guarded: GuardedEmbedder, model: SlowModel
) -> None:
    model.may_answer.clear()
    began = time.monotonic()

    with pytest.raises(MindDown):
        guarded.read([passage(f"text {number}") for number in range(64)])

    assert time.monotonic() - began < PATIENCE + 1


def test_a_long_text_is_waited_for_longer_than_a_question(
    guarded: GuardedEmbedder, model: SlowModel
) -> None:
    guarded.ask("a word")
    model.may_answer.clear()
    threading.Timer(2 * PATIENCE, model.may_answer.set).start()

    assert len(guarded.read([passage("one"), passage("two")])) == 2


def test_nobody_waits_for_a_model_once_the_process_is_to_end(
    guarded: GuardedEmbedder, model: SlowModel, ending: threading.Event
) -> None:
    guarded.ask("a word")
    model.may_answer.clear()
    threading.Timer(0.1, ending.set).start()
    began = time.monotonic()

    with pytest.raises(MindDown, match="ending"):
        guarded.read([passage(f"text {number}") for number in range(15)])

    assert time.monotonic() - began < 5
