"""A draft: a memory not yet written. What comes through any door is checked here, once."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from madeleine.errors import EmptyDraft, InvalidValue, TooLarge
from madeleine.model.fields import FIELDS, FieldKind, MemoryField
from madeleine.model.memory import Claim, Connection, Origin, SharedFields, parse_id
from madeleine.model.metadata import read_metadata
from madeleine.model.request_reader import RequestReader, read_unit_number
from madeleine.model.setting import advanced, setting
from madeleine.model.words import (
    ABOUT_SELF,
    GLOBAL,
    Edge,
    MemoryKind,
    MemoryType,
    Tier,
    read_word,
)

_BREAKS = re.compile(r"[\x00-\x20\x7f-\x9f\u2028\u2029]+")
MAX_TRIGGERS = 64
TRIGGER_CHARS = 200
CLAIM_CHARS = 200  # of each part of a claim: a name or a value, not a text


@dataclass(frozen=True, slots=True)
class MemoryLimits:
    """How much one memory may hold."""

    content_bytes: int = setting(1_048_576, "largest text of one memory, in bytes of UTF-8")
    title_chars: int = advanced(300, "longest title")
    tags: int = advanced(64, "most tags on one memory")
    tag_chars: int = advanced(80, "longest tag")
    connections: int = advanced(500, "most connections in one draft")


@dataclass(frozen=True, slots=True)
class Draft(SharedFields):
    """What is to be remembered."""

    content: str
    about_self: bool = field(default=False, kw_only=True)
    id: str | None = field(default=None, kw_only=True)
    created: datetime | None = field(default=None, kw_only=True)
    replaces: tuple[str, ...] = field(default=(), kw_only=True)
    """Memories that are no longer true once this one is written; short ids will do."""


def read_draft(
    values: Mapping[str, object], limits: MemoryLimits, default_space: str | None = None
) -> Draft:
    """Return the draft that `values` describe.

    `default_space` fills in only where no space was named: an explicit null stays global.
    """
    reader = RequestReader(values, "the draft")
    about_self = reader.flag("about_self")
    given = {
        row.name: value
        for row in FIELDS
        if row.in_draft and reader.raw(row.name) is not None
        if (value := read_field(reader, row, limits)) is not None
    }
    if "content" not in given:
        raise EmptyDraft
    if not reader.has("space"):
        given["space"] = default_space
    tags = given.get("tags", ())
    if about_self:
        given["tags"] = add_about_self(tags)
    replaces = _read_replaced(reader, limits)
    draft = Draft(**given, about_self=about_self or ABOUT_SELF in tags, replaces=replaces)
    reader.done()
    return draft


def _read_replaced(reader: RequestReader, limits: MemoryLimits) -> tuple[str, ...]:
    named = tuple(dict.fromkeys(each.strip() for each in reader.texts("replaces") or ()))
    if len(named) > limits.connections:
        raise InvalidValue("replaces", f"holds {len(named)}", hint=f"at most {limits.connections}")
    return named


def read_field(reader: RequestReader, row: MemoryField, limits: MemoryLimits) -> Any:
    """Return the value that a request gives a field; None where it says nothing."""
    name = row.name
    match row.kind:
        case FieldKind.CONTENT:
            return check_content(reader.text(name), limits)
        case FieldKind.TYPE:
            return read_word(MemoryType, name, reader.raw(name))
        case FieldKind.TIER:
            return read_word(Tier, name, reader.raw(name))
        case FieldKind.SPACE:
            return read_space(reader.text(name))
        case FieldKind.TEXT:
            return read_one_line(name, reader.text(name), _max_chars(row, limits))
        case FieldKind.TAGS:
            return read_tags(reader.texts(name) or (), limits)
        case FieldKind.TRIGGERS:
            return read_trigger_texts(reader.texts(name))
        case FieldKind.KIND:
            given = reader.raw(name)
            return None if given is None else read_word(MemoryKind, name, given)
        case FieldKind.UNIT:
            return read_unit_number(name, reader.raw(name))
        case FieldKind.TIME:
            return reader.time(name)
        case FieldKind.ID:
            return parse_id(name, reader.raw(name))
        case FieldKind.REFERENCE:
            return reader.text(name)
        case FieldKind.ORIGIN:
            return read_origin(reader.raw(name))
        case FieldKind.METADATA:
            return read_metadata(reader.raw(name))
        case FieldKind.CLAIM:
            return read_claim(reader.raw(name))
        case FieldKind.CONNECTIONS:
            return _read_connections(reader, limits)


def _max_chars(row: MemoryField, limits: MemoryLimits) -> int:
    return limits.title_chars if row.name == "title" else row.chars


def check_content(content: str | None, limits: MemoryLimits) -> str:
    """Return the text if it says something and is not over the bound."""
    if content is None or not content.strip("\ufeff\x00").strip():
        raise EmptyDraft
    size = len(content.encode("utf-8"))
    if size > limits.content_bytes:
        raise TooLarge("the memory", size, limits.content_bytes, "limits.content_bytes")
    return content


def read_space(space: str | None) -> str | None:
    """Return the space's name on one line; `global` and nothing are the same."""
    name = read_one_line("space", space, 100)
    return None if name in (None, GLOBAL) else name


