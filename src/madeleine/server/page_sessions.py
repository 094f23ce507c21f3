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
from typing import Any

CODE_SECONDS = 60.0
SESSION_SECONDS = 30 * 24 * 3600
CODES_AT_MOST = 100  # that wait to be used; the oldest goes first
KEY_HEADER = b"x-madeleine-page"


@dataclass(frozen=True, slots=True)
class Session:
    """Both halves of a browser's way in."""

    cookie: str
    key: str


class Sessions:
    """The codes that wait, and the rule that knows a session again. Any thread may ask."""

    def __init__(self, token: str, port: int, now: Callable[[], float] = time.time) -> None:
        self._token = token.encode()
        self._now = now
        self._codes: dict[str, float] = {}
        self._lock = threading.Lock()
        self.cookie_name = f"madeleine-{port}"
        """By port, so that the pages of two daemons do not sign each other out."""

    def new_code(self) -> str:
        """Return a code that opens the page once, within a minute."""
        code = secrets.token_urlsafe(32)
        with self._lock:
            while len(self._codes) >= CODES_AT_MOST:
                self._codes.pop(next(iter(self._codes)))
            self._codes[code] = self._now() + CODE_SECONDS
        return code

    def enter(self, code: str) -> Session | None:
        """Return a new session for a code, which is used up by that; none for a wrong one."""
        with self._lock:
            ends = self._codes.pop(code, 0.0)
        if self._now() >= ends:
            return None
        until = int(self._now()) + SESSION_SECONDS
        named = f"{until}.{secrets.token_urlsafe(16)}"
        cookie = f"{named}.{self._signed('cookie', named)}"
        return Session(cookie, self._signed("key", cookie))

    def is_in(self, scope: Mapping[str, Any]) -> bool:
        """Whether a request shows both halves of a session that has not ended."""
        cookie, key = self._cookie(scope), _header(scope, KEY_HEADER)
        named, _, signature = cookie.rpartition(".")
        until = named.partition(".")[0]
        return (
            _same(signature, self._signed("cookie", named))
            and _same(key, self._signed("key", cookie))
            and until.isdecimal()
            and self._now() < int(until)
        )

    def _cookie(self, scope: Mapping[str, Any]) -> str:
        try:
            found = SimpleCookie(_header(scope, b"cookie")).get(self.cookie_name)
        except CookieError:
            return ""
        return "" if found is None else found.value

    def _signed(self, what: str, text: str) -> str:
        digest = hmac.new(self._token, f"page {what} {text}".encode(), hashlib.sha256).digest()
        return urlsafe_b64encode(digest).decode().rstrip("=")


def _header(scope: Mapping[str, Any], wanted: bytes) -> str:
    found = [value for name, value in scope["headers"] if name == wanted]
    return b"; ".join(found).decode("latin-1")


def _same(one: str, other: str) -> bool:
    return secrets.compare_digest(one.encode(), other.encode())
