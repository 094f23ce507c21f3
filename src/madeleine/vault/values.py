"""What the known keys of a front matter mean.

`READERS` holds one function per key: a block in, a value of the model out, None where the key
is there but says nothing. A value that cannot be accepted is refused with the model's own
words (`InvalidValue`, `UnknownWord`), with its line where the block has several.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, cast

from madeleine.errors import InvalidValue, Rejected, quote
from madeleine.model.draft import MemoryLimits, normalize_tag
from madeleine.model.fields import FRONT_MATTER_FIELDS, FieldKind
from madeleine.model.memory import Claim, Connection, Origin, parse_id
from madeleine.model.reading import read_unit_number
from madeleine.model.times import format_time, parse_time
from madeleine.model.words import GLOBAL, Edge, MemoryType, Tier, Word, read_word
from madeleine.vault.frontmatter import Block
from madeleine.vault.scalars import UNSURE, read_flow_list, read_scalar
from madeleine.vault.yaml_fallback import BadYaml, Mapped, Tree, load_block

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_WHOLE = re.compile(r"\d{1,18}", re.ASCII)
_NORMAL_TAG = re.compile(r"[a-z0-9][a-z0-9_/]*(?:-[a-z0-9_/]+)*")


def is_id(text: str) -> bool:
    """Whether this is a whole id of a memory, as files have it."""
    return _UUID.fullmatch(text) is not None


def _optional(indent: str, *keys: str) -> str:
    return "".join(rf"(?:{indent}{key}: ([^\r\n]*)\r?\n)?" for key in keys)


# Maps as we write them ourselves; anything else under these keys is read as YAML.
_OUR_ORIGIN = re.compile(_optional("  ", "session", "turn", "speaker", "uri"))
_OUR_CLAIM = re.compile(_optional("  ", "subject", "attribute", "value"))
_OUR_ITEM = re.compile(
    r"( *)- target: ([0-9a-f-]{36})\r?\n"
    r"\1  edge: (\w+)\r?\n"
    r"\1  weight: ([\d.e-]+)\r?\n" + _optional(r"\1  ", "reason", "by", "at", "kind", "confidence")
)
_ANY_SIZE = MemoryLimits(tags=2**31, tag_chars=2**31)  # a file may hold more than a request may ask

_TYPES = {member.value: member for member in MemoryType}
_TIERS = {member.value: member for member in Tier}
_EDGES = {member.value: member for member in Edge}

_ORIGIN_KEYS = ("session", "turn", "speaker", "uri")
_CLAIM_KEYS = ("subject", "attribute", "value")
_NOTHING = (None,) * 5  # a connection without any of its optional keys

Fields = Mapping[str, Tree]


class BadBlock(Exception):
    """A value that cannot be accepted. `line` counts from 0 at the first line of the block."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(problem)
        self.line = line
        self.problem = problem


class Item(NamedTuple):
    """One entry of `connections` as it stands in the file."""

    fields: Fields
    connection: Connection


# -- single values -------------------------------------------------------------------------


def tree_of(block: Block) -> Tree:
    """Return what a block says, in texts."""
    if not block.more:
        value = read_scalar(block.inline)
        if value is not UNSURE:
            return value
    try:
        return load_block(str(block.key), block.text)
    except BadYaml as error:
        raise BadBlock(error.line, f"`{block.key}`: {error.problem}") from error


def _text(field: str, value: Tree) -> str | None:
    if isinstance(value, str):
        return value or None
    if value is None:
        return None
    raise InvalidValue(field, "is not a text")


def _time(field: str, value: Tree) -> datetime | None:
    text = _text(field, value)
    return None if text is None else parse_time(field, text)


def _id(field: str, value: Tree) -> str | None:
    text = _text(field, value)
    if text is None or is_id(text):
        return text
    return parse_id(field, text)


def _number(field: str, value: Tree) -> float | None:
    text = _text(field, value)
    if text is None:
        return None
    if not _NUMBER.fullmatch(text):
        raise InvalidValue(field, f"is {quote(text)}, not a number")
    return float(text)


def _unit(field: str, value: Tree) -> float | None:
    if value == "1.0":
        return 1.0
    number = _number(field, value)
    return None if number is None else read_unit_number(field, number)


def _whole(field: str, value: Tree) -> int | None:
    text = _text(field, value)
    if text is None:
        return None
    if not _WHOLE.fullmatch(text):
        raise InvalidValue(field, f"is {quote(text)}, not a whole number")
    return int(text)


