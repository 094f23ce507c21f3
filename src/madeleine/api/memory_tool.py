"""The Anthropic memory tool (`memory_20250818`) with Madeleine behind it.

    from madeleine import Madeleine
    from madeleine.api.memory_tool import MemoryTool

    with Madeleine.open() as m:
        tool = MemoryTool(m, space="atlas")
        tools = [tool.to_dict()]                    # for client.messages.create
        block = tool.tool_result(use.id, use.input)  # for each tool_use block that comes back

Each file below `/memories` is one memory with the tag `memory-file`, so that what an agent notes
there is recalled and whispered like everything else, has a history, and can be undone. Folders are
there while a file is in them. What the tool says, word for word, is what models were taught to
expect; the texts are those of the reference implementation.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import unquote

from madeleine.api.madeleine import Madeleine
from madeleine.errors import MadeleineError
from madeleine.model.memory import Memory

ROOT_FOLDER = "/memories"
FILE_TAG = "memory-file"
BLANK_FILE_TAG = (
    "memory-file-blank"  # its text is white space, which no memory may be: kept as JSON
)
URI_PREFIX = "memory-tool:"
TOOL_SOURCE = "agent:memory-tool"
PAGE_SIZE = 1_000
MAX_LINES = 999_999
LINE_NUMBER_COLUMNS = 6
LISTING_LEVELS = 2  # how deep a listing goes
CONTEXT_LINES = 2  # lines before and after a change that are shown
HIDDEN_FOLDER = "node_modules"
MAX_PATH_CHARS = 1_000
_UNSAFE_PATH_PATTERN = re.compile(r"[\x00-\x1f\x7f\\]")
_MAX_DECODINGS = 3  # `%252e` is `%2e` is `.`


class ToolError(Exception):
    """A command that was not carried out; its text is for the model."""


class ToolResult(NamedTuple):
    """What the tool answers."""

    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class ToolFile:
    """A file of the tool, and the memory that it is."""

    path: str
    memory: Memory

    @property
    def text(self) -> str:
        content = self.memory.content
        return str(json.loads(content)) if BLANK_FILE_TAG in self.memory.tags else content

    @property
    def size(self) -> int:
        return len(self.text.encode("utf-8"))


class MemoryTool:
    """The tool over one open home. Commands are carried out one after the other."""

    name = "memory"
    type = "memory_20250818"

    def __init__(self, memory: Madeleine, space: str | None = None) -> None:
        """`space` is the project that the files belong to; each has files of its own."""
        self._memory = memory
        self._space = space
        self._commands: Mapping[str, Callable[[_CommandInput], str]] = {
            "view": self._view_path,
            "create": self._create_file,
            "str_replace": self._str_replace,
            "insert": self._insert_lines,
            "delete": self._delete_path,
            "rename": self._rename,
        }

    @property
    def commands(self) -> tuple[str, ...]:
        """The names of the commands."""
        return tuple(self._commands)

    def to_dict(self) -> dict[str, str]:
        """Return the entry for the `tools` of a request."""
        return {"type": self.type, "name": self.name}

    def run(self, command: Mapping[str, Any]) -> ToolResult:
        """Carry out one command, the `input` of a tool_use block."""
        try:
            given = _CommandInput(command)
            known = self._commands.get(given.text("command"))
            if known is None:
                raise ToolError(f"Error: Unknown command: {given.text('command')}")
            return ToolResult(known(given))
        except ToolError as error:
            return ToolResult(str(error), is_error=True)
        except MadeleineError as error:
            return ToolResult(f"Error: {error.message}", is_error=True)

    def call(self, command: Mapping[str, Any]) -> str:
        """Carry out one command and return its text; `ToolError` if it was not carried out."""
        result = self.run(command)
        if result.is_error:
            raise ToolError(result.text)
        return result.text

    def tool_result(self, tool_use_id: str, command: Mapping[str, Any]) -> dict[str, object]:
        """Carry out one command and return the block that answers it."""
        result = self.run(command)
        block = {"type": "tool_result", "tool_use_id": tool_use_id, "content": result.text}
        return {**block, "is_error": True} if result.is_error else dict(block)

    # -- commands --------------------------------------------------------------------------

    def _view_path(self, given: _CommandInput) -> str:
        path, shown = given.path("path"), given.text("path")
        files = self._files_by_path()
        if path in files:
            return _render_file(files[path].text, shown, given.range())
        if path == ROOT_FOLDER or _files_below(files, path):
            return _render_folder(files, path)
        raise ToolError(f"The path {shown} does not exist. Please provide a valid path.")

    def _create_file(self, given: _CommandInput) -> str:
        path, text = given.path("path"), given.text("file_text")
        files = self._files_by_path()
        taken = next((each for each in _parent_folders(path) if each in files), None)
        if path == ROOT_FOLDER or path in files or _files_below(files, path):
            raise ToolError(f"Error: File {given.text('path')} already exists")
        if taken is not None:
            raise ToolError(f"Error: File {taken} already exists")
        self._memory.remember(
            **_content_fields(text),
            **_path_fields(path),
            id=str(uuid.uuid4()),
            space=self._space,
            source=TOOL_SOURCE,
        )
        return f"File created successfully at: {given.text('path')}"

    def _str_replace(self, given: _CommandInput) -> str:
        file = self._files_by_path().get(given.path("path"))
        shown, old = given.text("path"), given.text("old_str")
        if file is None:
            raise ToolError(f"Error: The path {shown} does not exist. Please provide a valid path.")
        text, places = file.text, _find_occurrences(file.text, old)
        if not places:
            raise ToolError(
                f"No replacement was performed, old_str `{old}` did not appear verbatim in {shown}."
            )
        if len(places) > 1:
            lines = dict.fromkeys(_line_number(text, place) for place in places)
            numbers = ", ".join(str(line) for line in lines)
            raise ToolError(
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: "
                f"{numbers}. Please ensure it is unique"
            )
        new = given.optional("new_str")
        edited = text[: places[0]] + new + text[places[0] + len(old) :]
        self._write(file, edited)
        snippet = _render_snippet(edited, _line_number(text, places[0]), new)
        return "\n".join(["The memory file has been edited.", *snippet])

    def _insert_lines(self, given: _CommandInput) -> str:
        file = self._files_by_path().get(given.path("path"))
        shown = given.text("path")
        if file is None:
            raise ToolError(f"Error: The path {shown} does not exist")
        at, lines = given.whole("insert_line"), _split_lines(file.text)
        if not 0 <= at <= len(lines):
            raise ToolError(
                f"Error: Invalid `insert_line` parameter: {at}. It should be within the range of "
                f"lines of the file: [0, {len(lines)}]"
            )
        self._write(file, _insert_text(file.text, lines, at, given.text("insert_text")))
        return f"The file {shown} has been edited."

    def _delete_path(self, given: _CommandInput) -> str:
        path, shown = given.path("path"), given.text("path")
        if path == ROOT_FOLDER:
            raise ToolError(f"Error: Cannot delete the {ROOT_FOLDER} directory itself")
        files = self._files_by_path()
        gone = [files[path]] if path in files else _files_below(files, path)
        if not gone:
            raise ToolError(f"Error: The path {shown} does not exist")
        for file in gone:
            self._memory.forget(file.memory, reason=f"deleted {shown} with the memory tool")
        return f"Successfully deleted {shown}"

    def _rename(self, given: _CommandInput) -> str:
        old, new = given.path("old_path"), given.path("new_path")
        shown, target = given.text("old_path"), given.text("new_path")
        if old == ROOT_FOLDER:
            raise ToolError(f"Error: Cannot rename the {ROOT_FOLDER} directory itself")
        files = self._files_by_path()
        moved = [files[old]] if old in files else _files_below(files, old)
        if not moved:
            raise ToolError(f"Error: The path {shown} does not exist")
        taken = any(each in files for each in _parent_folders(new)) or new.startswith(f"{old}/")
        if new == ROOT_FOLDER or new in files or _files_below(files, new) or taken:
            raise ToolError(f"Error: The destination {target} already exists")
        for file in moved:
            self._memory.revise(file.memory, **_path_fields(new + file.path.removeprefix(old)))
        return f"Successfully renamed {shown} to {target}"

    # -- files -----------------------------------------------------------------------------

    def _files_by_path(self) -> dict[str, ToolFile]:
        """Return every file by its path, in order. Of two with one path the first counts."""
        found: dict[str, ToolFile] = {}
        for memory in sorted(self._list_memories(), key=lambda each: (each.created, each.id)):
            uri = memory.origin.uri if memory.origin and memory.origin.uri else ""
            if uri.startswith(f"{URI_PREFIX}{ROOT_FOLDER}/"):
                path = uri.removeprefix(URI_PREFIX)
                found.setdefault(path, ToolFile(path, memory))
        return dict(sorted(found.items()))

    def _list_memories(self) -> Iterator[Memory]:
        offset, total = 0, 1
        spaces = [self._space or "global"]
        while offset < total:
            page = self._memory.list(
                PAGE_SIZE, offset, tags=[FILE_TAG], spaces=spaces, outdated=True
            )
            yield from page
            offset, total = offset + PAGE_SIZE, page.total

    def _write(self, file: ToolFile, text: str) -> None:
        others = [each for each in file.memory.tags if each not in (FILE_TAG, BLANK_FILE_TAG)]
        given = _content_fields(text)
        tags = [*given.pop("tags"), *others]
        self._memory.revise(file.memory, **given, tags=tags)


def for_anthropic(tool: MemoryTool) -> Any:
    """Return the tool as the official SDK's tool runner takes it (`pip install anthropic`):
    a `BetaAbstractMemoryTool` that does what ours does."""
    # The SDK is no dependency of ours: whoever calls this has it.
    from anthropic.lib import (  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415
        tools,
    )

    sdk: Any = tools

    def call(self: object, given: Any) -> str:
        result = tool.run(given if isinstance(given, Mapping) else dict(given))
        if result.is_error:
            raise sdk.ToolError(result.text)
        return result.text

    commands = dict.fromkeys(tool.commands, call)
    adapted = type("MadeleineMemoryTool", (sdk.BetaAbstractMemoryTool,), {**commands, "call": call})
    return adapted()


# -- what comes in -------------------------------------------------------------------------


class _CommandInput:
    """The input of a command, taken apart."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def text(self, name: str) -> str:
        value = self._values.get(name)
        if not isinstance(value, str):
            raise ToolError(f"Error: Missing required parameter: {name}")
        return value

    def optional(self, name: str) -> str:
        return "" if self._values.get(name) is None else self.text(name)

    def whole(self, name: str) -> int:
        value = self._values.get(name)
        if isinstance(value, bool) or not isinstance(value, int):
            raise ToolError(f"Error: Missing required parameter: {name}")
        return value

    def range(self) -> tuple[int, int] | None:
        """Return the lines that are asked for, if not all are."""
        given = self._values.get("view_range")
        if given is None:
            return None
        if not isinstance(given, Sequence) or len(given) != 2:
            raise ToolError(f"Error: Invalid `view_range` parameter: {given}")
        if any(isinstance(each, bool) or not isinstance(each, int) for each in given):
            raise ToolError(f"Error: Invalid `view_range` parameter: {given}")
        return int(given[0]), int(given[1])

    def path(self, name: str) -> str:
        """Return a path below the root; one that leads out of it, however written, is refused."""
        given = self.text(name)
        plain = given
        for _ in range(_MAX_DECODINGS):
            plain = unquote(plain)
        if plain.split("/")[:2] != ROOT_FOLDER.split("/"):
            raise ToolError(f"Error: Path must start with {ROOT_FOLDER}, got: {given}")
        parts = [part for part in plain.split("/") if part]
        if (
            {".", ".."} & set(parts)
            or _UNSAFE_PATH_PATTERN.search(plain)
            or len(given) > MAX_PATH_CHARS
        ):
            raise ToolError(f"Error: Path {given} would escape {ROOT_FOLDER} directory")
        return "/" + "/".join(part for part in given.split("/") if part)


