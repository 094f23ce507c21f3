"""Search and list: the memories that answer a question, or all of them, newest first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from madeleine.api import reach
from madeleine.api.contract.page_responses import BriefPage, Facets, SearchPage
from madeleine.api.contract.requests import PageFacetsQuery, PageListQuery, PageSearchQuery
from madeleine.api.operation import Operation, operation
from madeleine.api.page.brief import build_absence_reason, build_brief, build_brief_hit
from madeleine.api.shared_behaviour import filter_for_place
from madeleine.api.wording import cause_to_fields, causes_to_fields
from madeleine.model.memory import Memory
from madeleine.model.people import Role
from madeleine.model.query import MAX_HITS, QUERY_CHARS, Filter, RecallQuery, read_filter
from madeleine.model.request_reader import RequestReader
from madeleine.recall.recall import recall
from madeleine.rules.ranked_merge import merge_ranked

if TYPE_CHECKING:
    from madeleine.api.call import OperationCall
    from madeleine.api.reach import CallerReach, ReachablePlace
    from madeleine.bootstrap import HomeContext

DEFAULT_HITS = 30
DEFAULT_LINES = 50
MAX_LINES = 200
MAX_SPACES = 200
DEFAULT_TAGS = 30
MAX_TAGS = 1_000


# -- search --------------------------------------------------------------------------------


def _search_everywhere(
    operation: Operation[SearchPage], reached: CallerReach, call: OperationCall
) -> SearchPage:
    """Ask in every place that the filter allows, and join the answers by their scores."""
    reached.own.check(operation.name, operation.role)
    places = reached.places_for_spaces(read_filter(RequestReader(call.query)).spaces)
    missed = call.query.get("why_not")
    about = (
        reached.find_holder(missed, reach.find_memories) if isinstance(missed, str) else reached.own
    )
    told = [
        operation.perform(each.context, _narrow_call(call, each, each is about)) for each in places
    ]
    limit = RequestReader(call.query).whole("limit", DEFAULT_HITS, 1, MAX_HITS)
    hits = merge_ranked([each.memories for each in told], lambda hit: hit.score, limit)
    notes = {
        note: parts
        for each in told
        for note, parts in zip(each.notes, each.notes_parts, strict=True)
    }
    return SearchPage(
        memories=hits,
        silence=None if hits else told[0].silence,
        silence_parts=None if hits else told[0].silence_parts,
        notes=list(notes),
        notes_parts=list(notes.values()),
        why_not=next((each.why_not for each in told if each.why_not), None),
        absent=next((each.absent for each in told if each.absent), None),
        folded=min(sum(each.folded for each in told), limit - len(hits)),
    )


def _narrow_call(call: OperationCall, place: ReachablePlace, is_about: bool) -> OperationCall:
    """Return a question as it is asked in one place: in a shared one, only for what bears its
    name; why a memory is missing is asked where it is kept."""
    query = dict(call.query)
    if place.space is not None:
        query["spaces"] = [place.space]
    if not is_about:
        query.pop("why_not", None)
    return replace(call, query=query)


@operation(
    "page_search",
    "GET",
    "/ui/data/search",
    "recall while a question is being typed; what is shown is not noted as used",
    role=Role.READER,
    query=PageSearchQuery,
    answer=SearchPage,
    shared=_search_everywhere,
)
def search_memories(context: HomeContext, call: OperationCall) -> SearchPage:
    """Answer a question that is still being typed. Looking is no use: nothing is noted."""
    reader = RequestReader(call.query)
    query = RecallQuery(
        text=reader.required_text("query")[:QUERY_CHARS],
        limit=reader.whole("limit", DEFAULT_HITS, 1, MAX_HITS),
        filter=read_filter(reader),
        why_not=reader.text("why_not"),
        all=reader.flag("all", True),  # the page folds what it shows by itself
        is_question=True,
    )
    reader.done()
    now = context.stores.clock.now()
    found = recall(context.stores, query, touch=False)
    known = context.stores.search.memories({each for hit in found.hits for each in hit.mentioned})
    return SearchPage(
        memories=[build_brief_hit(each, now, known) for each in found.hits],
        **cause_to_fields("silence", found.silence),
        **causes_to_fields("notes", found.notes),
        why_not=found.why_not,
        absent=build_absence_reason(found.absent),
        folded=found.folded,
    )


# -- list ----------------------------------------------------------------------------------


def _list_everywhere(
    operation: Operation[BriefPage], reached: CallerReach, call: OperationCall
) -> BriefPage:
    """Return a page of all places together, newest first."""
    reached.own.check(operation.name, operation.role)
    chosen, limit, offset = _read_listing(call)
    now = reached.context.stores.clock.now()
    asked = [
        (place.context.stores.search, filter_for_place(chosen, place))
        for place in reached.places_for_spaces(chosen.spaces)
    ]
    pages = [search.listing(within, now, limit + offset, 0) for search, within in asked]
    newest = merge_ranked(pages, lambda each: each.created.timestamp(), limit + offset)
    return _build_brief_page(
        newest[offset:], sum(search.count(within, now) for search, within in asked), now
    )


@operation(
    "page_list",
    "GET",
    "/ui/data/list",
    "memories without their whole texts, newest first",
    role=Role.READER,
    query=PageListQuery,
    answer=BriefPage,
    shared=_list_everywhere,
)
def list_memories(context: HomeContext, call: OperationCall) -> BriefPage:
    """Return a page of memories, newest first."""
    chosen, limit, offset = _read_listing(call)
    search, now = context.stores.search, context.stores.clock.now()
    return _build_brief_page(
        search.listing(chosen, now, limit, offset), search.count(chosen, now), now
    )


def _read_listing(call: OperationCall) -> tuple[Filter, int, int]:
    """Return which memories are listed, how many at most, and after how many."""
    reader = RequestReader(call.query)
    chosen = read_filter(reader)
    limit = reader.whole("limit", DEFAULT_LINES, 1, MAX_LINES)
    offset = reader.whole("offset", 0, 0, 1_000_000_000)
    reader.done()
    return chosen, limit, offset


def _build_brief_page(found: Iterable[Memory], total: int, now: datetime) -> BriefPage:
    return BriefPage(memories=[build_brief(each, now) for each in found], total=total)


# -- what one can filter by ----------------------------------------------------------------


def _count_facets_everywhere(
    operation: Operation[Facets], reached: CallerReach, call: OperationCall
) -> Facets:
    """Return what one can filter by in all places together."""
    reached.own.check(operation.name, operation.role)
    told = [operation.perform(place.context, call) for place in reached.places()]
    _, most = _read_facets_query(call)
    return Facets(
        memories=sum(each.memories for each in told),
        types=_sum_counts([each.types for each in told]),
        tiers=_sum_counts([each.tiers for each in told]),
        spaces=_sum_counts([each.spaces for each in told], MAX_SPACES),
        tags=_sum_counts([each.tags for each in told], most),
    )


def _sum_counts(counts: Sequence[Mapping[str, int]], most: int | None = None) -> dict[str, int]:
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return dict(total.most_common(most))


@operation(
    "page_facets",
    "GET",
    "/ui/data/facets",
    "what memories can be filtered by, with how many there are of each",
    role=Role.READER,
    query=PageFacetsQuery,
    answer=Facets,
    shared=_count_facets_everywhere,
)
def count_facets(context: HomeContext, call: OperationCall) -> Facets:
    """Return what one can filter by, and how many memories there are of each."""
    beginning, most = _read_facets_query(call)
    search = context.stores.search
    counts = search.counts()
    spaces = sorted(counts.by_space.items(), key=lambda each: (-each[1], each[0]))
    return Facets(
        memories=counts.memories,
        types=dict(counts.by_type),
        tiers=dict(counts.by_tier),
        spaces=dict(spaces[:MAX_SPACES]),
        tags=dict(search.tags(beginning, most)),
    )


def _read_facets_query(call: OperationCall) -> tuple[str, int]:
    """Return how the tags begin that are counted, and how many are told."""
    reader = RequestReader(call.query)
    beginning = (reader.text("tag") or "").strip().lower().lstrip("#")
    most = reader.whole("tags", DEFAULT_TAGS, 1, MAX_TAGS)
    reader.done()
    return beginning, most
