"""Time: when memories became known, what held on a day, what changed its mind, what is at odds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from itertools import pairwise
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from madeleine.api.contract.page_responses import (
    DayPage,
    Growth,
    GrowthBar,
    MindTurn,
    TimelinePage,
    TurnPage,
)
from madeleine.api.contract.requests import (
    InsightsQuery,
    PageTimeBarsQuery,
    PageTimeDayQuery,
    PageTimeQuery,
)
from madeleine.api.operation import operation
from madeleine.api.page.brief import build_brief
from madeleine.errors import FileUnreadable, NoFile
from madeleine.index.graph import EdgeRow, MemoryGraph
from madeleine.index.search import MemorySearch
from madeleine.model.codec import CREATIVE
from madeleine.model.event import Event, EventKind
from madeleine.model.memory import Memory
from madeleine.model.people import Role
from madeleine.model.query import Filter
from madeleine.model.request_reader import RequestReader
from madeleine.model.times import format_time
from madeleine.model.words import Edge
from madeleine.recall.explaining import is_outdated
from madeleine.vault.vault import is_in_trash
from madeleine.write.stores import Stores

if TYPE_CHECKING:
    from madeleine.api.call import OperationCall
    from madeleine.bootstrap import HomeContext

DEFAULT_ENTRIES = 40
MAX_ENTRIES = 200
DEFAULT_TURNS = 100
MAX_TURNS = 1_000
MAX_TURNS_PER_PAGE = 40  # on one page of the timeline
MAX_CHANGES_READ = 2_000  # of the newest ones, for what was forgotten since a day
MAX_FORGOTTEN = 100
MAX_BARS = 60
STEP_DAYS = (1, 7, 30, 91, 365, 3_650)  # days that a bar may stand for
ANY_MEMORY = Filter(outdated=True)
_TURNING_EDGES = (Edge.EVOLVED_FROM, Edge.CONTRADICTS)


@operation(
    "page_time",
    "GET",
    "/ui/data/time",
    "memories by when they became known, newest first, with evolutions and tensions",
    role=Role.READER,
    query=PageTimeQuery,
    answer=TimelinePage,
)
def show_timeline(context: HomeContext, call: OperationCall) -> TimelinePage:
    """Return a page of memories by when they became known, newest first, with what turned in
    that time."""
    reader = RequestReader(call.query)
    limit = reader.whole("limit", DEFAULT_ENTRIES, 1, MAX_ENTRIES)
    offset = reader.whole("offset", 0, 0, 1_000_000_000)
    reader.done()
    search, now = context.stores.search, context.stores.clock.now()
    page = search.listing(ANY_MEMORY, now, limit, offset)
    newer = search.listing(ANY_MEMORY, now, 1, offset - 1) if offset else []
    total = search.count(ANY_MEMORY, now)
    since = page[-1].created if page and offset + len(page) < total else None
    before = newer[0].created if newer else None
    return TimelinePage(
        memories=[build_brief(each, now) for each in page],
        turns=_build_turns(search, _find_turning_edges(context.stores.graph, since, before), now),
        total=total,
    )


def _find_turning_edges(
    graph: MemoryGraph, since: datetime | None, before: datetime | None
) -> list[EdgeRow]:
    """Return the newest arrows drawn in a stretch of time; of which nobody knows when, in the
    last. A night that settled a thousand does not bury what became known on that day."""
    rows = graph.newest_edges(_TURNING_EDGES, MAX_TURNS, but_by=CREATIVE)
    return [row for row in rows if _is_within(row.connection.at, since, before)][
        :MAX_TURNS_PER_PAGE
    ]


def _is_within(at: datetime | None, since: datetime | None, before: datetime | None) -> bool:
    if at is None:
        return since is None
    return (since is None or at >= since) and (before is None or at < before)


@operation(
    "page_time_bars",
    "GET",
    "/ui/data/time/bars",
    "how many memories became known in each stretch of time",
    role=Role.READER,
    query=PageTimeBarsQuery,
    answer=Growth,
)
def show_growth(context: HomeContext, call: OperationCall) -> Growth:
    """Return how many memories became known in each stretch of time, oldest first."""
    reader = RequestReader(call.query)
    zone = find_zone(reader.text("zone"))
    reader.done()
    return count_growth(context, zone)


def count_growth(context: HomeContext, zone: tzinfo) -> Growth:
    """Return the bars in days of a zone. Each is one look into the index of times, so that a
    large store takes hardly longer than a small one."""
    search, now = context.stores.search, context.stores.clock.now()
    total = search.count(ANY_MEMORY, now)
    oldest = search.first_known()
    if oldest is None:
        return Growth(step_days=1, bars=[], total=0, zone=str(zone), first=None)
    scale = _choose_scale(oldest.astimezone(zone).date(), now.astimezone(zone).date())
    ends = [datetime.combine(each, time.min, zone) for each in scale.ends]
    return Growth(
        step_days=scale.days,
        bars=[_count_bar(search, start, end, now) for start, end in pairwise(ends)],
        total=total,
        zone=str(zone),
        first=format_time(oldest),
    )


def find_zone(name: str | None) -> tzinfo:
    """Return the zone of that name; UTC for one that this machine does not know, for a machine
    may know none. What is counted so says which it was."""
    if not name:
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # no name, no path, a folder of zones
        return UTC


@dataclass(frozen=True, slots=True)
class GrowthScale:
    """The stretches of time that bars stand for: where each begins, and where the last ends."""

    days: int
    ends: Sequence[date]


def _choose_scale(first: date, today: date) -> GrowthScale:
    """Return stretches of days, weeks, months … that reach from the first day to today."""
    span = max((today - first).days + 1, 1)
    days = next((each for each in STEP_DAYS if span / each <= MAX_BARS), STEP_DAYS[-1])
    count = -(-span // days)
    begin = today - timedelta(days=days * count - 1)
    return GrowthScale(days, [begin + timedelta(days=days * n) for n in range(count + 1)])


def _count_bar(search: MemorySearch, start: datetime, end: datetime, now: datetime) -> GrowthBar:
    chosen = Filter(created_after=start, created_before=end, outdated=True)
    return GrowthBar(from_=format_time(start), to=format_time(end), known=search.count(chosen, now))


@operation(
    "page_time_day",
    "GET",
    "/ui/data/time/day",
    "how much held at a moment, and what has come and gone since",
    role=Role.READER,
    query=PageTimeDayQuery,
    answer=DayPage,
)
def show_day(context: HomeContext, call: OperationCall) -> DayPage:
    """Return how much held at a moment, and what has come and gone since."""
    reader = RequestReader(call.query)
    at = reader.time("as_of") or context.stores.clock.now()
    reader.done()
    search, now = context.stores.search, context.stores.clock.now()
    trashed = _find_forgotten_since(context.stores, at)
    held = search.count(Filter(as_of=at), now) + len(trashed)
    holding = search.count(Filter(), now)
    newer = search.count(Filter(created_after=at + timedelta(microseconds=1)), now)
    return DayPage(
        held=held,
        holding=holding,
        come=newer,
        gone=held - (holding - newer),
        forgotten=[build_brief(each, now) for each in trashed],
    )


def _find_forgotten_since(stores: Stores, at: datetime) -> list[Memory]:
    """Return memories that held then and lie in the trash now: the index knows them no more, the
    journal tells of the last ones."""
    paths: dict[str, str] = {}
    for event in stores.log.recent_events([EventKind.CHANGED.value], MAX_CHANGES_READ):
        if event.at > at:
            paths = {**_find_trashed_paths(event), **paths}  # of several times the last counts
    there = stores.search.memories(paths)
    gone = [path for memory_id, path in paths.items() if memory_id not in there]
    found = [_read_from_trash(stores, path) for path in gone[:MAX_FORGOTTEN]]
    as_then = Filter(as_of=at)
    return [
        each for each in found if each and each.created <= at and not is_outdated(each, as_then, at)
    ]


def _find_trashed_paths(event: Event) -> dict[str, str]:
    """Return the memories that a change moved to the trash, and where their files went."""
    edits = event.body.get("edits")
    known = [each for each in edits if isinstance(each, Mapping)] if isinstance(edits, list) else []
    return {
        str(each.get("memory")): str(each["path_after"])
        for each in known
        if is_in_trash(str(each.get("path_after") or ""))
        and not is_in_trash(str(each.get("path_before") or ""))
    }


def _read_from_trash(stores: Stores, path: str) -> Memory | None:
    try:
        return stores.vault.read(path).memory
    except (FileUnreadable, NoFile):
        return None  # restored elsewhere, purged, or edited into nonsense


@operation(
    "page_time_turns",
    "GET",
    "/ui/data/time/turns",
    "what replaced what, and what cannot hold beside what, newest first",
    role=Role.READER,
    query=InsightsQuery,
    answer=TurnPage,
)
def list_turns(context: HomeContext, call: OperationCall) -> TurnPage:
    """Return what replaced what, and what cannot hold beside what, newest first."""
    reader = RequestReader(call.query)
    limit = reader.whole("limit", DEFAULT_TURNS, 1, MAX_TURNS)
    reader.done()
    index = context.stores.index
    rows = index.graph.newest_edges(_TURNING_EDGES, limit, but_by=CREATIVE)
    return TurnPage(turns=_build_turns(index.search, rows, context.stores.clock.now()))


def _build_turns(search: MemorySearch, rows: Sequence[EdgeRow], now: datetime) -> list[MindTurn]:
    ends = search.memories({end for row in rows for end in (row.source, row.connection.target)})
    return [
        _build_turn(row, ends, now)
        for row in rows
        if row.source in ends and row.connection.target in ends
    ]


def _build_turn(row: EdgeRow, ends: Mapping[str, Memory], now: datetime) -> MindTurn:
    """Return an arrow as what it says. The newer memory is the one that the arrow starts from;
    a tension is `open` while both of its memories hold."""
    link = row.connection
    newer, older = build_brief(ends[row.source], now), build_brief(ends[link.target], now)
    return MindTurn(
        is_="evolution" if link.edge is Edge.EVOLVED_FROM else "tension",
        newer=newer,
        older=older,
        open=not newer.outdated and not older.outdated,
        reason=link.reason,
        by=link.by,
        at=format_time(link.at) if link.at else None,
    )
