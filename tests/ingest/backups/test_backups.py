"""Backups: whole or not there, of one moment, and restored with everything."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import zipfile
from datetime import timedelta
from pathlib import Path

import pytest

from madeleine.bootstrap import open_home
from madeleine.bootstrap.restoring import restore_home
from madeleine.errors import NoFile, PlaceTaken, StoreUnwritable, UnderWay
from madeleine.ingest.backups import restoring, taking
from madeleine.ingest.backups.archive import BackupDamaged, open_backup, verify_backup
from madeleine.ingest.backups.restoring import HomeInHome
from madeleine.ingest.backups.rotation import is_backup_due, list_backups
from madeleine.ingest.backups.secrecy import remove_secrets
from madeleine.ingest.backups.taking import BackupRequest, BackupResult, InOwnData, back_up
from madeleine.model.memory import Connection, Memory
from madeleine.model.words import Edge
from madeleine.write.forget import forget
from madeleine.write.merge import merge
from madeleine.write.record_use import record_use
from madeleine.write.show import read_history
from madeleine.write.stores import Stores
from madeleine.write.undo import undo
from tests.fakes import NOON, FakeClock, keep, vault_bytes


@pytest.fixture(autouse=True)
def _fake_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")


def home_of(stores: Stores) -> Path:
    return stores.vault.root.parent


def taken(stores: Stores, keep_last: int = 10, to: Path | None = None) -> BackupResult:
    home = home_of(stores)
    return back_up(BackupRequest(stores, home, home / "backups", "1.0", keep_last, to))


# -- what is in it -------------------------------------------------------------------------


def test_a_backup_holds_vault_journal_and_settings_without_secrets(stores: Stores) -> None:
    keep(stores, "worth keeping")
    forget(stores, keep(stores, "thrown away").id)
    (stores.vault.root / "picture.png").write_bytes(b"\x89PNG")
    (stores.vault.root / ".obsidian").mkdir()
    (stores.vault.root / ".obsidian" / "x.json").write_text("{}", encoding="utf-8")
    (home_of(stores) / "config.toml").write_text(
        '[server]\nadmin_token = "very-secret"\nport = 8790\n', encoding="utf-8"
    )
    (home_of(stores) / "run").mkdir()
    (home_of(stores) / "run" / "token").write_text("also-secret", encoding="utf-8")

    done = taken(stores)

    with zipfile.ZipFile(done.path) as archive:
        names = set(archive.namelist())
        settings = archive.read("config.toml").decode()
        everything = b"".join(archive.read(name) for name in names)
    assert {name.split("/")[0] for name in names} == {
        "manifest.json",
        "vault",
        "journal",
        "config.toml",
    }
    assert "vault/picture.png" in names
    assert "port = 8790" in settings
    assert b"secret" not in everything
    assert done.manifest.memories == 1
    assert done.path.stat().st_mode & 0o777 == 0o600


def test_a_backup_is_read_back_before_it_counts(stores: Stores) -> None:
    keep(stores, "worth keeping")

    done = taken(stores)

    assert verify_backup(done.path).files == done.manifest.files
    assert [each.name for each in done.path.parent.iterdir() if each.suffix == ".tmp"] == []


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_a_byte_that_changed_is_found(stores: Stores, share: float) -> None:
    for number in range(20):
        keep(stores, f"memory {number} " + os.urandom(200).hex())
    path = taken(stores).path
    data = bytearray(path.read_bytes())
    data[int(len(data) * share)] ^= 0x01
    path.write_bytes(data)

    with pytest.raises(BackupDamaged):
        verify_backup(path)


def test_a_backup_that_was_cut_is_found(stores: Stores) -> None:
    keep(stores, "worth keeping")
    path = taken(stores).path
    path.write_bytes(path.read_bytes()[:-30])

    with pytest.raises(BackupDamaged):
        verify_backup(path)


def test_a_backup_that_names_places_outside_is_refused(stores: Stores, tmp_path: Path) -> None:
    keep(stores, "worth keeping")
    path = taken(stores).path
    with open_backup(path) as (archive, manifest):
        text = manifest.to_json().decode().replace("vault/fact", "vault/../../fact")
        data = archive.read(next(name for name in manifest.files if name.startswith("vault/")))
    evil = tmp_path / "evil.zip"
    with zipfile.ZipFile(evil, "w") as archive:
        archive.writestr("manifest.json", text)
        archive.writestr("vault/../../fact.md", data)

    with pytest.raises(BackupDamaged, match="outside of itself"):
        verify_backup(evil)


def test_secrets_in_settings_are_left_out() -> None:
    text = (
        '[server]\nadmin_token = "abc"\n[judge]\nkey_env = "OPENAI_API_KEY"\n'
        'url = "https://ana:hunter2@example.org/v1"\npassword=\'x\'\napi_key = ""\n'
    )

    clean = remove_secrets(text)

    assert "abc" not in clean
    assert "hunter2" not in clean
    assert "'x'" not in clean
    assert 'key_env = "OPENAI_API_KEY"' in clean


# -- which are kept ------------------------------------------------------------------------


def test_the_oldest_go_when_there_are_too_many(stores: Stores) -> None:
    keep(stores, "worth keeping")
    clock = stores.clock
    assert isinstance(clock, FakeClock)
    foreign = home_of(stores) / "backups" / "madeleine-mine.zip"
    paths = []
    for _ in range(5):
        clock.pass_by(hours=24)
        paths.append(taken(stores, keep_last=3).path)
        foreign.write_text("not ours", encoding="utf-8")

    kept = list_backups(home_of(stores) / "backups")

    assert [each.path for each in kept] == paths[:1:-1]
    assert foreign.exists()


def test_the_one_just_made_stays_whatever_the_clock_said_before(stores: Stores) -> None:
    folder = home_of(stores) / "backups"
    folder.mkdir()
    for year in (2090, 2091):
        (folder / f"madeleine-{year}0101T000000Z.zip").write_bytes(b"")

    done = taken(stores, keep_last=2)

    assert done.path.exists()
    assert [each.made.year for each in list_backups(folder)] == [2091, 2026]


def test_two_backups_in_one_second_are_two(stores: Stores) -> None:
    one, two = taken(stores), taken(stores)

    assert one.path != two.path
    assert [each.path for each in list_backups(one.path.parent)] == [two.path, one.path]


def test_a_backup_elsewhere_rotates_nothing(stores: Stores, tmp_path: Path) -> None:
    first = taken(stores)
    done = taken(stores, keep_last=1, to=tmp_path / "mine.zip")

    assert (done.path, done.removed) == (tmp_path / "mine.zip", ())
    assert first.path.exists()
    with pytest.raises(PlaceTaken):
        taken(stores, to=tmp_path / "mine.zip")


@pytest.mark.parametrize("inside", ["vault", "vault/deep", "journal", "run", ""])
def test_no_backup_goes_among_what_it_is_made_of(stores: Stores, inside: str) -> None:
    home = home_of(stores)
    keep(stores, "worth keeping")
    files = vault_bytes(stores)

    for to in (home / inside / "mine.zip", home / "backups" / ".." / inside / "mine.zip"):
        with pytest.raises(InOwnData):
            taken(stores, to=to)
    with pytest.raises(InOwnData):
        back_up(BackupRequest(stores, home, home / "vault" / "backups", "1.0"))

    assert vault_bytes(stores) == files
    assert taken(stores, to=home / "backups" / "mine.zip").path.is_file()


def test_a_home_in_a_folder_of_notes_keeps_its_backups(stores: Stores) -> None:
    home = stores.vault.root / ".madeleine"

    assert back_up(BackupRequest(stores, home, home / "backups", "1.0")).path.is_file()


def test_a_backup_is_due_when_the_newest_is_old(stores: Stores) -> None:
    folder = home_of(stores) / "backups"
    assert is_backup_due(folder, 24, NOON)
    taken(stores)

    assert not is_backup_due(folder, 24, NOON + timedelta(hours=23))
    assert is_backup_due(folder, 24, NOON + timedelta(hours=25))
    assert is_backup_due(folder, 24, NOON - timedelta(days=3))  # made by a clock that was wrong


# -- while others write --------------------------------------------------------------------


def test_a_backup_taken_while_others_write_is_of_one_moment(stores: Stores) -> None:
    """Merges move text from one file to another: in a backup of two moments a text could be in
    both or in neither."""
    pairs = [
        (keep(stores, f"left {number}").id, keep(stores, f"right {number}").id)
        for number in range(25)
    ]
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            for left, right in pairs:
                change = merge(stores, left, right).change
                undo(stores, change)
                if stop.is_set():
                    return

    writer = threading.Thread(target=write)
    writer.start()
    try:
        backups = [taken(stores) for _ in range(4)]
    finally:
        stop.set()
        writer.join()

    for each in backups:
        with open_backup(each.path) as (archive, manifest):
            names = [name for name in manifest.files if name.startswith("vault/")]
            ids = [archive.read(name).decode().split("id: ")[1][:36] for name in names]
            journal = [archive.read(name) for name in manifest.files if "journal/" in name]
        assert sorted(ids) == sorted(each for pair in pairs for each in pair)
        assert all(data.endswith(b"\n") for data in journal)


def test_a_file_that_goes_while_it_is_looked_at_takes_no_other_with_it(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = keep(stores, "worth keeping").id
    listed = taking._list_visible

    def gone_since(folder: Path) -> list[os.DirEntry[str]]:
        passing = folder / "00-passing.md"
        if folder == stores.vault.root:
            passing.write_bytes(b"soon gone")
        entries = sorted(listed(folder), key=lambda each: each.name)
        passing.unlink(missing_ok=True)
        return entries

    monkeypatch.setattr(taking, "_list_visible", gone_since)
    with open_backup(taken(stores).path) as (archive, manifest):
        names = [name for name in manifest.files if name.startswith("vault/")]
        assert [kept in archive.read(name).decode() for name in names] == [True]


def test_only_one_backup_is_made_at_a_time(stores: Stores) -> None:
    keep(stores, "worth keeping")
    folder = home_of(stores) / "backups"
    refused: list[Exception] = []

    def meanwhile(done: int, total: int) -> None:
        if not refused:
            try:
                taken(stores)
            except UnderWay as error:
                refused.append(error)

    back_up(BackupRequest(stores, home_of(stores), folder, "1.0"), meanwhile)

    assert len(refused) == 1
    assert len(list_backups(folder)) == 1


def test_a_file_that_cannot_be_read_is_told(stores: Stores) -> None:
    keep(stores, "worth keeping")
    if os.getuid() == 0:
        pytest.skip("root reads everything")
    path = next(stores.vault.root.glob("*.md"))
    path.chmod(0)

    done = taken(stores)

    assert done.left_out == (f"vault/{path.name}",)


def test_a_disk_that_refuses_leaves_no_backup(stores: Stores, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")

    with pytest.raises(StoreUnwritable):
        taken(stores, to=tmp_path / "file" / "x.zip")


KILLED = """
import os, signal, sys, threading
from pathlib import Path
from madeleine.bootstrap import open_home
from madeleine.ingest.backups import taking
context = open_home(Path(sys.argv[1]))
at, seen = int(sys.argv[2]), [0]
def progress(done, total):
    seen[0] += 1
    if seen[0] == at:
        os.kill(os.getpid(), signal.SIGKILL)
