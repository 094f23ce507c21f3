"""Asking another system over HTTP, for the systems of Everyday that are servers."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

PATIENCE_SECONDS = 60.0

_CONNECTIONS = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}

Query = Mapping[str, str | int | Sequence[str]]


class NotMeasurable(SystemExit):
    """A system that is not installed, does not answer, or is not whole: a sentence that says what
    to do, which is all that the program says before it ends with 1."""


class NoAnswer(Exception):
    """Nobody answers at an address."""


class Refused(Exception):
    """A server answered that it will not."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(f"{status}: {said}")
        self.status = status


@dataclass(frozen=True, slots=True)
class HttpDoor:
    """A server that speaks JSON, and what it is shown with each request."""

    address: str
    headers: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if urlsplit(self.address).scheme not in _CONNECTIONS:
            raise NotMeasurable(f"{self.address!r} is no address: write http://HOST:PORT")

    def ask(
        self, method: str, path: str, body: object = None, query: Query | None = None
    ) -> dict[str, Any]:
        """Return the answer, which must be an object."""
        at = urlsplit(self.address)
        target = f"{at.path.rstrip('/')}{path}"
        if query:
            target += f"?{urlencode(query, doseq=True)}"
        data = None if body is None else json.dumps(body).encode()
        connect = _CONNECTIONS[at.scheme]
        connection = connect(at.hostname or "", at.port, timeout=PATIENCE_SECONDS)
        try:
            connection.request(
                method, target, data, {"Content-Type": "application/json", **self.headers}
            )
            answer = connection.getresponse()
            said = answer.read().decode("utf-8", "replace")
        except OSError as error:
            raise NoAnswer(f"{self.address}: {error}") from error
        finally:
            connection.close()
        if answer.status >= 400:
            raise Refused(answer.status, said)
        found: dict[str, Any] = json.loads(said)
        return found
