"""Points in time as people write them: `yesterday`, `3 days ago`, `8 May 2023`, `Q3 2025`.

A *point* is what one expression says by itself; `times.py` puts points and the words around them
together. Each kind of point is a pattern and a function that reads what it found. Patterns are
bounded everywhere, so the time they take grows with the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from madeleine.language.late_pattern import compile_late
from madeleine.rules.calendar_bounds import (
    DAY,
    WEEK,
    Bounds,
    calendar_unit_bounds,
    date_bounds,
    day_start,
    last_begun_bounds,
    month_bounds,
    months_bounds,
    tomorrow,
    units_before,
    week_start,
)

YEARS = range(1900, 2200)  # outside of these four digits are a number, not a year


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A stretch of time that a question speaks of. At least one of its ends is there."""

    start: datetime | None
    """The first moment in it; None if it is open."""
    end: datetime | None
    """The first moment after it; None if it is open."""
    firm: bool
    """Whether it is said relative to now, so that the answer is from then."""
    at: tuple[int, int]
    """Which characters of the text say it."""
    words: str
    """How to call it in a reason: `the last 14 days`, `since Monday, 9 November`."""
    month: int | None = None
    """The month that was named. Of `since May 2023` it is May: the edge that was named."""
    day: int | None = None
    year: int | None = None
    """The year that was named; None when only its season, month or day was."""

    def holds(self, moment: datetime) -> bool:
        """Whether a moment lies in it."""
        after_start = self.start is None or self.start <= moment
        return after_start and (self.end is None or moment < self.end)


@dataclass(frozen=True, slots=True)
class TimePoint:
    """What one expression says by itself."""

    span: TimeSpan
    weekday: bool = False
    """Whether it names a day of the week, of which there is another one ahead."""


@dataclass(frozen=True, slots=True)
class _PatternHit:
    """Where a pattern fits. Without a span it is no time, and nothing inside it is one:
    February must not be read out of `31 February`."""

    at: tuple[int, int]
    span: TimeSpan | None
    weekday: bool


_Reader = Callable[[re.Match[str], datetime], TimeSpan | None]

# Look-alikes of one character each, so that places in the text stay the same: typographic
# quotes and dashes, full-width digits and letters, Arabic digits, letters that fold to ASCII.
_LOOKALIKES = (
    {0xFF01 + each: 0x21 + each for each in range(94)}
    | {0x0660 + each: 0x30 + each for each in range(10)}
    | {0x06F0 + each: 0x30 + each for each in range(10)}
    | {ord(each): ord("'") for each in "\u2018\u2019\u02bc"}
    | {ord(each): ord("-") for each in "\u2010\u2011\u2012\u2013\u2014\u2212"}
    | {0x00A0: 0x20, 0x3000: 0x20, 0x017F: ord("s"), 0x0131: ord("i"), 0x0130: ord("I")}
    | {0x212A: ord("K")}
)

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
CALENDAR_NAMES = frozenset(each.lower() for each in (*MONTHS, *WEEKDAYS))
"""Names of months and days. What happens on Fridays is found by that word."""
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
    "couple": 2, "few": 3, "several": 5,
}  # fmt: skip
_VAGUE = frozenset({"couple", "few", "several"})

_S = r"\s{1,4}"
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_WEEKDAY = (
    r"(?:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs?(?:day)?)?|fri(?:day)?"
    r"|sat(?:urday)?|sun(?:day)?)\b"
)
_LINK = r"(?:\s(?:and|to|or|until|through)\s|\s?-\s?)"
_SEASON = r"(?:spring|summer|autumn|fall|winter)\b"
_DIGITS = r"\d{1,4}"
_NAMED_COUNT = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|(?:a\s)?couple(?:\sof)?|(?:a\s)?few|several)\b"
)
_UNIT = r"(?P<unit>min(?:ute)?|h(?:ou)?r|h|day|d|week|wk|w|fortnight|month|year|yr)s?\b"
_ORDINAL = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_FIRST = r"(?P<first>\d{1,2})(?:st|nd|rd|th)?(?:\s?-\s?|\s(?:to|and|until|till|through)\s)"
_YEAR = r"(?P<year>\d{4})(?!\d)"
_BEFORE_DATE = rf"(?:\b{_WEEKDAY}\.?,?{_S})?(?:\bthe{_S})?"
_OWNERS = "my|our|your|his|her|their"
_NO_DIGIT_BEFORE = r"(?<![\d.,/:-])"
_NO_DIGIT_AFTER = r"(?!\d|[.,/:-]\d)"

