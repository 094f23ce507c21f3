"""The user's answer to a question that a whisper told of, handed in by the agent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from madeleine.bootstrap import open_home
from madeleine.model.draft import Draft
from madeleine.model.proposal import ProposalType
from madeleine.write.actions import merge_action
from madeleine.write.proposals import propose
from madeleine.write.remember import remember
from tests.server.mcp_clients import ERAS, fields, over_http, talk
from tests.server.running import Daemon, running


@dataclass(frozen=True, slots=True)
class Asked:
    """A daemon with two questions that wait."""

    daemon: Daemon
    ids: list[str]

    def answer(self, answers: object) -> Any:
        return self.daemon.ask("POST", "/agent/maintenance", {"results": {"proposals": answers}})

    def states(self) -> dict[str, str]:
        listed = self.daemon.ok("GET", "/agent/proposals", status="all")["proposals"]
        return {each["id"]: each["status"] for each in listed}


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Asked]:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    home, ids = tmp_path / "home", []
    with closing(open_home(home)) as context:
        for name in ("Marta", "Olaf"):
            one, two = (
                remember(context.stores, Draft(each.format(name))).memory.id
                for each in ("{} is allergic to nuts", "Nuts make {} ill")
            )
            action = merge_action(one, two, None, None)
            made = propose(context.stores, ProposalType.MERGE, (one, two), f"merge {name}", action)
            ids.append(made.id)
    with running(home) as daemon:
        yield Asked(daemon, ids)


def test_yes_carries_out_what_was_asked_and_names_what_takes_it_back(asked: Asked) -> None:
    before = {each.name: each.read_bytes() for each in asked.daemon.vault.glob("*.md")}

    done = asked.answer({asked.ids[0][:8]: "yes"}).body

    assert asked.states() == {asked.ids[0]: "approved", asked.ids[1]: "pending"}
    assert len(list(asked.daemon.vault.glob("*.md"))) == 3
    asked.daemon.ok("POST", f"/agent/undo/{done['job_id']}", {})
    after = {each.name: each.read_bytes() for each in asked.daemon.vault.glob("*.md")}
    assert after == before


def test_no_leaves_everything_as_it_is(asked: Asked) -> None:
    asked.answer({asked.ids[0]: "no"})

    assert asked.states()[asked.ids[0]] == "rejected"
    assert len(list(asked.daemon.vault.glob("*.md"))) == 4


def test_several_answers_at_once_in_the_words_of_a_person(asked: Asked) -> None:
    asked.answer({asked.ids[0]: " Yes, that changed. ", asked.ids[1]: "No, keep both"})

    assert asked.states() == {asked.ids[0]: "approved", asked.ids[1]: "rejected"}


@pytest.mark.parametrize("word", ["maybe", "", 1, None, ["yes"], "yes, but"])
def test_what_is_neither_yes_nor_no_decides_nothing(asked: Asked, word: object) -> None:
    refused = asked.answer({asked.ids[0]: "yes", asked.ids[1]: word})

    assert refused.status == 422
    assert set(asked.states().values()) == {"pending"}


@pytest.mark.parametrize("answers", [{}, [], "yes", None])
def test_no_answers_are_refused(asked: Asked, answers: object) -> None:
    assert asked.answer(answers).status == 422


def test_a_question_that_nobody_asked_is_missing(asked: Asked) -> None:
    assert asked.answer({"0badcafe": "yes"}).status == 404


def test_what_is_answered_already_is_left_as_it_is(asked: Asked) -> None:
    asked.answer({asked.ids[0]: "no"})

    again = asked.answer({asked.ids[0]: "yes"}).body

    assert "left" in again["text"]
    assert asked.states()[asked.ids[0]] == "rejected"


@pytest.mark.parametrize("era", ERAS)
def test_the_tool_of_agents_takes_the_answer(asked: Asked, era: str) -> None:
    async def story() -> dict[str, Any]:
        async with over_http(asked.daemon, era) as client:
            results = {"proposals": {asked.ids[0][:8]: "yes"}}
            return fields(await client.call_tool("run_maintenance", {"results": results}))

    done = talk(story)

    assert done["status"] == "done"
    assert asked.states()[asked.ids[0]] == "approved"
