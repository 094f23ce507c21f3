"""Whether a memory is about a time that is still to come: such a memory does not fade.

Times are read as `times` reads them, from the moment at which the text was written. A date that
names its year is what it says. An event is mostly written down before it happens, so a date
without a year (`on 3 December`, `on Thursday`) is the next one after that moment, and `tomorrow`,
`next month` and `in two weeks` are reckoned from there. `On the 30th` is the next one that exists,
and so are Christmas and the other days in `KNOWN_DAYS`; days that move, as Easter does, are not
read. Whoever reads a past event as one to come keeps it at hand for some time; whoever reads one to
come as past silences it before it happens.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from madeleine.language.late_pattern import compile_late
from madeleine.language.time_points import TimeSpan
from madeleine.language.times import TEXT_CHARS, read_times
from madeleine.model.memory import Memory
from madeleine.model.words import MemoryType

YEAR = timedelta(days=366)  # at least a year: an event on the day itself has not happened yet
WEEK = timedelta(days=7)
UNIT_DAYS = {"day": 1, "week": 7, "fortnight": 14, "month": 31, "quarter": 92, "year": 366}
NUMBER_WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
VAGUE_COUNTS = {"a": 1, "an": 1, "couple": 2, "few": 5, "several": 7}
KNOWN_DAYS = {
    "christmas eve": (12, 24),
    "christmas": (12, 25),
    "xmas": (12, 25),
    "boxing day": (12, 26),
    "new year's eve": (12, 31),
    "new year": (1, 1),
    "new year's": (1, 1),
    "valentine's day": (2, 14),
    "halloween": (10, 31),
}

_AHEAD = compile_late(
    r"\b(?:(?P<week_on>tomorrow week"
    r"|(?:(?:a|one) week (?:on|from) )(?:tomorrow|(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day week)"
    r"|day after (?P<after>tomorrow)"
    r"|(?P<tomorrow>tomorrow)"
    r"|(?P<tonight>tonight)"
    r"|on the (?P<day>\d{1,2})(?:st|nd|rd|th)(?! (?:of|floor|street|avenue|page|line|day)\b)"
    r"|(?P<known>christmas eve|christmas|xmas|boxing day|new year's eve|new year(?:'s)?"
    r"|valentine's day|halloween)(?!(?:'s)?(?: (?:day|eve))?,? \d{4})"
    r"|next (?P<next>day|week|fortnight|month|quarter|year|mon|tue|wed|thu|fri|sat|sun)(?:[a-z]*)"
    r"|(?:in|within) (?:the next |about |around |a )?"
    rf"(?P<count>\d{{1,3}}|a|an|couple|few|several|{'|'.join(NUMBER_WORDS[1:])}) (?:of )?"
    r"(?:more )?(?P<unit>day|week|fortnight|month|quarter|year)s?)\b",
    re.IGNORECASE,
)


def is_upcoming(memory: Memory, now: datetime) -> bool:
    """Whether a memory is about a time after `now`."""
    if memory.valid_until is not None and memory.valid_until > now:
        return True
    text = f"{memory.title or ''}\n{memory.content}"[:TEXT_CHARS]
    is_event = memory.type is MemoryType.EVENT
    if is_event and any(each > now for each in _find_relative_ends(text, memory.created)):
        return True
    spans = read_times(text, memory.created)
    return any(_ends_after(each, memory.created, now, is_event) for each in spans)


def _ends_after(span: TimeSpan, written: datetime, now: datetime, is_event: bool) -> bool:
    start, end = span.start, span.end
    if end is None:
        return start is not None and start > now
    if end > now or not is_event or span.year is not None or end > written:
        return end > now
    is_weekday = span.month is None and start is not None and written - start <= 2 * WEEK
    return end + (WEEK if is_weekday else YEAR) > now


def _find_relative_ends(text: str, written: datetime) -> Iterator[datetime]:
    """Yield when what is told relative to the moment of writing is over, at the latest."""
    for found in _AHEAD.finditer(text.replace("\u2019", "'")):
        if found["week_on"]:
            yield written + 2 * WEEK + timedelta(days=1)
        elif found["after"]:
            yield written + timedelta(days=3)
        elif found["tomorrow"]:
            yield written + timedelta(days=2)
        elif found["tonight"]:
            yield written + timedelta(days=1)
        elif found["day"]:
            yield from _find_next_day(written, None, int(found["day"]))
        elif found["known"]:
            yield from _find_next_day(written, *KNOWN_DAYS[found["known"].lower()])
        elif found["next"]:
            days = UNIT_DAYS.get(found["next"].lower(), UNIT_DAYS["week"])
            yield written + timedelta(days=2 * days)
        else:
            count, unit = found["count"].lower(), UNIT_DAYS[found["unit"].lower()]
            times = VAGUE_COUNTS[count] if count in VAGUE_COUNTS else _parse_number(count)
            yield written + timedelta(days=(times + 1) * unit)


def _find_next_day(written: datetime, month: int | None, day: int) -> Iterator[datetime]:
    """Yield the end of the next such day of a month, or of any month that has it; one on which
    the text was written counts. Nothing where no month has such a day."""
    for ahead in range(13):
        year, place = divmod(written.year * 12 + written.month - 1 + ahead, 12)
        if month not in (None, place + 1) or not 1 <= day <= monthrange(year, place + 1)[1]:
            continue
        start = datetime(year, place + 1, day, tzinfo=UTC)
        if start.date() >= written.astimezone(UTC).date():
            yield start + timedelta(days=1)
            return


def _parse_number(word: str) -> int:
    return int(word) if word.isdigit() else NUMBER_WORDS.index(word)
