"""The port of `vector_store.py` on Qdrant's client.

Vectors are compared by their product, so that Qdrant keeps them as they are: for cosines it would
bring each to length 1 first, and equal vectors might tie no longer. A point holds no payload;
which points count, and for whom, is asked of the graph.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar
from urllib.parse import unquote

import httpx
import numpy as np
from numpy.typing import NDArray
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

from madeleine.errors import BadSetting, DatabaseDown, DatabaseUnfit, MadeleineError
from madeleine.model.server_address import split_address
from madeleine.model.vector import Vector

TLS_BY_SCHEME = {"qdrant": False, "qdrants": True}
"""Names of the protocol, and whether they mean TLS."""
DEFAULT_PORT = 6333
ANSWER_TIMEOUT_SECONDS = 20
VECTORS_PER_REQUEST = 500  # vectors in one request
REFUSED_STATUSES = (401, 403)
HALF_DTYPE = "<f2"

Each = TypeVar("Each")


class QdrantVectors:
    """Vectors in one Qdrant."""

    def __init__(self, client: QdrantClient, place: str) -> None:
        self._client = client
        self.place = place

    @classmethod
    def open(cls, url: str) -> QdrantVectors:
        """Return the vectors of the server at `qdrant://[key@]host:port`."""
        parts = split_address("store.vectors", url)
        if parts.scheme not in TLS_BY_SCHEME or not parts.hostname or parts.path.strip("/"):
            raise BadSetting("store.vectors", "is not qdrant://host:port")
        port, secure = parts.port or DEFAULT_PORT, TLS_BY_SCHEME[parts.scheme]
        key = parts.password or parts.username
        with warnings.catch_warnings():  # about a key without TLS: within a network that is fine
            warnings.simplefilter("ignore")
            client = QdrantClient(
                host=parts.hostname,
                port=port,
                https=secure,
                api_key=None if key is None else unquote(key),
                timeout=ANSWER_TIMEOUT_SECONDS,
                check_compatibility=False,  # it would ask, and warn, before there is a question
            )
        return cls(client, f"{parts.scheme}://{parts.hostname}:{port}")

    def close(self) -> None:
        self._client.close()

    # -- collections -----------------------------------------------------------------------
    def make(self, collection: str, dimension: int) -> None:
        with self._translate_errors():
            if not self._client.collection_exists(collection):
                wide = models.VectorParams(size=dimension, distance=models.Distance.DOT)
                self._client.create_collection(collection, wide)
            self._check(collection, dimension)

    def _check(self, collection: str, dimension: int) -> None:
        found = self._client.get_collection(collection).config.params.vectors
        if not isinstance(found, models.VectorParams) or found.size != dimension:
            raise DatabaseUnfit(
                self.place,
                f"holds other vectors in `{collection}` than those of {dimension} numbers",
                "remove that collection, then `madeleine rebuild`",
            )

    def remove(self, collection: str) -> None:
        with self._translate_errors():
            self._client.delete_collection(collection)

    def collections(self, beginning: str) -> list[str]:
        with self._translate_errors():
            found = self._client.get_collections().collections
        return [each.name for each in found if each.name.startswith(beginning)]

    # -- vectors ---------------------------------------------------------------------------
    def put(self, collection: str, vectors: Mapping[int, NDArray[np.float16]]) -> None:
        points = [
            models.PointStruct(id=point, vector=half.astype(np.float32).tolist())
            for point, half in vectors.items()
        ]
        with self._translate_errors():
            for some in _split_batches(points):
                self._client.upsert(collection, some, wait=True)

    def drop(self, collection: str, points: Sequence[int]) -> None:
        with self._translate_errors():
            for some in _split_batches(points):
                selected = models.PointIdsList(points=list(some))
                self._client.delete(collection, selected, wait=True)

    def nearest(self, collection: str, query: Vector, limit: int) -> list[int]:
        with self._translate_errors():
            found = self._client.query_points(
                collection, query=query.tolist(), limit=limit, with_payload=False
            )
        return [int(each.id) for each in found.points]

    def read(self, collection: str, points: Sequence[int]) -> dict[int, bytes]:
        found: dict[int, bytes] = {}
        with self._translate_errors():
            for some in _split_batches(points):
                for each in self._client.retrieve(
                    collection, list(some), with_payload=False, with_vectors=True
                ):
                    found[int(each.id)] = np.array(each.vector, HALF_DTYPE).tobytes()
        return found

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Say in our words what Qdrant or the network complains about."""
        try:
            yield
        except MadeleineError:
            raise
        except UnexpectedResponse as error:
            if error.status_code in REFUSED_STATUSES:
                hint = "look at the key in `store.vectors`"
                raise DatabaseDown(self.place, "does not let us in", hint) from error
            raise DatabaseDown(self.place, f"answers {error.status_code}") from error
        except (ApiException, httpx.HTTPError, OSError) as error:
            said = str(error).strip().splitlines()
            raise DatabaseDown(self.place, said[0] if said else type(error).__name__) from error


def _split_batches(values: Sequence[Each]) -> Iterator[Sequence[Each]]:
    for start in range(0, len(values), VECTORS_PER_REQUEST):
        yield values[start : start + VECTORS_PER_REQUEST]
