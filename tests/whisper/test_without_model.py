"""A model that is absent, or goes down at any moment: words still whisper, or there is silence."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from madeleine.errors import MindDown
from madeleine.language.intent import INTENT_EXAMPLES, Intent
from madeleine.minds.cache import CachedEmbedder, EmbeddingCache
from madeleine.minds.fake import FakeEmbedder
from madeleine.minds.port import Minds
from madeleine.model.embedding import Passage, PassageEmbedding, QueryEmbedding
from madeleine.whisper.learning import give_feedback
from madeleine.write.stores import Stores
from tests.fakes import close, keep, make_stores
from tests.whisper.listening import Listener, contents

FERRY = "The ferry to Bergen leaves at half past nine"
WORD_FOR_WORD = "the ferry to Bergen leaves at half past nine"


class Fickle(FakeEmbedder):
    """The fake model, which may stop reading, or answering at all."""

    reads = True
    asks = True

    def __init__(self) -> None:
        super().__init__()
        self.tried = 0
        self.reading, self.may_read = threading.Event(), threading.Event()
        self.may_read.set()

    def read(self, passages: Sequence[Passage]) -> list[PassageEmbedding]:
        if passages[0].text == INTENT_EXAMPLES[Intent.CONVERSATIONAL][0]:
            self.tried += 1
            self.reading.set()
            assert self.may_read.wait(10)
        if not self.reads:
            raise MindDown(self.name, "gone for a walk")
        return super().read(passages)

    def ask(self, text: str) -> QueryEmbedding:
        if not self.asks:
            raise MindDown(self.name, "gone for a walk")
        return super().ask(text)


@pytest.fixture
def fickle() -> Fickle:
    return Fickle()


@pytest.fixture
def listener(stores: Stores, fickle: Fickle, tmp_path: Path) -> Listener:
    cache = EmbeddingCache.open(tmp_path / "fickle.db")
    with_it = replace(stores, minds=Minds(CachedEmbedder(fickle, cache)))
    for each in (FERRY, "Marta is allergic to peanuts", "The office has a green door"):
        keep(with_it, each)
    return Listener(with_it)


def test_without_a_model_words_whisper(tmp_path: Path) -> None:
    stores = make_stores(tmp_path / "home", with_model=False)
    for each in (FERRY, "Marta is allergic to peanuts", "The office has a green door"):
        keep(stores, each)
    listener = Listener(stores)

    assert contents(listener.hears(WORD_FOR_WORD, "s")) == [FERRY]
    assert listener.hears("please refactor the parser", "s").text == ""
    assert listener.hears("ok great, thanks!", "s").stage == "conversation"
    close(stores)


def test_a_model_that_goes_down_leaves_words(listener: Listener, fickle: Fickle) -> None:
    fickle.reads = fickle.asks = False

    assert contents(listener.hears(WORD_FOR_WORD, "s")) == [FERRY]
    assert listener.hears("please refactor the parser", "s").text == ""


def test_a_model_that_comes_back_is_asked_again(listener: Listener, fickle: Fickle) -> None:
    fickle.reads = fickle.asks = False
    listener.hears(WORD_FOR_WORD)
    assert listener.whisperer.examples.of(listener.stores) == {}
    fickle.reads = fickle.asks = True
    listener.clock.pass_by(seconds=6)

    assert set(listener.whisperer.examples.of(listener.stores)) == set(INTENT_EXAMPLES)


def test_a_model_that_is_down_is_left_alone_and_longer_each_time(
    listener: Listener, fickle: Fickle
) -> None:
    fickle.reads = False
    for _ in range(10):
        listener.hears(WORD_FOR_WORD)
    at_once = fickle.tried
    listener.clock.pass_by(seconds=6)
    for _ in range(10):
        listener.hears(WORD_FOR_WORD)
    after_a_while = fickle.tried
    listener.clock.pass_by(seconds=6)
    listener.hears(WORD_FOR_WORD)

    assert (at_once, after_a_while, fickle.tried) == (1, 2, 2)


def test_nobody_waits_while_the_model_reads_the_examples(
    listener: Listener, fickle: Fickle
) -> None:
    fickle.may_read.clear()
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(listener.hears, WORD_FOR_WORD)
        assert fickle.reading.wait(10)

        meanwhile = listener.hears(WORD_FOR_WORD)

        assert contents(meanwhile) == [FERRY]
        assert not slow.done()
        fickle.may_read.set()
        assert contents(slow.result(10)) == [FERRY]


def test_a_model_that_goes_down_between_two_questions_costs_only_the_feedback(
    listener: Listener, fickle: Fickle, tmp_path: Path
) -> None:
    """It read the prompt, and is gone when it is to read what earlier prompts were."""
    first = listener.hears(WORD_FOR_WORD)
    give_feedback(listener.stores, first.injected[0].memory.id, 1, "explicit", first.whisper_id)
    fickle.reads = False

    again = listener.hears(WORD_FOR_WORD)

    assert contents(again) == [FERRY]
    assert again.injected[0].score == first.injected[0].score
