"""The second look before a whisper: taken for all but questions about the asker alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from madeleine.minds.port import Minds
from madeleine.model.words import ABOUT_SELF
from madeleine.write.config import RerankerConfig
from madeleine.write.identity import ensure_self
from madeleine.write.stores import Stores
from tests.fakes import keep
from tests.whisper.listening import Listener, contents


@dataclass
class Scripted:
    """A cross-encoder that finds one text better than all others, and notes what it was asked."""

    best: str = ""
    hopeless: float = -6.0
    name: str = "scripted"
    asked: list[str] = field(default_factory=list)

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        self.asked.append(question)
        return [6.0 if self.best and self.best in each else self.hopeless for each in texts]


@pytest.fixture
def reranker() -> Scripted:
    return Scripted()


@pytest.fixture
def listener(stores: Stores, reranker: Scripted) -> Listener:
    for colour in ("amber", "beige", "coral"):
        keep(stores, f"the {colour} lantern hangs in the hall")
    keep(stores, "Prefers candles", tags=(ABOUT_SELF,))
    ensure_self(stores)
    config = replace(stores.config, reranker=RerankerConfig(deadline_ms=60_000))
    minds = Minds(stores.minds.embedder, reranker=reranker)
    return Listener(replace(stores, minds=minds, config=config))


def test_a_prompt_is_looked_at_a_second_time(listener: Listener, reranker: Scripted) -> None:
    listener.hears("which lantern hangs in the hall?")

    assert set(reranker.asked) == {"which lantern hangs in the hall?"}


def test_a_question_about_the_asker_alone_is_not(listener: Listener, reranker: Scripted) -> None:
    said = listener.hears("who am I?")

    assert contents(said) == ["Prefers candles"]
    assert reranker.asked == []


@pytest.mark.parametrize("colour", ["amber", "beige", "coral"])
def test_what_the_second_look_finds_best_is_told_first(
    listener: Listener, reranker: Scripted, colour: str
) -> None:
    reranker.best = colour

    said = listener.hears("which lantern hangs in the hall?")

    assert contents(said)[0] == f"the {colour} lantern hangs in the hall"


def test_what_the_second_look_finds_hopeless_is_not_told(
    listener: Listener, reranker: Scripted
) -> None:
    reranker.hopeless = -12.0

    said = listener.hears("which lantern hangs in the hall?")

    assert said.text == ""
    assert said.stage in ("floor", "gate")
