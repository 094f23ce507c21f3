"""Changing what a file says without touching anything else in it.

A block is rewritten only if its value really changed. Comments, keys we do not know, the
order of keys, line ends and the byte order mark stay as they are, and so does every entry
under `connections` that still says the same, with whatever else stands in it.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping, Sequence

from madeleine.errors import FileUnreadable, Rejected
from madeleine.model.memory import Claim, Connection, Memory, Origin, SharedFields
from madeleine.vault.front_matter import (
    FrontMatterBlock,
    MarkdownDocument,
    body_from_content,
    parse_document,
    split_blocks,
)
from madeleine.vault.front_matter_values import (
    READER_BY_KEY,
    ConnectionItem,
    InvalidBlock,
    YamlFields,
    read_connection_items,
)
from madeleine.vault.rendering import (
    FRONT_MATTER_KEYS,
    INDENT,
    claim_lines,
    connection_lines,
    origin_lines,
    render_item,
    render_key,
)
from madeleine.vault.scalars import write_scalar
from madeleine.vault.yaml_fallback import YamlTree

FILE_SOURCE = "file"  # the source of a memory that somebody wrote by hand
# What a file says by not having a key. A missing id, title or date is not here: it follows
# from the file's path or age, which change, so the first change writes it down.
VALUE_DEFAULTS: Mapping[str, object] = {
    **{each.name: each.default for each in dataclasses.fields(SharedFields)},
    "source": FILE_SOURCE,
}
_DASH_PATTERN = re.compile(r"([ \t]*)-([ \t]+|(?=\r?\n))")
_CONNECTION_KEYS = frozenset(field.name for field in dataclasses.fields(Connection))
_ORIGIN_KEYS = frozenset(field.name for field in dataclasses.fields(Origin))
_CLAIM_KEYS = frozenset(field.name for field in dataclasses.fields(Claim))


def revise_file(data: bytes, memory: Memory, was: Memory | None = None) -> bytes:
    """Return the file `data` changed so that it says `memory`.

    `was` is what the file said; if `memory` says the same, not a byte changes, even in a file
    that leaves its id or its dates to us.
    """
    if was is not None and dataclasses.replace(was, usage=memory.usage) == memory:
        return data
    document = parse_document(data, memory.id)
    if document.content != memory.content:
        document = dataclasses.replace(
            document, body=body_from_content(memory.content, document.newline)
        )
    blocks = _revise_blocks(document, memory)
    if blocks and not document.opening:
        fence = f"---{document.newline}"
        document = dataclasses.replace(document, opening=fence, closing=fence)
    return dataclasses.replace(document, blocks=tuple(blocks)).render()


def _revise_blocks(document: MarkdownDocument, memory: Memory) -> list[FrontMatterBlock]:
    blocks = list(document.blocks)
    for key in FRONT_MATTER_KEYS:
        at = next((index for index, block in enumerate(blocks) if block.key == key), None)
        if at is None:
            _insert_key(blocks, key, memory, document.newline)
        elif _read_current_value(document, blocks[at], memory) != getattr(memory, key):
            text = _render_changed_block(blocks[at], memory)
            blocks[at : at + 1] = (
                [FrontMatterBlock(key, _use_newline(document.newline, text))] if text else []
            )
    return blocks


def _insert_key(blocks: list[FrontMatterBlock], key: str, memory: Memory, newline: str) -> None:
    """Put a new key in at its place, unless leaving it out says the same."""
    text = render_key(memory, key)
    if text is None or getattr(memory, key) == VALUE_DEFAULTS.get(key):
        return
    before = set(FRONT_MATTER_KEYS[: FRONT_MATTER_KEYS.index(key)])
    place = max((at + 1 for at, block in enumerate(blocks) if block.key in before), default=0)
    blocks.insert(place, FrontMatterBlock(key, _use_newline(newline, text)))


def _read_current_value(
    document: MarkdownDocument, block: FrontMatterBlock, memory: Memory
) -> object:
    """Return what the block says now, as the memory would have it."""
    key = str(block.key)
    try:
        value = READER_BY_KEY[key](block)
    except (Rejected, InvalidBlock) as error:
        line = document.line_of(document.blocks.index(block)) + getattr(error, "line", 0)
        raise FileUnreadable(memory.id, line, str(error)) from error
    if key == "connections" and isinstance(value, tuple):
        value = tuple(each for each in value if each.target != memory.id)
    return VALUE_DEFAULTS.get(key) if value is None else value


def _render_changed_block(block: FrontMatterBlock, memory: Memory) -> str | None:
    if block.key == "connections":
        return _render_changed_connections(block, memory)
    if block.key == "origin" and memory.origin is not None:
        return _render_changed_map(block, origin_lines(memory.origin), _ORIGIN_KEYS)
    if block.key == "claim" and memory.claim is not None:
        return _render_changed_map(block, claim_lines(memory.claim), _CLAIM_KEYS)
    return render_key(memory, str(block.key))


def _render_changed_map(
    block: FrontMatterBlock, lines: Sequence[str], known: frozenset[str]
) -> str:
    """Return the block with these lines, and with what else stood in it."""
    unknown = [
        each.text for each in _split_inner_blocks(block.more) if _is_unknown_block(each, known)
    ]
    written = [f"{line}\n" for line in lines]
    return f"{block.key}:\n" + _indent_lines("".join([*written, *unknown]), INDENT)


def _use_newline(newline: str, text: str) -> str:
    return text if newline == "\n" else re.sub(r"\r?\n", newline, text)


# -- connections ---------------------------------------------------------------------------


def _render_changed_connections(block: FrontMatterBlock, memory: Memory) -> str | None:
    """Return the block with the memory's connections, in the memory's order.

    Entries that reading passes over (to itself, or said before) go last; one that repeats a
    connection which is gone goes with it, or it would come back.
    """
    items = read_connection_items(block)
    head, texts = _split_entries(block, len(items))
    indent = _find_indent(texts)
    visible: dict[object, tuple[ConnectionItem, str]] = {}
    passed_over: list[tuple[ConnectionItem, str]] = []
    for item, text in zip(items, texts, strict=True):
        if item.connection.target == memory.id or _connection_key(item.connection) in visible:
            passed_over.append((item, text))
        else:
            visible[_connection_key(item.connection)] = (item, text)
    wanted = {_connection_key(each) for each in memory.connections}
    out = [
        _render_entry(visible.get(_connection_key(each)), each, indent)
        for each in memory.connections
    ]
    for item, text in passed_over:
        if item.connection.target == memory.id or _connection_key(item.connection) in wanted:
            out.append(text or _rewrite_entry(item.connection, item.fields, text, indent))
    return head + "".join(out) if out else None


def _connection_key(connection: Connection) -> tuple[str, str]:
    return connection.target, connection.edge.value


def _render_entry(
    held: tuple[ConnectionItem, str] | None, connection: Connection, indent: str
) -> str:
    if held is None:
        return render_item(connection_lines(connection), indent)
    item, text = held
    if text and item.connection == connection:
        return text
    return _rewrite_entry(connection, item.fields, text, indent)


def _rewrite_entry(connection: Connection, fields: YamlFields, text: str, indent: str) -> str:
    """Return the entry rewritten, with what else stood in it."""
    inner = _DASH_PATTERN.sub(lambda found: " " * len(found[0]), text, count=1)
    blocks = _split_inner_blocks(inner)
    rest = "".join(each.text for each in blocks if _is_unknown_block(each, _CONNECTION_KEYS))
    if not any(each.key for each in blocks):
        rest = _render_unknown_fields(fields)
    return render_item(connection_lines(connection), indent) + _indent_lines(rest, indent + INDENT)


def _render_unknown_fields(fields: YamlFields) -> str:
    """Return the unknown keys of an entry written as `{…}`, one a line."""
    unknown = {key: value for key, value in fields.items() if key not in _CONNECTION_KEYS}
    return "".join(
        f"{write_scalar(key)}: {_render_flow_value(value)}\n" for key, value in unknown.items()
    )


def _render_flow_value(value: YamlTree) -> str:
    return write_scalar(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _split_entries(block: FrontMatterBlock, count: int) -> tuple[str, list[str]]:
    """Cut the block into what stands before the first entry and one text per entry.

    The texts are empty if the list is not written as one entry after the other.
    """
    on_own_lines = not block.inline or block.inline.startswith("#")
    lines = re.findall(r"[^\n]*\n", block.more) if on_own_lines else []
    first = next((at for at, line in enumerate(lines) if _DASH_PATTERN.match(line)), None)
    dash = _DASH_PATTERN.match(lines[first]) if first is not None else None
    if first is None or dash is None:
        return "connections:\n", [""] * count
    starts = [
        at for at in range(first, len(lines)) if re.match(rf"{dash[1]}-(?=[ \t\r\n])", lines[at])
    ]
    if len(starts) != count:
        return "connections:\n", [""] * count
    ends = [*starts[1:], len(lines)]
    texts = ["".join(lines[start:end]) for start, end in zip(starts, ends, strict=True)]
    return block.text[: -len(block.more)] + "".join(lines[:first]), texts


def _find_indent(texts: Sequence[str]) -> str:
    dash = _DASH_PATTERN.match(texts[0]) if texts else None
    return dash[1] if dash else INDENT


# -- blocks inside a block -----------------------------------------------------------------


def _split_inner_blocks(text: str) -> list[FrontMatterBlock]:
    """Return the blocks of an indented map, moved to the margin."""
    lines = re.findall(r"[^\n]*\n", text)
    width = min([_indent_width(line) for line in lines if line.strip()], default=0)
    return split_blocks("".join(line[min(width, _indent_width(line)) :] for line in lines))


def _indent_width(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _is_unknown_block(block: FrontMatterBlock, known: frozenset[str]) -> bool:
    return block.is_gap or (block.key is not None and block.key not in known)


def _indent_lines(text: str, indent: str) -> str:
    lines = re.findall(r"[^\n]*\n", text)
    return "".join(indent + line if line.strip() else line for line in lines)
