"""Changes in the journal: every byte of a file as it was comes back."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.errors import Damaged
from madeleine.model.change import Change, FileEdit
from madeleine.model.event import Event, EventKind
from madeleine.vault.journal import (
    FileJournal,
    RecordedChange,
    RecordedEdit,
    bytes_from_json,
    bytes_to_json,
    change_to_event,
    event_to_change,
    without_file_texts,
)

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)

MERGE = Change(
    id="c0ffee00-0000-4000-8000-000000000001",
    verb="merge",
    edits=(
        FileEdit("m1", "fact_a.md", b"\xef\xbb\xbfold \r\n\xe2\x80\xa8", "fact_a.md", b"new"),
        FileEdit("m2", "fact_b.md", b"not \xff UTF-8", "trash/fact_b.md", b"not \xff UTF-8"),
        FileEdit("m3", None, None, "fact_c.md", b"born"),
        FileEdit("m4", "fact_d.md", b"", None, None),
    ),
    by="job:duplicates",
    reason="the same",
    run="run-1",
    details={"keeper": "m1"},
)


def recorded(change: Change) -> RecordedChange:
    return RecordedChange(
        change.id,
        change.verb,
        tuple(
            RecordedEdit(
                edit.memory_id,
                edit.path_before,
                edit.before,
                edit.path_after,
                None if edit.after is None else hashlib.sha256(edit.after).hexdigest(),
            )
            for edit in change.edits
        ),
        change.by,
        change.reason,
        change.run,
        change.details,
    )


def test_a_change_comes_back_from_the_journal_byte_for_byte(tmp_path: Path) -> None:
    journal = FileJournal(tmp_path, "laptop")
    event = change_to_event(MERGE, "e1", NOON, "laptop")

    journal.append([event], durable=True)

    (chunk,) = journal.read({})
    assert chunk.events == [event]
    assert event_to_change(chunk.events[0]) == recorded(MERGE)
    assert journal.find_change(MERGE.id, "laptop", NOON) == recorded(MERGE)


def test_a_text_stands_in_the_journal_as_people_read_it() -> None:
    assert bytes_to_json("Grüße\r\n".encode()) == "Grüße\r\n"
    assert bytes_to_json(b"\xff") == {"base64": "/w=="}


@given(st.binary() | st.text().map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_survive_json(data: bytes) -> None:
    assert bytes_from_json(bytes_to_json(data)) == data


def test_what_the_index_keeps_of_a_change_holds_no_text() -> None:
    event = change_to_event(MERGE, "e1", NOON, "laptop")

    kept = without_file_texts(event)

    assert "old" not in str(kept)
    assert "base64" not in str(kept)
    edits = kept.body["edits"]
    assert isinstance(edits, list)
    assert [edit["path_before"] for edit in edits] == ["fact_a.md", "fact_b.md", None, "fact_d.md"]
    assert (kept.id, kept.at, kept.kind, kept.device) == ("e1", NOON, EventKind.CHANGED, "laptop")
    assert kept.body["details"] == {"keeper": "m1"}
    assert without_file_texts(kept) == kept


def test_other_events_are_light_already() -> None:
    event = Event("e1", NOON, EventKind.FEEDBACK, "laptop", {"memory": "m", "before": "kept"})

    assert without_file_texts(event) is event


@pytest.mark.parametrize("edits", [None, "x", [], [3, None], [{"before": 3}]])
def test_a_strange_change_is_no_reason_to_stop_reading(edits: object) -> None:
    event = Event("e1", NOON, EventKind.CHANGED, "laptop", {"change": "c", "edits": edits})

    assert without_file_texts(event).id == "e1"


def test_a_light_change_cannot_pass_for_one_that_made_new_files() -> None:
    """Undoing it as such would throw the files away."""
    kept = without_file_texts(change_to_event(MERGE, "e1", NOON, "laptop"))

    with pytest.raises(Damaged, match=r"holds no text of fact_a\.md as it was"):
        event_to_change(kept)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"change": "c", "verb": "merge", "by": "me", "edits": "none"},
        {"change": 3, "verb": "merge", "by": "me", "edits": []},
        {"change": "c", "verb": "merge", "by": "me", "edits": [{"memory": None}]},
        {
            "change": "c",
            "verb": "merge",
            "by": "me",
            "edits": [{"memory": "m", "path_before": "a.md", "before": {"base64": "%%"}}],
        },
    ],
)
def test_a_change_that_makes_no_sense_is_damaged(body: dict[str, object]) -> None:
    with pytest.raises(Damaged):
        event_to_change(Event("e1", NOON, EventKind.CHANGED, "laptop", body))


def test_a_change_is_found_in_whatever_file_it_stands(tmp_path: Path) -> None:
    desktop = FileJournal(tmp_path, "desktop")
    long_ago = NOON - timedelta(days=90)
    mentions = Event(
        "e0", NOON, EventKind.SETTLED, "laptop", {"change": MERGE.id, "outcome": "done"}
    )
    FileJournal(tmp_path, "laptop").append([mentions], durable=False)
    desktop.append([change_to_event(MERGE, "e1", long_ago, "desktop")], durable=False)
    (tmp_path / "desktop-2026-08.jsonl").rename(tmp_path / "desktop-2026-08 (1).jsonl")

    for device, at in [("desktop", long_ago), ("laptop", NOON), ("gone", NOON)]:
        assert desktop.find_change(MERGE.id, device, at) == recorded(MERGE)


def test_a_change_that_stands_nowhere_is_not_found(tmp_path: Path) -> None:
    journal = FileJournal(tmp_path, "laptop")
    assert journal.find_change("c", "laptop", NOON) is None

    journal.append([change_to_event(MERGE, "e1", NOON, "laptop")], durable=False)

    assert journal.find_change(MERGE.id[:8], "laptop", NOON) is None
