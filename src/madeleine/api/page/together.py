"""Search and list where somebody also shares spaces: their own memory and those, as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from madeleine.api.contract.page_responses import BriefPage, Facets, ProposalLines, SearchPage
from madeleine.api.page import proposals as asked
from madeleine.api.page.searching import HITS, SPACES, TAGS, listed, read_listing
from madeleine.api.page.searching import facets as facets_of
from madeleine.api.page.searching import search as search_in
from madeleine.api.reach import memories
from madeleine.model.people import Role
from madeleine.model.query import MAX_HITS, Filter, read_filter
from madeleine.model.reading import RequestReader
from madeleine.rules.joining import merge_ranked

if TYPE_CHECKING:
    from madeleine.api.call import Call
    from madeleine.api.reach import Place, Reach


def search(reached: Reach, call: Call) -> SearchPage:
    """Ask in every place that the filter allows, and join the answers by their scores."""
    reached.own.check("page_search", Role.READER)
    places = reached.among(read_filter(RequestReader(call.query)).spaces)
    missed = call.query.get("why_not")
    about = reached.holding(missed, memories) if isinstance(missed, str) else reached.own
    told = [search_in(each.context, _narrowed(call, each, each is about)) for each in places]
    limit = RequestReader(call.query).whole("limit", HITS, 1, MAX_HITS)
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


def listing(reached: Reach, call: Call) -> BriefPage:
    """Return a page of all places together, newest first."""
    reached.own.check("page_list", Role.READER)
    chosen, limit, offset = read_listing(call)
    now = reached.context.stores.clock.now()
    asked = [
        (place.context.stores.search, chosen if place.space is None else _only(chosen, place.space))
        for place in reached.among(chosen.spaces)
    ]
    pages = [search.listing(within, now, limit + offset, 0) for search, within in asked]
    newest = merge_ranked(pages, lambda each: each.created.timestamp(), limit + offset)
    return listed(newest[offset:], sum(search.count(within, now) for search, within in asked), now)


def facets(reached: Reach, call: Call) -> Facets:
    """Return what one can filter by in all places together."""
    reached.own.check("page_facets", Role.READER)
    told = [facets_of(place.context, call) for place in reached.places()]
    return Facets(
        memories=sum(each.memories for each in told),
        types=_summed([each.types for each in told]),
        tiers=_summed([each.tiers for each in told]),
        spaces=_summed([each.spaces for each in told], SPACES),
        tags=_summed([each.tags for each in told], TAGS),
    )


def proposals(reached: Reach, call: Call) -> ProposalLines:
    """Return what waits for a decision in all places together, newest first."""
    reached.own.check("page_proposals", Role.READER)
    logs = [place.context.stores.log for place in reached.places()]
    return asked.listed(logs, asked.read_asked(call))


def _narrowed(call: Call, place: Place, is_about: bool) -> Call:
    """Return a question as it is asked in one place: in a shared one, only for what bears its
    name; why a memory is missing is asked where it is kept."""
    query = dict(call.query)
    if place.space is not None:
        query["spaces"] = [place.space]
    if not is_about:
        query.pop("why_not", None)
    return replace(call, query=query)


def _only(chosen: Filter, space: str) -> Filter:
    return replace(chosen, spaces=(space,))


def _summed(counts: Sequence[Mapping[str, int]], most: int | None = None) -> dict[str, int]:
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return dict(total.most_common(most))
