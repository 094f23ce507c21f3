"""The vault: the folder of markdown files in which every memory stands (I1).

Paths are relative to the folder, with `/`. Files whose name or folder begins with a dot belong
to other programs (Obsidian, git, Syncthing) and are passed over; so are `trash/`, where
forgotten memories wait, and `deleted/`, where Ormah keeps its own. Reading never writes (I3).

A change to a file is an `Edit`. Applying one checks that the file still is what the edit was
made for and does nothing when it already has its new state, so that an interrupted change can
simply be applied again, or reverted.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from madeleine.errors import (
    FileChanged,
    FileUnreadable,
    InvalidValue,
    MadeleineError,
    NoFile,
    StoreUnwritable,
)
from madeleine.model.change import Edit
from madeleine.model.memory import Memory
from madeleine.model.stored import Fingerprint, Stored
from madeleine.vault.files import (
    create_file,
    create_files,
    is_leftover,
    make_folder,
    move_file,
    remove_file,
    write_file,
)
from madeleine.vault.markdown import read_memory
from madeleine.vault.naming import file_names

TRASH = "trash"
FOREIGN_TRASH = "deleted"  # Ormah's
_ASIDE = frozenset({TRASH, FOREIGN_TRASH})
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW
_BLOCK_BYTES = 1 << 20


class Found(NamedTuple):
    """A memory's file as a scan sees it."""

    path: str
    fingerprint: Fingerprint


