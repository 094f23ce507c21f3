"""A `Filter` as a condition on `nodes n`, so that it acts inside every search (I11)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from madeleine.index.common.rows import ColumnValue
from madeleine.index.common.times import to_micros
from madeleine.model.query import Filter
from madeleine.model.words import EXCHANGE_TAG, Tier

CURRENT_SQL = "(n.superseded_by IS NULL AND (n.valid_until IS NULL OR n.valid_until > ?))"
"""Which rows of `nodes n` are not outdated at a moment."""

IS_EXCHANGE_SQL = (
    f"(n.tier = '{Tier.ARCHIVAL.value}'"
    f" AND n.node IN (SELECT node FROM node_tags WHERE tag = '{EXCHANGE_TAG}'))"
)
"""Which rows of `nodes n` are what was said in sessions, kept apart."""


class SqliteCondition:
    """Parts of a WHERE clause with their bindings, joined by AND."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self.bindings: list[ColumnValue] = []

    def add(self, part: str, *bindings: ColumnValue) -> None:
        self._parts.append(part)
        self.bindings.extend(bindings)

    def any_of(self, part: str, values: Sequence[ColumnValue]) -> None:
        """Add `part` with its `{}` filled by one mark for each value."""
        self.add(part.format(", ".join("?" * len(values))), *values)

    @property
    def sql(self) -> str:
        return " AND ".join(self._parts) or "TRUE"


def build_condition(chosen: Filter, now: datetime, by_space: bool = False) -> SqliteCondition:
    """Return which rows of `nodes n` pass the filter. `by_space` lets SQLite go through the rows
    of one space in their order; else it must not (that is the `+`): without statistics it takes
    every space for a small one, and would rather go through that than look up a few ids."""
    found = SqliteCondition()
    if chosen.types:
        found.any_of("n.type IN ({})", [each.value for each in chosen.types])
    if chosen.tiers:
        found.any_of("n.tier IN ({})", [each.value for each in chosen.tiers])
    if chosen.spaces:
        ordered = by_space and len(chosen.spaces) == 1
        _add_spaces(found, chosen.spaces, "n.space" if ordered else "+n.space")
    if chosen.tags:
        tagged = "n.node IN (SELECT node FROM node_tags WHERE tag IN ({}))"
        found.any_of(tagged, chosen.tags)
    if chosen.hides_exchanges:
        found.add(f"NOT {IS_EXCHANGE_SQL}")
    _add_times(found, chosen, now)
    return found


def _add_spaces(found: SqliteCondition, spaces: tuple[str | None, ...], column: str) -> None:
    named = [each for each in spaces if each is not None]
    if not named:
        found.add(f"{column} IS NULL")
    elif None in spaces:
        found.any_of(f"({column} IS NULL OR {column} IN ({{}}))", named)
    else:
        found.any_of(f"{column} IN ({{}})", named)


def _add_times(found: SqliteCondition, chosen: Filter, now: datetime) -> None:
    if chosen.created_after is not None:
        found.add("n.created >= ?", to_micros(chosen.created_after))
    if chosen.created_before is not None:
        found.add("n.created < ?", to_micros(chosen.created_before))
    if chosen.as_of is not None:
        found.add("n.created <= ?", to_micros(chosen.as_of))
    if not chosen.outdated:
        _add_validity(found, chosen, now)


def _add_validity(found: SqliteCondition, chosen: Filter, now: datetime) -> None:
    """Leave out what is outdated at the moment asked about.

    When the past is asked about, a memory that has since been superseded was still valid
    until its `valid_until`; one without a date is taken to have been outdated all along.
    """
    if chosen.as_of is None:
        found.add(CURRENT_SQL, to_micros(now))
    else:
        found.add(
            "(n.valid_until > ? OR ifnull(n.valid_until, n.superseded_by) IS NULL)",
            to_micros(chosen.as_of),
        )
