"""Moving in and out, and backups, with a daemon that goes on working."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from madeleine.api.remote import find_daemon, stop_daemon
from madeleine.bootstrap import open_home
from madeleine.errors import MadeleineError, StoreUnwritable
from madeleine.ingest.backups.archive import open_backup, verify_backup
from madeleine.server.loops import BackupScheduler
from tests.cli.running import Cli
from tests.server.running import Daemon, eventually, running


@pytest.fixture
def cli(daemon: Daemon) -> Cli:
    return Cli(daemon.home)


def test_a_backup_can_be_asked_for_over_http(daemon: Daemon) -> None:
    daemon.remember("tea")

    made = daemon.ok("POST", "/admin/backup", {})

    assert verify_backup(Path(made["path"])).memories == made["memories"]
    listed = daemon.ok("GET", "/admin/backup")["backups"]
    assert made["path"] in [each["path"] for each in listed]


def test_a_backup_to_a_place_that_is_no_whole_path_is_refused(daemon: Daemon) -> None:
    assert daemon.ask("POST", "/admin/backup", {"to": "here.zip"}).status == 422


def test_a_backup_into_the_vault_is_refused(daemon: Daemon) -> None:
    place = daemon.home / "vault" / "x.zip"

    assert daemon.ask("POST", "/admin/backup", {"to": str(place)}).status == 422
    assert not place.exists()


def test_every_memory_acknowledged_before_a_backup_is_in_it(daemon: Daemon) -> None:
    """Writers go on while it is made, and none of them is held up for long or refused."""
    known: list[str] = []
    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            known.append(daemon.remember(f"memory {number}"))
            number += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        eventually(lambda: len(known) > 10)
        for _ in range(3):
            before = list(known)
            made = daemon.ok("POST", "/admin/backup", {})
            with open_backup(Path(made["path"])) as (archive, manifest):
                names = [name for name in manifest.files if name.startswith("vault/")]
                ids = {archive.read(name).decode().split("id: ")[1][:36] for name in names}
            assert set(before) <= ids
    finally:
        stop.set()
        writer.join()


@pytest.mark.soak
def test_restoring_ends_the_daemon_and_starts_it_again(home: Path) -> None:
    with running(home) as daemon:
        kept = daemon.remember("tea")
        made = daemon.ok("POST", "/admin/backup", {})
        daemon.remember("milk")
        cli = Cli(home)

        restored = cli.process("--json", "restore-backup", made["path"])

        try:
            assert restored.answer["notes"] == ["the daemon was ended for this and runs again"]
            again = find_daemon(home)
            assert again is not None
            memories: Any = again.call("list")["memories"]
            status: Any = again.call("status")["daemon"]
            assert [each["id"] for each in memories] == [kept]
            assert status["port"] == daemon.launched.port
        finally:
            stop_daemon(home)


def test_an_import_goes_through_the_daemon(daemon: Daemon, cli: Cli, tmp_path: Path) -> None:
    notes = tmp_path / "Notes"
    notes.mkdir()
    (notes / "Sencha.md").write_text("Steamed leaves [[Bancha]]", encoding="utf-8")
    (notes / "Bancha.md").write_text("Later harvest", encoding="utf-8")

    written = cli.ok("import", "obsidian", str(notes))
    exported = cli.ok("export", "--to", str(tmp_path / "m.jsonl"))

    assert written["counts"]["written"] == 2
    assert daemon.recall("steamed leaves")[0]["title"] == "Sencha"
    assert exported["memories"] == daemon.ok("GET", "/agent/list", outdated="true")["total"]


def test_nonsense_in_an_import_is_refused_item_by_item(daemon: Daemon) -> None:
    items = [
        {"content": "nonsense is refused"},
        {"content": ""},
        "text",
        {"content": "milk", "mood": "good"},
        {"content": "milk", "usage": {"access_count": -1}},
        {"content": "milk", "connections": [{"target": "short"}]},
    ]

    answer = daemon.ok("POST", "/admin/import", {"items": items, "format": "test"})

    assert [("error" in each) for each in answer["results"]] == [False, *[True] * 5]
    assert answer["counts"]["refused"] == 5
    assert daemon.ask("POST", "/admin/import", {"items": "all"}).status == 422
    assert daemon.ask("POST", "/admin/import", {"items": [], "run": "x"}).status == 422


def test_an_export_pages_through_everything(daemon: Daemon) -> None:
    wanted = {daemon.remember(f"page {number}") for number in range(7)}

    found: list[str] = []
    after = ""
    while after is not None:
        page = daemon.ok("GET", "/admin/export", after=after, limit=3)
        found += [each["id"] for each in page["items"]]
        after = page["next"]

    assert found == sorted(set(found))
    assert wanted <= set(found)


# -- unasked -------------------------------------------------------------------------------


def test_a_backup_is_made_unasked_when_it_is_due(home: Path) -> None:
    context = open_home(home)
    try:
        loop = BackupScheduler(context)
        loop.look()
        loop.look()
    finally:
        context.close()

    assert len(list((home / "backups").glob("*.zip"))) == 1


def test_a_backup_that_fails_is_told_until_it_is_tried_again(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    monkeypatch.setenv("MADELEINE_BACKUP_FOLDER", str(tmp_path / "file" / "backups"))
    context = open_home(home)
    try:
        loop = BackupScheduler(context)
        failures: list[MadeleineError] = []
        for _ in range(2):
            with pytest.raises(StoreUnwritable) as failed:
                loop.look()
            failures.append(failed.value)
        assert failures[0] is failures[1]
    finally:
        context.close()


def test_the_daemon_says_that_it_makes_backups(daemon: Daemon) -> None:
    loops = daemon.ok("GET", "/admin/status")["daemon"]["loops"]

    assert "backup" in [each["name"] for each in loops]