if at == 0:
    taking.verify_backup = lambda path: os.kill(os.getpid(), signal.SIGKILL)
context.back_up(progress=progress)
"""


@pytest.mark.few(2)
@pytest.mark.parametrize("at", [0, 1, 5, 11, 14])
def test_a_kill_leaves_no_file_that_looks_like_a_backup(tmp_path: Path, at: int) -> None:
    home = tmp_path / "home"
    with closing_context(home) as stores:
        for number in range(6):
            keep(stores, f"memory {number}")

    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(home), str(at)], check=False, timeout=50
    )

    assert killed.returncode == -signal.SIGKILL
    assert list_backups(home / "backups") == []
    context = open_home(home)
    done = context.back_up()
    context.close()
    assert [each.path for each in list_backups(home / "backups")] == [done.path]
    assert [each for each in (home / "backups").iterdir() if each.suffix == ".tmp"] == []


class closing_context:
    """An open home's stores, closed at the end."""

    def __init__(self, home: Path) -> None:
        self._context = open_home(home)

    def __enter__(self) -> Stores:
        return self._context.stores

    def __exit__(self, *ended: object) -> None:
        self._context.close()


# -- putting it back -----------------------------------------------------------------------


def lived(stores: Stores) -> list[str]:
    """Give a home some life: connections, a merge, a use, something forgotten."""
    one = keep(stores, "Atlas uses SQLite", title="Database")
    two = keep(stores, "fast", connections=(Connection(one.id, Edge.SUPPORTS, 0.9, "measured"),))
    three, four = keep(stores, "tea"), keep(stores, "tea, too")
    merge(stores, three.id, four.id)
    record_use(stores, [one.id], "opened", "s1", wait=True)
    forget(stores, keep(stores, "thrown away").id)
    return [one.id, two.id, three.id]


