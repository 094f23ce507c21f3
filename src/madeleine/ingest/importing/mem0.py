"""mem0: what `get_all` answers, `{"results": [{"id", "memory", …}]}`, as a JSON file or lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from madeleine.ingest.importing.json_files import read_lines, read_whole
from madeleine.ingest.importing.sources import SourceFile, find_one_file, source_on_disk
from madeleine.ingest.importing.values import (
    ImportItem,
    ImportProblem,
    ImportTotal,
    Json,
    NotThatFormat,
    ReaderOutput,
    drop_empty,
    given_id,
    read_foreign_time,
)

FORM = "mem0"
LISTS = ("results", "memories", "data")


def read(path: Path) -> Iterator[ReaderOutput]:
    """Give every memory of an answer."""
    file = find_one_file(path, "what get_all answers, as one file,")
    source = source_on_disk(file, file.name)
    found = _read_json_lines(source) if file.suffix == ".jsonl" else _read_list(source)
    yield ImportTotal(len(found))
    for number, said in enumerate(found, start=1):
        place = f"{source.name}: memory {number}"
        yield _build_item(said, place)


def _read_json_lines(source: SourceFile) -> list[object]:
    with source.opened() as stream:
        return [said for _, said in read_lines(stream)]


def _read_list(source: SourceFile) -> Sequence[object]:
    said = read_whole(source)
    if isinstance(said, Mapping):
        said = next((said[name] for name in LISTS if isinstance(said.get(name), list)), None)
    if not isinstance(said, list):
        raise NotThatFormat(source.name, "is no answer of get_all", 'it has a list "results"')
    return said


def _build_item(said: object, place: str) -> ReaderOutput:
    if isinstance(said, ValueError):
        return ImportProblem(place, f"not JSON: {said}")
    if not isinstance(said, Mapping):
        return ImportProblem(place, "not a JSON object")
    text = said.get("memory") or said.get("text") or said.get("data")
    if not isinstance(text, str) or not text.strip():
        return ImportProblem(place, "has no `memory`")
    return ImportItem(_memory_values(said, text), place)


def _memory_values(said: Mapping[str, object], text: str) -> Json:
    metadata = said.get("metadata")
    extra: Mapping[str, object] = metadata if isinstance(metadata, Mapping) else {}
    who = ("user_id", "agent_id", "app_id", "run_id")
    where = "/".join(f"{name}={said[name]}" for name in who if said.get(name))
    return drop_empty(
        id=given_id(FORM, said.get("id") or text, where),
        content=text,
        tags=_collect_tags(said.get("categories"), extra.get("category"), extra.get("tags")),
        created=read_foreign_time(said.get("created_at")),
        updated=read_foreign_time(said.get("updated_at"))
        or read_foreign_time(said.get("created_at")),
        source=f"import:{FORM}",
        origin=drop_empty(uri=f"{FORM}:{where}" if where else None, session=said.get("run_id")),
        plain=True,
    )


def _collect_tags(*given: object) -> list[str]:
    found: list[str] = []
    for each in given:
        found += [str(tag) for tag in each] if isinstance(each, list) else [str(each or "")]
    return [each for each in dict.fromkeys(found) if each]
