"""Claims: a newer value replaces the older ones at its address, in every copy.

Whoever writes a memory that claims something asks here what becomes of its rivals. Those that
it is newer than are no longer true from then on, exactly as if each had been retired for it; an
older note that comes late, by an import, is itself replaced by what is known since. All of it
belongs into the one change that writes the memory, so that one undo takes it all back.

Files that somebody edited, restored or moved may disagree without anybody having asked.
`find_overtaken_claims` finds those for the night.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from madeleine.errors import FileUnreadable
from madeleine.language.claims import (
    are_rivals,
    claim_address,
    claim_value_key,
    find_overtaken,
    is_newer,
)
from madeleine.language.passages import split_passages
from madeleine.model.cause import Cause, NoteKind
from madeleine.model.change import FileEdit
from madeleine.model.memory import Claim, Connection, Memory
from madeleine.model.words import SELF_SOURCE, Edge
from madeleine.write.change_file import CurrentFile, find_current
from madeleine.write.connections import add_connection
from madeleine.write.embedding import PassageEmbeddings
from madeleine.write.stores import Stores

CLAIM_AUTHOR = "claim"  # who draws connections to values that were replaced
SUPERSEDED_WEIGHT = 0.9  # the documented weight of an evolution
MAX_ADDRESSES = 500  # with rivals that are looked at in one night


@dataclass(frozen=True, slots=True)
class ClaimSettlement:
    """What becomes of a memory that claims something, and of others: edits of their files."""

    memory: Memory
    edits: tuple[FileEdit, ...] = ()
    traces: Mapping[str, PassageEmbeddings] = field(default_factory=dict)
    """Empty ones for files whose text is not the one that the model read."""
    notes: tuple[Cause, ...] = ()


def end_validity(memory: Memory, ends: datetime, successor: str | None, at: datetime) -> Memory:
    """Return the memory as no longer true from `ends` on, replaced by `successor` if any."""
    return replace(
        memory,
        valid_until=min(memory.valid_until or ends, ends),
        superseded_by=successor or memory.superseded_by,
        updated=at,
    )


def settle_claim(stores: Stores, memory: Memory, since: datetime | None = None) -> ClaimSettlement:
    """Return what becomes of a memory about to be written, and of its rivals. Hold the lock, so
    that nobody else claims the same meanwhile.

    `since` is when it began to say so, where that is not when it was made.
    """
    if memory.claim is None or not _still_holds(memory, stores.clock.now()):
        return ClaimSettlement(memory)
    saying = replace(memory, created=since, updated=since) if since else memory
    others, notes = _find_rivals(stores, saying, memory.claim)
    later = [each for each in others if _is_later(each.memory, saying)]
    older = [each for each in others if not _is_later(each.memory, saying)]
    return _build_settlement(stores, _ClaimRivals(saying, older, later), memory, notes)


def find_overtaken_claims(
    stores: Stores, limit: int = MAX_ADDRESSES
) -> list[tuple[Memory, Memory]]:
    """Return memories whose claim a newer one replaces, each with the one that does: what files
    that came from outside left undone. At most `limit` addresses are looked at."""
    search, now = stores.search, stores.clock.now()
    found = []
    for each in search.contested_addresses(now, limit):
        claiming = search.memories(search.claims(each, now)).values()
        found += find_overtaken(one for one in claiming if one.source != SELF_SOURCE)
    return found


def is_restated(was: Memory, memory: Memory) -> bool:
    """Whether a memory says another value now of what it spoke of before."""
    if (
        was.claim is None
        or memory.claim is None
        or claim_address(was.claim) != claim_address(memory.claim)
    ):
        return False
    return claim_value_key(was.claim) != claim_value_key(memory.claim)


def _still_holds(memory: Memory, now: datetime) -> bool:
    """Whether it says how things are, and not only how they were."""
    until = memory.valid_until
    return memory.superseded_by is None and (until is None or until > now)


@dataclass(frozen=True, slots=True)
class _ClaimRivals:
    """A claim and its rivals, oldest first."""

    saying: Memory
    older: Sequence[CurrentFile]
    later: Sequence[CurrentFile]


def _find_rivals(
    stores: Stores, memory: Memory, claim: Claim
) -> tuple[list[CurrentFile], tuple[Cause, ...]]:
    """Return the rivals as their files say them now, oldest first, and what cannot be read."""
    found, notes = [], []
    for each in stores.search.claims(
        claim_address(claim), stores.clock.now(), but=claim_value_key(claim)
    ):
        try:
            current = find_current(stores, each)
        except FileUnreadable as error:
            notes.append(Cause(NoteKind.RIVAL_LEFT, {"why": error.message}))
            continue
        if current is not None and _is_rival(stores, memory, current.memory):
            found.append(current)
    return found, tuple(notes)


def _is_rival(stores: Stores, memory: Memory, other: Memory) -> bool:
    own = other.id == memory.id or other.source == SELF_SOURCE
    return not own and are_rivals(memory, other) and _still_holds(other, stores.clock.now())


def _is_later(other: Memory, memory: Memory) -> bool:
    """Whether a rival came after the memory that is being written. Of two of one moment that
    is the later one."""
    one_moment = (other.created, other.updated) == (memory.created, memory.updated)
    return is_newer(other, memory) and not one_moment


def _build_settlement(
    stores: Stores, sides: _ClaimRivals, memory: Memory, notes: tuple[Cause, ...]
) -> ClaimSettlement:
    now, saying = stores.clock.now(), sides.saying
    edits = [
        each.edit(end_validity(each.memory, saying.created, memory.id, now)) for each in sides.older
    ]
    if sides.older:
        memory = add_connection(memory, _build_replacement_link(sides.older[-1].memory, now))
        replaced = [each.memory.id for each in sides.older]
        notes += (Cause(NoteKind.REPLACES, {"memories": replaced}),)
    if sides.later:
        first = sides.later[0]
        edits += _name_replaced(first, memory, now)
        memory = end_validity(memory, first.memory.created, first.memory.id, memory.updated)
        notes += (Cause(NoteKind.REPLACED_BY, {"memory": first.memory.id}),)
    touched = [*sides.older, *sides.later[:1]]
    return ClaimSettlement(memory, tuple(edits), clear_stale_embeddings(stores, touched), notes)


def _build_replacement_link(old: Memory, now: datetime) -> Connection:
    said = f"{old.claim.attribute}: {old.claim.value} until then" if old.claim else None
    return Connection(old.id, Edge.EVOLVED_FROM, SUPERSEDED_WEIGHT, said, CLAIM_AUTHOR, now)


def _name_replaced(successor: CurrentFile, memory: Memory, now: datetime) -> list[FileEdit]:
    """Return the edit that makes a memory name the one it replaces. It names one: whoever
    brings a hundred old notes must not get a hundred arrows."""
    known = successor.memory.connections
    if any((each.edge, each.by) == (Edge.EVOLVED_FROM, CLAIM_AUTHOR) for each in known):
        return []
    return [successor.edit(add_connection(successor.memory, _build_replacement_link(memory, now)))]


def clear_stale_embeddings(
    stores: Stores, files: Sequence[CurrentFile]
) -> dict[str, PassageEmbeddings]:
    """Return those whose file says something else than what the model read: the index learns
    of the new text, and the model reads it at the next look."""
    known = stores.search.memories(each.memory.id for each in files)
    return {
        each.memory.id: ()
        for each in files
        if each.memory.id not in known
        or split_passages(each.memory) != split_passages(known[each.memory.id])
    }
