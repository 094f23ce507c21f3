"""Connections a new memory starts with: those it was given, and those its meaning suggests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from madeleine.errors import SelfLink
from madeleine.index.search import IndexHit
from madeleine.model.draft import Draft
from madeleine.model.memory import Connection, Memory
from madeleine.model.query import Filter
from madeleine.model.vector import Vector
from madeleine.model.words import Edge
from madeleine.rules.linking import link_strength
from madeleine.write.resolve import resolve_id
from madeleine.write.stores import Stores

SIMILARITY_AUTHOR = "remember"  # who draws connections for similarity alone


def resolve_given_links(
    stores: Stores, draft: Draft, memory_id: str, coming: Mapping[str, str]
) -> tuple[Connection, ...]:
    """Return the draft's own connections with whole ids, each (target, edge) once.

    `coming` names ids that are being written in the same batch and may be pointed to already.
    """
    links: dict[tuple[str, Edge], Connection] = {}
    for link in draft.connections:
        if link.target.lower() == memory_id:
            raise SelfLink(memory_id)
        target = coming.get(link.target.lower()) or resolve_id(stores, link.target)
        at = link.at or stores.clock.now()
        links[target, link.edge] = replace(link, target=target, by=link.by or draft.source, at=at)
    return tuple(links.values())


@dataclass(frozen=True, slots=True)
class PendingMemory:
    """A memory that is being written at the same time, so that the index has it not yet."""

    id: str
    space: str | None
    vector: Vector


@dataclass(frozen=True, slots=True)
class NearMemories:
    """What one look at a new memory's neighbours found."""

    links: tuple[Connection, ...] = ()
    """`related_to` connections to those that are close enough in meaning."""
    similar: tuple[IndexHit, ...] = ()
    """Those that may say the same or be replaced by it, the most similar first."""


def find_near(
    stores: Stores,
    memory: Memory,
    vector: Vector | None,
    taken: tuple[Connection, ...],
    beside: Sequence[PendingMemory] = (),
) -> NearMemories:
    """Return the neighbours of a new memory that are close enough to be linked, or to be named.
    In another space they have to be closer."""
    if vector is None:
        return NearMemories()
    config, now = stores.config.write, stores.clock.now()
    least = min(config.link_threshold, config.similar_threshold)
    hits = stores.search.search_vector(vector, Filter(), now, config.link_neighbours, least)
    if beside:
        hits = _add_pending_hits(hits, vector, beside)[: config.link_neighbours]
    known = {link.target for link in taken} | {memory.id}
    near = [hit for hit in hits if hit.score >= least and hit.id not in known]
    if not near:
        return NearMemories()
    here = stores.search.select_allowed(
        [hit.id for hit in near], Filter(spaces=(memory.space,)), now
    )
    here |= {each.id for each in beside if each.space == memory.space}
    the_self = stores.graph.self_id()
    strengths = [
        (hit, link_strength(hit.score, hit.id in here, config.cross_space_penalty))
        for hit in near
        if hit.id != the_self
    ]
    return NearMemories(
        tuple(
            _build_related_link(hit.id, strength, stores)
            for hit, strength in strengths
            if strength >= config.link_threshold
        ),
        tuple(hit for hit, strength in strengths if strength >= config.similar_threshold),
    )


def _add_pending_hits(
    hits: list[IndexHit], vector: Vector, beside: Sequence[PendingMemory]
) -> list[IndexHit]:
    more = [IndexHit(each.id, float(each.vector @ vector)) for each in beside]
    return sorted([*hits, *more], key=lambda hit: -hit.score)


def _build_related_link(target: str, strength: float, stores: Stores) -> Connection:
    return Connection(
        target=target,
        edge=Edge.RELATED_TO,
        weight=round(min(strength, 1.0), 3),
        reason="close in meaning",
        by=SIMILARITY_AUTHOR,
        at=stores.clock.now(),
    )
