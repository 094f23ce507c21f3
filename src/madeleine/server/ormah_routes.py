"""What only Ormah's clients ask: its list of hosts, and the two lists of its page.

They are carried out with our own operations and answered in Ormah's shapes. What its clients ask
at routes that we have too is translated in `api/ormah.py`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from madeleine.api.call import OperationCall
from madeleine.api.contract.memories import to_json
from madeleine.api.endpoint import Endpoint
from madeleine.api.performing import perform_for
from madeleine.api.reach import CallerReach
from madeleine.api.recall_operations import recall_memories
from madeleine.api.sleep_operations import list_insights
from madeleine.errors import NotAllowed, WrongMethod
from madeleine.model.codec import Json
from madeleine.model.memory import Memory
from madeleine.model.people import Role
from madeleine.model.query import MAX_HITS
from madeleine.model.times import format_time
from madeleine.server.guard import REACH_KEY
from madeleine.server.page_door import ORMAH_PREFIX
from madeleine.server.request_reading import parse_query

DEFAULT_FOUND = 20

OrmahQuery = Mapping[str, object]
OrmahFunction = Callable[[CallerReach, OrmahQuery], Any]
EncodeInThread = Callable[[Callable[[], Any]], Awaitable[bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class OrmahRoute(Endpoint):
    """A path of Ormah's that nobody else asks."""

    answer: OrmahFunction


def list_clients(reach: CallerReach, query: OrmahQuery) -> list[Json]:
    """Return the hosts of this machine. On a server of several people that is nobody's business
    but of who runs it."""
    if not reach.is_local:
        raise NotAllowed("`clients`", Role.ADMIN.value, reach.own.role.value)
    # Another room's, and only for who asks: a daemon has no use for it.
    from madeleine.agents.environment import read_environment  # noqa: PLC0415
    from madeleine.agents.listing import list_agents  # noqa: PLC0415

    return list_agents(read_environment(reach.context.home))


def search_for_page(reach: CallerReach, query: OrmahQuery) -> list[Json]:
    """Return what answers `q`, each memory with its `_score`."""
    wanted, limit = str(query.get("q") or ""), str(query.get("limit") or "")
    if not wanted.strip():
        return []
    many = min(int(limit), MAX_HITS) if limit.isdecimal() and int(limit[:9]) else DEFAULT_FOUND
    call = OperationCall(body={"query": wanted, "limit": many})
    found = perform_for(reach, recall_memories, call)
    return [{**to_json(each.memory), "_score": each.score} for each in found.results]


def list_insights_for_page(reach: CallerReach, query: OrmahQuery) -> Json:
    """Return what changed its mind and what contradicts what."""
    found = perform_for(reach, list_insights, OperationCall())
    evolutions = [
        {
            "newer": _build_end(each.to),
            "older": _build_end(each.from_),
            "explanation": each.reason or "",
        }
        for each in found.evolutions
    ]
    tensions = [
        {
            "node_a": _build_end(each.one),
            "node_b": _build_end(each.other),
            "explanation": each.reason or "",
        }
        for each in found.tensions
    ]
    return {"evolutions": evolutions, "tensions": tensions}


def _build_end(memory: Memory) -> Json:
    return {
        "id": memory.id,
        "title": memory.title,
        "type": memory.type.value,
        "tier": memory.tier.value,
        "content": memory.content,
        "created": format_time(memory.created),
    }


def _make_route(name: str, path: str, answer: OrmahFunction, summary: str) -> OrmahRoute:
    return OrmahRoute(name, "GET", path, summary, Role.READER, answer=answer)


ORMAH_ROUTES = (
    _make_route("ormah_clients", "/agent/clients", list_clients, "the hosts that can be wired"),
    _make_route("ormah_search", f"{ORMAH_PREFIX}search", search_for_page, "what answers `q`"),
    _make_route(
        "ormah_insights",
        f"{ORMAH_PREFIX}insights",
        list_insights_for_page,
        "what changed its mind and what contradicts what",
    ),
)


class OrmahDoor:
    """One of these paths."""

    def __init__(self, route: OrmahRoute, encode: EncodeInThread) -> None:
        self._route = route
        self._encode = encode

    @property
    def path(self) -> str:
        return self._route.path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != self._route.method:
            raise WrongMethod(scope["method"], scope["path"], [self._route.method])
        reach = Request(scope, receive).scope[REACH_KEY]
        query = parse_query(scope["query_string"])
        body = await self._encode(lambda: self._route.answer(reach, query))
        await Response(body, media_type="application/json")(scope, receive, send)
