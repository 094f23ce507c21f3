"""Taking all that the journal says about some memories out of it, for good.

The journal is append-only but for this and for compaction, which changes nothing of what it
says. Whoever purges a memory wants every copy of its text to be gone, and the journal holds
each file as it was before a change. So the lines that speak of the memory go, and those that
speak of others as well lose their part about it: an undo of such a change brings the others back.
Reports, reasons and questions that name or quote it lose that part too (`purged_memories`). A
summary of a cluster as it was is made of its members' sentences, so it goes with each of them.

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
from madeleine.vault.compaction import file_identity, temporary_file
from madeleine.vault.files import flush_to_disk, fsync_folder, open_private, write_all
from madeleine.vault.journal_changes import bytes_from_json
from madeleine.vault.journal_lines import parse_line, render_line
from madeleine.vault.markdown import read_memory
from madeleine.vault.purged_memories import PurgedMemories

_QUOTING_KINDS = re.compile(rb'"kind":"(?:changed|proposed|judged|run|state)"')
"""Lines in which a memory may be quoted that they do not name."""
_MEMBERS_KEY = (
    "members"  # of a summary that was written: without one of them it is about the others
)
TAKE_VERSION = "take_version"  # the verb of a question that holds the whole file of a memory
_PURGED_TEXT = "[purged]"  # in the place of a text that quotes a memory that is gone
_UNKNOWN_PATH = "purged.md"  # where a text out of the journal is said to stand
_KEPT_DETAILS = frozenset({"undoes", "outcomes", "deeds", "reasons"})
"""Of a change that goes on about others; the rest may hold texts."""


@dataclass(slots=True)
class RedactionReport:
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


def read_former_texts(path: Path, gone: PurgedMemories) -> list[bytes]:
    """Return the files of the memories as they were, as far as a journal file has them, and the
    summaries that were made of them."""
    with path.open("rb") as file:
        return find_former_texts(file, gone)


def find_former_texts(lines: Iterable[bytes], gone: PurgedMemories) -> list[bytes]:
    """Return what lines of the journal hold of them."""
    texts: list[bytes] = []
    for line in lines:
        event = parse_line(line) if gone.has_id_in(_decode_line(line)) else None
        if isinstance(event, Event) and event.kind is EventKind.CHANGED:
            texts += [
                _read_bytes_before(each)
                for each in _read_edits(event)
                if _is_edit_of_purged(each, gone)
            ]
    return [each for each in texts if each]


def parse_former_memory(text: bytes) -> Memory | None:
    """Return the memory that a file was; nothing if nobody could read it."""
    try:
        return read_memory(_UNKNOWN_PATH, text, Fingerprint(0, 0)).memory
    except FileUnreadable:
        return None


def redact_file(
    path: Path, gone: PurgedMemories, still: AbstractContextManager[object], found: RedactionReport
) -> None:
    """Rewrite one journal file without what it says about the memories, if it says anything."""
    before, part, lines = file_identity(path), RedactionReport(), list[bytes]()
    changed = False
    with path.open("rb") as file:
        for line in file:
            kept = redact_line(line, gone, part)
            changed = changed or kept is not line
            lines.append(kept)
    if changed and not _replace_if_unchanged(path, lines, before, still):
        found.busy.append(path.name)
        return
    found.dropped += part.dropped
    found.cut += part.cut
    found.left += part.left
    found.texts += part.texts


def _replace_if_unchanged(
    path: Path,
    lines: list[bytes],
    before: tuple[int, int, int],
    still: AbstractContextManager[object],
) -> bool:
    with temporary_file(path) as new:
        with open_private(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL) as fd:
            write_all(fd, b"".join(lines))
            flush_to_disk(fd)
        with still:
            if file_identity(path) != before:
                return False
            new.replace(path)
            fsync_folder(path.parent)
    return True


def redact_line(line: bytes, gone: PurgedMemories, found: RedactionReport) -> bytes:
    """Return what stays of a line: the very same object, if all of it does."""
    named = gone.has_id_in(_decode_line(line))
    if not named and not _QUOTING_KINDS.search(line):
        return line
    event = parse_line(line)
    if not isinstance(event, Event):
        found.left += named
        return line
    kept = redact_event(event, gone, found.texts)
    if kept is None:
        found.dropped += 1
        return b""
    found.cut += kept is not event
    rest = line if kept is event else render_line(kept, event.device)
    found.left += gone.has_id_in(_decode_line(rest))
    return rest


def _decode_line(line: bytes) -> str:
    return line.decode("utf-8", "replace")


# -- events --------------------------------------------------------------------------------


def redact_event(event: Event, gone: PurgedMemories, texts: list[bytes]) -> Event | None:
    """Return an event without what it says about the memories; nothing if that is all it says,
    and the event itself if it speaks of others that merely name them. Texts that go are added."""
    if _is_about(event, gone):
        return None
    if event.kind is EventKind.PROPOSED and _holds_other_file(event.body):
        return event
    if event.kind is EventKind.CHANGED:
        return _redact_change(event, gone, texts)
    body = _prune_mapping(event.body, gone)
    return event if body == event.body else replace(event, body=body)


def _is_about(event: Event, gone: PurgedMemories) -> bool:
    """Whether an event speaks of such a memory, or of it and another together. A question that
    quotes one cannot be asked without it."""
    body = event.body
    several = [body.get(key) for key in ("nodes", "pair")]
    named = [each for some in several if isinstance(some, list) for each in some]
    if any(isinstance(each, str) and each in gone.ids for each in (body.get("memory"), *named)):
        return True
    if event.kind is not EventKind.PROPOSED or _holds_other_file(body):
        return False
    return _is_question_about(body, gone)


def _holds_other_file(body: Mapping[str, object]) -> bool:
    """Whether a question holds what another memory's file said. That stays, as the file would: a
    connection with the id of one that is gone, say."""
    action = body.get("action")
    return isinstance(action, Mapping) and action.get("verb") == TAKE_VERSION


def _is_question_about(body: Mapping[str, object], gone: PurgedMemories) -> bool:
    action = body.get("action")
    said = list(action.values()) if isinstance(action, Mapping) else []
    return _mentions([said, *(body[key] for key in body if key != "action")], gone)


def _redact_change(event: Event, gone: PurgedMemories, texts: list[bytes]) -> Event | None:
    listed = _read_edits(event)
    going = [each for each in listed if _is_edit_of_purged(each, gone)]
    texts += [_read_bytes_before(each) for each in going if each.get("before") is not None]
    staying = [each for each in listed if not _is_edit_of_purged(each, gone)]
    if going and not staying:
        return None
    edits = {"edits": staying} if going else {}
    body = {**_redact_change_body(event.body, gone, bool(going)), **edits}
    return event if body == event.body else replace(event, body=body)


def _redact_change_body(
    body: Mapping[str, object], gone: PurgedMemories, cut: bool
) -> dict[str, object]:
    """Return a change without what it says about the memories beside the files. Of one that loses
    a file too, all goes that may hold texts."""
    details = body.get("details")
    kept = dict(details) if isinstance(details, Mapping) else {}
    if cut:
        kept = {key: kept[key] for key in kept if key in _KEPT_DETAILS}
    about = _find_shared_deeds(kept, gone)
    if about and isinstance(kept.get("reasons"), Mapping):
        kept["reasons"] = {key: kept["reasons"][key] for key in kept["reasons"] if key not in about}
    told = {key: each for key, each in body.items() if key not in ("edits", "details")}
    plain = {key: each for key, each in told.items() if key != "reason" or not (cut or about)}
    rest = {"edits": body["edits"]} if "edits" in body else {}
    return {**_prune_mapping(plain, gone), **rest, "details": _prune_mapping(kept, gone)}


def _find_shared_deeds(details: Mapping[str, object], gone: PurgedMemories) -> set[str]:
    """Return all that a job did something to together with such a memory: why it did is about
    both."""
    deeds = details.get("deeds")
    lost = [each for each in deeds if _mentions(each, gone)] if isinstance(deeds, list) else []
    nodes = [each.get("nodes") for each in lost if isinstance(each, Mapping)]
    return {str(each) for some in nodes if isinstance(some, list) for each in some}


def _read_edits(event: Event) -> list[Mapping[str, object]]:
    edits = event.body.get("edits")
    return [each for each in edits if isinstance(each, Mapping)] if isinstance(edits, list) else []


def _read_bytes_before(edit: Mapping[str, object]) -> bytes:
    """Return a file as it was; empty if it was not there."""
    return b"" if edit.get("before") is None else bytes_from_json(edit["before"])


def _is_edit_of_purged(edit: Mapping[str, object], gone: PurgedMemories) -> bool:
    """Whether a file's part of a change tells what such a memory said."""
    return edit.get("memory") in gone.ids or _is_former_summary(edit, gone)


