"""Asking a model's server over HTTP, with the standard library only.

Whatever goes wrong out there becomes one `MindDown` with a sentence that says what. A server
that is busy is asked again, after the pause it asks for; no answer is waited for longer than
the caller's patience, however slowly it drips in. The key is sent in its header and appears
nowhere else: not in a message, a log or a `repr`.
"""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from madeleine.errors import BadSetting, MindDown

CHUNK_BYTES = 65_536
MAX_QUOTED_CHARS = 200  # of what the server says is wrong
NO_STATUS = 0  # stands for the status of a server that said nothing in time


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How long and how often a server is asked, and how much it may answer."""

    seconds: float
    retries: int
    backoff_seconds: float
    """Pause before the first retry; it doubles each time."""
    answer_bytes: int
    each: bool = False
    """Whether `seconds` bounds every try, or all of them together. In the first case a try
    that took too long is repeated."""


class ModelServer:
    """A server that takes and gives JSON. Constructing it asks nobody anything."""

    def __init__(self, name: str, section: str, url: str, key: str) -> None:
        """`section` names the settings that a complaint is about."""
        parts, self._port = _parse_address(section, url)
        # http.client would quote a key it cannot send in its complaint.
        if not (key.isascii() and key.isprintable()):
            raise BadSetting(f"{section}.key_env", "names a key that no header can carry")
        self._name = name
        self._secure = parts.scheme == "https"
        self._host = parts.hostname or ""
        self._path = parts.path.rstrip("/")
        self._key = key

    def post(
        self, path: str, body: bytes, headers: Mapping[str, str], patience: RetryPolicy
    ) -> bytes:
        """Return what the server answers. Raises `MindDown` if it does not answer rightly."""
        sent = {"Content-Type": "application/json", "Accept": "application/json", **headers}
        deadline = time.monotonic() + patience.seconds
        for attempt in range(patience.retries + 1):
            if patience.each:
                deadline = time.monotonic() + patience.seconds
            status, wait_seconds, answer = self._try(path, body, sent, deadline, patience)
            if status == 200:
                return answer
            pause = max(patience.backoff_seconds * 2**attempt, wait_seconds)
            if attempt == patience.retries or not _may_retry(status, pause, deadline, patience):
                break
            time.sleep(pause)
        raise self.down(self._refusal_reason(status, answer, patience))

    def down(self, problem: str) -> MindDown:
        return MindDown(self._name, problem)

    def _try(
        self,
        path: str,
        body: bytes,
        headers: Mapping[str, str],
        deadline: float,
        patience: RetryPolicy,
    ) -> tuple[int, float, bytes]:
        """Return the status, for how long the server asks to be left alone, and its answer."""
        kind = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
        connection: http.client.HTTPConnection | None = None
        try:
            connection = kind(self._host, self._port, timeout=_seconds_left(deadline))
            connection.connect()
            connected = connection.sock  # the connection lets go of it before the body is read
            connection.request("POST", self._path + path, body, dict(headers))
            response = connection.getresponse()
            answer = self._read(response, connected, deadline, patience)
            return response.status, _read_retry_after(response), answer
        except TimeoutError:
            return NO_STATUS, 0.0, b""
        except (OSError, http.client.HTTPException) as error:
            problem = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise self.down(f"no usable answer from {self._host}: {problem}") from error
        finally:
            if connection is not None:
                connection.close()

    def _read(
        self,
        response: http.client.HTTPResponse,
        connected: socket.socket,
        deadline: float,
        patience: RetryPolicy,
    ) -> bytes:
        """Return the body, however slowly it drips in, but not later than `deadline`."""
        received = bytearray()
        connected.settimeout(_seconds_left(deadline))
        while chunk := response.read1(CHUNK_BYTES):
            received += chunk
            connected.settimeout(_seconds_left(deadline))
            if len(received) > patience.answer_bytes:
                raise self.down(f"the answer is longer than {patience.answer_bytes:,} bytes")
        return bytes(received)

    def _refusal_reason(self, status: int, answer: bytes, patience: RetryPolicy) -> str:
        if status == NO_STATUS:
            return f"no answer within {patience.seconds:g} seconds"
        if status in (401, 403):  # what the server says may hold parts of the key
            return f"the server does not accept the key ({status})"
        said = _read_error_message(answer)
        if self._key:
            said = said.replace(self._key, "…")
        return f"the server answers {status}" + (f": {said[:MAX_QUOTED_CHARS]}" if said else "")


def _may_retry(status: int, pause: float, deadline: float, patience: RetryPolicy) -> bool:
    """Whether another try may end better, and there is time for it."""
    if patience.each:
        return pause <= patience.seconds and (status in (NO_STATUS, 429) or status >= 500)
    return (status == 429 or status >= 500) and time.monotonic() + pause < deadline


def _seconds_left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _parse_address(section: str, url: str) -> tuple[SplitResult, int | None]:
    """Return the parts of an http(s) address and its port. What it says besides may hold a
    password, so the complaint does not repeat it."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise BadSetting(f"{section}.url", "is not an address") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadSetting(f"{section}.url", "is not an address that starts with http(s)://")
    return parts, port


def _read_retry_after(response: http.client.HTTPResponse) -> float:
    """Return what `Retry-After` asks for; 0 when it is absent, or a date."""
    said = response.getheader("Retry-After", "")
    return float(said) if said.isascii() and said.isdigit() else 0.0


def _read_error_message(answer: bytes) -> str:
    """Return what the server says is wrong, on one line; empty when it says nothing clear."""
    try:
        error = json.loads(answer)["error"]
        said = error if isinstance(error, str) else error["message"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    return " ".join(said.split()) if isinstance(said, str) else ""
