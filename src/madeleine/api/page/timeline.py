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
from madeleine.api.page.brief import brief
from madeleine.errors import FileUnreadable, NoFile
from madeleine.index.graph import EdgeRow, MemoryGraph
from madeleine.index.search import MemorySearch
from madeleine.model.codec import CREATIVE
from madeleine.model.event import Event, EventKind
from madeleine.model.memory import Memory
from madeleine.model.query import Filter
from madeleine.model.reading import RequestReader
from madeleine.model.times import format_time
from madeleine.model.words import Edge
from madeleine.recall.explaining import is_outdated
from madeleine.vault.vault import is_in_trash
from madeleine.write.stores import Stores

if TYPE_CHECKING:
    from madeleine.api.call import Call
    from madeleine.bootstrap import HomeContext

ENTRIES = 40
ENTRIES_AT_MOST = 200
TURNS = 100
TURNS_AT_MOST = 1_000
TURNS_TOLD = 40  # on one page of the timeline
CHANGES_READ = 2_000  # of the newest ones, for what was forgotten since a day
FORGOTTEN_AT_MOST = 100
BARS = 60
STEPS = (1, 7, 30, 91, 365, 3_650)  # days that a bar may stand for
EVERYTHING = Filter(outdated=True)
_TURNING = (Edge.EVOLVED_FROM, Edge.CONTRADICTS)


def timeline(context: HomeContext, call: Call) -> TimelinePage:
    """Return a page of memories by when they became known, newest first, with what turned in
    that time."""
    reader = RequestReader(call.query)
    limit = reader.whole("limit", ENTRIES, 1, ENTRIES_AT_MOST)
    offset = reader.whole("offset", 0, 0, 1_000_000_000)
    reader.done()
    search, now = context.stores.search, context.stores.clock.now()
    page = search.listing(EVERYTHING, now, limit, offset)
    newer = search.listing(EVERYTHING, now, 1, offset - 1) if offset else []
    total = search.count(EVERYTHING, now)
    since = page[-1].created if page and offset + len(page) < total else None
    before = newer[0].created if newer else None
    return TimelinePage(
        memories=[brief(each, now) for each in page],
        turns=_turns(search, _turning(context.stores.graph, since, before), now),
        total=total,
    )


def _turning(graph: MemoryGraph, since: datetime | None, before: datetime | None) -> list[EdgeRow]:
    """Return the newest arrows drawn in a stretch of time; of which nobody knows when, in the
    last. A night that settled a thousand does not bury what became known on that day."""
    rows = graph.newest_edges(_TURNING, TURNS_AT_MOST, but_by=CREATIVE)
    return [row for row in rows if _within(row.connection.at, since, before)][:TURNS_TOLD]


def _within(at: datetime | None, since: datetime | None, before: datetime | None) -> bool:
    if at is None:
        return since is None
    return (since is None or at >= since) and (before is None or at < before)


def bars(context: HomeContext, call: Call) -> Growth:
    """Return how many memories became known in each stretch of time, oldest first."""
    reader = RequestReader(call.query)
    zone = zone_of(reader.text("zone"))
    reader.done()
    return growth(context, zone)


def growth(context: HomeContext, zone: tzinfo) -> Growth:
    """Return the bars in days of a zone. Each is one look into the index of times, so that a
    large store takes hardly longer than a small one."""
    search, now = context.stores.search, context.stores.clock.now()
    total = search.count(EVERYTHING, now)
    oldest = search.first_known()
    if oldest is None:
        return Growth(step_days=1, bars=[], total=0, zone=str(zone), first=None)
    scale = _scale(oldest.astimezone(zone).date(), now.astimezone(zone).date())
    ends = [datetime.combine(each, time.min, zone) for each in scale.ends]
    return Growth(
        step_days=scale.days,
        bars=[_bar(search, start, end, now) for start, end in pairwise(ends)],
        total=total,
        zone=str(zone),
        first=format_time(oldest),
    )


def zone_of(name: str | None) -> tzinfo:
    """Return the zone of that name; UTC for one that this machine does not know, for a machine
    may know none. What is counted so says which it was."""
    if not name:
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # no name, no path, a folder of zones
        return UTC


@dataclass(frozen=True, slots=True)
class Scale:
    """The stretches of time that bars stand for: where each begins, and where the last ends."""

    days: int
    ends: Sequence[date]


