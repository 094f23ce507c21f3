"""A block of ours in a text that people write: between two comments that agents do not read."""

from __future__ import annotations

import re

START = "<!-- madeleine:start -->"
END = "<!-- madeleine:end -->"
_BLOCK = re.compile(f"{re.escape(START)}.*?{re.escape(END)}", re.S)
_WITH_GAP = re.compile(rf"(?:(?<=\n)\r?\n)?{re.escape(START)}.*?{re.escape(END)}(?:\r?\n)?", re.S)


class BrokenBlock(Exception):
    """A text with one of our two comments, but not the other."""

    def __init__(self, text: str) -> None:
        word = START if START in text else END
        self.problem = f"`{word}` stands alone; take it out, or put its other half back"
        self.line = text.count("\n", 0, text.index(word)) + 1
        super().__init__(self.problem)


def put_block(text: str, block: str) -> str:
    """Return the text with this block: where it stood, else at the end."""
    _check(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    shown = f"{START}\n{block.strip()}\n{END}".replace("\n", newline)
    found = _BLOCK.search(text)
    if found:
        return _one_block(text[: found.start()] + shown, text[found.end() :])
    gap = "" if not text.strip() else newline if text.endswith("\n") else newline * 2
    return text + gap + shown + newline


def drop_block(text: str) -> str:
    """Return the text without our block, and without the blank line that came with it."""
    _check(text)
    return _WITH_GAP.sub("", text)


def has_block(text: str) -> bool:
    return _BLOCK.search(text) is not None


def _one_block(before: str, after: str) -> str:
    """A block that was pasted twice becomes one."""
    return before + drop_block(after)


def _check(text: str) -> None:
    rest = _BLOCK.sub("", text)
    if START in rest or END in rest:
        raise BrokenBlock(rest)
