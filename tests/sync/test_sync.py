"""What machines make of each other's changes, one promise at a time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from madeleine.model.draft import Draft
from madeleine.model.proposal import Proposal, ProposalStatus
from madeleine.model.words import Tier
from madeleine.sync.places.folder import FolderPlace
from madeleine.sync.places.port import PlaceDown
from madeleine.sync.run import SyncReport, synchronise
from madeleine.sync.segments import is_whole, read_segment
from madeleine.write.change_file import change_memory
from madeleine.write.forget import forget, restore
from madeleine.write.proposals import decide_proposal, preview_proposal
from madeleine.write.purge import purge
from madeleine.write.reconcile import reconcile
from madeleine.write.remember import remember
from madeleine.write.undo import undo
from tests.sync.simulation import Machine, World, lose_ledger


def tell(machine: Machine, text: str, **fields: object) -> str:
    draft = replace(Draft(text), **fields)  # type: ignore[arg-type]  # tests name real fields
    return remember(machine.stores, draft).memory.id


def rewrite(machine: Machine, memory: str, **values: object) -> None:
    change_memory(
        machine.stores,
        memory,
        lambda each: replace(each, updated=machine.clock.now(), **values),  # type: ignore[arg-type]
        verb="revise",
        by="somebody",
    )


def content(machine: Machine, memory: str) -> str:
    stored = machine.stores.search.get(memory)
    assert stored is not None
    return stored.memory.content


def questions(machine: Machine) -> list[Proposal]:
    return machine.stores.log.proposals(ProposalStatus.PENDING)


def meet(world: World, *machines: Machine) -> list[SyncReport]:
    return [world.meet(each) for each in machines]


def test_what_one_machine_remembers_the_other_knows(world: World) -> None:
    one, other = world.machines
    memory = tell(one, "The kettle is in the cellar", tags=("kitchen",), tier=Tier.CORE)

    meet(world, one, other)

    assert content(other, memory) == "The kettle is in the cellar"
    paths = [each.stores.search.path_of(memory) for each in world.machines]
    files = [m.stores.vault.read_bytes(str(p)) for m, p in zip(world.machines, paths, strict=True)]
    assert files[0] == files[1]
    assert paths[0] == paths[1]


def test_a_second_sync_has_nothing_to_do(world: World) -> None:
    one, other = world.machines
    tell(one, "The kettle is in the cellar")
    meet(world, one, other, one, other)

    again = meet(world, one, other)

    assert [(each.sent, each.received, each.written, each.merged) for each in again] == [
        (0,) * 4
    ] * 2


def test_changes_of_different_fields_and_lines_are_both_kept(world: World) -> None:
    one, other = world.machines
    memory = tell(one, "first\nsecond\nthird", tags=("old",))
    meet(world, one, other)

    rewrite(one, memory, content="FIRST\nsecond\nthird", tags=("old", "mine"))
    rewrite(other, memory, content="first\nsecond\nthird\nfourth", title="Numbers")
    meet(world, one, other, one)

    for machine in world.machines:
        stored = machine.stores.search.get(memory)
        assert stored is not None
        assert stored.memory.content == "FIRST\nsecond\nthird\nfourth"
        assert (stored.memory.title, stored.memory.tags) == ("Numbers", ("old", "mine"))
        assert not questions(machine)


@pytest.mark.parametrize("status", [ProposalStatus.APPROVED, ProposalStatus.REJECTED])
def test_two_changes_of_one_line_are_asked_about_once(world: World, status: ProposalStatus) -> None:
    one, other = world.machines
    memory = tell(one, "We meet on Monday")
    meet(world, one, other)
    one.clock.at = other.clock.at = max(one.clock.at, other.clock.at)
    rewrite(one, memory, content="We meet on Tuesday")
    other.clock.pass_by(hours=1)
    rewrite(other, memory, content="We meet on Wednesday")

    meet(world, one, other, one)

    assert [content(each, memory) for each in world.machines] == ["We meet on Wednesday"] * 2
    asked = [[each.id for each in questions(machine)] for machine in world.machines]
    assert len(asked[0]) == 1
    assert asked[0] == asked[1]
    assert "+We meet on Tuesday" in preview_proposal(one.stores, asked[0][0]).difference

    decide_proposal(one.stores, asked[0][0], status, by="somebody")
    meet(world, one, other)

    day = "Tuesday" if status is ProposalStatus.APPROVED else "Wednesday"
    assert [content(each, memory) for each in world.machines] == [f"We meet on {day}"] * 2
    assert not questions(other)


def test_a_machine_whose_clock_is_wrong_does_not_undo_what_it_did_not_see(world: World) -> None:
    one, other = world.machines
    memory = tell(one, "version 1")
    meet(world, one, other)
    one.clock.pass_by(days=365)
    rewrite(one, memory, content="version 2")
    meet(world, one, other)

    rewrite(other, memory, content="version 3")  # a year "earlier"
    meet(world, other, one)

    assert [content(each, memory) for each in world.machines] == ["version 3"] * 2


def test_what_is_forgotten_goes_to_the_trash_everywhere_and_comes_back(world: World) -> None:
    one, other = world.machines
    memory = tell(one, "The kettle is in the cellar")
    meet(world, one, other)

    forget(one.stores, memory)
    meet(world, one, other)

    assert other.stores.search.get(memory) is None
    restore(other.stores, memory)
    meet(world, other, one)
    assert content(one, memory) == "The kettle is in the cellar"


def test_a_file_that_was_removed_by_hand_can_be_restored(world: World) -> None:
    one, other = world.machines
    memory = tell(one, "The kettle is in the cellar")
    meet(world, one, other)

    (one.stores.vault.root / str(one.stores.search.path_of(memory))).unlink()
    reconcile(one.stores)
    meet(world, one, other)

    assert other.stores.search.get(memory) is None
    for machine in world.machines:
        assert [each.memory.id for each in machine.stores.vault.trashed_memories()] == [memory]


def test_a_change_wins_over_forgetting_and_it_is_asked(world: World) -> None:
    one, other = world.machines
    memory = tell(one, "The kettle is in the cellar")
    meet(world, one, other)
    forget(one.stores, memory)
    rewrite(other, memory, content="The kettle is in the attic")

    meet(world, one, other, one)

    assert [content(each, memory) for each in world.machines] == ["The kettle is in the attic"] * 2
    (asked,) = questions(one)
    assert dict(asked.action)["verb"] == "forget"
    decide_proposal(one.stores, asked.id, ProposalStatus.APPROVED)
    meet(world, one, other)
    assert other.stores.search.get(memory) is None


def test_a_purge_leaves_nothing_anywhere(world: World) -> None:
    one, other = world.machines
    memory = tell(one, "The unicorn sleeps", title="Unicorn")
    rewrite(one, memory, content="The unicorn sleeps outside")
    meet(world, one, other)

    forget(other.stores, memory)
    purge(other.stores, [memory])
    meet(world, other, one, other)

    world.close()
    for path in world.place.parent.rglob("*"):
        assert not path.is_file() or b"nicorn" not in path.read_bytes(), path


def test_private_memories_and_secrets_do_not_leave(world: World) -> None:
    one, other = world.machines
    shared = tell(one, "The kettle is in the cellar")
    tell(one, "I have a crush on Zora", tags=("private",))
    tell(one, "The key of the API is sk-proj-aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7d")

    report = meet(world, one, other)[0]

    assert len(report.held) == 2
    assert list(other.stores.search.memories([*report.held, shared])) == [shared]
    told = b"".join(each.read_bytes() for each in world.place.rglob("*.log"))
    assert b"kettle" in told
    assert b"Zora" not in told
    assert b"aB3dE5fG7hJ9" not in told
    assert not any(each.encode() in told for each in report.held)


def test_a_memory_of_a_private_space_stays_until_the_space_is_private_no_more(world: World) -> None:
    one, other = world.machines
    memory = tell(one, "The kettle is in the cellar", space="diary")
    place = FolderPlace(world.place)

    held = synchronise(one.stores, one.ledger, place, frozenset({"diary"}))
    meet(world, other)
    assert (list(held.held), other.stores.search.get(memory)) == ([memory], None)

    meet(world, one, other)
    assert content(other, memory) == "The kettle is in the cellar"


def test_undo_of_a_sync_travels_like_any_change(world: World) -> None:
    one, other = world.machines
    memory = tell(one, "version 1")
    meet(world, one, other)
    rewrite(one, memory, content="version 2")
    meet(world, one, other)

    (came,) = [e for e in other.stores.log.history(memory) if e.body.get("verb") == "sync"][:1]
    undo(other.stores, str(came.body["change"]))
    meet(world, other, one)

    assert content(one, memory) == "version 1"


def test_a_file_that_came_only_in_part_is_left_for_later(world: World) -> None:
    one, other = world.machines
    memory = tell(one, "The kettle is in the cellar")
    meet(world, one)
    (segment,) = world.place.rglob("*.log")
    whole = segment.read_bytes()

    segment.write_bytes(whole[:-20])
    (report,) = meet(world, other)
    assert len(report.unfinished) == 1
    assert other.stores.search.get(memory) is None

    segment.write_bytes(whole)
    meet(world, other)
    assert content(other, memory) == "The kettle is in the cellar"


def test_a_line_that_was_tampered_with_is_passed_over(world: World) -> None:
    one, _ = world.machines
    tell(one, "The kettle is in the cellar")
    meet(world, one)
    (segment,) = world.place.rglob("*.log")
    data = segment.read_bytes()
    name = f"{segment.parent.name}/{segment.name}"

    changed = data.replace(b"cellar", b"attick")

    assert is_whole(name, data)
    assert not is_whole(name, changed)
    assert read_segment(changed).bad > 0


def test_a_place_that_is_away_changes_nothing(world: World) -> None:
    one, _ = world.machines
    tell(one, "The kettle is in the cellar")

    with pytest.raises(PlaceDown, match="No such file"):
        synchronise(one.stores, one.ledger, FolderPlace(world.place / "gone"))

    assert meet(world, one)[0].sent == 1


def test_a_ledger_that_was_lost_is_made_again(world: World) -> None:
    one, other = world.machines
    memory = tell(one, "version 1")
    meet(world, one, other)
    rewrite(one, memory, content="version 2")
    meet(world, one)

    lose_ledger(world, other)
    reports = meet(world, other, one, other)

    assert content(other, memory) == "version 2"
    assert not any(each.asked for each in reports)


def test_two_copies_of_one_home_begin_without_a_question(world: World) -> None:
    one, other = world.machines
    memory = tell(one, "The kettle is in the cellar")
    path = str(one.stores.search.path_of(memory))
    copy = other.stores.vault.root / path
    copy.write_bytes(one.stores.vault.read_bytes(path))
    reconcile(other.stores)

    reports = meet(world, one, other, one)

    assert [(each.merged, each.asked) for each in reports] == [(0, 0)] * 3


def test_keys_of_other_programs_and_comments_survive_a_merge(world: World) -> None:
    one, other = world.machines
    memory = tell(one, "first\nsecond\nthird")
    meet(world, one, other)
    path = one.stores.vault.root / str(one.stores.search.path_of(memory))
    path.write_bytes(path.read_bytes().replace(b"type:", b"# a remark\naliases: [jug]\ntype:", 1))
    reconcile(one.stores)
    rewrite(other, memory, content="first\nsecond\nthird\nfourth")

    meet(world, one, other, one)

    for machine in world.machines:
        data = machine.stores.vault.read_bytes(str(machine.stores.search.path_of(memory)))
        assert b"aliases: [jug]" in data
        assert b"# a remark" in data
        assert b"fourth" in data


def test_a_renamed_file_is_renamed_everywhere(world: World) -> None:
    one, other = world.machines
    memory = tell(one, "The kettle is in the cellar")
    meet(world, one, other)
    path = one.stores.vault.root / str(one.stores.search.path_of(memory))

    path.rename(path.with_name("kettle.md"))
    reconcile(one.stores)
    meet(world, one, other)

    assert other.stores.search.path_of(memory) == "kettle.md"


def test_many_small_files_are_joined(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = world.machines
    monkeypatch.setattr("madeleine.sync.run.SEGMENTS_JOINED_AT", 5)
    memories = []
    for number in range(8):
        memories.append(tell(one, f"note number {number}"))
        meet(world, one)

    assert len(list(world.place.rglob("*.log"))) < 6
    meet(world, other)
    assert len(other.stores.search.memories(memories)) == 8
