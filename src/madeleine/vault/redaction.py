"""Taking all that the journal says about some memories out of it, for good.

The journal is append-only but for this and for compaction, which changes nothing of what it
says. Whoever purges a memory wants every copy of its text to be gone, and the journal holds
each file as it was before a change. So the lines that speak of the memory go, and those that
speak of others as well lose their part about it: an undo of such a change brings the others back.

What other memories' files said about it, a connection with its id, is theirs and stays. So do
lines that cannot be read; they are counted.

Each file is written beside the old one and renamed over it. A kill leaves the one or the other,
and the next purge carries on.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path

from madeleine.model.event import Event, Kind
from madeleine.vault.compaction import identity, temporary
from madeleine.vault.files import fsync_folder, write_all
from madeleine.vault.journal_changes import bytes_from_json
from madeleine.vault.journal_files import opened
from madeleine.vault.journal_lines import parse_line, to_line

_ID = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_KEPT_DETAILS = frozenset({"undoes", "outcomes", "deeds", "reasons"})
"""Of a change that goes on about others; the rest may hold texts."""

Ids = Collection[str]


@dataclass(slots=True)
class Redacted:
    """What became of the journal."""

    dropped: int = 0
    """Lines that spoke of nothing else."""
    cut: int = 0
    """Lines that lost their part about it."""
    left: int = 0
    """Lines that name it still: in another memory's file as it was, or in a line that cannot be
    read."""
    busy: list[str] = field(default_factory=list)
    """Files that grew meanwhile and stay as they are; the next purge looks at them again."""
    texts: list[bytes] = field(default_factory=list)
    """The files that were taken out, as they were."""


def redact_file(
    path: Path, ids: Ids, still: AbstractContextManager[object], found: Redacted
) -> None:
    """Rewrite one journal file without what it says about the ids, if it says anything."""
    before, part, lines = identity(path), Redacted(), list[bytes]()
    changed = False
    with path.open("rb") as file:
        for line in file:
            kept = _line(line, ids, part)
            changed = changed or kept is not line
            lines.append(kept)
    if changed and not _replaced(path, lines, before, still):
        found.busy.append(path.name)
        return
    found.dropped += part.dropped
    found.cut += part.cut
    found.left += part.left
    found.texts += part.texts


def _replaced(
    path: Path,
    lines: list[bytes],
    before: tuple[int, int, int],
    still: AbstractContextManager[object],
) -> bool:
    with temporary(path) as new:
        with opened(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL) as fd:
            write_all(fd, b"".join(lines))
            os.fsync(fd)
        with still:
            if identity(path) != before:
                return False
            new.replace(path)
            fsync_folder(path.parent)
    return True


def _line(line: bytes, ids: Ids, found: Redacted) -> bytes:
    """Return what stays of a line: the very same object, if all of it does."""
    if not _names(line, ids):
        return line
    event = parse_line(line)
    if not isinstance(event, Event):
        found.left += 1
        return line
    kept = without(event, ids, found.texts)
    if kept is None:
        found.dropped += 1
        return b""
    found.cut += kept is not event
    rest = line if kept is event else to_line(kept, event.device)
    found.left += _names(rest, ids)
    return rest


def _names(line: bytes, ids: Ids) -> bool:
    return any(each.decode("ascii") in ids for each in _ID.findall(line))


# -- events --------------------------------------------------------------------------------


def without(event: Event, ids: Ids, texts: list[bytes]) -> Event | None:
    """Return an event without what it says about the ids; nothing if that is all it says, and
    the event itself if it speaks of others that merely name them. Texts that go are added."""
    if _is_about(event, ids):
        return None
    if event.kind is Kind.CHANGED:
        return _change_without(event, ids, texts)
    body = _pruned(event.body, ids)
    return event if body == event.body else replace(event, body=body)


def _is_about(event: Event, ids: Ids) -> bool:
    """Whether an event speaks of such a memory, or of it and another together."""
    body = event.body
    several = [body.get(key) for key in ("nodes", "pair")]
    named = [each for some in several if isinstance(some, list) for each in some]
    return any(isinstance(each, str) and each in ids for each in (body.get("memory"), *named))


def _change_without(event: Event, ids: Ids, texts: list[bytes]) -> Event | None:
    edits = event.body.get("edits")
    listed = (
        [each for each in edits if isinstance(each, Mapping)] if isinstance(edits, list) else []
    )
    going = [each for each in listed if each.get("memory") in ids]
    if not going:
        return event
    texts += [bytes_from_json(each["before"]) for each in going if each.get("before") is not None]
    staying = [each for each in listed if each.get("memory") not in ids]
    if not staying:
        return None
    details = event.body.get("details")
    kept = details if isinstance(details, Mapping) else {}
    plain = _pruned({key: kept[key] for key in kept if key in _KEPT_DETAILS}, ids)
    body = {key: value for key, value in event.body.items() if key != "reason"}
    return replace(event, body={**body, "edits": staying, "details": plain})


def _pruned(value: Mapping[str, object], ids: Ids) -> dict[str, object]:
    """Return plain values without the keys that are such an id, and without the items of lists
    that name one anywhere: an item of a report is about one patch."""
    return {key: _prune(each, ids) for key, each in value.items() if key not in ids}


def _prune(value: object, ids: Ids) -> object:
    match value:
        case Mapping():
            return _pruned(value, ids)
        case list():
            return [_prune(each, ids) for each in value if not _mentions(each, ids)]
        case _:
            return value


def _mentions(value: object, ids: Ids) -> bool:
    match value:
        case str():
            return value in ids
        case Mapping():
            return any(key in ids or _mentions(each, ids) for key, each in value.items())
        case list():
            return any(_mentions(each, ids) for each in value)
        case _:
            return False
