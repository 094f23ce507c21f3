"""More prompts at once than can be looked up: some by words alone, the others not at all."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

import pytest

from madeleine.language.deeds import read_action
from madeleine.model.cause import MissingModel, WhisperSilence
from madeleine.whisper.capacity import (
    FULL_SHARE,
    LEFT_SHARE,
    WORDS_SHARE,
    LookupEffort,
    WhisperCapacity,
)
from madeleine.whisper.deed import DeedRequest, speak_before_deed
from madeleine.whisper.values import Prompt, WhisperResult
from madeleine.whisper.whisper import whisper
from tests.whisper.listening import Listener

DEADLINE = 4.0  # a window for one that waits that a busy machine does not miss
FERRY = "when does the ferry to Bergen leave?"


@contextmanager
def all_taken(capacity: WhisperCapacity, until: float | None = None) -> Iterator[None]:
    """Hold every turn, or give one back after so many seconds."""
    with ExitStack() as held:
        turns = [held.enter_context(ExitStack()) for _ in range(capacity.at_once)]
        for each in turns:
            each.enter_context(capacity.take_turn(None, DEADLINE))
        if until is not None:
            timer = threading.Timer(until, turns[0].close)
            timer.start()
            held.callback(timer.cancel)
        yield


def ask(listener: Listener, text: str = FERRY) -> WhisperResult:
    """Be whispered to as a hook is, with a deadline."""
    config = replace(listener.config, deadline_ms=int(DEADLINE * 1000))
    prompt = Prompt(text, due=time.monotonic() + DEADLINE)
    return whisper(listener.stores, config, listener.whisperer, prompt)


def effort(capacity: WhisperCapacity, deadline: float = DEADLINE) -> LookupEffort:
    with capacity.take_turn(time.monotonic() + deadline, deadline) as found:
        return found


def test_a_prompt_whose_turn_comes_at_once_is_looked_up_in_full() -> None:
    assert effort(WhisperCapacity(1)) is LookupEffort.FULL


def test_one_that_waited_for_a_while_is_looked_up_by_words() -> None:
    capacity = WhisperCapacity(1)

    with all_taken(capacity, until=(FULL_SHARE + WORDS_SHARE) / 2 * DEADLINE):
        assert effort(capacity) is LookupEffort.WORDS


@pytest.mark.proves("I5")
def test_one_whose_turn_does_not_come_is_turned_away_long_before_its_deadline() -> None:
    capacity = WhisperCapacity(2)

    with all_taken(capacity):
        began = time.monotonic()
        assert effort(capacity, 0.1) is LookupEffort.NONE
    assert time.monotonic() - began < DEADLINE  # of a busy machine


def test_whoever_has_no_deadline_waits_and_is_looked_up_in_full() -> None:
    capacity = WhisperCapacity(1)

    with all_taken(capacity, until=0.05), capacity.take_turn(None, DEADLINE) as found:
        assert found is LookupEffort.FULL


def test_one_that_comes_shortly_before_its_deadline_is_not_begun() -> None:
    capacity = WhisperCapacity(1)

    with capacity.take_turn(time.monotonic() + LEFT_SHARE * DEADLINE, DEADLINE) as found:
        assert found is LookupEffort.NONE


def test_a_turn_is_given_back_also_after_an_error() -> None:
    capacity = WhisperCapacity(1)

    for _ in range(3):
        with pytest.raises(ValueError, match="no"), capacity.take_turn(None, DEADLINE):
            raise ValueError("no")

    assert effort(capacity) is LookupEffort.FULL


def test_a_whisper_among_too_many_says_so_by_its_silence(listener: Listener) -> None:
    with all_taken(listener.whisperer.capacity):
        said = ask(listener)

    assert said.silence is not None
    assert said.silence.kind is WhisperSilence.TOO_BUSY


def test_a_whisper_that_waited_is_by_words_alone_and_says_so(listener: Listener) -> None:
    with all_taken(listener.whisperer.capacity, until=(FULL_SHARE + WORDS_SHARE) / 2 * DEADLINE):
        said = ask(listener)

    assert said.without_model is MissingModel.BUSY
    assert said.explained["without_model"] == "by words alone: too many prompts at once"
    assert "ferry" in said.text
    assert ask(listener, "is Marta allergic to peanuts?").without_model is None


def test_a_deed_among_too_many_is_looked_up_the_next_time(listener: Listener) -> None:
    request = DeedRequest(
        deed=read_action("edit the timetable of the ferry to Bergen", None),
        session_id="deeds",
        due=time.monotonic() + 60,
    )

    def speak() -> WhisperSilence | None:
        word = speak_before_deed(listener.stores, listener.config, listener.whisperer, request)
        return None if word.silence is None else WhisperSilence(word.silence.kind)

    with all_taken(listener.whisperer.capacity):
        assert speak() is WhisperSilence.TOO_BUSY

    assert speak() not in (WhisperSilence.TOO_BUSY, WhisperSilence.TOLD_BEFORE)
