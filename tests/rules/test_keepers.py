"""Which of two duplicates is kept."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from madeleine.rules.duplicates import keeper_order

NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)


def test_the_keeper_is_the_higher_tier_then_the_longer_then_the_newer() -> None:
    newer = NOON + timedelta(hours=1)

    assert keeper_order("core", 5, NOON) > keeper_order("working", 50, newer)
    assert keeper_order("working", 50, NOON) > keeper_order("working", 5, newer)
    assert keeper_order("working", 50, newer) > keeper_order("working", 50, NOON)
