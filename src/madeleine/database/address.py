"""Where a database is, in words that let nobody in.

The address is read as libpq reads it: whatever else would be made of it might take a part of the
password for a host or a name. One that libpq itself would misread is refused, and not quoted.
"""

from __future__ import annotations

from itertools import zip_longest

import psycopg
from psycopg import conninfo

from madeleine.errors import BadSetting
from madeleine.model.server_address import ESCAPE_HINT, has_unambiguous_host

VALID_PORTS = range(1, 65_536)
OPTIONS_HINT = "behind ? write only what PostgreSQL knows, such as sslmode=require"


def public_address(url: str) -> str:
    """Return where a database is, without credentials."""
    parts = _parse_address(url)
    hosts, ports = (parts.get(name, "").split(",") for name in ("host", "port"))
    if not all(_is_valid_port(each) for each in ports):
        raise BadSetting("store.url", "has a port that is no number up to 65535", ESCAPE_HINT)
    places = zip_longest(hosts, ports if len(ports) > 1 else ports * len(hosts), fillvalue="")
    shown = ",".join(_render_host(*each) for each in places)
    return f"postgresql://{shown}/{parts.get('dbname', '')}"


def _parse_address(url: str) -> dict[str, str]:
    """Return the parts of an address, by libpq's names for them."""
    if not has_unambiguous_host(url, ends="/"):
        raise BadSetting("store.url", "has an @ behind its host", ESCAPE_HINT)
    try:
        parts = conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        hint = f"{OPTIONS_HINT}; {ESCAPE_HINT}" if "?" in url else ESCAPE_HINT
        raise BadSetting("store.url", "cannot be read as an address", hint) from None
    return {name: str(value) for name, value in parts.items() if value is not None}


def _is_valid_port(text: str) -> bool:
    return not text or (text.isascii() and text.isdigit() and int(text) in VALID_PORTS)


def _render_host(host: str, port: str) -> str:
    """Return a host as an address has it; that of a socket is a folder of this machine."""
    if host.startswith(("/", "@")):
        return ""
    named = f"[{host}]" if ":" in host else host
    return f"{named}:{port}" if port else named