def _scale(first: date, today: date) -> Scale:
    """Return stretches of days, weeks, months … that reach from the first day to today."""
    span = max((today - first).days + 1, 1)
    days = next((each for each in STEPS if span / each <= BARS), STEPS[-1])
    count = -(-span // days)
    begin = today - timedelta(days=days * count - 1)
    return Scale(days, [begin + timedelta(days=days * n) for n in range(count + 1)])


def _bar(search: MemorySearch, start: datetime, end: datetime, now: datetime) -> GrowthBar:
    chosen = Filter(created_after=start, created_before=end, outdated=True)
    return GrowthBar(from_=format_time(start), to=format_time(end), known=search.count(chosen, now))


def day(context: HomeContext, call: Call) -> DayPage:
    """Return how much held at a moment, and what has come and gone since."""
    reader = RequestReader(call.query)
    at = reader.time("as_of") or context.stores.clock.now()
    reader.done()
    search, now = context.stores.search, context.stores.clock.now()
    trashed = _forgotten_since(context.stores, at)
    held = search.count(Filter(as_of=at), now) + len(trashed)
    holding = search.count(Filter(), now)
    newer = search.count(Filter(created_after=at + timedelta(microseconds=1)), now)
    return DayPage(
        held=held,
        holding=holding,
        come=newer,
        gone=held - (holding - newer),
        forgotten=[brief(each, now) for each in trashed],
    )


def _forgotten_since(stores: Stores, at: datetime) -> list[Memory]:
    """Return memories that held then and lie in the trash now: the index knows them no more, the
    journal tells of the last ones."""
    paths: dict[str, str] = {}
    for event in stores.log.recent_events([EventKind.CHANGED.value], CHANGES_READ):
        if event.at > at:
            paths = {**_trashed_by(event), **paths}  # of several times the last counts
    there = stores.search.memories(paths)
    gone = [path for memory_id, path in paths.items() if memory_id not in there]
    found = [_in_trash(stores, path) for path in gone[:FORGOTTEN_AT_MOST]]
    return [each for each in found if each and each.created <= at and not _over(each, at)]


def _trashed_by(event: Event) -> dict[str, str]:
    """Return the memories that a change moved to the trash, and where their files went."""
    edits = event.body.get("edits")
    known = [each for each in edits if isinstance(each, Mapping)] if isinstance(edits, list) else []
    return {
        str(each.get("memory")): str(each["path_after"])
        for each in known
        if is_in_trash(str(each.get("path_after") or ""))
        and not is_in_trash(str(each.get("path_before") or ""))
    }


def _in_trash(stores: Stores, path: str) -> Memory | None:
    try:
        return stores.vault.read(path).memory
    except (FileUnreadable, NoFile):
        return None  # restored elsewhere, purged, or edited into nonsense


def _over(memory: Memory, at: datetime) -> bool:
    return is_outdated(memory, Filter(as_of=at), at)


def turns(context: HomeContext, call: Call) -> TurnPage:
    """Return what replaced what, and what cannot hold beside what, newest first."""
    reader = RequestReader(call.query)
    limit = reader.whole("limit", TURNS, 1, TURNS_AT_MOST)
    reader.done()
    index = context.stores.index
    rows = index.graph.newest_edges(_TURNING, limit, but_by=CREATIVE)
    return TurnPage(turns=_turns(index.search, rows, context.stores.clock.now()))


def _turns(search: MemorySearch, rows: Sequence[EdgeRow], now: datetime) -> list[MindTurn]:
    ends = search.memories({end for row in rows for end in (row.source, row.connection.target)})
    return [
        _turn(row, ends, now)
        for row in rows
        if row.source in ends and row.connection.target in ends
    ]


def _turn(row: EdgeRow, ends: Mapping[str, Memory], now: datetime) -> MindTurn:
    """Return an arrow as what it says. The newer memory is the one that the arrow starts from;
    a tension is `open` while both of its memories hold."""
    link = row.connection
    newer, older = brief(ends[row.source], now), brief(ends[link.target], now)
    return MindTurn(
        is_="evolution" if link.edge is Edge.EVOLVED_FROM else "tension",
        newer=newer,
        older=older,
        open=not newer.outdated and not older.outdated,
        reason=link.reason,
        by=link.by,
        at=format_time(link.at) if link.at else None,
    )
