"""Questions in shared spaces: decided at once wherever the caller may, and taken back by one id."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from madeleine.bootstrap import load_settings, open_homes
from madeleine.model.people import tenant_of_space
from madeleine.model.proposal import ProposalType
from madeleine.write.proposals import propose
from tests.server.team import Client, Team
from tests.server.team import team as running_team


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    with running_team(tmp_path / "home", f"questions_{tmp_path.name[-8:]}") as started:
        yield started


def ask(home: Path, tenant: str, memory: str, wording: str) -> None:
    """Ask about a memory as a job of that tenant would, on a server of our own."""
    contexts = open_homes(home, load_settings(home), None)
    try:
        action = {"verb": "forget", "memory": memory, "by": "decay_manager", "night": "n"}
        propose(contexts.of(tenant).stores, ProposalType.DECAY, (memory,), wording, action)
    finally:
        contexts.close()


def states(client: Client) -> dict[str, str]:
    listed = client.ok("GET", "/agent/proposals", status="all")["proposals"]
    return {each["proposed_action"]: each["status"] for each in listed}


def test_a_bulk_rejection_reaches_shared_spaces_and_is_undone_there(
    team: Team, tmp_path: Path
) -> None:
    ada = team.person("ada")
    team.share("atlas", "ada")
    team.share("library", "ada", "reader")
    own, shared = ada.remember("The gate is green"), ada.remember("It is oak", space="atlas")
    ben = team.person("ben")
    team.share("library", "ben")
    read = ben.remember("It opens at nine", space="library")
    ask(tmp_path / "home", "ada", own, "own")
    ask(tmp_path / "home", tenant_of_space("atlas"), shared, "shared")
    ask(tmp_path / "home", tenant_of_space("library"), read, "read only")

    done = ada.ok("POST", "/agent/proposals", {"action": "rejected"})

    assert {each["proposed_action"] for each in done["decided"]} == {"own", "shared"}
    assert states(ada) == {"own": "rejected", "shared": "rejected", "read only": "pending"}
    undone = ada.ok("POST", f"/agent/undo/{done['undo'][:8]}", {})
    assert len(undone["questions"]) == 2
    assert set(states(ada).values()) == {"pending"}


def test_a_bulk_approval_reaches_shared_spaces_and_is_undone_there(
    team: Team, tmp_path: Path
) -> None:
    ada = team.person("ada")
    team.share("atlas", "ada")
    own, shared = ada.remember("The gate is green"), ada.remember("It is oak", space="atlas")
    ask(tmp_path / "home", "ada", own, "own")
    ask(tmp_path / "home", tenant_of_space("atlas"), shared, "shared")

    done = ada.ok("POST", "/agent/proposals", {"action": "approved"})
    assert ada.ok("GET", "/agent/list")["memories"] == []

    ada.ok("POST", f"/agent/undo/{done['undo']}", {})
    assert {each["id"] for each in ada.ok("GET", "/agent/list")["memories"]} == {own, shared}
