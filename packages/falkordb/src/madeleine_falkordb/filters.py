"""A `Filter` as a condition on `(m:Memory)`, so that it acts inside every search (I11)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from madeleine.index.common.times import to_micros
from madeleine.model.query import Filter
from madeleine.model.words import EXCHANGE_TAG, Tier
from madeleine_falkordb.encoding import hash_key

ALWAYS_TRUE = "true"
OUTDATED_CYPHER = "(coalesce(m.valid_until <= $moment, false) OR m.superseded_by IS NOT NULL)"
"""Which memories are outdated at a moment."""

IS_EXCHANGE_CYPHER = f"(m.tier = '{Tier.ARCHIVAL.value}' AND $exchange_tag IN m.tag_keys)"
"""Which memories are what was said in sessions, kept apart."""


@dataclass(slots=True)
class CypherCondition:
    """Parts of a WHERE clause, joined by AND, with their parameters."""

    parts: list[str] = field(default_factory=list)
    parameters: dict[str, object] = field(default_factory=dict)

    def add(self, part: str, **parameters: object) -> None:
        self.parts.append(part)
        self.parameters.update(parameters)

    @property
    def cypher(self) -> str:
        return " AND ".join(self.parts) or ALWAYS_TRUE


def build_condition(chosen: Filter, now: datetime) -> CypherCondition:
    """Return which memories pass the filter."""
    found = CypherCondition()
    if chosen.types:
        found.add("m.type IN $types", types=[each.value for each in chosen.types])
    if chosen.tiers:
        found.add("m.tier IN $tiers", tiers=[each.value for each in chosen.tiers])
    if chosen.spaces:
        found.add("m.space_key IN $spaces", spaces=[hash_key(each) for each in chosen.spaces])
    if chosen.tags:
        keys = {f"tag{number}": hash_key(each) for number, each in enumerate(chosen.tags)}
        bears = " OR ".join(f"${each} IN m.tag_keys" for each in keys)
        found.add(f"({bears})", **keys)
    if chosen.hides_exchanges:
        found.add(f"NOT {IS_EXCHANGE_CYPHER}", exchange_tag=hash_key(EXCHANGE_TAG))
    _add_times(found, chosen, now)
    return found


def _add_times(found: CypherCondition, chosen: Filter, now: datetime) -> None:
    if chosen.created_after is not None:
        found.add("m.created >= $born_after", born_after=to_micros(chosen.created_after))
    if chosen.created_before is not None:
        found.add("m.created < $born_before", born_before=to_micros(chosen.created_before))
    if chosen.as_of is not None:
        found.add("m.created <= $as_of", as_of=to_micros(chosen.as_of))
    if not chosen.outdated:
        past = outdated_condition(chosen, now)
        found.add(f"NOT ({past.cypher})", **past.parameters)


def outdated_condition(chosen: Filter, now: datetime) -> CypherCondition:
    """Return which memories are outdated at the moment asked about.

    When the past is asked about, a memory that has since been superseded was still valid
    until its `valid_until`; one without a date is taken to have been outdated all along.
    """
    found = CypherCondition()
    if chosen.as_of is None:
        found.add(OUTDATED_CYPHER, moment=to_micros(now))
    else:
        past = "CASE WHEN m.valid_until IS NULL THEN m.superseded_by IS NOT NULL"
        found.add(f"{past} ELSE m.valid_until <= $moment END", moment=to_micros(chosen.as_of))
    return found
