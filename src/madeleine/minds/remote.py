"""A model behind an OpenAI-compatible server: Ollama, LM Studio, vLLM, or a hosted one.

`POST {url}/embeddings` with up to 64 texts at a time, over the standard library. Whatever
goes wrong out there becomes one `MindDown` with a sentence that says what; an answer is
believed only when it holds one usable vector for every text. Such a server tells nothing of
single tokens. The key is sent in its header and appears nowhere else: not in a message, a log
or a `repr`.
"""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Sequence
from urllib.parse import SplitResult, urlsplit

from madeleine.errors import BadSetting, MindDown
from madeleine.minds.texts import shown
from madeleine.minds.vectors import no_tokens, unit
from madeleine.model.trace import AskedTrace, Passage, Trace
from madeleine.model.vector import Vector

TEXTS_AT_ONCE = 64  # servers refuse more at very different numbers; this one all accept
SHOWN_CHARS = 8_000  # about 2,000 tokens; servers refuse a text longer than their model reads
ANSWER_BYTES = 64 * 1024 * 1024  # 64 vectors of 4,096 numbers are about 6 MB
CHUNK_BYTES = 65_536
RETRIES = 2
BACKOFF_SECONDS = 0.25  # before the first retry, twice that before the second
QUOTED_CHARS = 200  # of what the server says is wrong


