"""Reconcile: make the index say what the files say. Rebuild: from nothing.

Stopping halfway is safe: each chunk of files is its own transaction, so the next run carries
on from there. A file that cannot be read keeps the row it had and is listed in the report;
only a file that is gone loses its row. A file that changes while it is being looked at is
left to the next look.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from madeleine.errors import FileUnreadable, NoFile
from madeleine.index.port import IndexBatch, MemoryPut
from madeleine.language.passages import split_passages
from madeleine.model.cause import Cause, NoteKind
from madeleine.model.event import Event, EventKind
from madeleine.model.fingerprint import Fingerprint
from madeleine.model.memory import Memory
from madeleine.model.stored_memory import StoredMemory
from madeleine.model.words import Tier
from madeleine.vault.vault import is_memory_path
from madeleine.write.embedding import PassageEmbeddings, embed_memories, split_by_size
from madeleine.write.event_bus import MAX_MEMORIES_NAMED, change_bus_event
from madeleine.write.file_readers import FileReading, read_batches
from madeleine.write.questions import (
    CORE_CAP,
    archiving_refusals,
    core_demotion_deed,
    refusal_events,
)
from madeleine.write.record import new_event, record_events
from madeleine.write.stores import Stores

BATCH_FILES = 512  # files read at a time: quick to redo, a short wait for others
BATCH_BYTES = 1_000_000  # of long files fewer: what a model makes of them has to fit in memory
EMBED_BATCH_CHARS = (
    250_000  # what a model reads between two looks at whether to go on: some seconds
)
FRONT_MATTER_BYTES = 9_000_000  # of a file beside its text; with more it is not even opened
BY_HAND = "file"  # who changes a memory by changing its file
MAX_UNREAD_COUNTED = (
    99  # memories counted at a recall; of more it is enough to say that they are more
)

ProgressCallback = Callable[[int, int], None]


@dataclass(slots=True)
class ReconcileResult:
    """What a reconcile did; the lists name files."""

    files: int = 0
    written: int = 0
    dropped: int = 0
    unchanged: int = 0
    unreadable: list[str] = field(default_factory=list)
    notes: list[Cause] = field(default_factory=list)


@dataclass(slots=True)
class _ReadBatch:
    """Files read and not yet indexed."""

    puts: list[MemoryPut] = field(default_factory=list)
    unreadable: dict[str, tuple[int, str]] = field(default_factory=dict)


def reconcile(
    stores: Stores, progress: ProgressCallback = lambda done, total: None, chunks: int = 1
) -> ReconcileResult:
    """Look at every file in the vault and index those that changed, so many chunks of them in
    one transaction."""
    report = ReconcileResult()
    known = stores.search.fingerprints()
    broken = {each.path: each for each in stores.search.unreadable()}
    changed: dict[str, Fingerprint] = {}
    for found in stores.vault.scan():
        report.files += 1
        before = known.pop(found.path, None)
        if found.path in broken and _is_refused_still(stores, found.path, found.fingerprint):
            broken.pop(found.path)
        elif before == found.fingerprint and found.path not in broken:
            report.unchanged += 1
        else:
            changed[found.path] = found.fingerprint
            broken.pop(found.path, None)
    _index_files(stores, changed, report, progress, chunks)
    _drop_missing(stores, _select_scannable(stores, [*known, *broken]), report)
    if report.dropped or report.written:
        _retry_unreadable(stores, report, set())
    report.unreadable = [
        f"{each.path}:{each.line}: {each.problem}" for each in stores.search.unreadable()
    ]
    return report


def _select_scannable(stores: Stores, paths: list[str]) -> list[str]:
    """Return the paths that a scan would have seen: not those in folders it could not read."""
    closed = tuple(stores.vault.unread_folders)
    return [path for path in paths if not path.startswith(closed)] if closed else paths


def reconcile_paths(stores: Stores, paths: Iterable[str]) -> ReconcileResult:
    """Look at just these files, as the watcher names them; a path ending in `/` is a folder."""
    report = ReconcileResult()
    changed: dict[str, Fingerprint] = {}
    gone: list[str] = []
    for path in paths:
        if path.endswith("/"):
            return reconcile(stores)
        if not is_memory_path(path):
            stores.vault.note_text(path)
            continue
        report.files += 1
        found = stores.vault.fingerprint(path)
        if found is None:
            gone.append(path)
        elif not _is_known(stores, path, found):
            changed[path] = found
        else:
            report.unchanged += 1
    _index_files(stores, changed, report, lambda done, total: None)
    _drop_missing(stores, gone, report)
    if report.dropped or report.written:
        _retry_unreadable(stores, report, set(changed))
    return report


def reconcile_and_embed(stores: Stores) -> ReconcileResult:
    """Reconcile, and have the model read what it has not."""
    report = reconcile(stores)
    if stores.minds.embedder is not None and (done := embed_missing(stores)):
        report.notes.append(Cause(NoteKind.NOW_READ, {"count": done}))
    report.notes.extend(unread_note(stores))
    return report


def unread_note(stores: Stores) -> tuple[Cause, ...]:
    """Note how many memories there are that the model has not read, which are found by their
    words alone: after a change of model, or after it was away."""
    if stores.minds.embedder is None:
        return ()
    count = len(stores.search.unembedded_ids(MAX_UNREAD_COUNTED + 1))
    if not count:
        return ()
    parts = {"count": min(count, MAX_UNREAD_COUNTED), "at_least": count > MAX_UNREAD_COUNTED}
    return (Cause(NoteKind.UNREAD, parts),)


def embed_missing(stores: Stores, progress: ProgressCallback = lambda done, total: None) -> int:
    """Have the model read the memories that it has not; return how many it read.

    Safe to stop at any moment: what was read is not read again.
    """
    total = stores.search.counts().unembedded
    done = 0
    while ids := stores.search.unembedded_ids(BATCH_FILES):
        memories = list(stores.search.memories(ids).values())
        before = done
        for some in split_by_size(
            memories, lambda each: len(each.content), BATCH_FILES, EMBED_BATCH_CHARS
        ):
            traces, notes = embed_memories(stores, some)
            if notes:
                return done
            done += _store_embeddings(stores, some, traces)
            progress(done, total)
        if done == before:
            break  # all of them changed meanwhile, or are gone: the next look finds them
    return done


def _store_embeddings(
    stores: Stores, memories: Sequence[Memory], traces: Sequence[PassageEmbeddings]
) -> int:
    """Give memories their traces, unless their text changed while the model was thinking;
    return how many got theirs."""
    with stores.writing:
        now = stores.search.memories([each.id for each in memories])
        made = {
            each.id: those
            for each, those in zip(memories, traces, strict=True)
            if each.id in now and split_passages(now[each.id]) == split_passages(each)
        }
        stores.index.set_traces(made)
    return len(made)


def _is_known(stores: Stores, path: str, found: Fingerprint) -> bool:
    memory_id = stores.search.id_at(path)
    stored = stores.search.get(memory_id) if memory_id else None
    if any(each.path == path for each in stores.search.unreadable()):
        return _is_refused_still(stores, path, found)
    return stored is not None and stored.fingerprint == found


def _is_refused_still(stores: Stores, path: str, found: Fingerprint) -> bool:
    """Whether a file that could not be read looks as it did then."""
    return stores.reading.refused.get(path) == found


def _index_files(
    stores: Stores,
    changed: dict[str, Fingerprint],
    report: ReconcileResult,
    progress: ProgressCallback,
    chunks: int = 1,
) -> None:
    most = stores.config.limits.content_bytes
    large = {path for path, found in changed.items() if found.size > most + FRONT_MATTER_BYTES}
    waiting = _ReadBatch()
    waiting.unreadable |= {path: _describe_too_large(changed[path].size, most) for path in large}
    small = [path for path in changed if path not in large]
    batches = split_by_size(small, lambda path: changed[path].size, BATCH_FILES, BATCH_BYTES)
    done = len(large)
    stores.reading.waiting += len(changed)
    try:
        with closing(read_batches(stores.vault, batches, len(small))) as read:
            for number, batch in enumerate(read, 1):
                stores.priority_gate.give_way()
                _take_files(stores, changed, batch.files, waiting, report)
                done += len(batch.paths)
                if number % chunks == 0 or done == len(changed):
                    report.written += _index_batch(stores, waiting)
                    waiting = _ReadBatch()
                stores.reading.waiting -= len(batch.paths)
                progress(done, len(changed))
        if waiting.unreadable:
            _index_batch(stores, waiting)  # none but large ones
    finally:
        stores.reading.waiting -= len(changed) - done + len(large)


def _take_files(
    stores: Stores,
    looks: Mapping[str, Fingerprint],
    files: Iterable[FileReading],
    chunk: _ReadBatch,
    report: ReconcileResult,
) -> None:
    """Add files to a chunk, with what the model makes of them. One that is gone is dropped by the
    next look."""
    read: list[MemoryPut] = []
    most = stores.config.limits.content_bytes
    for found in files:
        if isinstance(found, FileUnreadable):
            chunk.unreadable[found.path] = (found.line, found.problem)
            if not isinstance(found.__cause__, OSError):  # the disk may think better of it
                stores.reading.refused[found.path] = looks[found.path]
            continue
        path, content = found.stored.path, found.stored.memory.content
        if looks[path].size > most and (size := len(content.encode())) > most:
            chunk.unreadable[path] = _describe_too_large(size, most)
            stores.reading.refused[path] = looks[path]
        else:
            stores.reading.refused.pop(path, None)
            read.append(found)
    traces, notes = embed_memories(stores, [each.stored.memory for each in read])
    if read:
        report.notes += [each for each in notes if each not in report.notes]
    chunk.puts += [
        MemoryPut(each.stored, made, analysis=each.analysis)
        for each, made in zip(read, traces, strict=True)
    ]


def _describe_too_large(size: int, most: int) -> tuple[int, str]:
    return 1, f"holds {size:,} bytes; a memory has at most {most:,} (`limits.content_bytes`)"


def _index_batch(stores: Stores, chunk: _ReadBatch) -> int:
    """Index what is still as it was read, and of several files with one id only one."""
    with stores.writing:
        looks = stores.vault.fingerprints([put.stored.path for put in chunk.puts])
        fresh = [put for put in chunk.puts if looks.get(put.stored.path) == put.stored.fingerprint]
        ours, twins = _resolve_duplicate_ids(stores, fresh)
        stores.reading.copies -= {put.stored.path for put in ours}
        stores.reading.copies |= twins.keys()
        batch = IndexBatch(puts=ours, unreadable=chunk.unreadable | twins)
        events = [each for put in ours if (each := _adoption_event(stores, put.stored))]
        events += _unarchived_events(stores, [put.stored.memory for put in ours])
        events += _core_return_events(stores, [put.stored.memory for put in ours])
        if events:
            record_events(stores, events, durable=True, batch=batch, note_positions=False)
        else:
            stores.index.write(batch)
    _publish_file_changes(stores, [each.stored.memory.id for each in ours])
    return len(ours)


def _unarchived_events(stores: Stores, memories: Sequence[Memory]) -> Iterator[Event]:
    """Give what to note of memories whose file takes them out of the archive: whoever edited it
    does not want them there."""
    awake = [each for each in memories if each.tier is not Tier.ARCHIVAL]
    known = stores.search.memories([each.id for each in awake])
    for each in awake:
        if each.id in known and known[each.id].tier is Tier.ARCHIVAL:
            yield from archiving_refusals(stores, each, BY_HAND)


def _core_return_events(stores: Stores, memories: Sequence[Memory]) -> Iterator[Event]:
    """Give what to note of memories that a full core tier had let go, and whose file puts them
    back there: whoever edited it wants another one to go."""
    core = [each for each in memories if each.tier is Tier.CORE]
    known = stores.search.memories([each.id for each in core])
    for each in core:
        if each.id in known and known[each.id].tier is not Tier.CORE:
            changes = stores.log.history(each.id)
            if any(change.body.get("by") == CORE_CAP for change in changes):
                yield from refusal_events(stores, [core_demotion_deed(each)], BY_HAND)


def _publish_file_changes(stores: Stores, memories: Sequence[str]) -> None:
    """Tell those who listen that files changed, or went, without a verb of ours."""
    if memories:
        body = {"by": BY_HAND, "memories": list(memories[:MAX_MEMORIES_NAMED])}
        stores.event_bus.publish([change_bus_event("reconcile", stores.clock.now(), body)])


def _resolve_duplicate_ids(
    stores: Stores, puts: list[MemoryPut]
) -> tuple[list[MemoryPut], dict[str, tuple[int, str]]]:
    """Return one put for each id, and the files that stand back.

    The file that was known before stays the memory. But where one name goes on with what another
    begins with, as those of copies do that sync programs make, the shorter one counts, whichever
    was there first; so it does where none was known, and a rebuild does not choose differently.
    """
    ours: dict[str, MemoryPut] = {}
    twins: dict[str, tuple[int, str]] = {}
    known = stores.search.memories([put.stored.memory.id for put in puts])
    for put in sorted(puts, key=lambda each: _seniority_key(each.stored.path)):
        memory_id, path = put.stored.memory.id, put.stored.path
        other = _other_file(stores, memory_id, path) if memory_id in known else None
        if memory_id in ours:
            twins[path] = _duplicate_id_problem(ours[memory_id].stored.path)
        elif other is not None and not is_variant_name(other, path):
            twins[path] = _duplicate_id_problem(other)
        else:
            ours[memory_id] = put
            if other is not None:
                twins[other] = _duplicate_id_problem(path)
    return list(ours.values()), twins


def _seniority_key(path: str) -> tuple[int, str]:
    return len(path), path


def is_variant_name(path: str, original: str) -> bool:
    """Whether one file's name is another's with something after it, in the same folder: so sync
    programs and file managers name what they keep beside it."""
    folder, _, name = path.rpartition("/")
    place, _, first = original.rpartition("/")
    stem = first.rpartition(".")[0]
    return folder == place and len(name) > len(first) and name.startswith(stem)


def _duplicate_id_problem(path: str) -> tuple[int, str]:
    return 1, f"has the same id as {path}; give one of them another id"


def _other_file(stores: Stores, memory_id: str, path: str) -> str | None:
    """Return the path of another file that still says this id."""
    stored = stores.search.get(memory_id)
    if stored is None or stored.path == path:
        return None
    try:
        held = stores.vault.read(stored.path).memory.id
    except NoFile:
        return None
    except FileUnreadable:
        return stored.path
    return stored.path if held == memory_id else None


def _adoption_event(stores: Stores, stored: StoredMemory) -> Event | None:
    """Return the event that takes over a foreign file's counters, unless it was written.

    Its id follows from the memory's, so that two devices which open the same vault take the
    counters over once.
    """
    event_id = f"adopted-{stored.memory.id}"
    if not stored.counters or stores.log.event(event_id) is not None:
        return None
    body = {"memory": stored.memory.id, **stored.counters}
    return new_event(stores, EventKind.ADOPTED, body, event_id)


def _drop_missing(stores: Stores, gone: Iterable[str], report: ReconcileResult) -> None:
    """Drop the rows of files that are gone, and stop reporting such files as unreadable."""
    with stores.writing:
        missing = [path for path in gone if stores.vault.fingerprint(path) is None]
        drops = [each for path in missing if (each := stores.search.id_at(path)) is not None]
        if missing:
            stores.index.write(IndexBatch(drops=drops, readable_again=missing))
        report.dropped += len(drops)
    _publish_file_changes(stores, drops)


def _retry_unreadable(stores: Stores, report: ReconcileResult, looked_at: set[str]) -> None:
    """Read again what was refused for its id: it may have had the id of a file that has another
    id now, or is gone."""
    again = stores.vault.fingerprints(sorted(stores.reading.copies - looked_at))
    _index_files(stores, again, report, lambda done, total: None)
