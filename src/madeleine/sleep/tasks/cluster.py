"""Puts memories that are alike under a summary, documented as a MetaMemory.

A summary is a memory of type concept with the tag `meta_pattern`, in the space that its members
have in common, linked to them by `summarizes`. Its text is made of their own sentences, or is
a language model's. It is found like any other memory; its members stay where they are.

A cluster has one summary. As long as its members are the same and say the same, a run changes
nothing; when they change, the same summary is written anew; when the cluster is no more, the
summary goes to the trash. One that a person changed in any way is theirs: it is left alone, and
counted. So is one that waits for the vectors of its members. What a person forgot or took back
is not written again, nor is one of mostly the same memories.

Who is in a cluster once stays in it, even archived or of little relevance: a summary of what
has faded is worth more, not less. Only who is relevant comes in.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile

import numpy as np
from threadpoolctl import threadpool_limits

from madeleine.index.search import EmbeddedMemories
from madeleine.language.extracts import extract_synthesis
from madeleine.language.synthesis_check import find_made_up
from madeleine.language.text_merging import join_title_and_text
from madeleine.model.digest import members_digest, summary_state_digest, text_digest
from madeleine.model.event import EventKind
from madeleine.model.memory import Connection, Memory, Origin
from madeleine.model.meta_pattern import MetaPattern, read_meta_pattern
from madeleine.model.query import Filter
from madeleine.model.times import format_time
from madeleine.model.verdict import Synthesis
from madeleine.model.words import MACHINE_AUTHORS, META_SOURCE, META_TAG, Edge, MemoryType
from madeleine.rules.communities import Community, find_communities
from madeleine.rules.similarity import VectorSet
from madeleine.rules.summary_matching import (
    find_refused,
    match_summaries,
)
from madeleine.sleep.actions import action_question_key
from madeleine.sleep.standings import MICROS_A_DAY
from madeleine.sleep.tasks.decay import bar_of
from madeleine.sleep.values import STOPPED, JobContext, MoveToTrash, Patch, Summarise
from madeleine.write.questions import rejected_keys
from madeleine.write.summaries import refused_summaries, summary_members

NAME = "cluster"
IDS = uuid.UUID("0c6f0a44-52f5-5c0e-8a0b-5d3b1f5e9b77")  # where ids made from members live
WRITTEN_AT_MOST = 100  # summaries in one run, those of the largest clusters first
READ = 24  # members whose sentences a summary is made of: those nearest to what all say
TOLD_TO_A_MODEL = 12  # of them
LINKED = 100  # members that a summary names
TEXT_CHARS = 4_000  # of a summary: every fact of those that are read, if they are short
TAGS_AT_MOST = 8
SHOWN, SHOWN_IDS, SHOWN_CHARS = 2, 20, 100  # clusters in the report, and how much of each


def make_cluster_task() -> ClusterTask:
    """Return the task."""
    return ClusterTask()


@dataclass(frozen=True)
class FoundCluster:
    """A cluster that was found, its members in the order of their ids."""

    all: EmbeddedMemories
    community: Community

    @cached_property
    def ids(self) -> list[str]:
        return [self.all.ids[place] for place in self.community.places]

    @cached_property
    def digest(self) -> str:
        said = [self.all.digests[place] for place in self.community.places]
        return members_digest(zip(self.ids, said, strict=True))

    @cached_property
    def nearest(self) -> list[tuple[str, float]]:
        """The members and how like the whole each is, the most alike first."""
        found = zip(self.ids, self.community.similarity, strict=True)
        return sorted(found, key=lambda each: (-each[1], each[0]))

    @property
    def dominant_type(self) -> MemoryType:
        """The most common type; of equally common ones the first in order."""
        codes = np.bincount(self.all.types[list(self.community.places)])
        return list(MemoryType)[int(codes.argmax())]

    @property
    def span_days(self) -> float:
        created = self.all.created[list(self.community.places)]
        return round(int(created.max() - created.min()) / MICROS_A_DAY, 4)

    @property
    def of_a_space(self) -> str | None:
        """A member that has a space, if any has."""
        places = (place for place in self.community.places if self.all.spaces[place])
        return next((self.all.ids[place] for place in places), None)


@dataclass(frozen=True)
class KnownSummary:
    """A summary that is there."""

    memory: Memory
    pattern: MetaPattern | None
    members: list[str]
    ours: bool
    """Whether it is as the last run left it: no person edited, moved or retired it since."""


class ClusterTask:
    """The task."""

    name = NAME

    def plan(self, context: JobContext) -> Sequence[Patch]:
        known = _find_summaries(context)
        groups = _find_clusters(context, known)
        if context.stop():
            context.report.stopped = STOPPED
            return []
        same = match_summaries([each.ids for each in groups], [each.members for each in known])
        _report_clusters(context, groups)
        context.tell = lambda: _report_carried_out(context)
        made = _build_summaries(context, _select_changed(context, groups, known, same))
        lost = _find_dissolved(context, known, set(same.values()))
        return [
            *(Patch(each, f"{len(each.memory.connections)} memories are alike") for each in made),
            *(Patch(each, "its cluster is no more") for each in lost),
        ]

    def done(self, context: JobContext) -> None:
        """Nothing to note: every memory is looked at each time."""


# --- what is there ------------------------------------------------------------------------


def _find_summaries(context: JobContext) -> list[KnownSummary]:
    """Return the summaries that are there, also those that somebody retired, or whose tags
    somebody took away."""
    search = context.stores.search
    found = search.memories(search.of_source(META_SOURCE)).values()
    return [
        KnownSummary(
            each, pattern, summary_members(context.stores, each), _is_ours(context, each, pattern)
        )
        for each in sorted(found, key=lambda each: each.id)
        for pattern in (read_meta_pattern(each),)
    ]


def _is_ours(context: JobContext, memory: Memory, pattern: MetaPattern | None) -> bool:
    retired = memory.valid_until is not None and memory.valid_until <= context.now
    if retired or memory.superseded_by is not None or pattern is None:
        return False
    if pattern.text != text_digest(memory):
        return False
    return pattern.rest in ("", summary_state_digest(memory)) or _only_jobs_changed(context, memory)


def _only_jobs_changed(context: JobContext, memory: Memory) -> bool:
    """Whether what is different about a summary came from other jobs: one may archive it, or
    let it name whom a member was merged into."""
    found = context.stores.log.history(memory.id)
    changers = [each.body.get("by") for each in found if each.kind is EventKind.CHANGED]
    since = list(takewhile(lambda by: by != NAME, changers))
    return bool(since) and MACHINE_AUTHORS.issuperset(since)


def _find_clusters(context: JobContext, known: Iterable[KnownSummary]) -> list[FoundCluster]:
    """Return the clusters, the largest first."""
    config = context.config.consolidation
    members = sorted({each for summary in known for each in summary.members})
    found = context.stores.search.gather_all(bar_of(context), context.now, members, context.stop)
    context.report.looked += len(found)
    cloud = VectorSet(found.matrix, found.rows)
    least, fewest = config.similarity_threshold, config.min_cluster_size
    # One core is enough: a second one gains little, and whoever asks something needs it.
    with threadpool_limits(1, "blas"):
        together = find_communities(cloud, least, fewest, found.spaces, context.stop)
    return [FoundCluster(found, each) for each in together]


def _select_changed(
    context: JobContext,
    groups: Sequence[FoundCluster],
    known: Sequence[KnownSummary],
    same: Mapping[int, int],
) -> list[tuple[FoundCluster, KnownSummary | None]]:
    """Return the clusters without a summary, and those whose summary no longer fits, as many as
    may be written. Others are as they were, or a person's, or were forgotten by one."""
    unwanted = find_refused([each.ids for each in groups], refused_summaries(context.stores))
    pairs = [
        (group, known[same[place]] if place in same else None)
        for place, group in enumerate(groups)
        if place in same or place not in unwanted
    ]
    theirs = sum(summary is not None and not summary.ours for _, summary in pairs)
    if theirs:
        context.report.counts["left_to_their_editors"] = theirs
    return _limit_per_run(context, [pair for pair in pairs if _needs_summary(*pair)])


