"""Who may use the page: signing a browser in without anybody copying a token.

Whoever holds the token asks for a *code* (`POST /ui/link`) and opens `/ui/enter?code=…` in a
browser. A code works once and for a minute. What the browser gets for it comes in two halves:

- a cookie that no script can read. But a browser sends cookies to every port of a host, so any
  other program that listens on this machine, and that the person visits, would see it;
- a key, behind the `#` of the address it is sent on to, which no server sees. The page keeps it
  where only pages of this very port can read it, and sends it as a header. A page of another
  site can send no such header.

Only both together open anything. They are derived from the token: a daemon that is started anew
still knows them, nothing is stored, and a new `run/token` ends every session.

Where several people share a server, a session is of the token that asked for its code. It says
which one, under the same signature, and opens what that token opens, for as long as it does.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any, NamedTuple

CODE_SECONDS = 60.0
SESSION_SECONDS = 30 * 24 * 3600
MAX_CODES = 100  # that wait to be used; the oldest goes first
KEY_HEADER = b"x-madeleine-page"


@dataclass(frozen=True, slots=True)
class PageSession:
    """Both halves of a browser's way in."""

    cookie: str
    key: str


class _EntryCode(NamedTuple):
    ends: float
    whose: str


class PageSessions:
    """The codes that wait, and the rule that knows a session again. Any thread may ask."""

    def __init__(self, token: str, port: int, now: Callable[[], float] = time.time) -> None:
        self._token = token.encode()
        self._now = now
        self._codes: dict[str, _EntryCode] = {}
        self._lock = threading.Lock()
        self.cookie_name = f"madeleine-{port}"
        """By port, so that the pages of two daemons do not sign each other out."""

    def new_code(self, whose: str = "") -> str:
        """Return a code that opens the page once, within a minute, to a person's token of this
        id; to who sits at the server if there is none."""
        code = secrets.token_urlsafe(32)
        with self._lock:
            while len(self._codes) >= MAX_CODES:
                self._codes.pop(next(iter(self._codes)))
            self._codes[code] = _EntryCode(self._now() + CODE_SECONDS, whose)
        return code

    def enter(self, code: str) -> PageSession | None:
        """Return a new session for a code, which is used up by that; none for a wrong one."""
        with self._lock:
            found = self._codes.pop(code, None)
        if found is None or self._now() >= found.ends:
            return None
        until = int(self._now()) + SESSION_SECONDS
        named = f"{until}.{secrets.token_urlsafe(16)}.{found.whose}"
        cookie = f"{named}.{self._sign('cookie', named)}"
        return PageSession(cookie, self._sign("key", cookie))

    def token_id_of(self, scope: Mapping[str, Any]) -> str | None:
        """Return the id of the token whose session a request shows both halves of, empty for
        who sits at the server; nothing if it shows none, or one that has ended."""
        cookie, key = self._read_cookie(scope), _read_header(scope, KEY_HEADER)
        named, _, signature = cookie.rpartition(".")
        until, _, rest = named.partition(".")
        is_ours = _is_same_text(signature, self._sign("cookie", named)) and _is_same_text(
            key, self._sign("key", cookie)
        )
        if not is_ours or not until.isdecimal() or self._now() >= int(until):
            return None
        return rest.partition(".")[2]

    def _read_cookie(self, scope: Mapping[str, Any]) -> str:
        try:
            found = SimpleCookie(_read_header(scope, b"cookie")).get(self.cookie_name)
        except CookieError:
            return ""
        return "" if found is None else found.value

    def _sign(self, what: str, text: str) -> str:
        digest = hmac.new(self._token, f"page {what} {text}".encode(), hashlib.sha256).digest()
        return urlsafe_b64encode(digest).decode().rstrip("=")


def _read_header(scope: Mapping[str, Any], wanted: bytes) -> str:
    found = [value for name, value in scope["headers"] if name == wanted]
    return b"; ".join(found).decode("latin-1")


def _is_same_text(one: str, other: str) -> bool:
    return secrets.compare_digest(one.encode(), other.encode())
