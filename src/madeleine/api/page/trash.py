"""The trash: what was forgotten or merged away, when, by whom, and into what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from madeleine.api.contract.page_responses import TrashLine, TrashLines
from madeleine.api.contract.requests import PageTrashQuery
from madeleine.api.operation import operation
from madeleine.api.page.brief import build_brief, build_mention
from madeleine.errors import UnknownWord
from madeleine.model.event import Event, EventKind
from madeleine.model.memory import Memory
from madeleine.model.people import Role
from madeleine.model.request_reader import RequestReader
from madeleine.model.times import format_time
from madeleine.vault.vault import is_in_trash

if TYPE_CHECKING:
    from madeleine.api.call import OperationCall
    from madeleine.bootstrap import HomeContext
    from madeleine.write.stores import Stores

DEFAULT_LINES = 50
MAX_LINES = 200
MAX_EVENTS_READ = 20  # newest of a memory, among which the one that moved it is looked for
MERGED, FORGOTTEN = "merged", "forgotten"


@dataclass(frozen=True, slots=True)
class _TrashedLine:
    """A memory in the trash, and the event that moved it there, if it is known."""

    memory: Memory
    moved: Event | None

    @property
    def was_merged(self) -> bool:
        return self.moved is not None and self.moved.body.get("verb") == "merge"

    @property
    def sort_key(self) -> str:
        return format_time(self.moved.at) if self.moved else ""


@operation(
    "page_trash",
    "GET",
    "/ui/data/trash",
    "what was forgotten or merged away, newest first, with when, by whom and into what",
    role=Role.READER,
    query=PageTrashQuery,
    answer=TrashLines,
)
def list_trash_lines(context: HomeContext, call: OperationCall) -> TrashLines:
    """Return a page of the trash. A memory that was forgotten twice stands there once."""
    reader = RequestReader(call.query)
    words, how = (reader.text("words") or "").casefold(), reader.text("how")
    limit = reader.whole("limit", DEFAULT_LINES, 1, MAX_LINES)
    offset = reader.whole("offset", 0, 0, 1_000_000_000)
    reader.done()
    if how not in (None, MERGED, FORGOTTEN):
        raise UnknownWord("how", how, [FORGOTTEN, MERGED])
    stores = context.stores
    trashed = {each.memory.id: each.memory for each in stores.vault.trashed_memories()}
    lines = [_find_line(stores, each) for each in trashed.values() if _says(each, words)]
    wanted = [each for each in lines if how is None or each.was_merged == (how == MERGED)]
    wanted.sort(key=lambda each: each.sort_key, reverse=True)
    page = wanted[offset : offset + limit]
    keepers = stores.search.memories({_read_keeper(each.moved) for each in page} - {""})
    return TrashLines(
        memories=[_build_line(context, each, keepers) for each in page],
        total=len(wanted),
        all=len(trashed),
    )


def _says(memory: Memory, words: str) -> bool:
    return words in f"{memory.id}\n{memory.headline}\n{memory.content}".casefold()


def _find_line(stores: Stores, memory: Memory) -> _TrashedLine:
    events = stores.log.history(memory.id, MAX_EVENTS_READ)
    return _TrashedLine(memory, next((e for e in events if _moved_to_trash(e, memory.id)), None))


def _moved_to_trash(event: Event, memory_id: str) -> bool:
    edits = event.body.get("edits") if event.kind is EventKind.CHANGED else None
    return any(
        each.get("memory") == memory_id and is_in_trash(str(each.get("path_after") or ""))
        for each in (edits if isinstance(edits, list) else [])
        if isinstance(each, Mapping)
    )


def _read_keeper(moved: Event | None) -> str:
    details = moved.body.get("details") if moved else None
    return str(details.get("kept") or "") if isinstance(details, Mapping) else ""


def _build_line(
    context: HomeContext, line: _TrashedLine, keepers: Mapping[str, Memory]
) -> TrashLine:
    body: Mapping[str, object] = line.moved.body if line.moved else {}
    keeper = keepers.get(_read_keeper(line.moved))
    return TrashLine(
        **vars(build_brief(line.memory, context.stores.clock.now())),
        at=format_time(line.moved.at) if line.moved else None,
        by=_read_text(body, "by"),
        verb=_read_text(body, "verb"),
        reason=_read_text(body, "reason"),
        change=_read_text(body, "change"),
        into=build_mention(keeper) if keeper else None,
    )


def _read_text(body: Mapping[str, object], field: str) -> str | None:
    value = body.get(field)
    return value if isinstance(value, str) else None