# -- texts and paths -----------------------------------------------------------------------


def _content_fields(text: str) -> dict[str, Any]:
    """Return how a file's text is kept: one of white space only as its JSON."""
    if text.strip("\ufeff\x00").strip():
        return {"content": text, "tags": [FILE_TAG]}
    return {"content": json.dumps(text), "tags": [FILE_TAG, BLANK_FILE_TAG]}


def _path_fields(path: str) -> dict[str, Any]:
    title = path.removeprefix(f"{ROOT_FOLDER}/")
    return {"title": title[-300:], "origin": {"uri": f"{URI_PREFIX}{path}"}}


def _files_below(files: Mapping[str, ToolFile], folder: str) -> list[ToolFile]:
    return [file for path, file in files.items() if path.startswith(f"{folder}/")]


def _parent_folders(path: str) -> list[str]:
    """Return the folders that a path lies in, below the root."""
    parts = path.removeprefix(f"{ROOT_FOLDER}/").split("/")
    return [f"{ROOT_FOLDER}/{'/'.join(parts[:count])}" for count in range(1, len(parts))]


def _split_lines(text: str) -> list[str]:
    """Return the lines; the end of the last one begins no other."""
    if not text:
        return []
    return text.removesuffix("\n").split("\n")


def _find_occurrences(text: str, wanted: str) -> list[int]:
    """Return where a text stands in another; an empty one stands nowhere."""
    return [found.start() for found in re.finditer(re.escape(wanted), text)] if wanted else []


