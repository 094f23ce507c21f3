"""Rebuild and compact: the old index answers until the new one is whole; runs are reported."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from madeleine.errors import StoreUnwritable
from madeleine.model.event import Event, EventKind
from madeleine.model.query import Filter, RecallQuery
from madeleine.recall.recall import recall
from madeleine.vault.vault import FolderVault, ScannedFile
from madeleine.write import upkeep
from madeleine.write.record import new_event, record_events
from madeleine.write.resolve import get_stored
from madeleine.write.show import read_history
from madeleine.write.stores import Stores
from madeleine.write.upkeep import compact, rebuild
from tests.fakes import FakeClock, close, keep, make_stores, reopened


def runs(stores: Stores) -> list[Event]:
    return stores.log.recent_events([EventKind.RUN.value], 10)


def test_a_rebuild_changes_no_answer(stores: Stores) -> None:
    ids = [keep(stores, f"thought number {n} about the cat").id for n in range(30)]
    record_events(
        stores, [new_event(stores, EventKind.USED, {"memory": ids[3], "how": "x"})], durable=True
    )
    before = {each: (get_stored(stores, each), read_history(stores, each)) for each in ids}
    hits = recall(stores, RecallQuery("cat number 7"), touch=False)

    rebuild(stores)

    assert {each: (get_stored(stores, each), read_history(stores, each)) for each in ids} == before
    assert recall(stores, RecallQuery("cat number 7"), touch=False) == hits


@pytest.mark.proves("I8")
def test_every_run_leaves_a_report_also_one_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    stores = make_stores(home)
    keep(stores, "the cat sleeps")
    rebuild(stores)
    monkeypatch.setattr(FolderVault, "scan", _full)
    with pytest.raises(StoreUnwritable):
        rebuild(stores)
    monkeypatch.undo()

    stores = reopened(stores, home, without_index=True)

    failed, worked = [each.body["report"] for each in runs(stores)]
    assert isinstance(failed, dict)
    assert "No space left" in failed["error"]
    assert isinstance(worked, dict)
    assert (worked["files"], worked["written"]) == (1, 1)
    close(stores)


def _full(self: FolderVault) -> object:
    raise StoreUnwritable(self.root, "No space left on device")


def test_a_rebuild_killed_midway_leaves_the_old_index_answering(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    stores = make_stores(home)
    memory = keep(stores, "the cat sleeps")
    monkeypatch.setattr(upkeep, "reconcile", _killed)
    with pytest.raises(KeyboardInterrupt):
        rebuild(stores)
    monkeypatch.undo()

    assert get_stored(stores, memory.id).memory == memory
    stores = reopened(stores, home)
    assert get_stored(stores, memory.id).memory == memory
    rebuild(stores)
    assert get_stored(stores, memory.id).memory == memory
    close(stores)


def _killed(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.few(1)
def test_what_is_written_during_a_rebuild_is_in_the_new_index(stores: Stores) -> None:
    for number in range(40):
        keep(stores, f"thought number {number}")
    made: list[str] = []
    over = threading.Event()

    def write() -> None:
        while not over.is_set():
            made.append(keep(stores, f"meanwhile {len(made)}").id)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(3):
            rebuild(stores)
    finally:
        over.set()
        writer.join()

    assert made
    found = {each.id for each in stores.search.listing(Filter(), stores.clock.now(), 1000)}
    assert found >= set(made)


@pytest.mark.parametrize("writes", [False, True])
def test_files_are_looked_at_again_before_the_lock_only_if_something_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writes: bool
) -> None:
    stores = make_stores(tmp_path)
    keep(stores, "the old mill stands by the river")
    scans: list[bool] = []
    scan, threshold = FolderVault.scan, gc.get_threshold()

    def look(vault: FolderVault) -> Iterator[ScannedFile]:
        scans.append(gc.get_threshold() != threshold)
        yield from scan(vault)
        if writes and len(scans) == 1:
            keep(stores, "the new mill stands on the hill")

    monkeypatch.setattr(FolderVault, "scan", look)
    rebuild(stores)

    assert scans == ([True, False, False] if writes else [True, False])
    assert gc.get_threshold() == threshold
    assert stores.search.counts().memories == 1 + writes
    close(stores)


def test_a_rebuild_goes_on_while_somebody_writes(stores: Stores) -> None:
    """And keeps nobody waiting: until the exchange they have nothing to do with each other."""
    keep(stores, "the cat sleeps")
    read = threading.Event()
    rebuilding = threading.Thread(target=rebuild, args=(stores, lambda done, total: read.set()))

    with stores.writing:
        rebuilding.start()
        assert read.wait(30)
    rebuilding.join(30)

    assert not rebuilding.is_alive()
    assert stores.search.counts().memories == 1


def test_compacting_past_months_changes_no_answer(tmp_path: Path) -> None:
    home = tmp_path / "home"
    clock = FakeClock()
    stores = make_stores(home, clock)
    memory = keep(stores, "the cat sleeps")
    uses = [new_event(stores, EventKind.USED, {"memory": memory.id, "how": "x"}) for _ in range(5)]
    scores = [
        new_event(stores, EventKind.SCORED, {"scores": {memory.id: {"importance": n / 10}}})
        for n in range(5)
    ]
    record_events(stores, [*uses, *scores], durable=True)
    before = get_stored(stores, memory.id), read_history(stores, memory.id)
    clock.pass_by(days=40)

    report = compact(stores)

    assert report.dropped
    assert (get_stored(stores, memory.id), read_history(stores, memory.id)) == before
    stores = reopened(stores, home, without_index=True)
    assert (get_stored(stores, memory.id), read_history(stores, memory.id)) == before
    assert before[0].memory.importance == 0.4
    close(stores)


def test_two_devices_beside_one_vault_count_every_use_once(tmp_path: Path) -> None:
    """Both write to journals of their own in one synced folder."""
    home = tmp_path / "shared"
    laptop = make_stores(home, device="laptop")
    memory = keep(laptop, "the cat sleeps")
    used = new_event(laptop, EventKind.USED, {"memory": memory.id, "how": "x", "session": "a"})
    record_events(laptop, [used], durable=True)
    close(laptop)
    desk = reopened(make_stores(home, device="desk"), home)
    used = new_event(desk, EventKind.USED, {"memory": memory.id, "how": "x", "session": "b"})
    record_events(desk, [used], durable=True)

    copy = home / "journal" / "laptop-2026-11.sync-conflict-20261115.jsonl"
    copy.write_bytes((home / "journal" / "laptop-2026-11.jsonl").read_bytes())
    desk = reopened(desk, home, without_index=True)

    assert get_stored(desk, memory.id).memory.access_count == 2
    close(desk)


def test_a_torn_journal_line_costs_only_itself_and_stays_reported(tmp_path: Path) -> None:
    home = tmp_path / "home"
    stores = make_stores(home)
    memory = keep(stores, "the cat sleeps")
    file = next((home / "journal").glob("*.jsonl"))
    with file.open("ab") as lines:
        lines.write(b'{"v":1,"id":"half\n')
    record_events(
        stores, [new_event(stores, EventKind.USED, {"memory": memory.id, "how": "x"})], durable=True
    )

    for _ in range(2):
        stores = reopened(stores, home, without_index=True)
        assert [(each.path, each.line) for each in stores.log.torn_lines()] == [(file.name, 2)]
        assert get_stored(stores, memory.id).memory.access_count == 1
    stores = reopened(stores, home)
    assert len(stores.log.torn_lines()) == 1
    close(stores)