def _needs_summary(group: FoundCluster, summary: KnownSummary | None) -> bool:
    """Whether a cluster has no summary, or one of ours that is of other members or texts."""
    if summary is None:
        return True
    fits = summary.pattern is not None and summary.pattern.members == group.digest
    return not fits and summary.ours


def _limit_per_run(
    context: JobContext, wanted: Sequence[tuple[FoundCluster, KnownSummary | None]]
) -> list[tuple[FoundCluster, KnownSummary | None]]:
    """Return those that are written in this run. A rewriting that somebody took back, or
    rejected, is none of them: no model is asked for it again."""
    said_no = rejected_keys(context.stores)
    changed: list[tuple[FoundCluster, KnownSummary | None]] = []
    for at, (group, summary) in enumerate(wanted):
        if len(changed) == WRITTEN_AT_MOST:
            context.report.counts["clusters_left"] = len(wanted) - at
            break
        if summary is None or not said_no or not _is_refused(context, group, summary, said_no):
            changed.append((group, summary))
    return changed


def _is_refused(
    context: JobContext, group: FoundCluster, summary: KnownSummary, said_no: set[str]
) -> bool:
    rewriting = Summarise(summary.memory, summary.memory, _select_read_members(context, group))
    return action_question_key(rewriting) in said_no


