"""Settings without what is secret in them: a backup may be given to others."""

from __future__ import annotations

import re

from madeleine.language.late_pattern import compile_late
from madeleine.language.secrets import redact_secrets

_SECRET = compile_late(
    r"^(?P<key>[ \t]*[\w.\"'-]*(?:token|secret|password|passwd|api_?key)[\"']?[ \t]*=[ \t]*)"
    r"(?P<value>[^\n]*)$",
    re.MULTILINE | re.IGNORECASE,
)
LEFT_OUT = '""  # left out of the backup'


def remove_secrets(text: str) -> str:
    """Return the text of a config.toml in which every secret is empty."""
    return redact_secrets(_SECRET.sub(_empty_value, text)).text


def _empty_value(found: re.Match[str]) -> str:
    is_empty = found["value"].split("#")[0].strip() in ("", '""', "''")
    return found[0] if is_empty else f"{found['key']}{LEFT_OUT}"
