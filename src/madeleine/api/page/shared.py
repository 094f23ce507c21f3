"""Search and list where somebody also shares spaces: their own memory and those, as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from madeleine.api.contract.page_responses import BriefPage, Facets, ProposalLines, SearchPage
from madeleine.api.page import proposals as asked
from madeleine.api.page.search import (
    DEFAULT_HITS,
    MAX_SPACES,
    MAX_TAGS,
    build_brief_page,
    read_listing,
)
from madeleine.api.page.search import count_facets as facets_of
from madeleine.api.page.search import search_memories as search_in
from madeleine.api.reach import find_memories
from madeleine.model.people import Role
from madeleine.model.query import MAX_HITS, Filter, read_filter
from madeleine.model.request_reader import RequestReader
from madeleine.rules.ranked_merge import merge_ranked

if TYPE_CHECKING:
    from madeleine.api.call import OperationCall
    from madeleine.api.reach import CallerReach, ReachablePlace


def search_everywhere(reached: CallerReach, call: OperationCall) -> SearchPage:
    """Ask in every place that the filter allows, and join the answers by their scores."""
    reached.own.check("page_search", Role.READER)
    places = reached.places_for_spaces(read_filter(RequestReader(call.query)).spaces)
    missed = call.query.get("why_not")
    about = reached.find_holder(missed, find_memories) if isinstance(missed, str) else reached.own
    told = [search_in(each.context, _narrow_call(call, each, each is about)) for each in places]
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
    )


def list_everywhere(reached: CallerReach, call: OperationCall) -> BriefPage:
    """Return a page of all places together, newest first."""
    reached.own.check("page_list", Role.READER)
    chosen, limit, offset = read_listing(call)
    now = reached.context.stores.clock.now()
    asked = [
        (
            place.context.stores.search,
            chosen if place.space is None else _filter_for_space(chosen, place.space),
        )
        for place in reached.places_for_spaces(chosen.spaces)
    ]
    pages = [search.listing(within, now, limit + offset, 0) for search, within in asked]
    newest = merge_ranked(pages, lambda each: each.created.timestamp(), limit + offset)
    return build_brief_page(
        newest[offset:], sum(search.count(within, now) for search, within in asked), now
    )


def count_facets_everywhere(reached: CallerReach, call: OperationCall) -> Facets:
    """Return what one can filter by in all places together."""
    reached.own.check("page_facets", Role.READER)
    told = [facets_of(place.context, call) for place in reached.places()]
    return Facets(
        memories=sum(each.memories for each in told),
        types=_sum_counts([each.types for each in told]),
        tiers=_sum_counts([each.tiers for each in told]),
        spaces=_sum_counts([each.spaces for each in told], MAX_SPACES),
        tags=_sum_counts([each.tags for each in told], MAX_TAGS),
    )


def list_proposals_everywhere(reached: CallerReach, call: OperationCall) -> ProposalLines:
    """Return what waits for a decision in all places together, newest first."""
    reached.own.check("page_proposals", Role.READER)
    logs = [place.context.stores.log for place in reached.places()]
    return asked.list_selected(logs, asked.read_selection(call))


def _narrow_call(call: OperationCall, place: ReachablePlace, is_about: bool) -> OperationCall:
    """Return a question as it is asked in one place: in a shared one, only for what bears its
    name; why a memory is missing is asked where it is kept."""
    query = dict(call.query)
    if place.space is not None:
        query["spaces"] = [place.space]
    if not is_about:
        query.pop("why_not", None)
    return replace(call, query=query)


def _filter_for_space(chosen: Filter, space: str) -> Filter:
    return replace(chosen, spaces=(space,))


def _sum_counts(counts: Sequence[Mapping[str, int]], most: int | None = None) -> dict[str, int]:
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return dict(total.most_common(most))
