"""Whether a memory is about a time that is still to come: such a memory does not fade.

Times are read as `when` reads them, from the moment at which the text was written. A date that
names its year is what it says. An event is mostly written down before it happens, so a date
without a year (`on 3 December`, `on Thursday`) is the next one after that moment, and `tomorrow`,
`next month` and `in two weeks` are reckoned from there. Whoever reads a past event as one to come
keeps it at hand for some time; whoever reads one to come as past silences it before it happens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta

from madeleine.model.memory import Memory
from madeleine.model.words import MemoryType
from madeleine.rules.points import Span
from madeleine.rules.when import TEXT_CHARS, read_times

YEAR = timedelta(days=366)  # at least a year: an event on the day itself has not happened yet
WEEK = timedelta(days=7)
UNIT_DAYS = {"day": 1, "week": 7, "fortnight": 14, "month": 31, "quarter": 92, "year": 366}
NUMBERS = (
    *("zero", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
VAGUE = {"a": 1, "an": 1, "couple": 2, "few": 5, "several": 7}

_AHEAD = re.compile(
    r"\b(?:(?P<tomorrow>tomorrow)"
    r"|next (?P<next>day|week|fortnight|month|quarter|year|mon|tue|wed|thu|fri|sat|sun)(?:[a-z]*)"
    r"|(?:in|within) (?:the next |about |around |a )?"
    rf"(?P<count>\d{{1,3}}|a|an|couple|few|several|{'|'.join(NUMBERS[1:])}) (?:of )?"
    r"(?:more )?(?P<unit>day|week|fortnight|month|quarter|year)s?)\b",
    re.IGNORECASE,
)


def is_upcoming(memory: Memory, now: datetime) -> bool:
    """Whether a memory is about a time after `now`."""
    if memory.valid_until is not None and memory.valid_until > now:
        return True
    text = f"{memory.title or ''}\n{memory.content}"[:TEXT_CHARS]
    is_event = memory.type is MemoryType.EVENT
    if is_event and any(each > now for each in _told_ahead(text, memory.created)):
        return True
    spans = read_times(text, memory.created)
    return any(_ends_after(each, memory.created, now, is_event) for each in spans)


def _ends_after(span: Span, written: datetime, now: datetime, is_event: bool) -> bool:
    start, end = span.start, span.end
    if end is None:
        return start is not None and start > now
    if end > now or not is_event or span.year is not None or end > written:
        return end > now
    is_weekday = span.month is None and start is not None and written - start <= 2 * WEEK
    return end + (WEEK if is_weekday else YEAR) > now


def _told_ahead(text: str, written: datetime) -> Iterator[datetime]:
    """Yield when what is told relative to the moment of writing is over, at the latest."""
    for found in _AHEAD.finditer(text):
        if found["tomorrow"]:
            yield written + timedelta(days=2)
        elif found["next"]:
            days = UNIT_DAYS.get(found["next"].lower(), UNIT_DAYS["week"])
            yield written + timedelta(days=2 * days)
        else:
            count, unit = found["count"].lower(), UNIT_DAYS[found["unit"].lower()]
            times = VAGUE[count] if count in VAGUE else _number(count)
            yield written + timedelta(days=(times + 1) * unit)


def _number(word: str) -> int:
    return int(word) if word.isdigit() else NUMBERS.index(word)
