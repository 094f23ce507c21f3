"""Taking all that the journal says about some memories out of it, for good.

The journal is append-only but for this and for compaction, which changes nothing of what it
says. Whoever purges a memory wants every copy of its text to be gone, and the journal holds
each file as it was before a change. So the lines that speak of the memory go, and those that
speak of others as well lose their part about it: an undo of such a change brings the others back.
Reports, reasons and questions that name or quote it lose that part too (`quotes`). A summary of
a cluster as it was is made of its members' sentences, so it goes with each of them.

What other memories' files said about it, a connection with its id, is theirs and stays. So do
lines that cannot be read; they are counted.

Each file is written beside the old one and renamed over it. A kill leaves the one or the other,
and the next purge carries on.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path

from madeleine.errors import FileUnreadable
from madeleine.model.event import Event, EventKind
from madeleine.model.fingerprint import Fingerprint
from madeleine.model.memory import Memory
from madeleine.model.words import META_SOURCE, Edge
from madeleine.vault.compaction import identity, temporary
from madeleine.vault.files import fsync_folder, write_all
from madeleine.vault.journal_changes import bytes_from_json
from madeleine.vault.journal_files import opened
from madeleine.vault.journal_lines import parse_line, to_line
from madeleine.vault.markdown import read_memory
from madeleine.vault.quotes import Gone

_QUOTING = re.compile(rb'"kind":"(?:changed|proposed|judged|run|state)"')
"""Lines in which a memory may be quoted that they do not name."""
_EACH = "members"  # of a summary that was written: without one of them it is about the others
_PURGED = "[purged]"  # in the place of a text that quotes a memory that is gone
_NOWHERE = "purged.md"  # where a text out of the journal is said to stand
_KEPT_DETAILS = frozenset({"undoes", "outcomes", "deeds", "reasons"})
"""Of a change that goes on about others; the rest may hold texts."""


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


def former_texts(path: Path, gone: Gone) -> list[bytes]:
    """Return the files of the memories as they were, as far as a journal file has them, and the
    summaries that were made of them."""
    with path.open("rb") as file:
        return texts_in(file, gone)


def texts_in(lines: Iterable[bytes], gone: Gone) -> list[bytes]:
    """Return what lines of the journal hold of them."""
    texts: list[bytes] = []
    for line in lines:
        event = parse_line(line) if gone.has_id_in(_plain(line)) else None
        if isinstance(event, Event) and event.kind is EventKind.CHANGED:
            texts += [_before(each) for each in _edits(event) if _goes(each, gone)]
    return [each for each in texts if each]


def as_memory(text: bytes) -> Memory | None:
    """Return the memory that a file was; nothing if nobody could read it."""
    try:
        return read_memory(_NOWHERE, text, Fingerprint(0, 0)).memory
    except FileUnreadable:
        return None


def redact_file(
    path: Path, gone: Gone, still: AbstractContextManager[object], found: Redacted
) -> None:
    """Rewrite one journal file without what it says about the memories, if it says anything."""
    before, part, lines = identity(path), Redacted(), list[bytes]()
    changed = False
    with path.open("rb") as file:
        for line in file:
            kept = line_without(line, gone, part)
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


def line_without(line: bytes, gone: Gone, found: Redacted) -> bytes:
    """Return what stays of a line: the very same object, if all of it does."""
    named = gone.has_id_in(_plain(line))
    if not named and not _QUOTING.search(line):
        return line
    event = parse_line(line)
    if not isinstance(event, Event):
        found.left += named
        return line
    kept = without(event, gone, found.texts)
    if kept is None:
        found.dropped += 1
        return b""
    found.cut += kept is not event
    rest = line if kept is event else to_line(kept, event.device)
    found.left += gone.has_id_in(_plain(rest))
    return rest


def _plain(line: bytes) -> str:
    return line.decode("utf-8", "replace")


# -- events --------------------------------------------------------------------------------


def without(event: Event, gone: Gone, texts: list[bytes]) -> Event | None:
    """Return an event without what it says about the memories; nothing if that is all it says,
    and the event itself if it speaks of others that merely name them. Texts that go are added."""
    if _is_about(event, gone):
        return None
    if event.kind is EventKind.CHANGED:
        return _change_without(event, gone, texts)
    body = _pruned(event.body, gone)
    return event if body == event.body else replace(event, body=body)


def _is_about(event: Event, gone: Gone) -> bool:
    """Whether an event speaks of such a memory, or of it and another together. A question that
    quotes one cannot be asked without it."""
    body = event.body
    several = [body.get(key) for key in ("nodes", "pair")]
    named = [each for some in several if isinstance(some, list) for each in some]
    if any(isinstance(each, str) and each in gone.ids for each in (body.get("memory"), *named)):
        return True
    return event.kind is EventKind.PROPOSED and _is_asked_about(body, gone)


def _is_asked_about(body: Mapping[str, object], gone: Gone) -> bool:
    action = body.get("action")
    said = list(action.values()) if isinstance(action, Mapping) else []
    return _mentions([said, *(body[key] for key in body if key != "action")], gone)


def _change_without(event: Event, gone: Gone, texts: list[bytes]) -> Event | None:
    listed = _edits(event)
    going = [each for each in listed if _goes(each, gone)]
    texts += [_before(each) for each in going if each.get("before") is not None]
    staying = [each for each in listed if not _goes(each, gone)]
    if going and not staying:
        return None
    edits = {"edits": staying} if going else {}
    body = {**_said(event.body, gone, bool(going)), **edits}
    return event if body == event.body else replace(event, body=body)


def _said(body: Mapping[str, object], gone: Gone, cut: bool) -> dict[str, object]:
    """Return a change without what it says about the memories beside the files. Of one that loses
    a file too, all goes that may hold texts."""
    details = body.get("details")
    kept = dict(details) if isinstance(details, Mapping) else {}
    if cut:
        kept = {key: kept[key] for key in kept if key in _KEPT_DETAILS}
    about = _done_with(kept, gone)
    if about and isinstance(kept.get("reasons"), Mapping):
        kept["reasons"] = {key: kept["reasons"][key] for key in kept["reasons"] if key not in about}
    told = {key: each for key, each in body.items() if key not in ("edits", "details")}
    plain = {key: each for key, each in told.items() if key != "reason" or not (cut or about)}
    rest = {"edits": body["edits"]} if "edits" in body else {}
    return {**_pruned(plain, gone), **rest, "details": _pruned(kept, gone)}


def _done_with(details: Mapping[str, object], gone: Gone) -> set[str]:
    """Return all that a job did something to together with such a memory: why it did is about
    both."""
    deeds = details.get("deeds")
    lost = [each for each in deeds if _mentions(each, gone)] if isinstance(deeds, list) else []
    nodes = [each.get("nodes") for each in lost if isinstance(each, Mapping)]
    return {str(each) for some in nodes if isinstance(some, list) for each in some}


def _edits(event: Event) -> list[Mapping[str, object]]:
    edits = event.body.get("edits")
    return [each for each in edits if isinstance(each, Mapping)] if isinstance(edits, list) else []


def _before(edit: Mapping[str, object]) -> bytes:
    """Return a file as it was; empty if it was not there."""
    return b"" if edit.get("before") is None else bytes_from_json(edit["before"])


def _goes(edit: Mapping[str, object], gone: Gone) -> bool:
    """Whether a file's part of a change tells what such a memory said."""
    return edit.get("memory") in gone.ids or _sums_up(edit, gone)


