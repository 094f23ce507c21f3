"""Asking, as these tests do it, and stores of a size that makes a filter work for its find."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from madeleine.model.draft import Draft
from madeleine.model.memory import Connection, Memory
from madeleine.model.query import Filter, RecallQuery
from madeleine.model.words import Edge
from madeleine.recall.recall import RecallMatch, RecallResult, recall
from madeleine.write.connections import link
from madeleine.write.remember import RememberResult
from madeleine.write.remember_many import remember_many
from madeleine.write.stores import Stores

ASKING = {
    "limit",
    "space",
    "session_id",
    "explain",
    "why_not",
    "all",
    "overview_limit",
    "is_question",
}


def ask(stores: Stores, text: str, **fields: object) -> RecallResult:
    """Ask; the fields are those of the query and of its filter. It counts as use only with
    `touch`, so that a test may ask twice and compare. What is below the floor is shown, unless
    `all` is False: these tests are about what is found and in which order, and test_floor.py about
    what is folded."""
    touch = fields.pop("touch", False) is True
    fields.setdefault("all", True)
    asking = {name: value for name, value in fields.items() if name in ASKING}
    chosen = {name: value for name, value in fields.items() if name not in ASKING}
    query = RecallQuery(text, filter=Filter(**chosen))  # type: ignore[arg-type]  # tests name real fields
    return recall(stores, replace(query, **asking), touch)  # type: ignore[arg-type]


def contents(stores: Stores, text: str, **fields: object) -> list[str]:
    """Return what the answers say, best first."""
    return [hit.memory.content for hit in ask(stores, text, **fields).hits]


def first(stores: Stores, text: str, **fields: object) -> RecallMatch:
    """Return the best answer."""
    return ask(stores, text, **fields).hits[0]


def hit_of(memory: Memory, recalled: RecallResult) -> RecallMatch:
    """Return the hit that a memory is."""
    (found,) = [hit for hit in recalled.hits if hit.memory.id == memory.id]
    return found


def place(memory: Memory, recalled: RecallResult) -> int:
    """Return which answer a memory is, from 1."""
    return [hit.memory.id for hit in recalled.hits].index(memory.id) + 1


def keep_many(stores: Stores, drafts: Iterable[Draft]) -> Sequence[Memory]:
    """Remember many at once, all of them new."""
    outcomes = remember_many(stores, list(drafts))
    return [each.memory for each in outcomes if isinstance(each, RememberResult)]


def services(count: int) -> list[Draft]:
    """Return as many drafts that all speak of a service and its database."""
    return [Draft(f"the database of service {number} is fast") for number in range(count)]


def connect(
    stores: Stores, source: Memory, edge: Edge, target: Memory, weight: float = 1.0
) -> None:
    """Say that one memory supports (or the like) another."""
    link(stores, source.id, Connection(target.id, edge, weight))
