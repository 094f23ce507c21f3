"""The vault as rows: every memory's file by its path, with its bytes.

Paths, names and bytes are those of the folder (`vault.vault`), and so is what each method
promises. A file looks like its version, which no other file ever has. Since a writer holds the
tenant's row, a file that was looked at stays as it is until the end of the transaction.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from madeleine.database.transactions import DatabaseTenant, TenantAccess
from madeleine.errors import FileChanged, FileUnreadable, MadeleineError, NoFile
from madeleine.model.change import FileEdit
from madeleine.model.fingerprint import Fingerprint
from madeleine.model.memory import Memory
from madeleine.model.stored_memory import StoredMemory
from madeleine.vault.file_naming import candidate_file_names
from madeleine.vault.markdown import read_memory
from madeleine.vault.vault import TRASH, ScannedFile, check_path, is_memory_path

PAGE_FILES = 1_000  # files that are fetched at once, where there may be many
_ID_LINE = re.compile(rb"^id: *[\"']?([0-9a-fA-F-]{8,64})[\"']?\r?$", re.MULTILINE)
_FRONT_BYTES = 4_096  # of a file, in which its id stands

_SELECT_FILES = (
    "SELECT path, data, version FROM files WHERE truth = :truth AND path = ANY(%s::text[])"
)
_SELECT_FINGERPRINTS = """
    SELECT path, version, octet_length(data) FROM files
    WHERE truth = :truth AND path = ANY(%s::text[])
"""
_UPSERT_FILES = """
    INSERT INTO files (truth, path, memory, data)
    SELECT :truth, * FROM unnest(%s::text[], %s::text[], %s::bytea[])
    ON CONFLICT (truth, path) DO {} RETURNING path, version
"""
_INSERT_FILES = _UPSERT_FILES.format("NOTHING")
_REPLACE_FILES = _UPSERT_FILES.format(
    "UPDATE SET memory = excluded.memory, data = excluded.data, version = excluded.version, "
    "written = excluded.written"
)
_KEEP_FORMER_FILES = """
    INSERT INTO former_files (truth, path, version, memory, written, data)
    SELECT truth, path, version, memory, written, data FROM files
    WHERE truth = :truth AND path = ANY(%s::text[])
"""
_DELETE_FILES = "DELETE FROM files WHERE truth = :truth AND path = ANY(%s::text[])"
_DELETE_FORMER_FILES = """
    DELETE FROM former_files WHERE truth = :truth AND memory = %s
    AND NOT EXISTS (SELECT 1 FROM files WHERE truth = :truth AND memory = %s)
"""
_SELECT_ALL_FINGERPRINTS = (
    "SELECT path, version, octet_length(data) FROM files WHERE truth = :truth ORDER BY path"
)
_SELECT_TRASHED = f"""
    SELECT path, data, version FROM files WHERE truth = :truth AND path LIKE '{TRASH}/%%'
    AND path > %s {{}} ORDER BY path LIMIT {PAGE_FILES}
