"""mem0: what `get_all` answers, `{"results": [{"id", "memory", …}]}`, as a JSON file or lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from madeleine.ingest.importing.json_files import lines, whole
from madeleine.ingest.importing.sources import Source, on_disk, the_file
from madeleine.ingest.importing.values import (
    Broken,
    Found,
    Item,
    Json,
    NotThatFormat,
    Total,
    filled,
    given_id,
    time_of,
)

FORM = "mem0"
LISTS = ("results", "memories", "data")


def read(path: Path) -> Iterator[Found]:
    """Give every memory of an answer."""
    file = the_file(path, "what get_all answers, as one file,")
    source = on_disk(file, file.name)
    found = _lines(source) if file.suffix == ".jsonl" else _listed(source)
    yield Total(len(found))
    for number, said in enumerate(found, start=1):
        place = f"{source.name}: memory {number}"
        yield _item(said, place)


def _lines(source: Source) -> list[object]:
    with source.opened() as stream:
        return [said for _, said in lines(stream)]


def _listed(source: Source) -> Sequence[object]:
    said = whole(source)
    if isinstance(said, Mapping):
        said = next((said[name] for name in LISTS if isinstance(said.get(name), list)), None)
    if not isinstance(said, list):
        raise NotThatFormat(source.name, "is no answer of get_all", 'it has a list "results"')
    return said


def _item(said: object, place: str) -> Found:
    if isinstance(said, ValueError):
        return Broken(place, f"not JSON: {said}")
    if not isinstance(said, Mapping):
        return Broken(place, "not a JSON object")
    text = said.get("memory") or said.get("text") or said.get("data")
    if not isinstance(text, str) or not text.strip():
        return Broken(place, "has no `memory`")
    return Item(_values(said, text), place)


def _values(said: Mapping[str, object], text: str) -> Json:
    metadata = said.get("metadata")
    extra: Mapping[str, object] = metadata if isinstance(metadata, Mapping) else {}
    who = ("user_id", "agent_id", "app_id", "run_id")
    where = "/".join(f"{name}={said[name]}" for name in who if said.get(name))
    return filled(
        id=given_id(FORM, said.get("id") or text, where),
        content=text,
        tags=_tags(said.get("categories"), extra.get("category"), extra.get("tags")),
        created=time_of(said.get("created_at")),
        updated=time_of(said.get("updated_at")) or time_of(said.get("created_at")),
        source=f"import:{FORM}",
        origin=filled(uri=f"{FORM}:{where}" if where else None, session=said.get("run_id")),
        plain=True,
    )


def _tags(*given: object) -> list[str]:
    found: list[str] = []
    for each in given:
        found += [str(tag) for tag in each] if isinstance(each, list) else [str(each or "")]
    return [each for each in dict.fromkeys(found) if each]