def _line_number(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


def _number_lines(lines: Sequence[str], first: int) -> list[str]:
    return [f"{first + at:>{LINE_NUMBER_COLUMNS}}\t{line}" for at, line in enumerate(lines)]


def _render_snippet(text: str, line: int, new: str) -> list[str]:
    """Return the lines around a change, as they are now."""
    lines = _split_lines(text)
    first = max(1, line - CONTEXT_LINES)
    last = min(len(lines), line + new.count("\n") + CONTEXT_LINES)
    return _number_lines(lines[first - 1 : last], first)


def _insert_text(text: str, lines: Sequence[str], at: int, new: str) -> str:
    """Return the text with another one inserted after line `at`."""
    before, after = "\n".join(lines[:at]), "\n".join(lines[at:])
    parts = [*([before] if at else []), new.removesuffix("\n"), *([after] if lines[at:] else [])]
    ends = text.endswith("\n") or (new.endswith("\n") and at == len(lines))
    return "\n".join(parts) + ("\n" if ends else "")


def _render_file(text: str, shown: str, wanted: tuple[int, int] | None) -> str:
    lines = _split_lines(text)
    if len(lines) > MAX_LINES:
        raise ToolError(f"File {shown} exceeds maximum line limit of 999,999 lines.")
    first, last = wanted or (1, -1)
    first = max(1, first)
    part = lines[first - 1 : None if last == -1 else max(last, 0)]
    return "\n".join(
        [f"Here's the content of {shown} with line numbers:", *_number_lines(part, first)]
    )


def _render_folder(files: Mapping[str, ToolFile], folder: str) -> str:
    """Return the listing of a folder, two levels deep, each with its size."""
    sizes = {folder: 0}
    for path, file in files.items():
        if not path.startswith(f"{folder}/"):
            continue
        sizes[folder] += file.size
        parts = path.removeprefix(f"{folder}/").split("/")
        if any(part.startswith(".") or part == HIDDEN_FOLDER for part in parts[:LISTING_LEVELS]):
            continue
        for depth in range(1, min(len(parts), LISTING_LEVELS) + 1):
            name = f"{folder}/{'/'.join(parts[:depth])}"
            sizes[name] = sizes.get(name, 0) + file.size
    head = (
        f"Here're the files and directories up to 2 levels deep in {folder}, "
        f"excluding hidden items and node_modules:"
    )
    return "\n".join(
        [head, *(f"{_render_size(size)}\t{path}" for path, size in sorted(sizes.items()))]
    )


def _render_size(count: int) -> str:
    size, unit = float(count), "B"
    for unit in ("B", "K", "M", "G"):
        if size < 1024 or unit == "G":
            break
        size /= 1024
    return f"{int(size)}{unit}" if size == int(size) else f"{size:.1f}{unit}"
