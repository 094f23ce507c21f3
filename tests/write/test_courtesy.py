"""Whoever is waited for goes first, and whoever has time still gets on."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from madeleine.api.call import OperationCall
from madeleine.api.operations import perform_operation
from madeleine.bootstrap import open_home
from madeleine.index.search import no_pause
from madeleine.write import priority_gate
from madeleine.write.priority_gate import PriorityGate

LONG = 30.0


class Noting(PriorityGate):
    """Notes how often somebody gave way, and how often somebody was waited for."""

    def __init__(self) -> None:
        super().__init__()
        self.gave_way = 0
        self.waits = 0

    @contextmanager
    def waited_for(self) -> Iterator[None]:
        self.waits += 1
        with super().waited_for():
            yield

    def give_way(self) -> None:
        self.gave_way += 1
        super().give_way()


def test_nobody_stands_still_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(priority_gate, "MAX_WAIT_SECONDS", LONG)
    began = time.monotonic()
    manners = PriorityGate()
    with manners.waited_for():
        pass
    manners.give_way()
    assert time.monotonic() - began < LONG / 2


def test_it_stands_still_until_the_last_who_is_waited_for_is_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(priority_gate, "MAX_WAIT_SECONDS", LONG)
    manners, over = PriorityGate(), threading.Event()

    def has_time() -> None:
        manners.give_way()
        over.set()

    with manners.waited_for():
        with manners.waited_for():
            thread = threading.Thread(target=has_time)
            thread.start()
        assert not over.wait(0.05), "one of the two was still waited for"
    assert over.wait(LONG / 2)
    thread.join()


def test_under_a_load_without_end_it_goes_on_after_a_moment() -> None:
    manners = PriorityGate()
    with manners.waited_for():
        began = time.monotonic()
        manners.give_way()
        assert priority_gate.MAX_WAIT_SECONDS * 0.5 <= time.monotonic() - began < LONG / 2


def test_a_question_is_waited_for_and_a_job_gives_way_between_portions(tmp_path: Path) -> None:
    context = open_home(tmp_path / "home")
    noting = Noting()
    context.stores = replace(context.stores, priority_gate=noting)
    context.__post_init__()
    try:
        perform_operation(
            context, "remember", OperationCall(body={"content": "The pump stands in the cellar."})
        )
        perform_operation(context, "recall", OperationCall(body={"query": "pump"}))
        assert noting.waits == 2
        asked = context.sleeper.ask(["decay"])
        context.sleeper.wait(asked)
        assert asked.reports[0].error is None
        assert noting.gave_way >= 2, "while reading, and between pages"
        assert noting.waits == 2, "for a job nobody stands still"
    finally:
        context.close()


def test_long_reads_tell_between_their_portions(tmp_path: Path) -> None:
    context = open_home(tmp_path / "home")
    try:
        for number in range(3):
            perform_operation(
                context,
                "remember",
                OperationCall(body={"content": f"Note {number} about the pump."}),
            )
        told: list[int] = []
        whole = context.stores.search.standings(lambda: told.append(1))
        assert told
        assert whole.ids == context.stores.search.standings(no_pause).ids
    finally:
        context.close()
