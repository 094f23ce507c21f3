"""Which times a question speaks of: one example for each documented kind, and what holds for
any text. It is Sunday, 15 November 2026, half past noon."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from time import perf_counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from madeleine.language.times import (
    TimeSpan,
    asks_for_newest,
    date_search_terms,
    find_newest_words,
    names_date,
    read_times,
)

NOW = datetime(2026, 11, 15, 12, 30, tzinfo=UTC)

SAID = """
today yesterday tonight last past this next previous the a an few couple of several days weeks
months years hours ago back 2 14 31 29 2023 2024 99999 0000 May march dec sun sat mon Monday friday
on in since before after until between and from to - , . / : Q3 summer fall winter weekend week
month year night over more than 2023-05-08 08.05.2023 5/8/2023 2023年5月8日 13月 32日 February 31st
feb 29 '23 every by early mid will ' ’ \0
"""

moments = st.integers(0, 5_600_000_000).map(lambda second: datetime.fromtimestamp(second, UTC))
pieces = st.sampled_from(SAID.split())
sentences = st.lists(pieces, max_size=14).map(" ".join)
any_text = st.text() | st.text(st.characters(categories=["Cs", "Nd", "Zs", "Lo"])) | sentences


def only(text: str, now: datetime = NOW) -> TimeSpan:
    spans = read_times(text, now)
    assert len(spans) == 1, spans
    return spans[0]


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def range_of(text: str) -> tuple[datetime | None, datetime | None]:
    span = only(text)
    return span.start, span.end


FIRM = [
    ("what did I do today", "2026-11-15", "2026-11-16"),
    ("anything for tonight", "2026-11-15", "2026-11-16"),
    ("what broke this morning", "2026-11-15", "2026-11-16"),
    ("YESTERDAY’S notes", "2026-11-14", "2026-11-15"),
    ("the day before yesterday", "2026-11-13", "2026-11-14"),
    ("last night", "2026-11-14", "2026-11-15T12:00"),
    ("3 days ago", "2026-11-12", "2026-11-13"),
    ("a day ago", "2026-11-14", "2026-11-15"),
    ("twelve days ago", "2026-11-03", "2026-11-04"),
    ("an hour ago", "2026-11-15T11:00", "2026-11-15T12:00"),
    ("20 minutes ago", "2026-11-15T12:09:30", "2026-11-15T12:10:30"),
    ("two weeks ago", "2026-10-29T00:30", "2026-11-05T00:30"),
    ("3 months ago", "2026-07-31T12:30", "2026-08-31T12:30"),
    ("a couple of days ago", "2026-11-12", "2026-11-15"),
    ("a few days ago", "2026-11-11", "2026-11-14"),
    ("several days ago", "2026-11-08", "2026-11-13"),
    ("what changed in the last 2 weeks?", "2026-11-01T12:30", "2026-11-16"),
    ("the past 10 days", "2026-11-05T12:30", "2026-11-16"),
    ("these last few weeks", "2026-10-25T12:30", "2026-11-16"),
    ("previous three months", "2026-08-15T12:30", "2026-11-16"),
    ("the last 2 years", "2024-11-15T12:30", "2026-11-16"),
    ("past 24h", "2026-11-14T12:30", "2026-11-16"),
    ("last week", "2026-11-02", "2026-11-09"),
    ("the week before last", "2026-10-26", "2026-11-02"),
    ("past week", "2026-11-08T12:30", "2026-11-16"),
    ("in the last week", "2026-11-08T12:30", "2026-11-16"),
    ("this past month", "2026-10-15T12:30", "2026-11-16"),
    ("this week", "2026-11-09", "2026-11-16"),
    ("this month", "2026-11-01", "2026-11-16"),
    ("this year", "2026-01-01", "2026-11-16"),
    ("last month", "2026-10-01", "2026-11-01"),
    ("last quarter", "2026-07-01", "2026-10-01"),
    ("last weekend", "2026-11-07", "2026-11-09"),
    ("over the weekend", "2026-11-14", "2026-11-16"),
    ("what did we decide on Monday", "2026-11-09", "2026-11-10"),
    ("last monday", "2026-11-09", "2026-11-10"),
    ("this Monday", "2026-11-09", "2026-11-10"),
    ("last Sunday", "2026-11-08", "2026-11-09"),
    ("on wed", "2026-11-11", "2026-11-12"),
    ("between Monday and Wednesday", "2026-11-09", "2026-11-12"),
    ("between Friday and Tuesday", "2026-11-06", "2026-11-11"),
    ("from yesterday to today", "2026-11-14", "2026-11-16"),
    ("less than 3 days ago", "2026-11-12T12:30", "2026-11-16"),
]


@pytest.mark.parametrize(("text", "start", "end"), FIRM)
def test_what_is_said_relative_to_now_is_firm(text: str, start: str, end: str) -> None:
    span = only(text)

    assert span.firm
    assert (span.start, span.end) == (day(start), day(end))


DATES = [
    ("in March", "2026-03-01", "2026-04-01", (None, 3, None)),
    ("in December", "2025-12-01", "2026-01-01", (None, 12, None)),
    ("in March 2023", "2023-03-01", "2023-04-01", (2023, 3, None)),
    ("May 2023", "2023-05-01", "2023-06-01", (2023, 5, None)),
    ("may '23", "2023-05-01", "2023-06-01", (2023, 5, None)),
    ("March 8, 2023", "2023-03-08", "2023-03-09", (2023, 3, 8)),
    ("8 May 2023", "2023-05-08", "2023-05-09", (2023, 5, 8)),
    ("on Monday, 8 May 2023", "2023-05-08", "2023-05-09", (2023, 5, 8)),
    ("the 8th of May", "2026-05-08", "2026-05-09", (None, 5, 8)),
    ("dec 24", "2025-12-24", "2025-12-25", (None, 12, 24)),
    ("29 February", "2024-02-29", "2024-03-01", (None, 2, 29)),
    ("2023-05-08", "2023-05-08", "2023-05-09", (2023, 5, 8)),
    ("2023-05-08T10:00:00Z", "2023-05-08", "2023-05-09", (2023, 5, 8)),
    ("что было 2023-05-08?", "2023-05-08", "2023-05-09", (2023, 5, 8)),
    ("2023-05", "2023-05-01", "2023-06-01", (2023, 5, None)),
    ("was geschah am 08.05.2023", "2023-05-08", "2023-05-09", (2023, 5, 8)),
    ("5/8/2023", "2023-05-08", "2023-05-09", (2023, 5, 8)),
    ("25/8/2023", "2023-08-25", "2023-08-26", (2023, 8, 25)),
    ("05/2023", "2023-05-01", "2023-06-01", (2023, 5, None)),
    ("2023年5月8日に何をした", "2023-05-08", "2023-05-09", (2023, 5, 8)),
    ("２０２３年５月", "2023-05-01", "2023-06-01", (2023, 5, None)),
    ("5月の予定", "2026-05-01", "2026-06-01", (None, 5, None)),
    ("2023년 5월 8일", "2023-05-08", "2023-05-09", (2023, 5, 8)),
    ("a year ago", "2025-05-15T12:30", "2026-05-15T12:30", (None, None, None)),
    ("last year", "2025-01-01", "2026-01-01", (2025, None, None)),
    ("in 2022", "2022-01-01", "2023-01-01", (2022, None, None)),
    ("my 2023 goals", "2023-01-01", "2024-01-01", (2023, None, None)),
    ("Q3 2025", "2025-07-01", "2025-10-01", (2025, None, None)),
    ("in Q4", "2026-10-01", "2027-01-01", (None, None, None)),
    ("spring 2023", "2023-03-01", "2023-06-01", (2023, None, None)),
    ("the summer of 2023", "2023-06-01", "2023-09-01", (2023, None, None)),
    ("fall 2023", "2023-09-01", "2023-12-01", (2023, None, None)),
    ("winter 2023", "2023-12-01", "2024-03-01", (2023, None, None)),
    ("last summer", "2026-06-01", "2026-09-01", (None, None, None)),
    ("last March", "2026-03-01", "2026-04-01", (None, 3, None)),
    ("next March", "2027-03-01", "2027-04-01", (None, 3, None)),
    ("between March and May", "2026-03-01", "2026-06-01", (None, None, None)),
    ("between November and January", "2025-11-01", "2026-02-01", (None, None, None)),
    ("between June 2022 and March", "2022-06-01", "2023-04-01", (None, None, None)),
    ("from 1 May to 3 May", "2026-05-01", "2026-05-04", (None, None, None)),
    ("from 1 May to 3 May 2023", "2023-05-01", "2023-05-04", (None, None, None)),
    ("March-May 2023", "2023-03-01", "2023-06-01", (None, None, None)),
    ("May 3–5, 2023", "2023-05-03", "2023-05-06", (2023, 5, None)),
    ("2022 - 2023", "2022-01-01", "2024-01-01", (None, None, None)),
]


@pytest.mark.parametrize(("text", "start", "end", "named"), DATES)
def test_a_date_of_the_calendar_is_not_firm(
    text: str, start: str, end: str, named: tuple[int | None, int | None, int | None]
) -> None:
    span = only(text)

    assert not span.firm
    assert (span.start, span.end) == (day(start), day(end))
    assert (span.year, span.month, span.day) == named


@pytest.mark.parametrize(
    ("text", "start", "end", "firm", "words"),
    [
        ("since Monday", "2026-11-09", None, True, "since Monday, 9 November"),
        ("since yesterday", "2026-11-14", None, True, "since yesterday, 14 November"),
        ("since last week", "2026-11-02", None, True, "since last week"),
        ("since March", "2026-03-01", None, True, "since March 2026"),
        ("since 2026-03-01", "2026-03-01", None, True, "since 1 March 2026"),
        ("since 2030", "2030-01-01", None, False, "since 2030"),
        ("before 2024", None, "2024-01-01", False, "before 2024"),
        ("before yesterday", None, "2026-11-14", True, "before yesterday, 14 November"),
        ("until May 3", None, "2026-05-04", False, "until 3 May 2026"),
        ("after June", "2026-07-01", None, False, "after June 2026"),
        ("more than 2 weeks ago", None, "2026-11-01T12:30", True, "more than 2 weeks ago"),
    ],
)
def test_one_end_may_be_open(
    text: str, start: str | None, end: str | None, firm: bool, words: str
) -> None:
    span = only(text)

    assert span.start == (day(start) if start else None)
    assert span.end == (day(end) if end else None)
    assert (span.firm, span.words) == (firm, words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("last 2 weeks", "the last 14 days"),
        ("in the past week", "the last 7 days"),
        ("March 2023", "March 2023"),
        ("in March", "March 2026"),
        ("yesterday", "yesterday, 14 November"),
        ("a few weeks ago", "about 3 weeks ago"),
        ("between March and May", "from March 2026 to May 2026"),
    ],
)
def test_a_span_can_be_named_in_a_reason(text: str, words: str) -> None:
    assert only(text).words == words


@pytest.mark.parametrize(
    "text",
    [
        "it may rain",
        "this may help",
        "we march on",
        "how to march in step",
        "the dec option",
        "mar the surface",
        "she sat, then stood",
        "the sun, the moon",
        "fall in love",
        "Black Friday deals",
        "every Monday",
        "on Friday nights",
        "these two hours",
        "next Monday",
        "done by Friday",
        "last-minute change",
        "the last day of school",
        "1999 lines of code",
        "port 2022 open",
        "version 1.2.3.2023",
        "Q3 of the quiz",
        "$2020 spent",
        "no time at all",
        "",
    ],
)
def test_words_that_only_look_like_times_are_none(text: str) -> None:
    assert read_times(text, NOW) == []


@pytest.mark.parametrize(
    "text",
    ["31 February 2023", "2023-02-31", "2023-13-01", "2023-00", "30.02.2023", "13/13/2023",
     "in 0000", "year 99999", "0 May 2023", "February 30", "2023年13月", "13月", "May 99",
     "9999 years ago", "Q3 9999"],
)  # fmt: skip
def test_a_date_that_does_not_exist_is_passed_over(text: str) -> None:
    assert read_times(text, NOW) == []


def test_several_times_are_told_in_order_with_their_places() -> None:
    text = "Was it yesterday, on 8 May 2023 or in April?"

    spans = read_times(text, NOW)

    assert [text[slice(*span.at)] for span in spans] == ["yesterday", "on 8 May 2023", "in April"]


def test_months_side_by_side_are_each_one() -> None:
    assert [span.month for span in read_times("April and May", NOW)] == [4, 5]


def test_a_weekday_is_never_today() -> None:
    """Asked on a Sunday, `on Sunday` is a week ago: today would be called today."""
    assert range_of("what happened on Sunday") == (day("2026-11-08"), day("2026-11-09"))


def test_a_weekday_alone_may_be_part_of_a_name_and_is_not_firm() -> None:
    span = only("notes of the Monday club")

    assert not span.firm
    assert (span.year, span.month, span.day) == (2026, 11, 9)


@pytest.mark.parametrize(
    "text", ["what is due today", "what do I have on Monday?", "what should I do this week"]
)
def test_a_question_about_what_lies_ahead_is_not_firm(text: str) -> None:
    """What is due today was written down on some day before."""
    assert not only(text).firm


@pytest.mark.parametrize(
    "text",
    ["The train is late again today.", "I cooked yesterday!", "On Monday we rest; it is quiet."],
)
def test_a_statement_asks_for_nothing_from_then(text: str) -> None:
    assert not only(text).firm


@pytest.mark.parametrize(
    "text",
    ["Tell me what I cooked yesterday.", "I forgot. What did I cook yesterday.", "yesterday"],
)
def test_a_request_may_end_like_a_statement(text: str) -> None:
    assert only(text).firm


def test_what_is_relative_to_a_date_in_the_question_is_not_relative_to_now() -> None:
    spans = read_times("what did we plan last week, as said on 6 November 2023?", NOW)

    assert [span.firm for span in spans] == [False, False]


def test_a_day_of_this_week_still_to_come_is_not_firm() -> None:
    wednesday = datetime(2026, 11, 11, 9, tzinfo=UTC)

    span = only("this Friday", wednesday)

    assert not span.firm
    assert span.start == day("2026-11-13")


def test_days_are_utc_days_wherever_now_is_told() -> None:
    far_east = datetime(2026, 11, 15, 6, tzinfo=timezone(timedelta(hours=9)))

    assert only("today", far_east).start == day("2026-11-14")


def test_what_is_written_this_moment_is_within_the_last_days() -> None:
    span = only("the last 3 days")

    assert span.end is not None
    assert span.end > NOW


@pytest.mark.parametrize(
    "text",
    ["what's new", "WHAT’S NEW?", "what's new".replace("'", ""), "the latest decision",
     "last time we met", "did we recently talk", "most recent note", "newest plan",
     "what happened lately"],
)  # fmt: skip
def test_what_is_recent_can_be_asked_for_without_a_range(text: str) -> None:
    assert asks_for_newest(text)
    assert read_times(text, NOW) == []


@pytest.mark.parametrize("text", ["what is the plan", "the last word", "", "renewal"])
def test_other_questions_do_not_ask_for_the_newest(text: str) -> None:
    assert not asks_for_newest(text)


@given(any_text, moments)
@example("\x00" * 50, NOW)
@example("\ud800 May 5 \udfff", NOW)
@example("from 29 February to 2023", NOW)
@example("between 29 feb and may 2023", NOW)
def test_any_text_is_read_the_same_way_twice_within_its_bounds(text: str, now: datetime) -> None:
    spans = read_times(text, now)

    assert spans == read_times(text, now)
    places = [place for span in spans for place in span.at]
    assert places == sorted(places)
    assert all(0 <= place <= len(text) for place in places)
    assert all(0 <= start < end <= len(text) for start, end in find_newest_words(text))


@given(any_text, moments)
def test_a_span_begins_before_it_ends_and_a_firm_one_is_not_ahead(text: str, now: datetime) -> None:
    for span in read_times(text, now):
        assert span.words
        assert span.start is not None or span.end is not None
        if span.start and span.end:
            assert span.start < span.end
        if span.firm and span.start:
            assert span.start <= now
        if span.firm and span.end:
            assert span.end <= now + timedelta(days=1)


@pytest.mark.parametrize(
    "unit", ["7", "may ", "1 ", "on Monday ", "a ", "2023-", "the last ", "\x00", " ", "5/", "५"]
)
def test_only_the_beginning_of_a_long_text_is_read(unit: str) -> None:
    text = unit * (100_000 // len(unit))

    before = perf_counter()
    spans = read_times(text, NOW)

    assert perf_counter() - before < 2
    assert spans == read_times(text[:2_000], NOW)


# -- texts that speak of a date ------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "asked", "written", "expected"),
    [
        ("the fair on 12 March", "in March", "2026-05-01", True),
        ("the fair on 12 March", "on 12 March", "2026-05-01", True),
        ("the fair on 12 March", "on 13 March", "2026-05-01", False),
        ("the fair in March", "on 12 March", "2026-05-01", False),
        ("the fair on 12 March", "in March", "2026-01-01", True),
        ("the fair on 12 March", "in March", "2024-05-01", False),
        ("the fair on 12 March 2026", "in March", "2019-05-01", True),
        ("the fair on 12 March 2025", "in March", "2026-05-01", False),
        ("the fair on 12 March 2025", "in 2025", "2026-05-01", True),
        ("the fair on 12 March", "in 2026", "2026-05-01", False),
        ("they march on", "in March", "2026-05-01", False),
        ("no date at all", "in March", "2026-05-01", False),
    ],
)
def test_a_text_speaks_of_a_date_that_it_names(
    text: str, asked: str, written: str, expected: bool
) -> None:
    """Without its year a date is the last one before it was written, or the next."""
    assert names_date(text, only(asked), day(written)) is expected


def test_a_date_is_looked_for_by_the_words_that_texts_have_for_it() -> None:
    assert date_search_terms(only("in March")) == ("march", "mar", "2026-03")
    assert date_search_terms(only("on 8 September 2023")) == ("september", "sep", "sept", "2023-09")
    assert date_search_terms(only("in May")) == ("may", "2026-05")
    assert date_search_terms(only("in 2022")) == ("2022",)
    assert date_search_terms(only("yesterday")) == ()
    assert date_search_terms(only("last summer")) == ()
