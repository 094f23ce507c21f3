"""The application: every operation of the table at its method and path.

Requests are read here and carried out in threads, since the core is synchronous. Whatever goes
wrong becomes one shape, `{"error": {"code", "kind", "message", "hint", "parts"}}`, in one place.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route as AsgiRoute
from starlette.routing import Router
from starlette.types import Receive, Scope, Send

from madeleine.api import ormah
from madeleine.api.call import OperationCall
from madeleine.api.contract.memories import from_json, to_json
from madeleine.api.contract.responses import DaemonStatus, WhisperAnswer
from madeleine.api.daemon_operations import make_page_link, stop
from madeleine.api.endpoint import EVENTS_ROUTE, METRICS_ROUTE, NON_JSON_ROUTES, Endpoint
from madeleine.api.error_codec import error_to_json
from madeleine.api.home_operations import report_status
from madeleine.api.operation import Operation
from madeleine.api.operations import OPERATIONS
from madeleine.api.page.home import show_home
from madeleine.api.performing import perform_for
from madeleine.api.reach import CallerReach
from madeleine.api.recall_operations import whisper_to_prompt
from madeleine.bootstrap import HomeContexts
from madeleine.errors import MadeleineError, NoSuchRoute, NoToken, TooMany, WrongMethod
from madeleine.model.codec import Json
from madeleine.server.automem.call import AutomemReply
from madeleine.server.automem.door import adopt_credentials, build_doors, word_error
from madeleine.server.automem.routes import AUTOMEM_ROUTES, is_automem_path
from madeleine.server.caller_resolver import CallerResolver, may_see_server
from madeleine.server.connections import note_authenticated
from madeleine.server.delivery_receipts import SentWhisper
from madeleine.server.events import EventStream
from madeleine.server.guard import REACH_KEY, Guard, read_header
from madeleine.server.hook_service import (
    DELIVERED_ROUTE,
    HOOK_ROUTES,
    MAX_BODY_BYTES,
    UNDELIVERED_ROUTE,
    HookReply,
    HookService,
)
from madeleine.server.logs import render_traceback
from madeleine.server.mcp.door import MCP_PATH, McpDoor
from madeleine.server.metrics import CONTENT_TYPE, ServerTotals, render_metrics
from madeleine.server.openapi import OPENAPI_ROUTE, build_openapi
from madeleine.server.ormah_routes import ORMAH_ROUTES, OrmahDoor
from madeleine.server.page_door import ENTER_PATH, PageDoor, is_page_path, resolve_path
from madeleine.server.page_sessions import CODE_SECONDS, PageSessions
from madeleine.server.request_reading import (
    TrackedBody,
    has_hung_up,
    parse_body,
    parse_query,
    read_agent_name,
    read_body,
)

REQUEST_THREADS = 16  # writes take turns anyway; more threads would only wait in another place

log = logging.getLogger("madeleine.server")

WorkResult = TypeVar("WorkResult")

_HOOK_PATHS = frozenset(route.path for route in HOOK_ROUTES)
_EVERY_ROUTE: tuple[Endpoint, ...] = (*OPERATIONS, *AUTOMEM_ROUTES)
_OPEN_PATHS = frozenset(route.path for route in _EVERY_ROUTE if route.open)
_ADMIN_PATTERNS = [
    re.compile(re.sub(r"{\w+}", "[^/]+", each.path)) for each in _EVERY_ROUTE if each.admin
]


class App:
    """The ASGI application of one server: of one open home, or of several people's."""

    def __init__(
        self,
        contexts: HomeContexts,
        guard: Guard,
        facts: Callable[[], Json],
        stop: Callable[[], None],
        ending: Callable[[], bool] = lambda: False,
    ) -> None:
        """`facts` are what status says about the daemon; `stop` ends it, `ending` says so."""
        self.failures = 0
        """Requests that met a bug of ours."""
        self._guard = guard
        self._callers = CallerResolver(contexts, guard)
        self._sessions = guard.sessions or PageSessions(guard.token, guard.port)
        self._facts = facts
        self._stop = stop
        self._limits = contexts.first.settings.server
        self._inside = 0
        self._threads = ThreadPoolExecutor(REQUEST_THREADS, thread_name_prefix="request")
        self._hooks = HookService(contexts.first)
        self._hooks.write_directions(facts())
        self._events = EventStream(self._reach, ending)
        self._router = Router(
            self._build_routes(), redirect_slashes=False, default=_refuse_unknown_route
        )

    def close(self) -> None:
        """Wait for the requests that are being carried out."""
        self._threads.shutdown(wait=True)
        self._hooks.close()
        self._callers.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; the one place where errors become answers."""
        body = TrackedBody(receive)
        try:
            await self._report_bugs(
                f"{scope['method']} {scope['path']}", self._route_request(scope, body, send)
            )
        except MadeleineError as error:
            if not read_header(scope, b"expect"):
                await body.drop_rest()
            is_automem = is_automem_path(resolve_path(scope))
            guest = self._callers.is_guest(scope) and not is_automem
            await error_response(error, guest, is_automem)(scope, receive, send)
        except ClientDisconnect:
            return  # nobody is left to answer

    async def _route_request(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope = {**scope, "path": resolve_path(scope)}
        if is_automem_path(scope["path"]):
            scope = adopt_credentials(scope)
        reach = await self._reach(scope)
        if not _is_open_path(scope["path"]):
            note_authenticated(scope.get("state", {}))
        await self._router({**scope, REACH_KEY: reach}, receive, send)

    async def _report_bugs(self, what: str, work: Awaitable[WorkResult]) -> WorkResult:
        """Do a door's work. A bug of ours is counted and logged without what it quotes, and goes
        on as an error like any other, so that each door words it as it words those."""
        try:
            return await work
        except (MadeleineError, ClientDisconnect):
            raise
        except Exception as error:  # noqa: BLE001  # the one handler of both doors: in log and status
            self.failures += 1
            log.error("%s met a bug: %s", what, render_traceback(error))
            raise _internal_error() from None

    async def _reach(self, scope: Scope) -> CallerReach:
        """Return how far a request reaches, or refuse it."""
        path = scope["path"]
        finding = self._callers.reach(scope, _is_open_path(path), _is_admin_path(path))
        return await (
            self._hooks.resolve_in_time(finding, scope) if path in _HOOK_PATHS else finding
        )

    def _build_routes(self) -> list[AsgiRoute]:
        methods: dict[str, dict[str, Endpoint]] = {
            OPENAPI_ROUTE.path: {OPENAPI_ROUTE.method: OPENAPI_ROUTE}
        }
        for route in (*OPERATIONS, *HOOK_ROUTES, *NON_JSON_ROUTES):
            methods.setdefault(route.path, {})[route.method] = route
        paths = [AsgiRoute(path, _MethodDispatcher(self, known)) for path, known in methods.items()]
        page = PageDoor(self._sessions, lambda scope: bool(self._guard.proxy_url(scope)))
        doors = build_doors(
            self._answer_automem,
            lambda scope: self._callers.reach(scope, False, False),
            self._limits.max_body_bytes,
        )
        ormah_doors = [OrmahDoor(each, self._encode_in_thread) for each in ORMAH_ROUTES]
        return [
            *paths,
            *(AsgiRoute(each.path, each) for each in ormah_doors),
            *(AsgiRoute(path, door) for path, door in doors.items()),
            AsgiRoute(MCP_PATH, McpDoor(self.perform_operation, self._limits.max_body_bytes)),
            AsgiRoute("/ui", page),
            AsgiRoute("/ui/{path:path}", page),
        ]

    async def answer(self, route: Endpoint, request: Request) -> bytes | HookReply:
        """Read a request, carry it out, and return the answer's bytes."""
        if route is OPENAPI_ROUTE:
            return encode_json(build_openapi())
        if route is make_page_link:
            return encode_json(self._page_link(request.scope))
        by, identity = read_agent_name(request), request.path_params.get("id")
        query = parse_query(request.scope["query_string"])
        if route is DELIVERED_ROUTE:
            self._hooks.confirm(query, request.scope[REACH_KEY])
            return b""
        if route is UNDELIVERED_ROUTE:
            self._hooks.disown(query, request.scope[REACH_KEY])
            return b""
        if route in HOOK_ROUTES:
            terms = self._hooks.read_terms(request.scope)
            given = await read_body(request, min(MAX_BODY_BYTES, self._limits.max_body_bytes))
            return await self._hooks.answer(
                route, query, given, request.scope[REACH_KEY], terms, lambda: has_hung_up(request)
            )
        body = await read_body(request, self._limits.max_body_bytes)
        content_type = request.headers.get("content-type", "")
        guest, reach = self._callers.is_guest(request.scope), request.scope[REACH_KEY]

        if route is whisper_to_prompt:

            def whisper() -> tuple[SentWhisper | None, bytes]:
                given = parse_body(body, content_type)
                call = OperationCall(identity, query, given, by, awaits_receipt=True)
                return self._whisper(reach, call, guest)

            # A client that does not confirm what it got has it if it is still connected now.
            sent, written = await self._in_thread(whisper)
            if sent is not None:
                await self._hooks.receipts.hand_over(sent, await has_hung_up(request))
            return written

        def work() -> bytes:
            if route is METRICS_ROUTE:
                return self._render_metrics(reach)
            assert isinstance(route, Operation)  # all others are answered above
            given = parse_body(body, content_type) if route.method == "POST" else {}
            return self._perform_operation(
                reach, route, OperationCall(identity, query, given, by), guest
            )

        # Whether we live must be answered even when every thread is busy.
        return work() if route.open else await self._in_thread(work)

    def _whisper(
        self, reach: CallerReach, call: OperationCall, guest: bool
    ) -> tuple[SentWhisper | None, bytes]:
        """Return the whisper that is to be handed over, if any, and the answer's bytes. If there
        are none because of a bug, the whisper is given up: it may be told again."""
        answer = perform_for(reach, whisper_to_prompt, call)
        sent = SentWhisper(answer.whisper_id, reach) if _is_to_be_told(answer) else None
        with ExitStack() as failing:
            if sent is not None:
                failing.callback(self._hooks.receipts.give_up_failed, sent)
            given = to_json(answer)
            written = encode_json(ormah.translate_answer("whisper", given) if guest else given)
            failing.pop_all()
        return sent, written

    async def perform_operation(
        self, scope: Scope, operation: Operation[Any], call: OperationCall
    ) -> Json:
        """Carry out an operation for a door that words its own answers."""
        work: Awaitable[Json] = self._in_thread(
            lambda: to_json(perform_for(scope[REACH_KEY], operation, call))
        )
        return await self._report_bugs(operation.name, work)

    async def _encode_in_thread(self, work: Callable[[], Any]) -> bytes:
        return await self._in_thread(lambda: encode_json(work()))

    async def _answer_automem(self, work: Callable[[], AutomemReply]) -> AutomemReply:
        return await self._in_thread(work)

    async def _in_thread(self, work: Callable[[], WorkResult]) -> WorkResult:
        if self._inside >= self._limits.max_requests:
            raise TooMany
        self._inside += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._inside -= 1

    def _perform_operation(
        self, reach: CallerReach, operation: Operation[Any], call: OperationCall, guest: bool
    ) -> bytes:
        if operation is stop:
            reach.own.check(stop.name, stop.role)
            return encode_json({"stopping": True})
        if guest:
            call = ormah.translate_request(reach.context, operation.name, call)
        answer = perform_for(reach, operation, call)
        if operation.about_people and operation.method != "GET":
            self._callers.forget()
        if operation in (report_status, show_home) and may_see_server(reach):
            hooks = self._hooks.to_json()
            facts = {**self._facts(), "failures": self.failures, "hooks": hooks}
            answer = replace(answer, daemon=from_json(DaemonStatus, facts))
        given = to_json(answer)
        return encode_json(ormah.translate_answer(operation.name, given) if guest else given)

    def _render_metrics(self, reach: CallerReach) -> bytes:
        """Return the numbers of the caller's own memory, and to an admin those of the server."""
        if not may_see_server(reach):
            return render_metrics(reach.context)
        uptime = float(str(self._facts().get("uptime_seconds", 0.0)))
        return render_metrics(
            reach.context, ServerTotals(self._hooks.to_json(), self.failures, uptime)
        )

    def _page_link(self, scope: Scope) -> Json:
        """Return a link that signs a browser in as whoever asks for it, by the way they came."""
        scope[REACH_KEY].own.check(make_page_link.name, make_page_link.role)
        caller = scope[REACH_KEY].caller
        code = self._sessions.new_code("" if caller is None else caller.token)
        url = f"{self._guard.proxy_url(scope) or self._inside_url()}{ENTER_PATH}?code={code}"
        return {"text": url, "url": url, "seconds": CODE_SECONDS}

    def _inside_url(self) -> str:
        facts = self._facts()
        host, port = str(facts.get("host")), facts.get("port")
        named = "127.0.0.1" if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
        return f"http://{named}:{port}"

    async def stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Tell what happens until the client leaves or the daemon ends."""
        await self._events(scope, receive, send, scope[REACH_KEY])

    def answered(self, route: Endpoint) -> None:
        """Called when an answer is out."""
        if route is stop:
            self._stop()


class _MethodDispatcher:
    """One path with the operations that its methods stand for."""

    def __init__(self, app: App, methods: Mapping[str, Endpoint]) -> None:
        self._app = app
        self._methods = methods

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        route = self._methods.get(scope["method"])
        if route is None:
            raise WrongMethod(scope["method"], scope["path"], sorted(self._methods))
        if route is EVENTS_ROUTE:
            await self._app.stream(scope, receive, send)
            return
        answer = await self._app.answer(route, Request(scope, receive))
        kind = CONTENT_TYPE if route is METRICS_ROUTE else "application/json"
        headers = {}
        if isinstance(answer, HookReply):
            headers = {} if answer.sent is None else {"Madeleine-Whisper": answer.sent.id}
            answer = answer.body
        await Response(answer, headers=headers, media_type=kind)(scope, receive, send)
        self._app.answered(route)


def _is_open_path(path: str) -> bool:
    """Whether a path answers whoever asks."""
    return path in _OPEN_PATHS or is_page_path(path)


def _is_admin_path(path: str) -> bool:
    return any(each.fullmatch(path) for each in _ADMIN_PATTERNS)


def error_response(
    error: MadeleineError, guest: bool = False, is_automem: bool = False
) -> Response:
    """Return an error as an answer; a guest's clients read `detail`, AutoMem's `message`."""
    headers = {}
    if isinstance(error, NoToken):
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, WrongMethod):
        headers["Allow"] = ", ".join(error.allowed)
    told: Json = {"error": error_to_json(error)}
    status, told = word_error(error) if is_automem else (error.http_status, told)
    detail = {"detail": ormah.render_detail(error)} if guest else {}
    body = encode_json({**told, **detail})
    return Response(body, status, headers, media_type="application/json")


def encode_json(values: Mapping[str, Any] | Sequence[Any]) -> bytes:
    """Return JSON in UTF-8. A file name that is not UTF-8 is escaped rather than lost."""
    return json.dumps(values, ensure_ascii=False).encode("utf-8", "backslashreplace")


async def _refuse_unknown_route(scope: Scope, receive: Receive, send: Send) -> None:
    raise NoSuchRoute(scope["method"], scope["path"])


def _is_to_be_told(answer: WhisperAnswer) -> bool:
    """Whether somebody is told something by this answer; a dry run tells nobody."""
    return bool(answer.injected and answer.whisper_id)


def _internal_error() -> MadeleineError:
    return MadeleineError("something went wrong inside", hint="logs/daemon.log says where")
