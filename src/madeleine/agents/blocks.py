"""A block of ours in a text that people write: between two comments that agents do not read."""

from __future__ import annotations

import re

START_COMMENT = "<!-- madeleine:start -->"
END_COMMENT = "<!-- madeleine:end -->"
_BLOCK_PATTERN = re.compile(f"{re.escape(START_COMMENT)}.*?{re.escape(END_COMMENT)}", re.S)
_BLOCK_WITH_GAP_PATTERN = re.compile(
    rf"(?:(?<=\n)\r?\n)?{re.escape(START_COMMENT)}.*?{re.escape(END_COMMENT)}(?:\r?\n)?", re.S
)


class BrokenBlock(Exception):
    """A text with one of our two comments, but not the other."""

    def __init__(self, text: str) -> None:
        word = START_COMMENT if START_COMMENT in text else END_COMMENT
        self.problem = f"`{word}` stands alone; take it out, or put its other half back"
        self.line = text.count("\n", 0, text.index(word)) + 1
        super().__init__(self.problem)


def put_block(text: str, block: str) -> str:
    """Return the text with this block: where it stood, else at the end."""
    _check_comments(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    shown = f"{START_COMMENT}\n{block.strip()}\n{END_COMMENT}".replace("\n", newline)
    found = _BLOCK_PATTERN.search(text)
    if found:
        return _join_without_block(text[: found.start()] + shown, text[found.end() :])
    gap = "" if not text.strip() else newline if text.endswith("\n") else newline * 2
    return text + gap + shown + newline


def drop_block(text: str) -> str:
    """Return the text without our block, and without the blank line that came with it."""
    _check_comments(text)
    return _BLOCK_WITH_GAP_PATTERN.sub("", text)


def has_block(text: str) -> bool:
    return _BLOCK_PATTERN.search(text) is not None


def _join_without_block(before: str, after: str) -> str:
    """A block that was pasted twice becomes one."""
    return before + drop_block(after)


def _check_comments(text: str) -> None:
    rest = _BLOCK_PATTERN.sub("", text)
    if START_COMMENT in rest or END_COMMENT in rest:
        raise BrokenBlock(rest)
