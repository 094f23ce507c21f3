"""A `Filter` as a condition on `nodes n` or `passages p`, so that it acts inside every search
(I11). Both tables have the columns it looks at."""

from __future__ import annotations

from datetime import datetime

from madeleine.index.common.times import micros
from madeleine.model.query import Filter

OUTDATED = "(coalesce(@.valid_until <= %s, FALSE) OR @.superseded_by IS NOT NULL)"
"""Which rows are outdated at a moment; `@` is their table."""


class Condition:
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


def condition(chosen: Filter, now: datetime, table: str = "n") -> Condition:
    """Return which rows of a table pass the filter."""
    found = Condition(table)
    if chosen.types:
        found.add("@.type = ANY(%s::text[])", [each.value for each in chosen.types])
    if chosen.tiers:
        found.add("@.tier = ANY(%s::text[])", [each.value for each in chosen.tiers])
    if chosen.spaces:
        _spaces(found, chosen.spaces)
    if chosen.tags:
        tagged = "SELECT node FROM node_tags WHERE tenant = :tenant AND tag = ANY(%s::text[])"
        found.add(f"@.node IN ({tagged})", list(chosen.tags))
    _times(found, chosen, now)
    return found


def narrows(chosen: Filter) -> bool:
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


def _spaces(found: Condition, spaces: tuple[str | None, ...]) -> None:
    named = [each for each in spaces if each is not None]
    if None in spaces:
        found.add("(@.space IS NULL OR @.space = ANY(%s::text[]))", named)
    else:
        found.add("@.space = ANY(%s::text[])", named)


def _times(found: Condition, chosen: Filter, now: datetime) -> None:
    if chosen.created_after is not None:
        found.add("@.created >= %s", micros(chosen.created_after))
    if chosen.created_before is not None:
        found.add("@.created < %s", micros(chosen.created_before))
    if chosen.as_of is not None:
        found.add("@.created <= %s", micros(chosen.as_of))
    if not chosen.outdated:
        past = outdated(chosen, now, found.table)
        found.add(f"NOT ({past.sql})", *past.bindings)


def outdated(chosen: Filter, now: datetime, table: str) -> Condition:
    """Return which rows are outdated at the moment asked about.

    When the past is asked about, a memory that has since been superseded was still valid
    until its `valid_until`; one without a date is taken to have been outdated all along.
    """
    found = Condition(table)
    if chosen.as_of is None:
        found.add(OUTDATED, micros(now))
    else:
        found.add(
            "CASE WHEN @.valid_until IS NULL THEN @.superseded_by IS NOT NULL"
            " ELSE @.valid_until <= %s END",
            micros(chosen.as_of),
        )
    return found
