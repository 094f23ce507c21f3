"""A markdown file as parts that join to exactly the bytes it was read from.

A memory's file belongs to its owner as much as to us: it may carry comments, keys of other
programs, Windows line ends, a byte order mark. So the front matter is not loaded and dumped
but cut into *blocks*, one per top-level key, whose text is kept as it stands. Whoever changes
a value swaps one block; everything else goes back to the disk untouched.

    ---                 opening
    id: 97acbe8e-…      a block with a key
    # a remark          a block without one: comments, blank lines
    connections:        a block with lines under it
      - target: …
    ---                 closing
    the text            body

A file is front matter and body only if it begins with a `---` line and has another one.
Otherwise all of it is body. What the blocks mean is decided in `markdown` and
`front_matter_values`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from madeleine.errors import FileUnreadable

BOM = "\ufeff"
MAX_FRONT_MATTER_CHARS = 8_000_000  # of all keys but the connections
CONNECTIONS_KEY = "connections"
MAX_KEY_CHARS = 4_000_000  # of one key; a text of that size is a body, not a property
MAX_KEYS = 2_000

_OPENING_FENCE = re.compile(r"---[ \t]*\r?\n")
_CLOSING_FENCE = re.compile(r"---[ \t]*(?:\r?\n|\Z)")

_GAP_LINE = r"[ \t]*(?:#[^\n]*)?\r?\n"
# A longer word is not a key: the bound keeps a long line from being tried at every length.
_KEY = r"""([A-Za-z_][\w-]*|"[^"\n]*"|'[^'\n]*'|[^\s\-#\[\]{}"'&*!|>%@`,?:][^\n]{0,200}?)"""
# Lines that belong to the key above them: indented ones, list items (YAML allows those at the
# margin), closing brackets, and gaps between such lines.
_MORE_LINE = r"[ \t\-\]}][^\n]*+\n"
_MORE = rf"((?:{_MORE_LINE}|(?:(?:#[^\n]*+)?\r?\n)++(?=[ \t\-\]}}]))*+)"
_BLOCK = re.compile(rf"({_KEY}[ \t]*+:(?=[ \t\r\n])([^\n]*)\n{_MORE})")
_GAP_LINES = re.compile(rf"(?:{_GAP_LINE})+")
_LOOKS_LIKE_KEY = re.compile(r"---[ \t]*\r?\n\w[\w-]*:[ \t\r\n]")


class FrontMatterBlock(NamedTuple):
    """One key with its text, or a run of lines that belong to no key.

    `inline` is what stands behind the colon on the key's own line, `more` the lines under it.
    """

    key: str | None
    text: str
    inline: str = ""
    more: str = ""

    @property
    def is_gap(self) -> bool:
        """Whether this is blank lines and comments only."""
        return self.key is None and _GAP_LINES.fullmatch(self.text) is not None


@dataclass(frozen=True, slots=True)
class MarkdownDocument:
    """A file in parts. `opening` and `closing` are empty when there is no front matter."""

    bom: bool
    newline: str
    opening: str
    blocks: tuple[FrontMatterBlock, ...]
    closing: str
    body: str

    def render(self) -> bytes:
        """Return the bytes; those of an unchanged document are the ones it was read from."""
        mark = BOM if self.bom else ""
        front = "".join([block.text for block in self.blocks])
        return f"{mark}{self.opening}{front}{self.closing}{self.body}".encode()

    @property
    def content(self) -> str:
        """The body without the one blank line before it and the one line end behind it."""
        return content_from_body(self.body, self.newline)

    @property
    def body_line(self) -> int:
        """The number of the line on which the body begins."""
        return self.line_of(len(self.blocks)) + bool(self.closing)

    def line_of(self, index: int) -> int:
        """Return the number of the line on which block `index` begins."""
        lines_before = sum(block.text.count("\n") for block in self.blocks[:index])
        return 1 + bool(self.opening) + lines_before

    def looks_unclosed(self) -> bool:
        """Whether this begins as front matter does but never ends it.

        A lone `---` is a ruler in markdown, so a key has to follow.
        """
        return not self.opening and _LOOKS_LIKE_KEY.match(self.body) is not None


