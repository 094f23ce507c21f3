"""Standing notes with the model that ships: what applies is told though no word is shared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from madeleine.minds.port import Minds
from madeleine.model.query import Filter
from madeleine.model.revision import Revision
from madeleine.model.words import MemoryKind, MemoryType
from madeleine.whisper.config import WhisperConfig
from madeleine.whisper.standing_notes import StandingNotes
from madeleine.write.revise import revise
from tests.fakes import keep
from tests.real_model import opened_real
from tests.whisper.listening import Listener, contents

TESTS = "Mocks only at the edge of the network; the database in a spec is a real one"
MAILS = (
    "Everything that leaves for a client is signed with the full name and without a greeting line"
)
NOTES = (TESTS, MAILS)
FACTS = (
    "The coupon service is written in Kotlin",
    "Ms Okafor's flat has three rooms",
    "The roof was done in 2019",
    "Bread is baked on Thursdays",
)
WRITES_TESTS = "write unit tests for the coupon expiry"


@pytest.fixture
def listener(tmp_path: Path, minds: Minds) -> Iterator[Listener]:
    with opened_real(tmp_path / "home", minds) as stores:
        for each in NOTES:
            keep(stores, each, type=MemoryType.PREFERENCE, space="atlas")
        for each in FACTS:
            keep(stores, each, space="atlas")
        yield Listener(stores)


def test_a_standing_note_is_told_for_its_activity(listener: Listener) -> None:
    assert TESTS in contents(listener.hears(WRITES_TESTS, space="atlas"))


def test_it_is_told_once_however_long_the_session_is_quiet(listener: Listener) -> None:
    first = listener.hears(WRITES_TESTS, "s1", "atlas")
    listener.clock.pass_by(hours=2)
    again = listener.hears("and write a spec for the refund too", "s1", "atlas")
    other = listener.hears(WRITES_TESTS, "s2", "atlas")

    assert TESTS in contents(first)
    assert TESTS not in contents(again)
    assert TESTS in contents(other)


@pytest.mark.parametrize("prompt", ["thanks, perfect", "what is 12 % of 340?", "define entropy"])
def test_nothing_is_told_where_nothing_is_to_be_done(listener: Listener, prompt: str) -> None:
    assert listener.hears(prompt, space="atlas").text == ""


def test_a_gate_of_one_lets_no_standing_note_through(listener: Listener) -> None:
    listener.config = WhisperConfig(injection_gate=1.0)

    assert listener.hears(WRITES_TESTS, space="atlas").text == ""


def test_it_has_a_place_of_its_own_beside_facts(listener: Listener) -> None:
    listener.config = WhisperConfig(max_nodes=1)

    said = contents(listener.hears("write unit tests for the Kotlin coupon service", None, "atlas"))

    assert TESTS in said
    assert FACTS[0] in said


def test_what_is_called_plain_is_told_as_a_standing_note_no_more(listener: Listener) -> None:
    notes, stores = StandingNotes(), listener.stores
    embedder = stores.minds.embedder
    assert embedder is not None

    def read() -> set[str]:
        chosen = Filter(spaces=("atlas", None))
        found = notes.read(stores, chosen, embedder.name, stores.clock.now())
        return {each.content for each in stores.search.memories([one.id for one in found]).values()}

    before = read()
    (rule,) = stores.search.triggered_memories(
        ["standing:preference"], replace(Filter(), spaces=("atlas",)), stores.clock.now(), 1
    )
    revise(stores, rule, Revision({"kind": MemoryKind.PLAIN}))

    assert before == set(NOTES)
    assert len(read()) == 1


def test_what_was_read_of_a_note_is_read_again_once_it_says_something_else(
    listener: Listener,
) -> None:
    listener.hears(WRITES_TESTS, space="atlas")
    (rule,) = (
        each.id
        for each in listener.stores.search.listing(Filter(), listener.clock.now(), 99)
        if each.content == TESTS
    )
    painted = {"content": "The gable was painted in August by Tom's uncle"}
    revise(listener.stores, rule, Revision(painted))

    said = listener.hears(WRITES_TESTS, space="atlas")

    assert rule not in {each.memory.id for each in said.injected}
