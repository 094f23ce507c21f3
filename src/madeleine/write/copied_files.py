"""Giving a copied file an id of its own.

Who copies a memory's file to begin another one copies its id too. The file that was known before
stays the memory; the copy stands back, and if it is still there at the next look at all files it
becomes a memory of its own. Copies that sync programs and file managers make beside the original
are versions of it, which only a person can settle: they go on standing back.
"""

from __future__ import annotations

import uuid
from dataclasses import replace

from madeleine.errors import MadeleineError, NoFile
from madeleine.model.cause import Cause, NoteKind
from madeleine.model.change import Change, FileEdit
from madeleine.model.fingerprint import NO_FINGERPRINT
from madeleine.model.memory import Memory
from madeleine.vault.markdown import read_memory, revise_file
from madeleine.write.commit import commit
from madeleine.write.reconcile import is_variant_name
from madeleine.write.stores import Stores

COPIES = "copies"  # who gives a copy its id


def separate_copies(stores: Stores) -> tuple[Cause, ...]:
    """Give each copied file an id of its own, as a change that can be undone, and say so.

    The id follows from the memory's and from the copy's path, so that two devices which look at the
    same copy give it the same. A copy that was given one before and lost it again is left alone.
    """
    notes: list[Cause] = []
    for path in sorted(stores.reading.copies):
        try:
            notes += _separate_copy(stores, path)
        except MadeleineError:
            continue  # changed meanwhile, or the disk refuses: it stands back as before
    return tuple(notes)


def _separate_copy(stores: Stores, path: str) -> list[Cause]:
    try:
        data = stores.vault.read_bytes(path)
    except NoFile:
        return []
    memory = read_memory(path, data, NO_FINGERPRINT).memory
    original = stores.search.get(memory.id)
    if original is None or original.path == path or is_variant_name(path, original.path):
        return []
    own = replace(memory, id=_id_of_copy(memory, path))
    if stores.log.history(own.id):
        return []
    edit = FileEdit(own.id, path, data, path, revise_file(data, own, memory))
    reason = f"a copy of `{memory.short_id}`, whose file is {original.path}"
    commit(stores, Change(stores.new_id(), "revise", (edit,), COPIES, reason))
    stores.reading.copies.discard(path)
    return [Cause(NoteKind.COPY_SEPARATED, {"path": path, "memory": own.id, "of": memory.id})]


def _id_of_copy(memory: Memory, path: str) -> str:
    return str(uuid.uuid5(uuid.UUID(memory.id), path))
