"""Putting a backup back in place.

The backup is read whole and compared with its list before anything is touched, and unpacked beside
the folders it will become. Then what is there now is put aside, not removed, and the new folders
get their names. What is to be moved where is written down first: a kill in between is finished by
whoever opens the home next. The index is derived, and made anew.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile

from madeleine.errors import Damaged, Rejected, StoreUnwritable
from madeleine.index.sqlite.files import remove_index
from madeleine.ingest.backups.archive import (
    CONFIG,
    JOURNAL,
    VAULT,
    ArchiveEntry,
    BackupDamaged,
    BackupManifest,
    Progress,
    blocks_of,
    open_backup,
    verify_backup,
)
from madeleine.ingest.moving import config_for_files
from madeleine.vault.files import flush_to_disk, fsync_folder, make_folder, write_all, write_file

MARK = "restoring.json"
STAMP = f"{'[0-9]' * 8}T{'[0-9]' * 6}"  # the time of a restore, in names
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


class FolderExchange(NamedTuple):
    """A folder, where it goes, and what takes its place."""

    folder: Path
    aside: Path
    staged: Path


class RestoreStuck(Damaged):
    """A restore that was interrupted and cannot be finished."""

    kind = "restore_stuck"

    def __init__(self, source: Path, target: Path) -> None:
        super().__init__(
            f"a restore was interrupted: {source} should become {target}, where something is",
            hint="move it away by hand, then try again",
            source=source,
            target=target,
        )


class HomeInHome(Rejected):
    """A backup that is to become a home inside of another one."""

    kind = "home_in_home"

    def __init__(self, home: Path, outer: Path) -> None:
        super().__init__(
            f"{home} lies in {outer}, which is a home",
            hint="name a place outside",
            home=home,
            outer=outer,
        )


@dataclass(frozen=True, slots=True)
class RestoreResult:
    """What was put back, and where what was there before is now."""

    manifest: BackupManifest
    aside: tuple[Path, ...]
    settings: bool
    """Whether the settings came from the backup: there were none before."""
    left_out: tuple[str, ...] = ()
    """Those of them that name another place for the memory than these files."""


def restore_backup(
    home: Path,
    vault: Path,
    archive: Path,
    now: datetime,
    progress: Progress = lambda done, total: None,
) -> RestoreResult:
    """Put a backup in place of what is there. Whoever calls holds the home's lock."""
    manifest = verify_backup(archive, progress)
    folders = {VAULT: vault.resolve(), JOURNAL: (home / "journal").resolve()}
    stamp = now.strftime("%Y%m%dT%H%M%S")
    exchanges = [exchange_of(folder, stamp) for folder in folders.values()]
    with _translate_os_errors(home):
        remove_unpacked(home, vault)
        _unpack(archive, folders, stamp)
        write_mark(home, exchanges)
        finish_restore(home)
        settings = _restore_settings(home, archive, manifest)
    aside = tuple(each.aside for each in exchanges if each.aside.exists())
    return RestoreResult(manifest, aside, settings is not None, settings or ())


def refuse_nested_home(home: Path) -> None:
    """Refuse a home in another one: its files would be taken for that one's memories."""
    for outer in home.resolve().parents:
        if all((outer / name).is_dir() for name in ("vault", "journal", "run")):
            raise HomeInHome(home, outer)


def remove_unpacked(home: Path, vault: Path) -> None:
    """Remove what a restore had unpacked when it was killed. Whoever calls holds the home's lock,
    and has finished what was written down: then nobody needs it."""
    for folder in (vault.resolve(), (home / "journal").resolve()):
        for left in folder.parent.glob(glob.escape(_staging_path(folder, "").name) + STAMP):
            shutil.rmtree(left, ignore_errors=True)


def finish_restore(home: Path) -> bool:
    """Carry out what a restore wrote down, as far as it is not done; whether there was any. An
    interrupted restore is found here, before the home is opened."""
    mark = home / "run" / MARK
    if not mark.exists():
        return False
    for folder, aside, staged in json.loads(mark.read_text(encoding="utf-8")):
        _carry_out(FolderExchange(Path(folder), Path(aside), Path(staged)))
    remove_index(home / "index.db")
    mark.unlink()
    fsync_folder(mark.parent)
    return True


