"""TOML changed as text: one table of ours is added at the end, or taken out again.

As with JSON (`jsonc.py`), the rest of the file keeps every byte, and each change checks its own
work: the result must parse and differ from what was there in our table only.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from madeleine.model.config_text import key_to_toml, read_statements, to_toml
from madeleine.model.toml_bounds import find_long_key

TomlValues = Mapping[str, str | list[str]]

_ERROR_LINE_PATTERN = re.compile(r"\(at line (\d+), column \d+\)")
_KEY_PATTERN = r"(?m)^[ \t]*{name}[ \t]*=[ \t]*(?:\[[^\]]*\]|\"[^\"\r\n]*\"|'[^'\r\n]*')"


class InvalidToml(Exception):
    """A text that is not TOML, or one that cannot be changed without rewriting it."""

    def __init__(self, problem: str, line: int) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line


def read_toml(text: str) -> dict[str, Any]:
    """Return what the text says."""
    if (long_key := find_long_key(text)) is not None:
        raise InvalidToml("a key has too many parts", long_key)
    try:
        return tomllib.loads(text.replace("\r\n", "\n"))
    except RecursionError as error:
        raise InvalidToml("it is nested too deeply", 1) from error
    except tomllib.TOMLDecodeError as error:
        found = _ERROR_LINE_PATTERN.search(str(error))
        line = int(found[1]) if found else text.count("\n") + 1
        problem = _ERROR_LINE_PATTERN.sub("", str(error)).strip()
        raise InvalidToml(problem[:1].lower() + problem[1:], line) from error
    except ValueError as error:
        raise InvalidToml("a number has too many digits", 1) from error


def find_table(values: Mapping[str, Any], path: tuple[str, ...]) -> Mapping[str, Any] | None:
    """Return the table a path leads to, if there is one."""
    found: Any = values
    for step in path:
        found = found.get(step) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else None


def add_table(text: str, path: tuple[str, ...], table: TomlValues) -> str:
    """Add a table at the end."""
    return _check_change(text, path, dict(table), append_lines(text, _render_table(path, table)))


def append_lines(text: str, lines: Iterable[str]) -> str:
    """Return the text with lines at its end, after a blank one."""
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text.strip() else newline if text.endswith("\n") else newline * 2
    return text + gap + newline.join(lines) + newline


def set_keys(text: str, path: tuple[str, ...], table: TomlValues) -> str:
    """Change values in a table that is there; its other keys and comments stay."""
    found = find_table(read_toml(text), path)
    start, stop = _find_first_range(text, path) or (0, 0)
    assert found is not None
    region = text[start:stop]
    for name, value in table.items():
        if found.get(name) != value:
            line = f"{name} = {to_toml(value)}"
            key = re.search(_KEY_PATTERN.format(name=name), region)
            region = region.replace(key[0], line, 1) if key else region
    return _check_change(text, path, {**found, **table}, text[:start] + region + text[stop:])


def drop_table(text: str, path: tuple[str, ...]) -> str:
    """Take out a table, and the blank line before it; comments after it stay."""
    place = _find_first_range(text, path)
    if place is None:
        raise InvalidToml(f"`{'.'.join(path)}` is written inline; take it out by hand", 1)
    return _check_change(text, path, None, cut_range(text, *place))


def cut_range(text: str, start: int, stop: int) -> str:
    """Return the text without a part of it, and without the blank line before that."""
    before = text[:start]
    for blank in ("\r\n\r\n", "\n\n"):
        if before.endswith(blank):
            return before[: -len(blank) // 2] + text[stop:]
    return ("" if before in ("\n", "\r\n") else before) + text[stop:]


def _render_table(path: tuple[str, ...], table: TomlValues) -> Iterator[str]:
    yield f"[{'.'.join(map(key_to_toml, path))}]"
    for name, value in table.items():
        yield f"{name} = {to_toml(value)}"


def _find_first_range(text: str, path: tuple[str, ...]) -> tuple[int, int] | None:
    return next(iter(find_table_ranges(text, path)), None)


def find_table_ranges(text: str, path: tuple[str, ...]) -> list[tuple[int, int]]:
    """Return from where to where tables of this name stand: header to end of the last line."""
    headers = [(each.start, each.path) for each in read_statements(text) if each.is_header]
    headers.append((len(text), ()))
    found = []
    for number, (start, names) in enumerate(headers[:-1]):
        if names == path:
            following = (at for at, other in headers[number + 1 :] if not _is_inside(other, path))
            found.append((start, _last_line_end(text, start, next(following))))
    return found


def _is_inside(names: tuple[str, ...], path: tuple[str, ...]) -> bool:
    return len(names) > len(path) and names[: len(path)] == path


def _last_line_end(text: str, start: int, stop: int) -> int:
    """Return the end of the last line that is neither blank nor a comment."""
    end = at = start
    for line in text[start:stop].splitlines(keepends=True):
        at += len(line)
        if line.strip() and not line.lstrip().startswith("#"):
            end = at
    return end


def _check_change(before: str, path: tuple[str, ...], table: object, after: str) -> str:
    """Return the changed text if our table is all that changed."""
    try:
        found = read_toml(after)
    except InvalidToml as error:
        problem = f"`{path[0]}` is written inline; put `{'.'.join(path)}` in by hand"
        raise InvalidToml(problem, error.line) from error
    if (
        _drop_table_values(found, path) != _drop_table_values(read_toml(before), path)
        or find_table(found, path) != table
    ):
        raise InvalidToml(f"`{'.'.join(path)}` cannot be changed safely", 1)
    return after


def _drop_table_values(values: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    """Return the values but for one table, and but for what then is empty on the way to it."""
    inner = values.get(path[0])
    rest = {name: value for name, value in values.items() if name != path[0]}
    if len(path) == 1 or not isinstance(inner, dict):
        return rest if len(path) == 1 else values
    left = _drop_table_values(inner, path[1:])
    return {**rest, path[0]: left} if left else rest
