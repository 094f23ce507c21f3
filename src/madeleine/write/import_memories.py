"""Bring in: memories from elsewhere, with their ids, dates, connections and use.

Bringing the same thing in twice adds nothing. A memory is known by its id, which an import makes
from what the thing is called at its source; one that is only a text is known by that. What changed
at its source since is revised here, unless it was changed here too: then it stays and that is told.
What was forgotten or merged away here does not come back.

All that one import writes bears its `run`, so that one undo takes it back. Stopping halfway is
safe: each portion is written whole, and the next import goes on from there.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from madeleine.errors import FileUnreadable, IdTaken, MadeleineError
from madeleine.index.port import IndexBatch
from madeleine.language.text_keys import same_text_key
from madeleine.model.change import Change, FileEdit
from madeleine.model.digest import source_digest, text_digest
from madeleine.model.event import Event, EventKind
from madeleine.model.fingerprint import NO_FINGERPRINT
from madeleine.model.incoming import ImportBatch, IncomingMemory
from madeleine.model.memory import Connection, Memory, Usage
from madeleine.model.times import format_time
from madeleine.model.words import ABOUT_SELF, SELF_SOURCE, Edge, MemoryType, Tier
from madeleine.vault.markdown import read_memory, render_memory
from madeleine.vault.vault import TRASH, is_memory_path
from madeleine.write.change_file import make_change_context, retry_on_conflict
from madeleine.write.commit import NewMemory, apply_change, commit, commit_new_memories
from madeleine.write.connections import add_connection
from madeleine.write.core_cap import enforce_core_cap
from madeleine.write.embedding import (
    PassageEmbeddings,
    embed_memories,
    neighbour_vector,
    split_by_size,
)
from madeleine.write.identity import ensure_self
from madeleine.write.linking import PendingMemory, find_near
from madeleine.write.pending_repairs import run_pending_repairs
from madeleine.write.record import new_event, record_events
from madeleine.write.remember import build_memory
from madeleine.write.show import wrote_file
from madeleine.write.stores import Stores

IMPORT_VERB = "import"
BATCH_SIZE = 32  # read by the model and written together; others wait a tenth of a second at most
BATCH_CHARS = 200_000
MAX_HISTORY_EVENTS = 200  # events of a memory among which its last import is looked for
_NO_USAGE = Usage()


class ImportFate(enum.StrEnum):
    """What became of an incoming memory."""

    WRITTEN = "written"
    """It is new here."""
    KNOWN = "known"
    """It was here already and says the same."""
    REVISED = "revised"
    """It says something else at its source by now, and here too."""
    KEPT = "kept"
    """It says something else here, and that stays."""
    FORGOTTEN = "forgotten"
    """It was forgotten or merged into another here, and does not come back."""


@dataclass(frozen=True, slots=True)
class ImportedMemory:
    """What became of one incoming memory, and what to say about it."""

    memory_id: str
    fate: ImportFate
    note: str = ""


ImportedOrError = ImportedMemory | MadeleineError


def import_memories(
    stores: Stores, items: Sequence[IncomingMemory], how: ImportBatch
) -> list[ImportedOrError]:
    """Bring the memories in, in order; one that is refused leaves its error in its place."""
    run_pending_repairs(stores)
    found: list[ImportedOrError] = []
    for some in split_by_size(items, lambda each: len(each.draft.content), BATCH_SIZE, BATCH_CHARS):
        found += _IncomingBatch(stores, how).take(some)
    return found


@dataclass(slots=True)
class _IncomingEntry:
    """One incoming memory, as it will stand here, and what becomes of it."""

    incoming: IncomingMemory
    memory: Memory
    outcome: ImportedOrError
    traces: PassageEmbeddings = ()

    def is_to_be(self, fate: ImportFate) -> bool:
        return isinstance(self.outcome, ImportedMemory) and self.outcome.fate is fate


class _IncomingBatch:
    """Memories that are judged, read by the model and written together."""

    def __init__(self, stores: Stores, how: ImportBatch) -> None:
        self._stores = stores
        self._how = how
        self._ids: dict[str, Memory] = {}
        self._texts: dict[tuple[str | None, str], str] = {}
        self._paths: set[str] = set()

    def take(self, items: Sequence[IncomingMemory]) -> list[ImportedOrError]:
        places = [self._judge_incoming(each) for each in items]
        if not self._how.dry_run:
            self._write([each for each in places if each.is_to_be(ImportFate.WRITTEN)])
            for place in places:
                if place.is_to_be(ImportFate.REVISED):
                    self._revise(place)
            self._take_over_usage(places)
        return [each.outcome for each in places]

    # -- judging ---------------------------------------------------------------------------

    def _judge_incoming(self, incoming: IncomingMemory) -> _IncomingEntry:
        memory = self._build_memory(incoming)
        try:
            outcome: ImportedOrError = self._decide_fate(incoming, memory)
        except MadeleineError as refused:
            outcome = refused
        return _IncomingEntry(incoming, memory, outcome)

    def _build_memory(self, incoming: IncomingMemory) -> Memory:
        """Return the memory as it should stand here, not yet linked by similarity."""
        made = build_memory(self._stores, incoming.draft)
        memory = replace(
            made,
            updated=incoming.updated or made.updated,
            superseded_by=incoming.superseded_by,
            connections=tuple(
                replace(each, target=each.target.lower(), by=each.by or self._author_of(incoming))
                for each in incoming.draft.connections
            ),
        )
        if incoming.draft.source != SELF_SOURCE:
            return memory
        return replace(
            memory,
            id=self._stores.graph.self_id() or memory.id,
            source=SELF_SOURCE,
            type=MemoryType.PERSON,
            tier=Tier.CORE,
            space=None,
            connections=tuple(e for e in memory.connections if e.edge is not Edge.DEFINES),
        )

    def _author_of(self, incoming: IncomingMemory) -> str | None:
        """Return who drew a connection that does not say so."""
        return None if incoming.whole else self._how.by

    def _decide_fate(self, incoming: IncomingMemory, memory: Memory) -> ImportedMemory:
        known = self._stores.search.get(memory.id)
        if known is not None:
            return self._meet_existing(incoming, memory, known.memory)
        if memory.id in self._ids:
            return self._compare_repeated(memory)
        same = self._same_text(incoming, memory)
        if same is not None:
            return ImportedMemory(same, ImportFate.KNOWN)
        if not incoming.trashed and self._was_let_go(memory.id):
            note = f"forgotten here; `madeleine restore {memory.short_id}` brings it back"
            return ImportedMemory(memory.id, ImportFate.FORGOTTEN, note)
        if incoming.trashed and memory.id in self._trashed_ids:
            return ImportedMemory(memory.id, ImportFate.KNOWN)
        self._ids[memory.id] = memory
        self._texts.setdefault((memory.space, same_text_key(memory.content)), memory.id)
        return ImportedMemory(memory.id, ImportFate.WRITTEN)

    def _compare_repeated(self, memory: Memory) -> ImportedMemory:
        if same_text_key(self._ids[memory.id].content) != same_text_key(memory.content):
            raise IdTaken(memory.id)
        return ImportedMemory(memory.id, ImportFate.KNOWN)

    def _same_text(self, incoming: IncomingMemory, memory: Memory) -> str | None:
        """Return the memory that makes one unnecessary which is its text and nothing else."""
        if not incoming.plain:
            return None
        key, now = same_text_key(memory.content), self._stores.clock.now()
        found = self._stores.search.same_text(memory.space, key, now, 1)
        return found[0] if found else self._texts.get((memory.space, key))

    def _was_let_go(self, memory_id: str) -> bool:
        """Whether it was here and went to the trash, other than by undoing its import."""
        if not self._stores.log.history(memory_id, 1) or memory_id not in self._trashed_ids:
            return False
        last = self._last_import(memory_id)
        change = "" if last is None else str(last.body.get("change"))
        return self._stores.log.outcome(change) != "undone"

    @cached_property
    def _trashed_ids(self) -> frozenset[str]:
        return frozenset(each.memory.id for each in self._stores.vault.trashed_memories())

    def _meet_existing(
        self, incoming: IncomingMemory, memory: Memory, here: Memory
    ) -> ImportedMemory:
        """Say what becomes of one that is here already."""
        if incoming.trashed:
            return ImportedMemory(here.id, ImportFate.KEPT, "forgotten there, and not here")
        if incoming.whole:
            return _compare_versions(memory, here)
        return self._by_source(incoming, memory, here)

    def _by_source(self, incoming: IncomingMemory, memory: Memory, here: Memory) -> ImportedMemory:
        """Compare what the source says, what it said last time, and what stands here."""
        said, same = self._read_last_hashes(here.id), text_digest(memory) == text_digest(here)
        if said.get("source") == source_digest(memory) or (same and not said):
            return ImportedMemory(here.id, ImportFate.KNOWN)
        edited = said.get("text") != text_digest(here) if said else memory.updated <= here.updated
        if not same and edited:
            return ImportedMemory(
                here.id, ImportFate.KEPT, "changed here too; it stays as it is here"
            )
        revised = _revise_from_source(incoming, memory, here)
        unchanged = replace(revised, updated=here.updated) == here
        return ImportedMemory(here.id, ImportFate.KNOWN if unchanged else ImportFate.REVISED)

    def _read_last_hashes(self, memory_id: str) -> dict[str, object]:
        """Return the hashes that the last import of a memory left."""
        last = self._last_import(memory_id)
        details = None if last is None else last.body.get("details")
        return dict(details) if isinstance(details, dict) else {}

    def _last_import(self, memory_id: str) -> Event | None:
        events = self._stores.log.history(memory_id, MAX_HISTORY_EVENTS)
        own = (each for each in events if wrote_file(each, memory_id))
        return next((each for each in own if each.body.get("verb") == IMPORT_VERB), None)

    # -- writing ---------------------------------------------------------------------------

    def _write(self, places: Sequence[_IncomingEntry]) -> None:
        """Write new memories: the model reads them first, before the lock is taken."""
        brings_its_own = any(each.memory.source == SELF_SOURCE for each in places)
        if not brings_its_own and any(ABOUT_SELF in each.memory.tags for each in places):
            ensure_self(self._stores)
        traces, _ = embed_memories(self._stores, [each.memory for each in places])
        for place, made in zip(places, traces, strict=True):
            place.traces = made
        with self._stores.writing:
            self._link(places)
            new = {each.memory.id: self._build_new(each) for each in places}
            apart = [each for each in places if self._stands_apart(new[each.memory.id])]
            self._write_together([each for each in places if each not in apart], new)
            for place in apart:
                self._write_alone(place, new[place.memory.id])
        for place in places:
            if place.is_to_be(ImportFate.WRITTEN):
                enforce_core_cap(self._stores, place.memory)

    def _link(self, places: Sequence[_IncomingEntry]) -> None:
        """Connect by similarity what does not come with all its state."""
        beside: list[PendingMemory] = []
        for place in places:
            memory, vector = place.memory, neighbour_vector(place.traces)
            if not place.incoming.whole:
                links = find_near(self._stores, memory, vector, memory.connections, beside).links
                place.memory = replace(memory, connections=memory.connections + links)
            if vector is not None:
                beside.append(PendingMemory(memory.id, memory.space, vector))

    def _build_new(self, place: _IncomingEntry) -> NewMemory:
        memory = place.memory
        path = self._choose_path(place.incoming, memory)
        edit = FileEdit(memory.id, None, None, path, _render_file(place.incoming, memory, path))
        return NewMemory(memory, self._change((edit,), self._hash_incoming(place)), place.traces)

    def _hash_incoming(self, place: _IncomingEntry) -> dict[str, object]:
        """Return what the next import of the same source goes by; it is about what the source
        said, without the links that similarity drew."""
        said = self._build_memory(place.incoming)
        return {"source": source_digest(said), "text": text_digest(said)}

    def _change(self, edits: tuple[FileEdit, ...], details: dict[str, object]) -> Change:
        how = self._how
        return Change(self._stores.new_id(), IMPORT_VERB, edits, how.by, None, how.run, details)

    def _choose_path(self, incoming: IncomingMemory, memory: Memory) -> str:
        """Return where its file was, if that is free here; else a free name."""
        vault = self._stores.vault
        wanted = incoming.path if incoming.path and is_memory_path(incoming.path) else ""
        if not wanted or wanted in self._paths or vault.fingerprint(wanted) is not None:
            wanted = vault.path_for(memory)
        self._paths.add(wanted)
        return vault.trash_path(wanted) if incoming.trashed else wanted

    def _stands_apart(self, new: NewMemory) -> bool:
        """Whether its file goes into a folder, which may have to be made first."""
        return "/" in str(new.edit.path_after)

    def _write_together(self, places: Sequence[_IncomingEntry], new: dict[str, NewMemory]) -> None:
        refused = commit_new_memories(self._stores, [new[each.memory.id] for each in places])
        for place in places:
            error = refused.get(new[place.memory.id].change.id)
            place.outcome = error or place.outcome

    def _write_alone(self, place: _IncomingEntry, new: NewMemory) -> None:
        try:
            apply_change(self._stores, new.change, {new.memory.id: new.traces})
        except MadeleineError as refused:
            place.outcome = refused

    # -- revising --------------------------------------------------------------------------

    def _revise(self, place: _IncomingEntry) -> None:
        try:
            retry_on_conflict(lambda: self._revise_once(place))
        except MadeleineError as refused:
            place.outcome = refused

    def _revise_once(self, place: _IncomingEntry) -> None:
        hand = make_change_context(self._stores, self._how.by, run=self._how.run)
        current = hand.read(place.memory.id)
        wanted = _revise_from_source(place.incoming, place.memory, current.memory)
        if wanted.updated == current.memory.updated:
            wanted = replace(wanted, updated=hand.at)
        change = hand.change(IMPORT_VERB, (current.edit(wanted),), self._hash_incoming(place))
        if change.edits:
            commit(self._stores, change)

    # -- use -------------------------------------------------------------------------------

    def _take_over_usage(self, places: Sequence[_IncomingEntry]) -> None:
        """Note in the journal how the memories were used before: once for each."""
        came = [each for each in places if each.is_to_be(ImportFate.WRITTEN)]
        events = [one for each in came for one in self._usage_events(each)]
        if events:
            record_events(self._stores, events, durable=True, batch=IndexBatch())

    def _usage_events(self, place: _IncomingEntry) -> Iterator[Event]:
        usage, memory_id = place.incoming.usage, place.memory.id
        event_id = f"adopted-{memory_id}"
        if usage is None or usage == _NO_USAGE or self._stores.log.event(event_id) is not None:
            return
        yield new_event(self._stores, EventKind.ADOPTED, _usage_to_json(memory_id, usage), event_id)
        if usage.relevance is not None:
            scores = {memory_id: {"relevance": usage.relevance}}
            yield new_event(self._stores, EventKind.SCORED, {"scores": scores})


def _compare_versions(memory: Memory, here: Memory) -> ImportedMemory:
    """Of two states of one memory the one that was updated last counts. A self that nobody has
    written about yet says nothing."""
    if replace(memory, usage=_NO_USAGE) == replace(here, usage=_NO_USAGE):
        return ImportedMemory(here.id, ImportFate.KNOWN)
    unsaid = here.source == SELF_SOURCE and here.created == here.updated
    if unsaid and source_digest(memory) == source_digest(here):
        return ImportedMemory(here.id, ImportFate.KNOWN)
    if unsaid or memory.updated > here.updated:
        return ImportedMemory(here.id, ImportFate.REVISED)
    return ImportedMemory(here.id, ImportFate.KEPT, "updated here since; it stays as it is here")


def _revise_from_source(incoming: IncomingMemory, memory: Memory, here: Memory) -> Memory:
    """Return the memory as it says after its source changed. What was added to it here stays."""
    if incoming.whole:
        return replace(memory, created=here.created) if here.source == SELF_SOURCE else memory
    revised = replace(
        here,
        content=memory.content,
        title=memory.title,
        type=memory.type,
        tags=tuple(dict.fromkeys((*here.tags, *memory.tags))),
        valid_until=memory.valid_until or here.valid_until,
        updated=max(memory.updated, here.updated),
    )
    for link in memory.connections:
        revised = add_connection(revised, _keep_local_authorship(here, link))
    return revised


def _keep_local_authorship(here: Memory, link: Connection) -> Connection:
    """Return a connection as it should stand after its source changed. One that somebody else
    drew here keeps who, when and how strongly; the source may only tell another reason."""
    for known in here.connections:
        if (known.target, known.edge) == (link.target, link.edge) and known.by != link.by:
            return replace(known, reason=link.reason or known.reason)
    return link


def _render_file(incoming: IncomingMemory, memory: Memory, path: str) -> bytes:
    """Return the text of the memory's file: the one it had, if that says the same from here."""
    data = render_memory(memory)
    if incoming.file is None:
        return data
    given = incoming.file.encode("utf-8")
    try:
        said = read_memory(path.removeprefix(f"{TRASH}/"), given, NO_FINGERPRINT).memory
    except FileUnreadable:
        return data
    return given if said == replace(memory, usage=said.usage) else data


def _usage_to_json(memory_id: str, usage: Usage) -> dict[str, object]:
    times = {"last_accessed": usage.last_accessed, "last_review": usage.last_review}
    return {
        "memory": memory_id,
        "access_count": usage.access_count,
        **{name: format_time(at) for name, at in times.items() if at is not None},
        "stability": usage.stability,
        "importance": usage.importance,
    }
