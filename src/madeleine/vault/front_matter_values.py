"""What the known keys of a front matter mean.

`READER_BY_KEY` holds one function per key: a block in, a value of the model out, None where the key
is there but says nothing. A value that cannot be accepted is refused with the model's own
words (`InvalidValue`, `UnknownWord`), with its line where the block has several.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, cast

from madeleine.errors import InvalidValue, Rejected, quote
from madeleine.model.draft import MemoryLimits, normalize_tag
from madeleine.model.fields import FRONT_MATTER_FIELDS, FieldKind
from madeleine.model.memory import Claim, Connection, Origin, parse_id
from madeleine.model.metadata import Metadata
from madeleine.model.request_reader import read_unit_number
from madeleine.model.times import format_time, parse_time
from madeleine.model.words import GLOBAL, Edge, MemoryKind, MemoryType, Tier, Word, read_word
from madeleine.vault.front_matter import FrontMatterBlock
from madeleine.vault.scalars import UNSURE, read_flow_list, read_scalar
from madeleine.vault.yaml_fallback import InvalidYaml, YamlMapping, YamlTree, load_block

_ID_PATTERN = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_NUMBER_PATTERN = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_WHOLE_PATTERN = re.compile(r"\d{1,18}", re.ASCII)
_NORMAL_TAG_PATTERN = re.compile(r"[a-z0-9][a-z0-9_/]*(?:-[a-z0-9_/]+)*")


def is_id(text: str) -> bool:
    """Whether this is a whole id of a memory, as files have it."""
    return _ID_PATTERN.fullmatch(text) is not None


def _optional_lines(indent: str, *keys: str) -> str:
    return "".join(rf"(?:{indent}{key}: ([^\r\n]*)\r?\n)?" for key in keys)


# Maps as we write them ourselves; anything else under these keys is read as YAML.
_OWN_ORIGIN = re.compile(_optional_lines("  ", "session", "turn", "speaker", "uri"))
_OWN_CLAIM = re.compile(_optional_lines("  ", "subject", "attribute", "value"))
_OWN_CONNECTION = re.compile(
    r"( *)- target: ([0-9a-f-]{36})\r?\n"
    r"\1  edge: (\w+)\r?\n"
    r"\1  weight: ([\d.e-]+)\r?\n"
    + _optional_lines(r"\1  ", "reason", "by", "at", "kind", "confidence")
)
_UNBOUNDED_LIMITS = MemoryLimits(
    tags=2**31, tag_chars=2**31
)  # a file may hold more than a request may ask

_TYPE_BY_WORD = {member.value: member for member in MemoryType}
_TIER_BY_WORD = {member.value: member for member in Tier}
_KIND_BY_WORD = {member.value: member for member in MemoryKind}
_EDGE_BY_WORD = {member.value: member for member in Edge}

_ORIGIN_KEYS = ("session", "turn", "speaker", "uri")
_CLAIM_KEYS = ("subject", "attribute", "value")
_NO_OPTIONAL_KEYS = (None,) * 5  # a connection without any of its optional keys

YamlFields = Mapping[str, YamlTree]


class InvalidBlock(Exception):
    """A value that cannot be accepted. `line` counts from 0 at the first line of the block."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(problem)
        self.line = line
        self.problem = problem


class ConnectionItem(NamedTuple):
    """One entry of `connections` as it stands in the file."""

    fields: YamlFields
    connection: Connection


# -- single values -------------------------------------------------------------------------


def read_tree(block: FrontMatterBlock) -> YamlTree:
    """Return what a block says, in texts."""
    if not block.more:
        value = read_scalar(block.inline)
        if value is not UNSURE:
            return value
    try:
        return load_block(str(block.key), block.text)
    except InvalidYaml as error:
        raise InvalidBlock(error.line, f"`{block.key}`: {error.problem}") from error


def _as_text(field: str, value: YamlTree) -> str | None:
    if isinstance(value, str):
        return value or None
    if value is None:
        return None
    raise InvalidValue(field, "is not a text")


