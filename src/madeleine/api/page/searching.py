"""Search and list: the memories that answer a question, or all of them, newest first."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from madeleine.api.contract.page_responses import BriefPage, Facets, SearchPage
from madeleine.api.page.brief import absence_reason, brief, brief_hit
from madeleine.api.wording import fields_of_cause, fields_of_causes
from madeleine.model.memory import Memory
from madeleine.model.query import MAX_HITS, QUERY_CHARS, Filter, RecallQuery, read_filter
from madeleine.model.reading import RequestReader
from madeleine.recall.recall import recall

if TYPE_CHECKING:
    from madeleine.api.call import Call
    from madeleine.bootstrap import HomeContext

HITS = 30
LINES = 50
LINES_AT_MOST = 200
SPACES = 200
TAGS = 30


def search(context: HomeContext, call: Call) -> SearchPage:
    """Answer a question that is still being typed. Looking is no use: nothing is noted."""
    reader = RequestReader(call.query)
    query = RecallQuery(
        text=reader.required_text("query")[:QUERY_CHARS],
        limit=reader.whole("limit", HITS, 1, MAX_HITS),
        filter=read_filter(reader),
        why_not=reader.text("why_not"),
    )
    reader.done()
    now = context.stores.clock.now()
    found = recall(context.stores, query, touch=False)
    known = context.stores.search.memories({each for hit in found.hits for each in hit.mentioned})
    return SearchPage(
        memories=[brief_hit(each, now, known) for each in found.hits],
        **fields_of_cause("silence", found.silence),
        **fields_of_causes("notes", found.notes),
        why_not=found.why_not,
        absent=absence_reason(found.absent),
    )


def listing(context: HomeContext, call: Call) -> BriefPage:
    """Return a page of memories, newest first."""
    chosen, limit, offset = read_listing(call)
    search, now = context.stores.search, context.stores.clock.now()
    return listed(search.listing(chosen, now, limit, offset), search.count(chosen, now), now)


def read_listing(call: Call) -> tuple[Filter, int, int]:
    """Return which memories are listed, how many at most, and after how many."""
    reader = RequestReader(call.query)
    chosen = read_filter(reader)
    limit = reader.whole("limit", LINES, 1, LINES_AT_MOST)
    offset = reader.whole("offset", 0, 0, 1_000_000_000)
    reader.done()
    return chosen, limit, offset


def listed(found: Iterable[Memory], total: int, now: datetime) -> BriefPage:
    return BriefPage(memories=[brief(each, now) for each in found], total=total)


def facets(context: HomeContext, call: Call) -> Facets:
    """Return what one can filter by, and how many memories there are of each."""
    reader = RequestReader(call.query)
    beginning = reader.text("tag") or ""
    reader.done()
    search = context.stores.search
    counts = search.counts()
    spaces = sorted(counts.by_space.items(), key=lambda each: (-each[1], each[0]))
    return Facets(
        memories=counts.memories,
        types=dict(counts.by_type),
        tiers=dict(counts.by_tier),
        spaces=dict(spaces[:SPACES]),
        tags=dict(search.tags(beginning.strip().lower().lstrip("#"), TAGS)),
    )
