"""What every index keeps of whispers and feedback. It follows from nothing else."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from madeleine.index.log import WhisperEntry
from madeleine.index.port import Index, IndexBatch
from madeleine.model.event import EventKind
from madeleine.testing.making import NOON, event, ids, keep, memory, memory_id

LONG_AGO = NOON - timedelta(days=1_000)


def entry(number: int, minutes: float = 0, session: str | None = "s", **body: Any) -> WhisperEntry:
    at = NOON + timedelta(minutes=minutes)
    return WhisperEntry(f"whisper-{number}", at, session, "atlas", body)


def log(index: Index, *entries: WhisperEntry) -> None:
    for each in entries:
        index.log.log_whisper(each, LONG_AGO)


def test_an_entry_comes_back_as_it_was_logged(index: Index) -> None:
    body: dict[str, Any] = {
        "prompt": "quoi ? 猫 \x00 عربي",
        "best": 0.25,
        "injected": ["a"],
        "silence": None,
    }
    bare = WhisperEntry("w", NOON + timedelta(microseconds=1), None, None, {})

    log(index, entry(1, **body), bare)

    assert index.log.whisper("whisper-1") == entry(1, **body)
    assert index.log.whisper("w") == bare
    assert index.log.whisper("whisper-2") is None


def test_the_newest_come_first_and_no_more_than_wanted(index: Index) -> None:
    log(index, entry(1, 1), entry(3, 3), entry(2, 2))

    assert ids(index.log.whispers(10)) == ["whisper-3", "whisper-2", "whisper-1"]
    assert ids(index.log.whispers(2)) == ["whisper-3", "whisper-2"]
    assert index.log.whispers(0) == []


def test_only_those_of_one_session_are_returned_when_asked(index: Index) -> None:
    log(index, entry(1, 1, "s"), entry(2, 2, "t"), entry(3, 3, None))

    assert ids(index.log.whispers(10, "s")) == ["whisper-1"]
    assert index.log.whispers(10, "nobody") == []
    assert len(index.log.whispers(10)) == 3


def test_a_page_goes_on_where_the_one_before_ended(index: Index) -> None:
    log(index, entry(1, 1), entry(2, 2), entry(3, 2), entry(4, 2), entry(5, 3))

    seen, after = [], None
    while page := index.log.whispers(2, None, after):
        seen += ids(page)
        after = page[-1]

    assert seen == ["whisper-5", "whisper-2", "whisper-3", "whisper-4", "whisper-1"]
    assert index.log.whispers(2, "nobody", entry(5, 3)) == []


def test_only_those_that_name_a_memory_are_returned_when_asked(index: Index) -> None:
    log(
        index,
        entry(1, 1, injected=[memory_id(1)]),
        entry(2, 2, memories={"gate": [{"memory": memory_id(1)}, {"memory": memory_id(2)}]}),
        entry(3, 3, prompt="quoi ?"),
    )

    assert ids(index.log.whispers(10, naming=memory_id(1))) == ["whisper-2", "whisper-1"]
    assert ids(index.log.whispers(1, naming=memory_id(1))) == ["whisper-2"]
    assert ids(index.log.whispers(10, "s", entry(2, 2), memory_id(1))) == ["whisper-1"]
    assert index.log.whispers(10, naming=memory_id(3)) == []


def test_logging_again_replaces(index: Index) -> None:
    log(index, entry(1, stage="gate"), entry(1, stage="order"))

    assert index.log.whispers(10) == [entry(1, stage="order")]


def test_what_is_older_than_wanted_is_dropped(index: Index) -> None:
    log(index, entry(1, 0), entry(2, 10))

    index.log.log_whisper(entry(3, 20), NOON + timedelta(minutes=10))

    assert ids(index.log.whispers(10)) == ["whisper-3", "whisper-2"]
    assert index.log.whisper("whisper-1") is None


def test_those_that_name_a_memory_can_be_dropped(index: Index) -> None:
    log(
        index,
        entry(1, 1, injected=[memory_id(1)]),
        entry(2, 2, refused=[{"memory": memory_id(2), "title": "quoi"}]),
        entry(3, 3, injected=[memory_id(3)], text="- **[fact]** quoi"),
    )

    index.log.drop_whispers([])
    index.log.drop_whispers([memory_id(1), memory_id(2)])

    assert ids(index.log.whispers(10)) == ["whisper-3"]


def test_feedback_on_some_memories_comes_newest_first(index: Index) -> None:
    keep(index, memory(1), memory(2), memory(3))
    given = [
        event(
            EventKind.FEEDBACK, 1, 1, memory=memory_id(1), signal=1, source="explicit", prompt="a"
        ),
        event(EventKind.FEEDBACK, 2, 3, memory=memory_id(2), signal=-1, source="implicit"),
        event(EventKind.FEEDBACK, 3, 2, memory=memory_id(1), signal=-1, source="explicit"),
        event(EventKind.FEEDBACK, 4, 4, memory=memory_id(3), signal=1, source="explicit"),
    ]

    index.write(IndexBatch(events=given))

    assert index.log.feedback([memory_id(1), memory_id(2)]) == [given[1], given[2], given[0]]
    assert index.log.feedback([memory_id(9)]) == []
    assert index.log.feedback([]) == []


def test_feedback_read_twice_counts_once(index: Index) -> None:
    keep(index, memory(1))
    given = event(EventKind.FEEDBACK, 1, memory=memory_id(1), signal=1, source="explicit")

    index.write(IndexBatch(events=[given]))
    index.write(IndexBatch(events=[given]))

    assert index.log.feedback([memory_id(1)]) == [given]


def test_other_events_are_no_feedback(index: Index) -> None:
    keep(index, memory(1))

    index.write(IndexBatch(events=[event(EventKind.USED, 1, memory=memory_id(1), how="recall")]))

    assert index.log.feedback([memory_id(1)]) == []


def test_feedback_outlives_a_clearing_as_soon_as_the_journal_is_read_again(index: Index) -> None:
    keep(index, memory(1))
    given = event(EventKind.FEEDBACK, 1, memory=memory_id(1), signal=1, source="explicit")
    index.write(IndexBatch(events=[given]))

    index.clear()
    assert index.log.feedback([memory_id(1)]) == []
    keep(index, memory(1))
    index.write(IndexBatch(events=[given]))

    assert index.log.feedback([memory_id(1)]) == [given]
