"""The ledger: what this machine knows of versions, in `sync/ledger.db` of the home.

It has every version of every memory with its text, what of them stands in the vault here, our own
segments, and which files of others were read. All of it can be made again from the files at the
meeting place, so a ledger that is lost costs one long sync.

One connection, taken in turns. Nobody holds it while a network is waited for (I6).
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import apsw

from madeleine.errors import Damaged, StoreUnwritable
from madeleine.model.fingerprint import Fingerprint
from madeleine.sync.segments import Segment
from madeleine.sync.versions import PURGED_PATH, Version, VersionState
from madeleine.vault.files import make_private_folder

LEDGER_FORMAT = 1
BUSY_TIMEOUT_MS = 5_000
FORMAT_PROBLEM = "was made by another release"

SCHEMA = f"""
CREATE TABLE versions (
  id      TEXT PRIMARY KEY,
  memory  TEXT NOT NULL,
  parents TEXT NOT NULL,
  at      INTEGER NOT NULL,
  device  TEXT NOT NULL,
  state   TEXT NOT NULL,
  path    TEXT NOT NULL,
  content BLOB,
  ready   INTEGER NOT NULL,
  unsent  INTEGER NOT NULL
) STRICT;
CREATE INDEX versions_of_memory ON versions (memory);
CREATE INDEX versions_unsent ON versions (unsent) WHERE unsent;
CREATE TABLE local (
  memory  TEXT PRIMARY KEY,
  version TEXT,
  state   TEXT NOT NULL,
  path    TEXT NOT NULL,
  mtime   INTEGER NOT NULL,
  size    INTEGER NOT NULL,
  ctime   INTEGER NOT NULL,
  digest  BLOB NOT NULL,
  held    TEXT
) STRICT;
CREATE TABLE attention (memory TEXT PRIMARY KEY) STRICT;
CREATE TABLE segments (
  name    TEXT PRIMARY KEY,
  own     INTEGER NOT NULL,
  dropped INTEGER NOT NULL,
  data    BLOB
) STRICT;
CREATE TABLE events (digest BLOB PRIMARY KEY) STRICT, WITHOUT ROWID;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
PRAGMA user_version = {LEDGER_FORMAT};
"""


@dataclass(frozen=True, slots=True)
class LocalFile:
    """What stands in this vault of a memory: the file as it was when it was last looked at, and
    the version that it is."""

    memory: str
    version: str | None
    """None: nothing of it was ever shared."""
    state: VersionState
    path: str
    """Where the file really is; in the trash, too. Empty where there is none."""
    looks: Fingerprint
    digest: bytes
    """The hash of its bytes."""
    held: str | None = None
    """Why it does not leave this machine, if it does not."""


class Ledger:
    """The open file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._turn = threading.RLock()
        try:
            make_private_folder(path.parent)
        except OSError as error:
            raise StoreUnwritable(path.parent, error.strerror or str(error)) from error
        with self._translated():
            self._db = apsw.Connection(str(path))
            path.chmod(0o600)
            self._db.set_busy_timeout(BUSY_TIMEOUT_MS)
            for setting in ("journal_mode = WAL", "secure_delete = ON"):
                list(self._db.execute(f"PRAGMA {setting}"))
            version = self._db.execute("PRAGMA user_version").get
            if version == 0:
                with self._db:
                    self._db.execute(SCHEMA)
            elif version != LEDGER_FORMAT:
                raise _damaged_error(path, FORMAT_PROBLEM)

    def close(self) -> None:
        with self._turn:
            self._db.close()

    @contextmanager
    def together(self) -> Iterator[None]:
        """Write all of what is done inside, or nothing of it."""
        with self._turn, self._translated(), self._db:
            yield

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (apsw.CorruptError, apsw.NotADBError) as error:
            raise _damaged_error(self.path, str(error)) from error
        except apsw.Error as error:
            raise StoreUnwritable(self.path, str(error)) from error

    def _rows(self, sql: str, *values: object) -> list[tuple[object, ...]]:
        with self._turn, self._translated():
            return list(self._db.execute(sql, values))

    def _run(self, sql: str, *values: object) -> None:
        self._rows(sql, *values)

    # -- versions --------------------------------------------------------------------------

    def add_version(self, version: Version, *, ours: bool) -> bool:
        """Keep a version; whether it was new. Of one that came without its text, because that was
        purged elsewhere, a copy that has it is taken as long as the memory is not purged here."""
        known = self._rows("SELECT content IS NULL FROM versions WHERE id = ?", version.id)
        if known:
            if known[0][0] and version.content is not None and not self._is_purged(version.memory):
                self._run(
                    "UPDATE versions SET content = ?, path = ? WHERE id = ?",
                    version.content,
                    version.path,
                    version.id,
                )
                self.note_attention(version.memory)
            return False
        ready = self._are_known(version.parents)
        self._run(
            "INSERT INTO versions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            version.id,
            version.memory,
            json.dumps(version.parents),
            version.at,
            version.device,
            version.state.value,
            version.path,
            version.content,
            int(ready),
            int(ours),
        )
        if ready:
            self._release_children(version.memory)
        self.note_attention(version.memory)
        return True

    def _is_purged(self, memory: str) -> bool:
        local = self.local_file(memory)
        return local is not None and local.state is VersionState.PURGED

    def _are_known(self, parents: Sequence[str]) -> bool:
        found = self._rows(
            "SELECT count(*) FROM versions WHERE ready AND id IN (SELECT value FROM json_each(?))",
            json.dumps(parents),
        )
        return found[0][0] == len(set(parents))

    def _release_children(self, memory: str) -> None:
        """Let versions count that came before their parents did."""
        while True:
            waiting = self._rows(
                "SELECT id, parents FROM versions WHERE memory = ? AND NOT ready", memory
            )
            ready = [each for each, told in waiting if self._are_known(json.loads(str(told)))]
            if not ready:
                return
            for each in ready:
                self._run("UPDATE versions SET ready = 1 WHERE id = ?", each)

    def versions_of(self, memory: str) -> dict[str, Version]:
        """Return the versions of a memory all of whose ancestors are known, by their ids."""
        rows = self._rows(
            "SELECT id, memory, parents, at, device, state, path, content FROM versions"
            " WHERE memory = ? AND ready",
            memory,
        )
        return {str(row[0]): _read_version(row) for row in rows}

    def unsent_versions(self) -> list[Version]:
        rows = self._rows(
            "SELECT id, memory, parents, at, device, state, path, content FROM versions"
            " WHERE unsent ORDER BY at, id"
        )
        return [_read_version(row) for row in rows]

    def mark_sent(self) -> None:
        self._run("UPDATE versions SET unsent = 0 WHERE unsent")

    def mark_received(self, version_id: str) -> None:
        """Note that a version stands at the place already."""
        self._run("UPDATE versions SET unsent = 0 WHERE id = ? AND unsent", version_id)

    def waiting_versions(self) -> int:
        """Return how many versions came without those that they were made from."""
        return int(str(self._rows("SELECT count(*) FROM versions WHERE NOT ready")[0][0]))

    def has_texts(self, memory: str) -> bool:
        found = self._rows(
            "SELECT 1 FROM versions WHERE memory = ? AND content IS NOT NULL LIMIT 1", memory
        )
        return bool(found)

    def drop_texts(self, memories: Iterable[str]) -> None:
        """Take the texts of all versions of these memories away for good."""
        for each in memories:
            self._run(
                "UPDATE versions SET content = NULL, path = ? WHERE memory = ?", PURGED_PATH, each
            )

    def empty_log(self) -> None:
        """Let nothing of what was taken away stand in the file's log."""
        self._run("PRAGMA wal_checkpoint(TRUNCATE)")

    # -- what stands here ------------------------------------------------------------------

    def local_files(self) -> dict[str, LocalFile]:
        """Return what stands here, by memory."""
        rows = self._rows(
            "SELECT memory, version, state, path, mtime, size, ctime, digest, held FROM local"
        )
        return {str(row[0]): _read_local(row) for row in rows}

    def local_file(self, memory: str) -> LocalFile | None:
        rows = self._rows(
            "SELECT memory, version, state, path, mtime, size, ctime, digest, held FROM local"
            " WHERE memory = ?",
            memory,
        )
        return _read_local(rows[0]) if rows else None

    def set_local(self, local: LocalFile) -> None:
        self._run(
            "INSERT OR REPLACE INTO local VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            local.memory,
            local.version,
            local.state.value,
            local.path,
            local.looks.mtime_ns,
            local.looks.size,
            local.looks.ctime_ns,
            local.digest,
            local.held,
        )

    def forget_looks(self) -> None:
        """Have every file read again at the next look."""
        self._run("UPDATE local SET size = -1")

    def note_attention(self, memory: str) -> None:
        """Have a memory looked at by the next merge."""
        self._run("INSERT OR IGNORE INTO attention VALUES (?)", memory)

    def clear_attention(self, memory: str) -> None:
        self._run("DELETE FROM attention WHERE memory = ?", memory)

    def attention(self) -> list[str]:
        """Return the memories of which there is something to be done, in a fixed order."""
        return [str(row[0]) for row in self._rows("SELECT memory FROM attention ORDER BY memory")]

    # -- segments --------------------------------------------------------------------------

    def known_segments(self) -> set[str]:
        """Return the names of the files that were read, or written by us."""
        return {str(row[0]) for row in self._rows("SELECT name FROM segments")}

    def add_segment(self, name: str) -> None:
        """Note that a file of another machine was read."""
        self._run("INSERT OR IGNORE INTO segments VALUES (?, 0, 0, NULL)", name)

    def add_own_segment(self, segment: Segment) -> None:
        self._run("INSERT OR REPLACE INTO segments VALUES (?, 1, 0, ?)", segment.name, segment.data)

    def own_segments(self) -> dict[str, int]:
        """Return the names of our segments that are to stand at the place, with their lengths."""
        rows = self._rows("SELECT name, length(data) FROM segments WHERE own AND NOT dropped")
        return {str(name): int(str(size)) for name, size in rows}

    def dropped_segments(self) -> set[str]:
        """Return the names of our segments that are to stand there no longer."""
        rows = self._rows("SELECT name FROM segments WHERE own AND dropped")
        return {str(row[0]) for row in rows}

    def segment_data(self, name: str) -> bytes:
        found = self._rows("SELECT data FROM segments WHERE name = ?", name)[0][0]
        return found if isinstance(found, bytes) else b""

    def drop_segment(self, name: str) -> None:
        self._run("UPDATE segments SET dropped = 1, data = NULL WHERE name = ?", name)

    def next_number(self) -> int:
        """Return the number of the next segment of ours."""
        value = int(self.get_meta("segments") or "0") + 1
        self.set_meta("segments", str(value))
        return value

    # -- events ----------------------------------------------------------------------------

    def is_new_event(self, digest: bytes) -> bool:
        """Note an event as shared; whether it was not before."""
        if self._rows("SELECT 1 FROM events WHERE digest = ?", digest):
            return False
        self._run("INSERT INTO events VALUES (?)", digest)
        return True

    # -- small values ----------------------------------------------------------------------

    def get_meta(self, key: str) -> str | None:
        found = self._rows("SELECT value FROM meta WHERE key = ?", key)
        return str(found[0][0]) if found else None

    def set_meta(self, key: str, value: str) -> None:
        self._run("INSERT OR REPLACE INTO meta VALUES (?, ?)", key, value)


def _damaged_error(path: Path, problem: str) -> Damaged:
    return Damaged(f"{path}: {problem}", hint="move it away; the next sync makes it anew")


def _read_version(row: tuple[object, ...]) -> Version:
    content = row[7]
    return Version(
        id=str(row[0]),
        memory=str(row[1]),
        parents=tuple(json.loads(str(row[2]))),
        at=int(str(row[3])),
        device=str(row[4]),
        state=VersionState(str(row[5])),
        path=str(row[6]),
        content=content if isinstance(content, bytes) else None,
    )


def _read_local(row: tuple[object, ...]) -> LocalFile:
    mtime, size, ctime = (int(str(each)) for each in row[4:7])
    return LocalFile(
        memory=str(row[0]),
        version=None if row[1] is None else str(row[1]),
        state=VersionState(str(row[2])),
        path=str(row[3]),
        looks=Fingerprint(mtime, size, ctime),
        digest=row[7] if isinstance(row[7], bytes) else b"",
        held=None if row[8] is None else str(row[8]),
    )
