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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path, PurePath
from typing import Any

from madeleine.agents.environment import HOOK_NAME
from madeleine.agents.seen_entry import PlacedEntry, SeenEntry

SERVER_NAME = "madeleine"
HOME_VARIABLE = "MADELEINE_HOME"
SWITCH_KEYS = ("enabled", "disabled")  # by these hosts let a person turn a server off
_HOOK_VERBS = {"inject", "store"}
_CLIENT_NAMES = (HOOK_NAME, "whisper.py")  # the word after one of these is the home
_CLIENT_PATTERN = re.compile(rf"/[^\"'\n]*?/{re.escape(HOOK_NAME)}")
_WORD_GAP = r"(?: |</string>\s*<string>)"  # between two words, in a unit and in a property list
_DAEMON_PATTERN = re.compile(rf'madeleine\.server{_WORD_GAP}--home{_WORD_GAP}"?([^"<\n]+)')


def command_words(entry: object) -> list[str]:
    """Return the words that an entry of a host would run; none if it runs no command."""
    if not isinstance(entry, Mapping):
        return []
    command = entry.get("command") or entry.get("bash") or ""
    more = entry.get("args")
    if isinstance(command, list):  # OpenCode has it as one list
        return [str(word) for word in command]
    if isinstance(more, list):
        return [str(command), *map(str, more)]
    return _split_command(str(command))


def _split_command(line: str) -> list[str]:
    """Return the words of a line for a shell; what stands between two commands is a word too."""
    reader = shlex.shlex(line, posix=True, punctuation_chars=True)
    reader.whitespace_split, reader.commenters = True, ""
    try:
        return list(reader)
    except ValueError:  # an open quote: no line of ours
        return line.split()


def _flatten_words(words: Sequence[str]) -> list[str]:
    """Return all words, those in a line for a shell (`sh -c "…"`) one by one."""
    flat: list[str] = []
    for before, word in _pair_with_previous(words):
        flat += _split_command(word) if " " in word and before != "--home" else [word]
    return flat


