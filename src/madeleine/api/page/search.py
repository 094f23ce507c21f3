"""Search and list: the memories that answer a question, or all of them, newest first."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from madeleine.api.contract.page_responses import BriefPage, Facets, SearchPage
from madeleine.api.page.brief import build_absence_reason, build_brief, build_brief_hit
from madeleine.api.wording import cause_to_fields, causes_to_fields
from madeleine.model.memory import Memory
from madeleine.model.query import MAX_HITS, QUERY_CHARS, Filter, RecallQuery, read_filter
from madeleine.model.request_reader import RequestReader
from madeleine.recall.recall import recall

if TYPE_CHECKING:
    from madeleine.api.call import OperationCall
    from madeleine.bootstrap import HomeContext

DEFAULT_HITS = 30
DEFAULT_LINES = 50
MAX_LINES = 200
MAX_SPACES = 200
MAX_TAGS = 30


def search_memories(context: HomeContext, call: OperationCall) -> SearchPage:
    """Answer a question that is still being typed. Looking is no use: nothing is noted."""
    reader = RequestReader(call.query)
    query = RecallQuery(
        text=reader.required_text("query")[:QUERY_CHARS],
        limit=reader.whole("limit", DEFAULT_HITS, 1, MAX_HITS),
        filter=read_filter(reader),
        why_not=reader.text("why_not"),
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
    )


def list_memories(context: HomeContext, call: OperationCall) -> BriefPage:
    """Return a page of memories, newest first."""
    chosen, limit, offset = read_listing(call)
    search, now = context.stores.search, context.stores.clock.now()
    return build_brief_page(
        search.listing(chosen, now, limit, offset), search.count(chosen, now), now
    )


def read_listing(call: OperationCall) -> tuple[Filter, int, int]:
    """Return which memories are listed, how many at most, and after how many."""
    reader = RequestReader(call.query)
    chosen = read_filter(reader)
    limit = reader.whole("limit", DEFAULT_LINES, 1, MAX_LINES)
    offset = reader.whole("offset", 0, 0, 1_000_000_000)
    reader.done()
    return chosen, limit, offset


def build_brief_page(found: Iterable[Memory], total: int, now: datetime) -> BriefPage:
    return BriefPage(memories=[build_brief(each, now) for each in found], total=total)


def count_facets(context: HomeContext, call: OperationCall) -> Facets:
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
        spaces=dict(spaces[:MAX_SPACES]),
        tags=dict(search.tags(beginning.strip().lower().lstrip("#"), MAX_TAGS)),
    )
