"""What models made of passages before, in embeddings.db, by model and passage.

A rebuild reads its traces here instead of asking the model a second time, and a model that
comes back finds its own again. The file is only a cache (I2): delete it and a rebuild takes
longer, nothing else. One that turns out to be damaged is set aside, and a new one begun; one
of an older format is simply begun anew.

Nobody waits for this file to be written. What is new stays in hand until there is enough of
it, until `flush`, which the daemon calls now and then, or until the end; a kill loses that
much, and the model is asked again.

Vectors are kept as float16, half the size for a difference no ranking shows, and tokens as
whole numbers of one byte. Fresh ones take the same way (see `vectors.py`), so that no answer
depends on what was cached.
"""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import apsw

from madeleine.errors import MindDown, StoreUnwritable
from madeleine.language.text_keys import passage_key
from madeleine.minds.breaker import GuardedEmbedder
from madeleine.minds.port import Embedder
from madeleine.minds.vectors import BYTES_PER_NUMBER, pack_vectors, unpack_tokens, unpack_vectors
from madeleine.model.embedding import Passage, PassageEmbedding, QueryEmbedding
from madeleine.model.vector import Vector

QueryAnswer = TypeVar("QueryAnswer")
PackedEmbedding: TypeAlias = tuple[bytes, bytes]
"""A trace at rest: its vector and its tokens."""

CACHE_FORMAT = 2  # in user_version; an older file is begun anew, a newer one set aside
BUSY_TIMEOUT_MS = 5_000  # another process may be finishing; more than that is a lock left behind
KEYS_PER_QUERY = 256  # per query: a few megabytes of traces in hand at a time
MAX_PENDING_WRITES = 64  # traces not yet written: half a second of reading, half a megabyte
LENGTHS_SAMPLED = 100  # one damaged row must not decide how long vectors are

# Rows are far larger than their keys, so the keys have a tree of their own.
CACHE_SCHEMA = f"""
CREATE TABLE traces (
  model  TEXT NOT NULL,
  key    TEXT NOT NULL,
  vector BLOB NOT NULL,
  tokens BLOB NOT NULL,
  PRIMARY KEY (model, key)
) STRICT;
PRAGMA user_version = {CACHE_FORMAT};
"""

# All the keys are one parameter, because the number of `?` in a statement is bounded.
SELECT_EMBEDDINGS = """SELECT key, vector, tokens FROM traces
         WHERE model = ? AND key IN (SELECT value FROM json_each(?))"""
# A row that is replaced was found to be nonsense, or was made twice at the same time.
INSERT_EMBEDDING = "INSERT OR REPLACE INTO traces VALUES (?, ?, ?, ?)"
DELETE_EMBEDDINGS = "DELETE FROM traces WHERE key IN (SELECT value FROM json_each(?))"


class _OutdatedFormat(Exception):
    """The file was made by an older version."""


