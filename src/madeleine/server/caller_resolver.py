"""Whose request it is, and how far it reaches.

In a home of one person the guard lets a request pass or not, and the one home is its reach.
Where several people share a database, the token says whose it is: it is looked up there, by its
hash, and known for a few seconds, so that a revoked one is refused by every server soon after.
A browser that was signed in to the page reaches what the token reaches that signed it in.
Who sits at the server itself, at its socket or with the token in run/token, is its admin. Nobody
is let in on trust there: a proxy on the same machine would make everybody a neighbour.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from madeleine.api.reach import CallerReach, caller_reach, single_home_reach
from madeleine.bootstrap import HomeContexts
from madeleine.errors import NoPersonsToken
from madeleine.model.people import Caller, Role
from madeleine.server.guard import Guard, Scope, bearer_token

if TYPE_CHECKING:
    from madeleine.database.people import PeopleDirectory

CACHE_SECONDS = 5.0  # how long what a token opens is known without asking again
MAX_CACHED_CALLERS = 10_000  # tokens, also those that are nobody's
CALLER_THREADS = 4  # apart from the requests', so that who they are is found out while all are busy
SERVER_KEY = b"server"  # under which it is known who sits at the server; no hash is so short

LookupResult = TypeVar("LookupResult")


class CallerResolver:
    """Says of each request of a server how far it reaches."""

    def __init__(self, contexts: HomeContexts, guard: Guard) -> None:
        self._contexts = contexts
        self._guard = guard
        self._alone = single_home_reach(contexts.first)
        self._known: OrderedDict[bytes, tuple[float, Caller | None]] = OrderedDict()
        self._changes = 0
        self._threads = ThreadPoolExecutor(CALLER_THREADS, thread_name_prefix="caller")

    @property
    def are_people(self) -> bool:
        """Whether there are several people."""
        return self._contexts.people is not None

    def is_guest(self, scope: Scope) -> bool:
        """Whether a request comes in on trust alone, as those of Ormah's own clients do."""
        return not self.are_people and self._guard.is_guest(scope)

    async def reach(self, scope: Scope, is_open: bool, is_admin: bool) -> CallerReach:
        """Return how far a request reaches, or say why it is not let in."""
        people = self._contexts.people
        if people is None:
            self._guard.check(scope, is_open, is_admin)
            return self._alone
        self._guard.check_place(scope)
        if is_open:
            return self._alone
        return caller_reach(self._contexts, await self._find_caller(people, scope))

    def forget(self) -> None:
        """Ask anew who everybody is: something about it changed."""
        self._changes += 1
        self._known.clear()

    def close(self) -> None:
        self._threads.shutdown(wait=True, cancel_futures=True)

    async def _find_caller(self, people: PeopleDirectory, scope: Scope) -> Caller:
        if self._guard.is_from_server(scope):
            found = await self._look_up(SERVER_KEY, people.local)
            return found if self._guard.is_from_admin(scope) else replace(found, role=Role.OWNER)
        token, secret = self._guard.person_at_page(scope), bearer_token(scope)
        if token:
            whose = await self._look_up(f"page {token}".encode(), lambda: people.page_caller(token))
        elif secret:
            key = hashlib.sha256(secret.encode("latin-1")).digest()
            whose = await self._look_up(key, lambda: people.caller(secret))
        else:
            raise NoPersonsToken
        if whose is None:
            raise NoPersonsToken
        return whose

    async def _look_up(self, key: bytes, look: Callable[[], LookupResult]) -> LookupResult:
        """Return what a look says, or said a moment ago."""
        known = self._known.get(key)
        if known is not None and time.monotonic() < known[0]:
            return known[1]  # type: ignore[return-value]  # what the same look said
        changes = self._changes
        found = await asyncio.get_running_loop().run_in_executor(self._threads, look)
        if changes == self._changes:  # else it may have been looked up before something changed
            self._known[key] = (time.monotonic() + CACHE_SECONDS, found)  # type: ignore[assignment]
            self._known.move_to_end(key)
        while len(self._known) > MAX_CACHED_CALLERS:
            self._known.popitem(last=False)
        return found


def may_see_server(reach: CallerReach) -> bool:
    """Whether a caller is told about the server as a whole."""
    return reach.own.role is Role.ADMIN
