"""What an agent is about to do, read from the name of a tool and what it is given.

Hosts name their tools differently and give them different fields; what counts is the same: which
files it is about, which programs it runs and with what, in which environment, and whether it only
looks. Tools of assistants (`send_email`, `calendar.create`) are read by their names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from madeleine.language.late_pattern import compile_late
from madeleine.language.trigger_words import (
    ACTIVITY_BY_WORD,
    ENVIRONMENT_BY_WORD,
    PROGRAMS,
    READING_PROGRAMS,
    READING_TOOLS,
    READING_VERBS,
    RUNNERS,
    WRITING_FLAGS,
)

TEXT_CHARS = 4_000  # of what is written or run that are read
MAX_TOKENS = 400
PATH_FIELDS = ("file_path", "filePath", "notebook_path", "path", "absolute_path", "target_file")
COMMAND_FIELDS = ("command", "cmd", "script")
WRITTEN_FIELDS = ("new_string", "newString", "content", "new_source", "file_text", "code_edit")
FILE_TOOLS = frozenset(
    [
        *("edit", "write", "multiedit", "notebookedit", "create", "update", "delete", "patch"),
        *("write_file", "replace", "edit_file", "create_file", "str_replace", "apply_patch"),
        *("insert", "rename", "search_replace", "delete_file", "smart_edit"),
    ]
)
SHELL_TOOLS = frozenset(
    [
        *("bash", "shell", "run_shell_command", "run_command", "run_terminal_cmd", "exec"),
        *("terminal", "local_shell", "powershell", "execute_command", "container.exec"),
        *("exec_command", "run_in_terminal"),
    ]
)

_TOKEN = compile_late(r"[^\s,;()\[\]{}\"'`“”‘’«»<>|=]+")
_NAME_PART = compile_late(r"[A-Za-z][a-z]+|[A-Z]+(?![a-z])|[a-z]+|\d+")
_PATCH_FILE = compile_late(r"^\*\*\* (?:Add|Update|Delete) File: (\S[^\n]*)$", re.MULTILINE)
_SEPARATOR = compile_late(r"&&|\|\||[;|\n]")
_ASSIGNMENT = compile_late(r"[A-Za-z_]\w*=\S*\Z")


@dataclass(frozen=True, slots=True)
class Deed:
    """What an agent is about to do."""

    tool: str
    text: str
    """The tool and what it is given, as a person would say it in a line."""
    paths: tuple[str, ...] = ()
    """With `/`, without a leading one."""
    commands: tuple[tuple[str, ...], ...] = ()
    """Each command of a line: the program and its words."""
    tokens: frozenset[str] = frozenset()
    """All words of it in lower case, names in code whole."""
    environments: frozenset[str] = frozenset()
    activities: frozenset[str] = frozenset()
    only_looks: bool = False
    """Whether it changes nothing."""


def read_deed(tool: str, given: Mapping[str, object], folder: str | None = None) -> Deed:
    """Return the deed that a host's tool call is; `folder` is where paths begin."""
    path = _first_text(given, PATH_FIELDS)
    command = _first_text(given, COMMAND_FIELDS) or _join_command(given)
    written = " ".join(_iterate_written(given))
    patch = _first_text(given, ("input", "patch"))
    paths = [path] if path else []
    paths += [each.strip() for each in _PATCH_FILE.findall((patch or command)[:TEXT_CHARS])]
    relative = [_relative_path(each, folder) for each in paths]
    if not (relative or command):
        written = " ".join(_iterate_texts(given))
    said = " ".join(each for each in (*relative, command or patch, written) if each)
    return _build_deed(tool, said[:TEXT_CHARS], tuple(relative), command[:TEXT_CHARS])


def read_action(action: str, folder: str | None = None) -> Deed:
    """Return the deed that a person words: `Edit src/app.py`, or only a command."""
    first, _, target = action.strip().partition(" ")
    tool = first.rstrip(":")
    is_command = not (is_file_tool(tool) or is_shell_tool(tool)) and tool.lower() in PROGRAMS
    return (
        read_named_deed("Bash", action.strip())
        if is_command
        else read_named_deed(tool, target.strip(), folder)
    )


def read_named_deed(tool: str, target: str, folder: str | None = None) -> Deed:
    """Return the deed that a tool and its target are; `folder` is where paths begin."""
    if _is_tool(tool, SHELL_TOOLS):
        return _build_deed(tool, target, (), target)
    if _is_tool(tool, FILE_TOOLS):
        first = target.partition(" ")[0].rstrip(",:")
        return _build_deed(tool, target, (_relative_path(first, folder),) if first else (), "")
    return _build_deed(tool, target, (), "")


def is_file_tool(tool: str) -> bool:
    """Whether a tool changes files."""
    return _is_tool(tool, FILE_TOOLS)


def is_shell_tool(tool: str) -> bool:
    """Whether a tool runs commands."""
    return _is_tool(tool, SHELL_TOOLS)


def _is_tool(tool: str, known: frozenset[str]) -> bool:
    return tool.lower() in known


