"""Which times of an event still lie ahead. It was written on Tuesday, 17 November 2026."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from madeleine.language.upcoming import is_upcoming
from madeleine.model.memory import Memory
from madeleine.model.words import MemoryType

WRITTEN = datetime(2026, 11, 17, 12, 30, tzinfo=UTC)


def event(text: str, written: datetime = WRITTEN) -> Memory:
    return Memory("m", text, written, written, type=MemoryType.EVENT)


@pytest.mark.parametrize(
    ("text", "last_day", "over"),
    [
        ("Marathon on the 30th.", (2026, 11, 30), (2026, 12, 2)),
        ("Rent review on the 3rd", (2026, 12, 3), (2026, 12, 5)),
        ("Dentist, on the 17th at nine in the evening", (2026, 11, 17), (2026, 11, 19)),
        ("The inspector comes on the 31st", (2026, 12, 31), (2027, 1, 2)),
        ("Holiday starts on Christmas Eve.", (2026, 12, 24), (2026, 12, 26)),
        ("Lunch at Ana's on Christmas Day", (2026, 12, 25), (2026, 12, 27)),
        ("Fireworks on New Year's Eve", (2026, 12, 31), (2027, 1, 2)),
        ("Party on New Year\u2019s Eve", (2026, 12, 31), (2027, 1, 2)),
        ("Swim in the lake at New Year", (2027, 1, 1), (2027, 1, 3)),
        ("Dinner on Valentine's Day", (2027, 2, 14), (2027, 2, 16)),
        ("Costumes for Halloween", (2027, 10, 31), (2027, 11, 2)),
        ("Anniversary tomorrow week.", (2026, 11, 25), (2026, 12, 3)),
        ("Board meeting a week on Tuesday", (2026, 11, 30), (2026, 12, 4)),
        ("Choir on Thursday week", (2026, 11, 26), (2026, 12, 4)),
        ("Handover the day after tomorrow", (2026, 11, 19), (2026, 11, 22)),
        ("Deploy tonight", (2026, 11, 17), (2026, 11, 19)),
    ],
)
def test_an_event_is_to_come_until_its_day_is_over(
    text: str, last_day: tuple[int, int, int], over: tuple[int, int, int]
) -> None:
    assert is_upcoming(event(text), datetime(*last_day, 13, tzinfo=UTC))
    assert not is_upcoming(event(text), datetime(*over, 13, tzinfo=UTC))


@pytest.mark.parametrize(
    "text",
    [
        "Met Ana on the 4th floor",
        "Saw the parade on the 45th",
        "The office on the 5th avenue was sold",
        "The demo on the 0th slide went well",
        "Lunch with Bea",
        "Christmas 2024 was loud",
        "Fireworks on New Year's Eve 2024",
        "Snow on Christmas Eve, 2023",
    ],
)
def test_what_names_no_day_is_not_to_come(text: str) -> None:
    assert not is_upcoming(event(text), datetime(2026, 11, 20, tzinfo=UTC))


def test_the_31st_is_that_of_the_next_month_that_has_one() -> None:
    audit = event("Audit on the 31st", datetime(2027, 2, 2, 9, tzinfo=UTC))

    assert is_upcoming(audit, datetime(2027, 3, 30, tzinfo=UTC))
    assert not is_upcoming(audit, datetime(2027, 4, 2, tzinfo=UTC))


def test_only_an_event_is_read_that_way() -> None:
    fact = Memory("m", "Bills come on the 30th", WRITTEN, WRITTEN, type=MemoryType.FACT)

    assert not is_upcoming(fact, datetime(2026, 11, 20, tzinfo=UTC))
