"""Access to the daemon: which requests may ask, and which are refused.

Over the unix socket: whoever may open it, which its file mode decides. Over TCP any program
and any web page on this machine can reach us, so a request must show the token, and its Host
and Origin must be ours: a foreign Host is a page that had its name point here (DNS
rebinding), a foreign Origin is a page of another site.
"""

from __future__ import annotations

import ipaddress
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from madeleine.errors import Forbidden, NoAdminToken, NoToken
from madeleine.server.page_sessions import PageSessions

LOOPBACK_HOSTS = frozenset(["127.0.0.1", "localhost", "[::1]"])
_HOST_PATTERN = re.compile(r"(\[[0-9a-f:.]+\]|[^:/@\[\]]+)(?::[0-9]{1,5})?\Z")

REACH_KEY = "madeleine.reach"  # under which a request's scope says how far it reaches
Scope = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Guard:
    """What a TCP request must show."""

    token: str
    host: str
    port: int
    trust_loopback: bool = False
    admin_token: str = ""
    """What routes for the whole memory ask for, if it is set; it opens the others too."""
    names: frozenset[str] = frozenset()
    """Other hosts than this machine under which a proxy with TLS reaches us."""
    sessions: PageSessions | None = None
    """Browsers that were signed in. Only who may use every route can sign one in, so it may;
    but for a person's, which `CallerResolver` looks at."""

    def check(self, scope: Scope, is_open: bool, is_admin: bool = False) -> None:
        """Let a request pass or say why not; an open route needs no token."""
        if is_over_unix(scope):
            return
        self.check_place(scope)
        if is_admin and self.admin_token:
            if not self._is_admin(scope) and not self._is_signed_in(scope):
                raise NoAdminToken
        elif not (is_open or self._has_token(scope) or self._is_trusted(scope)):
            raise NoToken

    def check_place(self, scope: Scope) -> None:
        """Refuse what comes from where nothing may come from."""
        if not is_over_unix(scope):
            self._check_host(scope)
            self._check_origin(scope)

    def is_from_server(self, scope: Scope) -> bool:
        """Whether a request is of who sits at the server, and of no person in particular."""
        return is_over_unix(scope) or self._has_token(scope)

    def person_at_page(self, scope: Scope) -> str:
        """Return the id of the token whose owner's browser asks; nothing if it is nobody's."""
        return (self.sessions.token_id_of(scope) or "") if self.sessions is not None else ""

    def is_from_admin(self, scope: Scope) -> bool:
        """Whether such a request may also tend the whole memory."""
        return is_over_unix(scope) or not self.admin_token or self._is_admin(scope)

    def is_guest(self, scope: Scope) -> bool:
        """Whether a request comes in on trust alone, as those of Ormah's own clients do. A
        browser says where a request comes from; it is none of them."""
        shows = read_header(scope, b"authorization") or read_header(scope, b"sec-fetch-site")
        return not is_over_unix(scope) and not shows and self._is_trusted(scope)

    def proxy_url(self, scope: Scope) -> str:
        """Return the address of the proxy through which a request came, empty if it came
        straight to us."""
        named = _read_host_name(scope)
        return f"https://{read_header(scope, b'host').lower()}" if named in self.names else ""

    def _check_host(self, scope: Scope) -> None:
        if _read_host_name(scope) not in self._own_hosts():
            raise Forbidden("Host", read_header(scope, b"host"), bool(self.names))

    def _check_origin(self, scope: Scope) -> None:
        if not any(name == b"origin" for name, _ in scope["headers"]):
            return
        given = read_header(scope, b"origin")
        own = {f"http://{host}:{self.port}" for host in self._own_hosts()}
        if given.lower() not in own | {f"https://{name}" for name in self.names}:
            raise Forbidden("Origin", given, bool(self.names))

    def _own_hosts(self) -> frozenset[str]:
        own = f"[{self.host}]" if ":" in self.host else self.host
        return LOOPBACK_HOSTS | {own.lower()} | self.names

    def _has_token(self, scope: Scope) -> bool:
        own = _is_same_secret(bearer_token(scope), self.token)
        return own or self._is_admin(scope) or self._is_signed_in(scope)

    def _is_signed_in(self, scope: Scope) -> bool:
        """Whether this is the browser of who sits at the server."""
        return self.sessions is not None and self.sessions.token_id_of(scope) == ""

    def _is_admin(self, scope: Scope) -> bool:
        both = (bearer_token(scope), read_header(scope, b"x-admin-token"))
        return bool(self.admin_token) and any(
            _is_same_secret(each, self.admin_token) for each in both
        )

    def _is_trusted(self, scope: Scope) -> bool:
        """Whether a client needs no token. A page of another site can make a browser ask, with
        no Origin where it only reads; the browser says so, and then a token is needed."""
        client = scope.get("client")
        ours = read_header(scope, b"sec-fetch-site").lower() in ("", "same-origin", "none")
        return (
            self.trust_loopback and ours and client is not None and _is_loopback_address(client[0])
        )


def _read_host_name(scope: Scope) -> str:
    """Return the host that a request names, without its port; empty if it names none."""
    found = _HOST_PATTERN.match(read_header(scope, b"host").lower())
    return found[1] if found else ""


def bearer_token(scope: Scope) -> str:
    """Return the bearer token that a request shows, empty if it shows none."""
    scheme, _, token = read_header(scope, b"authorization").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _is_same_secret(shown: str, token: str) -> bool:
    return secrets.compare_digest(shown.encode(), token.encode())


def is_over_unix(scope: Scope) -> bool:
    """Whether a request came through the unix socket: such a server address has no port.

    uvicorn says so from 0.41 on; an older one says nothing, and then the token is asked for.
    """
    server = scope.get("server")
    return server is not None and server[1] is None


def read_header(scope: Scope, wanted: bytes) -> str:
    """Return a header's value, empty if it is not there; several are joined, which no check
    that compares the whole takes for one."""
    found = [value for name, value in scope["headers"] if name == wanted]
    return b", ".join(found).decode("latin-1")


def _is_loopback_address(address: str) -> bool:
    try:
        peer = ipaddress.ip_address(address)
    except ValueError:
        return False
    mapped = getattr(peer, "ipv4_mapped", None)
    return (mapped or peer).is_loopback
