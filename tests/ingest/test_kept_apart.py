"""Exchanges stand beside the memories, and a paused session leaves nothing."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from madeleine.ingest.config import IngestConfig
from madeleine.ingest.context import IngestContext
from madeleine.ingest.transcripts import Transcript, ingest_transcript
from madeleine.model.memory import Memory
from madeleine.model.query import Filter, RecallQuery
from madeleine.model.words import Tier
from madeleine.recall.recall import recall
from madeleine.whisper.config import WhisperConfig
from madeleine.whisper.pausing import pause_session, resume_session
from madeleine.whisper.values import Prompt
from madeleine.whisper.whisper import Whisperer, whisper
from madeleine.write.stores import Stores
from tests.fakes import FakeClock, close, make_stores
from tests.ingest.writing import a_line, an_answer

ASKED = "How do we keep the harbour ledger in sync with the port authority's feed?"
ANSWERED = "The ledger polls the feed every ten minutes and keeps a cursor in the journal."


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "session-1.jsonl"


def take(stores: Stores, path: Path, *lines: bytes) -> None:
    path.write_bytes(b"".join(lines))
    intake = IngestContext(stores, IngestConfig())
    ingest_transcript(intake, Transcript(path, "claude-code", "session-1", "atlas", True))


def listed(stores: Stores, **chosen: object) -> list[Memory]:
    wanted = Filter(**chosen)  # type: ignore[arg-type]
    return stores.search.listing(wanted, stores.clock.now(), 100)


def test_an_exchange_is_in_no_list_unless_it_is_asked_for(stores: Stores, path: Path) -> None:
    take(stores, path, a_line(ASKED), an_answer(ANSWERED))

    assert listed(stores) == []
    assert len(listed(stores, exchanges=True)) == 1
    assert len(listed(stores, tags=("exchange",))) == 1


def test_an_exchange_is_counted_beside_the_memories(stores: Stores, path: Path) -> None:
    take(stores, path, a_line(ASKED), an_answer(ANSWERED))

    counts = stores.search.counts()

    assert (counts.memories, counts.exchanges) == (0, 1)
    assert counts.by_tier == {}


def test_recall_finds_an_exchange_only_for_who_asks_for_it(stores: Stores, path: Path) -> None:
    take(stores, path, a_line(ASKED), an_answer(ANSWERED))
    question = "how often does the ledger poll the port feed?"

    plain = recall(stores, RecallQuery(question, all=True))
    asked = recall(stores, RecallQuery(question, filter=Filter(exchanges=True)))

    assert plain.hits == ()
    assert asked.hits[0].memory.content.endswith(ANSWERED)


def test_an_exchange_that_somebody_takes_out_of_the_archive_is_a_memory(
    stores: Stores, path: Path
) -> None:
    take(stores, path, a_line(ASKED), an_answer(ANSWERED))
    [memory] = listed(stores, exchanges=True)

    assert memory.is_exchange
    assert Filter(tiers=(Tier.WORKING,)).hides_exchanges is False


def test_what_is_said_in_a_pause_is_never_kept_also_not_later(tmp_path: Path, path: Path) -> None:
    clock = FakeClock()
    stores = make_stores(tmp_path / "home", clock)
    during = (clock.now() + timedelta(minutes=5)).isoformat()
    after = (clock.now() + timedelta(minutes=15)).isoformat()

    pause_session(stores, "session-1")
    clock.pass_by(minutes=10)
    resume_session(stores, "session-1")
    take(
        stores,
        path,
        a_line("for all services: money is in cents, and keep that in mind", timestamp=during),
        an_answer("Understood, money is in cents everywhere.", timestamp=during),
        a_line("for all services: dates are ISO, and keep that in mind", timestamp=after),
        an_answer("Understood, dates are ISO everywhere.", timestamp=after),
    )

    told = [each.content for each in listed(stores, exchanges=True)]
    assert [each for each in told if "dates are ISO" in each]
    assert not [each for each in told if "cents" in each]
    close(stores)


def test_nothing_is_whispered_in_a_paused_session(stores: Stores) -> None:
    pause_session(stores, "s-9")

    told = whisper(
        stores, WhisperConfig(), Whisperer(), Prompt("where is the ledger?", session_id="s-9")
    )
    other = whisper(
        stores, WhisperConfig(), Whisperer(), Prompt("where is the ledger?", session_id="s-8")
    )

    assert told.silence is not None
    assert told.silence.kind == "paused"
    assert other.silence is None or other.silence.kind != "paused"
    assert [each.session for each in stores.log.whispers(10, "s-9")] == []


def test_a_session_goes_on_after_its_pause(stores: Stores) -> None:
    pause_session(stores, "s-9")

    resume_session(stores, "s-9")

    told = whisper(
        stores, WhisperConfig(), Whisperer(), Prompt("where is the ledger?", session_id="s-9")
    )
    assert told.silence is None or told.silence.kind != "paused"