def _as_time(field: str, value: YamlTree) -> datetime | None:
    text = _as_text(field, value)
    return None if text is None else parse_time(field, text)


def _as_id(field: str, value: YamlTree) -> str | None:
    text = _as_text(field, value)
    if text is None or is_id(text):
        return text
    return parse_id(field, text)


def _as_number(field: str, value: YamlTree) -> float | None:
    text = _as_text(field, value)
    if text is None:
        return None
    if not _NUMBER_PATTERN.fullmatch(text):
        raise InvalidValue(field, f"is {quote(text)}, not a number")
    return float(text)


def _as_unit_number(field: str, value: YamlTree) -> float | None:
    if value == "1.0":
        return 1.0
    number = _as_number(field, value)
    return None if number is None else read_unit_number(field, number)


def _as_whole_number(field: str, value: YamlTree) -> int | None:
    text = _as_text(field, value)
    if text is None:
        return None
    if not _WHOLE_PATTERN.fullmatch(text):
        raise InvalidValue(field, f"is {quote(text)}, not a whole number")
    return int(text)


def _as_word(
    kind: type[Word], known: Mapping[str, Word], field: str, value: YamlTree
) -> Word | None:
    text = _as_text(field, value)
    return None if text is None else known.get(text) or read_word(kind, field, text)


def _read_text(block: FrontMatterBlock) -> str | None:
    return _as_text(str(block.key), read_tree(block))


def _read_space(block: FrontMatterBlock) -> str | None:
    space = _read_text(block)
    return None if space == GLOBAL else space


def _read_time(block: FrontMatterBlock) -> datetime | None:
    return _as_time(str(block.key), read_tree(block))


def _read_id(block: FrontMatterBlock) -> str | None:
    return _as_id(str(block.key), read_tree(block))


def _read_unit(block: FrontMatterBlock) -> float | None:
    return _as_unit_number(str(block.key), read_tree(block))


def _read_type(block: FrontMatterBlock) -> MemoryType | None:
    return _as_word(MemoryType, _TYPE_BY_WORD, "type", read_tree(block))


def _read_tier(block: FrontMatterBlock) -> Tier | None:
    return _as_word(Tier, _TIER_BY_WORD, "tier", read_tree(block))


# -- tags ----------------------------------------------------------------------------------


def _read_tags(block: FrontMatterBlock) -> tuple[str, ...]:
    """Return the tags in the one spelling they are looked for in, however they are written."""
    items = UNSURE if block.more else read_flow_list(block.inline)
    texts = _split_tags(read_tree(block)) if items is UNSURE else items
    normal = [
        tag if _NORMAL_TAG_PATTERN.fullmatch(tag) else normalize_tag(tag, _UNBOUNDED_LIMITS)
        for tag in texts
    ]
    return tuple(dict.fromkeys(tag for tag in normal if tag))


def _read_triggers(block: FrontMatterBlock) -> tuple[str, ...] | None:
    """Return the triggers as they are written; an empty list is a value, a key alone is not."""
    value = read_tree(block)
    if value is None:
        return None
    return tuple(dict.fromkeys(each.strip() for each in _split_tags(value) if each.strip()))


def _read_kind(block: FrontMatterBlock) -> MemoryKind | None:
    """Return the kind. Another word than ours is somebody's own key: it stays as it is and says
    nothing here."""
    value = read_tree(block)
    return _KIND_BY_WORD.get(value.strip().lower()) if isinstance(value, str) else None


def _split_tags(value: YamlTree) -> list[str]:
    if value is None:
        return []
    if isinstance(value, str):
        return value.split(",")
    if isinstance(value, list):
        return [text for each in value if (text := _as_text("tags", each)) is not None]
    raise InvalidValue("tags", "is neither a list nor words between commas")


# -- maps and lists of maps ----------------------------------------------------------------


def _read_origin(block: FrontMatterBlock) -> Origin | None:
    """Return where the memory came from; keys we do not know are left alone."""
    try:
        origin = _build_origin(
            _read_own_map(block, _OWN_ORIGIN, _ORIGIN_KEYS) or _read_yaml_map(block)
        )
    except InvalidValue as error:
        raise _locate_problem(block, 0, error) from error
    return None if origin == Origin() else origin


