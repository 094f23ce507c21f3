"""A whisper in the log takes a quarter of its text, and what was logged before stays readable."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.index.log import WhisperEntry
from madeleine.index.sqlite import schema
from madeleine.index.sqlite.index import SqliteIndex
from madeleine.index.sqlite.packed_json import pack_json, unpack_text
from tests.fakes import NOON

LONG_AGO = datetime.min.replace(tzinfo=NOON.tzinfo, year=1970)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


def long_body() -> dict[str, Any]:
    """What a prompt with a dozen candidates leaves."""
    refused = [
        {
            "memory": f"{number * 7919 % 2**31:08x}-e2eb-4e14-bb8d-1ded7420{number * 31:04x}",
            "title": f"The service number {number} is behind gate {number * 17 % 23}",
            "score": round(0.9 / (number + 1), 4),
            "worth": round(0.8 / (number + 1), 4),
            "words": 0.3477,
            "meaning": round(0.7 / (number + 1), 4),
            "affinity": 0.0,
            "reasons_parts": [
                {"kind": "shares_words", "share": 0.3477},
                {"kind": "close_in_meaning", "similarity": round(0.7 / (number + 1), 4)},
            ],
            "held": "floor",
        }
        for number in range(12)
    ]
    return {"stage": "gate", "candidates": [], "refused": refused, "prompt": "which gate?"}


@given(st.dictionaries(st.text(), VALUES, max_size=6))
def test_any_body_comes_back(body: dict[str, Any]) -> None:
    assert json.loads(unpack_text(pack_json(body))) == body


def test_a_long_entry_takes_less_than_a_third_of_its_text() -> None:
    body = long_body()

    assert len(pack_json(body)) < len(json.dumps(body)) / 3


def test_a_text_of_before_is_read_as_it_stands() -> None:
    assert unpack_text('{"stage": "gate"}') == '{"stage": "gate"}'


def test_entries_of_a_former_index_are_kept_beside_new_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "index.db"
    before = schema.MIGRATIONS.index(schema._PACKED_WHISPERS)
    with monkeypatch.context() as older:
        older.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:before])
        SqliteIndex.open(path).close()
    raw = apsw.Connection(str(path))
    raw.execute("INSERT INTO whisper_log VALUES ('old', 1, 's', NULL, '{\"stage\": \"gate\"}')")
    raw.close()

    index = SqliteIndex.open(path)
    index.log.log_whisper(WhisperEntry("new", NOON, "s", None, {"stage": "order"}), LONG_AGO)

    assert {each.id: each.body["stage"] for each in index.log.whispers(10)} == {
        "old": "gate",
        "new": "order",
    }
    index.close()
    raw = apsw.Connection(str(path))
    (kind,) = raw.execute("SELECT typeof(body) FROM whisper_log WHERE id = 'new'").fetchall()
    raw.close()
    assert kind == ("blob",)
