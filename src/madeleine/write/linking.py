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


def suggest_links(
    stores: Stores,
    memory: Memory,
    vector: Vector | None,
    taken: tuple[Connection, ...],
    beside: Sequence[PendingMemory] = (),
) -> tuple[Connection, ...]:
    """Return `related_to` connections to the neighbours that are close enough in meaning."""
    if vector is None:
        return ()
    config = stores.config
    now = stores.clock.now()
    least = config.write.link_threshold
    hits = stores.search.search_vector(vector, Filter(), now, config.write.link_neighbours, least)
    if beside:
        hits = _add_pending_hits(hits, vector, beside)[: config.write.link_neighbours]
    known = {link.target for link in taken} | {memory.id}
    near = [hit for hit in hits if hit.score >= least and hit.id not in known]
    if not near:
        return ()
    here = stores.search.allowed([hit.id for hit in near], Filter(spaces=(memory.space,)), now)
    here |= {each.id for each in beside if each.space == memory.space}
    the_self = stores.graph.self_id()
    links = []
    for hit in near:
        strength = link_strength(hit.score, hit.id in here, config.write.cross_space_penalty)
        if strength >= least and hit.id != the_self:
            links.append(_build_related_link(hit.id, strength, stores))
    return tuple(links)


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
