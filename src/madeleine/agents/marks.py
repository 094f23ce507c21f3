"""How an entry is told to be ours: by the home it works for, whatever its interpreter.

What a person wired by hand (docs/guides/whisper-hooks.md), and what setup wired for another home,
does the same work but is not ours: it is seen, so that nothing fires twice, and left alone. Only
what works for a home that is gone belongs to nobody, and whoever comes may mend it.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path, PurePath
from typing import Any

from madeleine.agents.surroundings import HOOK_NAME

SERVER = "madeleine"
_VERBS = {"inject", "store"}
_CLIENT = re.compile(rf"/[^\"'\n]*?/{re.escape(HOOK_NAME)}")


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


def _names(words: Sequence[str]) -> list[str]:
    """Return the last part of each word, also of those in a line for a shell (`sh -c "…"`), and
    without `--home`, which may stand anywhere."""
    flat = [part for word in words for part in (_split(word) if " " in word else [word])]
    names: list[str] = []
    for before, word in zip(["", *flat], flat, strict=False):
        if not word.startswith("--home") and before != "--home":
            names.append(PurePath(word).name)
    return names


def _runs(words: Sequence[str], command: str) -> bool:
    """Whether these words run a command of `madeleine`, by whatever means it is started."""
    names = _names(words)
    return ("madeleine", command) in pairwise(names)


# -- homes ---------------------------------------------------------------------------------


def home_of(words: Sequence[str]) -> str | None:
    """Return the home that an entry names; one that names none works for the default one."""
    for before, word in zip(["", *words], words, strict=False):
        if before == "--home" or PurePath(before).name == HOOK_NAME:
            return word
        if word.startswith("--home="):
            return word.removeprefix("--home=")
    return None


def is_anothers(words: Sequence[str], home: str) -> bool:
    """Whether an entry works for another home than this, and that one is there."""
    named = home_of(words)
    return named is not None and not _same(named, home) and Path(named).is_dir()


def _same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def client_in(text: str) -> str | None:
    """Return the client that a file of ours runs, if it names one."""
    found = _CLIENT.search(text)
    return found[0] if found else None


# -- hooks ---------------------------------------------------------------------------------


def is_wired_hook(words: Sequence[str]) -> bool:
    """Whether setup wrote this hook, for whichever home."""
    return any(PurePath(word).name == HOOK_NAME for word in words)


def is_our_hook(words: Sequence[str], home: str) -> bool:
    return is_wired_hook(words) and not is_anothers(words, home)


def is_hook_by_hand(words: Sequence[str]) -> bool:
    """Whether a person wired this hook: the client from the package, or the command."""
    if is_wired_hook(words):
        return False
    names = _names(words)
    return bool(_VERBS & set(names)) and ("whisper.py" in names or _runs(words, "whisper"))


def is_others_hook(words: Sequence[str], home: str) -> bool:
    """Whether this hook does the same work and is not ours."""
    return is_hook_by_hand(words) or (is_wired_hook(words) and is_anothers(words, home))


# -- servers -------------------------------------------------------------------------------


def is_a_server(words: Sequence[str]) -> bool:
    """Whether these words start our MCP server, whoever wrote them."""
    return _runs(words, "mcp")


def is_our_server(entry: Any, ours: Mapping[str, Any], home: str, wrote: bool) -> bool:
    """Whether an MCP server named `madeleine` is the one that setup wrote for this home.

    `wrote` says that a receipt tells so. Without one it is ours if it says what we would say, or
    points to a program that is gone.
    """
    words = words_of(entry)
    if not is_a_server(words) or is_anothers(words, home):
        return False
    same = _told(entry) == _told(ours)
    return wrote or same or (home_of(words) is not None and _is_gone(words[0]))


def _told(entry: Any) -> str:
    """Return all that an entry says, whatever reader made it."""
    return json.dumps(entry, sort_keys=True, default=str)


def _is_gone(program: str) -> bool:
    return program.startswith("/") and not Path(program).exists()


def does_the_same(entry: Any, home: str) -> bool:
    """Whether a server of any name gives an agent the memories of this home."""
    words = words_of(entry)
    named = home_of(words)
    return is_a_server(words) and (named is None or _same(named, home))
