"""How an entry is told to be ours: by the file it runs, whatever its home or interpreter.

What a person wired by hand (docs/guides/whisper-hooks.md) does the same work but is theirs: it is
seen, so that nothing fires twice, and left alone.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from madeleine.agents.surroundings import HOOK_NAME

SERVER = "madeleine"
_VERBS = {"inject", "store"}


def words_of(entry: object) -> list[str]:
    """Return the words that an entry of a host would run; none if it runs no command."""
    if not isinstance(entry, Mapping):
        return []
    command = entry.get("command") or entry.get("bash") or ""
    more = entry.get("args")
    if isinstance(command, list):  # OpenCode has it as one list
        return [str(word) for word in command]
    if isinstance(more, list):
        return [str(command), *map(str, more)]
    return _split(str(command))


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:  # an open quote: no line of ours
        return line.split()


def is_our_hook(words: Sequence[str]) -> bool:
    return any(PurePath(word).name == HOOK_NAME for word in words)


def is_hook_by_hand(words: Sequence[str]) -> bool:
    """Whether a person wired this hook: the client from the package, or the command."""
    if is_our_hook(words) or not _VERBS & set(words):
        return False
    names = [PurePath(word).name for word in words]
    return "whisper.py" in names or names[:2] == ["madeleine", "whisper"]


def is_our_server(entry: Any) -> bool:
    """Whether an MCP server named `madeleine` is the one that setup writes."""
    words = words_of(entry)
    return "--home" in words and is_a_server(words)


def is_a_server(words: Sequence[str]) -> bool:
    """Whether these words start our MCP server, whoever wrote them."""
    return "mcp" in words and any(PurePath(word).name == "madeleine" for word in words)
