"""The vault: the folder of markdown files in which every memory stands (I1).

Paths are relative to the folder, with `/`. Files whose name or folder begins with a dot belong
to other programs (Obsidian, git, Syncthing) and are passed over; so are `trash/`, where
forgotten memories wait, and `deleted/`, where Ormah keeps its own. Reading never writes (I3).

A change to a file is a `FileEdit`. Applying one checks that the file still is what the edit was
made for, once before anything is done and once in the last moment, because a person may save
it meanwhile. It does nothing when the file already has its new state, so that an interrupted
change can simply be applied again, or reverted.

Nothing behind a symbolic link is ours: for whoever looks it is not there, and whoever would
write there is refused. Any folder may become a link at any time, so this is never remembered.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from functools import partial
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
from madeleine.model.change import FileEdit
from madeleine.model.fingerprint import Fingerprint
from madeleine.model.memory import Memory
from madeleine.model.stored_memory import StoredMemory
from madeleine.vault.file_naming import candidate_file_names, is_memory_name, is_unread_text
from madeleine.vault.files import (
    create_file,
    create_files,
    fingerprint_of,
    is_leftover,
    is_utf8_name,
    make_folder,
    move_file,
    move_files,
    remove_file,
    write_file,
    write_files,
)
from madeleine.vault.markdown import read_memory
from madeleine.vault.read_marks import FileEndedProcess, ReadMarks

TRASH = "trash"
FOREIGN_TRASH = "deleted"  # Ormah's
_SKIPPED_FOLDERS = frozenset({TRASH, FOREIGN_TRASH})
_READ_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW
_BLOCK_BYTES = 1 << 20
MAX_IGNORED_TOLD = 100  # texts that are named; of more it is enough to see what is wrong
_MANY_EDITS = 16  # edits for which it pays to wait for the disk together
MAX_FILE_BYTES = (
    64 * 1024 * 1024
)  # of one memory; what is larger would not fit into memory for long
_UNREADABLE_FINGERPRINT = Fingerprint(
    -1, -1
)  # how a file looks that we may not look at: like no other


class ScannedFile(NamedTuple):
    """A memory's file as a scan sees it."""

    path: str
    fingerprint: Fingerprint


