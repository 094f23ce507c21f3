"""The text of a config.toml: what it says, and the same text with some settings changed.

A command changes a file that a person wrote, so comments, order and spacing stay. The text is
looked at statement by statement; only the value, or the line, of a setting is exchanged. What
comes of it is read back: a text in which anything else would have changed is refused.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from madeleine.errors import BadSetting
from madeleine.model.toml_bounds import find_long_key

SHORT_NAMES = {"store": "store.url", "graph": "store.graph", "vectors": "store.vectors"}
"""Names at the top of the file, and in the environment, that stand for settings of [store]."""

TomlTable = dict[str, Any]

# Valid TOML, cut where a statement may end: strings and comments whole, brackets, line ends.
_PIECE = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}(?!")'
    r"|'''.*?'{3,5}(?!')"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'"
    r"|\#[^\n]*|[\[\]{}\n]|[^\"'\#\[\]{}\n]+",
    re.DOTALL,
)
_KEY = re.compile(r"""(?:"(?:\\.|[^"\\])*"|'[^']*'|[^"'=#])+=[ \t]*""")


class TomlStatement(NamedTuple):
    """A header or a setting in the text: its whole name, and where it stands."""

    path: tuple[str, ...]
    is_header: bool
    start: int
    value_start: int
    value_end: int
    end: int
    """Behind the line end."""


def parse_table(text: str, path: Path) -> TomlTable:
    """Return what a text says, as TOML has it; `path` is named where it is no TOML."""
    try:
        if (line := find_long_key(text)) is not None:
            raise BadSetting(f"{path}:{line}", "does not parse: a key has too many parts")
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadSetting(str(path), f"does not parse: {error}") from error
    except ValueError as error:
        raise BadSetting(str(path), "does not parse: a number has too many digits") from error
    except RecursionError as error:
        raise BadSetting(str(path), "does not parse: it is nested too deeply") from error


def is_set(table: Mapping[str, Any], name: str) -> bool:
    """Whether a table sets the setting of that whole name, such as `server.port`."""
    section, _, key = name.partition(".")
    given = table.get(section)
    return (isinstance(given, Mapping) and key in given) or _find_short_name(
        table, name
    ) is not None


def change_settings(text: str, path: Path, changes: Mapping[str, Any]) -> str:
    """Return the text with other values of settings, by their whole names; None takes one out. A
    text that cannot be changed so that all else stays is refused, with its `path`."""
    wanted, changed = parse_table(text, path), text
    for name, value in changes.items():
        section = name.partition(".")[0]
        given = wanted.get(section, {})
        if not isinstance(given, dict) and not (isinstance(given, str) and section in SHORT_NAMES):
            raise BadSetting(section, "is not a table", hint=f"change {path} by hand")
        changed = _change_text(changed, tomllib.loads(changed), name, value)
        _change_table(wanted, name, value)
    if _drop_empty_sections(parse_table(changed, path)) != _drop_empty_sections(wanted):
        raise BadSetting(str(path), "cannot be changed by a command", hint="change it by hand")
    return changed


def _change_text(text: str, table: TomlTable, name: str, value: Any) -> str:
    """Return the text with one setting changed, which may stand under its short name."""
    section, _, key = name.partition(".")
    short = _find_short_name(table, name)
    if value is None:
        text = text if short is None else _remove_value(text, (short,))
        return _remove_value(text, (section, key))
    if short is not None:
        return _put_value(text, (short,), value)
    if isinstance(table.get(section), str):  # a short name stands where the section is to be
        text = _put_value(_remove_value(text, (section,)), (section, "url"), table[section])
    return _put_value(text, (section, key), value)


def _change_table(table: TomlTable, name: str, value: Any) -> None:
    """The same in a table that was read."""
    section, _, key = name.partition(".")
    short, given = _find_short_name(table, name), table.get(section)
    if value is None:
        table.pop(short or "", None)
        if isinstance(given, dict):
            given.pop(key, None)
    elif short is not None:
        table[short] = value
    elif isinstance(given, str):
        table[section] = {"url": given, key: value}
    else:
        table.setdefault(section, {})[key] = value


def _find_short_name(table: Mapping[str, Any], name: str) -> str | None:
    """Return the name at the top of the file that sets this setting, if one does."""
    found = (each for each, whole in SHORT_NAMES.items() if whole == name)
    return next((each for each in found if isinstance(table.get(each), str)), None)


def _drop_empty_sections(table: TomlTable) -> TomlTable:
    """Return a table without the sections that hold nothing."""
    return {name: value for name, value in table.items() if value != {}}


# -- the text ------------------------------------------------------------------------------


def _put_value(text: str, path: tuple[str, ...], value: Any) -> str:
    """Return the text in which the setting at `path` has this value."""
    found = list(read_statements(text))
    for each in found:
        if each.path == path and not each.is_header:
            return _replace_value(text, each, value)
        if each.path == path[:-1] and _is_inline_table(text, each):
            return _replace_value(text, each, {**_read_inline_table(text, each), path[-1]: value})
    return _insert_value(text, found, path, value)


