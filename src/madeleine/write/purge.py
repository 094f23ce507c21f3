"""Purge: remove forgotten memories for good, from every place that holds something of them.

It is the one verb without a way back, and nothing does it unasked. The journal loses what it
says about them, the log of whispers the entries that name any of them, the cache of embeddings
what a model made of any of their texts; the index is made anew from what is left, so that it holds
nothing of them by construction. The files go last: after a kill, purging again carries on.

A summary of a cluster is made of its members' sentences, so it goes with each of them: the next
run of `cluster` writes it anew without. It is moved to the trash first, so that a kill changes
nothing about the above.

A hash of each id stays in the journal, so that reading the same transcript or note again does not
bring it back, and other machines purge it too.

What stays is told: connections of other memories that point to what is gone, memories that people
or jobs made from it or merged it into, whose words are not ours to change, and backups.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from madeleine.errors import AmbiguousId, MemoryChoice, NotInTrash, Unavailable
from madeleine.index.graph import EdgeRow
from madeleine.language.passages import split_passages
from madeleine.language.text_keys import passage_key
from madeleine.model.change import FileEdit
from madeleine.model.digest import text_digest
from madeleine.model.event import Event, EventKind
from madeleine.model.memory import Memory
from madeleine.model.meta_pattern import read_meta_pattern
from madeleine.model.stored_memory import StoredMemory
from madeleine.model.times import format_time
from madeleine.model.words import Edge
from madeleine.vault.journal import RedactionReport
from madeleine.vault.purged_memories import PurgedMemories
from madeleine.vault.redaction import is_summary_of, parse_former_memory
from madeleine.write.change_file import make_change_context
from madeleine.write.commit import commit
from madeleine.write.forget import plan_forget
from madeleine.write.record import new_event, record_events
from madeleine.write.stores import Stores
from madeleine.write.undo import ENDED_OUTCOMES
from madeleine.write.upkeep import rebuild, record_run

PURGE_JOB = "purge"
MARK_BYTES = 16
MAX_HISTORY_EVENTS = (
    1_000  # events of a memory among which it is looked for what it was merged into
)


@dataclass(frozen=True, slots=True)
class PurgeResult:
    """What was removed, and where."""

    memories: tuple[Memory, ...]
    files: int
    journal: RedactionReport
    traces: int
    """Entries of the cache of embeddings."""
    pointing: int
    """Connections in other memories' files that name what is gone."""
    made_from: tuple[Memory, ...] = ()
    """Memories that were made from what is gone, and may still say it."""
    merged_into: tuple[Memory, ...] = ()
    """Memories that what is gone was merged into, and that may have taken over its words."""


def purge(stores: Stores, wanted: Sequence[str] | None) -> PurgeResult:
    """Remove the named memories from the trash for good, or with None all that lie there.

    What is in the vault again lives: then only the copy in the trash goes.
    """
    return _purge_found(stores, _select_trashed(stores, wanted))


def purge_elsewhere_too(stores: Stores, ids: Collection[str]) -> None:
    """Remove memories that were purged on another machine: from the trash, and from the journal
    also where no file of them ever was here. What lives in the vault is left alone."""
    found = [each for each in stores.vault.trashed_memories() if each.memory.id in ids]
    known = {each for each in ids if stores.log.history(each, 1)}
    known -= stores.search.memories(known).keys()
    if found or known:
        _purge_found(stores, found, known)


def _purge_found(
    stores: Stores, found: list[StoredMemory], without_file: Collection[str] = ()
) -> PurgeResult:
    found += _collect_summaries(
        stores,
        _select_not_in_vault(stores, found) | set(without_file),
        {each.path for each in found},
    )
    gone = _select_not_in_vault(stores, found) | set(without_file)
    keepers = _find_keepers(stores, gone)
    with record_run(stores, PURGE_JOB) as report:
        arrows = [each for each in stores.graph.edges(sorted(gone)) if not each.implied]
        journal = _redact_journal(stores, gone, [each.memory for each in found])
        stores.log.drop_whispers(sorted(gone))
        traces = _forget_embeddings(stores, found, gone, journal.texts)
        marks = [_build_purge_mark(stores, each) for each in sorted(gone)]
        if marks:
            record_events(stores, marks, durable=True)
        if gone:
            rebuild(stores)
        for each in found:
            _remove_trashed_file(stores, each)
        memories = {each.memory.id: each.memory for each in found}
        lines = journal.dropped + journal.cut
        report.update(memories=len(memories), files=len(found), lines=lines)
    made, kept = _find_derived(stores, arrows), _find_remaining(stores, keepers)
    return PurgeResult(
        tuple(memories.values()), len(found), journal, traces, len(arrows), made, kept
    )


def was_purged(stores: Stores, memory_id: str) -> bool:
    """Whether a memory of that id was purged."""
    return stores.log.state(_mark_key(memory_id)) is not None


def _build_purge_mark(stores: Stores, memory_id: str) -> Event:
    """Return what keeps a purged memory from being taken in again from where it came. It has a
    hash of the id, and nothing of what the memory said."""
    body = {"key": _mark_key(memory_id), "value": format_time(stores.clock.now())}
    return new_event(stores, EventKind.STATE, body)


