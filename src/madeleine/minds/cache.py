"""Vectors made before, in embeddings.db, by model and text.

A rebuild reads its vectors here instead of asking the model a second time, and a model that
comes back finds its own again. The file is only a cache (I2): delete it and a rebuild takes
longer, nothing else. One that turns out to be damaged is set aside, and a new one begun.

Vectors are kept as float16, half the size for a difference no ranking shows. Fresh ones
take the same way (see `vectors.py`), so that no answer depends on what was cached.
"""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import apsw

from madeleine.errors import MindDown, StoreUnwritable
from madeleine.minds.port import Embedder
from madeleine.minds.vectors import KEPT_BYTES, pack, unpack
from madeleine.model.vector import Vector
from madeleine.rules.text import text_key

Answer = TypeVar("Answer")

FORMAT = 1  # in user_version; a file of any other format is set aside
BUSY_MS = 5_000  # another process may be finishing; more than that is a lock left behind
KEYS_AT_ONCE = 2_000  # per query: a megabyte or two of vectors in hand at a time
LENGTHS_SAMPLED = 100  # one damaged row must not decide how long vectors are

SCHEMA = f"""
CREATE TABLE vectors (
  model  TEXT NOT NULL,
  key    TEXT NOT NULL,
  vector BLOB NOT NULL,
  PRIMARY KEY (model, key)
) STRICT, WITHOUT ROWID;
PRAGMA user_version = {FORMAT};
"""

# All the keys are one parameter, because the number of `?` in a statement is bounded.
GET = "SELECT key, vector FROM vectors WHERE model = ? AND key IN (SELECT value FROM json_each(?))"
# A row that is replaced was found to be nonsense, or was made twice at the same time.
PUT = "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)"


