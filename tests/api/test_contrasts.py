"""Unlike decisions: a contrast is drawn when somebody asks for it, and nobody hears of it.

Through the Python face in this process, where a proposal of an earlier release can be made too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from madeleine import Madeleine
from madeleine.bootstrap import open_home
from madeleine.model.memory import Connection, Memory
from madeleine.model.proposal import ProposalType
from madeleine.model.words import Edge
from madeleine.write.actions import link_action
from madeleine.write.proposals import add_states, propose
from madeleine.write.questions import question_key
from madeleine.write.resolve import get_memory

UNLIKE = [
    (
        "The canary of a release runs for 15 minutes before it goes to everybody",
        "JWT access tokens live for 15 min and are refreshed by cookie",
    ),
    ("We deploy the gateway by hand", "Invoices are kept for ten years"),
    ("Use Postgres for the ledger", "Paint the meeting room blue"),
    ("Sprints last two weeks", "All pictures are stored as WebP"),
    ("Feature flags are read from the database", "Lunch is ordered on Thursday"),
    ("Errors go to Sentry", "The garden gets a second water butt"),
    ("Tests run with pytest", "Grandma's house will be rented out"),
    ("Logs are kept for thirty days", "The logo may be used by partners"),
    ("Arq runs the background jobs", "We hire a second designer in May"),
    ("The office moves to Bremen", "HTTP retries are capped at five"),
    ("Money is stored in whole cents", "Support answers within one day"),
    ("Mobile apps are written in Kotlin", "The heat pump comes from Vaillant"),
]


@pytest.fixture
def m(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Madeleine]:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    with Madeleine.open(tmp_path / "home", in_process=True) as opened:
        yield opened


def decide_both(m: Madeleine, one: str, other: str) -> tuple[Memory, Memory]:
    return m.remember(one, type="decision"), m.remember(other, type="decision")


def contrasts(m: Madeleine, memory: Memory) -> list[dict[str, Any]]:
    shown: Any = m._door.call("show", id=memory.id)
    return [each for each in shown["connections"] if each["edge"] == "contradicts"]


def call(m: Madeleine, operation: str, **more: Any) -> Any:
    return m._door.call(operation, **more)


@pytest.mark.few(4)
@pytest.mark.parametrize(("one", "other"), UNLIKE)
def test_a_run_by_name_draws_the_documented_edge_and_asks_nobody(
    m: Madeleine, one: str, other: str
) -> None:
    older, newer = decide_both(m, one, other)

    done: Any = m.consolidate("creative")

    (link,) = contrasts(m, newer)
    assert (link["source"], link["target"]) == (newer.id, older.id)
    assert (link["confidence"], link["algorithm"]) == (0.6, "creative_association")
    assert link["discovered_at"] == link["at"]
    assert (link["kind"], link["by"]) == (None, "creative")
    assert link["weight"] < 0.3
    assert done["steps"]["creative"]["created"] == 1
    assert list(m.proposals()) == []


@pytest.mark.few(4)
@pytest.mark.parametrize(("one", "other"), UNLIKE)
def test_neither_page_nor_insights_speak_of_a_contradiction(
    m: Madeleine, one: str, other: str
) -> None:
    older, newer = decide_both(m, one, other)
    m.consolidate("creative")

    home, turns, time = (call(m, f"page_{each}") for each in ("home", "time_turns", "time"))
    seen = [call(m, "page_memory", id=each.id)["connections"] for each in (older, newer)]
    graph = call(m, "page_graph_near", id=older.id)
    way = call(m, "page_graph_paths", query={"from": older.id, "to": newer.id})
    insights = call(m, "insights")

    assert "contradict" not in json.dumps([home, turns, time, graph, way])
    assert [each["kind"] for links in seen for each in links] == ["contrasts_with"] * 2
    assert turns["turns"] == time["turns"] == insights["tensions"] == []
    assert "contradicts" not in insights["text"]
    assert "contradicts" not in call(m, "show", id=newer.id)["text"]


@pytest.mark.parametrize(("one", "other"), UNLIKE[:4])
def test_a_run_is_taken_back_byte_for_byte_and_is_a_no_to_the_contrast(
    m: Madeleine, tmp_path: Path, one: str, other: str
) -> None:
    decide_both(m, one, other)
    before = files(tmp_path)
    done: Any = m.consolidate("creative")
    assert files(tmp_path) != before

    m.undo(done["steps"]["creative"]["run"])

    assert files(tmp_path) == before
    again: Any = m.consolidate("creative")
    assert again["steps"]["creative"]["created"] == 0


def files(tmp_path: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in (tmp_path / "home" / "vault").glob("*.md")}


def test_a_real_contradiction_is_shown_among_many_contrasts(m: Madeleine) -> None:
    """However many contrasts are newer: they take no room on a page of the newest."""
    older, newer = decide_both(m, "Deploys are made on Tuesdays", "Never deploy on Tuesdays")
    m.link(newer, older, Edge.CONTRADICTS, reason="which one?")
    for one, other in UNLIKE:
        decide_both(m, one, other)
    drawn: Any = m.consolidate("creative")
    assert drawn["steps"]["creative"]["created"] > 5

    (turn,) = call(m, "page_time_turns", query={"limit": "1"})["turns"]
    (tension,) = call(m, "insights", query={"limit": "1"})["tensions"]

    assert {turn["newer"]["id"], turn["older"]["id"]} == {older.id, newer.id}
    assert tension["reason"] == "which one?"
    assert "1 pair" in json.dumps(call(m, "page_home"))


@pytest.mark.parametrize("weight", [0.0, 0.5, 0.9])
def test_a_person_who_says_that_the_two_contradict_each_other_is_believed(
    m: Madeleine, weight: float
) -> None:
    older, newer = decide_both(m, *UNLIKE[0])
    m.consolidate("creative")

    m.link(newer, older, Edge.CONTRADICTS, weight=weight)

    (link,) = contrasts(m, newer)
    assert link["by"] != "creative"
    assert "algorithm" not in link
    assert len(call(m, "insights")["tensions"]) == 1


# -- questions of an earlier release -------------------------------------------------------


def propose_contrast(home: Path, older: str, newer: str) -> str:
    """Ask as `creative` did before: the home must not be open elsewhere."""
    context = open_home(home)
    try:
        stores = context.stores
        ends = get_memory(stores, newer), get_memory(stores, older)
        now = stores.clock.now()
        drawn = Connection(older, Edge.CONTRADICTS, 0.1, "perhaps at odds", "creative", now)
        action = {**link_action(newer, [drawn]), "by": "creative"}
        named = add_states(action, ends, question_key(f"link contradicts {older}", ends))
        wording = f"connect `{newer[:8]}` to `{older[:8]}` (contradicts)"
        made = propose(stores, ProposalType.CONFLICT, (newer, older), wording, named, "at odds")
        return made.id
    finally:
        context.close()


@pytest.mark.few(3)
@pytest.mark.parametrize(("one", "other"), UNLIKE[:10])
def test_a_question_that_waits_from_before_is_withdrawn_with_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one: str, other: str
) -> None:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    home = tmp_path / "home"
    with Madeleine.open(home, in_process=True) as m:
        older, newer = decide_both(m, one, other)
    asked = propose_contrast(home, older.id, newer.id)

    with Madeleine.open(home, in_process=True) as m:
        assert list(m.proposals()) == []
        assert "no question any more" in str(m.proposal(asked).problem)
        assert m.consolidate("creative")["steps"]["creative"]["created"] == 1  # type: ignore[index]  # plain JSON


def test_a_question_about_a_real_contradiction_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    home = tmp_path / "home"
    with Madeleine.open(home, in_process=True) as m:
        older, newer = decide_both(m, "Deploys are made on Tuesdays", "Never deploy on Tuesdays")
    context = open_home(home)
    drawn = Connection(older.id, Edge.CONTRADICTS, 0.9, "odd", "conflict_detector")
    action = {**link_action(newer.id, [drawn]), "by": "conflict_detector"}
    propose(context.stores, ProposalType.CONFLICT, (newer.id, older.id), "connect", action)
    context.close()

    with Madeleine.open(home, in_process=True) as m:
        (asked,) = m.proposals()
        m.decide(asked, "approved")

        (link,) = contrasts(m, newer)
        assert link["discovered_at"] == link["at"]
        assert link["algorithm"] == "conflict_detector"
        assert len(call(m, "insights")["tensions"]) == 1