def _read_own_map(
    block: FrontMatterBlock, ours: re.Pattern[str], keys: Sequence[str]
) -> YamlFields | None:
    """Return the map under a key if it is written as we write it."""
    found = ours.fullmatch(block.more)
    if found is None or block.inline:
        return None
    values = [None if raw is None else read_scalar(raw) for raw in found.groups()]
    if UNSURE in values:
        return None
    return dict(zip(keys, cast("list[str | None]", values), strict=True))


def _read_yaml_map(block: FrontMatterBlock) -> YamlFields:
    value = read_tree(block)
    if not isinstance(value, dict | None):
        raise InvalidValue(str(block.key), "is not a map")
    return value or {}


def _build_origin(fields: YamlFields) -> Origin:
    return Origin(
        session=_as_text("session", fields.get("session")),
        turn=_as_whole_number("turn", fields.get("turn")),
        speaker=_as_text("speaker", fields.get("speaker")),
        uri=_as_text("uri", fields.get("uri")),
    )


def _read_claim(block: FrontMatterBlock) -> Claim | None:
    """Return what the memory states; a claim that lacks a part does not count."""
    try:
        fields = _read_own_map(block, _OWN_CLAIM, _CLAIM_KEYS) or _read_yaml_map(block)
        parts = {key: _as_text(key, fields.get(key)) for key in _CLAIM_KEYS}
        return _build_claim(parts) if any(parts.values()) else None
    except InvalidValue as error:
        raise _locate_problem(block, 0, error) from error


def _read_metadata(block: FrontMatterBlock) -> Metadata | None:
    """Return an object that is written as JSON. A map that is written as YAML has texts for
    values. Notes of other programs may have anything else under such a key; it says nothing."""
    try:
        found = json.loads(block.inline) if not block.more.strip() else None
    except (ValueError, RecursionError):
        found = None
    if found is None:
        found = read_tree(block)
    return Metadata(found) if isinstance(found, dict) and found else None


def _build_claim(parts: Mapping[str, str | None]) -> Claim:
    subject, attribute, value = (parts[key] for key in _CLAIM_KEYS)
    if subject is None or attribute is None or value is None:
        missing = next(key for key in _CLAIM_KEYS if parts[key] is None)
        raise InvalidValue("claim", f"has no `{missing}`")
    return Claim(subject, attribute, value)


def _read_connections(block: FrontMatterBlock) -> tuple[Connection, ...]:
    """Return the connections. Of several with one target and edge the first one counts."""
    if not block.more and not block.inline:
        return ()
    found = _read_own_connections(block)
    if found is None:
        found = [item.connection for item in read_connection_items(block)]
    if len(found) == 1:
        return (found[0],)
    distinct: dict[tuple[str, Edge], Connection] = {}
    for each in found:
        distinct.setdefault((each.target, each.edge), each)
    return tuple(distinct.values())


def _read_own_connections(block: FrontMatterBlock) -> list[Connection] | None:
    """Return the connections if they are written as we write them and nothing is wrong."""
    if block.inline:
        return None
    connections: list[Connection] = []
    at, size = 0, len(block.more)
    while at < size:
        found = _OWN_CONNECTION.match(block.more, at)
        connection = _build_own_connection(*found.groups()) if found else None
        if found is None or connection is None:
            return None
        connections.append(connection)
        at = found.end()
    return connections


def _build_own_connection(
    _indent: str, target: str, edge_word: str, weight_text: str, *rest: str | None
) -> Connection | None:
    edge, weight = _EDGE_BY_WORD.get(edge_word), _parse_unit_number(weight_text)
    if edge is None or weight is None or not is_id(target):
        return None
    if rest == _NO_OPTIONAL_KEYS:
        return Connection(target, edge, weight)
    values = [None if raw is None else read_scalar(raw) for raw in rest]
    if UNSURE in values:
        return None
    reason, by, at, kind, confidence = cast("list[str | None]", values)
    sure = None if confidence is None else _parse_unit_number(confidence)
    if confidence is not None and sure is None:
        return None
    return Connection(
        target, edge, weight, reason or None, by or None, _as_time("at", at), kind or None, sure
    )