class RemoteEmbedder:
    """A remote model. Constructing it asks nobody anything."""

    token_dimension = 0

    def __init__(self, url: str, model: str, key: str, timeout_seconds: float) -> None:
        """`timeout_seconds` bounds one request of up to 64 texts, its retries included."""
        parts, self._port = _address(url)
        if not model:
            raise BadSetting("embedder.model", "is empty; name the model the server should use")
        # http.client would quote a key it cannot send in its complaint.
        if not (key.isascii() and key.isprintable()):
            raise BadSetting("embedder.key_env", "names a key that no header can carry")
        self.name = f"remote:{model}"
        self._secure = parts.scheme == "https"
        self._host = parts.hostname or ""
        self._path = parts.path.rstrip("/") + "/embeddings"
        self._model = model
        self._key = key
        self._timeout_seconds = timeout_seconds
        self._dimension = 0
        self._learning = threading.Lock()

    @property
    def dimension(self) -> int:
        """How many numbers a vector has. The first time it takes a call to find out."""
        if not self._dimension:
            self._embed(["dimension"])
        return self._dimension

    def read(self, passages: Sequence[Passage]) -> list[Trace]:
        vectors = self._embed([passage.text for passage in passages])
        return [Trace(vector, no_tokens()) for vector in vectors]

    def ask(self, text: str) -> AskedTrace:
        import numpy as np

        (vector,) = self._embed([text])
        none = no_tokens().astype(np.float32)
        return AskedTrace(vector, none, none, ())

    def _embed(self, texts: Sequence[str]) -> list[Vector]:
        vectors: list[Vector] = []
        for start in range(0, len(texts), TEXTS_AT_ONCE):
            vectors += self._ask(texts[start : start + TEXTS_AT_ONCE])
        return vectors

    def _ask(self, texts: Sequence[str]) -> list[Vector]:
        # Servers refuse an empty text; a space means as little.
        asked = [shown(text, SHOWN_CHARS) or " " for text in texts]
        body = json.dumps({"model": self._model, "input": asked}).encode("utf-8")
        deadline = time.monotonic() + self._timeout_seconds
        for attempt in range(RETRIES + 1):
            status, wait_seconds, answer = self._post(body, deadline)
            if status == 200:
                return self._vectors(answer, len(texts))
            pause = max(BACKOFF_SECONDS * 2**attempt, wait_seconds)
            worth_it = (status == 429 or status >= 500) and attempt < RETRIES
            if not worth_it or time.monotonic() + pause >= deadline:
                break
            time.sleep(pause)
        raise self._down(self._refusal(status, answer))

    def _post(self, body: bytes, deadline: float) -> tuple[int, float, bytes]:
        """Return the status, for how long the server asks to be left alone, and its answer."""
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        kind = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
        connection = kind(self._host, self._port, timeout=self._left(deadline))
        try:
            connection.connect()
            connected = connection.sock  # the connection lets go of it before the body is read
            connection.request("POST", self._path, body, headers)
            response = connection.getresponse()
            answer = self._read(response, connected, deadline)
            return response.status, _wait_seconds(response), answer
        except TimeoutError as error:
            raise self._down(self._too_slow()) from error
        except (OSError, http.client.HTTPException) as error:
            problem = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise self._down(f"no usable answer from {self._host}: {problem}") from error
        finally:
            connection.close()

    def _read(
        self, response: http.client.HTTPResponse, connected: socket.socket, deadline: float
    ) -> bytes:
        """Return the body, however slowly it drips in, but not later than `deadline`."""
        received = bytearray()
        connected.settimeout(self._left(deadline))
        while chunk := response.read1(CHUNK_BYTES):
            received += chunk
            connected.settimeout(self._left(deadline))
            if len(received) > ANSWER_BYTES:
                raise self._down(f"the answer is longer than {ANSWER_BYTES:,} bytes")
        return bytes(received)

    def _left(self, deadline: float) -> float:
        left = deadline - time.monotonic()
        if left <= 0:
            raise self._down(self._too_slow())
        return left

    def _vectors(self, answer: bytes, count: int) -> list[Vector]:
        """Return the vectors in an answer, in the order of the texts, scaled to length 1."""
        import numpy as np

        try:
            items = json.loads(answer)["data"]
            placed = {int(item["index"]): item["embedding"] for item in items}
            with np.errstate(over="ignore"):  # too large for float32: inf, refused below
                rows = np.array([placed[place] for place in range(count)], np.float32)
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            raise self._down(f"the answer does not hold {count} vectors") from error
        if len(items) != count or rows.ndim != 2 or not rows.shape[1]:
            raise self._down(f"the answer does not hold {count} vectors")
        vectors = unit(rows)
        if vectors is None:
            raise self._down("the answer holds a vector without direction")
        self._learn(rows.shape[1])
        return vectors

    def _learn(self, dimension: int) -> None:
        with self._learning:
            known = self._dimension = self._dimension or dimension
        if dimension != known:
            raise self._down(f"the answer has {dimension} numbers a vector, {known} before")

    def _refusal(self, status: int, answer: bytes) -> str:
        if status in (401, 403):  # what the server says may hold parts of the key
            return f"the server does not accept the key ({status})"
        said = _said(answer)
        if self._key:
            said = said.replace(self._key, "…")
        return f"the server answers {status}" + (f": {said[:QUOTED_CHARS]}" if said else "")

    def _too_slow(self) -> str:
        return f"no answer within {self._timeout_seconds:g} seconds"

    def _down(self, problem: str) -> MindDown:
        return MindDown(self.name, problem)


def _address(url: str) -> tuple[SplitResult, int | None]:
    """Return the parts of an http(s) address and its port. What it says besides may hold a
    password, so the complaint does not repeat it."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise BadSetting("embedder.url", "is not an address") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadSetting("embedder.url", "is not an address that starts with http(s)://")
    return parts, port


def _wait_seconds(response: http.client.HTTPResponse) -> float:
    """Return what `Retry-After` asks for; 0 when it is absent, or a date."""
    said = response.getheader("Retry-After", "")
    return float(said) if said.isascii() and said.isdigit() else 0.0


def _said(answer: bytes) -> str:
    """Return what the server says is wrong, on one line; empty when it says nothing clear."""
    try:
        error = json.loads(answer)["error"]
        said = error if isinstance(error, str) else error["message"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    return " ".join(said.split()) if isinstance(said, str) else ""