def _summary_id(group: FoundCluster) -> str:
    """Return the id of a new summary: the same on every device that finds this cluster."""
    return str(uuid.uuid5(IDS, " ".join(sorted(group.ids))))


# --- writing ------------------------------------------------------------------------------


def _build_summaries(
    context: JobContext, changed: Sequence[tuple[FoundCluster, KnownSummary | None]]
) -> list[Summarise]:
    made = []
    for done, (group, known) in enumerate(changed):
        if context.stop():
            context.report.stopped = STOPPED
            return []
        made.append(_build_summary(context, group, known.memory if known else None))
        context.progress(done + 1, len(changed))
    return made


def _build_summary(context: JobContext, group: FoundCluster, was: Memory | None) -> Summarise:
    """Return the summary of a cluster. What another job may have set on it stays: its tier,
    other connections."""
    read = _select_read_members(context, group)
    told = _compose_text(context, read)
    new = Memory(
        id=was.id if was else _new_id(context, group),
        content=told.content,
        created=was.created if was else context.now,
        updated=context.now,
        type=MemoryType.CONCEPT,
        space=next((each.space for each in read if each.space), None),
        title=told.title,
        tags=was.tags if was else _shared_tags(read),
        source=META_SOURCE,
        confidence=min(each.confidence for each in read),
        connections=_draw_connections(context, group, was),
    )
    kept = replace(new, tier=was.tier) if was else new
    return Summarise(replace(kept, origin=Origin(uri=_build_pattern(group, kept).uri)), was, read)


def _new_id(context: JobContext, group: FoundCluster) -> str:
    made = _summary_id(group)
    return made if context.stores.search.get(made) is None else context.stores.new_id()


def _select_read_members(context: JobContext, group: FoundCluster) -> tuple[Memory, ...]:
    """Return the members whose words are used, the most alike to all first, and one that tells
    the space."""
    wanted = [each for each, _ in group.nearest[:READ]]
    if group.of_a_space is not None:
        wanted.append(group.of_a_space)
    found = context.stores.search.memories(wanted)
    return tuple(found[each] for each in dict.fromkeys(wanted) if each in found)


def _compose_text(context: JobContext, read: Sequence[Memory]) -> Synthesis:
    """Return the text: a model's, if there is one and it makes nothing up, else a digest of what
    the members say, each fact once."""
    plain = extract_synthesis(read, TEXT_CHARS)
    if context.judge.cheap:
        return plain
    told = context.judge.synthesise(read[:TOLD_TO_A_MODEL])
    if told is None or not told.content.strip() or _makes_up(told, read):
        return plain
    return Synthesis(told.title.strip() or plain.title, told.content.strip())


