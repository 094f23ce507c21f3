"""A backup file: a zip with the vault's and the journal's files, and a list of them with checksums.

    manifest.json   {"format":"madeleine-backup","version":1,"made":"…","files":{"vault/…":{…}}}
    vault/…         every file of the vault as it was, trash and pictures included
    journal/…       every file of the journal
    config.toml     the settings, without what is secret in them

A file counts only if the list names it, and only with the bytes whose SHA-256 the list has. Its
time is kept too: a note without a date of its own is as old as its file.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from madeleine.errors import Damaged, NoFile
from madeleine.vault.file_naming import is_memory_name

FORMAT = "madeleine-backup"
VERSION = 1
MANIFEST = "manifest.json"
VAULT = "vault/"
JOURNAL = "journal/"
CONFIG = "config.toml"
BLOCK_BYTES = 1 << 20
MANIFEST_BYTES = 1 << 30

Progress = Callable[[int, int], None]


class BackupDamaged(Damaged):
    """A backup that is not whole, or not one."""

    kind = "backup_damaged"

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(
            f"{path}: {problem}",
            hint="`madeleine backup --list` shows the others",
            path=path,
            problem=problem,
        )


@dataclass(frozen=True, slots=True)
class ArchiveEntry:
    """One file of a backup."""

    sha256: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class BackupManifest:
    """What a backup holds."""

    made: str
    release: str
    device: str
    files: Mapping[str, ArchiveEntry] = field(default_factory=dict)

    @property
    def memories(self) -> int:
        """How many files of memories it holds, forgotten ones left out."""
        return sum(_is_memory(name) for name in self.files)

    def to_json(self) -> bytes:
        files = {
            name: {"sha256": each.sha256, "size": each.size, "mtime_ns": each.mtime_ns}
            for name, each in sorted(self.files.items())
        }
        head = {"made": self.made, "release": self.release, "device": self.device}
        said = {"format": FORMAT, "version": VERSION, **head, "files": files}
        return json.dumps(said, ensure_ascii=False, indent=0).encode("utf-8")


def _is_memory(name: str) -> bool:
    aside = (f"{VAULT}trash/", f"{VAULT}deleted/")
    return name.startswith(VAULT) and is_memory_name(name) and not name.startswith(aside)


@contextmanager
def open_backup(path: Path) -> Iterator[tuple[zipfile.ZipFile, BackupManifest]]:
    """Give a backup with its list; what is no backup is refused."""
    if not path.is_file():
        raise NoFile(path)
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive, _read_manifest(path, archive)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise BackupDamaged(path, f"is not a whole backup: {error}") from error


def _read_manifest(path: Path, archive: zipfile.ZipFile) -> BackupManifest:
    try:
        with archive.open(MANIFEST) as file:
            said = json.loads(file.read(MANIFEST_BYTES))
        if said["format"] != FORMAT or said["version"] > VERSION:
            raise BackupDamaged(path, f"is of another kind: {said['format']} {said['version']}")
        files = {
            _check_name(path, name): ArchiveEntry(**each) for name, each in said["files"].items()
        }
        return BackupManifest(said["made"], said["release"], said["device"], files)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise BackupDamaged(path, "has no list of its files") from error


def _check_name(path: Path, name: str) -> str:
    """Return the name of a file if that is in its place: below the vault or the journal."""
    parts = PurePosixPath(name).parts
    ours = name == CONFIG or name.startswith((VAULT, JOURNAL))
    if not ours or ".." in parts or "\\" in name or "\0" in name or "/".join(parts) != name:
        raise BackupDamaged(path, f"names a file outside of itself: {name!r}")
    return name


def verify_backup(path: Path, progress: Progress = lambda done, total: None) -> BackupManifest:
    """Read a backup whole and return its list; `BackupDamaged` if a byte is not as it was."""
    with open_backup(path) as (archive, manifest):
        names = set(archive.namelist())
        for number, name in enumerate(manifest.files, start=1):
            if name not in names:
                raise BackupDamaged(path, f"lacks {name}")
            check_entry(path, name, manifest.files[name], blocks_of(archive, name))
            progress(number, len(manifest.files))
    return manifest


def blocks_of(archive: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    """Give the bytes of one file."""
    with archive.open(name) as file:
        while block := file.read(BLOCK_BYTES):
            yield block


def check_entry(path: Path, name: str, entry: ArchiveEntry, blocks: Iterator[bytes]) -> None:
    """Refuse a file whose bytes are not those that the list speaks of."""
    digest, size = hashlib.sha256(), 0
    for block in blocks:
        digest.update(block)
        size += len(block)
        if size > entry.size:
            break
    if size != entry.size or digest.hexdigest() != entry.sha256:
        raise BackupDamaged(path, f"{name} is not as it was written")
