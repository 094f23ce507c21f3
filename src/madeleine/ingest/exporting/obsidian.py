"""An Obsidian vault: a note for each memory, named by its title, with wikilinks for connections.

    ---
    id: 97acbe8e-…
    type: decision
    tags:
      - storage
    created: 2026-11-15T18:04:00
    ---
    Chose SQLite over Postgres for local-first.

    <!-- madeleine:connections -->
    ## Connections
    - evolved_from [[Postgres for everything]] (newer decision about the same subject)

The notes lie in a folder for each space. `madeleine import obsidian` takes them back, changed or
not, as the memories they were. A text may link to a name that another note has here, since the
memories come from more than one vault; such a link is named under `not_linked`, and no connection
comes of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from madeleine.ingest.exporting.writing import Items, new_folder
from madeleine.ingest.importing.notes import LinkTargets, links_in
from madeleine.ingest.importing.obsidian import CONNECTIONS, MARK, NOT_LINKED
from madeleine.language.late_pattern import compile_late
from madeleine.model.codec import Json
from madeleine.model.memory import SHORT_ID_LENGTH, first_words
from madeleine.model.times import parse_time

NAME_CHARS = 100  # of a note's file: some systems take 255 bytes, and scripts take up to 4 each
NAME_BYTES = 200
_FORBIDDEN = compile_late(r"[\x00-\x1f\x7f\[\]#^|\\/:*?\"<>]+")
_PLAIN = compile_late(r"[A-Za-z_][\w .,()/-]*")
_RESERVED = compile_late(r"(?i:true|false|yes|no|null|on|off|~)")


class NoteNames:
    """How the notes are called: each by its title, and of several with one title all but the
    first also by its id. Only names are kept, whatever the store's size."""

    def __init__(self, items: Items) -> None:
        self.count = 0
        self._names: dict[str, str] = {}
        self._places = LinkTargets()
        taken: set[str] = set()
        for item in items:
            self.count += 1
            name = _note_name(item)
            if name.lower() in taken:
                name = f"{name} {str(item['id'])[:SHORT_ID_LENGTH]}"
            if name.lower() in taken:
                name = f"{_note_name(item)} {item['id']}"
            taken.add(name.lower())
            self._names[str(item["id"])] = name
            self._places.add(str(item["id"]), name)
            self._places.add_others(str(item["id"]), str(item.get("title") or ""))

    def of(self, memory_id: object) -> str | None:
        return self._names.get(str(memory_id))

    def meant_by(self, link: str) -> str | None:
        """Return the memory whose note a link leads to here, whatever it meant elsewhere."""
        return self._places.find(link)


def write(path: Path, names: NoteNames, items: Items) -> int:
    """Write a note for each memory; `names` were made of the same memories before."""
    count = 0
    with new_folder(path) as top:
        for item in items:
            name = names.of(item["id"])
            if name is None:
                continue  # it came while we wrote: the next export has it
            folder = top / (_clean(str(item.get("space") or "")) or "")
            folder.mkdir(exist_ok=True)
            note = folder / f"{name}.md"
            note.write_text(_render_note(item, names), encoding="utf-8", newline="\n")
            count += 1
    return count


def _note_name(item: Json) -> str:
    title = _clean(str(item.get("title") or "")) or _clean(first_words(str(item["content"])))
    return title or str(item["id"])[:SHORT_ID_LENGTH]


def _clean(text: str) -> str:
    """Return a text as Obsidian and every file system take it for a name."""
    name = " ".join(_FORBIDDEN.sub(" ", text).split())[:NAME_CHARS].strip(" .")
    while len(name.encode("utf-8")) > NAME_BYTES:
        name = name[:-1]
    return name


# -- a note --------------------------------------------------------------------------------


def _render_note(item: Json, names: NoteNames) -> str:
    links = list(_render_links(item, names))
    text = str(item["content"])
    # A text that has our mark in it gets another one after it: the last one is ours.
    ending = "\n".join([f"\n\n{CONNECTIONS}", *links]) if links or MARK in text else ""
    return f"---\n{''.join(_render_properties(item, names))}---\n{text}{ending}\n"


def _render_properties(item: Json, names: NoteNames) -> Iterator[str]:
    yield f"id: {item['id']}\n"
    for key in ("type", "tier", "space", "title", "source"):
        if item.get(key):
            yield f"{key}: {_render_scalar(str(item[key]))}\n"
    yield from _render_list(
        "tags", (_render_tag(str(each)) for each in _read_texts(item.get("tags")))
    )
    for key in ("created", "updated", "valid_until"):
        if item.get(key):
            yield f"{key}: {_render_time(item[key])}\n"
    if item.get("confidence") not in (None, 1.0):
        yield f"confidence: {item['confidence']}\n"
    successor = names.of(item.get("superseded_by"))
    if successor:
        yield f'superseded_by: "[[{successor}]]"\n'
    yield from _render_list(NOT_LINKED, _find_unlinked(item, names))
    origin = item.get("origin")
    if isinstance(origin, Mapping) and origin.get("uri"):
        yield f"origin: {_render_scalar(str(origin['uri']))}\n"


def _render_list(key: str, values: Iterable[str]) -> Iterator[str]:
    found = list(values)
    if found:
        yield f"{key}:\n" + "".join(f"  - {_render_scalar(each)}\n" for each in found)


def _render_tag(tag: str) -> str:
    """Return a tag as Obsidian takes it: it may not begin with a digit."""
    clean = re.sub(r"[^\w/-]+", "-", tag)
    return f"_{clean}" if clean[:1].isdigit() else clean


def _read_texts(value: object) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else []


def _render_scalar(text: str) -> str:
    """Return a text as YAML takes it on one line."""
    if _PLAIN.fullmatch(text) and not _RESERVED.fullmatch(text) and text == text.strip():
        return text
    return json.dumps(text, ensure_ascii=False)


def _render_time(value: object) -> str:
    return parse_time("time", value).strftime("%Y-%m-%dT%H:%M:%S")


def _find_unlinked(item: Json, names: NoteNames) -> Iterator[str]:
    """Give the links in a memory's text that lead to one it is not connected to."""
    ends = {str(item["id"]), *(str(each["target"]) for each in _read_connections(item))}
    for link in links_in(str(item["content"])):
        target = names.meant_by(link.target)
        if target is not None and target not in ends:
            yield link.target


def _read_connections(item: Json) -> list[Json]:
    connections = item.get("connections")
    return connections if isinstance(connections, list) else []


def _render_links(item: Json, names: NoteNames) -> Iterator[str]:
    for each in _read_connections(item):
        name = names.of(each["target"])
        shown = f"[[{name}]]" if name else f"`{each['target']}`"
        reason = " ".join(str(each.get("reason") or "").split())
        yield f"- {each['edge']} {shown}" + (f" ({reason})" if reason else "")
