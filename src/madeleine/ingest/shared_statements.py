"""Which files state one memory.

Two files with the same words share a memory, so that it is kept once. What several state is not
changed for one of them. The journal keeps, for such a memory, the addresses of the files.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from madeleine.model.event import Event, EventKind
from madeleine.model.memory import Memory
from madeleine.write.record import new_event
from madeleine.write.stores import Stores


def origin_file(memory: Memory) -> str:
    """Return the address of the file that a memory came of, without its section."""
    told = memory.origin.uri if memory.origin and memory.origin.uri else ""
    return told.partition("#")[0]


def stating_files(stores: Stores, memory: Memory) -> list[str]:
    """Return the files that have stated a memory, and perhaps still do."""
    value = stores.log.state(_stated_key(stores, memory.id))
    known = [str(each) for each in value] if isinstance(value, list) else []
    return list(dict.fromkeys(each for each in (*known, origin_file(memory)) if each))


def build_stated_events(stores: Stores, memory: Memory, uri: str) -> list[Event]:
    """Return the event that says a file states a memory too; none where that is known."""
    known = stating_files(stores, memory)
    if uri in known:
        return []
    value = {"key": _stated_key(stores, memory.id), "value": [*known, uri]}
    return [new_event(stores, EventKind.STATE, value)]


def file_exists(uri: str) -> bool:
    """Whether a file is, as far as one can tell: one that was renamed or deleted is not."""
    told = urlsplit(uri)
    return told.scheme != "file" or Path(unquote(told.path)).exists()


def _stated_key(stores: Stores, memory_id: str) -> str:
    return f"stated:{stores.journal.device}:{memory_id}"
