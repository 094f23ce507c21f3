"""Purge: remove forgotten memories for good, from every place that holds something of them.

It is the one verb without a way back, and nothing does it unasked. The journal loses what it
says about them, the cache of embeddings what a model made of any of their texts; the index is
made anew from what is left, so that it holds nothing of them by construction. The files go last:
after a kill, purging again carries on.

What stays is told: connections of other memories that point to what is gone, and backups.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from madeleine.errors import AmbiguousId, FileUnreadable, NotInTrash, Unavailable
from madeleine.model.change import Edit
from madeleine.model.memory import Memory
from madeleine.model.stored import Stored
from madeleine.rules.passages import passages_of
from madeleine.rules.text import passage_key
from madeleine.vault.journal import Redacted
from madeleine.vault.markdown import read_memory
from madeleine.write.commit import UNSEEN
from madeleine.write.stores import Stores
from madeleine.write.upkeep import noted, rebuild

_NOWHERE = "purged.md"  # where a text out of the journal is said to stand


@dataclass(frozen=True, slots=True)
class Purged:
    """What was removed, and where."""

    memories: tuple[Memory, ...]
    files: int
    journal: Redacted
    traces: int
    """Entries of the cache of embeddings."""
    pointing: int
    """Connections in other memories' files that name what is gone."""


def purge(stores: Stores, wanted: Sequence[str] | None) -> Purged:
    """Remove the named memories from the trash for good, or with None all that lie there.

    What is in the vault again lives: then only the copy in the trash goes.
    """
    found = _chosen(stores, wanted)
    ids = {each.memory.id for each in found}
    gone = ids - stores.index.memories(ids).keys()
    with noted(stores, "purge") as report:
        pointing = len([each for each in stores.index.edges(sorted(gone)) if not each.implied])
        journal = _redacted(stores, gone)
        traces = _forget_traces(stores, found, gone, journal.texts)
        if gone:
            rebuild(stores)
        for each in found:
            _remove(stores, each)
        report.update(memories=len(ids), files=len(found), lines=journal.dropped + journal.cut)
    memories = {each.memory.id: each.memory for each in found}
    return Purged(tuple(memories.values()), len(found), journal, traces, pointing)


def _chosen(stores: Stores, wanted: Sequence[str] | None) -> list[Stored]:
    if wanted is None:
        return sorted(stores.vault.trashed(), key=lambda each: each.path)
    return [stored for each in dict.fromkeys(wanted) for stored in _named(stores, each)]


def _named(stores: Stores, wanted: str) -> list[Stored]:
    found = stores.vault.find_trashed(wanted.strip())
    if not found:
        raise NotInTrash(wanted)
    if len({each.memory.id for each in found}) > 1:
        names = [f"`{each.memory.id}` ({each.memory.headline})" for each in found]
        raise AmbiguousId(wanted, names)
    return found


def _redacted(stores: Stores, gone: set[str]) -> Redacted:
    with stores.writing:  # nobody of ours appends meanwhile
        found = stores.journal.redact(gone) if gone else Redacted()
    if found.busy:
        raise Unavailable(f"{found.busy[0]} is being written to", hint="purge again")
    return found


def _forget_traces(
    stores: Stores, found: Iterable[Stored], gone: set[str], texts: Iterable[bytes]
) -> int:
    """Drop what models made of the texts as they are and as they were."""
    memories = [each.memory for each in found if each.memory.id in gone]
    memories += [each for text in texts if (each := _read(text)) is not None]
    keys = {passage_key(passage) for each in memories for passage in passages_of(each)}
    embedder = stores.minds.embedder
    return embedder.forget(sorted(keys)) if embedder is not None and keys else 0


def _read(text: bytes) -> Memory | None:
    try:
        return read_memory(_NOWHERE, text, UNSEEN).memory
    except FileUnreadable:
        return None  # what nobody could read, no model read


def _remove(stores: Stores, stored: Stored) -> None:
    data = stores.vault.bytes_or_none(stored.path)
    if data is not None:
        stores.vault.apply(Edit(stored.memory.id, stored.path, data, None, None))