def _insert_value(text: str, found: list[TomlStatement], path: tuple[str, ...], value: Any) -> str:
    """Return the text with a setting that was not there: behind the last one of its section, or in
    a section of its own at the end."""
    line_end = "\r\n" if "\r\n" in text else "\n"
    beside = [each for each in found if each.path[:1] == path[:1]]
    if not beside:
        before = text.rstrip("\r\n")
        before = before + 2 * line_end if before else ""
        lines = (f"[{key_to_toml(path[0])}]", f"{key_to_toml(path[1])} = {to_toml(value)}")
        return before + "".join(line + line_end for line in lines)
    has_header = any(each.is_header for each in beside)
    name = ".".join(key_to_toml(each) for each in (path[-1:] if has_header else path))
    before = text[: beside[-1].end]
    if not before.endswith("\n"):
        before += line_end
    return f"{before}{name} = {to_toml(value)}{line_end}{text[beside[-1].end :]}"


def _remove_value(text: str, path: tuple[str, ...]) -> str:
    """Return the text without the setting at `path`, and without its section if that held only
    this, and no comment either."""
    for each in read_statements(text):
        if each.path == path and not each.is_header:
            return _drop_bare_header(text[: each.start] + text[each.end :], path[:-1])
        if each.path == path[:-1] and _is_inline_table(text, each):
            left = _read_inline_table(text, each)
            left.pop(path[-1], None)
            return _replace_value(text, each, left)
    return text


def _drop_bare_header(text: str, section: tuple[str, ...]) -> str:
    """Return the text without the header of a section that holds neither settings nor comments,
    if no comment stands right above it."""
    headers = [each for each in read_statements(text) if each.is_header]
    for each, following in zip_longest(headers, headers[1:]):
        end = len(text) if following is None else following.start
        before = text[: each.start]
        is_explained = before.rstrip().rpartition("\n")[2].lstrip().startswith("#")
        if each.path == section and not text[each.end : end].strip() and not is_explained:
            if following is None and before.strip():
                before = before.rstrip("\r\n") + ("\r\n" if "\r\n" in before else "\n")
            return before + text[end:]
    return text


def _replace_value(text: str, statement: TomlStatement, value: Any) -> str:
    return text[: statement.value_start] + to_toml(value) + text[statement.value_end :]


def _is_inline_table(text: str, statement: TomlStatement) -> bool:
    """Whether a statement gives a whole section in braces."""
    return not statement.is_header and text[statement.value_start] == "{"


def _read_inline_table(text: str, statement: TomlStatement) -> TomlTable:
    """Return what stands in the braces."""
    given = tomllib.loads(f"x = {text[statement.value_start : statement.value_end]}")["x"]
    return dict(given)


def read_statements(text: str) -> Iterator[TomlStatement]:
    """Give the headers and settings of a text that is valid TOML, in order."""
    section: tuple[str, ...] = ()
    at = 0
    while at < len(text):
        if text[at] in " \t\r\n":
            at += 1
        elif text[at] == "#":
            at = _find_next_line(text, at)
        elif text[at] == "[":
            stop = _find_value_end(text, at)
            section, end = _read_statement_path(text[at:stop]), _find_next_line(text, stop)
            yield TomlStatement(section, True, text.rfind("\n", 0, at) + 1, at, stop, end)
            at = end
        else:
            value = _find_value_start(text, at)
            name = _read_statement_path(f"{text[at:value].rstrip().removesuffix('=')} = 0")
            stop = _find_value_end(text, value)
            start, end = text.rfind("\n", 0, at) + 1, _find_next_line(text, stop)
            yield TomlStatement((*section, *name), False, start, value, stop, end)
            at = end


def _find_value_start(text: str, at: int) -> int:
    """Return where the value begins of the key that begins here."""
    found = _KEY.match(text, at)
    return len(text) if found is None else found.end()


def _find_value_end(text: str, at: int) -> int:
    """Return where the value, or the header, that begins here ends, without a comment after it."""
    depth, end = 0, at
    for piece in _PIECE.finditer(text, at):
        if piece[0] in "[{":
            depth += 1
        elif piece[0] in "]}":
            depth -= 1
        elif depth == 0 and (piece[0] == "\n" or piece[0][0] == "#"):
            break
        if piece[0].strip():
            end = piece.start() + len(piece[0].rstrip())
    return end


def _find_next_line(text: str, at: int) -> int:
    found = text.find("\n", at)
    return len(text) if found < 0 else found + 1


def _read_statement_path(statement: str) -> tuple[str, ...]:
    """Return the whole name that a header, or a key with a value, has."""
    path: list[str] = []
    here: Any = tomllib.loads(statement)
    while isinstance(here, dict | list) and here:
        if isinstance(here, list):
            here = here[0]
        else:
            path.append(next(iter(here)))
            here = here[path[-1]]
    return tuple(path)


def to_toml(value: Any) -> str:
    """Return a value as TOML writes it."""
    if isinstance(value, dict):
        pairs = (f"{key_to_toml(name)} = {to_toml(each)}" for name, each in value.items())
        return f"{{ {', '.join(pairs)} }}" if value else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(to_toml, value))}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value)


def key_to_toml(name: str) -> str:
    """Return one part of a key as TOML writes it."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)
