"""A kill between any two steps of a change leaves it whole or not at all (I4)."""

from __future__ import annotations

from pathlib import Path

import pytest

from madeleine.errors import StoreUnwritable
from madeleine.model.change import FileEdit
from madeleine.model.draft import Draft, MemoryLimits
from madeleine.model.memory import Claim, Connection
from madeleine.model.revision import read_revision
from madeleine.model.words import Edge
from madeleine.vault.vault import FolderVault
from madeleine.write.merge import merge
from madeleine.write.reconcile import reconcile
from madeleine.write.record import replay_journal
from madeleine.write.recover import recover_changes
from madeleine.write.remember import remember
from madeleine.write.resolve import get_stored
from madeleine.write.revise import revise
from madeleine.write.stores import Stores
from tests.fakes import close, keep, make_stores, reopened, vault_bytes


class Killed(BaseException):
    """Stands for SIGKILL: nothing in the code may catch it."""


def restarted(stores: Stores, home: Path) -> Stores:
    fresh = reopened(stores, home)
    recover_changes(fresh)
    reconcile(fresh)
    return fresh


def setting(stores: Stores) -> tuple[str, str, list[str]]:
    kept = keep(stores, "Chose SQLite for the atlas").id
    dropped = keep(stores, "Embedded engines need no server").id
    others = [
        keep(stores, text, connections=(Connection(dropped, Edge.SUPPORTS),)).id
        for text in ("one file is easy to copy", "backups are a plain copy", "no port is open")
    ]
    return kept, dropped, others


@pytest.mark.proves("I4")
@pytest.mark.parametrize("step", range(6))
def test_a_merge_killed_at_any_file_is_whole_or_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    home = tmp_path / "home"
    stores = make_stores(home)
    kept, dropped, _ = setting(stores)
    before = vault_bytes(stores)
    original = FolderVault.apply
    calls = iter(range(100))

    def dying(self: FolderVault, edit: object) -> object:
        if next(calls) == step:
            raise Killed
        return original(self, edit)  # type: ignore[arg-type]

    monkeypatch.setattr(FolderVault, "apply", dying)
    killed = True
    try:
        merge(stores, kept, dropped, content="Both")
        killed = False
    except Killed:
        pass
    monkeypatch.setattr(FolderVault, "apply", original)
    after = vault_bytes(stores)

    stores = restarted(stores, home)

    assert vault_bytes(stores) == (before if killed else after)
    assert (stores.search.get(dropped) is not None) == killed
    assert stores.log.unsettled_changes() == []
    close(stores)


@pytest.mark.proves("I4")
@pytest.mark.parametrize("step", range(3))
def test_a_claim_killed_at_any_file_replaces_all_or_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    home = tmp_path / "home"
    stores = make_stores(home)
    for text in ("Ana lives in Ghent", "home is Ghent, says Ana"):
        keep(stores, text, claim=Claim("Ana", "city", "Ghent"))
    before = vault_bytes(stores)
    original = FolderVault.apply
    calls = iter(range(100))

    def dying(self: FolderVault, edit: FileEdit) -> object:
        if next(calls) == step:
            raise Killed
        return original(self, edit)

    monkeypatch.setattr(FolderVault, "apply", dying)
    with pytest.raises(Killed):
        remember(stores, Draft("off to Cork", claim=Claim("Ana", "city", "Cork")))
    monkeypatch.undo()
    fresh = restarted(stores, home)

    assert vault_bytes(fresh) == before
    assert fresh.index.search.contested_addresses(fresh.clock.now(), 9) == []
    close(fresh)


def test_a_change_whose_mark_was_lost_is_not_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All files were written and acknowledged; only the last journal line did not make it."""
    home = tmp_path / "home"
    stores = make_stores(home)
    memory = keep(stores, "Uses Postgres")
    monkeypatch.setattr("madeleine.write.commit.settle_changes", _killed)
    with pytest.raises(Killed):
        revise(stores, memory.id, read_revision({"content": "Uses SQLite"}, MemoryLimits()))
    monkeypatch.undo()

    stores = restarted(stores, home)

    assert get_stored(stores, memory.id).memory.content == "Uses SQLite"
    assert stores.log.unsettled_changes() == []
    close(stores)


def test_another_devices_unfinished_change_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its files may still be on their way here; only the device itself knows what it did."""
    home = tmp_path / "home"
    desk = make_stores(home, device="desk")
    kept, dropped, _ = setting(desk)
    original = FolderVault.apply
    calls = iter(range(100))

    def dying(self: FolderVault, edit: object) -> object:
        if next(calls) == 2:
            raise Killed
        return original(self, edit)  # type: ignore[arg-type]

    monkeypatch.setattr(FolderVault, "apply", dying)
    with pytest.raises(Killed):
        merge(desk, kept, dropped, content="Both")
    monkeypatch.undo()
    halfway = vault_bytes(desk)
    close(desk)
    laptop = make_stores(home, device="laptop")
    replay_journal(laptop.journal, laptop.index)

    assert recover_changes(laptop) == []
    assert vault_bytes(laptop) == halfway
    close(laptop)


def _killed(*_: object, **__: object) -> None:
    raise Killed


def test_a_kill_between_file_and_index_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    stores = make_stores(home)
    monkeypatch.setattr("madeleine.write.commit.record_events", _killed)
    with pytest.raises(Killed):
        remember(stores, Draft("written but not indexed"))
    monkeypatch.undo()

    stores = restarted(stores, home)

    assert stores.search.counts().memories == 1
    close(stores)


def test_a_disk_that_fills_up_midway_leaves_everything_as_it_was(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, dropped, _ = setting(stores)
    before = vault_bytes(stores)
    original = FolderVault.apply
    calls = iter(range(100))

    def full(self: FolderVault, edit: object) -> object:
        if next(calls) == 2:
            raise StoreUnwritable(self.root, "No space left on device")
        return original(self, edit)  # type: ignore[arg-type]

    monkeypatch.setattr(FolderVault, "apply", full)
    with pytest.raises(StoreUnwritable):
        merge(stores, kept, dropped, content="Both")
    monkeypatch.undo()

    assert vault_bytes(stores) == before
    assert get_stored(stores, kept).memory.content == "Chose SQLite for the atlas"
    assert stores.log.unsettled_changes() == []
    reconcile(stores)
    assert get_stored(stores, kept).memory.content == "Chose SQLite for the atlas"
