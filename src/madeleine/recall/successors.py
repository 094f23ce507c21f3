"""What took the place of a memory, or may have: known, or as a question that waits.

A memory that is known to be replaced names its successor itself. Mostly it is not known yet: a job
found that a newer one replaces it, and somebody is being asked. Until then both are told, the newer
first, and the older says what may have replaced it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from madeleine.index.log import EventLog
from madeleine.model.memory import Memory
from madeleine.model.verdict import SUSPECTED, Relation
from madeleine.model.words import Edge
from madeleine.recall.memory_reader import MemoryReader
from madeleine.write.actions import SUPERSEDE

PREDECESSORS_SHOWN = 3  # of one memory


@dataclass(frozen=True, slots=True)
class WaitingReplacement:
    """That a newer memory replaces an older one, as somebody is being asked."""

    older: str
    newer: str
    proposal: str


@dataclass(frozen=True, slots=True)
class RelatedVersion:
    """A memory that replaced another, or was replaced by it; `proposal` is the question that waits,
    if that is not known yet."""

    memory: Memory
    proposal: str | None = None


def find_waiting_replacements(log: EventLog, ids: Sequence[str]) -> list[WaitingReplacement]:
    """Return what may have replaced one of these memories, or may be replaced by it, the newest
    question first."""
    actions = ((each.id, dict(each.action)) for each in log.questions_about(ids))
    return [
        WaitingReplacement(action["older"], action["newer"], proposal)
        for proposal, action in actions
        if action.get("verb") == SUPERSEDE
    ]


def find_suspected_replacements(
    log: EventLog, pairs: Sequence[tuple[str, str]]
) -> set[tuple[str, str]]:
    """Return those of some pairs (older, newer) of which a job suspects that the newer one replaces
    the older, and nobody is asked yet."""
    found = log.verdicts(pairs, SUSPECTED) if pairs else {}
    return {ids for ids, verdict in found.items() if verdict.relation is Relation.EVOLUTION}


def find_successor(
    reader: MemoryReader, memory: Memory, waiting: Sequence[WaitingReplacement]
) -> RelatedVersion | None:
    """Return what replaced a memory, or may have."""
    if memory.superseded_by is not None:
        known = reader.read([memory.superseded_by]).get(memory.superseded_by)
        return None if known is None else RelatedVersion(known)
    asked = next((each for each in waiting if each.older == memory.id), None)
    found = None if asked is None else reader.read([asked.newer]).get(asked.newer)
    return None if asked is None or found is None else RelatedVersion(found, asked.proposal)


def find_predecessors(
    reader: MemoryReader, memory: Memory, waiting: Sequence[WaitingReplacement]
) -> tuple[RelatedVersion, ...]:
    """Return what a memory replaced, or may have."""
    asked = {each.older: each.proposal for each in waiting if each.newer == memory.id}
    known = [each.target for each in memory.connections if each.edge is Edge.EVOLVED_FROM]
    found = reader.read([*known, *asked])
    return tuple(_build_predecessors(found, known, asked))[:PREDECESSORS_SHOWN]


def _build_predecessors(
    found: Mapping[str, Memory], known: Sequence[str], asked: Mapping[str, str]
) -> Iterator[RelatedVersion]:
    for each, memory in found.items():
        yield RelatedVersion(memory, None if each in known else asked.get(each))