_AHEAD = compile_late(
    r"\b(?:will|going to|upcoming|due|deadlines?|schedule[ds]?|agenda|calendar|appointments?"
    r"|do (?:i|we) have|have to|need to|should|must|supposed to|planned for|plans? for|help me"
    r"|i want|i need|let's|how (?:do|can|could) (?:i|we))\b",
    re.IGNORECASE,
)
"""Words of a question about what is still to come: what it is about was written down before."""


_HINT = compile_late(
    r"\d|day|night|morn|noon|even|week|month|year|hour|min|quarter|spring|summer|autumn|fall|winter"
    r"|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun|hrs?|wk|yr",
    re.IGNORECASE,
)
"""Without any of these a text names no time: most questions are done with here."""


def replace_lookalikes(text: str) -> str:
    """Return the text with look-alikes of ASCII replaced, each character in its place."""
    return text.translate(_LOOKALIKES)


def find_points(text: str, now: datetime) -> list[TimePoint]:
    """Return the points in a plain text, in order and apart: of two that overlap the one that
    begins first stays, then the longer one."""
    if _HINT.search(text) is None:
        return []
    found = [each for kind in _KINDS for each in _find_of_kind(kind, text, now)]
    chosen: list[_PatternHit] = []
    for each in sorted(found, key=lambda each: (each.at[0], -each.at[1])):
        if not chosen or chosen[-1].at[1] <= each.at[0]:
            chosen.append(each)
    return [TimePoint(each.span, each.weekday) for each in chosen if each.span is not None]


def _find_of_kind(
    kind: tuple[re.Pattern[str], _Reader], text: str, now: datetime
) -> Iterator[_PatternHit]:
    pattern, reader = kind
    for match in pattern.finditer(text):
        yield _PatternHit(match.span(), _read_match(reader, match, now), reader is _read_weekday)


def _read_match(reader: _Reader, match: re.Match[str], now: datetime) -> TimeSpan | None:
    """Return what the match says, or nothing if no calendar has such a date."""
    try:
        return reader(match, now)
    except (ValueError, OverflowError):
        return None


def _read_named_day(match: re.Match[str], now: datetime) -> TimeSpan | None:
    """`today`, `tonight`, `yesterday`, `the day before yesterday`, `last night`."""
    said, today = match.group().casefold(), day_start(now)
    if said.startswith("last"):
        return _firm_span(match, (today - DAY, today + DAY / 2), "last night")
    back = 2 if "before" in said else 1 if "yesterday" in said else 0
    day = today - back * DAY
    label = ("today", "yesterday", "the day before yesterday")[back]
    span = _firm_span(match, (day, day + DAY), f"{label}, {render_day(day)}")
    return span if back else _soften_if_ahead(match, span, day)


def _read_ago(match: re.Match[str], now: datetime) -> TimeSpan | None:
    """`3 days ago`: that day. Longer or shorter units: half a unit to either side.

    What happened years ago is told at any time since, so years are not firm.
    """
    count, unit = _parse_count(match["count"]), _parse_unit(match["unit"])
    reach = max(0.5, count / 2) if _is_vague(match["count"]) else 0.5
    words = f"{'about ' if reach > 0.5 else ''}{_render_count(count, unit)} ago"
    near = " ".join((match["near"] or "").casefold().split())
    if near in ("more than", "over", "at least"):
        return _firm_span(match, (None, units_before(now, count, unit)), f"{near} {words}")
    if near in ("less than", "under", "within"):
        return _firm_span(match, (units_before(now, count, unit), tomorrow(now)), f"{near} {words}")
    if unit == "day":
        first, last = day_start(now) - int(count + reach) * DAY, int(count - reach + 0.5)
        return _firm_span(match, (first, day_start(now) - (last - 1) * DAY), words)
    bounds = units_before(now, count + reach, unit), units_before(now, count - reach, unit)
    return _soft_span(match, bounds, words) if unit == "year" else _firm_span(match, bounds, words)


