"""What a person said no to stays undone: rejected, taken back, or put back by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from madeleine.model.draft import MemoryLimits
from madeleine.model.memory import Connection, Memory
from madeleine.model.proposal import ProposalStatus
from madeleine.model.revision import read_revision
from madeleine.model.verdict import Relation, Synthesis
from madeleine.model.words import Edge, Tier
from madeleine.sleep.jobs.consolidator import make_consolidator
from madeleine.sleep.jobs.decay_manager import make_decay_manager
from madeleine.sleep.jobs.duplicate_merger import make_duplicate_merger
from madeleine.sleep.values import AddConnections, MoveToTrash, Patch, SetTier
from madeleine.write.forget import restore
from madeleine.write.proposals import decide_proposal
from madeleine.write.reconcile import reconcile, reconcile_paths
from madeleine.write.revise import revise
from madeleine.write.stores import Stores
from madeleine.write.undo import undo
from tests.fakes import NOON, keep, vault_bytes
from tests.sleep.nights import CONFIG, FILE_KINDS, as_now, job_of, living, one_of_each, run
from tests.sleep.scripted import ScriptedJudge, always, context, says


def reject_all(stores: Stores) -> int:
    waiting = stores.log.proposals(ProposalStatus.PENDING)
    for each in waiting:
        decide_proposal(stores, each.id, ProposalStatus.REJECTED, by="me")
    return len(waiting)


def old(stores: Stores, text: str, **more: object) -> Memory:
    return keep(stores, text, created=NOON - timedelta(days=300), **more)


@pytest.mark.few(5)
@pytest.mark.parametrize("kind", FILE_KINDS)
def test_what_was_rejected_is_not_done_by_somebody_who_is_sure(stores: Stores, kind: str) -> None:
    action = one_of_each(stores)[kind]
    run(stores, job_of(Patch(action, "perhaps", ask=True)))
    assert reject_all(stores) == 1
    before = vault_bytes(stores)

    report = run(stores, job_of(Patch(action, "surely")))

    assert (report.applied, report.proposed) == (0, 0)
    assert vault_bytes(stores) == before


@pytest.mark.parametrize("kind", FILE_KINDS)
def test_what_was_taken_back_is_not_done_again(stores: Stores, kind: str) -> None:
    action = one_of_each(stores)[kind]
    before = living(vault_bytes(stores))
    done = run(stores, job_of(Patch(action, "surely")))
    assert done.applied == 1
    undo(stores, done.run, by="me")

    again = run(stores, job_of(Patch(action, "surely")))

    assert (again.applied, again.proposed) == (0, 0)
    assert living(vault_bytes(stores)) == before


@pytest.mark.parametrize("kind", FILE_KINDS)
def test_what_somebody_is_asked_about_is_not_done_meanwhile(stores: Stores, kind: str) -> None:
    action = one_of_each(stores)[kind]
    run(stores, job_of(Patch(action, "perhaps", ask=True)))
    before = vault_bytes(stores)

    report = run(stores, job_of(Patch(action, "surely")))

    assert (report.applied, report.proposed) == (0, 0)
    assert vault_bytes(stores) == before
    (waiting,) = stores.log.proposals(ProposalStatus.PENDING)
    assert decide_proposal(stores, waiting.id, ProposalStatus.APPROVED).change is not None


def test_a_restored_memory_is_not_forgotten_again(stores: Stores) -> None:
    memory = keep(stores, "Lunch is at noon")
    assert run(stores, job_of(Patch(MoveToTrash(memory), "faded"))).applied == 1

    restore(stores, memory.id, by="me")

    assert run(stores, job_of(Patch(MoveToTrash(as_now(stores, memory)), "faded"))).applied == 0


def test_a_no_holds_as_long_as_the_memory_says_the_same(stores: Stores) -> None:
    memory = keep(stores, "Lunch is at noon")
    done = run(stores, job_of(Patch(SetTier(memory, Tier.ARCHIVAL), "t")))
    undo(stores, done.run)
    revise(stores, memory.id, read_revision({"content": "Lunch is at one"}, MemoryLimits()))

    changed = as_now(stores, memory)
    report = run(stores, job_of(Patch(SetTier(changed, Tier.ARCHIVAL), "t")))

    assert report.applied == 1


def test_one_refused_connection_leaves_the_others(stores: Stores) -> None:
    lunch, dinner, tea = (keep(stores, f"{each} is served") for each in ("Lunch", "Dinner", "Tea"))
    first = Connection(dinner.id, Edge.RELATED_TO, 0.7, by="planned")
    done = run(stores, job_of(Patch(AddConnections(lunch, (first,)), "l")))
    undo(stores, done.run)
    second = Connection(tea.id, Edge.RELATED_TO, 0.7, by="planned")

    run(stores, job_of(Patch(AddConnections(as_now(stores, lunch), (first, second)), "l")))

    drawn = [c.target for c in as_now(stores, lunch).connections if c.by == "planned"]
    assert drawn == [tea.id]


def test_the_no_shows_among_what_was_decided(stores: Stores) -> None:
    memory = keep(stores, "Lunch is at noon")
    done = run(stores, job_of(Patch(SetTier(memory, Tier.ARCHIVAL), "t")))

    undo(stores, done.run)

    (rejected,) = stores.log.proposals(ProposalStatus.REJECTED)
    assert rejected.source_nodes == (memory.id,)
    assert "to archival" in rejected.proposed_action
    assert stores.log.proposals(ProposalStatus.PENDING) == []


# -- decay ---------------------------------------------------------------------------------


def test_rejected_moves_to_the_archive_neither_come_back_nor_trip_the_breaker(
    stores: Stores,
) -> None:
    for number in range(30):
        old(stores, f"remark number {number}")
    config = replace(CONFIG, decay_importance=1.0)
    for _ in range(3):
        assert run(stores, make_decay_manager(), config, at_once=True).proposed == 1
        reject_all(stores)
    for number in range(100):
        keep(stores, f"news number {number}")

    report = run(stores, make_decay_manager(), config, at_once=True)

    assert (report.applied, report.proposed, report.stopped) == (0, 0, None)


def test_a_memory_put_back_by_hand_is_not_archived_again(stores: Stores) -> None:
    memory = old(stores, "Old lemon recipe from Kos")
    config = replace(CONFIG, decay_importance=1.0)
    assert run(stores, make_decay_manager(), config, at_once=True).applied == 1

    revise(stores, memory.id, read_revision({"tier": "working"}, MemoryLimits()), by="me")

    assert run(stores, make_decay_manager(), config, at_once=True).applied == 0
    assert as_now(stores, memory).tier is Tier.WORKING


@pytest.mark.parametrize("after", ["reconcile", "watcher"])
def test_a_memory_put_back_by_editing_its_file_is_not_archived_again(
    stores: Stores, after: str
) -> None:
    memory = old(stores, "Old lemon recipe from Kos")
    config = replace(CONFIG, decay_importance=1.0)
    assert run(stores, make_decay_manager(), config, at_once=True).applied == 1
    path = edited(stores, memory, "tier: archival", "tier: working")

    if after == "reconcile":
        reconcile(stores)
    else:
        reconcile_paths(stores, [path])

    assert run(stores, make_decay_manager(), config, at_once=True).applied == 0
    assert as_now(stores, memory).tier is Tier.WORKING
    (rejected,) = stores.log.proposals(ProposalStatus.REJECTED)
    assert rejected.source_nodes == (memory.id,)


def test_any_other_edit_of_a_file_is_no_answer_to_anything(stores: Stores) -> None:
    memory = old(stores, "Old lemon recipe from Kos")
    run(stores, make_decay_manager(), replace(CONFIG, decay_importance=1.0), at_once=True)
    edited(stores, memory, "from Kos", "from Crete")
    reconcile(stores)
    edited(stores, keep(stores, "Tea is at five"), "at five", "at four")
    reconcile(stores)

    assert stores.log.proposals(ProposalStatus.REJECTED) == []


def edited(stores: Stores, memory: Memory, old_text: str, new_text: str) -> str:
    """Edit a memory's file by hand; return its path in the vault."""
    stored = stores.search.get(memory.id)
    assert stored is not None
    file = stores.vault.root / stored.path
    text = file.read_text(encoding="utf-8")
    assert old_text in text
    file.write_text(text.replace(old_text, new_text), encoding="utf-8")
    return stored.path


