"""JSON with comments, changed as text: only the entry that is meant changes, byte for byte.

Settings files belong to people. They hold comments, trailing commas and an order that means
something, and hosts watch them. So a file is never parsed and written anew: `read_json` says where
each value stands, and `put_value`, `append_value`, `replace_value` and `drop_value` cut into the
text at that place. Each checks its own work by reading the result: it says what the change was
meant to say, or nothing is changed at all.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

JsonPath = Sequence[str | int]
"""The keys and numbers that lead to a value."""

_GAP_PATTERN = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.S)
_STRING_PATTERN = re.compile(r'"[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*"')
_LITERAL_PATTERN = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_LINE_COMMENT_PATTERN = re.compile(
    r"[ \t]*(?://[^\r\n]*|/\*(?:(?!\*/)[^\r\n])*\*/[ \t]*(?=[\r\n]))"
)
_LINE_END_PATTERN = re.compile(r"[ \t]*\r?\n")
_DEFAULT_INDENT = "  "
_DECODE_STANDARD = json.JSONDecoder().raw_decode
_NOT_READ = object()
_CLOSING = {"{": "}", "[": "]"}


class InvalidJson(Exception):
    """A text that is not JSON, even with comments, or not of the shape that was asked for."""

    def __init__(self, problem: str, line: int) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line


@dataclass(frozen=True, slots=True)
class JsonItem:
    """A member of an object or an element of an array, from its first character on."""

    key: str | None
    start: int
    node: JsonNode
    comma: int | None = None


@dataclass(slots=True)
class JsonNode:
    """A value and where it stands. What is inside of it is looked at only when that is asked for:
    a file may be large, and we are after one corner of it."""

    opening: str
    start: int
    end: int
    text: str = field(default="", repr=False)
    known: Any = _NOT_READ
    inside: tuple[JsonItem, ...] | None = None

    @property
    def items(self) -> tuple[JsonItem, ...]:
        if self.inside is None:
            self.inside = (
                _JsonParser(self.text, self.start).container().inside if self.opening else ()
            )
        return self.inside or ()

    @property
    def value(self) -> Any:
        """What the text says, as Python has it; of two members of one name the last one counts."""
        if self.known is _NOT_READ:
            values = [(item.key, item.node.value) for item in self.items]
            self.known = dict(values) if self.opening == "{" else [each for _, each in values]
        return self.known

    def at(self, path: JsonPath) -> JsonNode | None:
        """Return the value a path leads to, if there is one."""
        if not path:
            return self
        found = self.position(path[0])
        return None if found is None else self.items[found].node.at(path[1:])

    def position(self, step: str | int) -> int | None:
        """Return the number of a member or an element."""
        wanted = {"{": str, "[": int}.get(self.opening)
        if wanted is None or not isinstance(step, wanted):
            return None
        if isinstance(step, int):
            return step if step < len(self.items) else None
        named = [number for number, item in enumerate(self.items) if item.key == step]
        return named[-1] if named else None


# -- reading -------------------------------------------------------------------------------


@functools.lru_cache(maxsize=4)
def read_json(text: str) -> JsonNode:
    """Return the whole text as a value; an empty one as an empty object."""
    try:
        return _JsonParser(text).whole()
    except RecursionError as error:
        raise InvalidJson("it is nested too deeply", 1) from error


def line_number(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


class _JsonParser:
    def __init__(self, text: str, at: int = 0) -> None:
        self._text = text
        self._at = at

    def whole(self) -> JsonNode:
        self._skip_gap()
        if self._at == len(self._text):
            return JsonNode("{", self._at, self._at, known={}, inside=())
        node = self.container() if self._next_sign in _CLOSING else self._read_value()
        self._skip_gap()
        if self._at < len(self._text):
            self._refuse("something stands after the end")
        return node

    @property
    def _next_sign(self) -> str:
        return self._text[self._at : self._at + 1]

    def _read_value(self) -> JsonNode:
        start, sign = self._at, self._next_sign
        if sign in _CLOSING:
            return self._plain_container(sign) or self.container()
        found = (_STRING_PATTERN if sign == '"' else _LITERAL_PATTERN).match(self._text, start)
        if found is None:
            self._refuse("a string does not end here" if sign == '"' else "a value is missing")
        self._at = found.end()
        return JsonNode("", start, self._at, known=self._read_literal(found[0], start))

    def _plain_container(self, opening: str) -> JsonNode | None:
        """Read an object or array the quick way, as it can be where there are no comments."""
        start = self._at
        try:
            known, self._at = _DECODE_STANDARD(self._text, start)
        except ValueError:
            self._at = start
            return None
        return JsonNode(opening, start, self._at, self._text, known)

    def _read_literal(self, word: str, start: int) -> object:
        try:
            return json.loads(word)
        except ValueError as error:
            raise InvalidJson("a value is malformed", line_number(self._text, start)) from error

    def container(self) -> JsonNode:
        """Read an object or array, item by item."""
        start, opening = self._at, self._next_sign
        items: list[JsonItem] = []
        self._at += 1
        self._skip_gap()
        while not self._take_sign(_CLOSING[opening]):
            if items and items[-1].comma is None:
                self._refuse(f"a comma or {_CLOSING[opening]} is missing")
            items.append(self._read_item(opening))
        return JsonNode(opening, start, self._at, self._text, inside=tuple(items))

    def _read_item(self, opening: str) -> JsonItem:
        start = self._at
        key = self._read_key() if opening == "{" else None
        node = self._read_value()
        self._skip_gap()
        comma = self._at - 1 if self._take_sign(",") else None
        self._skip_gap()
        return JsonItem(key, start, node, comma)

    def _read_key(self) -> str:
        found = _STRING_PATTERN.match(self._text, self._at)
        if found is None:
            self._refuse("a name in double quotes is missing")
        key = str(self._read_literal(found[0], self._at))
        self._at = found.end()
        self._skip_gap()
        if not self._take_sign(":"):
            self._refuse("a colon is missing")
        self._skip_gap()
        return key

    def _take_sign(self, sign: str) -> bool:
        took = self._text.startswith(sign, self._at)
        self._at += len(sign) if took else 0
        return took

    def _skip_gap(self) -> None:
        found = _GAP_PATTERN.match(self._text, self._at)
        self._at = found.end() if found else self._at

    def _refuse(self, problem: str) -> NoReturn:
        ended = "the text ends too early: " if self._at >= len(self._text) else ""
        raise InvalidJson(f"{ended}{problem}", line_number(self._text, self._at))


# -- changing ------------------------------------------------------------------------------


def put_value(text: str, path: JsonPath, value: object) -> str:
    """Set a member of an object; objects on the way that are not there are made."""
    root = read_json(text)
    for depth in range(len(path)):
        parent = _expect_container(text, root.at(path[:depth]), "{", path[:depth])
        if root.at(path[: depth + 1]) is None:
            inner = _nest_value(path[depth + 1 :], value)
            member = (str(path[depth]), inner)
            return _check_put(text, path, value, _insert_item(text, parent, member))
    return replace_value(text, path, value)


def append_value(text: str, path: JsonPath, value: object) -> str:
    """Add an element to the end of an array, which is made if it is not there."""
    array = read_json(text).at(path)
    if array is None:
        return put_value(text, path, [value])
    _expect_container(text, array, "[", path)
    changed = _insert_item(text, array, (None, value))
    return _check_put(text, [*path, len(array.items)], value, changed)


def replace_value(text: str, path: JsonPath, value: object) -> str:
    """Put another value in the place of one that is there."""
    node = read_json(text).at(path)
    assert node is not None
    shown = _render_value(text, value, _line_indent(text, node.start), _is_inline(text, node))
    return _check_put(text, path, value, text[: node.start] + shown + text[node.end :])


def drop_value(text: str, path: JsonPath) -> str:
    """Take out one member or element, with its comma."""
    root = read_json(text)
    parent = root.at(path[:-1])
    assert parent is not None
    number = parent.position(path[-1])
    assert number is not None
    wanted = _remove_at(root.value, path)
    return _check_says(
        wanted, _cut_item(text, parent, number), line_number(text, parent.items[number].start)
    )


def _nest_value(path: JsonPath, value: object) -> object:
    for step in reversed(path):
        value = {step: value}
    return value


def _expect_container(text: str, node: JsonNode | None, opening: str, path: JsonPath) -> JsonNode:
    assert node is not None
    if node.opening != opening:
        what = "an object" if opening == "{" else "a list"
        named = ".".join(map(str, path)) or "the whole file"
        raise InvalidJson(f"`{named}` is not {what}", line_number(text, node.start))
    return node


def _insert_item(text: str, node: JsonNode, member: tuple[str | None, object]) -> str:
    """Return the text with one more item at the end of an object or array."""
    if node.start == node.end:  # there is no value yet, at most comments
        ending = _find_newline(text)
        comments = f"{text.rstrip()}{ending}" if text.strip() else ""
        return comments + _render_value(text, {member[0]: member[1]}, "", False) + ending
    inline = _is_inline(text, node)
    indent = _inner_indent(text, node)
    shown = _render_item(text, member, indent, inline)
    gap = (" " if _has_spaces(text) else "") if inline else _find_newline(text) + indent
    if not node.items:
        return _insert_first_item(text, node, shown, inline)
    last = node.items[-1]
    if last.comma is not None:
        at = _skip_line_comment(text, last.comma + 1, inline)
        return f"{text[:at]}{gap}{shown},{text[at:]}"
    at = _skip_line_comment(text, last.node.end, inline)
    return f"{text[: last.node.end]},{text[last.node.end : at]}{gap}{shown}{text[at:]}"


def _insert_first_item(text: str, node: JsonNode, shown: str, inline: bool) -> str:
    inside = text[node.start + 1 : node.end - 1].rstrip()  # blank, or comments
    before, after = text[: node.start + 1] + inside, text[node.end - 1 :]
    if inline and not inside:
        return before + shown + after
    ending = _find_newline(text)
    outer = _line_indent(text, node.start)
    return f"{before}{ending}{_inner_indent(text, node)}{shown}{ending}{outer}{after}"


def _cut_item(text: str, parent: JsonNode, number: int) -> str:
    item = parent.items[number]
    stop = item.node.end if item.comma is None else item.comma + 1
    start = len(text[: item.start].rstrip())
    if "\n" in text[start : item.start] and not _LINE_END_PATTERN.match(text, stop):
        start = item.start  # else the next item would end up in a comment of this line
        stop += len(text[stop:]) - len(text[stop:].lstrip(" \t"))
    if (
        len(parent.items) == 1
        and not (text[parent.start + 1 : start] + text[stop : parent.end - 1]).strip()
    ):
        start, stop = parent.start + 1, parent.end - 1
    text = text[:start] + text[stop:]
    before = parent.items[number - 1].comma if number else None
    if item.comma is None and before is not None:
        text = text[:before] + text[before + 1 :]
    return text


def _render_item(text: str, member: tuple[str | None, object], indent: str, inline: bool) -> str:
    key, value = member
    shown = _render_value(text, value, indent, inline)
    if key is None:
        return shown
    space = " " if not inline or _has_spaces(text) else ""
    return f"{json.dumps(key, ensure_ascii=False)}:{space}{shown}"


def _render_value(text: str, value: object, indent: str, inline: bool) -> str:
    if inline:
        signs = (", ", ": ") if _has_spaces(text) else (",", ":")
        return json.dumps(value, ensure_ascii=False, separators=signs)
    lines = json.dumps(value, ensure_ascii=False, indent=_indent_unit(text)).split("\n")
    return f"{_find_newline(text)}{indent}".join(lines)


def _is_inline(text: str, node: JsonNode) -> bool:
    """Whether what is added stands on the same line: as what is there, or as the whole file."""
    if node.items:
        return "\n" not in text[node.start : node.end]
    return "\n" not in text.strip() and len(text.strip()) > len("{}")


def _has_spaces(text: str) -> bool:
    return re.search(r'"\s*:\S', text) is None


def _inner_indent(text: str, node: JsonNode) -> str:
    if node.items and "\n" in text[node.start : node.items[-1].start]:
        return _line_indent(text, node.items[-1].start)
    return _line_indent(text, node.start) + _indent_unit(text)


def _line_indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _indent_unit(text: str) -> str:
    """Return what one more level is indented by, as the file does it."""
    root = read_json(text)
    if root.items and "\n" in text[root.start : root.items[0].start]:
        return _line_indent(text, root.items[0].start) or _DEFAULT_INDENT
    return _DEFAULT_INDENT


def _find_newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _skip_line_comment(text: str, at: int, inline: bool) -> int:
    """Return where the line's own comment ends: it belongs to what stands before it."""
    found = None if inline else _LINE_COMMENT_PATTERN.match(text, at)
    return found.end() if found else at


def _check_put(before: str, path: JsonPath, value: object, after: str) -> str:
    """Return the changed text if it says what was meant."""
    return _check_says(_set_at(read_json(before).value, path, value), after, 1)


def _set_at(values: Any, path: JsonPath, value: object) -> Any:
    """Return values with one of them another; only what is on the way to it is copied."""
    if not path:
        return value
    step, rest = path[0], path[1:]
    if isinstance(step, int):
        inner = values[step] if step < len(values) else None
        return [*values[:step], _set_at(inner, rest, value), *values[step + 1 :]]
    return {**(values or {}), step: _set_at((values or {}).get(step), rest, value)}


def _remove_at(values: Any, path: JsonPath) -> Any:
    step, rest = path[0], path[1:]
    if rest:
        return _set_at(values, [step], _remove_at(values[step], rest))
    if isinstance(step, int):
        return [*values[:step], *values[step + 1 :]]
    return {name: value for name, value in values.items() if name != step}


def _check_says(wanted: object, after: str, line: int) -> str:
    try:
        safe = read_json(after).value == wanted
    except InvalidJson:
        safe = False
    if not safe:
        raise InvalidJson("this is written in a way that cannot be changed safely", line)
    return after
