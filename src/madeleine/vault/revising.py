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
from madeleine.vault.frontmatter import Block, Document, body_of, parse_document, split_blocks
from madeleine.vault.rendering import (
    INDENT,
    KEYS,
    claim_lines,
    connection_lines,
    origin_lines,
    render_item,
    render_key,
)
from madeleine.vault.scalars import write_scalar
from madeleine.vault.values import READERS, BadBlock, Fields, Item, read_items
from madeleine.vault.yaml_fallback import Tree

FILE_SOURCE = "file"  # the source of a memory that somebody wrote by hand
# What a file says by not having a key. A missing id, title or date is not here: it follows
# from the file's path or age, which change, so the first change writes it down.
DEFAULTS: Mapping[str, object] = {
    **{each.name: each.default for each in dataclasses.fields(SharedFields)},
    "source": FILE_SOURCE,
}
_DASH = re.compile(r"([ \t]*)-([ \t]+|(?=\r?\n))")
_CONNECTION_KEYS = frozenset(field.name for field in dataclasses.fields(Connection))
_ORIGIN_KEYS = frozenset(field.name for field in dataclasses.fields(Origin))
_CLAIM_KEYS = frozenset(field.name for field in dataclasses.fields(Claim))


def revised(data: bytes, memory: Memory, was: Memory | None = None) -> bytes:
    """Return the file `data` changed so that it says `memory`.

    `was` is what the file said; if `memory` says the same, not a byte changes, even in a file
    that leaves its id or its dates to us.
    """
    if was is not None and dataclasses.replace(was, usage=memory.usage) == memory:
        return data
    document = parse_document(data, memory.id)
    if document.content != memory.content:
        document = dataclasses.replace(document, body=body_of(memory.content, document.newline))
    blocks = _revised_blocks(document, memory)
    if blocks and not document.opening:
        fence = f"---{document.newline}"
        document = dataclasses.replace(document, opening=fence, closing=fence)
    return dataclasses.replace(document, blocks=tuple(blocks)).render()


def _revised_blocks(document: Document, memory: Memory) -> list[Block]:
    blocks = list(document.blocks)
    for key in KEYS:
        at = next((index for index, block in enumerate(blocks) if block.key == key), None)
        if at is None:
            _add(blocks, key, memory, document.newline)
        elif _value(document, blocks[at], memory) != getattr(memory, key):
            text = _changed(blocks[at], memory)
            blocks[at : at + 1] = [Block(key, _with(document.newline, text))] if text else []
    return blocks


def _add(blocks: list[Block], key: str, memory: Memory, newline: str) -> None:
    """Put a new key in at its place, unless leaving it out says the same."""
    text = render_key(memory, key)
    if text is None or getattr(memory, key) == DEFAULTS.get(key):
        return
    before = set(KEYS[: KEYS.index(key)])
    place = max((at + 1 for at, block in enumerate(blocks) if block.key in before), default=0)
    blocks.insert(place, Block(key, _with(newline, text)))


def _value(document: Document, block: Block, memory: Memory) -> object:
    """Return what the block says now, as the memory would have it."""
    key = str(block.key)
    try:
        value = READERS[key](block)
    except (Rejected, BadBlock) as error:
        line = document.line_of(document.blocks.index(block)) + getattr(error, "line", 0)
        raise FileUnreadable(memory.id, line, str(error)) from error
    if key == "connections" and isinstance(value, tuple):
        value = tuple(each for each in value if each.target != memory.id)
    return DEFAULTS.get(key) if value is None else value


def _changed(block: Block, memory: Memory) -> str | None:
    if block.key == "connections":
        return _changed_connections(block, memory)
    if block.key == "origin" and memory.origin is not None:
        return _changed_map(block, origin_lines(memory.origin), _ORIGIN_KEYS)
    if block.key == "claim" and memory.claim is not None:
        return _changed_map(block, claim_lines(memory.claim), _CLAIM_KEYS)
    return render_key(memory, str(block.key))