def read_tags(tags: tuple[str, ...], limits: MemoryLimits) -> tuple[str, ...]:
    """Return the tags normalised: lower case, one word each, no leading `#`, no repeats."""
    clean = (normalize_tag(tag, limits) for tag in tags)
    distinct = tuple(dict.fromkeys(tag for tag in clean if tag))
    if len(distinct) > limits.tags:
        raise InvalidValue(
            "tags", f"holds {len(distinct)}", hint=f"at most {limits.tags} (`limits.tags`)"
        )
    return distinct


def read_trigger_texts(given: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Return what a memory is to be triggered by, each on one line. None of them is a value too:
    it is told before no deed."""
    if given is None:
        return None
    if len(given) > MAX_TRIGGERS:
        raise InvalidValue("triggers", f"holds {len(given)}", hint=f"at most {MAX_TRIGGERS}")
    texts = (read_one_line("triggers", each, TRIGGER_CHARS) for each in given)
    return tuple(dict.fromkeys(each for each in texts if each))


def normalize_tag(tag: str, limits: MemoryLimits) -> str:
    """Return the one spelling under which a tag is kept and looked for."""
    text = unicodedata.normalize("NFKC", tag).strip().lstrip("#").lower()
    text = re.sub(r"[\s,\[\]{}\"'`]+", "-", _BREAKS.sub(" ", text).strip()).strip("-")
    if len(text) > limits.tag_chars:
        raise InvalidValue(
            "tags", f"holds {tag[:40]!r}…", hint=f"at most {limits.tag_chars} characters each"
        )
    return text


def add_about_self(tags: tuple[str, ...]) -> tuple[str, ...]:
    return tags if ABOUT_SELF in tags else (ABOUT_SELF, *tags)


def read_one_line(field: str, value: str | None, limit: int) -> str | None:
    """Return `value` on one line without control characters; empty becomes nothing."""
    if value is None:
        return None
    text = _BREAKS.sub(" ", value).strip()
    if len(text) > limit:
        raise InvalidValue(field, f"is {len(text)} characters long", hint=f"at most {limit}")
    return text or None


def read_origin(values: object) -> Origin | None:
    """Return where a memory came from; all four parts are optional."""
    if values is None:
        return None
    reader = RequestReader(values, "`origin`")
    origin = Origin(
        session=read_one_line("origin.session", reader.text("session"), 300),
        turn=_read_turn(reader),
        speaker=read_one_line("origin.speaker", reader.text("speaker"), 200),
        uri=read_one_line("origin.uri", reader.text("uri"), 2000),
    )
    reader.done()
    return None if origin == Origin() else origin


def read_claim(values: object) -> Claim | None:
    """Return what a memory states; a claim has all three parts."""
    if values is None:
        return None
    reader = RequestReader(values, "`claim`")
    subject, attribute, value = (
        _read_claim_part(reader, each) for each in ("subject", "attribute", "value")
    )
    reader.done()
    return Claim(subject, attribute, value)


def _read_claim_part(reader: RequestReader, name: str) -> str:
    part = read_one_line(f"claim.{name}", reader.text(name), CLAIM_CHARS)
    if part is None:
        raise InvalidValue(
            f"claim.{name}", "is missing", hint="a claim is a subject, an attribute and a value"
        )
    return part


def _read_turn(reader: RequestReader) -> int | None:
    if reader.raw("turn") is None:
        return None
    return reader.whole("turn", 0, 0, 1_000_000_000)


def read_connection(values: object) -> Connection:
    """Return one connection as a request describes it; its target may be a short id."""
    reader = RequestReader(values, "a connection")
    connection = Connection(
        target=reader.required_text("target").strip(),
        edge=reader.choice(Edge, "edge", Edge.RELATED_TO),
        weight=reader.unit("weight", 0.5),
        reason=read_one_line("reason", reader.text("reason"), 1000),
        by=read_one_line("by", reader.text("by"), 100),
        at=reader.time("at"),
        kind=read_one_line("kind", reader.text("kind"), 100),
        confidence=reader.unit("confidence", 1.0) if reader.raw("confidence") is not None else None,
    )
    reader.done()
    return connection


def _read_connections(reader: RequestReader, limits: MemoryLimits) -> tuple[Connection, ...]:
    connections = reader.items("connections", read_connection) or ()
    if len(connections) > limits.connections:
        raise InvalidValue(
            "connections", f"holds {len(connections)}", hint=f"at most {limits.connections}"
        )
    return connections
