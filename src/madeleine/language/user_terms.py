"""Terms of the user's: what a memory with the tag `terms` says, line by line.

`name | other names | classes`, or short `name: classes`, is an entry of the thesaurus; `- name`
takes a shipped entry out. Headings and empty lines are passed over. Any other line says nothing to
us, and `madeleine doctor` names it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from madeleine.language.late_pattern import compile_late

TERMS_TAG = "terms"
"""The tag of memories whose lines are entries."""

MAX_LINES = 5_000  # of one memory
_ENTRY = compile_late(r"(?:[-*+]\s+)?(?P<name>[^|]+)\|(?P<others>[^|]*)\|(?P<classes>[^|]*)")
_SHORT_ENTRY = compile_late(r"(?:[-*+]\s+)?(?P<name>[^|]+?)(?P<others>):\s+(?P<classes>[^|]+)")
_REMOVAL = compile_late(r"-\s+(?P<name>[^|,:]+)")
_NO_ENTRY = compile_late(r"#.*|```.*|-{3,}|={3,}|")


@dataclass(frozen=True, slots=True)
class UserTerms:
    """Entries, as lines of a table; names to leave out; and lines that are neither."""

    entries: tuple[str, ...]
    removed: tuple[str, ...]
    unreadable: tuple[str, ...]


def parse_user_terms(text: str) -> UserTerms:
    """Return what the lines of a text say."""
    entries, removed, unreadable = [], [], []
    for line in text.splitlines()[:MAX_LINES]:
        given = line.strip()
        entry = _ENTRY.fullmatch(given) or _SHORT_ENTRY.fullmatch(given)
        if entry and _is_entry(entry):
            entries.append(f"{entry['name'].strip()} | {entry['others']} | {entry['classes']}")
        elif gone := _REMOVAL.fullmatch(given):
            removed.append(gone["name"].strip())
        elif not _NO_ENTRY.fullmatch(given):
            unreadable.append(given)
    return UserTerms(tuple(entries), tuple(removed), tuple(unreadable))


def _is_entry(entry: re.Match[str]) -> bool:
    """Whether it has one name, and something to say about it."""
    said = entry["others"] + entry["classes"]
    return _has_letter(entry["name"]) and _has_letter(said) and "," not in entry["name"]


def _has_letter(text: str) -> bool:
    return any(map(str.isalnum, text))