def _build_deed(tool: str, said: str, paths: tuple[str, ...], command: str) -> Deed:
    commands = tuple(split_commands(command))
    named = tuple(dict.fromkeys((*paths, *_paths_in_commands(commands))))
    is_plain = _is_tool(tool, FILE_TOOLS) or _is_tool(tool, SHELL_TOOLS)
    named_tool = "" if is_plain else tool  # `never edit them` is not about every edit
    tokens = frozenset(each.lower() for each in split_tokens(f"{named_tool} {said}"))
    parts = {part.lower() for token in tokens for part in split_name(token)} | tokens
    environments = {ENVIRONMENT_BY_WORD[each] for each in parts if each in ENVIRONMENT_BY_WORD}
    return Deed(
        tool=tool,
        text=f"{tool}: {said}",
        paths=named,
        commands=commands,
        tokens=tokens,
        environments=frozenset(environments),
        activities=frozenset(_read_activities(tool, commands, named)),
        only_looks=_is_only_looking(tool, commands),
    )


# -- fields of tools -------------------------------------------------------------------------


def _first_text(given: Mapping[str, object], names: Iterable[str]) -> str:
    return next((each for name in names if isinstance(each := given.get(name), str)), "")


def _join_command(given: Mapping[str, object]) -> str:
    """Return a command that is given as a list of words; a shell around it is left out."""
    words = given.get("command")
    if not isinstance(words, list):
        return ""
    texts = [str(each) for each in words]
    if len(texts) >= 3 and texts[1] in ("-lc", "-c"):
        return texts[2]
    return " ".join(texts)


def _iterate_written(given: Mapping[str, object]) -> Iterator[str]:
    edits = given.get("edits")
    for each in (given, *(edits if isinstance(edits, list) else ())):
        if isinstance(each, Mapping) and (text := _first_text(each, WRITTEN_FIELDS)):
            yield text[:TEXT_CHARS]


def _iterate_texts(given: Mapping[str, object]) -> Iterator[str]:
    """Give what a tool that we do not know is given."""
    for each in given.values():
        if isinstance(each, str):
            yield each[:TEXT_CHARS]


def _relative_path(path: str, folder: str | None) -> str:
    """Return a path as it is below the folder, with `/` between its parts."""
    plain = path.replace("\\", "/")
    root = (folder or "").replace("\\", "/").rstrip("/")
    if root and plain.startswith(f"{root}/"):
        plain = plain[len(root) :]
    return plain.removeprefix("./").strip("/")


# -- commands --------------------------------------------------------------------------------


def split_commands(line: str) -> Iterator[tuple[str, ...]]:
    """Give the commands of a line without what only says how they are run: `sudo`, variables."""
    for part in _SEPARATOR.split(line)[:MAX_TOKENS]:
        words = part.split()
        while words and (words[0] in RUNNERS or _ASSIGNMENT.match(words[0])):
            words = words[1:]
        if words:
            program = words[0].rstrip("/").rpartition("/")[2].lower()
            yield (program, *words[1:MAX_TOKENS])


def _paths_in_commands(commands: Iterable[tuple[str, ...]]) -> Iterator[str]:
    for _, *words in commands:
        for each in words:
            path = each.strip("\"'").partition("=")[2] or each.strip("\"'")
            if looks_like_path(path):
                yield path.removeprefix("./").strip("/")


def looks_like_path(word: str) -> bool:
    """Whether a word of a command names a file or folder."""
    if word.startswith("-") or "://" in word or not any(each.isalpha() for each in word):
        return False
    name = word.rpartition("/")[2]
    stem, dot, extension = name.rpartition(".")
    return "/" in word or bool(dot and stem and 1 <= len(extension) <= 8 and extension.isalnum())


def _is_only_looking(tool: str, commands: tuple[tuple[str, ...], ...]) -> bool:
    if commands:
        return all(map(_is_reading_command, commands))
    parts = {each.lower() for each in split_name(tool)}
    return bool(parts & READING_TOOLS) and not _is_tool(tool, FILE_TOOLS)


def _is_reading_command(command: tuple[str, ...]) -> bool:
    program, *words = command
    plain = [each for each in words if not each.startswith("-")]
    if any(each in WRITING_FLAGS for each in words) or ">" in words:
        return False
    if program in READING_PROGRAMS or {"--version", "--help"} & set(words):
        return True
    verbs = {part.lower() for each in plain[:4] for part in each.split(":")}
    return program in PROGRAMS and bool(verbs & READING_VERBS)


# -- activities ------------------------------------------------------------------------------


def _read_activities(
    tool: str, commands: Iterable[tuple[str, ...]], paths: Iterable[str]
) -> Iterator[str]:
    """Give what kind of work it is, as memories speak of it."""
    words = [part.lower() for part in split_name(tool)]
    for program, *rest in commands:
        words += [program, *(each.lower() for each in rest[:4] if not each.startswith("-"))]
    for path in paths:
        words += [part.lower() for part in split_name(path)]
    for each in words:
        if each in ACTIVITY_BY_WORD:
            yield ACTIVITY_BY_WORD[each]


# -- words -----------------------------------------------------------------------------------


def split_tokens(text: str) -> list[str]:
    """Return the words of a text, names in code and paths whole."""
    found = _TOKEN.findall(text[:TEXT_CHARS])[:MAX_TOKENS]
    return [each for token in found if (each := token if token.isalnum() else _trim_token(token))]


def _trim_token(token: str) -> str:
    """Return a word without what only ends a sentence or makes it bold."""
    plain = token.rstrip(".:!?")
    return plain if "/" in plain or "." in plain else plain.strip("*")


@lru_cache(maxsize=8_192)
def split_name(name: str) -> tuple[str, ...]:
    """Return the words that a name in code is made of."""
    return tuple(_NAME_PART.findall(name))