def _is_former_summary(edit: Mapping[str, object], gone: PurgedMemories) -> bool:
    """Whether a file as it was is a summary of a cluster with such a memory in it."""
    text = _read_bytes_before(edit)
    if META_SOURCE.encode() not in text or not gone.has_id_in(_decode_line(text)):
        return False
    memory = parse_former_memory(text)
    return memory is not None and is_summary_of(memory, gone)


def is_summary_of(memory: Memory, gone: PurgedMemories) -> bool:
    """Whether a memory is a summary that was made of such a memory, among others."""
    members = {each.target for each in memory.connections if each.edge is Edge.SUMMARIZES}
    return memory.source == META_SOURCE and not members.isdisjoint(gone.ids)


def _prune_mapping(value: Mapping[str, object], gone: PurgedMemories) -> dict[str, object]:
    """Return plain values without the keys and values that are such an id, and without the items
    of lists that mention one anywhere: an item of a report is about one patch."""
    return {
        key: _prune_value(each, gone)
        for key, each in value.items()
        if key not in gone.ids and not (isinstance(each, str) and each in gone.ids)
    }


def _prune_value(value: object, gone: PurgedMemories) -> object:
    match value:
        case str():
            return _PURGED_TEXT if gone.is_named_in(value) else value
        case Mapping():
            return _prune_mapping(value, gone)
        case list():
            return [_prune_value(each, gone) for each in value if not _mentions(each, gone)]
        case _:
            return value


def _mentions(value: object, gone: PurgedMemories) -> bool:
    match value:
        case str():
            return gone.is_named_in(value)
        case Mapping():
            return any(
                key in gone.ids or (key != _MEMBERS_KEY and _mentions(each, gone))
                for key, each in value.items()
            )
        case list():
            return any(_mentions(each, gone) for each in value)
        case _:
            return False
