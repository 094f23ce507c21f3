"""What took the place of a memory, or may have: known, or as a question that waits.

A memory that is known to be replaced names its successor itself. Mostly it is not known yet: a job
found that a newer one replaces it, and somebody is being asked, or it only suspects so. Until then
recall tells both, the newer first, and the older says what may have replaced it; what is told
unasked tells the newer one and names the older.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from madeleine.index.log import EventLog
from madeleine.model.memory import Memory
from madeleine.model.query import Filter
from madeleine.model.verdict import SUSPECTED, Relation
from madeleine.model.words import ABOUT_SELF, Edge
from madeleine.recall.memory_reader import MemoryReader
from madeleine.write.actions import SUPERSEDE
from madeleine.write.stores import Stores

PREDECESSORS_SHOWN = 3  # of one memory
SUCCESSORS_FOLLOWED = 4  # from what was replaced to what replaced that, and so on


@dataclass(frozen=True, slots=True)
class WaitingReplacement:
    """That a newer memory replaces an older one, as somebody is being asked, or a job suspects."""

    older: str
    newer: str
    proposal: str | None


@dataclass(frozen=True, slots=True)
class RelatedVersion:
    """A memory that replaced another, or was replaced by it."""

    memory: Memory
    proposal: str | None = None
    """The question that waits, where somebody is being asked."""
    is_suspected: bool = False
    """Whether a job only suspects it, and nobody is asked yet."""

    @property
    def is_known(self) -> bool:
        return self.proposal is None and not self.is_suspected


def find_waiting_replacements(log: EventLog, ids: Sequence[str]) -> list[WaitingReplacement]:
    """Return what may have replaced one of these memories, or may be replaced by it, the newest
    question first."""
    actions = ((each.id, dict(each.action)) for each in log.questions_about(ids))
    return [
        WaitingReplacement(action["older"], action["newer"], proposal)
        for proposal, action in actions
        if action.get("verb") == SUPERSEDE
    ]


def find_suspected_replacements(log: EventLog, ids: Sequence[str]) -> list[WaitingReplacement]:
    """Return of what a job suspects that it replaces one of these memories, and nobody is asked
    yet, the surest first."""
    found = log.verdicts_on_older(ids, SUSPECTED) if ids else {}
    sure = [(-each.sure, ids) for ids, each in found.items() if each.relation is Relation.EVOLUTION]
    return [WaitingReplacement(*ids, None) for _, ids in sorted(sure)]


def find_possible_successors(
    stores: Stores, memories: Sequence[Memory], chosen: Filter, now: datetime
) -> dict[str, Memory]:
    """Return for each of these memories the last of those that may have replaced it, one after the
    other, if there is one that passes. What is private comes in the place of nothing else."""
    if not memories:
        return {}
    log, search = stores.log, stores.search
    last = {each.id: each for each in memories}
    private = {each.id: ABOUT_SELF in each.tags for each in memories}
    for _ in range(SUCCESSORS_FOLLOWED):
        ids = sorted({each.id for each in last.values()})
        found = [*find_waiting_replacements(log, ids), *find_suspected_replacements(log, ids)]
        after: dict[str, str] = {}
        for each in found:
            after.setdefault(each.older, each.newer)
        passing = search.select_allowed(sorted(set(after.values())), chosen, now) if after else ()
        newer = search.memories(passing) if passing else {}
        moved = {
            start: newer[after[each.id]]
            for start, each in last.items()
            if after.get(each.id) in newer
            and after[each.id] != start
            and (ABOUT_SELF in newer[after[each.id]].tags) == private[start]
        }
        if not moved:
            break
        last |= moved
    return {start: each for start, each in last.items() if each.id != start}


def find_successor(
    reader: MemoryReader, memory: Memory, waiting: Sequence[WaitingReplacement]
) -> RelatedVersion | None:
    """Return what replaced a memory, or may have."""
    if memory.superseded_by is not None:
        known = reader.read([memory.superseded_by]).get(memory.superseded_by)
        return None if known is None else RelatedVersion(known)
    asked = next((each for each in waiting if each.older == memory.id), None)
    found = None if asked is None else reader.read([asked.newer]).get(asked.newer)
    return None if asked is None or found is None else _build_waiting_version(found, asked)


def find_predecessors(
    reader: MemoryReader, memory: Memory, waiting: Sequence[WaitingReplacement]
) -> tuple[RelatedVersion, ...]:
    """Return what a memory replaced, or may have."""
    asked = {each.older: each for each in reversed(waiting) if each.newer == memory.id}
    known = [each.target for each in memory.connections if each.edge is Edge.EVOLVED_FROM]
    found = reader.read([*known, *asked])
    return tuple(_build_predecessors(found, known, asked))[:PREDECESSORS_SHOWN]


def _build_predecessors(
    found: Mapping[str, Memory], known: Sequence[str], asked: Mapping[str, WaitingReplacement]
) -> Iterator[RelatedVersion]:
    for each, memory in found.items():
        is_asked = each in asked and each not in known
        yield _build_waiting_version(memory, asked[each]) if is_asked else RelatedVersion(memory)


def _build_waiting_version(memory: Memory, asked: WaitingReplacement) -> RelatedVersion:
    return RelatedVersion(memory, asked.proposal, is_suspected=asked.proposal is None)
