"""A memory as the text of its file, in the fixed order of keys.

What is not set is left out. `render_key` gives one key's block, so that a file being changed
gets the same text for a value as a new file would.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from madeleine.model.fields import FRONT_MATTER_FIELDS, FieldKind
from madeleine.model.memory import Claim, Connection, Memory, Origin
from madeleine.model.metadata import Metadata
from madeleine.model.times import format_time
from madeleine.vault.front_matter import body_from_content
from madeleine.vault.scalars import write_flow_list, write_scalar

INDENT = "  "
_NOTHING_SAID = ("", (), Origin())


def render_memory(memory: Memory) -> bytes:
    """Return a new file that says `memory`."""
    blocks = [text for key in FRONT_MATTER_KEYS if (text := render_key(memory, key)) is not None]
    return "".join(["---\n", *blocks, "---\n", body_from_content(memory.content, "\n")]).encode()


def render_key(memory: Memory, key: str) -> str | None:
    """Return the block of one key, or None if it is not set."""
    value = getattr(memory, key)
    if value is None or (value in _NOTHING_SAID and key != "triggers"):
        return None
    return _RENDERER_BY_KEY[key](key, value)


def render_number(number: float) -> str:
    """Return the shortest text that reads back as the same number, as YAML takes numbers.

    `repr` writes small ones as `1e-07`, which YAML takes for a word: it wants a point.
    """
    text = repr(float(number))
    return text.replace("e", ".0e") if "e" in text and "." not in text else text


def connection_lines(connection: Connection) -> list[str]:
    """Return `key: value` lines in their fixed order."""
    lines = [
        f"target: {connection.target}",
        f"edge: {connection.edge.value}",
        f"weight: {render_number(connection.weight)}",
    ]
    if connection.reason:
        lines.append(f"reason: {write_scalar(connection.reason)}")
    if connection.by:
        lines.append(f"by: {write_scalar(connection.by)}")
    if connection.at is not None:
        lines.append(f"at: {format_time(connection.at)}")
    if connection.kind:
        lines.append(f"kind: {write_scalar(connection.kind)}")
    if connection.confidence is not None:
        lines.append(f"confidence: {render_number(connection.confidence)}")
    return lines


def origin_lines(origin: Origin) -> list[str]:
    """Return `key: value` lines in their fixed order."""
    lines = []
    if origin.session:
        lines.append(f"session: {write_scalar(origin.session)}")
    if origin.turn is not None:
        lines.append(f"turn: {origin.turn}")
    if origin.speaker:
        lines.append(f"speaker: {write_scalar(origin.speaker)}")
    if origin.uri:
        lines.append(f"uri: {write_scalar(origin.uri)}")
    return lines


def claim_lines(claim: Claim) -> list[str]:
    """Return `key: value` lines in their fixed order."""
    return [
        f"subject: {write_scalar(claim.subject)}",
        f"attribute: {write_scalar(claim.attribute)}",
        f"value: {write_scalar(claim.value)}",
    ]


def render_map(key: str, lines: list[str]) -> str:
    """Return a key with a map under it."""
    return "".join([f"{key}:\n", *[f"{INDENT}{line}\n" for line in lines]])


def render_item(lines: list[str], indent: str) -> str:
    """Return a list entry: the first line behind a dash, the others under it."""
    return f"{indent}- " + f"\n{indent}{INDENT}".join(lines) + "\n"


def _render_plain(key: str, value: str) -> str:
    return f"{key}: {value}\n"


def _render_tags(key: str, tags: tuple[str, ...]) -> str:
    return f"{key}: {write_flow_list(tags)}\n"


def _render_origin(key: str, origin: Origin) -> str:
    return render_map(key, origin_lines(origin))


def _render_claim(key: str, claim: Claim) -> str:
    return render_map(key, claim_lines(claim))


def _render_metadata(key: str, metadata: Metadata) -> str:
    """Return an object as its JSON, which is YAML too."""
    return f"{key}: {metadata.text}\n"


def _render_connections(key: str, connections: tuple[Connection, ...]) -> str:
    items = [render_item(connection_lines(each), INDENT) for each in connections]
    return f"{key}:\n{''.join(items)}"


def _render_scalar(key: str, value: str) -> str:
    return f"{key}: {write_scalar(value)}\n"


def _render_unit(key: str, value: float) -> str:
    return f"{key}: {render_number(value)}\n"


def _render_time(key: str, value: datetime) -> str:
    return f"{key}: {format_time(value)}\n"


_RENDERERS: Mapping[FieldKind, Callable[[str, Any], str]] = {
    FieldKind.ID: _render_plain,
    FieldKind.REFERENCE: _render_plain,
    FieldKind.TYPE: _render_plain,
    FieldKind.TIER: _render_plain,
    FieldKind.SPACE: _render_scalar,
    FieldKind.TEXT: _render_scalar,
    FieldKind.TAGS: _render_tags,
    FieldKind.TRIGGERS: _render_tags,
    FieldKind.KIND: _render_plain,
    FieldKind.UNIT: _render_unit,
    FieldKind.TIME: _render_time,
    FieldKind.ORIGIN: _render_origin,
    FieldKind.CLAIM: _render_claim,
    FieldKind.METADATA: _render_metadata,
    FieldKind.CONNECTIONS: _render_connections,
}
_RENDERER_BY_KEY = {row.name: _RENDERERS[row.kind] for row in FRONT_MATTER_FIELDS}
FRONT_MATTER_KEYS: tuple[str, ...] = tuple(_RENDERER_BY_KEY)