def _read_last_units(match: re.Match[str], now: datetime) -> TimeSpan | None:
    """`the last 2 weeks`: the 14 days up to now, not weeks of the calendar."""
    count, unit = _parse_count(match["count"]), _parse_unit(match["unit"])
    days = {"week": 7, "fortnight": 14}.get(unit)
    words = _render_count(count * days, "day") if days else _render_count(count, unit)
    return _firm_span(match, (units_before(now, count, unit), tomorrow(now)), f"the last {words}")


def _read_past_unit(match: re.Match[str], now: datetime) -> TimeSpan | None:
    """`the past week`, `in the last week`: the 7 days up to now."""
    unit = _parse_unit(match["unit"])
    words = "the last 7 days" if unit == "week" else f"the past {unit}"
    return _firm_span(match, (units_before(now, 1, unit), tomorrow(now)), words)


def _read_calendar_unit(match: re.Match[str], now: datetime) -> TimeSpan | None:
    """`last week`, `this month`, `the year before last`: units of the calendar. What happened
    last year may be told this year, so that is a date and not firm."""
    which = (match["which"] or "before last").casefold()
    unit = (match["unit"] or match["unit_before"]).casefold()
    back = {"this": 0, "current": 0, "before last": 2}.get(which, 1)
    start, end = calendar_unit_bounds(now, unit, back)
    words = f"the {unit} before last" if back == 2 else f"{'last' if back else 'this'} {unit}"
    if unit == "year" and back:
        return _soft_span(match, (start, end), words, year=start.year)
    span = _firm_span(match, (start, end), words)
    return span if back else _soften_if_ahead(match, span)


def _read_weekend(match: re.Match[str], now: datetime) -> TimeSpan | None:
    """`last weekend`: the one before this week's. `over the weekend`: the last that began."""
    which, saturday = match["which"].casefold(), week_start(now) + 5 * DAY
    back = which in ("last", "past", "previous") or (which != "this" and saturday > now)
    start = saturday - WEEK if back else saturday
    words = f"the weekend of {render_day(start)}"
    return _firm_span(match, (start, start + 2 * DAY), words)


def _read_weekday(match: re.Match[str], now: datetime) -> TimeSpan | None:
    """`Monday`: the last one before today. Alone it may be part of a name (`Monday club`) and is
    not firm; `on`, `since` or `last` make it so."""
    which, name = (match["which"] or "").casefold(), match["name"].casefold()
    if _is_no_weekday(match, which, name):
        return None
    number = _find_by_prefix(WEEKDAYS, name)
    day = day_start(now) - ((now.weekday() - number - 1) % 7 + 1) * DAY
    if which == "this":
        day = week_start(now) + number * DAY
    span = _firm_span(match, (day, day + DAY), f"{WEEKDAYS[number]}, {render_day(day)}")
    sure = which in ("last", "past", "previous", "this") or _stands_after(
        match, "on|since|from|between"
    )
    if sure and not (_AHEAD.search(match.string) and which in ("", "this")):
        return span
    return _to_date_span(span, day)


def _is_no_weekday(match: re.Match[str], which: str, name: str) -> bool:
    if which in ("next", "coming", "every", "each", "following"):
        return True
    if _stands_after(match, "black|good|cyber|easter|palm|ash|super|by"):
        return True
    if which or len(name) > len("thurs"):
        return False
    listed = match["name"][0].isupper() and _text_after(match).startswith(",")
    return _stands_after(match, "the|a") or not (
        listed or _stands_after(match, "on|since|from|between")
    )


def _read_date(match: re.Match[str], now: datetime) -> TimeSpan | None:
    """`8 May 2023`, `March 8`, `8th of May`."""
    month = _parse_month(match["month"])
    year = int(match["year"]) if match["year"] else None
    return _calendar_span(match, now, year, month, int(match["day"]))


