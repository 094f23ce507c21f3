"""How much there is and how much of it was used, in few numbers: what a tray icon shows."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from madeleine.api import answer_texts
from madeleine.api.contract.responses import Stats, StatsWindow, StoreStats, UsageStats
from madeleine.model.query import Filter
from madeleine.model.times import format_time
from madeleine.whisper.log import entry_ids, is_delivered
from madeleine.whisper.report import ENTRIES

if TYPE_CHECKING:
    from madeleine.bootstrap import HomeContext

MAX_DAYS = 365


def count_stats(context: HomeContext, days: int) -> Stats:
    """Return the numbers of the last `days`, or of this week. Whispers are counted as far back as
    their log is kept."""
    now = context.stores.clock.now()
    since = now - timedelta(days=days) if days else _week_start(now)
    usage, counts = _count_usage(context, since, now), context.stores.search.counts()
    text = (
        f"{answer_texts.render_count(counts.memories, 'memory')}, "
        f"{answer_texts.render_count(usage.memories_this_week, 'new one')} and "
        f"{answer_texts.render_count(usage.whispers_used_this_week, 'whisper')} "
        f"since {format_time(since)}"
    )
    window = StatsWindow(
        kind="rolling" if days else "calendar_week",
        days=days or now.weekday() + 1,
        cutoff=format_time(since),
    )
    return Stats(
        text=text,
        generated_at=format_time(now),
        window=window,
        usage=usage,
        store=StoreStats(
            total_nodes=counts.memories,
            total_edges=counts.edges,
            by_tier=dict(counts.by_tier),
        ),
    )


def _week_start(now: datetime) -> datetime:
    start = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return start - timedelta(days=now.weekday())


def _count_usage(context: HomeContext, since: datetime, now: datetime) -> UsageStats:
    index = context.stores.index
    entries = index.log.whispers(ENTRIES)
    told = [each for each in entries if entry_ids(each, "injected") and is_delivered(each.body)]
    every = Filter(outdated=True)
    return UsageStats(
        whispers_used_this_week=sum(each.at >= since for each in told),
        whispers_used_total=len(told),
        memories_this_week=index.search.count(Filter(created_after=since, outdated=True), now),
        memories_total=index.search.count(every, now),
    )