class VectorCache:
    """embeddings.db. One connection, taken in turns by all threads; never while a model
    computes (I6)."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.set_aside: Path | None = None
        """Where a damaged file went, if there was one since this was opened."""
        self._turn = threading.Lock()
        with _refusals(path):
            self._connection = self._connect_or_begin_anew()

    @classmethod
    def open(cls, path: Path) -> VectorCache:
        """Return the cache at `path`, made if it is not there.

        Raises `StoreUnwritable` when the disk refuses.
        """
        return cls(path)

    def close(self) -> None:
        with self._turn:
            self._connection.close()

    def get(self, model: str, keys: Sequence[str]) -> dict[str, bytes]:
        """Return the packed vectors that are kept, in no order to rely on."""
        found: dict[str, bytes] = {}
        for start in range(0, len(keys), KEYS_AT_ONCE):
            asked = (model, json.dumps(keys[start : start + KEYS_AT_ONCE]))
            found.update(self._rows(GET, asked))
        return found

    def put(self, model: str, packed: Mapping[str, bytes]) -> None:
        """Keep vectors by key, all or none."""
        rows = [(model, key, vector) for key, vector in packed.items()]

        def write(db: apsw.Connection) -> None:
            with db:
                db.executemany(PUT, rows)

        self._run(write)

    def dimension(self, model: str) -> int | None:
        """Return how many numbers the vectors of a model have, if any is kept."""
        question = "SELECT length(vector) FROM vectors WHERE model = ? LIMIT ?"
        sizes = Counter(size for (size,) in self._rows(question, (model, LENGTHS_SAMPLED)))
        return sizes.most_common(1)[0][0] // KEPT_BYTES if sizes else None

    def models(self) -> dict[str, int]:
        """Return how many vectors of each model are kept."""
        return dict(self._rows("SELECT model, count(*) FROM vectors GROUP BY model"))

    def forget_other_models(self, model: str) -> int:
        """Drop the vectors of every other model, and return how many there were."""

        def write(db: apsw.Connection) -> int:
            with db:
                db.execute("DELETE FROM vectors WHERE model != ?", (model,))
            return db.changes()

        return self._run(write)

    def _rows(self, question: str, values: tuple[str | int, ...] = ()) -> list[Any]:
        return self._run(lambda db: list(db.execute(question, values)))

    def _run(self, work: Callable[[apsw.Connection], Answer]) -> Answer:
        """Do `work` in turn. If the file proves damaged, do it once more on a new one."""
        with self._turn, _refusals(self.path):
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
            _prepare(db)
        except apsw.Error:
            db.close()
            raise
        return db

    def _set_aside(self) -> None:
        """Move the damaged file out of the way; the next `_connect` makes a new one."""
        self.set_aside = self.path.with_name(self.path.name + ".damaged")
        self.path.replace(self.set_aside)
        for suffix in ("-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)


def _prepare(db: apsw.Connection) -> None:
    db.set_busy_timeout(BUSY_MS)
    db.pragma("journal_mode", "wal")
    db.pragma("synchronous", "normal")  # power loss may cost the newest vectors, no more
    version = db.pragma("user_version")
    if version == 0:
        with db:
            db.execute(SCHEMA)
    elif version != FORMAT:
        raise apsw.NotADBError(f"embeddings.db has format {version}")
    list(db.execute("SELECT model, key, vector FROM vectors LIMIT 1"))


@contextmanager
def _refusals(path: Path) -> Iterator[None]:
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
    """An embedder with its cache: the one the rest of the house uses (`KeepingEmbedder`)."""

    def __init__(self, embedder: Embedder, store: VectorCache) -> None:
        self._embedder = embedder
        self._store = store
        self._dimension = 0

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def dimension(self) -> int:
        """How many numbers a vector has. If any is kept the model is not asked: a house whose
        remote model is away still opens."""
        if not self._dimension:
            self._dimension = self._store.dimension(self.name) or self._embedder.dimension
        return self._dimension

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector per text, in order. Each distinct text that is not kept is
        embedded once, and all the new vectors are kept in one transaction at the end: hand in
        a slice at a time if stopping halfway should not lose the rest."""
        keys = [text_key(text) for text in texts]
        known = self.vectors(list(dict.fromkeys(keys)))
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            known |= self._embed_missing(missing)
        return [known[key] for key in keys]

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a text that is only asked for, the same that `embed` would
        return, without looking it up or keeping it."""
        (vector,) = self._rounded([text])[1]
        return vector

    def vectors(self, keys: Sequence[str]) -> dict[str, Vector]:
        """Return the vectors that are kept under these keys; the others are left out, and so
        is one that makes no sense: it is made and kept again when its text is embedded."""
        packed = self._store.get(self.name, keys)
        if not packed:
            return {}
        size = self.dimension * KEPT_BYTES
        whole = [key for key, vector in packed.items() if len(vector) == size]
        unpacked = unpack([packed[key] for key in whole])
        return {
            key: vector for key, vector in zip(whole, unpacked, strict=True) if vector is not None
        }

    def close(self) -> None:
        self._store.close()

    def _embed_missing(self, missing: Mapping[str, str]) -> dict[str, Vector]:
        packed, vectors = self._rounded(list(missing.values()))
        self._store.put(self.name, dict(zip(missing, packed, strict=True)))
        return dict(zip(missing, vectors, strict=True))

    def _rounded(self, texts: Sequence[str]) -> tuple[list[bytes], list[Vector]]:
        """Return fresh vectors as they are kept, and as they come back."""
        packed = pack(self._embedder.embed(texts))
        for each in packed:
            if len(each) != self.dimension * KEPT_BYTES:
                raise MindDown(
                    self.name,
                    f"the model answers with {len(each) // KEPT_BYTES} numbers where it gave "
                    f"{self.dimension} before: another model under the same name",
                )
        vectors = [vector for vector in unpack(packed) if vector is not None]
        if len(vectors) != len(texts):
            raise MindDown(self.name, "the model gave a vector that is not of length 1")
        return packed, vectors