def _read_date_range(match: re.Match[str], now: datetime) -> TimeSpan | None:
    """`3-5 May`, `between 3 and 5 May 2023`, `May 3 to 5`: from the one day to the other."""
    first, last = int(match["first"]), _read_date(match, now)
    if last is None or last.start is None or not 0 < first < last.start.day:
        return None
    start = last.start.replace(day=first)
    words = f"from {render_day(start)} to {last.words}"
    return replace(last, start=start, words=words, day=None)


def _read_month(match: re.Match[str], now: datetime) -> TimeSpan | None:
    """`March`, `May 2023`, `last June`. A word that may be another one needs a sign beside it."""
    month = _parse_month(match["month"])
    if match["year"]:
        return _calendar_span(match, now, _parse_year(match["year"]), month)
    if _is_no_month(match):
        return None
    bounds = _resolve_yearly_bounds(match["which"], now, lambda year: month_bounds(year, month))
    return _soft_span(match, bounds, f"{_month_name(month)} {bounds[0].year}", month=month)


def _is_no_month(match: re.Match[str]) -> bool:
    """Whether `may`, `march` or an abbreviation stands where no month would."""
    name = match["month"].rstrip(".")
    lower, which = name.casefold(), (match["which"] or "").casefold()
    if len(lower) > 5 or lower in ("april", "june", "july"):
        return False
    if which:
        return (
            which == "this" and name == "may" and re.match(r"\s*\w", _text_after(match)) is not None
        )
    among_months = re.search(rf"\b{_MONTH}(?:,?\s\d{{4}})?{_LINK}$", _text_before(match), re.I)
    with_another = re.match(rf"{_LINK}{_MONTH}", _text_after(match), re.I)
    beside = "in|on|of|since|early|late|mid|during|by|until|till|around|before|after|from|between"
    return not (among_months or with_another or _stands_after(match, beside))


def _read_numeric_date(match: re.Match[str], now: datetime) -> TimeSpan | None:
    """`2023-05-08`, `2023-05`, `08.05.2023`, `5/8/2023`, `2023年5月8日`."""
    said = match.groupdict()
    year = _parse_year(said["year"]) if said.get("year") else None
    month = int(said["month"]) if said["month"] else None
    day = int(said["day"]) if said.get("day") else None
    if said.get("either") and month and day and month > 12 >= day:
        month, day = day, month
    return _calendar_span(match, now, year, month, day)


def _read_year(match: re.Match[str], now: datetime) -> TimeSpan | None:
    """`in 2022`. Four digits that stand anywhere else are a number."""
    year = int(match["year"])
    if _stands_after(
        match, "in|since|during|year|until|till|before|after|between|early|late|mid|around"
    ):
        return _calendar_span(match, now, year)
    counted = re.match(r"\s[a-z]+s\b", _text_after(match)) is not None and not _stands_after(
        match, _OWNERS
    )
    owned = _stands_after(match, rf"of|from|to|through|and|or|by|the|{_OWNERS}|\d{{4}}|-")
    ends = re.match(r"\s?(?:$|[?!.,;)-])", _text_after(match)) is not None
    plausible = 1950 <= year <= now.year + 1 and not counted
    return _calendar_span(match, now, year) if plausible and (owned or ends) else None


def _read_quarter(match: re.Match[str], now: datetime) -> TimeSpan | None:
    """`Q3 2025`, `in Q3`."""
    number = int(match["number"] or match["number_after"])
    said = match["year"] or match["year_before"]
    if said is None and not _stands_after(match, "in|of|during|since|last|this|until|before|after"):
        return None
    bounds = _resolve_year(said, now, lambda year: months_bounds(year, 3 * number - 2, 3))
    words = f"Q{number} {bounds[0].year}"
    return _soft_span(match, bounds, words, year=int(said) if said else None)


