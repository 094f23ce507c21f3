"""The calendar as questions use it: days, weeks, months and what comes back every year.

Everything is in UTC. Stretches are pairs: the first moment in one, and the first after it.
A date that no calendar has raises ValueError.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

DAY = timedelta(days=1)
WEEK = timedelta(weeks=1)
Bounds = tuple[datetime, datetime]


def day_start(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def tomorrow(now: datetime) -> datetime:
    return day_start(now) + DAY


def week_start(now: datetime) -> datetime:
    return day_start(now) - now.weekday() * DAY


def units_before(now: datetime, count: float, unit: str) -> datetime:
    """Return the moment so many units before now; whole months and years by the calendar."""
    days = {"minute": 1 / 1440, "hour": 1 / 24, "day": 1, "week": 7, "fortnight": 14}
    if unit in days:
        return now - timedelta(days=count * days[unit])
    months = count * (12 if unit == "year" else 1)
    whole = int(months)
    return months_before(now, whole) - timedelta(days=(months - whole) * 30)


def months_before(now: datetime, months: int) -> datetime:
    year, month = divmod(now.year * 12 + now.month - 1 - months, 12)
    last = (month_bounds(year, month + 1)[1] - DAY).day
    return now.replace(year=year, month=month + 1, day=min(now.day, last))


def calendar_unit_bounds(now: datetime, unit: str, back: int) -> Bounds:
    """Return the week, month, quarter or year of the calendar that was `back` of them ago."""
    if unit == "week":
        start = week_start(now) - back * WEEK
        return start, start + WEEK
    size = {"month": 1, "quarter": 3, "year": 12}[unit]
    first = now.month - 1 - (now.month - 1) % size - back * size
    return months_bounds(now.year, first + 1, size)


def months_bounds(year: int, month: int, count: int) -> Bounds:
    """Return so many months from the given one on; month 0 is the December before."""
    first, last = year * 12 + month - 1, year * 12 + month - 1 + count
    return _month_start(*divmod(first, 12)), _month_start(*divmod(last, 12))


def _month_start(year: int, months: int) -> datetime:
    return datetime(year, months + 1, 1, tzinfo=UTC)


def month_bounds(year: int, month: int) -> Bounds:
    return months_bounds(year, month, 1)


def date_bounds(year: int, month: int | None, day: int | None) -> Bounds:
    """Return the day, month or year that is meant; ValueError if there is none such."""
    if month is None:
        return months_bounds(year, 1, 12)
    if not 1 <= month <= 12:
        raise ValueError(f"no month {month}")
    if day is None:
        return month_bounds(year, month)
    start = datetime.combine(date(year, month, day), time(), tzinfo=UTC)
    return start, start + DAY


def last_begun_bounds(now: datetime, month: int, day: int | None) -> Bounds:
    """Return the last such date that began before now; a 29 February may be eight years ago."""
    for year in range(now.year, now.year - 9, -1):
        if date_exists(year, month, day) and date_bounds(year, month, day)[0] <= now:
            return date_bounds(year, month, day)
    raise ValueError("no such date")


def date_exists(year: int, month: int | None, day: int | None) -> bool:
    """Whether there is such a date: 29 February is not in every year."""
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return leap or (month, day) != (2, 29)