class EmbeddingCache:
    """embeddings.db. One connection, taken in turns by all threads; never while a model
    computes (I6)."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.set_aside: Path | None = None
        """Where a damaged file went, if there was one since this was opened."""
        self._turn = threading.Lock()
        self._waiting: dict[tuple[str, str], PackedEmbedding] = {}
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
                self._connection.close()

    def get(self, model: str, keys: Sequence[str]) -> dict[str, PackedEmbedding]:
        """Return the packed traces that are kept, in no order to rely on."""
        with self._turn:
            waiting = {key: self._waiting.get((model, key)) for key in keys}
        found = {key: packed for key, packed in waiting.items() if packed is not None}
        rest = [key for key in waiting if key not in found]
        if rest:
            rows = self._run(
                lambda db: list(db.execute(SELECT_EMBEDDINGS, (model, json.dumps(rest))))
            )
            found |= {key: (vector, tokens) for key, vector, tokens in rows}
        return found

    def put(self, model: str, packed: Mapping[str, PackedEmbedding]) -> None:
        """Keep traces by key. They are found from now on, and written later."""
        with self._turn:
            self._waiting |= {(model, key): each for key, each in packed.items()}
            enough = len(self._waiting) >= MAX_PENDING_WRITES
        if enough:
            self.flush()

    def flush(self) -> None:
        """Write what waits, in one transaction. What the disk refuses is not tried again:
        it is only a cache, and must not grow in memory instead."""

        def write(db: apsw.Connection) -> None:
            rows = [(model, key, *each) for (model, key), each in waiting.items()]
            with db:
                db.executemany(INSERT_EMBEDDING, rows)

        with self._turn, _translate_disk_errors(self.path):
            waiting, self._waiting = self._waiting, {}
            if waiting:
                self._retry_if_damaged(write)

    def dimension(self, model: str) -> int | None:
        """Return how many numbers the vectors of a model have, if any is kept."""
        question = "SELECT length(vector) FROM traces WHERE model = ? LIMIT ?"
        sizes = Counter(size for (size,) in self._rows(question, (model, LENGTHS_SAMPLED)))
        return sizes.most_common(1)[0][0] // BYTES_PER_NUMBER if sizes else None

    def models(self) -> dict[str, int]:
        """Return how many traces of each model are kept."""
        return dict(self._rows("SELECT model, count(*) FROM traces GROUP BY model"))

    def forget(self, keys: Sequence[str]) -> int:
        """Drop traces by key, of every model, and leave no byte of them in the file."""

        def write(db: apsw.Connection) -> int:
            db.pragma("secure_delete", True)
            with db:
                db.execute(DELETE_EMBEDDINGS, (json.dumps(list(keys)),))
                dropped = db.changes()
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return dropped

        self.flush()
        return self._run(write)

    def _rows(self, question: str, values: tuple[str | int, ...] = ()) -> list[Any]:
        """Answer a question about all that is kept."""
        self.flush()
        return self._run(lambda db: list(db.execute(question, values)))

    def _run(self, work: Callable[[apsw.Connection], QueryAnswer]) -> QueryAnswer:
        """Do `work` in turn."""
        with self._turn, _translate_disk_errors(self.path):
            return self._retry_if_damaged(work)

    def _retry_if_damaged(self, work: Callable[[apsw.Connection], QueryAnswer]) -> QueryAnswer:
        """Do `work`. If the file proves damaged, do it once more on a new one."""
        try:
            return work(self._connection)
        except (apsw.CorruptError, apsw.NotADBError):
            self._connection.close()
            self._set_aside()
            self._connection = self._connect()
            return work(self._connection)

    def _connect_or_begin_anew(self) -> apsw.Connection:
        try:
            return self._connect()
        except _OutdatedFormat:
            self.path.unlink()
            self._remove_beside()
        except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError):
            # SQLError: a database, but with tables of another shape.
            self._set_aside()
        return self._connect()

    def _connect(self) -> apsw.Connection:
        # Made by us with its mode before SQLite sees it: a vector tells about its text. The
        # -wal and -shm files take their mode from it.
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        self.path.chmod(0o600)
        db = apsw.Connection(str(self.path))
        try:
            _prepare_database(db)
        except (apsw.Error, _OutdatedFormat):
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
    db.pragma("journal_mode", "wal")
    db.pragma("synchronous", "normal")  # power loss may cost the newest traces, no more
    version = db.pragma("user_version")
    if version == 0:
        with db:
            db.execute(CACHE_SCHEMA)
    elif version < CACHE_FORMAT:
        raise _OutdatedFormat
    elif version > CACHE_FORMAT:
        raise apsw.NotADBError(f"embeddings.db has format {version}")
    list(db.execute("SELECT model, key, vector, tokens FROM traces LIMIT 1"))


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
        found: dict[str, PassageEmbedding] = {}
        for start in range(0, len(keys), KEYS_PER_QUERY):
            packed = self._store.get(self.name, keys[start : start + KEYS_PER_QUERY])
            found |= self._unpack_embeddings(packed) if packed else {}
        return found

    def forget(self, keys: Sequence[str]) -> int:
        """Drop what is kept under these keys; return how much that was."""
        return self._store.forget(keys)

    def flush(self) -> None:
        self._store.flush()

    def close(self) -> None:
        self._store.close()

    def _unpack_embeddings(
        self, packed: Mapping[str, PackedEmbedding]
    ) -> dict[str, PassageEmbedding]:
        size = self.dimension * BYTES_PER_NUMBER
        whole = [key for key, (vector, _) in packed.items() if len(vector) == size]
        vectors = unpack_vectors([packed[key][0] for key in whole])
        tokens = unpack_tokens([packed[key][1] for key in whole], self.token_dimension)
        return {
            key: PassageEmbedding(vector, rows)
            for key, vector, rows in zip(whole, vectors, tokens, strict=True)
            if vector is not None and rows is not None
        }

    def _read_missing(self, missing: Mapping[str, Passage]) -> dict[str, PassageEmbedding]:
        made = self._embedder.read(list(missing.values()))
        vectors = self._pack_fresh([trace.vector for trace in made])
        tokens = [trace.tokens.tobytes() for trace in made]
        fresh = [
            PassageEmbedding(vector, trace.tokens, trace.known)
            for vector, trace in zip(self._round_fresh(vectors), made, strict=True)
        ]
        packed = zip(vectors, tokens, strict=True)
        self._store.put(self.name, dict(zip(missing, packed, strict=True)))
        return dict(zip(missing, fresh, strict=True))

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