def _read_season(match: re.Match[str], now: datetime) -> TimeSpan | None:
    """`summer 2023`, `last winter`. The winter of a year begins in its December."""
    name, said = match["season"].casefold(), match["year"]
    which = match["which"]
    if (
        not said
        and not which
        and not _stands_after(match, "in|during|since|over|until|before|after")
    ):
        return None
    month = _SEASONS[name]
    if said:
        bounds = _resolve_year(said, now, lambda year: months_bounds(year, month, 3))
    else:
        bounds = _resolve_yearly_bounds(which, now, lambda year: months_bounds(year, month, 3))
    words = f"{name} {bounds[0].year}"
    return _soft_span(match, bounds, words, year=int(said) if said else None)


def _compile_pattern(pattern: str) -> re.Pattern[str]:
    return compile_late(pattern, re.IGNORECASE)


_WHICH = rf"(?:\b(?P<which>last|past|previous|this|next){_S})?"
_KINDS: tuple[tuple[re.Pattern[str], _Reader], ...] = (
    (
        _compile_pattern(
            rf"\b(?:(?:the{_S})?day{_S}before{_S}yesterday|yesterday|today|tonight|last{_S}night"
            rf"|this{_S}(?:morning|afternoon|evening))\b"
        ),
        _read_named_day,
    ),
    (
        _compile_pattern(
            rf"(?:\b(?P<near>more{_S}than|over|at{_S}least|less{_S}than|under|within){_S})?"
            rf"\b(?P<count>{_DIGITS}|{_NAMED_COUNT}|an?\b)\s{{0,4}}{_UNIT}{_S}(?:ago|back)\b"
        ),
        _read_ago,
    ),
    (
        _compile_pattern(
            rf"\b(?:the{_S})?(?:these{_S})?(?:last|past|previous){_S}"
            rf"(?P<count>{_DIGITS}|{_NAMED_COUNT})\s{{0,4}}{_UNIT}(?!{_S}of\b)"
        ),
        _read_last_units,
    ),
    (
        _compile_pattern(
            rf"\b(?:(?:(?:the|this){_S})?past|(?:in|over|within|during|for){_S}the{_S}last|last"
            rf"(?={_S}hour)){_S}(?P<unit>hour|day|week|month|year)\b(?!{_S}of\b)"
        ),
        _read_past_unit,
    ),
    (
        _compile_pattern(
            rf"\b(?P<which>last|previous|this|current){_S}(?P<unit>week|month|quarter|year)\b"
            rf"(?!{_S}of\b)|\bthe{_S}(?P<unit_before>week|month|year){_S}before{_S}last\b"
        ),
        _read_calendar_unit,
    ),
    (
        _compile_pattern(rf"\b(?P<which>last|past|previous|this|over{_S}the){_S}weekend\b"),
        _read_weekend,
    ),
    (
        _compile_pattern(
            r"\b(?:(?P<which>last|past|previous|this|next|coming|every|each|following)"
            rf"{_S})?(?P<name>{_WEEKDAY})(?!-|{_S}(?:morning|afternoon|evening|night)s\b)"
        ),
        _read_weekday,
    ),
    (
        _compile_pattern(
            rf"{_NO_DIGIT_BEFORE}{_FIRST}{_ORDINAL}{_S}(?:of{_S})?(?P<month>{_MONTH})"
            rf"(?:,?{_S}(?:of{_S})?{_YEAR})?"
        ),
        _read_date_range,
    ),
    (
        _compile_pattern(
            rf"\b(?P<month>{_MONTH}){_S}{_FIRST}{_ORDINAL}(?![\d:%])(?:,?{_S}{_YEAR})?"
        ),
        _read_date_range,
    ),
    (
        _compile_pattern(
            rf"{_BEFORE_DATE}{_NO_DIGIT_BEFORE}\b{_ORDINAL}(?:{_S}of{_S}|{_S}|-)"
            rf"(?P<month>{_MONTH})(?:(?:,?{_S}|-)(?:of{_S})?{_YEAR})?"
        ),
        _read_date,
    ),
    (
        _compile_pattern(
            rf"{_BEFORE_DATE}\b(?P<month>{_MONTH}){_S}(?:the{_S})?{_ORDINAL}(?![\d:%])"
            rf"(?!\s{{0,4}}(?:minute|hour|day|week|month|year)s?\b)(?:,?{_S}(?:of{_S})?{_YEAR})?"
        ),
        _read_date,
    ),
    (
        _compile_pattern(
            rf"{_WHICH}\b(?P<month>{_MONTH})(?:(?:,?{_S}|-|/)(?:of{_S})?(?P<year>\d{{4}}(?!\d)|'\d\d\b))?"
        ),
        _read_month,
    ),
    (
        _compile_pattern(
            rf"{_NO_DIGIT_BEFORE}(?P<year>\d{{4}})([-/.])(?P<month>\d{{1,2}})\2(?P<day>\d{{1,2}})"
            r"(?!\d|[./-]\d)"
        ),
        _read_numeric_date,
    ),
    (
        _compile_pattern(rf"{_NO_DIGIT_BEFORE}(?P<year>\d{{4}})-(?P<month>\d\d){_NO_DIGIT_AFTER}"),
        _read_numeric_date,
    ),
    (
        _compile_pattern(
            rf"{_NO_DIGIT_BEFORE}(?P<day>\d{{1,2}})(?P<either>\.\s?|-)(?P<month>\d{{1,2}})"
            rf"(?:\.\s?|-)(?P<year>\d{{4}}){_NO_DIGIT_AFTER}"
        ),
        _read_numeric_date,
    ),
    (
        _compile_pattern(
            rf"{_NO_DIGIT_BEFORE}(?P<month>\d{{1,2}})(?P<either>/)(?P<day>\d{{1,2}})"
            rf"/(?P<year>\d{{4}}|\d\d){_NO_DIGIT_AFTER}"
        ),
        _read_numeric_date,
    ),
    (_compile_pattern(rf"{_NO_DIGIT_BEFORE}(?P<month>\d{{1,2}})/{_YEAR}(?!/)"), _read_numeric_date),
    (
        _compile_pattern(
            r"(?<!\d)(?:(?P<year>\d{4})\s?[年년]\s?)(?:(?P<month>\d{1,2})\s?[月월]\s?"
            r"(?:(?P<day>\d{1,2})\s?[日号일])?)?"
        ),
        _read_numeric_date,
    ),
    (
        _compile_pattern(r"(?<!\d)(?P<month>\d{1,2})\s?[月월](?:\s?(?P<day>\d{1,2})\s?[日号일])?"),
        _read_numeric_date,
    ),
    (
        _compile_pattern(
            r"(?<![\w$€£#.,:/+])(?<!\D-)(?P<year>\d{4})(?!\w|[.,:/]\d|-\d{1,3}(?!\d)|%)"
        ),
        _read_year,
    ),
    (
        _compile_pattern(
            rf"\bQ(?P<number>[1-4])\b(?:[\s,-]{{1,4}}(?:of{_S})?(?P<year>\d{{4}})(?!\d))?"
            r"|\b(?P<year_before>\d{4})[\s,-]{0,3}Q(?P<number_after>[1-4])\b"
        ),
        _read_quarter,
    ),
    (
        _compile_pattern(rf"{_WHICH}\b(?P<season>{_SEASON})(?:,?{_S}(?:of{_S})?{_YEAR})?"),
        _read_season,
    ),
)
"""What a point can look like, and who reads it."""


