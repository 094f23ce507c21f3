"""The door for AutoMem's clients: how they show their token, how an answer and an error look."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from madeleine.api.error_codec import error_to_json
from madeleine.api.reach import CallerReach
from madeleine.errors import (
    BadBody,
    MadeleineError,
    NoAdminToken,
    NoSuchMemory,
    NoToken,
    WrongMethod,
)
from madeleine.model.codec import Json
from madeleine.server.automem.call import DEFAULT_AUTHOR, AutomemCall, AutomemReply
from madeleine.server.automem.routes import AUTOMEM_ROUTES, AutomemRoute
from madeleine.server.guard import REACH_KEY, bearer_token, read_header
from madeleine.server.request_reading import parse_body, parse_query, read_agent_name, read_body

BAD_REQUEST, CANNOT_WORK = 400, 422
OWN_DEFAULT = "http"  # who asks over HTTP when nobody says who

RunInThread = Callable[[Callable[[], AutomemReply]], Awaitable[AutomemReply]]
FindReach = Callable[[Scope], Awaitable[CallerReach]]


class AutomemDoor:
    """One path of AutoMem, with what answers its methods."""

    def __init__(
        self,
        routes: Mapping[str, AutomemRoute],
        run: RunInThread,
        find_reach: FindReach,
        max_body_bytes: int,
    ) -> None:
        """`find_reach` says of an open route's request who asks, or refuses it."""
        self._routes = routes
        self._run = run
        self._find_reach = find_reach
        self._max_body_bytes = max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        route = self._routes.get(scope["method"])
        if route is None:
            raise WrongMethod(scope["method"], scope["path"], sorted(self._routes))
        request = Request(scope, receive)
        reach, is_stranger = await self._look_who_asks(route, scope)
        by = read_agent_name(request)
        call = AutomemCall(
            reach=reach,
            id=request.path_params.get("id", ""),
            query=parse_query(scope["query_string"]),
            body=await self._read_object(request),
            by=DEFAULT_AUTHOR if by == OWN_DEFAULT else by,
            is_stranger=is_stranger,
        )
        reply = await self._run(lambda: route.answer(call))
        body = json.dumps(reply.body, ensure_ascii=False).encode("utf-8", "backslashreplace")
        await Response(body, reply.status, media_type="application/json")(scope, receive, send)

    async def _look_who_asks(self, route: AutomemRoute, scope: Scope) -> tuple[CallerReach, bool]:
        """Return how far a request reaches, and whether it is a stranger's."""
        if not route.open:
            return scope[REACH_KEY], False
        try:
            return await self._find_reach(scope), False
        except MadeleineError:
            return scope[REACH_KEY], True

    async def _read_object(self, request: Request) -> Mapping[str, object] | None:
        """Return the body; one that is no JSON object is as good as none to AutoMem."""
        given = await read_body(request, self._max_body_bytes)
        try:
            return parse_body(given, request.headers.get("content-type", "")) if given else None
        except BadBody:
            return None


def build_doors(
    run: RunInThread, find_reach: FindReach, max_body_bytes: int
) -> dict[str, AutomemDoor]:
    """Return a door for each path, in the order in which paths are looked for."""
    methods: dict[str, dict[str, AutomemRoute]] = {}
    for each in AUTOMEM_ROUTES:
        methods.setdefault(each.path, {})[each.method] = each
    return {
        path: AutomemDoor(routes, run, find_reach, max_body_bytes)
        for path, routes in methods.items()
    }


def adopt_credentials(scope: Scope) -> Scope:
    """Return a request with the tokens where our guard looks for them. The first that is shown
    counts: a bearer token, `X-API-Key`, then `api_key` in the query."""
    query = parse_qs(scope["query_string"].decode("latin-1"))
    added: list[tuple[bytes, bytes]] = []
    key = read_header(scope, b"x-api-key") or next(iter(query.get("api_key", ())), "")
    headers = list(scope["headers"])
    if key and not bearer_token(scope):
        headers = [each for each in headers if each[0] != b"authorization"]
        added.append((b"authorization", f"Bearer {key}".encode("latin-1", "replace")))
    admin = read_header(scope, b"x-admin-api-key") or next(iter(query.get("admin_token", ())), "")
    if admin and not read_header(scope, b"x-admin-token"):
        added.append((b"x-admin-token", admin.encode("latin-1", "replace")))
    return {**scope, "headers": [*headers, *added]}


def word_error(error: MadeleineError) -> tuple[int, Json]:
    """Return the status and the body of an error: AutoMem's, with ours beside it."""
    status = BAD_REQUEST if error.http_status == CANNOT_WORK else error.http_status
    told: dict[str, Any] = {"status": "error", "code": status, "message": _word_message(error)}
    return status, {**told, "error": error_to_json(error)}


def _word_message(error: MadeleineError) -> str:
    if isinstance(error, NoAdminToken):
        return "Admin authorization required"
    if isinstance(error, NoToken):
        return "Unauthorized"
    if isinstance(error, NoSuchMemory):
        return "Memory not found"
    return f"{error.message} ({error.hint})" if error.hint else error.message
