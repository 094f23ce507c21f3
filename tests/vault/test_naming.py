"""Names of files, from any title."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.model.memory import Memory
from madeleine.model.words import MemoryType
from madeleine.vault.file_naming import candidate_file_names, make_slug

ONE = "97acbe8e-aaaa-4bbb-8ccc-000000000001"
NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Lives in Dublin", "lives-in-dublin"),
        ("../../etc/passwd", "etc-passwd"),
        ("..", "untitled"),
        ("...hidden", "hidden"),
        ("a\x00b/c\\d", "a-b-c-d"),
        ("CON", "con"),
        ("Größe ÄÖ", "größe-äö"),
        ("東京で会った", "東京で会った"),
        ("हिन्दी में", "हिन्दी-में"),
        ("שלום עולם", "שלום-עולם"),
        ("ﬁne ①", "fine-1"),
        ("😀😀", "untitled"),
        ("a" * 100, "a" * 40),
        ("snake_case", "snake-case"),
    ],
)
def test_a_title_becomes_a_name(title: str, name: str) -> None:
    assert make_slug(title) == name


@given(st.text())
def test_no_title_makes_a_name_that_is_a_trick(title: str) -> None:
    name = make_slug(title)

    assert 0 < len(name) <= 40
    assert len(name.encode()) <= 120
    assert not set(name) & set("/\\.\x00 _")
    assert name[0] != "-"


def test_a_memory_without_a_title_is_named_after_its_first_words() -> None:
    memory = Memory(ONE, "# Chose SQLite\nbecause", NOON, NOON, type=MemoryType.DECISION)

    names = list(candidate_file_names(memory))

    assert names[:2] == [
        "decision_chose-sqlite_97acbe8e.md",
        "decision_chose-sqlite_97acbe8eaaaa.md",
    ]
    assert names[-1] == f"decision_chose-sqlite_{ONE.replace('-', '')}.md"