# -- reading parts -------------------------------------------------------------------------


def _text_before(match: re.Match[str]) -> str:
    return match.string[max(0, match.start() - 32) : match.start()]


def _text_after(match: re.Match[str]) -> str:
    return match.string[match.end() : match.end() + 32]


def _stands_after(match: re.Match[str], words: str) -> bool:
    """Whether one of the words stands right before the match."""
    before = re.search(
        rf"(?:(?<!\w)|(?<=-))(?:{words})[\s-]{{0,4}}(?:the\s)?$", _text_before(match), re.I
    )
    return before is not None


def _parse_count(said: str) -> int:
    words = [each for each in said.casefold().split() if each in _NUMBERS]
    return int(said) if said.isdigit() else _NUMBERS[words[-1]]


def _is_vague(said: str) -> bool:
    return not _VAGUE.isdisjoint(said.casefold().split())


def _parse_unit(said: str) -> str:
    """Return the unit of time: `hour` for `hrs`."""
    short = {"m": "minute", "h": "hour", "d": "day", "w": "week", "f": "fortnight", "y": "year"}
    return "month" if said.casefold().startswith("mo") else short[said[0].casefold()]


def _render_count(count: float, unit: str) -> str:
    return f"{count:g} {unit}" if count == 1 else f"{count:g} {unit}s"


