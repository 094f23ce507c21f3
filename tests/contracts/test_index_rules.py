"""An index says by which rules words and triggers were read into it; others fill it anew."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from madeleine.language.triggers import trigger_keys
from madeleine.model.query import Filter
from madeleine.testing.engines import Maker
from madeleine.testing.making import NOON, keep, memory

RULE_HOLDERS = (
    "madeleine.index.sqlite.vectors",
    "madeleine.index.postgres.index",
    "madeleine_falkordb.index",
)


def test_an_index_that_was_filled_by_other_rules_waits_to_be_filled_anew(
    make_index: Maker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = memory(1, content="legacy/ is not touched without asking Tom")
    with pytest.MonkeyPatch.context() as before:
        for each in RULE_HOLDERS:
            before.setattr(importlib.import_module(each), "INDEX_RULES", "of old")
        opened = make_index(tmp_path)
        keep(opened, rule)
        assert opened.search.extent().memories == 1
        opened.close()

    opened = make_index(tmp_path)
    emptied = opened.search.extent().memories
    keep(opened, rule)
    found = opened.search.triggered_memories(trigger_keys(rule), Filter(), NOON, 5)
    opened.close()
    again = make_index(tmp_path)
    kept = again.search.extent().memories
    again.close()

    assert (emptied, found, kept) == (0, [rule.id], 1)
