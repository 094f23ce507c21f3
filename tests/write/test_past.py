"""What a memory said before, as the journal tells it."""

from __future__ import annotations

import pytest

from madeleine.errors import FileChanged, NoSuchChange
from madeleine.model.digest import memory_version
from madeleine.model.draft import MemoryLimits
from madeleine.model.memory import Connection
from madeleine.model.revision import read_revision
from madeleine.write.connections import link
from madeleine.write.forget import forget
from madeleine.write.reconcile import reconcile
from madeleine.write.resolve import get_memory, get_stored
from madeleine.write.revise import revise
from madeleine.write.stores import Stores
from madeleine.write.transitions import read_memory_as_of, read_transition
from tests.fakes import FakeClock, keep


def say(stores: Stores, memory_id: str, content: str, **more: object) -> str:
    revision = read_revision({"content": content, **more}, MemoryLimits())
    return str(revise(stores, memory_id, revision).change)


def passes(stores: Stores) -> None:
    assert isinstance(stores.clock, FakeClock)
    stores.clock.pass_by(hours=1)


def test_every_change_is_told_with_what_was_before_and_after(stores: Stores) -> None:
    memory = keep(stores, "one")
    first = say(stores, memory.id, "two")
    second = say(stores, memory.id, "three")

    for change, before, after in ((first, "one", "two"), (second, "two", "three")):
        seen = read_transition(stores, memory.id, change)
        assert (seen.before and seen.before.content, seen.after and seen.after.content) == (
            before,
            after,
        )
        assert not seen.moved


def test_what_a_hand_wrote_over_is_not_made_up(stores: Stores) -> None:
    memory = keep(stores, "one")
    first = say(stores, memory.id, "two")
    path = stores.vault.root / get_stored(stores, memory.id).path
    path.write_text(path.read_text(encoding="utf-8").replace("two", "by hand"), encoding="utf-8")
    reconcile(stores)
    say(stores, memory.id, "three")

    assert read_transition(stores, memory.id, first).after is None


def test_going_to_the_trash_changes_nothing_that_it_says(stores: Stores) -> None:
    memory = keep(stores, "one")
    gone = forget(stores, memory.id).change

    seen = read_transition(stores, memory.id, gone)

    assert seen.moved
    assert seen.after is not None
    assert seen.after.content == "one"


def test_a_change_of_another_memory_is_none_of_this_one(stores: Stores) -> None:
    one, other = keep(stores, "one"), keep(stores, "wholly other words")
    change = say(stores, other.id, "still other words")

    with pytest.raises(NoSuchChange):
        read_transition(stores, one.id, change)


def test_a_memory_is_shown_as_it_was_at_a_moment(stores: Stores) -> None:
    before = stores.clock.now()
    passes(stores)
    memory = keep(stores, "one")
    born = stores.clock.now()
    passes(stores)
    say(stores, memory.id, "two")
    between = stores.clock.now()
    passes(stores)
    say(stores, memory.id, "three")

    moments = (before, born, between, stores.clock.now())
    said = [read_memory_as_of(stores, memory.id, each) for each in moments]

    assert [each and each.content for each in said] == [None, "one", "two", "three"]


def test_an_edit_for_another_version_is_refused_and_changes_nothing(stores: Stores) -> None:
    memory = keep(stores, "one")
    seen = memory_version(memory)
    say(stores, memory.id, "by somebody else", if_version=seen)

    with pytest.raises(FileChanged):
        say(stores, memory.id, "by me", if_version=seen)

    assert get_memory(stores, memory.id).content == "by somebody else"


def test_an_edit_by_hand_makes_another_version_even_with_its_old_date(stores: Stores) -> None:
    memory = keep(stores, "one")
    path = stores.vault.root / get_stored(stores, memory.id).path
    path.write_text(path.read_text(encoding="utf-8").replace("one", "by hand"), encoding="utf-8")

    with pytest.raises(FileChanged):
        say(stores, memory.id, "by me", if_version=memory_version(memory))

    assert "by hand" in path.read_text(encoding="utf-8")


def test_a_connection_drawn_meanwhile_does_not_stand_in_the_way(stores: Stores) -> None:
    memory, other = keep(stores, "one"), keep(stores, "wholly other words")
    link(stores, memory.id, Connection(other.id))

    say(stores, memory.id, "two", if_version=memory_version(memory))

    kept = get_memory(stores, memory.id)
    assert (kept.content, len(kept.connections)) == ("two", 1)
