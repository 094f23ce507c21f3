"""Draws connections between memories that have something to do with each other.

Candidates are close in meaning, a little closer when they belong to different projects. What
they are to each other is the judge's verdict; the arrow points as it says. A connection that
was drawn for similarity alone, when a memory was written, does not count as known: a sure verdict
may say something better. Nothing is drawn twice, in either direction.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from madeleine.model.memory import Connection, Memory
from madeleine.model.query import Filter
from madeleine.model.verdict import MemoryPair, Relation, Verdict
from madeleine.model.words import Edge, Tier
from madeleine.rules.linking import link_strength
from madeleine.sleep.pairs import (
    Arrows,
    PairAnswers,
    PairJob,
    PairQuery,
    is_about_different_things,
    read_arrows,
)
from madeleine.sleep.values import AddConnections, JobContext, Patch
from madeleine.write.linking import SIMILARITY_AUTHOR

NAME = "auto_linker"
LEAST_WEIGHT = 0.1  # a connection of weight 0 leads nowhere

EDGES = {
    Relation.SUPPORTS: Edge.SUPPORTS,
    Relation.PART_OF: Edge.PART_OF,
    Relation.DEPENDS_ON: Edge.DEPENDS_ON,
    Relation.TENSION: Edge.CONTRADICTS,
    Relation.RELATED_TO: Edge.RELATED_TO,
}
# What sleeps in the archive is found when asked for; new arrows to it would only wake it.
AWAKE = Filter(tiers=(Tier.CORE, Tier.WORKING))


def make_auto_linker() -> PairJob:
    return PairJob(NAME, build_pair_query, build_patches)


def build_pair_query(context: JobContext) -> PairQuery:
    """Return which pairs may be connected."""
    return PairQuery(
        chosen=AWAKE,
        beside=lambda memory: AWAKE,
        neighbours=context.config.link_neighbours,
        least=context.config.link_threshold,
        worth=lambda pair, arrows: (
            _pair_strength(context, pair) >= context.config.link_threshold
            and not _is_already_connected(arrows)
        ),
        one_subject=False,
        for_links=True,
    )


def build_patches(context: JobContext, answers: PairAnswers) -> list[Patch]:
    """Return the connections to be drawn, one patch for each file that gets some."""
    wanted = _drop_redundant(context, answers.with_relation(*EDGES))
    drawn = _within_bounds(context, wanted)
    by_source: dict[str, list[tuple[MemoryPair, Verdict]]] = defaultdict(list)
    for pair, verdict in drawn:
        by_source[_arrow_ends(pair, verdict)[0].id].append((pair, verdict))
    return [_build_patch(context, each) for each in by_source.values()]


def _drop_redundant(
    context: JobContext, wanted: list[tuple[MemoryPair, Verdict]]
) -> list[tuple[MemoryPair, Verdict]]:
    """Leave out what says no more than is known: that two are related. And different things do
    not contradict each other, whatever a judge says that looks at words."""
    if context.judge.cheap:
        wanted = [
            (p, v)
            for p, v in wanted
            if v.relation is not Relation.TENSION or not is_about_different_things(p)
        ]
    plain = [pair for pair, verdict in wanted if verdict.relation is Relation.RELATED_TO]
    arrows = read_arrows(
        context.stores.graph, sorted({each for pair in plain for each in pair.ids})
    )
    known = {pair.ids for pair in plain if arrows.get(frozenset(pair.ids))}
    if (
        context.judge.cheap
    ):  # similarity was looked at when a memory was written, if it had a vector
        tied = {end for ends in arrows for end in ends}
        known |= {pair.ids for pair in plain if pair.newer.id in tied}
    return [
        (pair, verdict)
        for pair, verdict in wanted
        if verdict.relation is not Relation.RELATED_TO or pair.ids not in known
    ]


def _within_bounds(
    context: JobContext, wanted: Iterable[tuple[MemoryPair, Verdict]]
) -> list[tuple[MemoryPair, Verdict]]:
    """Return what is sure enough: what says most first, then the surest; so many in a run, and
    so many for each memory. What has to wait is looked at again, unless it is mere similarity:
    an arrow that leads nowhere is not worth a second look at its ends."""
    each: Counter[str] = Counter()
    drawn: list[tuple[MemoryPair, Verdict]] = []
    for pair, verdict in sorted(wanted, key=lambda one: _is_similarity_only(context, one[1])):
        if verdict.sure < context.config.link_at:
            continue
        if len(drawn) == context.config.link_edges:
            context.again.update(() if _is_similarity_only(context, verdict) else pair.ids)
        elif all(each[end] < context.config.link_edges_each for end in pair.ids):
            each.update(pair.ids)
            drawn.append((pair, verdict))
    return drawn


def _build_patch(context: JobContext, drawn: list[tuple[MemoryPair, Verdict]]) -> Patch:
    source = _arrow_ends(*drawn[0])[0]
    targets = tuple(_arrow_ends(*each)[1] for each in drawn)
    connections = tuple(build_connection(context, *each) for each in drawn)
    said = "; ".join(f"{each.edge.value} `{each.target[:8]}`" for each in connections)
    return Patch(
        AddConnections(source, connections, targets),
        said,
        sure=min(verdict.sure for _, verdict in drawn),
    )


def build_connection(context: JobContext, pair: MemoryPair, verdict: Verdict) -> Connection:
    """Return the arrow that a verdict draws. What is merely related weighs as much as it is
    alike; else the weight is how sure the judge is. It is never nothing."""
    _, target = _arrow_ends(pair, verdict)
    weight = verdict.sure
    if verdict.relation is Relation.TENSION:
        weight = context.config.conflict_weight
    elif verdict.relation is Relation.RELATED_TO:
        weight = _pair_strength(context, pair)
    return Connection(
        target=target.id,
        edge=EDGES[verdict.relation],
        weight=round(min(max(weight, LEAST_WEIGHT), 1.0), 3),
        reason=verdict.reason or None,
        by=SIMILARITY_AUTHOR if _is_similarity_only(context, verdict) else context.report.job,
        at=context.now,
    )


def _is_similarity_only(context: JobContext, verdict: Verdict) -> bool:
    """Whether an arrow says no more than that two texts are alike, as far as words tell. Such
    arrows bear one name, whoever draws them: recall passes nothing on over them."""
    return context.judge.cheap and verdict.relation is Relation.RELATED_TO


def _arrow_ends(pair: MemoryPair, verdict: Verdict) -> tuple[Memory, Memory]:
    """Return where the arrow starts and where it ends."""
    return (pair.older, pair.newer) if verdict.from_older else (pair.newer, pair.older)


def _pair_strength(context: JobContext, pair: MemoryPair) -> float:
    same_space = pair.older.space == pair.newer.space
    return link_strength(pair.similarity, same_space, context.config.cross_space_penalty)


def _is_already_connected(arrows: Arrows) -> bool:
    """Whether somebody said already what the two are to each other."""
    return any(
        row.connection.edge is not Edge.RELATED_TO or row.connection.by != SIMILARITY_AUTHOR
        for row in arrows
    )
