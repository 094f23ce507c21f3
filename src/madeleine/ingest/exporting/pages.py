"""A page of what is to be exported: memories in the order of their ids, with their files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from madeleine.ingest.memory_fields import memory_fields, usage_fields
from madeleine.model.codec import Json
from madeleine.model.memory import Memory
from madeleine.model.query import Filter
from madeleine.model.stored_memory import StoredMemory
from madeleine.vault.markdown import render_memory
from madeleine.vault.vault import TRASH
from madeleine.write.stores import Stores

PAGE_BYTES = 8_000_000  # of texts in one page; a single memory may be more


@dataclass(frozen=True, slots=True)
class ExportedPage:
    """Some memories, and the id from which to go on; none when these were the last."""

    items: Sequence[Json] = field(default_factory=list)
    next: str | None = None


def read_page(
    stores: Stores, chosen: Filter, now: datetime, after: str, limit: int, files: bool
) -> ExportedPage:
    """Return the next memories that pass the filter; with `files` the text of each file."""
    items: list[Json] = []
    size = 0
    ids = stores.search.ids_after(after, limit)
    allowed = stores.search.select_allowed(ids, chosen, now)
    for memory_id in ids:
        after = memory_id
        stored = stores.search.get(memory_id) if memory_id in allowed else None
        if stored is None:
            continue
        items.append(_build_item(stores, stored, files))
        size += len(stored.memory.content)
        if size >= PAGE_BYTES:
            break
    more = bool(ids) and (after != ids[-1] or len(ids) == limit)
    return ExportedPage(items, after if more else None)


def read_trash(stores: Stores, files: bool) -> ExportedPage:
    """Return what was forgotten, the same way and all at once: there is little of it."""
    found = sorted(stores.vault.trashed_memories(), key=lambda each: (each.memory.id, each.path))
    return ExportedPage([{**_build_item(stores, each, files), "trashed": True} for each in found])


def _build_item(stores: Stores, stored: StoredMemory, files: bool) -> Json:
    """Return one memory. Its file's text comes along where it says more than the fields do."""
    text = _read_text(stores, stored.path)
    item: Json = {**memory_fields(stored.memory), "path": stored.path.removeprefix(f"{TRASH}/")}
    usage = usage_fields(stored.memory.usage)
    if usage:
        item["usage"] = usage
    if files:
        item["file"] = text if text is not None else _render_file(stored.memory)
    elif text is not None and _says_more(text, stored):
        item["file"] = text
    return item


def _read_text(stores: Stores, path: str) -> str | None:
    data = stores.vault.bytes_or_none(path)
    try:
        return None if data is None else data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _render_file(memory: Memory) -> str:
    return render_memory(memory).decode("utf-8")


def _says_more(text: str, stored: StoredMemory) -> bool:
    """Whether a file is not as we would write it: it has comments, or keys of other programs."""
    return text != _render_file(stored.memory)
