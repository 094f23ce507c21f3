"""The memory in figures: what whispers were worth, how it grew, and which memories earn their keep.

All of it is counted once and kept until something is written (`bootstrap/kept_answers.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from functools import partial
from typing import TYPE_CHECKING

from madeleine.api.contract.page_responses import (
    FiguresPage,
    Growth,
    KeptMemory,
    KnownDay,
    SpaceGrowth,
    WorthWeek,
)
from madeleine.api.contract.requests import PageTimeBarsQuery
from madeleine.api.operation import operation
from madeleine.api.page.brief import build_brief
from madeleine.api.page.letter import count_everything
from madeleine.api.page.timeline import count_growth, find_zone
from madeleine.index.log import WhisperEntry
from madeleine.index.search import MemorySearch
from madeleine.model.people import Role
from madeleine.model.query import Filter
from madeleine.model.request_reader import RequestReader
from madeleine.model.times import parse_time
from madeleine.model.words import GLOBAL
from madeleine.whisper.log import is_about_prompt
from madeleine.whisper.worth import (
    Thumbs,
    ToldCount,
    count_told,
    is_useful,
    read_thumbs,
    select_told,
)
from madeleine.write.stores import Stores

if TYPE_CHECKING:
    from madeleine.api.call import OperationCall
    from madeleine.bootstrap import HomeContext

MAX_WHISPERS = 3_000  # newest entries of the log that are read
MAX_SPACES = 6  # that have a place of their own in the stack; the others share one
MAX_EARNING = 40
CALENDAR_DAYS = 371  # 53 weeks


@operation(
    "page_figures",
    "GET",
    "/ui/data/figures",
    "the memory in figures: useful and useless whispers, growth by space, days, whispered and used",
    role=Role.READER,
    query=PageTimeBarsQuery,
    answer=FiguresPage,
)
def show_figures(context: HomeContext, call: OperationCall) -> FiguresPage:
    """Return the figures as they were counted last."""
    reader = RequestReader(call.query)
    zone = find_zone(reader.text("zone"))
    reader.done()
    today = context.stores.clock.now().astimezone(zone).date()
    question = f"figures {zone} {today}"
    return context.kept_answers.get(context.stores, question, partial(_count, context, zone, today))


def _count(context: HomeContext, zone: tzinfo, today: date) -> FiguresPage:
    stores, now = context.stores, context.stores.clock.now()
    growth = count_growth(context, zone)
    whispers = context.kept_answers.get(
        stores, f"whispers {zone}", partial(_count_whispers, stores, zone), of_memories=False
    )
    return FiguresPage(
        zone=str(zone),
        days=context.whisper_config.log_days,
        weeks=whispers.weeks,
        bars=growth.bars,
        spaces=_count_spaces(context, growth, now),
        calendar=_count_days(stores.search, growth.first, (zone, today), now),
        earning=_find_earning(stores, whispers.told, now),
    )


# -- whispers ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WhisperCounts:
    """What the log of whispers adds up to."""

    weeks: Sequence[WorthWeek]
    told: Mapping[str, ToldCount]
    """By memory; those whispered most often."""


def _count_whispers(stores: Stores, zone: tzinfo) -> WhisperCounts:
    entries = select_told(stores.log.whispers(MAX_WHISPERS))
    thumbs = read_thumbs(stores, entries)
    counts = count_told(entries, thumbs)
    ranked = sorted(counts, key=lambda each: (-counts[each].whispered, -counts[each].useful, each))
    told = {each: counts[each] for each in ranked[:MAX_EARNING]}
    return WhisperCounts(_count_weeks(entries, thumbs, zone), told)


def _count_weeks(told: Sequence[WhisperEntry], thumbs: Thumbs, zone: tzinfo) -> list[WorthWeek]:
    """Return how many whispers of each week were useful, from the first to the last."""
    worth: dict[date, Counter[bool | None]] = {}
    for each in told:
        if is_about_prompt(each.body):
            monday = _monday(each.at.astimezone(zone).date())
            worth.setdefault(monday, Counter())[is_useful(each, thumbs)] += 1
    if not worth:
        return []
    weeks = (max(worth) - min(worth)).days // 7 + 1
    mondays = [min(worth) + timedelta(weeks=n) for n in range(weeks)]
    return [
        WorthWeek(
            begins=each.isoformat(),
            useful=worth.get(each, Counter())[True],
            useless=worth.get(each, Counter())[False],
            unknown=worth.get(each, Counter())[None],
        )
        for each in mondays
    ]


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _find_earning(stores: Stores, told: Mapping[str, ToldCount], now: datetime) -> list[KeptMemory]:
    """Return the memories that were whispered most often, as they are now."""
    known = stores.search.memories(told)
    return [
        KeptMemory(
            memory=build_brief(known[each], now),
            whispered=count.whispered,
            useful=count.useful,
            uses=known[each].access_count,
        )
        for each, count in told.items()
        if each in known
    ]


# -- growth --------------------------------------------------------------------------------


def _count_spaces(context: HomeContext, growth: Growth, now: datetime) -> list[SpaceGrowth]:
    """Return the bars of the largest spaces, and of all others together."""
    sizes = count_everything(context).by_space
    largest = sorted(sizes, key=lambda each: (-sizes[each], each))[:MAX_SPACES]
    ends = [(parse_time("from", bar.from_), parse_time("to", bar.to)) for bar in growth.bars]
    found = []
    for name in largest:
        space = None if name == GLOBAL else name
        chosen = (
            Filter(spaces=(space,), created_after=start, created_before=end, outdated=True)
            for start, end in ends
        )
        known = [context.stores.search.count(each, now) for each in chosen]
        found.append(SpaceGrowth(space=space, others=False, known=known))
    rest = [
        max(bar.known - sum(each.known[at] for each in found), 0)
        for at, bar in enumerate(growth.bars)
    ]
    if len(sizes) > len(largest):
        found.append(SpaceGrowth(space=None, others=True, known=rest))
    return found


def _count_days(
    search: MemorySearch, first: str | None, days: tuple[tzinfo, date], now: datetime
) -> list[KnownDay]:
    """Return the days of the last year on which memories became known; each is one look into
    the index of times."""
    zone, today = days
    if first is None:
        return []
    oldest = parse_time("first", first).astimezone(zone).date()
    begin = max(oldest, today - timedelta(days=CALENDAR_DAYS - 1))
    span = (today - begin).days + 1
    counted = [
        (day, search.count(_during_day(day, zone), now))
        for day in (begin + timedelta(days=n) for n in range(span))
    ]
    return [KnownDay(day=day.isoformat(), known=known) for day, known in counted if known]


def _during_day(day: date, zone: tzinfo) -> Filter:
    start = datetime.combine(day, time.min, zone)
    end = datetime.combine(day + timedelta(days=1), time.min, zone)
    return Filter(created_after=start, created_before=end, outdated=True)