class FolderVault:
    """The folder. It is made when it is not there."""

    is_folder = True

    def __init__(self, root: Path, marks: ReadMarks | None = None) -> None:
        """`marks` keep note of what is being read."""
        self.root = root
        self._marks = marks
        self.unread_folders: list[str] = []
        """What the last whole scan could not look into, each as the beginning of its paths."""
        self.ignored_files: list[str] = []
        """Texts that the last whole scan passed over for their names, as many as are told."""
        make_folder(root)

    @property
    def place(self) -> str:
        """Where it is, in words."""
        return str(self.root)

    # -- looking ---------------------------------------------------------------------------

    def scan(self) -> Iterator[ScannedFile]:
        """Yield every memory's file, in no particular order.

        Symbolic links are passed over: a vault that came from elsewhere must not make us read
        what lies outside. So are names that are not UTF-8, which no index could hold. A folder
        that refuses to be read is named in `unread_folders` at the end; the files in it are
        neither there nor gone. Texts with another suffix are named in `ignored_files`.
        """
        unread: list[str] = []
        ignored: list[str] = []
        yield from self._scan_beneath("", unread, ignored)
        self.unread_folders, self.ignored_files = unread, ignored

    def note_text(self, path: str) -> None:
        """Note whether a text with another suffix is there, as a whole scan would."""
        others = [each for each in self.ignored_files if each != path]
        is_there = (self.root / path).is_file() and len(others) < MAX_IGNORED_TOLD
        self.ignored_files = [*others, path] if is_there else others

    def _scan_beneath(
        self, top: str, unread: list[str], ignored: list[str]
    ) -> Iterator[ScannedFile]:
        folders = [top]
        while folders:
            prefix = folders.pop()
            try:
                yield from self._scan_folder(prefix, folders, ignored)
            except (FileNotFoundError, NotADirectoryError):
                # Renamed or removed since it was listed; the next look sees what became of it.
                # A vault that is not there is not an empty one: its disk may be away.
                if not prefix:
                    unread.append(prefix)
            except OSError:
                unread.append(prefix)

    def _scan_folder(
        self, prefix: str, folders: list[str], ignored: list[str]
    ) -> Iterator[ScannedFile]:
        if self._is_behind_link(prefix):
            return
        with os.scandir(f"{self.root}/{prefix}") as entries:
            for entry in entries:
                name = entry.name
                if name[0] == ".":
                    continue
                if is_memory_name(name) and entry.is_file(follow_symlinks=False):
                    try:
                        found = entry.stat(follow_symlinks=False)
                    except FileNotFoundError:
                        continue  # removed since the folder was listed
                    if name.isascii() or is_utf8_name(name):
                        yield ScannedFile(prefix + name, fingerprint_of(found))
                elif entry.is_dir(follow_symlinks=False) and (
                    prefix or name not in _SKIPPED_FOLDERS
                ):
                    folders.append(f"{prefix}{name}/")
                elif len(ignored) < MAX_IGNORED_TOLD and is_unread_text(name):
                    ignored.append(prefix + name)

    def read(self, path: str) -> StoredMemory:
        """Return the memory in a file; `NoFile` if it is gone, `FileUnreadable` if it is wrong."""
        data, found = self._look(path)
        if self._marks is None:
            return read_memory(path, data, found)
        try:
            with self._marks.reading(path, f"{found.mtime_ns}-{found.size}", data):
                return read_memory(path, data, found)
        except FileEndedProcess as error:
            raise FileUnreadable(path, 1, error.message) from error

    def suspected_files(self) -> frozenset[str]:
        """Return the files that may have ended the process which read them: `read` alone takes
        the care with them that this needs."""
        return frozenset(self._marks.named()) if self._marks is not None else frozenset()

    def read_all(self, paths: Sequence[str]) -> Iterator[StoredMemory | FileUnreadable]:
        """Yield the memory in each file, or what is wrong with it; nothing for one that is gone."""
        for path in paths:
            try:
                yield self.read(path)
            except FileUnreadable as error:
                yield error
            except NoFile:
                continue

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
        """Return how a file looks now, or None if there is none.

        A file that we may not look at is there, and looks like nothing that was ever read.
        """
        place = self._disk_path(path)
        if self._is_behind_link(path):
            return None
        try:
            found = os.lstat(place)
            return fingerprint_of(found) if stat.S_ISREG(found.st_mode) else None
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError:
            return _UNREADABLE_FINGERPRINT

    def fingerprints(self, paths: Sequence[str]) -> dict[str, Fingerprint]:
        """Return how these files look now, as far as they are there."""
        looks = ((path, self.fingerprint(path)) for path in paths)
        return {path: found for path, found in looks if found is not None}

    def _look(self, path: str) -> tuple[bytes, Fingerprint]:
        """Return bytes and looks of a file. The looks are taken first: if the file is changed
        while it is read they are too old, and the next scan looks again."""
        place = self._disk_path(path)
        if self._is_behind_link(path):
            raise NoFile(self.root / path)
        try:
            descriptor = os.open(place, _READ_FLAGS)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise NoFile(self.root / path) from error
        except OSError as error:
            raise FileUnreadable(path, 1, error.strerror or str(error)) from error
        try:
            found = os.fstat(descriptor)
            if found.st_size > MAX_FILE_BYTES:
                size = f"{found.st_size:,} bytes; at most {MAX_FILE_BYTES:,} are read"
                raise FileUnreadable(path, 1, f"has {size}")
            data = _read_descriptor(descriptor, found.st_size)
        except OSError as error:
            raise FileUnreadable(path, 1, error.strerror or str(error)) from error
        finally:
            os.close(descriptor)
        return data, fingerprint_of(found)

    # -- names -----------------------------------------------------------------------------

    def path_for(self, memory: Memory) -> str:
        """Return a free path for a new memory. Looks at single names, never at a folder."""
        name = ""
        for name in candidate_file_names(memory):
            if not os.path.lexists(f"{self.root}/{name}"):
                break
        return name

    def trash_path(self, path: str) -> str:
        """Return a free path in the trash that tells where the file was."""
        return self._free(f"{TRASH}/{path}")

    def untrash_path(self, stored: StoredMemory) -> str:
        """Return where a forgotten memory goes back to: its old place, or a free name."""
        path = stored.path.removeprefix(f"{TRASH}/")
        taken = self._is_behind_link(path) or os.path.lexists(self._disk_path(path))
        return self.path_for(stored.memory) if taken else path

    def _free(self, path: str) -> str:
        free, number = path, 1
        while os.path.lexists(self._disk_path(free)):
            number += 1
            free = f"{path.removesuffix('.md')}-{number}.md"
        return free

    def _disk_path(self, path: str) -> str:
        """Return where a path is on the disk; one that is not of a file below us is refused."""
        return f"{self.root}/{check_path(path)}"

    def _is_behind_link(self, path: str) -> bool:
        """Whether a folder on the way to a path is a symbolic link. The vault itself may be one."""
        place = str(self.root)
        for part in path.split("/")[:-1]:
            place = f"{place}/{part}"
            try:
                if stat.S_ISLNK(os.lstat(place).st_mode):
                    return True
            except OSError:
                return False  # nothing there, or nothing to be seen: what is done next will tell
        return False

    def _writable_path(self, path: str) -> Path:
        """Return the place of a file that is about to be written."""
        place = self._disk_path(path)
        if self._is_behind_link(path):
            raise InvalidValue("path", f"is {path!r}, which leads out of the vault by a link")
        return Path(place)

    # -- changing --------------------------------------------------------------------------

    def apply(self, edit: FileEdit) -> Fingerprint | None:
        """Carry out one edit; returns how the file looks then, or None if it went for good.

        `FileChanged` if a file is neither as the edit found it nor as it leaves it.
        """
        if edit.path_after is None or edit.after is None:
            self._remove_if_same(edit.path_before, edit.before)
            return None
        self._writable_path(edit.path_after)
        found = self._fingerprint_if(edit.path_after, edit.after)
        if edit.path_before not in (None, edit.path_after):
            return self._move(edit, edit.path_after, edit.after, found)
        return found or self._write(edit, edit.path_after, edit.after)

    def apply_all(self, edits: Sequence[FileEdit]) -> list[Fingerprint | None]:
        """Carry out edits of different memories, each as `apply` does. Many are not waited for
        one by one. When one is refused, any of them may have been carried out."""
        if len(edits) < _MANY_EDITS or _has_path_conflict(edits):
            return [self.apply(each) for each in edits]
        moves = [each for each in edits if _is_move(each)]
        rewrites = [each for each in edits if _is_rewrite(each)]
        looks = dict(zip(map(id, moves), self._move_all(moves), strict=True))
        looks |= dict(zip(map(id, rewrites), self._write_all(rewrites), strict=True))
        return [looks[id(each)] if id(each) in looks else self.apply(each) for each in edits]

    def _move_all(self, edits: Sequence[FileEdit]) -> list[Fingerprint]:
        places = [(str(each.path_before), str(each.path_after), each) for each in edits]
        try:
            return move_files(
                [
                    (
                        self._writable_path(old),
                        self._writable_path(new),
                        partial(self._check, each, new),
                    )
                    for old, new, each in places
                ]
            )
        except FileExistsError as error:
            raise FileChanged(str(error.filename)) from error

    def _write_all(self, edits: Sequence[FileEdit]) -> list[Fingerprint]:
        places = [(str(each.path_after), each) for each in edits]
        return write_files(
            [
                (self._writable_path(path), each.after or b"", partial(self._check, each, path))
                for path, each in places
            ]
        )

    def create(self, files: Sequence[tuple[str, bytes]]) -> list[Fingerprint | MadeleineError]:
        """Write many new files; for each, how it looks or why it was refused.

        `FileChanged` if something is at a path already: it stays as it is.
        """
        places = [(self._writable_path(path), data) for path, data in files]
        try:
            found = create_files(places)
        except OSError as error:
            raise StoreUnwritable(self.root, error.strerror or str(error)) from error
        return [
            _refusal_error(path, each) if isinstance(each, OSError) else each
            for (path, _), each in zip(files, found, strict=True)
        ]

    def revert(self, edit: FileEdit) -> bool:
        """Take back what is there of one edit: all of it, half a move, or nothing.

        Returns whether all is as before. It is not where somebody else's bytes are in the
        way; they are left alone.
        """
        wrote = self._has_content(edit.path_after, edit.after)
        if self._has_content(edit.path_before, edit.before):
            if wrote and edit.path_after not in (None, edit.path_before):
                self._remove_if_same(edit.path_after, edit.after)
            return True
        free = edit.path_before == edit.path_after or self._is_free(edit.path_before)
        if not (wrote and free):
            return False
        self.apply(
            FileEdit(edit.memory_id, edit.path_after, edit.after, edit.path_before, edit.before)
        )
        return True

    def _fingerprint_if(self, path: str, wanted: bytes) -> Fingerprint | None:
        """Return how the file looks if it says exactly `wanted`."""
        try:
            data, found = self._look(path)
        except NoFile:
            return None
        return found if data == wanted else None

    def _has_content(self, path: str | None, wanted: bytes | None) -> bool:
        """Whether a file says exactly `wanted`; no file at all always does."""
        try:
            return path is None or self.read_bytes(path) == wanted
        except (NoFile, FileUnreadable):
            return False

    def _is_free(self, path: str | None) -> bool:
        return path is not None and self.fingerprint(path) is None

    def _check(self, edit: FileEdit, path: str) -> None:
        """Refuse to write at `path` if the file is no longer what the edit found."""
        self._writable_path(path)
        if self.bytes_or_none(edit.path_before) != edit.before:
            raise FileChanged(str(edit.path_before))

    def _write(self, edit: FileEdit, path: str, data: bytes) -> Fingerprint:
        """Write a file in the place where it is, or where there is none."""
        self._check(edit, path)
        write = create_file if edit.path_before is None else write_file
        try:
            return write(self._writable_path(path), data, lambda: self._check(edit, path))
        except FileExistsError as error:
            raise FileChanged(path) from error

    def _move(
        self, edit: FileEdit, path: str, data: bytes, found: Fingerprint | None
    ) -> Fingerprint:
        """Take a file to another place: in one step, or if its bytes change too, in two.

        A person's save between the two is kept and the first step taken back.
        """
        if found is not None:
            self._remove_if_same(edit.path_before, edit.before)
            return found
        self._check(edit, path)
        source, target = self._writable_path(str(edit.path_before)), self._writable_path(path)
        try:
            if edit.before == data:
                return move_file(source, target, lambda: self._check(edit, path))
            found = create_file(target, data, lambda: self._check(edit, path))
        except FileExistsError as error:
            raise FileChanged(path) from error
        try:
            self._remove_if_same(edit.path_before, edit.before)
        except (FileChanged, FileUnreadable):
            self._remove_if_same(path, data)
            raise
        return found

    def _remove_if_same(self, path: str | None, expected: bytes | None) -> None:
        """Remove a file if it still says what is expected; one that is gone is fine."""
        current = self.bytes_or_none(path)
        if path is None or current is None:
            return
        if current != expected:
            raise FileChanged(path)
        remove_file(self._writable_path(path))

    # -- trash and leftovers ---------------------------------------------------------------

    def trashed_memories(self) -> Iterator[StoredMemory]:
        """Yield the forgotten memories that can be read, in no particular order."""
        for path in self.trashed_paths():
            try:
                yield self.read(path)
            except (FileUnreadable, NoFile):
                continue  # `trashed_paths` lists it; there is nothing here to restore

    def trashed_paths(self) -> Iterator[str]:
        """Yield every file in the trash, readable or not.

        `FileUnreadable` at the end if a folder in it refused to be read.
        """
        unread: list[str] = []
        for found in self._scan_beneath(f"{TRASH}/", unread, []):
            yield found.path
        for folder in unread:
            raise FileUnreadable(folder, 1, "the folder cannot be read")

    def find_trashed(self, id_prefix: str) -> list[StoredMemory]:
        """Return the forgotten memories whose id begins so, the oldest file first."""
        wanted = id_prefix.lower()
        if not wanted:
            return []
        found = [each for each in self.trashed_memories() if each.memory.id.startswith(wanted)]
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