def _sums_up(edit: Mapping[str, object], gone: Gone) -> bool:
    """Whether a file as it was is a summary of a cluster with such a memory in it."""
    text = _before(edit)
    if META_SOURCE.encode() not in text or not gone.has_id_in(_plain(text)):
        return False
    memory = as_memory(text)
    return memory is not None and is_summary_of(memory, gone)


def is_summary_of(memory: Memory, gone: Gone) -> bool:
    """Whether a memory is a summary that was made of such a memory, among others."""
    members = {each.target for each in memory.connections if each.edge is Edge.SUMMARIZES}
    return memory.source == META_SOURCE and not members.isdisjoint(gone.ids)


def _pruned(value: Mapping[str, object], gone: Gone) -> dict[str, object]:
    """Return plain values without the keys and values that are such an id, and without the items
    of lists that mention one anywhere: an item of a report is about one patch."""
    return {
        key: _prune(each, gone)
        for key, each in value.items()
        if key not in gone.ids and not (isinstance(each, str) and each in gone.ids)
    }


def _prune(value: object, gone: Gone) -> object:
    match value:
        case str():
            return _PURGED if gone.is_named_in(value) else value
        case Mapping():
            return _pruned(value, gone)
        case list():
            return [_prune(each, gone) for each in value if not _mentions(each, gone)]
        case _:
            return value


def _mentions(value: object, gone: Gone) -> bool:
    match value:
        case str():
            return gone.is_named_in(value)
        case Mapping():
            return any(
                key in gone.ids or (key != _EACH and _mentions(each, gone))
                for key, each in value.items()
            )
        case list():
            return any(_mentions(each, gone) for each in value)
        case _:
            return False
