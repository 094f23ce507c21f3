"""A `Filter` as a condition on `nodes n` or `passages p`, so that it acts inside every search
(I11). Both tables have the columns it looks at."""

from __future__ import annotations

from datetime import datetime

from madeleine.index.common.times import to_micros
from madeleine.model.query import Filter
from madeleine.model.words import EXCHANGE_TAG, Tier

OUTDATED_SQL = "(coalesce(@.valid_until <= %s, FALSE) OR @.superseded_by IS NOT NULL)"
"""Which rows are outdated at a moment; `@` is their table."""

IS_EXCHANGE_SQL = (
    f"(@.tier = '{Tier.ARCHIVAL.value}' AND @.node IN"
    f" (SELECT node FROM node_tags WHERE tenant = :tenant AND tag = '{EXCHANGE_TAG}'))"
)
"""Which rows are what was said in sessions, kept apart; `@` is their table."""


class PostgresCondition:
    """Parts of a WHERE clause with their bindings, joined by AND."""

    def __init__(self, table: str = "n") -> None:
        self.table = table
        self._parts: list[str] = []
        self.bindings: list[object] = []

    def add(self, part: str, *bindings: object) -> None:
        """Add a part; each `@` in it stands for the table."""
        self._parts.append(part.replace("@", self.table))
        self.bindings.extend(bindings)

    @property
    def sql(self) -> str:
        return " AND ".join(self._parts) or "TRUE"


def build_condition(chosen: Filter, now: datetime, table: str = "n") -> PostgresCondition:
    """Return which rows of a table pass the filter."""
    found = PostgresCondition(table)
    if chosen.types:
        found.add("@.type = ANY(%s::text[])", [each.value for each in chosen.types])
    if chosen.tiers:
        found.add("@.tier = ANY(%s::text[])", [each.value for each in chosen.tiers])
    if chosen.spaces:
        _add_spaces(found, chosen.spaces)
    if chosen.tags:
        tagged = "SELECT node FROM node_tags WHERE tenant = :tenant AND tag = ANY(%s::text[])"
        found.add(f"@.node IN ({tagged})", list(chosen.tags))
    if chosen.hides_exchanges:
        found.add(f"NOT {IS_EXCHANGE_SQL}")
    _add_times(found, chosen, now)
    return found


def is_narrow(chosen: Filter) -> bool:
    """Whether a filter may leave few of many, and not only what is outdated out."""
    return bool(
        chosen.types
        or chosen.tiers
        or chosen.spaces
        or chosen.tags
        or chosen.created_after
        or chosen.created_before
        or chosen.as_of
    )


def _add_spaces(found: PostgresCondition, spaces: tuple[str | None, ...]) -> None:
    named = [each for each in spaces if each is not None]
    if None in spaces:
        found.add("(@.space IS NULL OR @.space = ANY(%s::text[]))", named)
    else:
        found.add("@.space = ANY(%s::text[])", named)


def _add_times(found: PostgresCondition, chosen: Filter, now: datetime) -> None:
    if chosen.created_after is not None:
        found.add("@.created >= %s", to_micros(chosen.created_after))
    if chosen.created_before is not None:
        found.add("@.created < %s", to_micros(chosen.created_before))
    if chosen.as_of is not None:
        found.add("@.created <= %s", to_micros(chosen.as_of))
    if not chosen.outdated:
        past = outdated_condition(chosen, now, found.table)
        found.add(f"NOT ({past.sql})", *past.bindings)


def outdated_condition(chosen: Filter, now: datetime, table: str) -> PostgresCondition:
    """Return which rows are outdated at the moment asked about.

    When the past is asked about, a memory that has since been superseded was still valid
    until its `valid_until`; one without a date is taken to have been outdated all along.
    """
    found = PostgresCondition(table)
    if chosen.as_of is None:
        found.add(OUTDATED_SQL, to_micros(now))
    else:
        found.add(
            "CASE WHEN @.valid_until IS NULL THEN @.superseded_by IS NOT NULL"
            " ELSE @.valid_until <= %s END",
            to_micros(chosen.as_of),
        )
    return found