def seen(stores: Stores, ids: list[str]) -> tuple[dict[str, Memory], list[str], object]:
    """What there is to know about memories: themselves, their edges, their history."""
    edges = sorted(repr(each) for each in stores.graph.edges(ids))
    return stores.search.memories(ids), edges, [read_history(stores, each) for each in ids]


def test_restore_keeps_ids_connections_and_history(tmp_path: Path) -> None:
    with closing_context(tmp_path / "home") as stores:
        ids = lived(stores)
        before, files = seen(stores, ids), vault_bytes(stores)
        path = taken(stores).path

    done = restore_home(tmp_path / "new", path)

    assert done.aside == ()
    with closing_context(tmp_path / "new") as stores:
        assert seen(stores, ids) == before
        assert vault_bytes(stores) == files
        changes = stores.log.recent_events(["changed"], 100)
        merged = next(each for each in changes if each.body.get("verb") == "merge")
        assert undo(stores, str(merged.body["change"])).memories  # and it can still be undone


def test_restoring_puts_what_was_there_aside(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with closing_context(home) as stores:
        ids = lived(stores)
        path = taken(stores).path
        later = keep(stores, "came after the backup")
        files = vault_bytes(stores)
    (home / "config.toml").write_text("[server]\nport = 8791\n", encoding="utf-8")

    done = restore_home(home, path)

    with closing_context(home) as stores:
        assert stores.search.get(later.id) is None
        assert set(stores.search.memories(ids)) == set(ids)
    vault, journal = done.aside
    assert {each.relative_to(vault).as_posix() for each in vault.rglob("*.md")} == set(files)
    assert any(journal.glob("*.jsonl"))
    assert "8791" in (home / "config.toml").read_text(encoding="utf-8")  # left alone
    assert not done.settings


def test_what_belongs_to_other_programs_stays_where_it_is(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with closing_context(home) as stores:
        lived(stores)
        path = taken(stores).path
        (stores.vault.root / ".git").mkdir()
        (stores.vault.root / ".git" / "HEAD").write_text("ref", encoding="utf-8")

    done = restore_home(home, path)

    assert (home / "vault" / ".git" / "HEAD").read_text(encoding="utf-8") == "ref"
    assert not (done.aside[0] / ".git").exists()


def test_a_note_without_a_date_is_as_old_as_before(tmp_path: Path) -> None:
    with closing_context(tmp_path / "home") as stores:
        note = stores.vault.root / "plain note.md"
        note.write_text("no front matter here", encoding="utf-8")
        os.utime(note, (1_600_000_000, 1_600_000_000))
        path = taken(stores).path

    restore_home(tmp_path / "new", path)

    assert (tmp_path / "new" / "vault" / "plain note.md").stat().st_mtime == 1_600_000_000


def test_a_damaged_backup_changes_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with closing_context(home) as stores:
        lived(stores)
        files = vault_bytes(stores)
        path = taken(stores).path
    path.write_bytes(path.read_bytes()[:-40])

    with pytest.raises(BackupDamaged):
        restore_home(home, path)
    with pytest.raises(NoFile):
        restore_home(home, tmp_path / "gone.zip")

    with closing_context(home) as stores:
        assert vault_bytes(stores) == files
    assert [each.name for each in home.iterdir() if "before" in each.name] == []


@pytest.mark.parametrize("step", [0, 1, 2, 3])
def test_a_restore_that_is_killed_is_finished_by_who_opens_the_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """Killed before any of its four renames: the next opening carries out the rest."""
    home = tmp_path / "home"
    with closing_context(home) as stores:
        ids = lived(stores)
        before = seen(stores, ids)
        path = taken(stores).path
        later = keep(stores, "came after the backup")
    rename, renamed = restoring._rename, list[Path]()

    def kill(source: Path, target: Path) -> None:
        if len(renamed) == step:
            raise KeyboardInterrupt
        renamed.append(source)
        rename(source, target)

    with monkeypatch.context() as patched:
        patched.setattr(restoring, "_rename", kill)
        with pytest.raises(KeyboardInterrupt):
            restore_home(home, path)

    with closing_context(home) as stores:
        assert seen(stores, ids) == before
        assert stores.search.get(later.id) is None
    assert not (home / "run" / "restoring.json").exists()
    assert len(list(home.glob("*-before-*"))) == 2


@pytest.mark.parametrize("elsewhere", [False, True])
def test_what_a_killed_restore_had_unpacked_is_removed_at_the_next_opening(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, elsewhere: bool
) -> None:
    """Killed before it wrote down what is to be done: the home stays as it was."""
    home = tmp_path / "home"
    if elsewhere:
        monkeypatch.setenv("MADELEINE_VAULT_PATH", str(tmp_path / "disk" / "no[t]es"))
    with closing_context(home) as stores:
        kept = keep(stores, "worth keeping")
        path = taken_in(stores, home)
        mine = stores.vault.root.with_name(".vault-restored-by-hand")
        mine.mkdir()

    def kill(*given: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(restoring, "write_mark", kill)
        with pytest.raises(KeyboardInterrupt):
            restore_home(home, path)
    assert len(unpacked(tmp_path)) == 2

    with closing_context(home) as stores:
        assert stores.search.get(kept.id) is not None

    assert unpacked(tmp_path) == []
    assert mine.is_dir()


def unpacked(top: Path) -> list[Path]:
    return sorted(top.rglob(".*-restored-2*"))


@pytest.mark.parametrize("inside", ["vault/inner", "journal/inner", "inner"])
def test_no_home_is_made_inside_of_another(tmp_path: Path, inside: str) -> None:
    with closing_context(tmp_path / "home") as stores:
        keep(stores, "worth keeping")
        path = taken(stores).path

    with pytest.raises(HomeInHome):
        restore_home(tmp_path / "home" / inside, path)

    assert not (tmp_path / "home" / inside).exists()


def test_a_vault_elsewhere_is_backed_up_and_restored_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = tmp_path / "disk" / "notes"
    real.mkdir(parents=True)
    (tmp_path / "link").symlink_to(real, target_is_directory=True)
    monkeypatch.setenv("MADELEINE_VAULT_PATH", str(tmp_path / "link"))
    with closing_context(tmp_path / "home") as stores:
        kept = keep(stores, "worth keeping")
        path = taken_in(stores, tmp_path / "home")
        forget(stores, kept.id)

    restore_home(tmp_path / "home", path)

    assert (tmp_path / "link").is_symlink()
    with closing_context(tmp_path / "home") as stores:
        assert stores.search.get(kept.id) is not None
    assert [each.name for each in real.parent.iterdir() if "before" in each.name]


def taken_in(stores: Stores, home: Path) -> Path:
    return back_up(BackupRequest(stores, home, home / "backups", "1.0")).path


@pytest.mark.soak
def test_writers_wait_only_for_a_look(stores: Stores) -> None:
    """The lock is held for what changed, not for the copying of everything."""
    for number in range(200):
        keep(stores, f"memory {number}")
    waits: list[float] = []

    def look(done: int, total: int) -> None:
        if done == total // 4:
            threading.Thread(target=write).start()

    def write() -> None:
        began = time.monotonic()
        keep(stores, "written meanwhile")
        waits.append(time.monotonic() - began)

    began = time.monotonic()
    back_up(BackupRequest(stores, home_of(stores), home_of(stores) / "backups", "1.0"), look)
    whole = time.monotonic() - began

    assert waits
    assert waits[0] < max(1.0, whole)