def _parse_unit_number(text: str) -> float | None:
    number = float(text) if _NUMBER_PATTERN.fullmatch(text) else -1.0
    return number if 0 <= number <= 1 else None


def read_connection_items(block: FrontMatterBlock) -> list[ConnectionItem]:
    """Return every entry under `connections`, in the order of the file."""
    value = read_tree(block)
    if not isinstance(value, list | None):
        raise InvalidValue("connections", "is not a list")
    return [_read_connection_item(block, each) for each in value or ()]


def _read_connection_item(block: FrontMatterBlock, entry: YamlTree) -> ConnectionItem:
    if not isinstance(entry, YamlMapping):
        raise InvalidValue("connections", "holds something that is not a map with a `target`")
    try:
        return ConnectionItem(entry, _build_connection(entry))
    except Rejected as error:
        raise _locate_problem(block, entry.line, error) from error


def _build_connection(fields: YamlFields) -> Connection:
    get = fields.get
    target = _as_id("target", get("target"))
    if target is None:
        raise InvalidValue("target", "is missing")
    weight = _as_unit_number("weight", get("weight"))
    return Connection(
        target,
        _as_word(Edge, _EDGE_BY_WORD, "edge", get("edge")) or Edge.RELATED_TO,
        0.5 if weight is None else weight,
        _as_text("reason", get("reason")),
        _as_text("by", get("by")),
        _as_time("at", get("at")),
        _as_text("kind", get("kind")),
        _as_unit_number("confidence", get("confidence")),
    )


def _locate_problem(block: FrontMatterBlock, start: int, error: Rejected) -> InvalidBlock:
    """Return the complaint with the line on which the key it is about stands."""
    lines = block.text.split("\n")
    named = re.compile(rf"[ \t-]*{getattr(error, 'field', '')}[ \t]*:")
    rows = (row for row in range(start, len(lines)) if named.match(lines[row]))
    return InvalidBlock(next(rows, start), error.message)


# -- the tables ----------------------------------------------------------------------------

_READER_BY_KIND: Mapping[FieldKind, Callable[[FrontMatterBlock], object]] = {
    FieldKind.ID: _read_id,
    FieldKind.REFERENCE: _read_id,
    FieldKind.TYPE: _read_type,
    FieldKind.TIER: _read_tier,
    FieldKind.SPACE: _read_space,
    FieldKind.TEXT: _read_text,
    FieldKind.TAGS: _read_tags,
    FieldKind.TRIGGERS: _read_triggers,
    FieldKind.KIND: _read_kind,
    FieldKind.UNIT: _read_unit,
    FieldKind.TIME: _read_time,
    FieldKind.ORIGIN: _read_origin,
    FieldKind.CLAIM: _read_claim,
    FieldKind.METADATA: _read_metadata,
    FieldKind.CONNECTIONS: _read_connections,
}
READER_BY_KEY: Mapping[str | None, Callable[[FrontMatterBlock], object]] = {
    row.name: _READER_BY_KIND[row.kind] for row in FRONT_MATTER_FIELDS
}

_COUNTER_READERS: Mapping[str, Callable[[str, YamlTree], object]] = {
    "access_count": _as_whole_number,
    "last_accessed": _as_time,
    "last_review": _as_time,
    "stability": _as_number,
    "importance": _as_unit_number,
}


def read_counter(block: FrontMatterBlock) -> object:
    """Return a use counter of a foreign file as plain JSON, or None.

    The key is not ours, so one that makes no sense is left where it is and counts as absent.
    """
    reader = _COUNTER_READERS.get(block.key or "")
    if reader is None:
        return None
    try:
        value = reader(str(block.key), read_tree(block))
    except (Rejected, InvalidBlock):
        return None
    return format_time(value) if isinstance(value, datetime) else value
