"""Finding the one memory that an id, or the beginning of one, names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from madeleine.errors import AmbiguousId, MemoryChoice, NoSuchMemory
from madeleine.model.memory import Memory
from madeleine.model.stored_memory import StoredMemory
from madeleine.write.stores import Stores

_ID_PREFIX_PATTERN = re.compile(r"[0-9a-f-]{1,36}\Z")
MAX_CHOICES = 8
CHOICE_CHARS = 13  # of an id that is named with its title


def resolve_id(stores: Stores, wanted: str) -> str:
    """Return the id that `wanted` names: a whole UUID, a short id or any unambiguous prefix."""
    prefix = wanted.strip().strip("`").lower()
    if not _ID_PREFIX_PATTERN.match(prefix):
        raise NoSuchMemory(wanted)
    found = stores.search.ids_with_prefix(prefix, MAX_CHOICES + 1)
    if prefix in found:
        return prefix
    if not found:
        raise NoSuchMemory(wanted, _find_similar_ids(stores, prefix))
    if len(found) > 1:
        raise AmbiguousId(wanted, _build_choices(stores, found[:MAX_CHOICES]))
    return found[0]


def get_stored(stores: Stores, wanted: str) -> StoredMemory:
    """Return the memory that `wanted` names, with the file it stands in."""
    stored = stores.search.get(resolve_id(stores, wanted))
    if stored is None:
        raise NoSuchMemory(wanted)
    return stored


def get_memory(stores: Stores, wanted: str) -> Memory:
    return get_stored(stores, wanted).memory


def _find_similar_ids(stores: Stores, prefix: str) -> list[MemoryChoice]:
    """Memories whose id begins like the wanted one: a slip in the last characters is usual."""
    for length in range(len(prefix) - 1, 2, -1):
        found = stores.search.ids_with_prefix(prefix[:length], 3)
        if found:
            return _build_choices(stores, found)
    return []


def _build_choices(stores: Stores, ids: Sequence[str]) -> list[MemoryChoice]:
    known = stores.search.memories(ids)
    return [
        MemoryChoice(each, known[each].headline, chars=CHOICE_CHARS)
        if each in known
        else MemoryChoice(each)
        for each in ids
    ]
