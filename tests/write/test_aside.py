"""Work beside the caller's: in order, waited for when it matters, and never lost."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest

from madeleine import Madeleine
from madeleine.errors import StoreUnwritable
from madeleine.index.search import WordMatches
from madeleine.model.query import RecallQuery
from madeleine.recall.recall import recall
from madeleine.write.executor import InlineExecutor, ThreadExecutor
from madeleine.write.record_use import record_use
from madeleine.write.stores import Stores
from tests.fakes import close, make_stores
from tests.sentences import in_words

T = TypeVar("T")


def _append(done: list[T], value: T) -> None:
    done.append(value)


def test_what_is_to_be_done_later_is_done_in_order_and_waited_for() -> None:
    aside, done = ThreadExecutor(), list[int]()
    gate = threading.Event()

    aside.submit(lambda: None if gate.wait(10) else "too late")
    for number in range(20):
        aside.submit(partial(_append, done, number))
    before = list(done)
    gate.set()
    aside.wait()

    assert before == []
    assert done == list(range(20))
    assert aside.take_problem() is None
    aside.close()


@pytest.mark.parametrize("aside", [InlineExecutor(), ThreadExecutor()])
def test_what_went_wrong_is_told_once(aside: InlineExecutor | ThreadExecutor) -> None:
    aside.submit(lambda: "the disk is full")
    aside.wait()

    assert (aside.take_problem(), aside.take_problem()) == ("the disk is full", None)
    aside.close()


def test_closing_finishes_what_was_begun() -> None:
    aside, done = ThreadExecutor(), list[str]()
    aside.submit(partial(_append, done, "use"))

    aside.close()

    assert done == ["use"]


def test_a_use_is_counted_for_whoever_asks_next_and_for_the_next_process(tmp_path: Path) -> None:
    with Madeleine.open(tmp_path, in_process=True) as opened:
        memory = opened.remember("The kettle is in the pantry")
        opened.recall("where is the kettle?")
        seen = opened.list()[0].access_count
    with Madeleine.open(tmp_path, in_process=True) as opened:
        kept = opened.list()[0]

    assert (seen, kept.id, kept.access_count) == (1, memory.id, 1)


def test_words_are_looked_up_while_the_model_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores = replace(make_stores(tmp_path / "home"), executor=ThreadExecutor())
    embedder = stores.minds.embedder
    assert embedder is not None
    looked_up, ask, matching = threading.Event(), embedder.ask, stores.search.matching

    def seen(words: list[str]) -> WordMatches:
        looked_up.set()
        return matching(words)

    def slow(text: str) -> object:
        assert looked_up.wait(10), "the words waited for the model"
        return ask(text)

    monkeypatch.setattr(type(stores.search), "matching", lambda _, words: seen(words))
    monkeypatch.setattr(type(embedder), "ask", lambda _, text: slow(text))

    assert in_words(recall(stores, RecallQuery("where is the kettle?")).silence) == "no memory yet"
    stores.executor.close()
    close(stores)


def test_a_use_that_the_disk_refuses_is_said_the_next_time(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise StoreUnwritable(Path("journal"), "No space left on device")

    monkeypatch.setattr(type(stores.journal), "append", refuse)
    known = ["00000000-0000-4000-8000-000000000001"]

    notes = record_use(stores, known, "recalled")

    assert [each[:23] for each in in_words(notes)] == ["this use was not noted:"]