def check_path(path: str) -> str:
    """Return a path, or refuse it if no file of the vault can have it."""
    if "\0" in path or not {"", ".", ".."}.isdisjoint(path.split("/")):
        raise InvalidValue("path", f"is {path!r}, not a file in the vault")
    return path


def is_in_trash(path: str) -> bool:
    """Whether a path is that of a forgotten memory."""
    return path.startswith(f"{TRASH}/")


def is_memory_path(path: str) -> bool:
    """Whether a scan would look at a file of this path."""
    parts = path.split("/")
    hidden = any(part.startswith(".") for part in parts)
    aside = len(parts) > 1 and parts[0] in _SKIPPED_FOLDERS
    return is_memory_name(path) and not hidden and not aside


def _has_path_conflict(edits: Sequence[FileEdit]) -> bool:
    """Whether one of the edits needs the place of another, so that their order matters."""
    left = {each.path_before for each in edits if each.path_before != each.path_after}
    return any(each.path_after in left for each in edits if each.path_after is not None)


def _is_move(edit: FileEdit) -> bool:
    """Whether a file only goes to another place."""
    ends = (edit.path_before, edit.path_after)
    return None not in ends and ends[0] != ends[1] and edit.before == edit.after


def _is_rewrite(edit: FileEdit) -> bool:
    """Whether a file gets other bytes where it is."""
    return edit.path_before is not None and edit.path_before == edit.path_after


def _refusal_error(path: str, error: OSError) -> MadeleineError:
    if isinstance(error, FileExistsError):
        return FileChanged(path)
    return StoreUnwritable(Path(path), error.strerror or str(error))


def _read_descriptor(descriptor: int, size: int) -> bytes:
    data = os.read(descriptor, size + 1)
    if len(data) == size:
        return data
    parts = [data]
    while part := os.read(descriptor, _BLOCK_BYTES):
        parts.append(part)
    return b"".join(parts)