def _word(kind: type[Word], known: Mapping[str, Word], field: str, value: Tree) -> Word | None:
    text = _text(field, value)
    return None if text is None else known.get(text) or read_word(kind, field, text)


def _read_text(block: Block) -> str | None:
    return _text(str(block.key), tree_of(block))


def _read_space(block: Block) -> str | None:
    space = _read_text(block)
    return None if space == GLOBAL else space


def _read_time(block: Block) -> datetime | None:
    return _time(str(block.key), tree_of(block))


def _read_id(block: Block) -> str | None:
    return _id(str(block.key), tree_of(block))


def _read_unit(block: Block) -> float | None:
    return _unit(str(block.key), tree_of(block))


def _read_type(block: Block) -> MemoryType | None:
    return _word(MemoryType, _TYPES, "type", tree_of(block))


def _read_tier(block: Block) -> Tier | None:
    return _word(Tier, _TIERS, "tier", tree_of(block))


# -- tags ----------------------------------------------------------------------------------


def _read_tags(block: Block) -> tuple[str, ...]:
    """Return the tags in the one spelling they are looked for in, however they are written."""
    items = UNSURE if block.more else read_flow_list(block.inline)
    texts = _tag_texts(tree_of(block)) if items is UNSURE else items
    normal = [tag if _NORMAL_TAG.fullmatch(tag) else normalize_tag(tag, _ANY_SIZE) for tag in texts]
    return tuple(dict.fromkeys(tag for tag in normal if tag))


def _tag_texts(value: Tree) -> list[str]:
    if value is None:
        return []
    if isinstance(value, str):
        return value.split(",")
    if isinstance(value, list):
        return [text for each in value if (text := _text("tags", each)) is not None]
    raise InvalidValue("tags", "is neither a list nor words between commas")


# -- maps and lists of maps ----------------------------------------------------------------


def _read_origin(block: Block) -> Origin | None:
    """Return where the memory came from; keys we do not know are left alone."""
    try:
        origin = _origin(_our_map(block, _OUR_ORIGIN, _ORIGIN_KEYS) or _yaml_map(block))
    except InvalidValue as error:
        raise _at_line(block, 0, error) from error
    return None if origin == Origin() else origin


def _our_map(block: Block, ours: re.Pattern[str], keys: Sequence[str]) -> Fields | None:
    """Return the map under a key if it is written as we write it."""
    found = ours.fullmatch(block.more)
    if found is None or block.inline:
        return None
    values = [None if raw is None else read_scalar(raw) for raw in found.groups()]
    if UNSURE in values:
        return None
    return dict(zip(keys, cast("list[str | None]", values), strict=True))


def _yaml_map(block: Block) -> Fields:
    value = tree_of(block)
    if not isinstance(value, dict | None):
        raise InvalidValue(str(block.key), "is not a map")
    return value or {}


def _origin(fields: Fields) -> Origin:
    return Origin(
        session=_text("session", fields.get("session")),
        turn=_whole("turn", fields.get("turn")),
        speaker=_text("speaker", fields.get("speaker")),
        uri=_text("uri", fields.get("uri")),
    )


def _read_claim(block: Block) -> Claim | None:
    """Return what the memory states; a claim that lacks a part is none."""
    try:
        fields = _our_map(block, _OUR_CLAIM, _CLAIM_KEYS) or _yaml_map(block)
        parts = {key: _text(key, fields.get(key)) for key in _CLAIM_KEYS}
        return _claim(parts) if any(parts.values()) else None
    except InvalidValue as error:
        raise _at_line(block, 0, error) from error


def _claim(parts: Mapping[str, str | None]) -> Claim:
    subject, attribute, value = (parts[key] for key in _CLAIM_KEYS)
    if subject is None or attribute is None or value is None:
        missing = next(key for key in _CLAIM_KEYS if parts[key] is None)
        raise InvalidValue("claim", f"has no `{missing}`")
    return Claim(subject, attribute, value)


def _read_connections(block: Block) -> tuple[Connection, ...]:
    """Return the connections. Of several with one target and edge the first one counts."""
    if not block.more and not block.inline:
        return ()
    found = _our_connections(block)
    if found is None:
        found = [item.connection for item in read_items(block)]
    if len(found) == 1:
        return (found[0],)
    distinct: dict[tuple[str, Edge], Connection] = {}
    for each in found:
        distinct.setdefault((each.target, each.edge), each)
    return tuple(distinct.values())