def _pair_with_previous(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    return zip(["", *words], words, strict=False)


def _program_names(words: Sequence[str]) -> list[str]:
    """Return the last part of each word, without `--home`, which may stand anywhere."""
    names: list[str] = []
    for before, word in _pair_with_previous(_flatten_words(words)):
        if not word.startswith("--home") and before != "--home":
            names.append(PurePath(word).name)
    return names


def _runs_command(words: Sequence[str], command: str, program: str = "madeleine") -> bool:
    """Whether these words run a command of a program, by whatever means it is started."""
    return (program, command) in pairwise(_program_names(words))


# -- homes ---------------------------------------------------------------------------------


def entry_home(entry: object) -> str | None:
    """Return the home that an entry names, be it by a word, in a line for a shell or in its
    environment; one that names none works for the default one."""
    words = command_words(entry)
    flat = _flatten_words(words)
    named = (
        _find_home_option(words)
        or _find_home_option(flat)
        or _find_home_assignment(flat)
        or _find_home_variable(entry)
    )
    return None if named is None else _expand_path(named)


def _find_home_option(words: Sequence[str]) -> str | None:
    for before, word in _pair_with_previous(words):
        if before == "--home" or PurePath(before).name in _CLIENT_NAMES:
            return word
        if word.startswith("--home="):
            return word.removeprefix("--home=")
    return None


def _find_home_assignment(words: Sequence[str]) -> str | None:
    """Return what a line sets the variable to: `MADELEINE_HOME=/x madeleine mcp`."""
    values = [word.partition("=")[2] for word in words if word.startswith(f"{HOME_VARIABLE}=")]
    return values[-1] if values else None


def _find_home_variable(entry: object) -> str | None:
    for name in ("env", "environment"):  # OpenCode spells it out
        given = entry.get(name) if isinstance(entry, Mapping) else None
        if isinstance(given, Mapping) and given.get(HOME_VARIABLE):
            return str(given[HOME_VARIABLE])
    return None


def _expand_path(path: str) -> str:
    """Return a path as a shell and `madeleine` itself read it; a folder of just that name first."""
    return path if Path(path).is_dir() else os.path.expandvars(Path(path).expanduser())


def is_of_another_home(named: str | None, home: str) -> bool:
    """Whether an entry that names this home works for another one than ours, and that is there."""
    return named is not None and not is_same_path(named, home) and Path(named).is_dir()


def is_same_path(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def required_path_and_home(text: str) -> tuple[str, str] | None:
    """Return what a whole file of ours needs to be of use, and the home that it works for."""
    client, daemon = _CLIENT_PATTERN.search(text), _DAEMON_PATTERN.search(text)
    if client is not None:
        return client[0], str(Path(client[0]).parent.parent)
    return None if daemon is None else (daemon[1], daemon[1])


# -- hooks ---------------------------------------------------------------------------------


def is_wired_hook(words: Sequence[str]) -> bool:
    """Whether setup wrote this hook, for whichever home."""
    return any(PurePath(word).name == HOOK_NAME for word in words)


def is_our_hook(entry: object, home: str) -> bool:
    return is_wired_hook(command_words(entry)) and not is_of_another_home(entry_home(entry), home)


def is_hook_by_hand(words: Sequence[str]) -> bool:
    """Whether a person wired this hook: the client from the package, or the command."""
    if is_wired_hook(words):
        return False
    names = _program_names(words)
    return bool(_HOOK_VERBS & set(names)) and (
        "whisper.py" in names or _runs_command(words, "whisper")
    )


def is_others_hook(entry: object, home: str) -> bool:
    """Whether this hook does the same work and is not ours."""
    words = command_words(entry)
    return is_hook_by_hand(words) or (
        is_wired_hook(words) and is_of_another_home(entry_home(entry), home)
    )


def is_ormahs_hook(entry: object) -> bool:
    """Whether this hook asks Ormah, which does the same work: both would answer."""
    return _runs_command(command_words(entry), "whisper", "ormah")


def find_hooks(placed: Iterable[PlacedEntry], home: str) -> Iterator[SeenEntry]:
    """Yield those hooks that are of this home or of another one."""
    for place, entry in placed:
        ours = is_our_hook(entry, home)
        if ours or is_others_hook(entry, home):
            words = tuple(command_words(entry))
            yield SeenEntry(f"hook on {place[1]}", words, ours, place, entry_home(entry))


# -- servers -------------------------------------------------------------------------------


def is_a_server(words: Sequence[str]) -> bool:
    """Whether these words start our MCP server, whoever wrote them."""
    return _runs_command(words, "mcp")


def is_our_server(entry: Any, ours: Mapping[str, Any], home: str, wrote: bool) -> bool:
    """Whether an MCP server named `madeleine` is the one that setup wrote for this home.

    `wrote` says that a receipt tells so. Without one it is ours if it says what we would say,
    whether a person turned it off or not, or points to a program that is gone.
    """
    words = command_words(entry)
    if not is_a_server(words) or is_of_another_home(entry_home(entry), home):
        return False
    same = _entry_without_switches(entry) == _entry_without_switches(ours)
    return wrote or same or (_find_home_option(words) is not None and _is_missing_program(words[0]))


def _entry_without_switches(entry: Mapping[str, Any]) -> str:
    """Return all that an entry says but for its switch, whatever reader made it."""
    said = {name: value for name, value in entry.items() if name not in SWITCH_KEYS}
    return json.dumps(said, sort_keys=True, default=str)


def _is_missing_program(program: str) -> bool:
    return program.startswith("/") and not Path(program).exists()


def is_switched_off(entry: object) -> bool:
    """Whether a person turned a server off."""
    if not isinstance(entry, Mapping):
        return False
    return entry.get("enabled") is False or entry.get("disabled") is True
