"""What tells a memory that says something else from one that only stands elsewhere."""

from __future__ import annotations

from dataclasses import replace

import pytest

from madeleine.model.digest import state_digest, text_digest
from madeleine.model.memory import Connection, Memory, Usage
from madeleine.model.words import MemoryType, Tier
from tests.fakes import NOON

MEMORY = Memory("m", "Lunch is at noon", NOON, NOON, title="Lunch")


@pytest.mark.parametrize(
    "changed", [{"content": "Lunch is at one"}, {"title": None}, {"type": MemoryType.EVENT}]
)
def test_another_text_title_or_type_is_another_thing_to_judge(changed: dict[str, object]) -> None:
    other = replace(MEMORY, **changed)  # type: ignore[arg-type]  # real fields

    assert text_digest(other) != text_digest(MEMORY)
    assert state_digest(other) != state_digest(MEMORY)


def test_a_title_and_a_text_do_not_run_together() -> None:
    one, other = replace(MEMORY, title="ab", content="c"), replace(MEMORY, title="a", content="bc")

    assert text_digest(one) != text_digest(other)


@pytest.mark.parametrize(
    "changed",
    [{"connections": (Connection("x"),)}, {"usage": Usage(7)}, {"tags": ("x",)}],
)
def test_links_tags_and_use_change_nothing_that_is_judged(changed: dict[str, object]) -> None:
    other = replace(MEMORY, **changed)  # type: ignore[arg-type]  # real fields

    assert text_digest(other) == text_digest(MEMORY)
    assert state_digest(other) == state_digest(MEMORY)


@pytest.mark.parametrize(
    "changed",
    [{"tier": Tier.CORE}, {"space": "x"}, {"valid_until": NOON}, {"superseded_by": "x"}],
)
def test_a_place_is_decided_by_but_not_judged_by(changed: dict[str, object]) -> None:
    other = replace(MEMORY, **changed)  # type: ignore[arg-type]  # real fields

    assert text_digest(other) == text_digest(MEMORY)
    assert state_digest(other) != state_digest(MEMORY)
