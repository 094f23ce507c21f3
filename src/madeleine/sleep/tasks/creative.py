"""Finds associations between memories that nobody connected.

A few memories are drawn at random and compared with each other; what the four rules of
`rules.associations` say becomes a `discovered` connection, or of two unlike decisions a
`contradicts` connection, which is a contrast and no more. Nobody is asked about any of them.
Memories that are connected already are left as they are, and none gets more than a few
associations.

An association is a guess. It stays if both ends are used in one session within its first
months; if not, it is taken away again. The journal keeps that, as a verdict on the two, and they
are not drawn again until they are used together or one of them says something else.

That two memories come from the same week fits nearly any two, and most unlike decisions are
about different things. A run that nobody asked for leaves contrasts out, and the same week too,
unless a setting says otherwise.

What a dry run shows is what the next run does: which memories are drawn follows from a number
in the journal, which is another one after each run.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import combinations

import numpy as np

from madeleine.index.graph import EdgeRow
from madeleine.model.codec import CREATIVE
from madeleine.model.digest import text_digest
from madeleine.model.event import Event, EventKind
from madeleine.model.memory import Connection, Memory
from madeleine.model.proposal import ProposalStatus
from madeleine.model.times import format_time
from madeleine.model.vector import Vector
from madeleine.model.verdict import MemoryPair, Relation, Verdict, verdict_to_json
from madeleine.model.words import Edge, MemoryType
from madeleine.rules.associations import (
    EXPLAINS,
    PARALLEL_CONTEXT,
    Association,
    find_association,
    is_contrast,
)
from madeleine.sleep.actions import contradiction_key
from madeleine.sleep.pairs import build_pair
from madeleine.sleep.refused import drop_refused
from madeleine.sleep.tasks.decay import bar_of
from madeleine.sleep.values import STOPPED, AddConnections, JobContext, Patch, RemoveConnection
from madeleine.write.questions import is_about_contrast, rejected_keys
from madeleine.write.record import new_event, record_events

SEED = "creative.seed"  # the name under which the journal keeps what the next sample follows from
SHOWN = 3  # associations that the report names
DAY = timedelta(days=1)
BEGINNING = datetime.min.replace(tzinfo=UTC)  # nothing is older than a date can tell


def make_creative_task() -> CreativeTask:
    """Return the task."""
    return CreativeTask()


@dataclass(frozen=True, slots=True)
class FoundAssociation:
    """Two memories and what a rule says of them; the arrow goes from the first to the second."""

    source: Memory
    target: Memory
    similarity: float
    association: Association

    @property
    def ends(self) -> tuple[str, str]:
        return self.source.id, self.target.id


class CreativeTask:
    """The task. With a `seed` it draws the same memories each time."""

    name = CREATIVE

    def __init__(self, seed: int | None = None) -> None:
        self._seed = seed

    def plan(self, context: JobContext) -> Sequence[Patch]:
        known = context.stores.graph.associations()
        own = [each for each in known if each.connection.by == CREATIVE]
        found = sorted(_select_wanted(context, self._sample(context)), key=_surest_first)
        drawn = list(_within_bounds(context, found, known))
        _report_found(context, found, drawn)
        context.tell = lambda: _report_drawn(context)
        return [
            *(_build_patch(context, each) for each in drawn),
            *build_fading_patches(context, own),
        ]

    def done(self, context: JobContext) -> None:
        """Note what faded, and let the next run draw other memories."""
        following = zlib.crc32(context.report.run.encode())
        seed = new_event(context.stores, EventKind.STATE, {"key": SEED, "value": following})
        record_events(context.stores, [seed, *_faded_events(context)], durable=False)

    def _sample(self, context: JobContext) -> list[Memory]:
        config, index = context.config.consolidation, context.stores.index
        kept = index.log.state(SEED)
        seed = self._seed if self._seed is not None else kept if isinstance(kept, int) else 0
        ids = index.search.sample(bar_of(context), context.now, config.sample_size, seed)
        context.report.looked += len(ids)
        return list(index.search.memories(ids).values())


# --- finding ------------------------------------------------------------------------------


def _select_wanted(context: JobContext, sample: Sequence[Memory]) -> list[FoundAssociation]:
    """Return what the rules say of the sample and may be drawn: nobody refused it, and it has
    not faded. Who said no to a contradiction of two memories said no to their contrast too."""
    found = [
        each for each in discover_associations(context, sample) if _has_its_turn(context, each)
    ]
    faded, rejected = (
        _find_faded(context, [each.ends for each in found]),
        rejected_keys(context.stores),
    )
    left = [
        each
        for each in found
        if each.ends not in faded
        and (
            each.association.edge is not Edge.CONTRADICTS
            or contradiction_key(each.source, each.target) not in rejected
        )
    ]
    kept = drop_refused(context.stores, [_build_patch(context, each) for each in left])
    ends = {_link_ends(each) for each in kept}
    return [each for each in left if each.ends in ends]


def _link_ends(patch: Patch) -> tuple[str, str]:
    link = patch.action
    return (
        (link.source.id, link.connections[0].target)
        if isinstance(link, AddConnections)
        else ("", "")
    )


def _has_its_turn(context: JobContext, found: FoundAssociation) -> bool:
    config, said = context.config.consolidation, found.association
    if said.edge is Edge.CONTRADICTS:
        return config.contrast_rule and not context.due
    return said.kind != PARALLEL_CONTEXT or config.parallel_context or not context.due


def discover_associations(
    context: JobContext, sample: Sequence[Memory]
) -> Iterator[FoundAssociation]:
    """Yield what the rules say of each two that are not connected. A memory without a vector
    takes part in no pair: nothing is known of how alike it is to anything."""
    ids = [each.id for each in sample]
    vectors = context.stores.search.vectors(ids)
    connected = {
        frozenset((row.source, row.connection.target))
        for row in context.stores.graph.edges_between(ids)
    }
    embedded = sorted((each for each in sample if each.id in vectors), key=lambda each: each.id)
    for one, other in combinations(embedded, 2):
        if context.stop():
            context.report.stopped = STOPPED
            return
        if frozenset((one.id, other.id)) not in connected:
            found = _find_association(build_pair(one, other, _compute_cosine(vectors, one, other)))
            if found is not None:
                yield found


def _compute_cosine(vectors: Mapping[str, Vector], one: Memory, other: Memory) -> float:
    mine, theirs = (vectors[each.id].astype(np.float64) for each in (one, other))
    return float(mine @ theirs / (np.linalg.norm(mine) * np.linalg.norm(theirs)))


def _find_association(pair: MemoryPair) -> FoundAssociation | None:
    days = (pair.newer.created - pair.older.created) / DAY
    said = find_association(pair.older.type, pair.newer.type, pair.similarity, days)
    if said is None:
        return None
    source, target = pair.newer, pair.older
    if said.kind == EXPLAINS and source.type is MemoryType.CONCEPT:
        source, target = target, source  # what was seen explains the pattern
    return FoundAssociation(source, target, pair.similarity, said)


def _surest_first(found: FoundAssociation) -> tuple[float, float, tuple[str, str]]:
    return -found.association.confidence, -found.similarity, found.ends


# --- how many -----------------------------------------------------------------------------


def _within_bounds(
    context: JobContext, found: Sequence[FoundAssociation], known: Sequence[EdgeRow]
) -> Iterator[FoundAssociation]:
    """Yield the connections to be drawn: the surest, as long as both ends have room."""
    most = context.config.consolidation.associations_each
    taken = Counter(end for row in known for end in (row.source, row.connection.target))
    for each in found:
        fits = all(taken[end] < most for end in each.ends)
        if fits:
            taken.update(each.ends)
            yield each


def _build_patch(context: JobContext, found: FoundAssociation) -> Patch:
    said = found.association
    what = said.kind or "decisions with little in common"
    reason = f"{what.replace('_', ' ')}, likeness {found.similarity:.2f}"
    connection = Connection(
        found.target.id,
        said.edge,
        weight=round(min(max(found.similarity, 0.0), 1.0), 4),
        reason=reason,
        by=CREATIVE,
        at=context.now,
        kind=said.kind,
        confidence=round(said.confidence, 4),
    )
    link = AddConnections(found.source, (connection,), (found.target,))
    return Patch(link, reason, sure=said.confidence)


# --- fading -------------------------------------------------------------------------------


def build_fading_patches(context: JobContext, own: Sequence[EdgeRow]) -> list[Patch]:
    """Return what takes away the associations that nobody needed in time. A contrast that a person
    approved, when they were still asked, stays."""
    days, late = context.config.consolidation.association_days, _fading_deadline(context)
    approved = _approved_contrasts(context)
    old = [
        (each, at)
        for each in own
        if (at := each.connection.at) is not None
        and at <= late
        and not (is_contrast(each.connection) and frozenset(_edge_ends(each)) in approved)
    ]
    needed = context.stores.log.used_together(
        [_edge_ends(each) for each, _ in old], [at for _, at in old]
    )
    unused = [each for each, _ in old if _edge_ends(each) not in needed]
    known = context.stores.search.memories({each.source for each in unused})
    reason = f"not used together in {days:g} days"
    return [
        Patch(RemoveConnection(known[each.source], each.connection), reason)
        for each in unused
        if each.source in known
    ]


def _approved_contrasts(context: JobContext) -> set[frozenset[str]]:
    approved = context.stores.log.proposals(ProposalStatus.APPROVED)
    return {frozenset(each.source_nodes) for each in approved if is_about_contrast(each)}


def _fading_deadline(context: JobContext) -> datetime:
    """Return since when an association has its time; for more days than a date can tell, since
    the beginning: it never fades."""
    days = context.config.consolidation.association_days
    return (
        context.now - timedelta(days=days) if days < (context.now - BEGINNING) / DAY else BEGINNING
    )


def _find_faded(context: JobContext, pairs: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return those of the pairs whose association faded, and that were not used together since:
    within the time that an association has."""
    known = context.stores.log.verdicts([_order_ids(*each) for each in pairs], CREATIVE)
    faded = [each for each in pairs if _order_ids(*each) in known]
    used = context.stores.log.used_together(faded, [_fading_deadline(context)] * len(faded))
    return set(faded) - used


