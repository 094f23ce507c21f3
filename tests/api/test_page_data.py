"""What the page is told about one memory, and about time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from madeleine.api.local import open_local
from madeleine.errors import NoSuchMemory

Ask = Callable[..., Any]


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ask]:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    with closing(open_local(tmp_path / "home")) as door:
        yield door.call


def remember(ask: Ask, content: str, **draft: object) -> str:
    return str(ask("remember", body={"content": content, **draft})["node_id"])


def test_looking_at_a_memory_is_no_use_of_it(ask: Ask) -> None:
    memory = remember(ask, "The kettle is red")

    for _ in range(2):
        seen = ask("page_memory", id=memory)

    assert seen["memory"]["access_count"] == 0
    assert seen["strength"]["uses"] == []


def test_strength_is_told_with_its_uses_and_what_makes_it(ask: Ask) -> None:
    memory = remember(ask, "The kettle is red", created="2026-01-01T00:00:00Z")
    ask("show", id=memory, query={"session_id": "one"})

    strength = ask("page_memory", id=memory)["strength"]

    assert strength["chance"] > 0.99
    assert strength["uses_total"] == len(strength["uses"]) == 1
    values = [value for _, value in strength["curve"]]
    assert min(values) < 0.01 < 0.99 < max(values)
    assert strength["fades_at"] > strength["now"]
    assert strength["parts"]["recency"] > strength["parts"]["connections"] == 0


def test_connections_come_with_the_other_end_both_ways(ask: Ask) -> None:
    one, other = remember(ask, "The kettle is red"), remember(ask, "Red things are warm")
    body = {"source_id": one, "target_id": other, "edge": "supports", "reason": "colour"}
    ask("link", body=body)

    (out,) = ask("page_memory", id=one)["connections"]
    (back,) = ask("page_memory", id=other)["connections"]

    assert (out["outward"], out["other"]["id"], out["reason"]) == (True, other, "colour")
    assert (back["outward"], back["other"]["id"]) == (False, one)


def test_a_forgotten_memory_can_still_be_looked_at(ask: Ask) -> None:
    memory = remember(ask, "The kettle is red")
    ask("forget", id=memory)

    seen = ask("page_memory", id=memory)

    assert seen["forgotten"]
    assert seen["memory"]["content"] == "The kettle is red"
    assert seen["strength"] is None


def test_a_memory_that_never_was_is_missing(ask: Ask) -> None:
    with pytest.raises(NoSuchMemory):
        ask("page_memory", id="00000000-0000-4000-8000-000000000000")


def test_similar_memories_are_those_nearest_in_meaning(ask: Ask) -> None:
    one = remember(ask, "The kettle in the kitchen is red")
    near = remember(ask, "The kettle in the kitchen is dark red", space="home")
    remember(ask, "Quarterly numbers arrive in October")

    found = ask("page_similar", id=one)

    assert [each["id"] for each in found["memories"]][:1] == [near]
    assert 0.3 <= found["memories"][0]["likeness"] <= 1
    assert one not in [each["id"] for each in found["memories"]]


def test_the_timeline_is_paged_and_loses_nothing_between_pages(ask: Ask) -> None:
    """Also not of memories that bear one and the same moment, as imports make them."""
    ids = [
        remember(ask, f"Thing number {n} of many", created="2026-03-01T00:00:00Z") for n in range(7)
    ]

    pages = [ask("page_time", query={"limit": 3, "offset": n})["memories"] for n in (0, 3, 6)]

    assert {each["id"] for page in pages for each in page} >= set(ids)
    assert [len(page) for page in pages] == [3, 3, 1]


def test_bars_count_every_memory_once(ask: Ask) -> None:
    for month in range(1, 10):
        remember(ask, f"Thing of month {month}", created=f"2025-{month:02}-15T10:00:00Z")

    told = ask("page_time_bars")

    assert sum(each["known"] for each in told["bars"]) == told["total"] == 9
    assert 1 < len(told["bars"]) <= 60
    assert all(
        one["to"] == other["from"]
        for one, other in zip(told["bars"], told["bars"][1:], strict=False)
    )


def test_bars_are_counted_in_the_days_of_a_zone(ask: Ask) -> None:
    """Also beyond the nights in which the clocks are put forward or back."""
    zone = ZoneInfo("America/Los_Angeles")
    now = datetime.now(zone)
    last_minute = (now - timedelta(days=300)).replace(hour=23, minute=59)
    for at in (last_minute, last_minute + timedelta(minutes=2)):
        remember(ask, f"Seen at {at}", created=at.isoformat())

    told = ask("page_time_bars", query={"zone": str(zone)})

    starts = [datetime.fromisoformat(each["from"]).astimezone(zone) for each in told["bars"]]
    assert told["zone"] == str(zone)
    assert {each.time() for each in starts} == {time.min}
    assert datetime.fromisoformat(told["bars"][-1]["to"]) > now
    assert sum(each["known"] for each in told["bars"]) == 2


@pytest.mark.parametrize("zone", ["", "Mars/Phobos", "../../etc/passwd", "America"])
def test_a_zone_that_nobody_knows_counts_in_utc_and_says_so(ask: Ask, zone: str) -> None:
    remember(ask, "There is something to count")

    told = ask("page_time_bars", query={"zone": zone})

    assert told["zone"] == "UTC"
    assert told["bars"][0]["from"].endswith("T00:00:00Z")


def test_without_memories_there_is_no_time(ask: Ask) -> None:
    assert ask("page_time_bars")["bars"] == []
    assert ask("page_time")["memories"] == []


def test_a_day_tells_what_held_and_what_came_and_went(ask: Ask) -> None:
    remember(ask, "Still so", created="2025-01-01T00:00:00Z")
    until = "2025-06-01T00:00:00Z"
    remember(ask, "No longer so", created="2025-01-02T00:00:00Z", valid_until=until)
    remember(ask, "New since", created="2025-07-01T00:00:00Z")

    told = ask("page_time_day", query={"as_of": "2025-03-01T00:00:00Z"})

    assert told == {"held": 2, "holding": 2, "come": 1, "gone": 1, "forgotten": []}


def test_what_was_forgotten_since_a_day_held_on_it(ask: Ask) -> None:
    old = remember(ask, "Known for long", created="2025-01-01T00:00:00Z")
    new = remember(ask, "Known lately", created="2025-09-01T00:00:00Z")
    back = remember(ask, "Forgotten and brought back", created="2025-01-01T00:00:00Z")
    for each in (old, new, back):
        ask("forget", id=each)
    ask("restore", id=back)

    told = ask("page_time_day", query={"as_of": "2025-03-01T00:00:00Z"})

    assert [each["id"] for each in told["forgotten"]] == [old]
    assert (told["held"], told["gone"]) == (2, 1)


def test_turns_are_evolutions_and_tensions_and_say_whether_they_are_open(ask: Ask) -> None:
    old, new = remember(ask, "The port is 8081"), remember(ask, "The port is 9000, now")
    one, other = remember(ask, "Deploy on Tuesdays"), remember(ask, "Never deploy on Tuesdays")
    ask("retire", id=old, body={"superseded_by": new, "reason": "moved"})
    ask("link", body={"source_id": other, "target_id": one, "edge": "contradicts"})

    tension, evolution = ask("page_time_turns")["turns"]

    assert (tension["is"], tension["open"]) == ("tension", True)
    assert evolution["is"] == "evolution"
    assert (evolution["older"]["id"], evolution["newer"]["id"]) == (old, new)
    assert evolution["reason"] == "moved"
    ask("retire", id=one)
    assert ask("page_time_turns")["turns"][0]["open"] is False
