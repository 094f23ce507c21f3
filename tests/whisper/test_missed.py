"""Why a memory was not whispered: each way to be passed over has its own words."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from madeleine.index.log import WhisperEntry
from madeleine.model.memory import Memory
from madeleine.whisper.missed import MissedWhisper, WhisperFate, explain_missed, fate_of
from madeleine.write.resolve import get_memory
from madeleine.write.stores import Stores
from tests.fakes import NOON, keep
from tests.whisper.listening import CONFIG, Listener, a_memory

FERRY = "The ferry to Bergen leaves at half past nine"
ASK_FERRY = "when does the ferry to Bergen leave?"


@pytest.fixture
def listener(stores: Stores) -> Listener:
    return Listener(stores)


def last(listener: Listener) -> WhisperEntry:
    return listener.stores.log.whispers(1)[0]


def why(listener: Listener, memory: Memory, entry: WhisperEntry | None = None) -> MissedWhisper:
    return explain_missed(listener.stores, CONFIG, entry or last(listener), memory)


def logged(memory: Memory, listed: str = "", held: str = "", **body: object) -> WhisperEntry:
    """Return an entry that lists a memory somewhere."""
    row = {"memory": memory.id, "score": 0.41, "held": held}
    rows = {listed: [row]} if listed else {}
    return WhisperEntry("w", NOON, "s", "atlas", {"stage": "order", **rows, **body})


def test_what_was_whispered_is_not_missed(listener: Listener) -> None:
    memory = keep(listener.stores, FERRY)
    listener.hears(ASK_FERRY)

    found = why(listener, get_memory(listener.stores, memory.id))

    assert (found.fate, found.stage) == (WhisperFate.WHISPERED, None)


def test_what_was_told_before_is_named_so(listener: Listener) -> None:
    memory = keep(listener.stores, FERRY)
    listener.hears(ASK_FERRY, "s")
    listener.hears("tell me again: when does the ferry to Bergen leave?", "s")

    found = why(listener, get_memory(listener.stores, memory.id))

    assert found.stage in ("topic", "session")
    assert found.fate in (WhisperFate.TOLD_BEFORE, WhisperFate.UNSEEN)


def test_before_anything_was_looked_for_the_silence_is_the_reason(listener: Listener) -> None:
    memory = keep(listener.stores, FERRY)
    listener.hears("ok great, thanks!")

    found = why(listener, get_memory(listener.stores, memory.id))

    assert found == MissedWhisper(
        WhisperFate.UNSEEN,
        "Nothing was looked for.",
        "conversation",
        silence={"kind": "only_talk"},
    )


def test_the_sentence_that_an_earlier_release_kept_is_the_reason_as_it_stands(
    stores: Stores,
) -> None:
    memory = a_memory()
    entry = logged(memory, stage="conversation", silence="the prompt is only conversation")

    found = explain_missed(stores, CONFIG, entry, memory)

    assert found.text == "Nothing was looked for: the prompt is only conversation."


@pytest.mark.parametrize(
    ("listed", "held", "body", "fate", "words"),
    [
        ("refused", "gate", {}, WhisperFate.WEAK, "0.41 is below the gate of 0.50"),
        ("refused", "floor", {}, WhisperFate.WEAK, "0.41 is below the floor of 0.45"),
        ("refused", "overlap", {}, WhisperFate.WEAK, "shares no word"),
        ("refused", "search", {}, WhisperFate.WEAK, "about you, and the prompt did not ask for it"),
        ("passed_over", "session", {}, WhisperFate.TOLD_BEFORE, "before in this conversation"),
        ("passed_over", "order", {}, WhisperFate.NO_ROOM, "no more room"),
        ("candidates", "", {}, WhisperFate.NO_ROOM, "no more room"),
        ("candidates", "", {"held_out": True}, WhisperFate.HELD_OUT, "to measure"),
    ],
)
def test_each_way_to_be_passed_over_has_its_words(
    stores: Stores, listed: str, held: str, body: dict[str, object], fate: WhisperFate, words: str
) -> None:
    memory = a_memory()

    found = explain_missed(stores, CONFIG, logged(memory, listed, held, **body), memory)

    assert found.fate is fate
    assert words in found.text


def test_a_late_one_and_a_restated_one_are_told_apart() -> None:
    memory = a_memory()

    late = logged(memory, "candidates", injected=[memory.id], late=True)
    restated = logged(memory, "candidates", restated={memory.id: "other"})

    assert fate_of(late.body, memory.id) is WhisperFate.LATE
    assert fate_of(restated.body, memory.id) is WhisperFate.RESTATED


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"created": NOON + timedelta(hours=1)}, "not known yet"),
        ({"valid_until": NOON - timedelta(hours=1)}, "no longer true"),
        ({"space": "ledger"}, "It is of `ledger`"),
    ],
)
def test_what_cannot_be_whispered_at_all_says_why(
    stores: Stores, fields: dict[str, object], words: str
) -> None:
    memory = replace(a_memory(), **fields)  # type: ignore[arg-type]  # tests name real fields

    found = explain_missed(stores, CONFIG, logged(memory, among=["atlas", None]), memory)

    assert words in found.text
    assert found.stage == "search"


def test_what_was_not_found_is_looked_for_once_more(listener: Listener) -> None:
    other = keep(listener.stores, "Marta is allergic to peanuts")
    memory = get_memory(listener.stores, other.id)

    found = why(listener, memory, replace(logged(memory, prompt=ASK_FERRY), at=memory.created))

    assert found.fate is WhisperFate.UNSEEN
    assert found.text.startswith("It was not found. Looked for now, ")