def parse_document(data: bytes, path: str = "") -> MarkdownDocument:
    """Cut a file into its parts. Any UTF-8 text is a document; `path` is for the complaint."""
    text = _decode_utf8(data, path)
    bom = text.startswith(BOM)
    if bom:
        text = text[1:]
    newline = _detect_newline(text)
    opening = _OPENING_FENCE.match(text)
    closing = _find_closing_fence(text, opening.end()) if opening else None
    if opening is None or closing is None:
        return MarkdownDocument(bom, newline, "", (), "", text)
    start, end = opening.end(), closing.start()
    blocks = tuple(split_blocks(text[start:end]))
    document = MarkdownDocument(bom, newline, opening[0], blocks, closing[0], text[closing.end() :])
    if len(blocks) > MAX_KEYS or end - start > MAX_KEY_CHARS:
        _refuse_oversized(document, path)
    return document


def _refuse_oversized(document: MarkdownDocument, path: str) -> None:
    """Refuse more keys, or longer ones, than any note has: each key costs a parser its start.
    Connections may be as many as they are: a memory that was written can be read."""
    keys = chars = 0
    for index, block in enumerate(document.blocks):
        if block.key is None or block.key == CONNECTIONS_KEY:
            continue
        keys += 1
        chars += len(block.text)
        problem = ""
        if keys > MAX_KEYS:
            problem = f"the front matter has more than {MAX_KEYS:,} keys"
        elif len(block.text) > MAX_KEY_CHARS:
            size = f"{len(block.text):,} characters; at most {MAX_KEY_CHARS:,} are read"
            problem = f"`{block.key}`: has {size}"
        elif chars > MAX_FRONT_MATTER_CHARS:
            problem = f"the front matter has more than {MAX_FRONT_MATTER_CHARS:,} characters"
        if problem:
            raise FileUnreadable(path, document.line_of(index), problem)


def split_blocks(text: str) -> list[FrontMatterBlock]:
    """Cut whole lines of YAML into blocks; joined again they are `text`."""
    found = _BLOCK.findall(text)
    if sum([len(parts[0]) for parts in found]) == len(text):
        return [_make_block(*parts) for parts in found]
    return _split_with_gaps(text)


def _split_with_gaps(text: str) -> list[FrontMatterBlock]:
    blocks: list[FrontMatterBlock] = []
    at, size = 0, len(text)
    while at < size:
        found = _BLOCK.match(text, at)
        gap = None if found else _GAP_LINES.match(text, at)
        end = found.end() if found else gap.end() if gap else text.index("\n", at) + 1
        blocks.append(
            _make_block(*found.groups()) if found else FrontMatterBlock(None, text[at:end])
        )
        at = end
    return blocks


def _make_block(text: str, key: str, inline: str, more: str) -> FrontMatterBlock:
    return FrontMatterBlock(key.strip("\"'"), text, inline.strip(" \t\r"), more)


def content_from_body(body: str, newline: str) -> str:
    """Return what a body says. In a file with Windows line ends the last of them is one too.

    In other files a carriage return before the last line end is part of the content;
    otherwise a text that ends in one would not survive being written.
    """
    start = 1 if body.startswith("\n") else 2 if body.startswith("\r\n") else 0
    end = len(body)
    if end > start and body.endswith("\n"):
        end -= 1
        if newline == "\r\n" and end > start and body[end - 1] == "\r":
            end -= 1
    return body[start:end]


def body_from_content(content: str, newline: str) -> str:
    """Return the body that says `content`: the inverse of `content_from_body` for any text."""
    body = content + newline
    return newline + body if body.startswith(("\n", "\r\n")) else body


def _find_closing_fence(text: str, start: int) -> re.Match[str] | None:
    """Return the next line that is only `---`."""
    at = text.find("\n---", start - 1)
    while at >= 0:
        if found := _CLOSING_FENCE.match(text, at + 1):
            return found
        at = text.find("\n---", at + 1)
    return None


def _detect_newline(text: str) -> str:
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def _decode_utf8(data: bytes, path: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FileUnreadable(path, line, "is not valid UTF-8") from error