def _our_connections(block: Block) -> list[Connection] | None:
    """Return the connections if they are written as we write them and nothing is wrong."""
    if block.inline:
        return None
    connections: list[Connection] = []
    at, size = 0, len(block.more)
    while at < size:
        found = _OUR_ITEM.match(block.more, at)
        connection = _our_connection(*found.groups()) if found else None
        if found is None or connection is None:
            return None
        connections.append(connection)
        at = found.end()
    return connections


def _our_connection(
    _indent: str, target: str, edge_word: str, weight_text: str, *rest: str | None
) -> Connection | None:
    edge, weight = _EDGES.get(edge_word), _unit_or_none(weight_text)
    if edge is None or weight is None or not is_id(target):
        return None
    if rest == _NOTHING:
        return Connection(target, edge, weight)
    values = [None if raw is None else read_scalar(raw) for raw in rest]
    if UNSURE in values:
        return None
    reason, by, at, kind, confidence = cast("list[str | None]", values)
    sure = None if confidence is None else _unit_or_none(confidence)
    if confidence is not None and sure is None:
        return None
    return Connection(
        target, edge, weight, reason or None, by or None, _time("at", at), kind or None, sure
    )


def _unit_or_none(text: str) -> float | None:
    number = float(text) if _NUMBER.fullmatch(text) else -1.0
    return number if 0 <= number <= 1 else None


def read_items(block: Block) -> list[Item]:
    """Return every entry under `connections`, in the order of the file."""
    value = tree_of(block)
    if not isinstance(value, list | None):
        raise InvalidValue("connections", "is not a list")
    return [_item(block, each) for each in value or ()]


def _item(block: Block, entry: Tree) -> Item:
    if not isinstance(entry, Mapped):
        raise InvalidValue("connections", "holds something that is not a map with a `target`")
    try:
        return Item(entry, _connection(entry))
    except Rejected as error:
        raise _at_line(block, entry.line, error) from error


def _connection(fields: Fields) -> Connection:
    get = fields.get
    target = _id("target", get("target"))
    if target is None:
        raise InvalidValue("target", "is missing")
    weight = _unit("weight", get("weight"))
    return Connection(
        target,
        _word(Edge, _EDGES, "edge", get("edge")) or Edge.RELATED_TO,
        0.5 if weight is None else weight,
        _text("reason", get("reason")),
        _text("by", get("by")),
        _time("at", get("at")),
        _text("kind", get("kind")),
        _unit("confidence", get("confidence")),
    )


def _at_line(block: Block, start: int, error: Rejected) -> BadBlock:
    """Return the complaint with the line on which the key it is about stands."""
    lines = block.text.split("\n")
    named = re.compile(rf"[ \t-]*{getattr(error, 'field', '')}[ \t]*:")
    rows = (row for row in range(start, len(lines)) if named.match(lines[row]))
    return BadBlock(next(rows, start), error.message)


# -- the tables ----------------------------------------------------------------------------

_READERS: Mapping[FieldKind, Callable[[Block], object]] = {
    FieldKind.ID: _read_id,
    FieldKind.REFERENCE: _read_id,
    FieldKind.TYPE: _read_type,
    FieldKind.TIER: _read_tier,
    FieldKind.SPACE: _read_space,
    FieldKind.TEXT: _read_text,
    FieldKind.TAGS: _read_tags,
    FieldKind.UNIT: _read_unit,
    FieldKind.TIME: _read_time,
    FieldKind.ORIGIN: _read_origin,
    FieldKind.CLAIM: _read_claim,
    FieldKind.CONNECTIONS: _read_connections,
}
READERS: Mapping[str | None, Callable[[Block], object]] = {
    row.name: _READERS[row.kind] for row in FRONT_MATTER_FIELDS
}

_COUNTERS: Mapping[str, Callable[[str, Tree], object]] = {
    "access_count": _whole,
    "last_accessed": _time,
    "last_review": _time,
    "stability": _number,
    "importance": _unit,
}


def read_counter(block: Block) -> object:
    """Return a use counter of a foreign file as plain JSON, or None.

    The key is not ours, so one that makes no sense is left where it is and counts as absent.
    """
    reader = _COUNTERS.get(block.key or "")
    if reader is None:
        return None
    try:
        value = reader(str(block.key), tree_of(block))
    except (Rejected, BadBlock):
        return None
    return format_time(value) if isinstance(value, datetime) else value
