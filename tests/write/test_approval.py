"""`write.approval = "agents"`: what agents remember waits until a person says yes."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from madeleine.errors import OutdatedProposal
from madeleine.model.cause import NoteKind
from madeleine.model.draft import Draft
from madeleine.model.memory import Claim, Memory
from madeleine.model.proposal import Proposal, ProposalStatus, ProposalType
from madeleine.model.query import RecallQuery
from madeleine.model.revision import Revision
from madeleine.recall.recall import recall
from madeleine.write.approval import remember_as, revise_as
from madeleine.write.change_file import ChangeResult
from madeleine.write.config import WriteConfig
from madeleine.write.forget import forget, restore
from madeleine.write.proposals import (
    decide_proposal,
    decide_proposals,
    expire_proposals,
    preview_proposal,
    reopen_proposal,
)
from madeleine.write.remember import RememberResult
from madeleine.write.revise import revise
from madeleine.write.stores import Stores, VerbConfig
from madeleine.write.undo import undo
from tests.fakes import FakeClock, close, keep, reopened, vault_bytes

AGENT = "agent:claude-code"
TEXT = "The lighthouse is painted every second spring"
APPROVED, REJECTED = ProposalStatus.APPROVED, ProposalStatus.REJECTED
CONFIG = VerbConfig(write=WriteConfig(approval="agents"))


@pytest.fixture
def careful(stores: Stores) -> Stores:
    return replace(stores, config=CONFIG)


def by_agent(stores: Stores, text: str = TEXT, **fields: object) -> RememberResult:
    draft = replace(Draft(text, source=AGENT), **fields)  # type: ignore[arg-type]
    return remember_as(stores, draft, AGENT)


def waiting(stores: Stores) -> list[Proposal]:
    return list(stores.log.proposals(ProposalStatus.PENDING))


def found(stores: Stores) -> list[str]:
    answer = recall(stores, RecallQuery("when is the lighthouse painted?", all=True), touch=False)
    return [each.memory.content for each in answer.hits]


def there(stores: Stores, memory_id: str) -> Memory | None:
    return stores.search.memories([memory_id]).get(memory_id)


def test_what_an_agent_remembers_is_nowhere_until_somebody_says_yes(careful: Stores) -> None:
    held = by_agent(careful)

    assert vault_bytes(careful) == {}
    assert found(careful) == []
    assert [note.kind for note in held.notes] == [NoteKind.WAITS_FOR_YES]
    [asked] = waiting(careful)
    assert (asked.id, asked.type) == (held.proposal, ProposalType.REMEMBER)
    assert asked.source_nodes == (held.memory.id,)
    assert TEXT in preview_proposal(careful, asked.id).difference

    decide_proposal(careful, asked.id, APPROVED, by="cli")

    assert found(careful) == [TEXT]
    kept = there(careful, held.memory.id)
    assert kept is not None
    assert (kept.source, kept.created) == (AGENT, held.memory.created)


def test_what_a_person_remembers_does_not_wait(careful: Stores) -> None:
    done = remember_as(careful, Draft(TEXT, source="cli"), "cli")

    assert (done.proposal, waiting(careful)) == (None, [])
    assert found(careful) == [TEXT]


def test_nothing_waits_unless_it_is_wanted(stores: Stores) -> None:
    assert by_agent(stores).proposal is None
    assert found(stores) == [TEXT]


def test_a_yes_can_be_taken_back_and_given_again(careful: Stores) -> None:
    held = by_agent(careful)
    asked = str(held.proposal)
    change = decide_proposal(careful, asked, APPROVED).change

    undo(careful, str(change))
    assert found(careful) == []

    reopen_proposal(careful, asked)
    decide_proposal(careful, asked, APPROVED)
    assert found(careful) == [TEXT]


def test_a_no_puts_it_into_the_trash_and_undo_asks_again(careful: Stores) -> None:
    held = by_agent(careful)
    change = decide_proposal(careful, str(held.proposal), REJECTED, by="cli").change

    assert list(vault_bytes(careful)) == [f"trash/{path}" for path in _names(careful)]
    assert found(careful) == []
    assert waiting(careful) == []

    undone = undo(careful, str(change))

    assert vault_bytes(careful) == {}
    assert undone.questions == (held.proposal,)
    assert [each.id for each in waiting(careful)] == [held.proposal]


def _names(stores: Stores) -> list[str]:
    return [each.removeprefix("trash/") for each in vault_bytes(stores)]


def test_many_answers_at_once_are_taken_back_by_one_id(careful: Stores) -> None:
    for number in range(3):
        by_agent(careful, f"{TEXT}, says keeper {number}")
    done = decide_proposals(careful, waiting(careful), REJECTED, by="page")
    assert len(vault_bytes(careful)) == 3

    undo(careful, done.run)

    assert vault_bytes(careful) == {}
    assert len(waiting(careful)) == 3


def test_a_no_can_be_changed_by_restoring_the_memory(careful: Stores) -> None:
    held = by_agent(careful)
    decide_proposal(careful, str(held.proposal), REJECTED)

    restore(careful, held.memory.short_id)

    assert found(careful) == [TEXT]


def test_the_same_is_asked_once(careful: Stores) -> None:
    first = by_agent(careful)

    again = by_agent(careful, f"  {TEXT}\n")

    assert (again.existing, again.proposal, again.memory.id) == (
        True,
        first.proposal,
        first.memory.id,
    )
    assert len(waiting(careful)) == 1


def test_what_is_known_already_is_not_asked(careful: Stores) -> None:
    keep(careful, TEXT)

    known = by_agent(careful)

    assert (known.existing, known.proposal) == (True, None)
    assert waiting(careful) == []


def test_what_it_replaces_holds_until_the_yes_and_comes_back_with_undo(careful: Stores) -> None:
    old = keep(careful, "The lighthouse is painted every autumn")
    held = by_agent(careful, replaces=(old.short_id,))
    before = there(careful, old.id)
    assert before is not None
    assert before.valid_until is None

    change = decide_proposal(careful, str(held.proposal), APPROVED).change
    ended = there(careful, old.id)
    assert ended is not None
    assert ended.superseded_by == held.memory.id

    undo(careful, str(change))
    assert there(careful, old.id) == before


def test_a_claim_replaces_the_older_value_only_with_the_yes(careful: Stores) -> None:
    old = keep(careful, "The keeper is Ansgar", claim=Claim("lighthouse", "keeper", "Ansgar"))
    claim = Claim("lighthouse", "keeper", "Birgit")
    careful.clock.pass_by(days=1)  # type: ignore[attr-defined]  # tests bring a clock of their own
    held = by_agent(careful, "The keeper is Birgit", claim=claim)
    assert old.valid_until is None

    decide_proposal(careful, str(held.proposal), APPROVED)

    ended = there(careful, old.id)
    assert ended is not None
    assert ended.superseded_by == held.memory.id


def test_a_replaced_memory_that_is_gone_meanwhile_is_no_obstacle(careful: Stores) -> None:
    old = keep(careful, "The lighthouse is painted every autumn")
    held = by_agent(careful, replaces=(old.id,))
    forget(careful, old.id)

    decide_proposal(careful, str(held.proposal), APPROVED)

    assert found(careful) == [TEXT]


def test_it_waits_as_long_as_it_takes(careful: Stores) -> None:
    by_agent(careful)
    assert isinstance(careful.clock, FakeClock)
    careful.clock.pass_by(days=400)

    expire_proposals(careful, careful.clock.now() - timedelta(days=30), by="sleep")

    assert len(waiting(careful)) == 1


def test_what_waits_survives_a_rebuild(careful: Stores, tmp_path: Path) -> None:
    held = by_agent(careful)

    again = reopened(careful, tmp_path / "home", without_index=True)

    assert [each.id for each in waiting(again)] == [held.proposal]
    decide_proposal(again, str(held.proposal), APPROVED)
    assert found(again) == [TEXT]
    close(again)


def test_what_is_about_the_person_is_theirs_after_the_yes(careful: Stores) -> None:
    held = by_agent(careful, "Prefers tea to coffee", about_self=True, tags=("about_self",))

    decide_proposal(careful, str(held.proposal), APPROVED)

    kept = there(careful, held.memory.id)
    assert kept is not None
    assert "about_self" in kept.tags
    assert careful.graph.self_id() is not None


# -- what a memory is to say from now on ---------------------------------------------------


def revised_by_agent(stores: Stores, memory: Memory, **values: object) -> ChangeResult:
    return revise_as(stores, memory.id, Revision(values), AGENT, AGENT)


def test_what_an_agent_wants_a_memory_to_say_waits_too(careful: Stores) -> None:
    memory = keep(careful, TEXT)

    held = revised_by_agent(careful, memory, content=f"{TEXT} and autumn")

    assert (held.change, held.memory.content) == (None, TEXT)
    assert [note.kind for note in held.notes] == [NoteKind.WAITS_FOR_YES]
    assert found(careful) == [TEXT]
    [asked] = waiting(careful)
    change = decide_proposal(careful, asked.id, APPROVED).change
    assert found(careful) == [f"{TEXT} and autumn"]
    undo(careful, str(change))
    assert found(careful) == [TEXT]


def test_a_no_to_a_revision_leaves_the_memory_as_it_is(careful: Stores) -> None:
    memory = keep(careful, TEXT)
    revised_by_agent(careful, memory, content="Never painted")
    before = vault_bytes(careful)

    assert decide_proposal(careful, waiting(careful)[0].id, REJECTED).change is None

    assert vault_bytes(careful) == before


def test_a_memory_that_changed_meanwhile_is_not_overwritten(careful: Stores) -> None:
    memory = keep(careful, TEXT)
    revised_by_agent(careful, memory, content="Never painted")
    revise(careful, memory.id, Revision({"content": "Painted by a person"}), by="cli")

    with pytest.raises(OutdatedProposal):
        decide_proposal(careful, waiting(careful)[0].id, APPROVED)


def test_a_person_revises_at_once(careful: Stores) -> None:
    memory = keep(careful, TEXT)

    done = revise_as(careful, memory.id, Revision({"title": "Paint"}), "cli", "cli")

    assert done.change is not None
    assert waiting(careful) == []
