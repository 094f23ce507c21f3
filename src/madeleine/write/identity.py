"""The self: the one memory that stands for the user.

Its id is fixed, so that two devices which share a vault, or an index made anew, never end up
with two of them. A vault that came from elsewhere may bring its own self; that one is used.
What describes the user carries the tag `about_self`, and the index draws a `defines` edge
from the self to each such memory.
"""

from __future__ import annotations

import uuid

from madeleine.errors import FileUnreadable
from madeleine.model.change import Change, FileEdit
from madeleine.model.memory import SHORT_ID_LENGTH, Memory
from madeleine.model.query import Filter
from madeleine.model.words import ABOUT_SELF, SELF_SOURCE, MemoryType, Tier
from madeleine.vault.markdown import render_memory
from madeleine.write.commit import NewMemory, commit_new_memory
from madeleine.write.embedding import embed_memory
from madeleine.write.stores import Stores

SELF_ID = str(uuid.uuid5(uuid.NAMESPACE_URL, "madeleine:self"))


def ensure_self(stores: Stores) -> str:
    """Return the id of the self, writing its file if there is none yet."""
    found = stores.graph.self_id()
    if found is not None:
        return found
    memory = _build_self(stores)
    traces, _ = embed_memory(stores, memory)
    with stores.writing:
        found = stores.graph.self_id()
        if found is not None:
            return found
        _refuse_second_self(stores)
        path = stores.vault.path_for(memory)
        edit = FileEdit(memory.id, None, None, path, render_memory(memory))
        change = Change(stores.new_id(), "remember", (edit,), by="self")
        commit_new_memory(stores, NewMemory(memory, change, traces))
    return memory.id


def complete_self(stores: Stores) -> None:
    """Write the self where a file brought something about the user and there is no self yet."""
    about = Filter(tags=(ABOUT_SELF,), outdated=True)
    if stores.graph.self_id() is None and stores.search.count(about, stores.clock.now()):
        ensure_self(stores)


def _refuse_second_self(stores: Stores) -> None:
    """A self whose file does not parse at the moment is still the self."""
    for each in stores.search.unreadable():
        if SELF_ID[:SHORT_ID_LENGTH] in each.path:
            raise FileUnreadable(each.path, each.line, each.problem)


def _build_self(stores: Stores) -> Memory:
    now = stores.clock.now()
    return Memory(
        id=SELF_ID,
        content="The person whose memory this is.",
        created=now,
        updated=now,
        type=MemoryType.PERSON,
        tier=Tier.CORE,
        title="Self",
        source=SELF_SOURCE,
    )
