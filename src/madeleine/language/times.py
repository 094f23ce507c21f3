"""Times that a question speaks of: `yesterday`, `the last 2 weeks`, `since Monday`, `in March`.

`now` is handed in. Days are UTC days: where the asker lives is not known, so `this morning`
and `tonight` both mean today. A week begins on Monday, seasons are those of the north and begin
with a month. Words are English; dates in digits are read in any language, and so are the
Japanese, Chinese and Korean `2023年5月8日`.

Two kinds must be told apart. What is said relative to now (`yesterday`) is *firm*: the answer
was written down then. A date of the calendar (`in March`) is not: what happened in March may
have been told in May, or may lie ahead; and so with `last year`. A statement makes nothing firm,
and neither does a question about what is to come: what is due today was written down before.

Reading is done in two steps. *Points* are found first (`Monday`, `3 May`), then the words around
them turn points into spans (`since …`, `… to …`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from madeleine.language.late_pattern import compile_late
from madeleine.language.phrases import find_foreign_phrases
from madeleine.language.time_points import (
    MONTHS,
    TimePoint,
    TimeSpan,
    find_points,
    month_names,
    render_date,
    render_day,
    replace_lookalikes,
)
from madeleine.rules.calendar_bounds import WEEK, date_bounds, date_exists, tomorrow

__all__ = [
    "TimeSpan",
    "asks_for_newest",
    "date_search_terms",
    "find_newest_words",
    "names_date",
    "read_times",
]

RULE = "times"  # as the files of other languages call their phrases
TEXT_CHARS = 2_000  # where people say when; the rest of a pasted page is not about the question

_NEWEST = compile_late(
    r"\b(?:(?:most\s)?recent(?:ly)?|lately|latest|newest|what'?s\snew|the\sother\sday|just\snow"
    r"|these\sdays|last\s(?:time|thing|session|conversation|chat|message|meeting))\b",
    re.IGNORECASE,
)
_YEAR_AFTER = compile_late(r"[\s,]{0,3}(?:de\s|del\s)?(\d{4})(?!\d)")
_STATEMENT_END = compile_late(r"[.!。！;]\s{0,9}$")
_ASKED = compile_late(
    r"[?？؟]|(?:^|[.!;\n])\W{0,9}(?:please )?(?:tell|show|list|find|give|remind|recall|search|look"
    r"|what|who|whom|whose|which|when|where|why|how|did|do|does|have|has|was|were|is|are|can|could"
    r"|would|summari[sz]e)\b",
    re.IGNORECASE,
)
_LEADING = compile_late(
    r"\b(since|before|after|until|till|up to|through|between|from|by|in|on|during|around|within"
    r"|over)\s{1,4}(?:the\s{1,4})?(?:(?:early|late|mid|(?:start|beginning|middle|end)\s{1,4}of)"
    r"[\s-]{1,4}(?:the\s{1,4})?)?$",
    re.IGNORECASE,
)
_JOINING = compile_late(
    r"\s{0,4},?\s{0,4}(and|to|until|till|through|thru|up to|-)\s{0,4}(?:the\s{1,4})?"
    r"(?:(?:early|late|mid)[\s-]{1,4})?",
    re.IGNORECASE,
)


def read_times(text: str, now: datetime) -> list[TimeSpan]:
    """Return the times that `text` speaks of, in order, none inside another.

    A month or day without a year is the last one that began before `now`. Dates that do not
    exist are passed over. Only the beginning of a long text is read.
    """
    said, moment = replace_lookalikes(text[:TEXT_CHARS]), now.astimezone(UTC)
    points = find_points(said, moment)
    if points and (_is_statement(said) or any(map(_is_dated, points))):
        points = [replace(each, span=replace(each.span, firm=False)) for each in points]
    found = list(_build_spans(said, points, moment))
    if any(each.month or each.firm for each in found):
        return found
    return list(_read_in_other_language(text, moment)) or found


def _read_in_other_language(text: str, now: datetime) -> Iterator[TimeSpan]:
    """Yield the times that phrases of another language come to, where those stand."""
    told = _STATEMENT_END.search(text) is not None
    for hit in find_foreign_phrases(text, RULE):
        year = _YEAR_AFTER.match(text, hit.end) if hit.english.endswith(MONTHS) else None
        english = f"{hit.english} {year[1]}" if year else hit.english
        points = find_points(english, now)
        if told:
            points = [replace(each, span=replace(each.span, firm=False)) for each in points]
        for span in _build_spans(english, points, now):
            yield replace(span, at=(hit.start, year.end() if year else hit.end))


def asks_for_newest(text: str) -> bool:
    """Whether it asks for what is recent without saying since when: `latest`, `last time`."""
    return bool(find_newest_words(text))


def find_newest_words(text: str) -> list[tuple[int, int]]:
    """Return which characters of the text ask for what is recent."""
    said = replace_lookalikes(text[:TEXT_CHARS])
    found = [each.span() for each in _NEWEST.finditer(said)]
    return found or [
        (hit.start, hit.end)
        for hit in find_foreign_phrases(text, RULE)
        if _NEWEST.search(hit.english)
    ]


def date_search_terms(date: TimeSpan) -> tuple[str, ...]:
    """Return the words of which a text that names this date holds one: those for its month, or
    else its year. None: it is no date that could be looked for."""
    if date.month is None or date.start is None:
        return (str(date.year),) if date.year else ()
    return (*month_names(date.month), f"{date.start.year}-{date.month:02}")


def names_date(text: str, date: TimeSpan, written: datetime) -> bool:
    """Whether a text that was written then names a month, day or year of the calendar."""
    return any(_is_inside_date(each, date) for each in read_times(text, written))


def _is_inside_date(said: TimeSpan, date: TimeSpan) -> bool:
    """Whether a time is inside a date. One without its year is the last or the next."""
    if said.start is None or date.start is None:
        return False
    years = (said.year,) if said.year else (said.start.year, said.start.year + 1)
    if date.start.year not in years:
        return False
    if date.month is None:
        return said.year is not None
    return said.month == date.month and date.day in (None, said.day)


def _is_statement(text: str) -> bool:
    """Whether something is told and nothing asked: who says that the train is late today does
    not want what was written today."""
    return _STATEMENT_END.search(text) is not None and _ASKED.search(text) is None


def _is_dated(point: TimePoint) -> bool:
    """Whether a year is named, to which `last week` in the same question then refers."""
    return point.span.year is not None and not point.weekday


def _build_spans(text: str, points: Sequence[TimePoint], now: datetime) -> Iterator[TimeSpan]:
    """Yield what the points say together with the words before and between them."""
    rest = list(points)
    while rest:
        lead, start = _find_lead(text, rest[0])
        joined = _join_points(text, rest, lead) if len(rest) > 1 else None
        used, span = (2, joined) if joined else (1, _apply_lead(rest[0], lead))
        last, rest = rest[used - 1], rest[used:]
        settled = _settle_span(replace(span, at=(start, last.span.at[1])), now)
        if settled is not None:
            yield settled


def _find_lead(text: str, point: TimePoint) -> tuple[str, int]:
    """Return the word that governs a point, if any, and where the expression begins."""
    first = max(0, point.span.at[0] - 32)
    found = _LEADING.search(text[first : point.span.at[0]])
    return (found[1].casefold(), first + found.start()) if found else ("", point.span.at[0])


def _apply_lead(point: TimePoint, lead: str) -> TimeSpan:
    """Return what a single point says after `since`, `before` and the like."""
    span = point.span
    if lead == "since":
        # Whatever happened since then was told since then, so even a date is firm here.
        return replace(span, end=None, firm=True, words=f"since {span.words}")
    if lead == "after":
        return replace(span, start=span.end, end=None, words=f"after {span.words}")
    firm = span.firm and not point.weekday  # `before Monday` is as often one to come
    if lead == "before":
        return replace(span, start=None, end=span.start, firm=firm, words=f"before {span.words}")
    if lead in ("until", "till", "up to", "through"):
        return replace(span, start=None, firm=firm, words=f"until {span.words}")
    return span


def _join_points(text: str, points: Sequence[TimePoint], lead: str) -> TimeSpan | None:
    """Return the stretch from the first point to the second, if that is what is said."""
    link = _JOINING.fullmatch(text, points[0].span.at[1], points[1].span.at[0])
    if link is None or (link[1].casefold() == "and") != (lead == "between"):
        return None
    if lead in ("before", "after", "until", "till"):
        return None
    first, last = _put_in_order(points[0].span, _as_range_end(points[1], points[0]))
    if first.start is None or last.end is None or first.start >= last.end:
        return None
    words = f"from {first.words} to {last.words}"
    return TimeSpan(first.start, last.end, first.firm and last.firm, first.at, words)


def _as_range_end(point: TimePoint, first: TimePoint) -> TimeSpan:
    """Return the second point; a weekday there is as firm as what comes before it."""
    span = point.span
    if point.weekday and first.span.firm:
        return replace(span, firm=True, year=None, month=None, day=None)
    return span


def _put_in_order(first: TimeSpan, last: TimeSpan) -> tuple[TimeSpan, TimeSpan]:
    """Return two points so that the first comes first: one whose year was not said takes the
    year of the other, and a weekday the week before."""
    if first.month and first.year is None and (last.year or _begins_after(first, last)):
        return _move_to_year(first, _start_year(last), -1, last), last
    if last.month and last.year is None and first.year:
        return first, _move_to_year(last, first.year, 1, first)
    if first.firm and last.firm and first.start and _begins_after(first, last):
        end = first.end - WEEK if first.end else None
        words = f"{first.words.partition(',')[0]}, {render_day(first.start - WEEK)}"
        return replace(first, start=first.start - WEEK, end=end, words=words), last
    return first, last


def _move_to_year(span: TimeSpan, year: int, step: int, other: TimeSpan) -> TimeSpan:
    """Return a date without a year in `year`, or in the one beside it if that does not fit."""
    for each in (year, year + step):
        if not date_exists(each, span.month, span.day):
            continue
        start, end = date_bounds(each, span.month, span.day)
        words = render_date(start, span.month, span.day)
        moved = replace(span, start=start, end=end, words=words)
        if not (_begins_after(moved, other) if step < 0 else _begins_after(other, moved)):
            return moved
    return span


def _begins_after(one: TimeSpan, other: TimeSpan) -> bool:
    return one.start is not None and other.start is not None and one.start > other.start


def _start_year(span: TimeSpan) -> int:
    return span.start.year if span.start else 0


def _settle_span(span: TimeSpan, now: datetime) -> TimeSpan | None:
    """Return the span as it can be promised: what is firm has begun and ends with today."""
    start, end = span.start, span.end
    if span.firm and start is not None and start > now:
        return replace(span, firm=False)
    if span.firm and end is not None:
        end = min(end, tomorrow(now))
    if (start is None and end is None) or (start and end and start >= end):
        return None
    return replace(span, end=end)
