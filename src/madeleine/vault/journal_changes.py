"""Changes as the journal keeps them.

The event of a change holds each file as it was, whole, so that undo restores it byte for
byte. What the file became is kept as a hash only: enough to tell whether it still is so, and
the text itself stands in the vault. The index keeps the light form, without any text.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from madeleine.errors import Damaged
from madeleine.model.change import Change, FileEdit
from madeleine.model.event import Event, EventKind

JsonObject = dict[str, object]


@dataclass(frozen=True, slots=True)
class RecordedEdit:
    """One file's part of a recorded change. No `before`: the file was new."""

    memory_id: str
    path_before: str | None
    before: bytes | None
    path_after: str | None
    after_sha256: str | None


@dataclass(frozen=True, slots=True)
class RecordedChange:
    """A change read back from the journal: all that undo and recovery need."""

    id: str
    verb: str
    edits: tuple[RecordedEdit, ...]
    by: str = "unknown"
    reason: str | None = None
    run: str | None = None
    details: Mapping[str, object] = field(default_factory=dict)


def change_to_event(change: Change, event_id: str, at: datetime, device: str) -> Event:
    """Return the event that is written before any file of the change is touched."""
    body: JsonObject = {"change": change.id, "verb": change.verb, "by": change.by}
    if change.run is not None:
        body["run"] = change.run
    if change.reason is not None:
        body["reason"] = change.reason
    body["edits"] = [_edit_to_json(edit) for edit in change.edits]
    body["details"] = change.details
    return Event(id=event_id, at=at, kind=EventKind.CHANGED, device=device, body=body)


def event_to_change(event: Event) -> RecordedChange:
    """Return the change of a whole `changed` event.

    A light event is refused: a file whose text was left out must not pass for a new one.
    """
    body = event.body
    details = body.get("details")
    return RecordedChange(
        id=_read_text(event, body, "change"),
        verb=_read_text(event, body, "verb"),
        edits=tuple(_edit_from_json(event, edit) for edit in _read_edits(event)),
        by=_read_text(event, body, "by"),
        reason=_read_optional_text(event, body, "reason"),
        run=_read_optional_text(event, body, "run"),
        details=details if isinstance(details, Mapping) else {},
    )


def without_file_texts(event: Event) -> Event:
    """Return the event without the texts of files; any other event as it is.

    Never complains: one odd line must not keep the index from learning the others.
    """
    edits = event.body.get("edits")
    if event.kind is not EventKind.CHANGED or not isinstance(edits, list):
        return event
    body = {**event.body, "edits": [_drop_edit_text(edit) for edit in edits]}
    return Event(id=event.id, at=event.at, kind=event.kind, device=event.device, body=body)


def _drop_edit_text(edit: object) -> object:
    if not isinstance(edit, Mapping):
        return edit
    return {key: value for key, value in edit.items() if key != "before"}


def bytes_to_json(data: bytes) -> str | dict[str, str]:
    """Return UTF-8 as a plain string, which people can read, and anything else as base64."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode("ascii")}


def bytes_from_json(value: object) -> bytes:
    """Return the bytes that `bytes_to_json` described."""
    if isinstance(value, str):
        return value.encode("utf-8")
    encoded = value.get("base64") if isinstance(value, Mapping) else None
    if not isinstance(encoded, str):
        raise ValueError(f"{value!r:.40} is neither text nor base64")
    return base64.b64decode(encoded, validate=True)


def _edit_to_json(edit: FileEdit) -> JsonObject:
    return {
        "memory": edit.memory_id,
        "path_before": edit.path_before,
        "before": None if edit.before is None else bytes_to_json(edit.before),
        "path_after": edit.path_after,
        "after_sha256": None if edit.after is None else hashlib.sha256(edit.after).hexdigest(),
    }


def _edit_from_json(event: Event, edit: Mapping[str, object]) -> RecordedEdit:
    path_before = _read_optional_text(event, edit, "path_before")
    return RecordedEdit(
        memory_id=_read_text(event, edit, "memory"),
        path_before=path_before,
        before=None
        if path_before is None
        else _read_bytes_before(event, path_before, edit.get("before")),
        path_after=_read_optional_text(event, edit, "path_after"),
        after_sha256=_read_optional_text(event, edit, "after_sha256"),
    )


def _read_bytes_before(event: Event, path: str, value: object) -> bytes:
    try:
        return bytes_from_json(value)
    except ValueError as error:
        raise _unusable_event(event, f"holds no text of {path} as it was") from error


def _read_edits(event: Event) -> list[Mapping[str, object]]:
    edits = event.body.get("edits")
    if not isinstance(edits, list) or not all(isinstance(edit, Mapping) for edit in edits):
        raise _unusable_event(event, "holds no list of edits")
    return edits


def _read_text(event: Event, values: Mapping[str, object], key: str) -> str:
    value = _read_optional_text(event, values, key)
    if value is None:
        raise _unusable_event(event, f"holds no `{key}`")
    return value


def _read_optional_text(event: Event, values: Mapping[str, object], key: str) -> str | None:
    value = values.get(key)
    if value is not None and not isinstance(value, str):
        raise _unusable_event(event, f"holds `{key}` {value!r:.40}, not a text")
    return value


def _unusable_event(event: Event, problem: str) -> Damaged:
    return Damaged(
        f"change event `{event.id}` of {event.device} {problem}",
        hint="the change cannot be taken back by itself; the files are as they are",
    )