def exchange_of(folder: Path, stamp: str) -> FolderExchange:
    """Return what is to be done for one folder. All names lie beside it, on the same disk."""
    aside, number = folder.with_name(f"{folder.name}-before-{stamp}"), 1
    while aside.exists():
        number += 1
        aside = folder.with_name(f"{folder.name}-before-{stamp}-{number}")
    return FolderExchange(folder, aside, _staging_path(folder, stamp))


def _staging_path(folder: Path, stamp: str) -> Path:
    return folder.with_name(f".{folder.name}-restored-{stamp}")


def write_mark(home: Path, exchanges: Sequence[FolderExchange]) -> None:
    said = json.dumps([[str(path) for path in each] for each in exchanges])
    write_file(home / "run" / MARK, said.encode("utf-8"))


def _carry_out(exchange: FolderExchange) -> None:
    """Put one folder aside and give its name to the new one. A new one that is gone has it."""
    folder, aside, staged = exchange
    if staged.exists():
        if folder.exists() and not _is_empty(folder):
            if aside.exists():
                raise RestoreStuck(staged, folder)
            _rename(folder, aside)
        if folder.exists():
            folder.rmdir()  # whoever opened the home meanwhile made it, and put nothing there
        _rename(staged, folder)
    _leave_in_place(exchange)


def _leave_in_place(exchange: FolderExchange) -> None:
    """Bring back what belongs to other programs, such as `.git` and `.obsidian`: no backup holds
    it, and a restore has no business with it."""
    for each in exchange.aside.glob(".*") if exchange.aside.is_dir() else ():
        target = exchange.folder / each.name
        if not each.name.endswith(".tmp") and not os.path.lexists(target):
            _rename(each, target)


def _rename(source: Path, target: Path) -> None:
    source.rename(target)
    fsync_folder(target.parent)


def _is_empty(folder: Path) -> bool:
    return folder.is_dir() and not any(folder.iterdir())


# -- unpacking -----------------------------------------------------------------------------


def _unpack(archive: Path, folders: dict[str, Path], stamp: str) -> None:
    """Write the files beside the folders that they will become; what fails leaves nothing."""
    stages = {prefix: _staging_path(folder, stamp) for prefix, folder in folders.items()}
    try:
        for stage in stages.values():
            make_folder(stage)
        with open_backup(archive) as (packed, manifest):
            for name, entry in manifest.files.items():
                prefix = next((each for each in stages if name.startswith(each)), None)
                if prefix is not None:
                    _write(archive, packed, name, entry, stages[prefix] / name[len(prefix) :])
    except (OSError, Damaged):
        for stage in stages.values():
            shutil.rmtree(stage, ignore_errors=True)
        raise


def _write(archive: Path, packed: ZipFile, name: str, entry: ArchiveEntry, target: Path) -> None:
    make_folder(target.parent)
    digest = hashlib.sha256()
    handle = os.open(target, NEW, 0o600)
    try:
        for block in blocks_of(packed, name):
            digest.update(block)
            write_all(handle, block)
        os.utime(handle, ns=(entry.mtime_ns, entry.mtime_ns))
        flush_to_disk(handle)
    finally:
        os.close(handle)
    if digest.hexdigest() != entry.sha256:
        raise BackupDamaged(archive, f"{name} is not as it was written")


def _restore_settings(
    home: Path, archive: Path, manifest: BackupManifest
) -> tuple[str, ...] | None:
    """Take the settings over where there are none; those that are there are left alone. What would
    make the home read a database or another folder, and not what was put in place, is left out."""
    if CONFIG not in manifest.files or (home / CONFIG).exists():
        return None
    with open_backup(archive) as (packed, _):
        text, left_out = config_for_files(b"".join(blocks_of(packed, CONFIG)).decode("utf-8"))
    write_file(home / CONFIG, text.encode("utf-8"))
    return left_out


@contextmanager
def _translate_os_errors(home: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreUnwritable(home, error.strerror or str(error)) from error
