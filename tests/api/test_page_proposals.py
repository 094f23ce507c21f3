"""What the page is told about proposals: those that wait, and those that were decided."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from madeleine.api.local import LocalDoor, open_local
from madeleine.errors import UnknownWord
from madeleine.model.proposal import Proposal, ProposalType
from madeleine.model.words import Tier
from madeleine.write.actions import tier_action
from madeleine.write.proposals import add_states, propose
from madeleine.write.resolve import get_stored


@pytest.fixture
def door(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalDoor]:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    with closing(open_local(tmp_path / "home")) as opened:
        yield opened


def remember(door: LocalDoor, content: str, **draft: object) -> str:
    return str(door.call("remember", body={"content": content, **draft})["node_id"])


def asked(door: LocalDoor, memory: str, kind: ProposalType = ProposalType.DECAY) -> Proposal:
    """Ask whether a memory is to be archived."""
    stores = door.context.stores
    action = add_states(
        tier_action(memory, Tier.ARCHIVAL),
        [get_stored(stores, memory).memory],
        f"key of {memory} {kind}",
    )
    return propose(stores, kind, (memory,), "archive it", action)


def listed(door: LocalDoor, **query: object) -> Any:
    return door.call("page_proposals", query=query)


def shown(door: LocalDoor, proposal: Proposal) -> Any:
    return door.call("page_proposal", id=proposal.id)


def decided(door: LocalDoor, proposal: Proposal, action: str, by: str = "page") -> Any:
    return door.call("decide", id=proposal.id, body={"action": action}, by=by)


def test_one_type_is_chosen_before_the_page_is_cut(door: LocalDoor) -> None:
    memory = remember(door, "The kettle is red")
    old = [asked(door, memory, ProposalType.SPACE) for _ in range(3)]
    for _ in range(5):
        asked(door, memory)

    found = listed(door, type="space", limit=2)
    rest = listed(door, type="space", limit=2, offset=2)

    ids = [each["id"] for each in (*found["proposals"], *rest["proposals"])]
    assert ids == [each.id for each in reversed(old)]
    assert found["total"] == rest["total"] == 3
    assert found["types"] == {"decay": 5, "space": 3}
    assert listed(door)["total"] == 8


def test_a_decision_says_by_whom_and_what_it_did(door: LocalDoor) -> None:
    one, other = (asked(door, remember(door, text)) for text in ("A red kettle", "A blue cup"))
    change = decided(door, one, "approved")["change"]
    decided(door, other, "rejected", by="cli")

    rejected, approved = listed(door, status="decided")["proposals"]

    assert (approved["status"], approved["by"], approved["change"]) == ("approved", "page", change)
    assert (rejected["status"], rejected["by"], rejected["change"]) == ("rejected", "cli", None)
    assert approved["undoable"]
    assert rejected["undoable"]
    assert shown(door, one)["proposal"]["by"] == "page"


def test_what_was_undone_already_needs_no_second_undoing(door: LocalDoor) -> None:
    made = asked(door, remember(door, "A red kettle"))
    change = decided(door, made, "approved")["change"]
    door.call("undo", id=change)

    (told,) = listed(door, status="decided")["proposals"]

    assert (told["change"], told["undoable"]) == (None, True)
    later = asked(door, remember(door, "A blue cup"))
    decided(door, made, "pending")
    assert listed(door, status="decided")["proposals"] == []
    assert [each["id"] for each in listed(door)["proposals"]] == [later.id, made.id]


def test_taking_back_what_a_job_did_is_no_decision_of_a_question(door: LocalDoor) -> None:
    memory = remember(door, "A red kettle", tier="archival")
    door.call("revise", id=memory, body={"tier": "working"})

    assert listed(door, status="rejected")["total"] == 1
    assert listed(door, status="decided")["total"] == 0


def test_a_memory_that_changed_since_is_named_by_its_title(door: LocalDoor) -> None:
    memory = remember(door, "The kettle is red", title="Kettle")
    made = asked(door, memory)
    door.call("revise", id=memory, body={"content": "The kettle is blue"})

    told = shown(door, made)

    assert told["changed"] == {"id": memory, "title": "Kettle"}
    assert "“Kettle”" in told["problem"]
    door.call("forget", id=memory)
    assert shown(door, made)["changed"] == {"id": memory, "title": None}


def test_a_proposal_that_holds_names_no_change(door: LocalDoor) -> None:
    told = shown(door, asked(door, remember(door, "The kettle is red")))

    assert (told["changed"], told["problem"]) == (None, None)
    assert (told["proposal"]["by"], told["proposal"]["undoable"]) == (None, None)


@pytest.mark.parametrize("query", [{"status": "open"}, {"type": "quarrel"}])
def test_what_nobody_knows_is_refused(door: LocalDoor, query: dict[str, str]) -> None:
    with pytest.raises(UnknownWord):
        listed(door, **query)
