"""Patches that somebody has to decide: shown exactly, done exactly, asked once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from madeleine.errors import AlreadyDone, BeingDecided, OutdatedProposal
from madeleine.model.cause import Cause
from madeleine.model.draft import MemoryLimits
from madeleine.model.memory import Connection
from madeleine.model.proposal import Proposal, ProposalStatus, ProposalType
from madeleine.model.revision import read_revision
from madeleine.model.words import Edge, Tier
from madeleine.sleep.values import (
    AddConnections,
    Merge,
    Patch,
    SetSpace,
    SetTier,
    StopKind,
    Supersede,
)
from madeleine.write.connections import link
from madeleine.write.proposals import decide_proposal, preview_proposal, reopen_proposal
from madeleine.write.revise import revise
from madeleine.write.stores import Stores
from madeleine.write.undo import undo
from tests.fakes import close, keep, make_stores, reopened, vault_bytes
from tests.sleep.nights import CONFIG, FILE_KINDS, as_now, job_of, living, one_of_each, run

TYPES = {
    "link": ProposalType.LINK,
    "merge": ProposalType.MERGE,
    "supersede": ProposalType.CONFLICT,
    "tier": ProposalType.DECAY,
    "space": ProposalType.SPACE,
    "synthesise": ProposalType.CONSOLIDATE,
    "forget": ProposalType.DECAY,
}


def pending(stores: Stores) -> list[Proposal]:
    return stores.log.proposals(ProposalStatus.PENDING)


@pytest.mark.parametrize("kind", FILE_KINDS)
def test_approving_a_proposal_does_exactly_what_it_showed(stores: Stores, kind: str) -> None:
    action = one_of_each(stores)[kind]
    before = living(vault_bytes(stores))
    report = run(stores, job_of(Patch(action, "because", ask=True)))
    assert (report.proposed, report.applied) == (1, 0)
    assert living(vault_bytes(stores)) == before
    (waiting,) = pending(stores)

    shown = preview_proposal(stores, waiting.id[:8])
    done = decide_proposal(stores, waiting.id, ProposalStatus.APPROVED, by="me")

    assert waiting.type is TYPES[kind]
    assert shown.problem is None
    assert patched(before, shown.difference) == living(vault_bytes(stores))
    assert done.change is not None
    undo(stores, done.change)
    assert living(vault_bytes(stores)) == before


def patched(files: dict[str, bytes], difference: str) -> dict[str, bytes]:
    """Apply a unified difference as a reader would, knowing nothing of how it was made."""
    after = {path: data.decode().splitlines(keepends=True) for path, data in files.items()}
    lines = difference.splitlines(keepends=True)
    while lines:
        line = lines.pop(0)
        if line.startswith("--- "):
            old, new = line[4:].strip(), lines.pop(0)[4:].strip()
            body = []
            while lines and lines[0][0] in "@ +-" and not lines[0].startswith("--- "):
                body.append(lines.pop(0))
            after[new] = _hunks(after.pop(old, []), body)
        else:
            after.pop(line.split(" goes ")[0])
    return {path: "".join(text).encode() for path, text in after.items()}


def _hunks(old: list[str], body: list[str]) -> list[str]:
    new: list[str] = []
    at = 0
    for line in body:
        if line.startswith("@@"):
            first, _, count = line.split()[1][1:].partition(",")
            start = int(first) - (count != "0")
            new += old[at:start]
            at = start
        elif line[0] in " -":
            assert old[at] == line[1:]
            new += [line[1:]] if line[0] == " " else []
            at += 1
        else:
            new.append(line[1:])
    return new + old[at:]


def test_a_proposal_says_plainly_what_it_would_do(stores: Stores) -> None:
    actions = one_of_each(stores)
    run(stores, job_of(*(Patch(actions[kind], "why", ask=True) for kind in FILE_KINDS)))

    said = {each.type: each.proposed_action for each in pending(stores)}

    merge, supersede = actions["merge"], actions["supersede"]
    assert isinstance(merge, Merge)
    assert isinstance(supersede, Supersede)
    assert said[ProposalType.MERGE] == (
        f"merge `{merge.drop.short_id}` (Ormah uses SQLite) into `{merge.keep.short_id}` (SQLite) "
        "and rewrite it to say both"
    )
    assert said[ProposalType.CONFLICT] == (
        f"let `{supersede.newer.short_id}` (We switched Ormah to Postgres) replace "
        f"`{supersede.older.short_id}` (SQLite)"
    )
    assert said[ProposalType.SPACE].endswith("(Lunch is at noon) to the space `kitchen`")
    assert said[ProposalType.DECAY].endswith("(Backups run at night) to archival")
    assert said[ProposalType.CONSOLIDATE].startswith("write “Meals” for")


def test_the_keeper_that_was_chosen_is_kept_with_its_new_text(stores: Stores) -> None:
    longer, shorter = keep(stores, "Ormah uses SQLite, we decided"), keep(stores, "SQLite it is")
    run(stores, job_of(Patch(Merge(shorter, longer, "DB", "SQLite, decided"), "m", ask=True)))

    decide_proposal(stores, pending(stores)[0].id, ProposalStatus.APPROVED)

    assert as_now(stores, shorter).content == "SQLite, decided"
    assert stores.search.get(longer.id) is None


def test_a_contradiction_that_is_approved_is_written_as_one(stores: Stores) -> None:
    one, other = keep(stores, "Lunch is at noon"), keep(stores, "Nobody eats before two")
    wanted = Connection(other.id, Edge.CONTRADICTS, 0.9, "both cannot be", "conflict_detector")
    run(stores, job_of(Patch(AddConnections(one, (wanted,), (other,)), "c", ask=True)))
    (waiting,) = pending(stores)

    decide_proposal(stores, waiting.id, ProposalStatus.APPROVED, by="me")

    assert waiting.type is ProposalType.CONFLICT
    (drawn,) = [c for c in as_now(stores, one).connections if c.edge is Edge.CONTRADICTS]
    assert (drawn.weight, drawn.reason, drawn.by) == (0.9, "both cannot be", "conflict_detector")


def test_a_proposal_about_what_changed_since_is_refused(stores: Stores) -> None:
    memory = keep(stores, "Lunch is at noon")
    run(stores, job_of(Patch(SetTier(memory, Tier.ARCHIVAL), "t", ask=True)))
    (waiting,) = pending(stores)
    revise(stores, memory.id, read_revision({"content": "Lunch is at one"}, MemoryLimits()))
    before = vault_bytes(stores)

    assert "changed since" in str(preview_proposal(stores, waiting.id).problem)
    with pytest.raises(OutdatedProposal, match=memory.short_id):
        decide_proposal(stores, waiting.id, ProposalStatus.APPROVED)

    assert vault_bytes(stores) == before
    assert pending(stores) == [waiting]
    decide_proposal(stores, waiting.id, ProposalStatus.REJECTED)
    assert pending(stores) == []


def test_a_proposal_about_what_changed_since_is_gone_after_the_next_run(stores: Stores) -> None:
    memory, other = keep(stores, "Lunch is at noon"), keep(stores, "Dinner is at seven")
    patches = [Patch(SetTier(each, Tier.ARCHIVAL), "t", ask=True) for each in (memory, other)]
    run(stores, job_of(*patches))
    revise(stores, memory.id, read_revision({"content": "Lunch is at one"}, MemoryLimits()))

    run(stores, job_of())

    (left,) = pending(stores)
    assert left.source_nodes == (other.id,)


def test_a_link_that_came_meanwhile_does_not_make_a_proposal_void(stores: Stores) -> None:
    memory, other = keep(stores, "Lunch is at noon"), keep(stores, "Dinner is at seven")
    run(stores, job_of(Patch(SetTier(memory, Tier.ARCHIVAL), "t", ask=True)))
    link(stores, memory.id, Connection(other.id))

    decide_proposal(stores, pending(stores)[0].id, ProposalStatus.APPROVED)

    assert as_now(stores, memory).tier is Tier.ARCHIVAL


def test_a_question_is_asked_once_while_it_waits(stores: Stores) -> None:
    memory = keep(stores, "Lunch is at noon")
    patch = Patch(SetTier(memory, Tier.ARCHIVAL), "t", ask=True)

    reports = [run(stores, job_of(patch)) for _ in range(3)]

    assert [each.proposed for each in reports] == [1, 0, 0]
    assert len(pending(stores)) == 1


@pytest.mark.parametrize("rebuilt", [False, True])
def test_a_rejected_proposal_does_not_come_back(tmp_path: Path, rebuilt: bool) -> None:
    home = tmp_path / "home"
    stores = make_stores(home)
    one, other = keep(stores, "Ormah uses SQLite"), keep(stores, "Chose SQLite for Ormah")
    run(stores, job_of(Patch(Merge(one, other, None, "both"), "m", ask=True)))
    decide_proposal(stores, pending(stores)[0].id, ProposalStatus.REJECTED)
    stores = reopened(stores, home, without_index=rebuilt)

    again = Patch(Merge(other, one, "another", "way to say both"), "m", ask=True)
    report = run(stores, job_of(again))

    assert report.proposed == 0
    assert pending(stores) == []
    close(stores)


def test_a_rejected_proposal_may_come_back_when_a_memory_says_something_else(
    stores: Stores,
) -> None:
    memory = keep(stores, "Lunch is at noon")
    run(stores, job_of(Patch(SetSpace(memory, "kitchen"), "s", ask=True)))
    decide_proposal(stores, pending(stores)[0].id, ProposalStatus.REJECTED)
    revise(stores, memory.id, read_revision({"content": "Lunch is at one"}, MemoryLimits()))

    report = run(stores, job_of(Patch(SetSpace(as_now(stores, memory), "kitchen"), "s", ask=True)))

    assert report.proposed == 1


def test_a_proposal_that_nobody_decides_expires_and_stays_away(stores: Stores) -> None:
    memory = keep(stores, "Lunch is at noon")
    patch = Patch(SetTier(memory, Tier.ARCHIVAL), "t", ask=True)
    run(stores, job_of(patch))
    (waiting,) = pending(stores)
    stores.clock.pass_by(days=29)  # type: ignore[attr-defined]  # the fake clock
    run(stores, job_of())
    assert pending(stores) == [waiting]

    stores.clock.pass_by(days=2)  # type: ignore[attr-defined]  # the fake clock
    report = run(stores, job_of(patch))

    assert report.proposed == 0
    (gone,) = stores.log.proposals()
    assert gone.status is ProposalStatus.EXPIRED
    with pytest.raises(AlreadyDone, match="expired"):
        decide_proposal(stores, waiting.id, ProposalStatus.APPROVED)


def test_who_is_late_by_a_moment_hears_that_somebody_else_decided(stores: Stores) -> None:
    memory = keep(stores, "Lunch is at noon")
    run(stores, job_of(Patch(SetTier(memory, Tier.ARCHIVAL), "t", ask=True)))
    (waiting,) = pending(stores)
    stores.deciding.add(waiting.id)

    with pytest.raises(BeingDecided, match=r"^this proposal was just decided in another window"):
        decide_proposal(stores, waiting.id, ProposalStatus.APPROVED)


def test_a_rejection_that_is_taken_back_lets_the_proposal_wait_again(stores: Stores) -> None:
    memory = keep(stores, "Lunch is at noon")
    run(stores, job_of(Patch(SetTier(memory, Tier.ARCHIVAL), "t", ask=True)))
    (waiting,) = pending(stores)
    decide_proposal(stores, waiting.id, ProposalStatus.REJECTED)
    stores.clock.pass_by(minutes=1)  # type: ignore[attr-defined]  # the fake clock

    reopen_proposal(stores, waiting.id, by="me")

    assert [each.id for each in pending(stores)] == [waiting.id]
    with pytest.raises(AlreadyDone, match="pending"):
        reopen_proposal(stores, waiting.id)
    stores.clock.pass_by(minutes=1)  # type: ignore[attr-defined]  # the fake clock
    decide_proposal(stores, waiting.id, ProposalStatus.APPROVED)
    assert as_now(stores, memory).tier is Tier.ARCHIVAL


def test_an_approval_is_taken_back_once_what_it_did_is_undone(stores: Stores) -> None:
    memory = keep(stores, "Lunch is at noon")
    run(stores, job_of(Patch(SetTier(memory, Tier.ARCHIVAL), "t", ask=True)))
    (waiting,) = pending(stores)
    done = decide_proposal(stores, waiting.id, ProposalStatus.APPROVED)
    stores.clock.pass_by(minutes=1)  # type: ignore[attr-defined]  # the fake clock

    with pytest.raises(AlreadyDone, match="carried out"):
        reopen_proposal(stores, waiting.id)
    undo(stores, str(done.change))
    reopen_proposal(stores, waiting.id)

    assert [each.id for each in pending(stores)] == [waiting.id]
    assert preview_proposal(stores, waiting.id).problem is None


def test_a_dry_run_tells_what_would_be_asked_now_from_what_would_wait(stores: Stores) -> None:
    memories = [keep(stores, f"remark number {number}") for number in range(3)]
    patches = [Patch(SetTier(each, Tier.ARCHIVAL), "t", ask=True) for each in memories]

    report = run(stores, job_of(*patches), replace(CONFIG, proposals_per_run=2), dry_run=True)

    assert [each["would"] for each in report.patches] == ["propose", "propose", "wait"]
    assert report.proposed == 2


def test_what_found_no_room_is_asked_when_there_is(stores: Stores) -> None:
    memories = [keep(stores, f"remark number {number}") for number in range(3)]
    patches = [Patch(SetTier(each, Tier.ARCHIVAL), "t", ask=True) for each in memories]
    few = replace(CONFIG, proposals_per_run=2)

    first = run(stores, job_of(*patches), few)
    decide_proposal(stores, pending(stores)[0].id, ProposalStatus.REJECTED)
    second = run(stores, job_of(*patches), few)

    assert (first.proposed, second.proposed) == (2, 1)
    assert first.stopped == Cause(StopKind.NO_ROOM_FOR_PROPOSALS, {"without_room": 1})
