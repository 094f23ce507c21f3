"""The table of fields: complete, in the order of the file, and the one that the format names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from madeleine.ingest.memory_fields import memory_fields
from madeleine.model.codec import memory_from_json, memory_to_json
from madeleine.model.draft import Draft
from madeleine.model.fields import FIELDS, FRONT_MATTER_FIELDS, FieldKind
from madeleine.model.fingerprint import Fingerprint
from madeleine.model.memory import Claim, Connection, Memory, Origin, SharedFields
from madeleine.model.metadata import Metadata
from madeleine.model.words import Edge, MemoryKind, MemoryType, Tier
from madeleine.vault.markdown import read_memory, render_memory

FILE_FORMAT = Path(__file__).parents[2] / "docs" / "file-format.md"
NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
ELSEWHERE = "a1b2c3d4-0000-4000-8000-000000000000"
SAMPLES: Mapping[FieldKind, Any] = {
    FieldKind.TEXT: "a line",
    FieldKind.TIME: NOON,
    FieldKind.UNIT: 0.5,
    FieldKind.ID: "97acbe8e-0000-4000-8000-000000000000",
    FieldKind.REFERENCE: ELSEWHERE,
    FieldKind.TYPE: MemoryType.DECISION,
    FieldKind.TIER: Tier.CORE,
    FieldKind.SPACE: "atlas",
    FieldKind.CONTENT: "Chose SQLite",
    FieldKind.TAGS: ("storage",),
    FieldKind.TRIGGERS: ("src/*.py",),
    FieldKind.KIND: MemoryKind.STANDING,
    FieldKind.ORIGIN: Origin("s1", 3, "Ana", "https://example.org"),
    FieldKind.METADATA: Metadata({"ticket": "A-17", "seen": [1, 2.5, None, True]}),
    FieldKind.CLAIM: Claim("index", "engine", "SQLite"),
    FieldKind.CONNECTIONS: (Connection(ELSEWHERE, Edge.SUPPORTS, 0.7),),
}
WHOLE = Memory(**{row.name: SAMPLES[row.kind] for row in FIELDS})


def test_every_field_of_a_memory_but_its_use_has_one_row() -> None:
    names = [row.name for row in FIELDS]

    assert len(names) == len(set(names))
    assert set(names) == {each.name for each in fields(Memory)} - {"usage"}


def test_a_draft_takes_every_field_that_it_shares_with_a_memory() -> None:
    in_draft = {row.name for row in FIELDS if row.in_draft}

    assert in_draft == {each.name for each in fields(Draft)} - {"about_self", "replaces"}
    assert in_draft >= {each.name for each in fields(SharedFields)}


def test_the_file_format_names_the_keys_in_the_order_of_the_file() -> None:
    keys = FILE_FORMAT.read_text(encoding="utf-8").split("### 1.3 Keys")[1].split("\n\n")[1]
    named = [key for row in keys.splitlines() for key in re.findall(r"`(\w+)`", row.split("|")[1])]

    assert named == [row.name for row in FRONT_MATTER_FIELDS]


def test_every_field_survives_json_and_stands_in_an_export() -> None:
    read = memory_from_json(memory_to_json(WHOLE))

    assert replace(read, usage=WHOLE.usage) == WHOLE
    assert list(memory_fields(WHOLE)) == [row.name for row in FIELDS]


def test_every_field_survives_its_file() -> None:
    data = render_memory(WHOLE)

    assert read_memory("a.md", data, Fingerprint(0, len(data))).memory == WHOLE


def test_json_of_a_release_that_did_not_know_a_field_is_read() -> None:
    values = memory_to_json(WHOLE)
    del values["claim"]

    assert memory_from_json(values).claim is None
