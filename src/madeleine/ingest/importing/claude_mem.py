"""claude-mem: its database `claude-mem.db`, or the JSON that its export writes.

    {"observations": [{"memory_session_id": "…", "project": "atlas", "type": "decision",
      "title": "…", "narrative": "…", "facts": "[\"…\"]", "concepts": "[\"…\"]",
      "created_at_epoch": 1763229840000, …}], "summaries": […], "sessions": […], "prompts": […]}

An observation is one memory, in the space of its project; a summary of a session is one in the
archive; a directive that holds is a preference. What a person typed word for word stays out. Rows
are known by what claude-mem itself knows them by when it imports: their session, time and title,
since their numbers differ from machine to machine.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

from madeleine.ingest.importing.json_files import read_whole
from madeleine.ingest.importing.sources import find_one_file, source_on_disk
from madeleine.ingest.importing.sqlite_files import ForeignTables, is_sqlite, open_foreign
from madeleine.ingest.importing.values import (
    ImportItem,
    ImportNote,
    ImportProblem,
    ImportTotal,
    Json,
    NotThatFormat,
    ReaderOutput,
    drop_empty,
    read_foreign_time,
    stable_id,
)
from madeleine.ingest.importing.words import map_type
from madeleine.model.times import format_time
from madeleine.model.words import MemoryKind, MemoryType, Tier

FORM = "claude-mem"
DATABASE = "claude-mem.db"
SUMMARY_TAG = "session-summary"
_OBSERVATIONS, _SUMMARIES, _DIRECTIVES = "observations", "session_summaries", "directives"
_TYPES = MappingProxyType(
    {
        "decision": MemoryType.DECISION,
        "discovery": MemoryType.FACT,
        "bugfix": MemoryType.EVENT,
        "feature": MemoryType.EVENT,
        "refactor": MemoryType.EVENT,
        "change": MemoryType.EVENT,
    }
)
"""What claude-mem calls an observation: what was found out, decided, or done."""
_SUMMARY_PARTS = ("request", "investigated", "learned", "completed", "next_steps", "notes")

Row = Mapping[str, object]


def read(path: Path) -> Iterator[ReaderOutput]:
    """Give every observation, summary and directive."""
    file = _find_file(path)
    if is_sqlite(file):
        with open_foreign(file) as tables:
            yield from _read_database(tables)
    else:
        yield from _read_export(file)


def _find_file(path: Path) -> Path:
    database = path / DATABASE
    return database if database.is_file() else find_one_file(path, DATABASE, DATABASE)


def _read_database(tables: ForeignTables) -> Iterator[ReaderOutput]:
    names = tables.names()
    if not {_OBSERVATIONS, _SUMMARIES} & names:
        raise NotThatFormat(tables.path, "is a database without observations of claude-mem")
    yield ImportTotal(sum(map(tables.count, (_OBSERVATIONS, _SUMMARIES, _DIRECTIVES))))
    name = tables.path.name
    for table, build in (
        (_OBSERVATIONS, _build_observation),
        (_SUMMARIES, _build_summary),
        (_DIRECTIVES, _build_directive),
    ):
        if table not in names:
            continue  # an older release has none
        for row in tables.rows(f'SELECT * FROM "{table}" ORDER BY id'):
            yield from build(row, f"{name}: {table} {row['id']}")
    yield from _note_prompts(tables.count("user_prompts"))


def _read_export(file: Path) -> Iterator[ReaderOutput]:
    said = read_whole(source_on_disk(file, file.name))
    if not isinstance(said, Mapping) or not isinstance(said.get(_OBSERVATIONS), list):
        raise NotThatFormat(file, "is no export of claude-mem", 'it has a list "observations"')
    lists = [(_OBSERVATIONS, _build_observation), ("summaries", _build_summary)]
    rows = {name: _read_rows(said.get(name)) for name, _ in lists}
    yield ImportTotal(sum(map(len, rows.values())))
    for name, build in lists:
        for number, row in enumerate(rows[name], start=1):
            place = f"{file.name}: {name} {number}"
            if isinstance(row, Mapping):
                yield from build(row, place)
            else:
                yield ImportProblem(place, "not a JSON object")
    yield from _note_prompts(len(_read_rows(said.get("prompts"))))


def _read_rows(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else []


def _note_prompts(count: int) -> Iterator[ImportNote]:
    if count:
        prompts = "1 prompt stays" if count == 1 else f"{count:,} prompts stay"
        yield ImportNote(f"{prompts} out: what was typed, word for word")


# -- one row of each kind ------------------------------------------------------------------


def _build_observation(row: Row, place: str) -> Iterator[ReaderOutput]:
    title, kind = _text(row, "title"), _text(row, "type").lower()
    told = _text(row, "narrative") or _text(row, "text")
    facts = [f"- {each}" for each in _read_list(row.get("facts")) if each not in told]
    parts = [_text(row, "subtitle"), told, "\n".join(facts)]
    content = "\n\n".join(each for each in parts if each) or title
    if not content:
        yield ImportProblem(place, "says nothing")
        return
    files = [*_read_list(row.get("files_read")), *_read_list(row.get("files_modified"))]
    yield ImportItem(
        drop_empty(
            id=_row_id("observation", row, title or content),
            content=content,
            title=title,
            type=_TYPES[kind].value if kind in _TYPES else map_type(kind, MemoryType.OBSERVATION),
            tags=list(dict.fromkeys([*_read_list(row.get("concepts")), kind])),
            metadata={"files": list(dict.fromkeys(files))} if files else None,
            **_common_values(row),
        ),
        place,
    )


def _build_summary(row: Row, place: str) -> Iterator[ReaderOutput]:
    parts = [(each, _text(row, each)) for each in _SUMMARY_PARTS]
    told = [f"{name.replace('_', ' ').capitalize()}: {text}" for name, text in parts if text]
    if not told:
        yield ImportProblem(place, "says nothing")
        return
    yield ImportItem(
        drop_empty(
            id=_row_id("summary", row, _text(row, "request")),
            content="\n\n".join(told),
            title=" ".join(_text(row, "request").split()),
            type=MemoryType.OBSERVATION.value,
            tier=Tier.ARCHIVAL.value,
            tags=[SUMMARY_TAG],
            **_common_values(row),
        ),
        place,
    )


def _build_directive(row: Row, place: str) -> Iterator[ReaderOutput]:
    content = _text(row, "content")
    if not content:
        yield ImportProblem(place, "says nothing")
    elif _text(row, "status") == "active":
        values = _common_values(row) if _text(row, "scope") == "project" else {}
        yield ImportItem(
            drop_empty(
                id=stable_id(FORM, "directive", _text(row, "project"), content),
                content=content,
                type=MemoryType.PREFERENCE.value,
                kind=MemoryKind.STANDING.value,
                source=f"import:{FORM}",
                created=_read_created(row),
                space=values.get("space"),
            ),
            place,
        )


def _common_values(row: Row) -> Json:
    """Return what every row says of where and when it was written."""
    session, turn = _text(row, "memory_session_id"), row.get("prompt_number")
    origin = drop_empty(session=session, turn=turn if isinstance(turn, int) and turn > 0 else None)
    created = _read_created(row)
    return {
        "space": _text(row, "merged_into_project") or _text(row, "project"),
        "source": f"import:{FORM}",
        "created": created,
        "updated": created,
        "origin": origin,
    }


def _row_id(kind: str, row: Row, name: str) -> str:
    session, at = _text(row, "memory_session_id"), _read_created(row) or ""
    return stable_id(FORM, kind, session, at, name)


def _read_created(row: Row) -> str | None:
    """Return when a row was written: its milliseconds, which it sorts by, else its text."""
    at = row.get("created_at_epoch")
    if isinstance(at, int) and not isinstance(at, bool) and 0 < at < 10**14:
        return format_time(datetime.fromtimestamp(at / 1_000, UTC))
    return read_foreign_time(row.get("created_at"))


def _text(row: Row, name: str) -> str:
    value = row.get(name)
    return value.strip() if isinstance(value, str) else ""


def _read_list(value: object) -> list[str]:
    """Return a list of texts that is kept as JSON; one that is no JSON is one text."""
    if isinstance(value, str) and value.strip():
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return [str(value).strip()]
    return [str(each).strip() for each in value if each] if isinstance(value, list) else []
