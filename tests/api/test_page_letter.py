"""What home and project pages are told: the person, the projects, the figures, a document."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from madeleine.api.local import LocalDoor, open_local
from madeleine.index.log import WhisperEntry
from madeleine.whisper.log import DeliveryState
from madeleine.whisper.worth import count_told, is_useful, read_thumbs, select_told

Ask = Callable[..., Any]
LONG_AGO = "2024-01-01T00:00:00Z"


@pytest.fixture
def door(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalDoor]:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    with closing(open_local(tmp_path / "home")) as opened:
        yield opened


@pytest.fixture
def ask(door: LocalDoor) -> Ask:
    return door.call


def remember(ask: Ask, content: str, **draft: object) -> str:
    return str(ask("remember", body={"content": content, **draft})["node_id"])


def whispered(door: LocalDoor, name: str, ids: list[str], **more: object) -> WhisperEntry:
    """Write into the log that these memories were whispered, a moment ago."""
    at = door.context.stores.clock.now() - timedelta(minutes=5)
    body = {"injected": ids, "prompt": name, "delivery": DeliveryState.DELIVERED.value, **more}
    entry = WhisperEntry(name, at, "s", None, body)
    door.context.stores.log.log_whisper(entry, at - timedelta(days=30))
    return entry


def test_the_person_stands_under_headings(ask: Ask) -> None:
    remember(ask, "Prefers green tea.", type="preference", about_self=True)
    remember(ask, "Lives in Dublin, near the canal.", about_self=True)
    remember(ask, "My name is Dana and I work as a baker.", about_self=True)
    remember(ask, "Married to Ines, with two kids.", about_self=True)
    remember(ask, "Wants to run a marathon.", type="goal", about_self=True)
    remember(ask, "Ana keeps the books.", type="person")
    remember(ask, "Bo is the designer of Atlas.", type="person", space="atlas")
    gone = remember(ask, "Lives in Cork.", about_self=True)
    ask("retire", id=gone, body={})

    seen = ask("page_about")

    assert [each["content"] for each in seen["places"]] == ["Lives in Dublin, near the canal."]
    assert [each["content"] for each in seen["preferences"]] == ["Prefers green tea."]
    assert [each["content"] for each in seen["goals"]] == ["Wants to run a marathon."]
    assert [each["headline"] for each in seen["identity"]] == [
        "My name is Dana and I work as a baker."
    ]
    assert {each["content"] for each in seen["people"]} == {
        "Ana keeps the books.",
        "Married to Ines, with two kids.",
    }
    assert seen["total"] == 5
    assert seen["self_id"]


def test_what_is_edited_in_its_place_is_held_to_what_was_read(ask: Ask) -> None:
    tea = remember(ask, "Prefers green tea.", type="preference", about_self=True)
    (line,) = ask("page_about")["preferences"]

    ask("revise", id=tea, body={"content": "Prefers white tea.", "if_version": line["version"]})

    (again,) = ask("page_about")["preferences"]
    assert again["content"] == "Prefers white tea."
    assert again["version"] != line["version"]


def test_a_project_has_a_card_with_what_is_open_and_new(ask: Ask) -> None:
    remember(ask, "Atlas draws walking maps.", type="project", space="atlas", created=LONG_AGO)
    remember(ask, "Cover all of Wicklow.", type="goal", space="atlas")
    remember(ask, "The shed has a lamp.", space="shed")
    remember(ask, "No project at all.")

    seen = ask("page_projects")

    assert [each["space"] for each in seen["projects"]] == ["atlas", "shed"]
    card = seen["projects"][0]
    assert (card["memories"], card["week"], card["goals"]) == (2, 1, 1)
    assert card["about"] == "Atlas draws walking maps."
    assert card["newest"]["headline"] == "Cover all of Wicklow."
    assert ask("page_projects", query={"limit": "1"})["total"] == 2


def test_what_was_counted_is_kept_until_something_is_written(ask: Ask, door: LocalDoor) -> None:
    remember(ask, "One memory.", space="atlas")
    kept = door.context.kept_answers
    asked: list[int] = []

    for _ in range(3):
        kept.get(door.context.stores, "times", lambda: asked.append(1))
    remember(ask, "Another memory.", space="atlas")
    kept.get(door.context.stores, "times", lambda: asked.append(1))

    for _ in range(2):
        kept.get(door.context.stores, "log", lambda: asked.append(2), of_memories=False)
        remember(ask, "A memory says nothing of the log.", space="shed")
    assert asked == [1, 1, 2]
    assert ask("page_projects")["projects"][0]["memories"] == 2


def test_growth_is_stacked_by_space_and_adds_up(ask: Ask) -> None:
    for space, many in (("atlas", 3), ("shed", 2), (None, 1)):
        for number in range(many):
            remember(ask, f"Note {number} of {space}", space=space, created=LONG_AGO)
    remember(ask, "Today's note", space="atlas")
    for number in range(6):
        remember(ask, f"Alone {number}", space=f"space-{number}")

    seen = ask("page_figures")

    sums = [sum(column) for column in zip(*(each["known"] for each in seen["spaces"]), strict=True)]
    assert sums == [each["known"] for each in seen["bars"]]
    assert seen["spaces"][0] == {**seen["spaces"][0], "space": "atlas", "others": False}
    assert seen["spaces"][-1]["others"] is True
    today = datetime.now(UTC).date().isoformat()
    assert [(each["day"], each["known"]) for each in seen["calendar"]] == [(today, 7)]


def test_a_whisper_was_useful_by_a_thumb_or_by_the_reply(ask: Ask, door: LocalDoor) -> None:
    """A thumb decides where there is one; where nobody read a reply, nobody knows."""
    ferry, tea = remember(ask, "The ferry leaves at nine."), remember(ask, "Prefers green tea.")
    whispered(door, "seen", [ferry], replied=True, seen=[ferry])
    whispered(door, "unseen", [ferry, tea], replied=True, seen=[])
    whispered(door, "unread", [tea])
    whispered(door, "thumb", [tea])
    ask("feedback", body={"node_id": tea, "signal": -1, "whisper_log_id": "thumb"})

    seen = ask("page_figures")

    (week,) = seen["weeks"]
    assert (week["useful"], week["useless"], week["unknown"]) == (1, 2, 1)
    earning = {each["memory"]["id"]: each for each in seen["earning"]}
    assert (earning[ferry]["whispered"], earning[ferry]["useful"]) == (2, 1)
    assert (earning[tea]["whispered"], earning[tea]["useful"]) == (3, 0)


def test_a_figure_leads_to_the_prompts_it_counts(ask: Ask, door: LocalDoor) -> None:
    ferry = remember(ask, "The ferry leaves at nine.")
    whispered(door, "seen", [ferry], replied=True, seen=[ferry])
    whispered(door, "unread", [ferry])
    now = datetime.now(UTC)
    week = {"since": (now - timedelta(days=7)).isoformat(), "until": now.isoformat()}

    def listed(**query: str) -> list[str]:
        return [each["id"] for each in ask("page_whispers", query=query)["whispers"]]

    assert listed(worth="useful", **week) == ["seen"]
    assert listed(worth="unknown", **week) == ["unread"]
    assert listed(until=week["since"]) == []
    assert set(listed(**week)) == {"seen", "unread"}


def test_a_person_who_says_no_outweighs_the_reply(ask: Ask, door: LocalDoor) -> None:
    ferry = remember(ask, "The ferry leaves at nine.")
    entry = whispered(door, "seen", [ferry], replied=True, seen=[ferry])
    ask("feedback", body={"node_id": ferry, "signal": -1, "whisper_log_id": "seen"})
    thumbs = read_thumbs(door.context.stores, [entry])

    assert count_told([entry], thumbs)[ferry].useful == 0
    assert is_useful(entry, thumbs) is False
    assert (
        select_told(
            [WhisperEntry("late", entry.at, None, None, {"injected": [ferry], "late": True})]
        )
        == []
    )


def test_a_project_lists_what_is_put_as_a_rule_with_the_rules(ask: Ask) -> None:
    remember(ask, "Always run the tile tests before a push.", space="atlas")
    remember(ask, "Prefers metric units.", type="preference", space="atlas")
    remember(ask, "The tiles are cut at zoom 14.", space="atlas")
    remember(ask, "Of another project.", space="shed")

    seen = ask("page_project", query={"space": "atlas"})

    sections = {each["name"]: each for each in seen["sections"]}
    rules = {each["headline"] for each in sections["rules"]["memories"]}
    assert rules == {"Always run the tile tests before a push.", "Prefers metric units."}
    assert sections["rules"]["total"] == 2
    facts = [each["headline"] for each in sections["facts"]["memories"]]
    assert facts == ["The tiles are cut at zoom 14."]
    assert len(seen["timeline"]) == seen["memories"] == 3


def test_a_document_keeps_its_headings_apart_from_those_of_memories(ask: Ask) -> None:
    text = "# How\n\n```\n# no heading\n```\n\n## Then\n\nPush."
    remember(ask, text, title="How a release is made", type="procedure", space="at/las")

    made = ask("page_project_document", query={"space": "at/las"})

    assert made["name"] == "at-las.md"
    assert (made["memories"], made["left_out"]) == (1, 0)
    assert "## Procedures\n\n### How a release is made\n" in made["text"]
    assert "\n#### How\n" in made["text"]
    assert "\n##### Then\n" in made["text"]
    assert "\n```\n# no heading\n```\n" in made["text"]


def test_the_prompts_of_a_forgotten_memory_are_still_told(door: LocalDoor, ask: Ask) -> None:
    memory = remember(ask, "The ferry leaves at nine.")
    whispered(door, "when does the ferry leave?", [memory])
    ask("forget", id=memory, body={})

    (seen,) = ask("page_memory_prompts", id=memory)["prompts"]

    assert seen["prompt"]["prompt"] == "when does the ferry leave?"