class Vault:
    """The folder. It is made when it is not there."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._safe_folders: set[str] = {""}
        make_folder(root)

    # -- looking ---------------------------------------------------------------------------

    def scan(self) -> Iterator[Found]:
        """Yield every memory's file, in no particular order.

        Symbolic links are passed over: a vault that came from elsewhere must not make us read
        what lies outside. So are names that are not UTF-8, which no index could hold.
        """
        folders = [""]
        while folders:
            prefix = folders.pop()
            self._safe_folders.add(prefix.rstrip("/"))
            yield from self._scan_folder(prefix, folders)

    def _scan_folder(self, prefix: str, folders: list[str]) -> Iterator[Found]:
        try:
            entries = os.scandir(f"{self.root}/{prefix}")
        except (FileNotFoundError, NotADirectoryError):
            return  # renamed or removed since it was listed; the next look sees what became of it
        with entries:
            for entry in entries:
                name = entry.name
                if name[0] == ".":
                    continue
                if name.endswith(".md") and entry.is_file(follow_symlinks=False):
                    try:
                        found = entry.stat(follow_symlinks=False)
                    except FileNotFoundError:
                        continue  # removed since the folder was listed
                    if name.isascii() or _is_utf8(name):
                        looks = Fingerprint(found.st_mtime_ns, found.st_size)
                        yield Found(prefix + name, looks)
                elif entry.is_dir(follow_symlinks=False) and (prefix or name not in _ASIDE):
                    folders.append(f"{prefix}{name}/")

    def read(self, path: str) -> Stored:
        """Return the memory in a file; `NoFile` if it is gone, `FileUnreadable` if it is wrong."""
        data, found = self._look(path)
        return read_memory(path, data, found)

    def read_bytes(self, path: str) -> bytes:
        """Return a file's bytes; `NoFile` if it is gone."""
        return self._look(path)[0]

    def bytes_or_none(self, path: str | None) -> bytes | None:
        """Return a file's bytes, or None where there is no file to be read."""
        if path is None:
            return None
        try:
            return self.read_bytes(path)
        except NoFile:
            return None

    def fingerprint(self, path: str) -> Fingerprint | None:
        """Return how a file looks now, or None if there is none."""
        try:
            found = os.lstat(self._place(path))
        except (FileNotFoundError, NotADirectoryError):
            return None
        return Fingerprint(found.st_mtime_ns, found.st_size)

    def _look(self, path: str) -> tuple[bytes, Fingerprint]:
        """Return bytes and looks of a file. The looks are taken first: if the file is changed
        while it is read they are too old, and the next scan looks again."""
        try:
            descriptor = os.open(self._place(path), _READ)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise NoFile(self.root / path) from error
        except OSError as error:
            raise FileUnreadable(path, 1, error.strerror or str(error)) from error
        try:
            found = os.fstat(descriptor)
            data = _read_all(descriptor, found.st_size)
        except OSError as error:
            raise FileUnreadable(path, 1, error.strerror or str(error)) from error
        finally:
            os.close(descriptor)
        return data, Fingerprint(found.st_mtime_ns, found.st_size)

    # -- names -----------------------------------------------------------------------------

    def path_for(self, memory: Memory) -> str:
        """Return a free path for a new memory. Looks at single names, never at a folder."""
        name = ""
        for name in file_names(memory):
            if not os.path.lexists(f"{self.root}/{name}"):
                break
        return name

    def trash_path(self, path: str) -> str:
        """Return a free path in the trash that tells where the file was."""
        return self._free(f"{TRASH}/{path}")

    def untrash_path(self, stored: Stored) -> str:
        """Return where a forgotten memory goes back to: its old place, or a free name."""
        path = stored.path.removeprefix(f"{TRASH}/")
        return self.path_for(stored.memory) if os.path.lexists(self._place(path)) else path

    def _free(self, path: str) -> str:
        free, number = path, 1
        while os.path.lexists(self._place(free)):
            number += 1
            free = f"{path.removesuffix('.md')}-{number}.md"
        return free

    def _place(self, path: str) -> str:
        """Return where a path is on the disk; one that leads out of the vault is refused."""
        folder, _, name = path.rpartition("/")
        if folder not in self._safe_folders:
            self._check_folder(path, folder)
        if name in ("", ".", "..") or "\0" in name:
            raise InvalidValue("path", f"is {path!r}, not a file in the vault")
        return f"{self.root}/{path}"

    def _check_folder(self, path: str, folder: str) -> None:
        parts = folder.split("/")
        if "\0" in folder or not {"", ".", ".."}.isdisjoint(parts):
            raise InvalidValue("path", f"is {path!r}, not a file in the vault")
        real_root = os.path.realpath(self.root)
        if os.path.realpath(f"{real_root}/{folder}") != f"{real_root}/{folder}":
            raise InvalidValue("path", f"is {path!r}, which leads out of the vault by a link")
        if Path(real_root, folder).is_dir():
            self._safe_folders.add(folder)

    # -- changing --------------------------------------------------------------------------

    def apply(self, edit: Edit, *, force: bool = False) -> Fingerprint | None:
        """Carry out one edit; returns how the file looks then, or None if it went for good.

        `FileChanged` if a file is neither as the edit found it nor as it leaves it; `force`
        overwrites such a file.
        """
        if edit.path_after is None or edit.after is None:
            self._remove(edit, force)
            return None
        found = self._state(edit.path_after, edit.after)
        if found is None:
            found = self._write(edit, edit.path_after, edit.after, force)
        if edit.path_before not in (None, edit.path_after):
            self._remove(edit, force)
        return found

    def create(self, files: Sequence[tuple[str, bytes]]) -> list[Fingerprint | MadeleineError]:
        """Write many new files; for each, how it looks or why it was refused.

        `FileChanged` if something is at a path already: it stays as it is.
        """
        places = [(Path(self._place(path)), data) for path, data in files]
        try:
            found = create_files(places)
        except OSError as error:
            raise StoreUnwritable(self.root, error.strerror or str(error)) from error
        return [
            _refusal(path, each) if isinstance(each, OSError) else each
            for (path, _), each in zip(files, found, strict=True)
        ]

    def revert(self, edit: Edit) -> Fingerprint | None:
        """Take one edit back, with the same care."""
        return self.apply(
            Edit(edit.memory_id, edit.path_after, edit.after, edit.path_before, edit.before)
        )

    def _state(self, path: str, wanted: bytes) -> Fingerprint | None:
        """Return how the file looks if it says exactly `wanted`."""
        try:
            data, found = self._look(path)
        except NoFile:
            return None
        return found if data == wanted else None

    def _write(self, edit: Edit, path: str, data: bytes, force: bool) -> Fingerprint:
        place = Path(self._place(path))
        if force:
            return write_file(place, data)
        current = self.bytes_or_none(edit.path_before)
        if current != edit.before:
            raise FileChanged(str(edit.path_before))
        if edit.path_before == path:
            return write_file(place, data)
        try:
            if edit.path_before is None or current != data:
                return create_file(place, data)
            move_file(Path(self._place(edit.path_before)), place)
        except FileExistsError as error:
            raise FileChanged(path) from error
        return self._look(path)[1]

    def _remove(self, edit: Edit, force: bool) -> None:
        """Remove the old file, if it still is what the edit found."""
        if edit.path_before is None:
            return
        current = self.bytes_or_none(edit.path_before)
        if current is None:
            return
        if current != edit.before and not force:
            raise FileChanged(edit.path_before)
        remove_file(Path(self._place(edit.path_before)))

    # -- trash and leftovers ---------------------------------------------------------------

    def trashed(self) -> Iterator[Stored]:
        """Yield the forgotten memories that can be read, in no particular order."""
        for path in self.trashed_paths():
            try:
                yield self.read(path)
            except (FileUnreadable, NoFile):
                continue  # `trashed_paths` lists it; there is nothing here to restore

    def trashed_paths(self) -> Iterator[str]:
        """Yield every file in the trash, readable or not."""
        folders = [f"{TRASH}/"]
        while folders:
            for found in self._scan_folder(folders.pop(), folders):
                yield found.path

    def find_trashed(self, id_prefix: str) -> list[Stored]:
        """Return the forgotten memories whose id begins so, the oldest file first."""
        wanted = id_prefix.lower()
        if not wanted:
            return []
        found = [each for each in self.trashed() if each.memory.id.startswith(wanted)]
        return sorted(found, key=lambda each: (each.fingerprint.mtime_ns, each.path))

    def clean_leftovers(self) -> int:
        """Remove files that a kill left unfinished; returns how many. Nobody may be writing."""
        leftovers = [
            Path(folder, name)
            for folder, _, names in os.walk(self.root)
            for name in names
            if is_leftover(name)
        ]
        for each in leftovers:
            remove_file(each)
        return len(leftovers)


def in_trash(path: str) -> bool:
    """Whether a path is that of a forgotten memory."""
    return path.startswith(f"{TRASH}/")


def is_memory_path(path: str) -> bool:
    """Whether a scan would look at a file of this path."""
    parts = path.split("/")
    hidden = any(part.startswith(".") for part in parts)
    aside = len(parts) > 1 and parts[0] in _ASIDE
    return path.endswith(".md") and not hidden and not aside


def _refusal(path: str, error: OSError) -> MadeleineError:
    if isinstance(error, FileExistsError):
        return FileChanged(path)
    return StoreUnwritable(Path(path), error.strerror or str(error))


def _is_utf8(name: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in name)


def _read_all(descriptor: int, size: int) -> bytes:
    data = os.read(descriptor, size + 1)
    if len(data) == size:
        return data
    parts = [data]
    while part := os.read(descriptor, _BLOCK_BYTES):
        parts.append(part)
    return b"".join(parts)
