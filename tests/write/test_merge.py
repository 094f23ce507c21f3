"""Merge: the keeper stays, what pointed to the other points to it, and undo restores all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from madeleine.errors import FileChanged, Rejected
from madeleine.model.digest import memory_version
from madeleine.model.memory import Connection
from madeleine.model.revision import Revision
from madeleine.model.words import Edge
from madeleine.write.merge import SeenVersions, merge
from madeleine.write.resolve import get_stored
from madeleine.write.revise import retire, revise
from madeleine.write.stores import Stores
from madeleine.write.undo import undo
from tests.fakes import close, keep, make_stores, reopened, vault_bytes


def family(stores: Stores) -> tuple[str, str, str, str]:
    """A keeper, its duplicate, a neighbour that points to the duplicate, a target of it."""
    target = keep(stores, "backups run at night").id
    kept = keep(stores, "Chose SQLite for Ormah", title="SQLite", tags=("db",)).id
    links = (Connection(target, Edge.DEPENDS_ON, 0.6, "needs them"),)
    dropped = keep(stores, "Ormah uses an embedded engine", tags=("storage",), connections=links).id
    neighbour = keep(
        stores, "one file is easy to copy", connections=(Connection(dropped, Edge.SUPPORTS, 0.9),)
    ).id
    return kept, dropped, neighbour, target


def test_merging_keeps_one_and_remaps_the_others_connections(stores: Stores) -> None:
    kept, dropped, neighbour, target = family(stores)

    result = merge(stores, kept, dropped, content="Chose SQLite, embedded, for Ormah")

    keeper = get_stored(stores, kept).memory
    assert keeper.content == "Chose SQLite, embedded, for Ormah"
    assert keeper.title == "SQLite"
    assert keeper.tags == ("db", "storage")
    assert [(c.target, c.edge) for c in keeper.connections] == [(target, Edge.DEPENDS_ON)]
    pointing = get_stored(stores, neighbour).memory.connections
    assert [(c.target, c.edge, c.weight) for c in pointing] == [(kept, Edge.SUPPORTS, 0.9)]
    assert result.removed == dropped
    assert result.neighbours == 1
    assert stores.search.get(dropped) is None


@pytest.mark.parametrize("which", [0, 1])
def test_a_merge_of_what_says_something_else_by_now_is_refused(stores: Stores, which: int) -> None:
    pair = kept, dropped = family(stores)[:2]
    seen = SeenVersions(*(memory_version(get_stored(stores, each).memory) for each in pair))
    revise(stores, pair[which], Revision({"content": "written meanwhile"}))
    before = vault_bytes(stores)

    with pytest.raises(FileChanged):
        merge(stores, kept, dropped, content="as I saw both", seen=seen)

    assert vault_bytes(stores) == before


def test_a_merge_of_what_was_seen_is_made(stores: Stores) -> None:
    kept, dropped = family(stores)[:2]
    seen = SeenVersions(
        memory_version(get_stored(stores, kept).memory),
        memory_version(get_stored(stores, dropped).memory),
    )

    merge(stores, kept, dropped, content="as I saw both", seen=seen)

    assert get_stored(stores, kept).memory.content == "as I saw both"


def test_undoing_a_merge_restores_every_file_byte_for_byte(stores: Stores) -> None:
    kept, dropped, _, _ = family(stores)
    before = vault_bytes(stores)

    change = merge(stores, kept, dropped, title="One", content="Both").change
    assert vault_bytes(stores) != before
    undo(stores, change)

    assert vault_bytes(stores) == before
    assert get_stored(stores, dropped).memory.tags == ("storage",)


def test_a_merge_can_be_undone_after_the_index_is_lost(tmp_path: Path) -> None:
    home = tmp_path / "home"
    stores = make_stores(home)
    kept, dropped, _, _ = family(stores)
    before = vault_bytes(stores)
    change = merge(stores, kept, dropped).change

    stores = reopened(stores, home, without_index=True)
    undo(stores, change[:8])

    assert vault_bytes(stores) == before
    close(stores)


def test_what_was_superseded_by_the_other_follows_to_the_keeper(stores: Stores) -> None:
    kept, dropped, _, _ = family(stores)
    old = keep(stores, "a belief long gone").id
    retire(stores, old, superseded_by=dropped)

    merge(stores, kept, dropped)

    assert get_stored(stores, old).memory.superseded_by == kept


def test_connections_between_the_two_do_not_become_loops(stores: Stores) -> None:
    one = keep(stores, "red apples grow here").id
    two = keep(stores, "far is the moon", connections=(Connection(one, Edge.SUPPORTS),)).id

    merge(stores, one, two)

    assert get_stored(stores, one).memory.connections == ()


def test_a_memory_cannot_be_merged_with_itself(stores: Stores) -> None:
    one = keep(stores, "red apples grow here").id

    with pytest.raises(Rejected):
        merge(stores, one, one)


def test_a_file_changed_by_hand_since_stops_a_merge_undo(stores: Stores) -> None:
    kept, dropped, neighbour, _ = family(stores)
    change = merge(stores, kept, dropped).change
    stored = get_stored(stores, neighbour)
    path = stores.vault.root / stored.path
    path.write_bytes(path.read_bytes() + b"more\n")
    before = vault_bytes(stores)

    with pytest.raises(Exception, match="changed since"):
        undo(stores, change)

    assert vault_bytes(stores) == before
    assert replace(stored, path=stored.path) == stored
