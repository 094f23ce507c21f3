"""One memory whole: what it says, what it hangs together with, how strong it is and why, what is
like it and what happened to it. Looking at it is no use: nothing is noted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from madeleine.api import reach
from madeleine.api.contract.page_responses import (
    Brief,
    ImportanceParts,
    LinkedMemory,
    MemoryDifference,
    SimilarMemories,
    SimilarMemory,
    StayReason,
    Strength,
    WholeMemory,
)
from madeleine.api.contract.requests import (
    PageAlikeBody,
    PageDifferenceQuery,
    PageMemoryQuery,
)
from madeleine.api.operation import operation
from madeleine.api.page.brief import build_brief, build_mention
from madeleine.api.shared_behaviour import at_holder
from madeleine.errors import FileUnreadable, MindDown
from madeleine.index.graph import EdgeRow
from madeleine.language.text_keys import same_text_key
from madeleine.language.upcoming import is_upcoming
from madeleine.model.codec import algorithm_of
from madeleine.model.digest import memory_version
from madeleine.model.draft import read_space
from madeleine.model.embedding import LEAST_KNOWN_SHARE
from madeleine.model.event import EventKind
from madeleine.model.memory import Memory
from madeleine.model.people import Role
from madeleine.model.query import Filter
from madeleine.model.request_reader import RequestReader
from madeleine.model.stored_memory import StoredMemory
from madeleine.model.times import format_time
from madeleine.model.vector import Vector
from madeleine.model.words import ABOUT_SELF, MACHINE_AUTHORS, SELF_SOURCE, Tier
from madeleine.recall.standing_listing import find_standing_activity
from madeleine.rules.associations import CONTRASTS_WITH, is_contrast
from madeleine.rules.forgetting import PROTECTED_TAG
from madeleine.rules.importance import (
    ACCESS_REFERENCE,
    ACCESS_WEIGHT,
    EDGE_REFERENCE,
    EDGE_WEIGHT,
    RECENCY_WEIGHT,
    log_share,
    stability_of_half_life,
)
from madeleine.rules.strength import retrievability
from madeleine.rules.strength_history import UseHistory, find_fading_time, retrievability_at
from madeleine.rules.usage import read_adopted_counters
from madeleine.sleep.config import SleepConfig
from madeleine.sleep.fading import build_lifecycle, least_chance, never_fading_types
from madeleine.write.change_file import add_usage, find_current
from madeleine.write.show import find_anywhere
from madeleine.write.stores import Stores
from madeleine.write.transitions import MemoryTransition, read_memory_as_of, read_transition

if TYPE_CHECKING:
    from madeleine.api.call import OperationCall
    from madeleine.bootstrap import HomeContext

MAX_CONNECTIONS = 200
MAX_SIMILAR = 8
MIN_SIMILARITY = 0.3  # below it two texts have nothing to do with each other
MAX_ALIKE = 5
MAX_ALIKE_CHARS = 4_000  # of a text that is being written; its beginning says what it is about
MIN_ALIKE = 0.5  # below it a text that is being written has no look-alike
SAME_TEXT = 1.0
MAX_USES_DRAWN = 100
CURVE_POINTS = 120
MIN_AHEAD = timedelta(days=1)
MAX_AHEAD = timedelta(days=90)
MAX_EVENTS_READ = 1_000


@operation(
    "page_memory",
    "GET",
    "/ui/data/memory/{id}",
    "one memory, also a forgotten one, with connections and strength; not noted as a use",
    role=Role.READER,
    query=PageMemoryQuery,
    answer=WholeMemory,
    shared=at_holder(reach.find_memories_or_trash),
)
def show_memory(context: HomeContext, call: OperationCall) -> WholeMemory:
    """Return a memory, also one in the trash, as its file says it at this moment."""
    reader = RequestReader(call.query)
    as_of = reader.time("as_of")
    reader.done()
    stores, now = context.stores, context.stores.clock.now()
    stored, forgotten = _find_stored(stores, call.path_id)
    then = read_memory_as_of(stores, stored.memory.id, as_of) if as_of else None
    shown = stored.memory
    rows = [] if forgotten else stores.graph.edges([shown.id])
    return WholeMemory(
        memory=shown,
        version=memory_version(shown),
        path=stored.path,
        forgotten=forgotten,
        is_self=shown.source == SELF_SOURCE,
        brief=build_brief(shown, now),
        connections=_build_connections(stores, shown.id, rows),
        connections_total=len(rows),
        replaces=_find_replaced(stores, shown.id, now),
        strength=None if forgotten else _build_strength(context, shown, rows),
        then=then,
        standing=not forgotten and find_standing_activity(stores, shown) is not None,
    )


def _find_stored(stores: Stores, wanted: str) -> tuple[StoredMemory, bool]:
    """Return a memory and whether it lies in the trash."""
    stored, forgotten = find_anywhere(stores, wanted)
    return (stored if forgotten else _read_from_disk(stores, stored)), forgotten


def _read_from_disk(stores: Stores, stored: StoredMemory) -> StoredMemory:
    """Return what the file says now; the index may be a moment behind a hand that edits it. A
    file that does not parse is shown as it was when it last did."""
    try:
        found = find_current(stores, stored.memory.id)
    except FileUnreadable:
        found = None
    if found is None:
        return stored
    return StoredMemory(add_usage(stores, found.memory), found.path, stored.fingerprint)


def _build_connections(
    stores: Stores, memory_id: str, rows: Sequence[EdgeRow]
) -> list[LinkedMemory]:
    """Return the strongest connections, each with the memory at its other end."""
    now = stores.clock.now()
    kept = sorted(rows, key=lambda row: (row.implied, -row.connection.weight))[:MAX_CONNECTIONS]
    ends = stores.search.memories({_other_end(row, memory_id) for row in kept})
    return [_build_connection(row, memory_id, ends, now) for row in kept]


def _build_connection(
    row: EdgeRow, memory_id: str, ends: Mapping[str, Memory], now: datetime
) -> LinkedMemory:
    other, link = ends.get(_other_end(row, memory_id)), row.connection
    at = format_time(link.at) if link.at else None
    algorithm = algorithm_of(link)
    return LinkedMemory(
        target=link.target,
        edge=link.edge,
        weight=link.weight,
        reason=link.reason,
        by=link.by,
        at=at,
        kind=CONTRASTS_WITH if is_contrast(link) else link.kind,
        confidence=link.confidence,
        discovered_at=at if algorithm else None,
        algorithm=algorithm,
        source=row.source,
        outward=row.source == memory_id,
        implied=row.implied,
        by_machine=row.connection.by in MACHINE_AUTHORS,
        other=build_brief(other, now) if other else None,
    )


def _other_end(row: EdgeRow, memory_id: str) -> str:
    return row.connection.target if row.source == memory_id else row.source


def _find_replaced(stores: Stores, memory_id: str, now: datetime) -> list[Brief]:
    """Return the memories that this one replaced."""
    ids = stores.graph.superseded_by(memory_id)[:MAX_SIMILAR]
    return [build_brief(each, now) for each in stores.search.memories(ids).values()]


# -- strength ------------------------------------------------------------------------------


def _build_strength(context: HomeContext, memory: Memory, rows: Sequence[EdgeRow]) -> Strength:
    """Return how likely the memory comes to mind, now, before and after, and what it is due to."""
    stores, config, now = context.stores, context.sleep_config, context.stores.clock.now()
    past, way, least = (
        _read_use_history(stores, memory),
        build_lifecycle(config),
        least_chance(config),
    )
    ends = find_fading_time(past, way, least, now)
    spared = memory.created + timedelta(days=config.decay_grace_days)
    moments = _curve_times(past, now, ends)
    chance = next(retrievability_at(past, way, [now]))
    drawn = sum(not each.implied and each.connection.by not in MACHINE_AUTHORS for each in rows)
    return Strength(
        now=format_time(now),
        chance=round(chance, 4),
        stability_days=memory.stability,
        curve=[
            (format_time(at), round(value, 4))
            for at, value in zip(moments, retrievability_at(past, way, moments), strict=True)
        ],
        uses=[format_time(each.at) for each in past.uses[-MAX_USES_DRAWN:]],
        uses_total=memory.access_count,
        least=least,
        fades_at=format_time(max(ends, spared)) if ends else None,
        spared_until=format_time(spared) if spared > now else None,
        stays=_find_stay_reason(memory, config, now),
        importance=memory.importance,
        relevance=memory.relevance,
        drawn_connections=drawn,
        parts=_build_importance_parts(
            memory.access_count, drawn, _measure_freshness(memory, config, now, chance)
        ),
    )


def _measure_freshness(memory: Memory, config: SleepConfig, now: datetime, chance: float) -> float:
    """Return how fresh a memory counts in its importance: as likely as it comes to mind, unless a
    half-life is set."""
    half_life = config.importance_recency_half_life_days
    if not half_life:
        return chance
    days = max((now - memory.last_accessed) / timedelta(days=1), 0.0)
    return float(retrievability(stability_of_half_life(half_life), days))


def _build_importance_parts(uses: int, drawn: int, chance: float) -> ImportanceParts:
    """Return what would make up its importance if it were reckoned now."""
    return ImportanceParts(
        uses=round(float(ACCESS_WEIGHT * log_share(float(uses), ACCESS_REFERENCE)), 4),
        connections=round(float(EDGE_WEIGHT * log_share(float(drawn), EDGE_REFERENCE)), 4),
        recency=round(RECENCY_WEIGHT * chance, 4),
    )


def _read_use_history(stores: Stores, memory: Memory) -> UseHistory:
    uses = stores.log.uses([memory.id]).get(memory.id, [])
    brought = [
        each
        for each in stores.log.history(memory.id, MAX_EVENTS_READ)
        if each.kind is EventKind.ADOPTED
    ]
    adopted = read_adopted_counters(brought[-1].body) if brought else None
    return UseHistory(memory.created, uses, adopted)


def _curve_times(past: UseHistory, now: datetime, ends: datetime | None) -> list[datetime]:
    """Return when the curve is looked at: evenly, and on both sides of every jump."""
    start = min(past.created, now)
    ahead = (ends or now) - now
    room = min(max(ahead * 1.3, (now - start) / 8, MIN_AHEAD), max(MAX_AHEAD, now - start))
    step = (now + room - start) / CURVE_POINTS
    even = [start + step * n for n in range(CURVE_POINTS + 1)]
    drawn = [each.at for each in past.uses[-MAX_USES_DRAWN:] if each.at >= start]
    around = [side for each in drawn for side in (each - timedelta(seconds=1), each)]
    return sorted({*even, *around, now})


def _find_stay_reason(memory: Memory, config: SleepConfig, now: datetime) -> StayReason | None:
    """Return why no night moves it to the archive, if there is a reason that does not fade."""
    if memory.source == SELF_SOURCE or ABOUT_SELF in memory.tags:
        return "self"
    if memory.tier is not Tier.WORKING:
        return "core" if memory.tier is Tier.CORE else "archival"
    if PROTECTED_TAG in memory.tags:
        return "protected"
    if memory.type in never_fading_types(config):
        return "type"
    if is_upcoming(memory, now):
        return "upcoming"
    return "importance" if memory.importance >= config.decay_importance else None


# -- what is like it, and what it said before ------------------------------------------------


@operation(
    "page_similar",
    "GET",
    "/ui/data/memory/{id}/similar",
    "the memories nearest to one in meaning",
    role=Role.READER,
    answer=SimilarMemories,
    shared=at_holder(reach.find_memories),
)
def find_similar(context: HomeContext, call: OperationCall) -> SimilarMemories:
    """Return the memories nearest in meaning, with how near they are."""
    RequestReader(call.query).done()
    stores, now = context.stores, context.stores.clock.now()
    memory_id = _find_stored(stores, call.path_id)[0].memory.id
    found = stores.search.neighbours([memory_id], Filter(), now, MAX_SIMILAR, MIN_SIMILARITY)
    hits = found.get(memory_id, [])
    known = stores.search.memories([each.id for each in hits])
    return SimilarMemories(
        memories=[
            SimilarMemory(**vars(build_brief(known[each.id], now)), likeness=round(each.score, 4))
            for each in hits
            if each.id in known
        ],
        embedded=memory_id in found,
    )


@operation(
    "page_alike",
    "POST",
    "/ui/data/alike",
    "the memories nearest to a text that is still being written",
    role=Role.READER,
    body=PageAlikeBody,
    answer=SimilarMemories,
    only_reads=True,
)
def find_alike(context: HomeContext, call: OperationCall) -> SimilarMemories:
    """Return what says nearly the same as a text that is not a memory yet; it is not kept."""
    reader = RequestReader(call.body)
    content = reader.required_text("content")[:MAX_ALIKE_CHARS]
    space = read_space(reader.text("space"))
    reader.done()
    stores, now = context.stores, context.stores.clock.now()
    near = dict.fromkeys(
        stores.search.same_text(space, same_text_key(content), now, MAX_ALIKE), SAME_TEXT
    )
    vector = _read_vector(stores, content)
    if vector is not None:
        found = stores.search.search_vector(vector, Filter(), now, MAX_ALIKE, MIN_ALIKE)
        near |= {each.id: each.score for each in found if each.id not in near}
    near.pop(stores.graph.self_id() or "", None)
    known = stores.search.memories(near)
    return SimilarMemories(
        memories=[
            SimilarMemory(**vars(build_brief(known[each], now)), likeness=round(near[each], 4))
            for each in list(near)[:MAX_ALIKE]
            if each in known
        ],
        embedded=vector is not None,
    )


def _read_vector(stores: Stores, text: str) -> Vector | None:
    """Return what a text means; nothing if no model can read it now."""
    embedder = stores.minds.embedder
    try:
        read = None if embedder is None or not text.strip() else embedder.ask(text)
    except MindDown:
        return None
    return read.vector if read is not None and read.known >= LEAST_KNOWN_SHARE else None


@operation(
    "page_difference",
    "GET",
    "/ui/data/memory/{id}/difference",
    "a memory before and after one change of it",
    role=Role.READER,
    query=PageDifferenceQuery,
    answer=MemoryDifference,
    shared=at_holder(reach.find_memories_or_trash),
)
def show_difference(context: HomeContext, call: OperationCall) -> MemoryDifference:
    """Return a memory before and after one change of it."""
    reader = RequestReader(call.query)
    change = reader.required_text("change")
    reader.done()
    seen = read_transition(context.stores, call.path_id, change)
    return MemoryDifference(
        before=seen.before,
        after=seen.after,
        moved=seen.moved,
        mentions=[build_mention(each) for each in _find_mentioned(context.stores, seen)],
    )


def _find_mentioned(stores: Stores, seen: MemoryTransition) -> Iterable[Memory]:
    """Return the memories that a change connected or took apart, or put in the place of it."""
    sides = [each for each in (seen.before, seen.after) if each is not None]
    linked = [{(link.edge, link.target) for link in each.connections} for each in sides]
    changed = linked[0] ^ linked[1] if len(linked) > 1 else set()
    newer = {each.superseded_by for each in sides if each.superseded_by}
    return stores.search.memories({target for _, target in changed} | newer).values()