"""
_ID_PREFIX_CONDITION = "AND (memory IS NULL OR starts_with(lower(memory), %s))"

_FileRow = tuple[bytes, Fingerprint]


class DatabaseVault:
    """A tenant's files in a database."""

    is_folder = False

    def __init__(self, rows: DatabaseTenant) -> None:
        self._rows = rows
        self.unread_folders: list[str] = []
        self.ignored_files: list[str] = []

    @property
    def root(self) -> Path:
        raise RuntimeError("a vault in a database has no folder; look at `is_folder` first")

    @property
    def place(self) -> str:
        return f"{self._rows.place}, tenant {self._rows.name}"

    # -- looking ---------------------------------------------------------------------------

    def note_text(self, path: str) -> None:
        """Nobody drops files into a database."""

    def scan(self) -> Iterator[ScannedFile]:
        with self._rows.reading() as access:
            rows = access.rows(_SELECT_ALL_FINGERPRINTS)
        for path, version, size in rows:
            if is_memory_path(path):
                yield ScannedFile(path, Fingerprint(version, size))

    def read(self, path: str) -> StoredMemory:
        return read_memory(path, *self._look(path))

    def read_all(self, paths: Sequence[str]) -> Iterator[StoredMemory | FileUnreadable]:
        files = self._read_rows(paths)
        for path in paths:
            if path in files:
                yield _read_or_error(path, *files[path])

    def read_bytes(self, path: str) -> bytes:
        return self._look(path)[0]

    def bytes_or_none(self, path: str | None) -> bytes | None:
        if path is None:
            return None
        found = self._read_rows([path]).get(path)
        return None if found is None else found[0]

    def fingerprint(self, path: str) -> Fingerprint | None:
        found = self._read_rows([path]).get(path)
        return None if found is None else found[1]

    def fingerprints(self, paths: Sequence[str]) -> dict[str, Fingerprint]:
        with self._rows.reading() as access:
            rows = access.rows(_SELECT_FINGERPRINTS, [check_path(path) for path in paths])
        return {path: Fingerprint(version, size) for path, version, size in rows}

    def _look(self, path: str) -> _FileRow:
        found = self._read_rows([path]).get(path)
        if found is None:
            raise NoFile(Path(path))
        return found

    def _read_rows(self, paths: Iterable[str | None]) -> dict[str, _FileRow]:
        with self._rows.reading() as access:
            return _read_files(access, paths)

    # -- names -----------------------------------------------------------------------------

    def path_for(self, memory: Memory) -> str:
        names = list(candidate_file_names(memory))
        taken = self._read_rows(names)
        return next((name for name in names if name not in taken), names[-1])

    def trash_path(self, path: str) -> str:
        return self._free(f"{TRASH}/{path}")

    def untrash_path(self, stored: StoredMemory) -> str:
        path = stored.path.removeprefix(f"{TRASH}/")
        return path if self.fingerprint(path) is None else self.path_for(stored.memory)

    def _free(self, path: str) -> str:
        free, number = path, 1
        while self.fingerprint(free) is not None:
            number += 1
            free = f"{path.removesuffix('.md')}-{number}.md"
        return free

    # -- changing --------------------------------------------------------------------------

    def apply(self, edit: FileEdit) -> Fingerprint | None:
        return self.apply_all([edit])[0]

    def apply_all(self, edits: Sequence[FileEdit]) -> list[Fingerprint | None]:
        """Carry out edits in their order; those of different paths are written together."""
        looks: list[Fingerprint | None] = []
        with self._rows.writing() as access:
            for some in _split_by_path(edits):
                looks += _apply_independent(access, some)
        return looks

    def create(self, files: Sequence[tuple[str, bytes]]) -> list[Fingerprint | MadeleineError]:
        with self._rows.writing() as access:
            made = _put_files(access, _INSERT_FILES, files)
        return [made.get(path) or FileChanged(path) for path, _ in files]

    def bring_in(self, files: Sequence[tuple[str, bytes]]) -> None:
        """Put files as they stand elsewhere, whatever is at their paths; nothing is kept of it."""
        with self._rows.writing() as access:
            _put_files(access, _REPLACE_FILES, files)

    def revert(self, edit: FileEdit) -> bool:
        found = self._read_rows([edit.path_before, edit.path_after])
        before, after = _bytes_at(found, edit.path_before), _bytes_at(found, edit.path_after)
        wrote = edit.path_after is None or after == edit.after
        moved = edit.path_after not in (None, edit.path_before)
        if edit.path_before is None or before == edit.before:
            if wrote and moved and after is not None:
                self.apply(FileEdit(edit.memory_id, edit.path_after, after, None, None))
            return True
        if not wrote or (moved and before is not None):
            return False
        self.apply(
            FileEdit(edit.memory_id, edit.path_after, edit.after, edit.path_before, edit.before)
        )
        return True

    # -- trash -----------------------------------------------------------------------------

    def trashed_memories(self) -> Iterator[StoredMemory]:
        for row in self._trashed_rows():
            stored = _read_or_error(*row)
            if isinstance(stored, StoredMemory):
                yield stored  # `trashed_paths` lists the others; there is nothing to restore

    def trashed_paths(self) -> Iterator[str]:
        for path, _, _ in self._trashed_rows():
            yield path

    def find_trashed(self, id_prefix: str) -> list[StoredMemory]:
        wanted = id_prefix.lower()
        if not wanted:
            return []
        read = [_read_or_error(*row) for row in self._trashed_rows(_ID_PREFIX_CONDITION, wanted)]
        stored = [each for each in read if isinstance(each, StoredMemory)]
        found = [each for each in stored if each.memory.id.startswith(wanted)]
        return sorted(found, key=lambda each: (each.fingerprint.mtime_ns, each.path))

    def _trashed_rows(
        self, also: str = "", *bindings: object
    ) -> Iterator[tuple[str, bytes, Fingerprint]]:
        after = ""
        while True:
            with self._rows.reading() as access:
                page = access.rows(_SELECT_TRASHED.format(also), after, *bindings)
            for path, data, version in page:
                yield path, bytes(data), Fingerprint(version, len(data))
            if len(page) < PAGE_FILES:
                return
            after = page[-1][0]


