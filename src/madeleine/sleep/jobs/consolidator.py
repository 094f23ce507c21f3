"""Makes one richer memory of several that tell of the same.

Clusters of working memories, each near all the others, are given to the judge, which writes
one text for them. The new memory is linked to every original by `derived_from`; the originals
go to the archive, where they are found when asked for. They are not marked as untrue: they
were not. A text that leaves out a number, a letter, a sign or a name, a small word that turns
something round, or most of what an original says is refused.

Without a language model the text is a digest of the originals' own sentences, each said once, those
that begin alike under one heading. It is taken only where it is clearly shorter than the originals,
says every fact of theirs (`sleep/digests.py`), and is not just what one of them says.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import combinations

import numpy as np

from madeleine.index.graph import EdgeRow
from madeleine.index.search import IndexHit
from madeleine.language.grouping import expand_groups
from madeleine.language.synthesis_check import SYNTHESIS_SHARE, find_synthesis_fault
from madeleine.language.text_merging import denies_alike, join_title_and_text
from madeleine.model.memory import Connection, Memory, Origin
from madeleine.model.proposal import ProposalStatus, ProposalType
from madeleine.model.query import Filter
from madeleine.model.vector import Vector
from madeleine.model.verdict import MemoryPair, Relation, Synthesis, Verdict
from madeleine.model.words import ABOUT_SELF, SELF_SOURCE, Edge, MemoryType, Tier
from madeleine.rules.clusters import find_cluster
from madeleine.sleep.digests import stands_for_all
from madeleine.sleep.pairs import (
    arrows_between,
    build_pair,
    has_one_voice,
    is_about_different_things,
)
from madeleine.sleep.seen import find_ids_to_look_at, judge_pairs, note_seen
from madeleine.sleep.values import JobContext, Patch, Synthesise

NAME = "consolidator"
SOURCE = "job:consolidator"
SEEDS_AT_ONCE = 128  # memories around which is looked in one go: some tenths of a second
DRAWN = 4  # neighbours that are looked at for each place in a cluster
READ_CHARS = 6_000  # of one memory; a longer one is not hidden behind a text that skimmed it
TAGS_AT_MOST = 32
LOOKED_AT = 10  # clusters for each that a cheap judge may join; the rest waits for the next run
JOINED_LEAST = 3  # memories that are joined without a language model
SHORTER = 0.8  # of what was said; else joining sentences saved nobody anything

LINEAGE = frozenset({Edge.DERIVED_FROM, Edge.SUMMARIZES})
AT_ODDS = frozenset({Edge.CONTRADICTS, Edge.EVOLVED_FROM})


@dataclass(frozen=True, slots=True)
class MemoryCluster:
    """Memories to be told as one, the oldest first, and every two of them."""

    members: tuple[Memory, ...]
    pairs: tuple[MemoryPair, ...] = ()

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(each.id for each in self.members)


@dataclass(slots=True)
class ClusterSearch:
    """What was found among the memories that changed, and which of those were looked at."""

    found: list[MemoryCluster] = field(default_factory=list)
    looked: dict[str, Memory] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    def add(self, cluster: MemoryCluster) -> None:
        self.found.append(cluster)
        self.taken |= cluster.ids


@dataclass(slots=True)
class Consolidator:
    """The job."""

    name: str = NAME
    looked: dict[str, Memory] = field(default_factory=dict)

    def plan(self, context: JobContext) -> Sequence[Patch]:
        clusters = find_clusters(context, _clusters_at_most(context))
        self.looked = clusters.looked
        context.report.looked += len(clusters.looked)
        context.report.counts["clusters"] = len(clusters.found)
        worthwhile = [each for each in clusters.found if _may_be_told_as_one(context, each)]
        agreeing = [_drop_disagreeing(context, each) for each in worthwhile]
        return build_patches(context, agreeing, context.judge.synthesise)

    def done(self, context: JobContext) -> None:
        note_seen(context, self.looked.values())


def make_consolidator() -> Consolidator:
    return Consolidator()


# --- finding clusters -----------------------------------------------------------------------


def find_clusters(context: JobContext, most: int) -> ClusterSearch:
    """Return clusters around memories that changed, the newest first, no memory in two."""
    index, clusters = context.stores.index, ClusterSearch()
    chosen = Filter(tiers=(Tier.WORKING,))
    ids = find_ids_to_look_at(context, chosen).ids
    for start in range(0, len(ids), SEEDS_AT_ONCE):
        if context.stop():
            break
        with index.steady():
            around = _Neighbourhood.of(context, ids[start : start + SEEDS_AT_ONCE])
        for seed in around.seeds:
            context.stores.priority_gate.give_way()
            if len(clusters.found) == most:
                return clusters
            clusters.looked[seed.id] = seed
            cluster = around.cluster(context, seed, clusters.taken)
            if cluster is not None:
                clusters.add(cluster)
    return clusters


@dataclass(frozen=True, slots=True)
class _Neighbourhood:
    """Some memories with their neighbours and what is between them."""

    seeds: list[Memory]
    near: Mapping[str, Sequence[IndexHit]]
    known: Mapping[str, Memory]
    vectors: Mapping[str, Vector]
    arrows: Mapping[frozenset[str], Sequence[EdgeRow]]
    derived: frozenset[str]
    spoken_for: frozenset[frozenset[str]]
    """Pairs about which somebody said no to making one of them, or is being asked."""

    @classmethod
    def of(cls, context: JobContext, ids: Sequence[str]) -> _Neighbourhood:
        index = context.stores.index
        seeds = index.search.memories(ids)
        near = _find_neighbours(context, seeds.values())
        known = {
            **seeds,
            **index.search.memories({hit.id for hits in near.values() for hit in hits}),
        }
        rows = index.graph.edges(list(known))
        made = {end for row in rows if row.connection.edge in LINEAGE for end in _edge_ends(row)}
        return cls(
            seeds=[seeds[each] for each in ids if each in seeds],
            near=near,
            known=known,
            vectors=index.search.vectors(list(known)),
            arrows=arrows_between(rows),
            derived=frozenset(made),
            spoken_for=_find_decided_pairs(context),
        )

    def cluster(
        self, context: JobContext, seed: Memory, taken: Container[str]
    ) -> MemoryCluster | None:
        """Return what belongs together with a memory; nothing if that is too little."""
        free = [each for each in (seed, *self._neighbours_of(seed)) if each.id not in taken]
        fits = [each for each in free if self._may_join(context, seed, each)]
        if seed not in fits:
            return None
        rows = np.stack([self.vectors[each.id] for each in fits])
        most = context.config.consolidate_most
        places = find_cluster(rows, _similarity_threshold(context), most, self._at_odds(fits))
        if len(places) < _members_at_least(context):
            return None
        members = sorted((fits[place] for place in places), key=_oldest_first)
        return MemoryCluster(tuple(members), tuple(self._build_pairs(members)))

    def _neighbours_of(self, seed: Memory) -> list[Memory]:
        return [self.known[hit.id] for hit in self.near.get(seed.id, ()) if hit.id in self.known]

    def _may_join(self, context: JobContext, seed: Memory, memory: Memory) -> bool:
        """Whether a memory may be told together with others: neither made of some already, nor
        too long to be read whole, nor an event, whose day is part of what it says, nor the
        statement of a claim, which stands by itself."""
        return (
            memory.id in self.vectors
            and memory.id not in self.derived
            and memory.source not in (SELF_SOURCE, SOURCE)
            and len(memory.content) <= READ_CHARS
            and memory.type is not MemoryType.EVENT
            and memory.claim is None
            and memory.valid_until == seed.valid_until
            and has_one_voice(build_pair(seed, memory, 0.0))
        )

    def _at_odds(self, fits: Sequence[Memory]) -> list[tuple[int, int]]:
        return [
            (one, other)
            for (one, a), (other, b) in combinations(enumerate(fits), 2)
            if self._are_at_odds(frozenset((a.id, b.id)))
        ]

    def _are_at_odds(self, pair: frozenset[str]) -> bool:
        drawn = (row.connection.edge in AT_ODDS for row in self.arrows.get(pair, ()))
        return pair in self.spoken_for or any(drawn)

    def _build_pairs(self, members: Sequence[Memory]) -> list[MemoryPair]:
        return [
            build_pair(one, other, float(self.vectors[one.id] @ self.vectors[other.id]))
            for one, other in combinations(members, 2)
        ]


def _find_decided_pairs(context: JobContext) -> frozenset[frozenset[str]]:
    log = context.stores.log
    asked = [
        each
        for status in (ProposalStatus.PENDING, ProposalStatus.REJECTED)
        for each in log.proposals(status)
        if each.type in (ProposalType.MERGE, ProposalType.CONFLICT)
    ]
    return frozenset(
        frozenset(pair) for each in asked for pair in combinations(each.source_nodes, 2)
    )


def _find_neighbours(context: JobContext, seeds: Iterable[Memory]) -> dict[str, list[IndexHit]]:
    """Return the nearest working memories of each, all in its own space."""
    spaces: dict[str | None, list[str]] = defaultdict(list)
    for seed in seeds:
        spaces[seed.space].append(seed.id)
    drawn = DRAWN * context.config.consolidate_most
    near: dict[str, list[IndexHit]] = {}
    for space, ids in spaces.items():
        chosen = Filter(tiers=(Tier.WORKING,), spaces=(space,))
        near |= context.stores.search.neighbours(
            ids, chosen, context.now, drawn, _similarity_threshold(context)
        )
    return near


def _clusters_at_most(context: JobContext) -> int:
    """Return how many clusters are looked at: as many as may be told as one, where looking
    costs; more, where most of them turn out to be nothing."""
    most = context.config.consolidate_clusters
    return most * LOOKED_AT if context.judge.cheap else most


def _members_at_least(context: JobContext) -> int:
    """Return how many make a cluster: two that say the same are for the duplicate_merger."""
    least = context.config.consolidate_least
    return max(least, JOINED_LEAST) if context.judge.cheap else least


def _similarity_threshold(context: JobContext) -> float:
    """Return how alike memories have to be: more so for a judge that only joins sentences."""
    config = context.config
    return config.consolidate_near if context.judge.cheap else config.consolidate_similarity


def _edge_ends(row: EdgeRow) -> tuple[str, str]:
    return row.source, row.connection.target


def _oldest_first(memory: Memory) -> tuple[datetime, str]:
    return memory.created, memory.id


def _may_be_told_as_one(context: JobContext, cluster: MemoryCluster) -> bool:
    """Whether there is a digest worth having, of all members or of all but one, who may turn out to
    be strange to the others. Joining sentences costs little; what its members are to each other
    has to be read, and most clusters have no digest."""
    context.stores.priority_gate.give_way()
    if not context.judge.cheap:
        return True
    members, least = cluster.members, _members_at_least(context)
    without = (
        [each for each in members if each is not one] for one in members if len(members) > least
    )
    return any(_has_digest(context, some) for some in (members, *without))


def _has_digest(context: JobContext, members: Sequence[Memory]) -> bool:
    told = context.judge.synthesise(members)
    return told is not None and bool(told.content.strip()) and _is_worth_more(told, members)


def _drop_disagreeing(context: JobContext, cluster: MemoryCluster) -> MemoryCluster:
    """Leave out what the judge finds at odds with a newer member, or strange to it."""
    verdicts = zip(cluster.pairs, judge_pairs(context, cluster.pairs), strict=True)
    out = {
        pair.older.id
        for pair, verdict in verdicts
        if verdict and _is_at_odds(context, pair, verdict)
    }
    return MemoryCluster(tuple(each for each in cluster.members if each.id not in out))


def _is_at_odds(context: JobContext, pair: MemoryPair, verdict: Verdict) -> bool:
    if context.judge.cheap and (
        verdict.relation is Relation.NONE or is_about_different_things(pair)
    ):
        return True
    at_odds = verdict.relation in (Relation.EVOLUTION, Relation.TENSION)
    return at_odds and verdict.sure >= context.config.propose_at


# --- telling them as one --------------------------------------------------------------------

Synthesiser = Callable[[Sequence[Memory]], Synthesis | None]


def build_patches(
    context: JobContext, clusters: Iterable[MemoryCluster], synthesise: Synthesiser
) -> list[Patch]:
    """Return a new memory for each cluster for which there is a text that says it all."""
    made: list[Patch] = []
    for cluster in clusters:
        if context.stop() or len(made) == context.config.consolidate_clusters:
            context.again |= cluster.ids
        elif len(cluster.members) >= _members_at_least(context):
            made += _build_synthesis_patch(context, cluster, synthesise)
    return made


def _build_synthesis_patch(
    context: JobContext, cluster: MemoryCluster, synthesise: Synthesiser
) -> list[Patch]:
    told = synthesise(cluster.members)
    if told is None:
        context.again |= cluster.ids
        return []
    context.report.judged += not context.judge.cheap
    if not told.content.strip():
        return []  # it was refused, and would be again as long as they say the same
    if context.judge.cheap and not _is_worth_more(told, cluster.members):
        return []
    problem = _find_problem(told, cluster.members)
    if problem:
        counts = context.report.problems
        counts[problem] = counts.get(problem, 0) + 1
        return []
    memory = _build_memory(context, cluster.members, told)
    return [Patch(Synthesise(memory, cluster.members), f"{len(cluster.members)} memories as one")]


def _find_problem(told: Synthesis, members: Sequence[Memory]) -> str:
    """Return what is wrong with a text for several memories; empty if nothing."""
    said = [(each.title, each.content) for each in members]
    content = expand_groups(told.content)
    lost = find_synthesis_fault(told.title, content, said, SYNTHESIS_SHARE)
    if not lost and not denies_alike(f"{told.title}\n{content}", map(join_title_and_text, members)):
        lost = "it denies something else"
    return f"a text for several memories was refused: {lost}" if lost else ""


def _is_worth_more(told: Synthesis, members: Sequence[Memory]) -> bool:
    """Whether sentences put together say in fewer words, and all of them, what was said; and more
    than one of the members by itself, for then there is only a copy to merge."""
    total = sum(len(each.content) for each in members)
    return len(told.content) <= SHORTER * total and stands_for_all(told, members)


def _build_memory(context: JobContext, members: Sequence[Memory], told: Synthesis) -> Memory:
    """Return the memory that stands for its members: their majority's type, all their tags, no
    surer than the least sure of them, and as new as the newest."""
    newest = max(members, key=_oldest_first)
    return Memory(
        id=context.stores.new_id(),
        content=told.content.strip(),
        created=newest.created,
        updated=context.now,
        type=_majority_type(members),
        space=newest.space,
        title=told.title.strip() or None,
        tags=_collect_tags(context, members),
        source=SOURCE,
        confidence=min(each.confidence for each in members),
        valid_until=newest.valid_until,
        origin=_common_origin(members),
        connections=tuple(_build_derived_from(context, each) for each in members),
    )


def _majority_type(members: Sequence[Memory]) -> MemoryType:
    """Return the most common type; of equally common ones the newest memory's."""
    newest_first = sorted(members, key=_oldest_first, reverse=True)
    return Counter(each.type for each in newest_first).most_common(1)[0][0]


def _collect_tags(context: JobContext, members: Sequence[Memory]) -> tuple[str, ...]:
    """Return all tags. What the self defines stays defined by it: by the tag that says so."""
    tags = dict.fromkeys(tag for each in members for tag in each.tags)
    rows = context.stores.graph.edges([each.id for each in members])
    ids = {each.id for each in members}
    if any(r.connection.edge is Edge.DEFINES and r.connection.target in ids for r in rows):
        tags = {ABOUT_SELF: None, **tags}
    return tuple(tags)[:TAGS_AT_MOST]


def _common_origin(members: Sequence[Memory]) -> Origin | None:
    """Return what all members have in common of where they came from."""
    origins = [each.origin or Origin() for each in members]
    session, speaker, uri = (
        values.pop() if len(values) == 1 else None
        for values in (
            {each.session for each in origins},
            {each.speaker for each in origins},
            {each.uri for each in origins},
        )
    )
    origin = Origin(session=session, speaker=speaker, uri=uri)
    return None if origin == Origin() else origin


def _build_derived_from(context: JobContext, member: Memory) -> Connection:
    return Connection(
        member.id, Edge.DERIVED_FROM, 1.0, "told together", context.report.job, context.now
    )