def _faded_events(context: JobContext) -> list[Event]:
    """Return what the journal keeps of the associations that were taken away."""
    gone = [
        each.action for each in context.carried_out if isinstance(each.action, RemoveConnection)
    ]
    pairs = {_order_ids(each.source.id, each.connection.target): each for each in gone}
    known = context.stores.search.memories({each for pair in pairs for each in pair})
    said = verdict_to_json(Verdict(Relation.NONE, 1.0, "not used together in time"))
    return [
        new_event(
            context.stores,
            EventKind.JUDGED,
            {
                "job": CREATIVE,
                "judge": CREATIVE,
                "pair": list(pair),
                "digests": [text_digest(known[each]) for each in pair],
                "verdict": said,
            },
        )
        for pair in pairs
        if known.keys() >= set(pair)
    ]


def _order_ids(one: str, other: str) -> tuple[str, str]:
    return (one, other) if one < other else (other, one)


def _edge_ends(row: EdgeRow) -> tuple[str, str]:
    return row.source, row.connection.target


# --- the report ---------------------------------------------------------------------------


def _report_found(
    context: JobContext, found: Sequence[FoundAssociation], shown: Sequence[FoundAssociation]
) -> None:
    """Put the documented figures into the report; what is created is counted when it is known."""
    context.report.counts |= {
        "discovered": len(found),
        "created": 0,
        "sample_associations": [_association_to_json(each, context.now) for each in shown[:SHOWN]],
    }


def _report_drawn(context: JobContext) -> None:
    """Count what was drawn, or in a dry run would be."""
    drawn = [each for each in context.carried_out if isinstance(each.action, AddConnections)]
    context.report.counts["created"] = len(drawn)


def _association_to_json(found: FoundAssociation, now: datetime) -> dict[str, object]:
    return {
        "memory1_id": found.source.id,
        "memory2_id": found.target.id,
        "type": found.association.edge.value,
        "kind": found.association.kind,
        "confidence": round(found.association.confidence, 4),
        "similarity": round(found.similarity, 4),
        "discovered_at": format_time(now),
    }