def _read_files(access: TenantAccess, paths: Iterable[str | None]) -> dict[str, _FileRow]:
    wanted = [check_path(path) for path in paths if path is not None]
    return {
        path: (bytes(data), Fingerprint(version, len(data)))
        for path, data, version in access.rows(_SELECT_FILES, wanted)
    }


def _bytes_at(files: dict[str, _FileRow], path: str | None) -> bytes | None:
    return files[path][0] if path is not None and path in files else None


def _split_by_path(edits: Sequence[FileEdit]) -> Iterator[list[FileEdit]]:
    """Give edits in portions in which no two have to do with one path."""
    some: list[FileEdit] = []
    taken: set[str | None] = set()
    for edit in edits:
        own = {edit.path_before, edit.path_after} - {None}
        if own & taken:
            yield some
            some, taken = [], set()
        some.append(edit)
        taken |= own
    if some:
        yield some


def _apply_independent(access: TenantAccess, edits: Sequence[FileEdit]) -> list[Fingerprint | None]:
    """Carry out edits that have nothing to do with each other."""
    paths = [path for edit in edits for path in (edit.path_before, edit.path_after)]
    files = _read_files(access, paths)
    done = [_is_done(edit, files) for edit in edits]
    for edit, ready in zip(edits, done, strict=True):
        if not ready:
            _check_edit(edit, files)
    waiting = [edit for edit, ready in zip(edits, done, strict=True) if not ready]
    _keep_and_clear_old(access, waiting)
    made = {path: look for path, (_, look) in files.items()}
    made |= _put_files(
        access, _REPLACE_FILES, [_file_after(each) for each in waiting if _leaves_file(each)]
    )
    return [made.get(edit.path_after) if edit.path_after else None for edit in edits]


def _leaves_file(edit: FileEdit) -> bool:
    return edit.path_after is not None and edit.after is not None


def _file_after(edit: FileEdit) -> tuple[str, bytes]:
    return str(edit.path_after), edit.after or b""


def _is_done(edit: FileEdit, files: dict[str, _FileRow]) -> bool:
    """Whether a file has its new state already, and no longer its old one."""
    left = edit.path_before == edit.path_after or _bytes_at(files, edit.path_before) is None
    if not _leaves_file(edit):
        return left or edit.path_before is None
    return left and _bytes_at(files, edit.path_after) == edit.after


def _check_edit(edit: FileEdit, files: dict[str, _FileRow]) -> None:
    """Refuse an edit that was made for other files than these."""
    if _bytes_at(files, edit.path_before) != edit.before:
        raise FileChanged(str(edit.path_before))
    there = _bytes_at(files, edit.path_after)
    elsewhere = edit.path_after not in (None, edit.path_before)
    if elsewhere and there is not None and there != edit.after:
        raise FileChanged(str(edit.path_after))


def _keep_and_clear_old(access: TenantAccess, edits: Sequence[FileEdit]) -> None:
    """Keep what the files said, and take those away that go or move. Of a memory that goes for
    good nothing is kept."""
    before = [each.path_before for each in edits if each.path_before is not None]
    if before:
        access.run(_KEEP_FORMER_FILES, before)
    leaving = [each for each in edits if each.path_before not in (None, each.path_after)]
    if leaving:
        access.run(_DELETE_FILES, [each.path_before for each in leaving])
    for each in leaving:
        if not _leaves_file(each):
            access.run(_DELETE_FORMER_FILES, each.memory_id, each.memory_id)


def _put_files(
    access: TenantAccess, sql: str, files: Sequence[tuple[str, bytes]]
) -> dict[str, Fingerprint]:
    if not files:
        return {}
    paths = [check_path(path) for path, _ in files]
    data = [each for _, each in files]
    rows = access.rows(sql, paths, [_find_id(each) for each in data], data)
    sizes = {path: len(each) for path, each in files}
    return {path: Fingerprint(version, sizes[path]) for path, version in rows}


def _find_id(data: bytes) -> str | None:
    """Return the id of the memory in a file, where it is plain to see."""
    found = _ID_LINE.search(data, 0, _FRONT_BYTES)
    return found[1].decode("ascii").lower() if found else None


def _read_or_error(path: str, data: bytes, found: Fingerprint) -> StoredMemory | FileUnreadable:
    try:
        return read_memory(path, data, found)
    except FileUnreadable as error:
        return error
