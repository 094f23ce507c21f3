"""Taking what another version of a memory says: the answer when two machines changed the same."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from madeleine.model.change import Change
from madeleine.model.fields import FIELDS
from madeleine.model.fingerprint import NO_FINGERPRINT
from madeleine.vault.markdown import read_memory
from madeleine.vault.redaction import TAKE_VERSION
from madeleine.write.change_file import ChangeContext

_FIELD_NAMES = frozenset(row.name for row in FIELDS) - {"id", "created", "updated"}


def plan_take_version(hand: ChangeContext, memory_id: str, action: Mapping[str, str]) -> Change:
    """Return the change that puts the named fields of another version into a memory's file."""
    current = hand.read(memory_id)
    data = action["text"].encode("utf-8")
    other = read_memory(current.path, data, NO_FINGERPRINT).memory
    names = _FIELD_NAMES.intersection(json.loads(action["fields"]))
    taken = {name: getattr(other, name) for name in sorted(names)}
    wanted = replace(current.memory, **taken)
    if wanted != current.memory:
        wanted = replace(wanted, updated=max(hand.at, current.memory.updated))
    return hand.change(TAKE_VERSION, [current.edit(wanted)])