def _mark_key(memory_id: str) -> str:
    digest = hashlib.blake2b(memory_id.encode("utf-8"), digest_size=MARK_BYTES).hexdigest()
    return f"purged:{digest}"


def _select_not_in_vault(stores: Stores, found: Iterable[StoredMemory]) -> set[str]:
    """Return the ids of those that are not in the vault as well."""
    ids = {each.memory.id for each in found}
    return ids - stores.search.memories(ids).keys()


def _select_trashed(stores: Stores, wanted: Sequence[str] | None) -> list[StoredMemory]:
    if wanted is None:
        return sorted(stores.vault.trashed_memories(), key=lambda each: each.path)
    return [
        stored for each in dict.fromkeys(wanted) for stored in _find_named_in_trash(stores, each)
    ]


def _collect_summaries(stores: Stores, gone: set[str], known: set[str]) -> list[StoredMemory]:
    """Return the summaries in the trash that were made of any of these memories, where those that
    still lived are now too. One that a person edited is theirs, as long as they keep it."""
    if not gone:
        return []
    told = PurgedMemories(gone)
    arrows = stores.graph.edges(sorted(gone))
    sources = {each.source for each in arrows if each.connection.edge is Edge.SUMMARIZES} - gone
    for memory in stores.search.memories(sources).values():
        if is_summary_of(memory, told) and _is_as_written(memory):
            commit(stores, plan_forget(make_change_context(stores, PURGE_JOB), memory.id))
    listed = [each for each in stores.vault.trashed_memories() if is_summary_of(each.memory, told)]
    return [each for each in listed if each.path not in known]


def _is_as_written(summary: Memory) -> bool:
    pattern = read_meta_pattern(summary)
    return pattern is not None and pattern.text == text_digest(summary)


def _find_derived(stores: Stores, arrows: Iterable[EdgeRow]) -> tuple[Memory, ...]:
    edges = (Edge.DERIVED_FROM, Edge.SUMMARIZES)
    sources = {each.source for each in arrows if each.connection.edge in edges}
    found = stores.search.memories(sources)
    return tuple(found[each] for each in sorted(found))


def _find_keepers(stores: Stores, gone: set[str]) -> set[str]:
    """Return the ids of those that the memories were merged into, and those in turn. The journal
    tells, as long as they stand in it."""
    found: set[str] = set()
    waiting = list(gone)
    while waiting:
        new = set(_find_merge_targets(stores, waiting.pop())) - found
        found |= new
        waiting += new
    return found - gone


def _find_merge_targets(stores: Stores, memory_id: str) -> Iterator[str]:
    for each in stores.log.history(memory_id, MAX_HISTORY_EVENTS):
        details, change = each.body.get("details"), str(each.body.get("change"))
        told = details if isinstance(details, Mapping) else {}
        if told.get("removed") == memory_id and stores.log.outcome(change) not in ENDED_OUTCOMES:
            yield str(told["kept"])


def _find_remaining(stores: Stores, ids: set[str]) -> tuple[Memory, ...]:
    """Return those of the memories that are in the vault, or at least in the trash."""
    trashed = (
        {each.memory.id: each.memory for each in stores.vault.trashed_memories()} if ids else {}
    )
    found = {**trashed, **stores.search.memories(ids)}
    return tuple(found[each] for each in sorted(ids & found.keys()))


def _find_named_in_trash(stores: Stores, wanted: str) -> list[StoredMemory]:
    found = stores.vault.find_trashed(wanted.strip())
    if not found:
        raise NotInTrash(wanted)
    if len({each.memory.id for each in found}) > 1:
        choices = [MemoryChoice(each.memory.id, each.memory.headline) for each in found]
        raise AmbiguousId(wanted, choices)
    return found


def _redact_journal(stores: Stores, gone: set[str], memories: Sequence[Memory]) -> RedactionReport:
    said = [each for each in memories if each.id in gone]
    with stores.writing:  # nobody of ours appends meanwhile
        found = stores.journal.redact(gone, said) if gone else RedactionReport()
    if found.busy:
        raise Unavailable(f"{found.busy[0]} is being written to", hint="purge again")
    return found


def _forget_embeddings(
    stores: Stores, found: Iterable[StoredMemory], gone: set[str], texts: Iterable[bytes]
) -> int:
    """Drop what models made of the texts as they are and as they were."""
    memories = [each.memory for each in found if each.memory.id in gone]
    memories += [each for text in texts if (each := parse_former_memory(text)) is not None]
    keys = {passage_key(passage) for each in memories for passage in split_passages(each)}
    embedder = stores.minds.embedder
    return embedder.forget(sorted(keys)) if embedder is not None and keys else 0


def _remove_trashed_file(stores: Stores, stored: StoredMemory) -> None:
    data = stores.vault.bytes_or_none(stored.path)
    if data is not None:
        stores.vault.apply(FileEdit(stored.memory.id, stored.path, data, None, None))
