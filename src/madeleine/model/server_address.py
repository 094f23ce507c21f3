"""Addresses of databases, which may hold credentials."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit

from madeleine.errors import BadSetting

ESCAPE_HINT = "in a password write / # ? @ : % as %2F %23 %3F %40 %3A %25"


def has_unambiguous_host(url: str, ends: str = "/?#") -> bool:
    """Whether there is at most one `@`, and in front of the host. Elsewhere it means that a sign
    in the password was taken for the end of the host, so that a part of the password would be
    read as something that may be shown. `ends` are the signs that end the host."""
    host, *rest = re.split(f"[{re.escape(ends)}]", url.partition("://")[2], maxsplit=1)
    return host.count("@") <= 1 and not any("@" in each for each in rest)


def split_address(setting: str, url: str) -> SplitResult:
    """Return the parts of the address in a setting, all of which can be read. One that cannot
    is not quoted, nor is what Python says of it, which does."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # which is read only when it is asked for
    except ValueError:
        raise BadSetting(setting, "cannot be read as an address", ESCAPE_HINT) from None
    if not has_unambiguous_host(url):
        raise BadSetting(setting, "has an @ behind its host", ESCAPE_HINT)
    return parts