def _makes_up(told: Synthesis, read: Sequence[Memory]) -> bool:
    """Whether a text has a number or a name that stands in none of the members."""
    return bool(
        find_made_up(f"{told.title}\n{told.content}", [join_title_and_text(each) for each in read])
    )


def _shared_tags(read: Sequence[Memory]) -> tuple[str, ...]:
    held = Counter(tag for each in read for tag in each.tags)
    shared = [tag for tag, count in held.most_common() if 2 * count > len(read)]
    return (META_TAG, *sorted(shared)[:TAGS_AT_MOST])


def _build_pattern(group: FoundCluster, memory: Memory) -> MetaPattern:
    return MetaPattern(
        group.dominant_type.value,
        len(group.ids),
        group.span_days,
        group.digest,
        text_digest(memory),
        summary_state_digest(memory),
    )


def _draw_connections(
    context: JobContext, group: FoundCluster, was: Memory | None
) -> tuple[Connection, ...]:
    """Return the arrows to the members nearest to what all say; those that were there before
    keep their date."""
    before = was.connections if was else ()
    drawn = {each.target: each.at for each in before if each.edge is Edge.SUMMARIZES}
    arrows = [
        Connection(each, Edge.SUMMARIZES, similarity, by=NAME, at=drawn.get(each) or context.now)
        for each, similarity in group.nearest[:LINKED]
    ]
    others = [each for each in before if each.edge is not Edge.SUMMARIZES]
    return (*others, *arrows)


# --- dissolving ---------------------------------------------------------------------------


def _find_dissolved(
    context: JobContext, known: Sequence[KnownSummary], kept: set[int]
) -> list[MoveToTrash]:
    """Return which summaries go: those whose cluster is no more. Where members wait for their
    vectors nobody can tell."""
    lost = [each for at, each in enumerate(known) if at not in kept and each.ours]
    members = {each for summary in lost for each in summary.members}
    waiting = _find_unembedded(context, members)
    return [MoveToTrash(each.memory) for each in lost if not waiting.intersection(each.members)]


def _find_unembedded(context: JobContext, members: set[str]) -> set[str]:
    search = context.stores.search
    current = search.select_allowed(members, Filter(), context.now)
    return current.difference(search.vectors(list(current)))


# --- the report ---------------------------------------------------------------------------


def _report_clusters(context: JobContext, groups: Sequence[FoundCluster]) -> None:
    """Put the documented figures into the report; what is made is counted when it is known."""
    context.report.counts |= {
        "clusters_found": len(groups),
        "meta_memories_created": 0,
        "meta_memories_updated": 0,
        "meta_memories_dissolved": 0,
        "sample_clusters": [_cluster_to_json(context, each) for each in groups[:SHOWN]],
    }


def _report_carried_out(context: JobContext) -> None:
    """Count what was done, or in a dry run would be."""
    actions = [each.action for each in context.carried_out]
    made = [each for each in actions if isinstance(each, Summarise)]
    context.report.counts |= {
        "meta_memories_created": sum(each.was is None for each in made),
        "meta_memories_updated": sum(each.was is not None for each in made),
        "meta_memories_dissolved": sum(isinstance(each, MoveToTrash) for each in actions),
    }


def _cluster_to_json(context: JobContext, group: FoundCluster) -> dict[str, object]:
    central = group.nearest[0][0]
    memory = context.stores.search.memories([central]).get(central)
    return {
        "cluster_id": _summary_id(group),
        "memory_ids": group.ids[:SHOWN_IDS],
        "size": len(group.ids),
        "dominant_type": group.dominant_type.value,
        "time_span_days": group.span_days,
        "sample_content": memory.content[:SHOWN_CHARS] if memory else "",
        "created_at": format_time(context.now),
    }
