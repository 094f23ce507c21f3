"""The table of fields: complete, in the order of the file, and the one that the format names."""

from __future__ import annotations

import re
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path

from madeleine.ingest.whole import fields_of
from madeleine.model.codec import memory_from_json, memory_to_json
from madeleine.model.draft import Draft
from madeleine.model.fields import FIELDS, FRONT_MATTER
from madeleine.model.memory import Claim, Connection, Memory, Origin, SharedFields
from madeleine.model.words import Edge, MemoryType, Tier

FILE_FORMAT = Path(__file__).parents[2] / "docs" / "file-format.md"
NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
WHOLE = Memory(
    "97acbe8e-0000-4000-8000-000000000000",
    "Chose SQLite",
    NOON,
    NOON,
    type=MemoryType.DECISION,
    tier=Tier.CORE,
    space="atlas",
    title="SQLite",
    tags=("storage",),
    source="agent:codex",
    confidence=0.5,
    valid_until=NOON,
    superseded_by="a1b2c3d4-0000-4000-8000-000000000000",
    origin=Origin("s1", 3, "Ana", "https://example.org"),
    claim=Claim("index", "engine", "SQLite"),
    idempotency_key="once",
    connections=(Connection("a1b2c3d4-0000-4000-8000-000000000000", Edge.SUPPORTS, 0.7),),
)


def test_every_field_of_a_memory_but_its_use_has_one_row() -> None:
    names = [row.name for row in FIELDS]

    assert len(names) == len(set(names))
    assert set(names) == {each.name for each in fields(Memory)} - {"usage"}


def test_a_draft_takes_every_field_that_it_shares_with_a_memory() -> None:
    in_draft = {row.name for row in FIELDS if row.in_draft}

    assert in_draft == {each.name for each in fields(Draft)} - {"about_self"}
    assert in_draft >= {each.name for each in fields(SharedFields)}


def test_the_file_format_names_the_keys_in_the_order_of_the_file() -> None:
    keys = FILE_FORMAT.read_text(encoding="utf-8").split("### 1.3 Keys")[1].split("\n\n")[1]
    named = [key for row in keys.splitlines() for key in re.findall(r"`(\w+)`", row.split("|")[1])]

    assert named == [row.name for row in FRONT_MATTER]


def test_every_field_survives_json_and_stands_in_an_export() -> None:
    assert all(getattr(WHOLE, row.name) not in (None, ()) for row in FIELDS)

    assert memory_from_json(memory_to_json(WHOLE)).claim == WHOLE.claim
    assert memory_to_json(memory_from_json(memory_to_json(WHOLE))) == memory_to_json(WHOLE)
    assert list(fields_of(WHOLE)) == [row.name for row in FIELDS]


def test_json_of_a_release_that_did_not_know_a_field_is_read() -> None:
    values = memory_to_json(WHOLE)
    del values["claim"]

    assert memory_from_json(values).claim is None
