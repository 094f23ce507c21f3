"""What a memory's file is called: `{type}_{slug}_{short id}.md`.

The name is for people. Nothing is read from it, and it is not changed when the title is.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from madeleine.model.memory import SHORT_ID_LENGTH, Memory

MEMORY_SUFFIXES = (".md", ".markdown")  # in any case: .MD comes from cameras and old disks
TEXT_SUFFIXES = (".txt", ".mdx", ".org", ".rst")  # texts that are no memories, and look like some
MAX_SLUG_CHARS = 40
MAX_SLUG_BYTES = 120  # a name may have 255 bytes; type, id and a sync program's marks need theirs
_NOT_SLUG_CHARS = re.compile(r"[^a-z0-9]+")


def candidate_file_names(memory: Memory) -> Iterator[str]:
    """Yield names for a memory's file, the usual one first, then with more and more of its id."""
    stem = f"{memory.type.value}_{make_slug(memory.headline)}"
    digits = memory.id.replace("-", "")
    for length in range(SHORT_ID_LENGTH, len(digits) + 1, 4):
        yield f"{stem}_{digits[:length]}.md"


def is_memory_name(name: str) -> bool:
    """Whether a file of this name holds a memory."""
    return name.endswith(".md") or name.lower().endswith(MEMORY_SUFFIXES)


def is_unread_text(name: str) -> bool:
    """Whether a file of this name is a text that nobody reads for a memory."""
    return name.lower().endswith(TEXT_SUFFIXES)


def make_slug(text: str) -> str:
    """Return letters and digits of any script with `-` between them; never empty.

    Nothing else comes through, so a title can hold no path, no hidden name, no control
    character.
    """
    plain = unicodedata.normalize("NFKC", text).lower()
    if plain.isascii():
        dashed = _NOT_SLUG_CHARS.sub("-", plain)
    else:
        dashed = re.sub("-+", "-", "".join([_slug_char(char) for char in plain]))
    return _cut_slug(dashed.strip("-")) or "untitled"


def _slug_char(char: str) -> str:
    # Marks stay: without its vowel signs a word in many scripts is another word.
    return char if unicodedata.category(char)[0] in "LNM" else "-"


def _cut_slug(dashed: str) -> str:
    short = dashed[:MAX_SLUG_CHARS].encode("utf-8")[:MAX_SLUG_BYTES]
    return short.decode("utf-8", "ignore").strip("-")
