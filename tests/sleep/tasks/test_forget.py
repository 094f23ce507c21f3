"""Forgetting: what goes, what stays and why, and that all of it comes back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from madeleine.model.event import EventKind
from madeleine.model.proposal import ProposalStatus
from madeleine.model.query import Filter
from madeleine.model.revision import read_revision
from madeleine.model.words import ABOUT_SELF, MemoryType, Tier
from madeleine.rules.forgetting import PROTECTED_TAG
from madeleine.sleep.apply import MANY_AT_ONCE
from madeleine.sleep.reports import report_to_json
from madeleine.sleep.run import run_job
from madeleine.sleep.tasks.forget import LISTED, make_forget_task
from madeleine.sleep.values import STOPPED
from madeleine.sleep.values import MoveToTrash as ToTrash
from madeleine.write.forget import restore
from madeleine.write.identity import ensure_self
from madeleine.write.proposals import decide_proposal
from madeleine.write.revise import revise
from madeleine.write.stores import Stores
from madeleine.write.undo import undo
from tests.fakes import close, keep, make_stores, vault_bytes
from tests.sleep.nights import Told, all_bytes, as_now, run
from tests.sleep.tasks.ageing import aged, fill, relevance, set_to, use, weigh

ARCHIVE = set_to(archive_threshold=0.2)
DELETE = set_to(delete_threshold=0.05)
BOTH = set_to(archive_threshold=0.2, delete_threshold=0.05)
ALL_OF_IT = set_to(archive_threshold=1.0, grace_period_days=0.0)


def listed(found: object) -> list[dict[str, object]]:
    assert isinstance(found, list)
    return found


def ids(found: object) -> list[object]:
    return [each["id"] for each in listed(found)]


# -- what goes -----------------------------------------------------------------------------


def test_nothing_is_forgotten_unless_somebody_sets_a_threshold(stores: Stores) -> None:
    aged(stores, "Lunch is at noon", 3_000)
    files = vault_bytes(stores)

    report = run(stores, make_forget_task())

    assert vault_bytes(stores) == files
    assert (report.counts["examined"], report.counts["preserved"]) == (1, 1)
    assert report.counts["archived"] == report.counts["deleted"] == report.counts["protected"] == []


def test_the_known_three_memories_fare_as_they_should(stores: Stores) -> None:
    fresh = keep(stores, "It rains", type=MemoryType.OBSERVATION, confidence=0.5)
    weigh(stores, fresh, 0.9)
    half = aged(stores, "It rained", 15, confidence=0.5)
    weigh(stores, half, 0.1)
    old = aged(stores, "It will rain", 365, confidence=0.5)
    weigh(stores, old, 0.1)

    told = run(
        stores,
        make_forget_task(),
        set_to(archive_threshold=0.2, delete_threshold=0.05, formula="floored"),
    ).counts

    assert (told["examined"], told["preserved"]) == (3, 2)
    assert (told["archived_count"], told["deleted_count"], told["protected_count"]) == (0, 1, 1)
    assert told["deleted"] == [
        {"id": old.id, "content_preview": "It will rain", "relevance": 0.03, "type": "fact"}
    ]
    (kept,) = listed(told["protected"])
    assert kept["id"] == half.id
    assert (kept["protection_reason"], kept["action"]) == ("grace_period", "archive")


def test_below_one_threshold_is_archived_and_below_the_other_trashed(stores: Stores) -> None:
    faint = aged(stores, "Lunch is at noon", 100)
    use(stores, faint)  # age alone has faded it
    gone = aged(stores, "Backups run at night", 100)
    config = set_to(archive_threshold=0.5, delete_threshold=0.05)

    report = run(stores, make_forget_task(), config)

    assert as_now(stores, faint).tier is Tier.ARCHIVAL
    assert stores.search.get(gone.id) is None
    assert [each.memory.id for each in stores.vault.trashed_memories()] == [gone.id]
    assert ids(report.counts["archived"]) == [faint.id]
    assert ids(report.counts["deleted"]) == [gone.id]


def test_a_threshold_of_1_takes_all_that_is_not_wholly_relevant(stores: Stores) -> None:
    whole = keep(stores, "Lunch is at noon")
    weigh(stores, whole, 0.6)  # its product is more than 1, and capped
    faint = aged(stores, "Backups run at night", 5)

    run(stores, make_forget_task(), ALL_OF_IT)

    assert as_now(stores, whole).tier is Tier.WORKING
    assert as_now(stores, faint).tier is Tier.ARCHIVAL


def test_what_is_archived_already_is_not_examined(stores: Stores) -> None:
    away = aged(stores, "Lunch is at noon", 1_000, tier=Tier.ARCHIVAL)

    report = run(stores, make_forget_task(), DELETE)

    assert report.counts["examined"] == 0
    assert as_now(stores, away).tier is Tier.ARCHIVAL


def test_relevance_is_reckoned_anew_and_written_down(stores: Stores) -> None:
    memory = aged(stores, "Lunch is at noon", 10, confidence=0.5)

    run(stores, make_forget_task(), BOTH)

    assert relevance(stores, memory) == pytest.approx(0.46649, abs=2e-4)


# -- what stays ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"tags": (PROTECTED_TAG,)}, "protected"),
        ({"tier": Tier.CORE}, "core"),
        ({"tags": (ABOUT_SELF,)}, "core"),
        ({"type": MemoryType.DECISION}, "type"),
        ({"type": MemoryType.OBSERVATION}, "type"),
    ],
)
def test_what_is_protected_stays_and_is_said_to(
    stores: Stores, fields: dict[str, object], why: str
) -> None:
    memory = aged(stores, "Lunch is at noon", 1_000, **fields)
    files = vault_bytes(stores)

    told = run(stores, make_forget_task(), BOTH).counts

    assert vault_bytes(stores) == files
    (kept,) = listed(told["protected"])
    assert (kept["id"], kept["protection_reason"]) == (memory.id, why)
    assert kept["action"] == "delete"


def test_importance_and_youth_protect(stores: Stores) -> None:
    heavy = aged(stores, "Lunch is at noon", 1_000)
    weigh(stores, heavy, 0.7)
    young = aged(stores, "Backups run at night", 89)

    told = run(stores, make_forget_task(), BOTH).counts

    reasons = {each["id"]: each["protection_reason"] for each in listed(told["protected"])}
    assert reasons == {heavy.id: "importance", young.id: "grace_period"}
    assert told["preserved"] == 2


def test_the_self_is_never_forgotten(stores: Stores) -> None:
    ensure_self(stores)
    stores.clock.pass_by(days=3_000)  # type: ignore[attr-defined]  # the fake clock
    files = vault_bytes(stores)

    run(stores, make_forget_task(), BOTH)

    assert vault_bytes(stores) == files


@pytest.mark.parametrize("names", ["goal, Style", " GOAL,preference,"])
def test_protected_types_may_be_named_in_either_vocabulary(stores: Stores, names: str) -> None:
    goal = aged(stores, "Lunch is at noon", 1_000, type=MemoryType.GOAL)
    liking = aged(stores, "Prefers tea", 1_000, type=MemoryType.PREFERENCE)
    decision = aged(stores, "We took SQLite", 1_000, type=MemoryType.DECISION)

    run(stores, make_forget_task(), set_to(delete_threshold=0.05, protected_types=names))

    left = stores.search.memories([goal.id, liking.id, decision.id])
    assert set(left) == {goal.id, liking.id}


def test_a_type_that_nobody_knows_is_refused(stores: Stores) -> None:
    gone = aged(stores, "Lunch is at noon", 1_000)

    report = run(
        stores, make_forget_task(), set_to(delete_threshold=0.05, protected_types="Decision,Rumour")
    )

    assert "'Rumour'" in str(report.error)
    assert stores.search.get(gone.id) is not None


def test_no_setting_drops_half_the_store_in_one_run(stores: Stores) -> None:
    """A store that faded as a whole is asked about, a page at a time."""
    for number in range(30):
        aged(stores, f"Note number {number}", 1_000 + number)
    files = vault_bytes(stores)
    worst = set_to(delete_threshold=1.0, grace_period_days=0.0, protected_importance=1.0)

    report = run(stores, make_forget_task(), worst)

    assert vault_bytes(stores) == files
    assert "30 of 30 memories would change" in str(report_to_json(report)["stopped"])
    assert (report.counts["deleted"], report.counts["preserved"]) == ([], 30)
    (waiting,) = stores.log.proposals(ProposalStatus.PENDING)
    assert (report.proposed, len(waiting.source_nodes)) == (1, 10)
    decide_proposal(stores, waiting.id, ProposalStatus.APPROVED, by="me")
    assert len(list(stores.vault.trashed_memories())) == 10


@pytest.mark.parametrize("count", [5, 9, 19])
def test_a_small_store_is_not_emptied_unasked(stores: Stores, count: int) -> None:
    for number in range(count):
        aged(stores, f"Note number {number}", 1_000 + number)

    report = run(stores, make_forget_task(), DELETE)

    assert list(stores.vault.trashed_memories()) == []
    stopped = str(report_to_json(report)["stopped"])
    assert f"{count} of {count} memories that are not archived" in stopped
    assert (report.proposed, report.counts["deleted_count"]) == (1, 0)
    (waiting,) = stores.log.proposals(ProposalStatus.PENDING)
    assert len(waiting.source_nodes) == min(count, 10)


def test_archived_memories_do_not_make_the_rest_a_small_share(stores: Stores) -> None:
    for number in range(24):
        aged(stores, f"Note number {number}", 1_000 + number)
    for number in range(80):
        aged(stores, f"Old note number {number}", 1_000, tier=Tier.ARCHIVAL)

    report = run(stores, make_forget_task(), DELETE)

    assert list(stores.vault.trashed_memories()) == []
    stopped = str(report_to_json(report)["stopped"])
    assert "24 of 24 memories that are not archived would go to the trash" in stopped


# -- what is told --------------------------------------------------------------------------


def test_what_somebody_took_back_is_not_counted_as_forgotten_again(stores: Stores) -> None:
    for number in range(3):
        aged(stores, f"Note number {number}", 1_000)
    first = run(stores, make_forget_task(), DELETE)
    undo(stores, first.run)

    again = run(stores, make_forget_task(), DELETE)
    shown = run(stores, make_forget_task(), DELETE, dry_run=True)

    assert (first.counts["deleted_count"], first.applied) == (3, 4)
    for report in (again, shown):
        assert (report.counts["deleted_count"], report.counts["deleted"]) == (0, [])
        assert report.counts["preserved"] == report.counts["examined"] == 3


def test_a_run_that_was_stopped_halfway_counts_what_it_did(stores: Stores) -> None:
    most = MANY_AT_ONCE[ToTrash]
    for number in range(most + 10):
        aged(stores, f"Note number {number}", 1_000 + number)
    config = replace(DELETE, breaker_share=1.0)

    report = run_job(
        stores,
        config,
        Told(),
        make_forget_task(),
        stop=lambda: bool(list(stores.vault.trashed_paths())),
    )

    assert report.counts["deleted_count"] == len(list(stores.vault.trashed_memories())) == most
    assert report.counts["preserved"] == 10
    assert (report.stopped, report.counts["left"]) == (STOPPED, 10)


# -- many at once --------------------------------------------------------------------------


@pytest.mark.soak
def test_many_go_and_come_back_in_few_changes(stores: Stores) -> None:
    for number in range(150):
        aged(stores, f"Note number {number}", 1_000 + number)
    before = vault_bytes(stores)
    report = run(stores, make_forget_task(), replace(DELETE, breaker_share=1.0))
    changes = [each for each in stores.log.changes(report.run) if each.kind is EventKind.CHANGED]

    assert len(list(stores.vault.trashed_memories())) == 150
    assert len(changes) == 2
    undo(stores, report.run)

    assert vault_bytes(stores) == before
    assert stores.search.counts().memories == 150


# -- the way back --------------------------------------------------------------------------


def test_undoing_forget_brings_every_byte_back(stores: Stores) -> None:
    for number in range(12):
        aged(stores, f"Note number {number}", 100 + number)
    for number in range(12):
        aged(stores, f"New note number {number}", 1)
    faint = aged(stores, "Lunch is at noon", 100)
    use(stores, faint)
    before = vault_bytes(stores)

    report = run(stores, make_forget_task(), set_to(archive_threshold=0.5, delete_threshold=0.05))
    assert (report.counts["archived_count"], report.counts["deleted_count"]) == (1, 12)
    undo(stores, report.run)

    assert vault_bytes(stores) == before
    assert as_now(stores, faint).tier is Tier.WORKING
    assert relevance(stores, faint) is None


def test_forget_then_restore_is_as_before(stores: Stores) -> None:
    memory = aged(stores, "Lunch is at noon", 1_000, tags=("meals",), title="Lunch")
    use(stores, memory)
    before, known = vault_bytes(stores), as_now(stores, memory)
    stores.clock.pass_by(days=1_000)  # type: ignore[attr-defined]  # the fake clock
    run(stores, make_forget_task(), DELETE)
    assert stores.search.get(memory.id) is None

    restore(stores, memory.short_id)

    assert vault_bytes(stores) == before
    back = as_now(stores, memory)
    assert back.usage.access_count == known.usage.access_count
    assert back.content == known.content
    assert stores.search.search_text(["lunch"], Filter(), stores.clock.now(), 5)[0].id == memory.id


def test_a_dry_run_of_forget_changes_no_byte(tmp_path: Path) -> None:
    home = tmp_path / "home"
    stores = make_stores(home)
    gone = aged(stores, "Lunch is at noon", 1_000)
    stores.journal.flush()
    before = all_bytes(home)

    report = run(stores, make_forget_task(), BOTH, dry_run=True)

    assert all_bytes(home) == before
    assert ids(report.counts["deleted"]) == [gone.id]
    assert "goes to the trash" in str(report.patches[-1]["diff"])
    close(stores)


def test_forgetting_twice_changes_nothing_the_second_time(stores: Stores) -> None:
    aged(stores, "Lunch is at noon", 1_000)
    faint = aged(stores, "Backups run at night", 100)
    use(stores, faint)
    config = set_to(archive_threshold=0.5, delete_threshold=0.05)
    run(stores, make_forget_task(), config)
    files = vault_bytes(stores)

    again = run(stores, make_forget_task(), config)

    assert vault_bytes(stores) == files
    assert (again.applied, again.counts["examined"]) == (0, 0)


# -- the archive ---------------------------------------------------------------------------


def test_every_door_agrees_on_what_is_archival(stores: Stores) -> None:
    faint = aged(stores, "Lunch is at noon", 100)
    keep(stores, "Lunch is not at one")
    run(stores, make_forget_task(), ARCHIVE)
    now, away = stores.clock.now(), Filter(tiers=(Tier.ARCHIVAL,))

    assert as_now(stores, faint).tier is Tier.ARCHIVAL
    assert [each.id for each in stores.search.listing(away, now, 5)] == [faint.id]
    assert [each.id for each in stores.search.search_text(["lunch"], away, now, 5)] == [faint.id]
    assert stores.search.counts().by_tier["archival"] == 1
    assert stores.vault.read(stores.search.get(faint.id).path).memory.tier is Tier.ARCHIVAL  # type: ignore[union-attr]


def test_revising_an_archival_memory_keeps_its_tier(stores: Stores) -> None:
    faint = aged(stores, "Lunch is at noon", 100)
    run(stores, make_forget_task(), ARCHIVE)

    revise(stores, faint.id, read_revision({"content": "Lunch was at noon"}, stores.config.limits))
    assert as_now(stores, faint).tier is Tier.ARCHIVAL
    revise(stores, faint.id, read_revision({"tier": "working"}, stores.config.limits))

    assert as_now(stores, faint).tier is Tier.WORKING


# -- size ----------------------------------------------------------------------------------


def test_an_empty_store_has_nothing_to_forget(stores: Stores) -> None:
    report = run(stores, make_forget_task(), BOTH)

    assert report.error is None
    assert (report.counts["examined"], report.counts["preserved"]) == (0, 0)


@pytest.mark.soak
def test_lists_in_the_report_are_bounded_and_numbers_are_not(tmp_path: Path) -> None:
    stores = make_stores(tmp_path / "home", with_model=False)
    fill(stores, 12_000, days=80)

    told = run(stores, make_forget_task(), BOTH, dry_run=True).counts

    assert told["examined"] == told["protected_count"] == 12_000
    assert len(ids(told["protected"])) == LISTED
    close(stores)
