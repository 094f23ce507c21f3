"""What a judge reads of a memory, as a hash.

Two looks at a memory are two looks at the same thing as long as this hash is the same. Links,
tiers, spaces and use are no part of it, so that a job's own work never makes a memory look
new.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from madeleine.model.codec import extra_to_json
from madeleine.model.memory import Memory

DIGEST_BYTES = 16  # as many as tell any two texts of one person apart, and short in the journal


def text_digest(memory: Memory) -> str:
    """Return the hash of type, title and content."""
    return _hash_parts(memory.type.value, memory.title or "", memory.content)


def state_digest(memory: Memory) -> str:
    """Return the hash of what somebody decides by who is shown the memory: what it says, where
    it stands and whether it still holds. Connections come and go without changing that."""
    until = memory.valid_until.isoformat() if memory.valid_until else ""
    place = (memory.tier.value, memory.space or "", until, memory.superseded_by or "")
    return _hash_parts(text_digest(memory), *place)


def memory_version(memory: Memory) -> str:
    """Return the hash of what somebody sees who edits a memory. What they write is for this state
    of it and for no other; connections and use come and go beside it."""
    extra = extra_to_json(memory) or {}
    told = (f"{name}={value}" for name, value in extra.items())
    return _hash_parts(state_digest(memory), str(memory.confidence), *memory.tags, *told)


def source_digest(memory: Memory) -> str:
    """Return the hash of all that another program said about a memory, by which an import sees
    whether that has changed since."""
    links = sorted(f"{each.target} {each.edge.value} {each.weight}" for each in memory.connections)
    until = memory.valid_until.isoformat() if memory.valid_until else ""
    return _hash_parts(text_digest(memory), until, *sorted(memory.tags), "", *links)


def members_digest(members: Iterable[tuple[str, bytes]]) -> str:
    """Return a hash of who the members are and what each says, in whatever order they come."""
    whole = hashlib.blake2b(digest_size=DIGEST_BYTES)
    for memory_id, said in sorted(members):
        whole.update(memory_id.encode())
        whole.update(said)
    return whole.hexdigest()


def summary_state_digest(memory: Memory) -> str:
    """Return a hash of what stands about a summary beside its text and may be set by hand."""
    arrows = {f"{each.edge.value} {each.target}" for each in memory.connections}
    place = (memory.tier.value, memory.space or "", f"{memory.confidence:.4f}")
    said = "\0".join((*place, "", *sorted(memory.tags), "", *sorted(arrows)))
    return hashlib.blake2b(said.encode(), digest_size=DIGEST_BYTES).hexdigest()


def _hash_parts(*parts: str) -> str:
    joined = "\0".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(joined, digest_size=DIGEST_BYTES).hexdigest()