def _changed_map(block: Block, lines: Sequence[str], known: frozenset[str]) -> str:
    """Return the block with these lines, and with what else stood in it."""
    unknown = [each.text for each in _inner_blocks(block.more) if _unknown(each, known)]
    written = [f"{line}\n" for line in lines]
    return f"{block.key}:\n" + _indented("".join([*written, *unknown]), INDENT)


def _with(newline: str, text: str) -> str:
    return text if newline == "\n" else re.sub(r"\r?\n", newline, text)


# -- connections ---------------------------------------------------------------------------


def _changed_connections(block: Block, memory: Memory) -> str | None:
    """Return the block with the memory's connections, in the memory's order.

    Entries that reading passes over (to itself, or said before) go last; one that repeats a
    connection which is gone goes with it, or it would come back.
    """
    items = read_items(block)
    head, texts = _entries(block, len(items))
    indent = _indent(texts)
    visible: dict[object, tuple[Item, str]] = {}
    passed_over: list[tuple[Item, str]] = []
    for item, text in zip(items, texts, strict=True):
        if item.connection.target == memory.id or _arrow(item.connection) in visible:
            passed_over.append((item, text))
        else:
            visible[_arrow(item.connection)] = (item, text)
    wanted = {_arrow(each) for each in memory.connections}
    out = [_entry(visible.get(_arrow(each)), each, indent) for each in memory.connections]
    for item, text in passed_over:
        if item.connection.target == memory.id or _arrow(item.connection) in wanted:
            out.append(text or _fresh(item.connection, item.fields, text, indent))
    return head + "".join(out) if out else None


def _arrow(connection: Connection) -> tuple[str, str]:
    return connection.target, connection.edge.value


def _entry(held: tuple[Item, str] | None, connection: Connection, indent: str) -> str:
    if held is None:
        return render_item(connection_lines(connection), indent)
    item, text = held
    if text and item.connection == connection:
        return text
    return _fresh(connection, item.fields, text, indent)


def _fresh(connection: Connection, fields: Fields, text: str, indent: str) -> str:
    """Return the entry rewritten, with what else stood in it."""
    inner = _DASH.sub(lambda found: " " * len(found[0]), text, count=1)
    blocks = _inner_blocks(inner)
    rest = "".join(each.text for each in blocks if _unknown(each, _CONNECTION_KEYS))
    if not any(each.key for each in blocks):
        rest = _unknown_fields(fields)
    return render_item(connection_lines(connection), indent) + _indented(rest, indent + INDENT)


def _unknown_fields(fields: Fields) -> str:
    """Return the unknown keys of an entry written as `{…}`, one a line."""
    unknown = {key: value for key, value in fields.items() if key not in _CONNECTION_KEYS}
    return "".join(f"{write_scalar(key)}: {_flow(value)}\n" for key, value in unknown.items())


def _flow(value: Tree) -> str:
    return write_scalar(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _entries(block: Block, count: int) -> tuple[str, list[str]]:
    """Cut the block into what stands before the first entry and one text per entry.

    The texts are empty if the list is not written as one entry after the other.
    """
    on_own_lines = not block.inline or block.inline.startswith("#")
    lines = re.findall(r"[^\n]*\n", block.more) if on_own_lines else []
    first = next((at for at, line in enumerate(lines) if _DASH.match(line)), None)
    dash = _DASH.match(lines[first]) if first is not None else None
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


def _indent(texts: Sequence[str]) -> str:
    dash = _DASH.match(texts[0]) if texts else None
    return dash[1] if dash else INDENT


# -- blocks inside a block -----------------------------------------------------------------


def _inner_blocks(text: str) -> list[Block]:
    """Return the blocks of an indented map, moved to the margin."""
    lines = re.findall(r"[^\n]*\n", text)
    width = min([_width(line) for line in lines if line.strip()], default=0)
    return split_blocks("".join(line[min(width, _width(line)) :] for line in lines))


def _width(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _unknown(block: Block, known: frozenset[str]) -> bool:
    return block.is_gap or (block.key is not None and block.key not in known)


def _indented(text: str, indent: str) -> str:
    lines = re.findall(r"[^\n]*\n", text)
    return "".join(indent + line if line.strip() else line for line in lines)
