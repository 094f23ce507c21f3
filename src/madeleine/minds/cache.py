"""What models made of passages before, in embeddings.db, by model and passage.

A rebuild reads its traces here instead of asking the model a second time, and a model that
comes back finds its own again. The file is only a cache (I2): delete it and a rebuild takes
longer, nothing else. One that turns out to be damaged is set aside, and a new one begun; one
of the former format is copied into the present one when it is opened, and an older one is simply
begun anew.

Vectors are kept as float16, half the size for a difference no ranking shows, and tokens in
four and a half bits a number (`rules/token_packing.py`). Fresh ones take the same way, so
that no answer depends on what was cached.

The index of a home keeps no tokens of its own but a reference to those that stand here, a hash of
the model and the passage. Before it notes one it has what is new written (`flush`), which is a
transaction and no wait for the disk. Otherwise nobody waits for this file to be written: what is
new stays in hand until there is enough of it, until the daemon asks for it now and then, or until
the end; a kill loses that much, and the model is asked again. What an index refers to and power
loss, or somebody, took away it misses when it is opened (`missing`), and the model reads it anew.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

import apsw

from madeleine.errors import MindDown, StoreUnwritable
from madeleine.language.text_keys import passage_key
from madeleine.minds.breaker import GuardedEmbedder
from madeleine.minds.port import Embedder
from madeleine.minds.vectors import (
    BYTES_PER_NUMBER,
    may_be_tokens,
    pack_tokens,
    pack_vectors,
    repack_tokens,
    tokens_from_bytes,
    unpack_tokens,
    unpack_vectors,
)
from madeleine.model.embedding import (
    KeptEmbedding,
    Passage,
    PassageEmbedding,
    QueryEmbedding,
    TokenKeeper,
    Tokens,
)
from madeleine.model.vector import Vector

QueryAnswer = TypeVar("QueryAnswer")
PackedEmbedding: TypeAlias = tuple[bytes, bytes]
"""A trace at rest: its vector and its tokens."""

CACHE_FORMAT = 3  # in user_version; a newer file is set aside
FORMER_FORMAT = 2  # is copied; an older one is begun anew
BUSY_TIMEOUT_MS = 5_000  # another process may be finishing; more than that is a lock left behind
MAX_PENDING_WRITES = 64  # traces not yet written: half a second of reading, a quarter megabyte
LENGTHS_SAMPLED = 100  # one damaged row must not decide how long vectors are
REFERENCE_BYTES = 16
PAGE_BYTES = 16_384  # some traces to a page: of 4,096 bytes a third would be left empty
CHECKPOINT_PAGES = 1_000
COPIED_AT_ONCE = 1_024  # traces of a former file: some megabytes
COPY_SUFFIX = ".new"

# Rows are far larger than their references, so those have a tree of their own.
CACHE_SCHEMA = f"""
CREATE TABLE models (
  model INTEGER PRIMARY KEY,
  name  TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE traces (
  number    INTEGER PRIMARY KEY,
  reference BLOB NOT NULL UNIQUE,
  model     INTEGER NOT NULL,
  vector    BLOB NOT NULL,
  tokens    BLOB NOT NULL
) STRICT;
PRAGMA user_version = {CACHE_FORMAT};
"""

SELECT_EMBEDDING = "SELECT reference, vector, tokens FROM traces WHERE reference = ?"
SELECT_TOKENS = "SELECT reference, tokens FROM traces WHERE reference = ?"
SELECT_REFERENCES = "SELECT reference FROM traces"
# A row that is replaced was found to be nonsense, or was made twice at the same time.
INSERT_EMBEDDING = """INSERT OR REPLACE INTO traces (reference, model, vector, tokens)
         VALUES (?, (SELECT model FROM models WHERE name = ?), ?, ?)"""
INSERT_MODEL = "INSERT OR IGNORE INTO models (name) VALUES (?)"
DELETE_EMBEDDING = "DELETE FROM traces WHERE reference = ?"


class _PendingEmbedding(NamedTuple):
    model: str
    packed: PackedEmbedding


def make_reference(model: str, key: str) -> bytes:
    """Return under what the trace of a passage is kept, by its `passage_key`."""
    return hashlib.blake2b(f"{model}\n{key}".encode(), digest_size=REFERENCE_BYTES).digest()


class _OutdatedFormat(Exception):
    """The file was made by an older version."""


class _FormerFormat(Exception):
    """The file was made by the version before, and can be read."""


class EmbeddingCache:
    """embeddings.db (`TokenKeeper`). One connection writes, and one reads tokens for questions,
    which do not wait for what is being written; each is taken in turns by all threads, and never
    while a model computes (I6)."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.set_aside: Path | None = None
        """Where a damaged file went, if there was one since this was opened."""
        self._turn = threading.Lock()
        self._reading = threading.Lock()
        self._waiting: dict[bytes, _PendingEmbedding] = {}
        self._reader: apsw.Connection | None = None
        with _translate_disk_errors(path):
            self._connection = self._connect_or_begin_anew()

    @classmethod
    def open(cls, path: Path) -> EmbeddingCache:
        """Return the cache at `path`, made if it is not there.

        Raises `StoreUnwritable` when the disk refuses.
        """
        return cls(path)

    def close(self) -> None:
        """Write what waits, and let go of the file even if the disk refuses."""
        try:
            self.flush()
        finally:
            with self._turn:
                self._close_reader()
                self._connection.close()

    def get(self, model: str, keys: Sequence[str]) -> dict[str, PackedEmbedding]:
        """Return the packed traces that are kept, in no order to rely on."""
        by_reference = {make_reference(model, key): key for key in keys}
        with self._turn:
            waiting = {each: self._waiting.get(each) for each in by_reference}
        found = {by_reference[each]: one.packed for each, one in waiting.items() if one is not None}
        rest = [(each,) for each, one in waiting.items() if one is None]
        if rest:
            rows = self._run(lambda db: list(db.executemany(SELECT_EMBEDDING, rest)))
            found |= {by_reference[each]: (vector, tokens) for each, vector, tokens in rows}
        return found

    def put(self, model: str, packed: Mapping[str, PackedEmbedding]) -> None:
        """Keep traces by key. They are found from now on, and written later."""
        fresh = {
            make_reference(model, key): _PendingEmbedding(model, each)
            for key, each in packed.items()
        }
        with self._turn:
            self._waiting |= fresh
            enough = len(self._waiting) >= MAX_PENDING_WRITES
        if enough:
            self.flush()

    def flush(self) -> None:
        """Write what waits, in one transaction. What the disk refuses is not tried again:
        it is only a cache, and must not grow in memory instead."""

        def write(db: apsw.Connection) -> None:
            rows = [(each, one.model, *one.packed) for each, one in waiting.items()]
            with db:
                db.executemany(INSERT_MODEL, [(each,) for each in {row[1] for row in rows}])
                db.executemany(INSERT_EMBEDDING, rows)

        with self._turn, _translate_disk_errors(self.path):
            waiting, self._waiting = self._waiting, {}
            if waiting:
                self._retry_if_damaged(write)

    def tokens(self, references: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the tokens that are kept under these references, each row after the other."""
        wanted = [(each,) for each in references]
        with self._reading, _translate_disk_errors(self.path):
            try:
                rows = list(self._tokens_reader().executemany(SELECT_TOKENS, wanted))
            except (apsw.CorruptError, apsw.NotADBError):
                rows = []  # whoever writes next sets the file aside
        unpacked = unpack_tokens([tokens for _, tokens in rows])
        found = zip(rows, unpacked, strict=True)
        return {each: numbers for (each, _), numbers in found if numbers is not None}

    def token_rows(self, reference: bytes, width: int) -> Tokens:
        """Return the tokens of one passage; no rows if none are kept."""
        self.flush()
        return tokens_from_bytes(self.tokens([reference]).get(reference, b""), width)

    def missing(self, references: Collection[bytes]) -> set[bytes]:
        """Return the references under which nothing is kept."""
        if not references:
            return set()
        kept = {each for (each,) in self._rows(SELECT_REFERENCES)}
        return set(references) - kept

    def dimension(self, model: str) -> int | None:
        """Return how many numbers the vectors of a model have, if any is kept."""
        question = """SELECT length(t.vector) FROM models m JOIN traces t USING (model)
                      WHERE m.name = ? LIMIT ?"""
        sizes = Counter(size for (size,) in self._rows(question, (model, LENGTHS_SAMPLED)))
        return sizes.most_common(1)[0][0] // BYTES_PER_NUMBER if sizes else None

    def models(self) -> dict[str, int]:
        """Return how many traces of each model are kept."""
        question = "SELECT m.name, count(*) FROM traces JOIN models m USING (model) GROUP BY 1"
        return dict(self._rows(question))

    def forget(self, keys: Sequence[str]) -> int:
        """Drop traces by key, of every model, and leave no byte of them in the file."""

        def write(db: apsw.Connection) -> int:
            db.pragma("secure_delete", True)
            models = [name for (name,) in db.execute("SELECT name FROM models")]
            gone = [(make_reference(model, key),) for model in models for key in keys]
            before = db.total_changes()
            with db:
                db.executemany(DELETE_EMBEDDING, gone)
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return db.total_changes() - before

        self.flush()
        with self._reading:  # a reader would keep the log from being emptied
            return self._run(write)

    def _rows(self, question: str, values: tuple[str | int, ...] = ()) -> list[Any]:
        """Answer a question about all that is kept."""
        self.flush()
        return self._run(lambda db: list(db.execute(question, values)))

    def _tokens_reader(self) -> apsw.Connection:
        if self._reader is None:
            self._reader = apsw.Connection(str(self.path))
            self._reader.set_busy_timeout(BUSY_TIMEOUT_MS)
            self._reader.pragma("query_only", True)
        return self._reader

    def _close_reader(self) -> None:
        with self._reading:
            reader, self._reader = self._reader, None
            if reader is not None:
                reader.close()

    def _run(self, work: Callable[[apsw.Connection], QueryAnswer]) -> QueryAnswer:
        """Do `work` in turn."""
        with self._turn, _translate_disk_errors(self.path):
            return self._retry_if_damaged(work)

    def _retry_if_damaged(self, work: Callable[[apsw.Connection], QueryAnswer]) -> QueryAnswer:
        """Do `work`. If the file proves damaged, do it once more on a new one."""
        try:
            return work(self._connection)
        except (apsw.CorruptError, apsw.NotADBError):
            self._close_reader()
            self._connection.close()
            self._set_aside()
            self._connection = self._connect()
            return work(self._connection)

    def _connect_or_begin_anew(self) -> apsw.Connection:
        self._copy_of().unlink(missing_ok=True)  # of a process that was killed while it copied
        try:
            return self._connect()
        except _FormerFormat:
            self._copy_former()
        except _OutdatedFormat:
            self.path.unlink()
            self._remove_beside()
        except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError):
            # SQLError: a database, but with tables of another shape.
            self._set_aside()
        return self._connect()

    def _copy_of(self) -> Path:
        path = self.path.resolve()  # the file itself, where the home has only a link to it
        return path.with_name(path.name + COPY_SUFFIX)

    def _copy_former(self) -> None:
        """Put what a file of the former format holds into a new one, and that in its place. Killed
        before that, the old one is read again; what a damaged one has left is made again."""
        copy = EmbeddingCache(self._copy_of())
        former = apsw.Connection(str(self.path))
        try:
            copy._take_former(former)
            former.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # nothing of its log stays beside
        except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError):
            former.close()
            self._set_aside()
        finally:
            former.close()
            copy.close()
        _sync_file(copy.path)
        copy.path.replace(self.path.resolve())
        self._remove_beside()

    def _take_former(self, former: apsw.Connection) -> None:
        rows = former.execute("SELECT model, key, vector, tokens FROM traces")
        while some := list(islice(rows, COPIED_AT_ONCE)):
            packed = repack_tokens([tokens for *_, tokens in some])
            self._waiting = {
                make_reference(model, key): _PendingEmbedding(model, (vector, tokens))
                for (model, key, vector, _), tokens in zip(some, packed, strict=True)
            }
            self.flush()

    def _connect(self) -> apsw.Connection:
        # Made by us with its mode before SQLite sees it: a vector tells about its text. The
        # -wal and -shm files take their mode from it.
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        self.path.chmod(0o600)
        db = apsw.Connection(str(self.path))
        try:
            _prepare_database(db)
        except (apsw.Error, _OutdatedFormat, _FormerFormat):
            db.close()
            raise
        return db

    def _set_aside(self) -> None:
        """Move the damaged file out of the way; the next `_connect` makes a new one."""
        self.set_aside = self.path.with_name(self.path.name + ".damaged")
        self.path.replace(self.set_aside)
        self._remove_beside()

    def _remove_beside(self) -> None:
        for suffix in ("-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)


def _prepare_database(db: apsw.Connection) -> None:
    db.set_busy_timeout(BUSY_TIMEOUT_MS)
    db.pragma("page_size", PAGE_BYTES)  # of a file that is empty yet
    db.pragma("journal_mode", "wal")
    db.pragma("synchronous", "normal")  # power loss may cost the newest traces, no more
    db.pragma("wal_autocheckpoint", CHECKPOINT_PAGES)
    version = db.pragma("user_version")
    if version == 0:
        with db:
            db.execute(CACHE_SCHEMA)
    elif version == FORMER_FORMAT:
        raise _FormerFormat
    elif version < CACHE_FORMAT:
        raise _OutdatedFormat
    elif version > CACHE_FORMAT:
        raise apsw.NotADBError(f"embeddings.db has format {version}")
    list(db.execute("SELECT reference, model, vector, tokens FROM traces LIMIT 1"))
    list(db.execute("SELECT model, name FROM models LIMIT 1"))


def _sync_file(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _translate_disk_errors(path: Path) -> Iterator[None]:
    """Turn what the disk refuses into `StoreUnwritable`."""
    try:
        yield
    except (apsw.ReadOnlyError, apsw.FullError, apsw.CantOpenError, apsw.IOError) as error:
        raise StoreUnwritable(path, str(error)) from error
    except (apsw.PermissionsError, apsw.BusyError, apsw.LockedError) as error:
        raise StoreUnwritable(path, str(error)) from error
    except OSError as error:
        raise StoreUnwritable(path, error.strerror or str(error)) from error


class CachedEmbedder:
    """An embedder with its cache: the one that the other rooms use (`CachingEmbedder`)."""

    def __init__(self, embedder: Embedder, store: EmbeddingCache) -> None:
        self._embedder = embedder
        self._store = store
        self._dimension = 0

    def beside(self, embedder: Embedder) -> CachedEmbedder:
        """Return another embedder that keeps what it makes in the same file."""
        return CachedEmbedder(embedder, self._store)

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def dimension(self) -> int:
        """How many numbers a vector has. If any is kept the model is not asked: a home whose
        remote model is away still opens."""
        if not self._dimension:
            self._dimension = self._store.dimension(self.name) or self._embedder.dimension
        return self._dimension

    @property
    def token_dimension(self) -> int:
        return self._embedder.token_dimension

    @property
    def problem(self) -> str:
        return self._embedder.problem if isinstance(self._embedder, GuardedEmbedder) else ""

    @property
    def keeper(self) -> TokenKeeper:
        return self._store

    def read(self, passages: Sequence[Passage]) -> list[PassageEmbedding]:
        """Return one trace per passage, in order. Each distinct passage that is not kept is
        read once, and all the new traces are kept at the end: hand in a slice at a time if
        stopping halfway should not lose the rest."""
        keys = [passage_key(passage) for passage in passages]
        known = self.kept(list(dict.fromkeys(keys)))
        missing = {key: each for key, each in zip(keys, passages, strict=True) if key not in known}
        if missing:
            known |= self._read_missing(missing)
        return [known[key] for key in keys]

    def ask(self, text: str) -> QueryEmbedding:
        """Return what a question means, without looking it up or keeping it. Its vector is the
        one that reading the same text would give."""
        made = self._embedder.ask(text)
        (vector,) = self._round_fresh(self._pack_fresh([made.vector]))
        return replace(made, vector=vector)

    def kept(self, keys: Sequence[str]) -> dict[str, PassageEmbedding]:
        """Return the traces that are kept under these keys; the others are left out, and so is
        one that makes no sense: it is made and kept again when its passage is read."""
        packed = self._store.get(self.name, keys)
        if not packed:
            return {}
        size, width = self.dimension * BYTES_PER_NUMBER, self.token_dimension
        whole = [
            key
            for key, (vector, tokens) in packed.items()
            if len(vector) == size and may_be_tokens(tokens, width)
        ]
        vectors = unpack_vectors([packed[key][0] for key in whole])
        return {
            key: self._build_kept(key, vector)
            for key, vector in zip(whole, vectors, strict=True)
            if vector is not None
        }

    def forget(self, keys: Sequence[str]) -> int:
        """Drop what is kept under these keys; return how much that was."""
        return self._store.forget(keys)

    def flush(self) -> None:
        self._store.flush()

    def close(self) -> None:
        self._store.close()

    def _build_kept(self, key: str, vector: Vector, known: float = 1.0) -> KeptEmbedding:
        reference = make_reference(self.name, key)
        return KeptEmbedding(vector, reference, self._store, self.token_dimension, known)

    def _read_missing(self, missing: Mapping[str, Passage]) -> dict[str, PassageEmbedding]:
        made = self._embedder.read(list(missing.values()))
        vectors = self._pack_fresh([trace.vector for trace in made])
        tokens = pack_tokens([trace.tokens for trace in made])
        packed = zip(vectors, tokens, strict=True)
        self._store.put(self.name, dict(zip(missing, packed, strict=True)))
        fresh = zip(missing, self._round_fresh(vectors), made, strict=True)
        return {key: self._build_kept(key, vector, trace.known) for key, vector, trace in fresh}

    def _pack_fresh(self, vectors: Sequence[Vector]) -> list[bytes]:
        """Return fresh vectors as they are kept."""
        packed = pack_vectors(vectors)
        for each in packed:
            if len(each) != self.dimension * BYTES_PER_NUMBER:
                raise MindDown(
                    self.name,
                    f"the model answers with {len(each) // BYTES_PER_NUMBER} numbers where it gave "
                    f"{self.dimension} before: another model under the same name",
                )
        return packed

    def _round_fresh(self, packed: Sequence[bytes]) -> list[Vector]:
        """Return fresh vectors as they will come back."""
        vectors = [vector for vector in unpack_vectors(packed) if vector is not None]
        if len(vectors) != len(packed):
            raise MindDown(self.name, "the model gave a vector that is not of length 1")
        return vectors