def test_what_a_question_is_about_is_not_archived_meanwhile(stores: Stores) -> None:
    one, other = old(stores, "Atlas uses SQLite"), old(stores, "Atlas uses Postgres")
    link = Connection(other.id, Edge.CONTRADICTS, 0.9, "at odds", "conflict_detector")
    run(stores, job_of(Patch(AddConnections(one, (link,), (other,)), "c", ask=True)))
    (waiting,) = stores.log.proposals(ProposalStatus.PENDING)

    report = run(stores, make_decay_manager(), replace(CONFIG, decay_importance=1.0), at_once=True)

    assert report.applied == 0
    assert decide_proposal(stores, waiting.id, ProposalStatus.APPROVED).change is not None


# -- the breaker ---------------------------------------------------------------------------


def test_the_breaker_counts_all_rounds_of_a_run(stores: Stores) -> None:
    for letter in "abcdefghijklmnopqrstuvwxyz":
        keep(stores, f"The backup of host {letter} goes to the shelf")
    same = ScriptedJudge(always(says(Relation.DUPLICATE, content="", title="")))

    report = context(
        stores,
        make_duplicate_merger(),
        same,
        duplicate_score=0.1,
        breaker_least=5,
        breaker_share=0.5,
    )

    gone = 26 - stores.search.counts().memories
    assert gone <= 13, "more than the breaker's share went"
    assert report.applied <= 13


# -- syntheses -----------------------------------------------------------------------------


def test_a_text_that_was_refused_is_not_asked_for_again(stores: Stores) -> None:
    for text in ("Chose SQLite for Ormah", "Ormah uses SQLite because it is one file"):
        keep(stores, text)
    asked: list[int] = []

    def refused(members: object) -> Synthesis:
        asked.append(1)
        return Synthesis("", "")

    judge = ScriptedJudge(text=refused, cheap=False)
    first = context(stores, make_consolidator(), judge, consolidate_similarity=0.1)
    context(stores, make_consolidator(), judge, consolidate_similarity=0.1)

    assert len(asked) == 1
    assert first.judged
