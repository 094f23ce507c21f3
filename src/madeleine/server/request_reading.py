"""Reading a request: its body within bounds, its JSON, its parameters, who asks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from typing import NoReturn
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.types import Message, Receive

from madeleine.errors import BadBody, Rejected, TooLarge
from madeleine.model.draft import read_one_line
from madeleine.server.guard import read_header

MAX_AGENT_CHARS = 100
MAX_PARAMETERS = 1_000
MAX_DROPPED_BYTES = 268_435_456  # of a body that is refused, and sent all the same
DROP_SECONDS = 3.0


async def read_body(request: Request, limit: int) -> bytes:
    """Return the body; one over the limit is refused before it is all here."""
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > limit:
        raise TooLarge("the request", int(declared), limit, "server.max_body_bytes")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > limit:
            raise TooLarge("the request", len(body), limit, "server.max_body_bytes")
    return bytes(body)


async def has_hung_up(request: Request) -> bool:
    """Whether whoever sent a request, which is read by now, has closed the connection."""
    listening = asyncio.ensure_future(request.receive())
    done, _ = await asyncio.wait([listening], timeout=0)
    if not done:
        listening.cancel()
        return False
    return bool(listening.result()["type"] == "http.disconnect")


def parse_body(body: bytes, content_type: str) -> Mapping[str, object]:
    """Return the JSON object in a body; an empty body is an empty object."""
    if not body:
        return {}
    kind = content_type.partition(";")[0].strip().lower()
    if kind != "application/json" and not (kind.startswith("application/") and "+json" in kind):
        raise BadBody(f"is {kind!r}, not JSON" if kind else "has no Content-Type")
    try:
        values = json.loads(
            body.decode("utf-8"),
            parse_constant=_refuse_constant,
            object_pairs_hook=_refuse_duplicate_keys,
        )
    except UnicodeDecodeError as error:
        raise BadBody(f"is not valid UTF-8 at byte {error.start}") from error
    except RecursionError as error:
        raise BadBody("is nested too deeply") from error
    except ValueError as error:
        raise BadBody(f"is not JSON: {error}") from error
    if not isinstance(values, dict):
        raise BadBody("is not a JSON object")
    return values


def parse_query(query_string: bytes) -> dict[str, object]:
    """Return the query parameters; one that is given several times is a list."""
    try:
        pairs = parse_qsl(
            query_string.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=MAX_PARAMETERS,
        )
    except ValueError as error:
        raise Rejected(
            "the query parameters are not valid UTF-8", hint="percent-encode them as UTF-8"
        ) from error
    values: dict[str, list[str]] = {}
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    return {name: found[0] if len(found) == 1 else found for name, found in values.items()}


def read_agent_name(request: Request) -> str:
    """Return who asks, as the header X-Agent-Id says."""
    given = read_header(request.scope, b"x-agent-id").encode("latin-1").decode("utf-8", "replace")
    return read_one_line("x-agent-id", given, MAX_AGENT_CHARS) or "http"


def check_keys(body: bytes) -> None:
    """Refuse JSON that says something twice; what is otherwise wrong with it others will say."""
    try:
        json.loads(body, object_pairs_hook=_refuse_duplicate_keys)
    except _DuplicateKey as error:
        raise BadBody(f"is not JSON: {error}") from error
    except (ValueError, RecursionError):
        return


class _DuplicateKey(ValueError):
    """An object has a key twice."""


def _refuse_duplicate_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return an object, unless it says something twice: two readers might go by different ones."""
    values = dict(pairs)
    if len(values) < len(pairs):
        known: set[str] = set()
        for name, _ in pairs:
            if name in known:
                raise _DuplicateKey(f"it has the key {name!r} twice")
            known.add(name)
    return values


class TrackedBody:
    """What a client sends, and whether all of it is here."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._is_over = False

    async def __call__(self) -> Message:
        message = await self._receive()
        self._is_over = self._is_over or not message.get("more_body", False)
        return message

    async def drop_rest(self) -> None:
        """Take in what a refused client is still sending, for a while: who is sending does not
        read, and would learn that the connection is gone instead of why."""
        left = MAX_DROPPED_BYTES
        with suppress(TimeoutError):
            async with asyncio.timeout(DROP_SECONDS):
                while not self._is_over and left > 0:
                    left -= len((await self()).get("body", b""))


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")
