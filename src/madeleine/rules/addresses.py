"""Addresses of databases, which may hold what lets one in."""

from __future__ import annotations

import re

ESCAPE = "in a password write / # ? @ : % as %2F %23 %3F %40 %3A %25"


def is_plain(url: str, ends: str = "/?#") -> bool:
    """Whether there is at most one `@`, and in front of the host. Elsewhere it means that a sign
    in the password was taken for the end of the host, so that a part of the password would be
    read as something that may be shown. `ends` are the signs that end the host."""
    host, *rest = re.split(f"[{re.escape(ends)}]", url.partition("://")[2], maxsplit=1)
    return host.count("@") <= 1 and not any("@" in each for each in rest)
