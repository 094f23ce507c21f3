"""Use that shows in the agent's replies."""

from __future__ import annotations

import json
from pathlib import Path

from madeleine.index.port import WhisperEntry
from madeleine.ingest.transcripts import TakenIn, Transcript, take_in
from madeleine.model.memory import Memory
from madeleine.write.resolve import get_memory
from madeleine.write.stores import Stores
from tests.fakes import keep


def whispered(stores: Stores, memory: Memory) -> str:
    """Log a whisper of a memory in the session of the transcript."""
    now = stores.clock.now()
    body = {"prompt": "where does staging run?", "injected": [memory.id]}
    entry = WhisperEntry(stores.new_id(), now, "session-1", None, body)
    stores.index.log_whisper(entry, now)
    return entry.id


def reply(path: Path, text: str) -> None:
    line = {
        "type": "assistant",
        "sessionId": "session-1",
        "message": {"role": "assistant", "content": [{"type": "text", "text": text}]},
    }
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def take(stores: Stores, path: Path) -> TakenIn:
    return take_in(stores, Transcript(path, "claude-code", "session-1"))


def test_a_memory_that_a_reply_repeats_was_useful(stores: Stores, tmp_path: Path) -> None:
    memory = keep(stores, "The staging cluster runs in Frankfurt")
    whisper = whispered(stores, memory)
    path = tmp_path / "session-1.jsonl"
    reply(path, "The staging cluster runs in Frankfurt, so latency is fine.")

    report = take(stores, path)

    assert report.used == [memory.id]
    (said,) = stores.index.feedback([memory.id])
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
    assert len(stores.index.feedback([memory.id])) == 1


def test_a_reply_about_something_else_says_nothing(stores: Stores, tmp_path: Path) -> None:
    memory = keep(stores, "The staging cluster runs in Frankfurt")
    whispered(stores, memory)
    path = tmp_path / "session-1.jsonl"
    reply(path, "I renamed the function and ran the tests.")

    assert take(stores, path).used == []
    assert stores.index.feedback([memory.id]) == []
