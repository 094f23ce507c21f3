"""Use that shows in the agent's replies."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

from madeleine.index.log import WhisperEntry
from madeleine.ingest.context import IngestContext
from madeleine.ingest.transcripts import Transcript, TranscriptOutcome, ingest_transcript
from madeleine.model.memory import Memory
from madeleine.model.times import format_time
from madeleine.whisper.config import WhisperConfig
from madeleine.whisper.report import HoldOutGroup, HoldOutReport, measure_hold_out
from madeleine.write.resolve import get_memory
from madeleine.write.stores import Stores
from tests.fakes import keep


def whispered(stores: Stores, memory: Memory, how: str = "injected", **more: object) -> str:
    """Log a whisper of a memory in the session of the transcript."""
    now = stores.clock.now()
    body = {"prompt": "where does staging run?", how: [memory.id], **more}
    entry = WhisperEntry(stores.new_id(), now, "session-1", None, body)
    stores.log.log_whisper(entry, now - timedelta(days=30))
    return entry.id


def reply(path: Path, text: str, **more: object) -> None:
    line = {
        **more,
        "type": "assistant",
        "sessionId": "session-1",
        "message": {"role": "assistant", "content": [{"type": "text", "text": text}]},
    }
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def take(stores: Stores, path: Path) -> TranscriptOutcome:
    return ingest_transcript(IngestContext(stores), Transcript(path, "claude-code", "session-1"))


def test_a_memory_that_a_reply_repeats_was_useful(stores: Stores, tmp_path: Path) -> None:
    memory = keep(stores, "The staging cluster runs in Frankfurt")
    whisper = whispered(stores, memory)
    path = tmp_path / "session-1.jsonl"
    reply(path, "The staging cluster runs in Frankfurt, so latency is fine.")

    report = take(stores, path)

    assert report.used == [memory.id]
    (said,) = stores.log.feedback([memory.id])
    assert said.body["signal"] == 1
    assert (said.body["source"], said.body["whisper"]) == ("implicit", whisper)
    assert get_memory(stores, memory.id).access_count == 1


def test_the_same_use_is_noticed_once(stores: Stores, tmp_path: Path) -> None:
    memory = keep(stores, "The staging cluster runs in Frankfurt")
    whispered(stores, memory)
    path = tmp_path / "session-1.jsonl"
    reply(path, "The staging cluster runs in Frankfurt.")
    take(stores, path)
    reply(path, "Again: the staging cluster runs in Frankfurt.")

    assert take(stores, path).used == []
    assert len(stores.log.feedback([memory.id])) == 1


def test_a_reply_about_something_else_says_nothing(stores: Stores, tmp_path: Path) -> None:
    memory = keep(stores, "The staging cluster runs in Frankfurt")
    whispered(stores, memory)
    path = tmp_path / "session-1.jsonl"
    reply(path, "I renamed the function and ran the tests.")

    assert take(stores, path).used == []
    assert stores.log.feedback([memory.id]) == []


REPEATED = "The staging cluster runs in Frankfurt, so latency is fine."


def test_what_came_too_late_was_not_used(stores: Stores, tmp_path: Path) -> None:
    memory = keep(stores, "The staging cluster runs in Frankfurt")
    whispered(stores, memory, late=True)
    path = tmp_path / "session-1.jsonl"
    reply(path, REPEATED)

    assert take(stores, path).used == []
    assert stores.log.feedback([memory.id]) == []
    assert measure_hold_out(stores, WhisperConfig()) == HoldOutReport(
        30, HoldOutGroup(0, 0, 0), HoldOutGroup(0, 0, 0), 1
    )


def test_a_reply_from_before_a_whisper_did_not_use_it(stores: Stores, tmp_path: Path) -> None:
    memory = keep(stores, "The staging cluster runs in Frankfurt")
    path = tmp_path / "session-1.jsonl"
    reply(path, REPEATED, timestamp=format_time(stores.clock.now()))
    whispered(stores, memory)
    early = take(stores, path).used
    reply(path, REPEATED, timestamp=format_time(stores.clock.now()))

    assert (early, take(stores, path).used) == ([], [memory.id])


def test_what_was_held_out_and_came_up_anyway_is_counted_but_was_no_use(
    stores: Stores, tmp_path: Path
) -> None:
    memory = keep(stores, "The staging cluster runs in Frankfurt")
    whispered(stores, memory, "withheld", held_out=True)
    path = tmp_path / "session-1.jsonl"
    reply(path, REPEATED)

    assert take(stores, path).used == []
    assert stores.log.feedback([memory.id]) == []
    assert measure_hold_out(stores, WhisperConfig()).held_out == HoldOutGroup(1, 1, 1)


def test_the_report_counts_replies_that_were_read_and_what_shows_in_them(
    stores: Stores, tmp_path: Path
) -> None:
    told = keep(stores, "The staging cluster runs in Frankfurt")
    other = keep(stores, "Marta is allergic to peanuts")
    whispered(stores, told)
    whispered(stores, other)
    path = tmp_path / "session-1.jsonl"
    reply(path, REPEATED)
    take(stores, path)
    whispered(stores, told)  # not replied to yet

    found = measure_hold_out(stores, WhisperConfig())

    assert (found.told, found.enough) == (HoldOutGroup(3, 2, 1), False)