def _find_by_prefix(names: Sequence[str], said: str) -> int:
    """Return which of the names begins with the same three letters."""
    return [each[:3].casefold() for each in names].index(said[:3].casefold())


def _parse_month(said: str) -> int:
    return _find_by_prefix(MONTHS, said) + 1


def _month_name(month: int) -> str:
    return MONTHS[month - 1]


def month_names(month: int) -> tuple[str, ...]:
    """Return how texts write a month: `september`, `sep`, `sept`."""
    name = _month_name(month).casefold()
    return tuple(dict.fromkeys((name, name[:3], *(["sept"] if month == 9 else []))))


def _parse_year(said: str) -> int:
    digits = said.lstrip("'")
    return int(digits) if len(digits) == 4 else 2000 + int(digits)


def render_day(moment: datetime) -> str:
    return f"{moment.day} {_month_name(moment.month)}"


def render_date(start: datetime, month: int | None, day: int | None) -> str:
    parts = (start.day if day else None, _month_name(start.month) if month else None, start.year)
    return " ".join(str(each) for each in parts if each is not None)


def _resolve_year(said: str | None, now: datetime, of_year: Callable[[int], Bounds]) -> Bounds:
    if said is None:
        return _resolve_yearly_bounds(None, now, of_year)
    if int(said) not in YEARS:
        raise ValueError(f"{said} is a number")
    return of_year(int(said))


# -- making spans --------------------------------------------------------------------------


def _firm_span(
    match: re.Match[str], bounds: tuple[datetime | None, datetime], words: str
) -> TimeSpan:
    return TimeSpan(bounds[0], bounds[1], True, match.span(), words)


def _soft_span(
    match: re.Match[str],
    bounds: Bounds,
    words: str,
    *,
    year: int | None = None,
    month: int | None = None,
    day: int | None = None,
) -> TimeSpan:
    return TimeSpan(bounds[0], bounds[1], False, match.span(), words, month, day, year)


def _to_date_span(span: TimeSpan, day: datetime) -> TimeSpan:
    """Return a day of this week as a date of the calendar."""
    return replace(span, firm=False, year=day.year, month=day.month, day=day.day)


def _soften_if_ahead(match: re.Match[str], span: TimeSpan, day: datetime | None = None) -> TimeSpan:
    """Return the span as firm as it is, or not when the question looks ahead: what is due
    today was written down before."""
    if _AHEAD.search(match.string) is None:
        return span
    return replace(span, firm=False) if day is None else _to_date_span(span, day)


def _calendar_span(
    match: re.Match[str],
    now: datetime,
    year: int | None,
    month: int | None = None,
    day: int | None = None,
) -> TimeSpan:
    """Return the date that was named; ValueError if there is none such."""
    if year is not None and year not in YEARS:
        raise ValueError(f"{year} is a number")
    if year is None and month is not None:
        bounds = last_begun_bounds(now, month, day)
    else:
        bounds = date_bounds(year or 0, month, day)
    words = render_date(bounds[0], month, day)
    return _soft_span(match, bounds, words, year=year, month=month, day=day)


def _resolve_yearly_bounds(
    said: str | None, now: datetime, of_year: Callable[[int], Bounds]
) -> Bounds:
    """Return the one that is meant of what comes every year: last, this or next, or the last
    that has begun."""
    which = (said or "").casefold()
    known = [of_year(year) for year in range(now.year - 2, now.year + 3)]
    if which in ("last", "past", "previous"):
        return [each for each in known if each[1] <= now][-1]
    if which == "next":
        return next(each for each in known if each[0] > now)
    begun = [each for each in known if each[0] <= now][-1]
    return known[2] if which == "this" and begun[1] <= now else begun
