"""A program that uses a field `author`, which only a changed copy of Madeleine has.

`test_added_field.py` makes that copy and runs this with it: `python -m tests.contracts.added_field
HOME ENGINE`. It ends with an error at the first step through which the field does not go.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from madeleine.errors import InvalidValue
from madeleine.ingest.memory_fields import memory_fields
from madeleine.model.codec import memory_from_json, memory_to_json
from madeleine.model.digest import memory_version
from madeleine.model.draft import MemoryLimits, read_draft
from madeleine.model.incoming import read_incoming
from madeleine.model.memory import Memory
from madeleine.model.revision import read_revision
from madeleine.testing.making import keep, memory
from madeleine.write.remember import remember
from madeleine.write.revise import revise
from madeleine.write.undo import undo
from tests import falkordb, postgres
from tests.contracts.engines import MAKERS
from tests.fakes import close, make_stores, reopened, vault_bytes


def main(home: Path, engine: str) -> None:
    try:
        index = MAKERS[engine](home)
        written: Any = {"author": "Ana"}
        keep(index, memory(1, **written), memory(2))
        found = index.search.memories([memory(1).id, memory(2).id])
        assert [author_of(each) for each in found.values()] == ["Ana", None]
        index.close()
    finally:
        postgres.stop()
        falkordb.stop()
    if engine == "sqlite":
        go_through_verbs(home / "verbs")


def go_through_verbs(home: Path) -> None:
    limits = MemoryLimits()
    stores = make_stores(home)
    made = remember(stores, read_draft({"content": "Tea", "author": " Ana\n"}, limits)).memory
    (written,) = [text for text in vault_bytes(stores).values() if made.id.encode() in text]
    assert b"\nauthor: Ana\n---\n" in written
    assert author_of(made) == "Ana"

    known = memory_from_json(memory_to_json(made))
    assert author_of(known) == "Ana"
    assert memory_fields(made)["author"] == "Ana"
    assert author_of(read_incoming(memory_fields(made), limits, None).draft) == "Ana"

    changed = revise(stores, made.id, read_revision({"author": "Bea"}, limits))
    assert author_of(changed.memory) == "Bea"
    assert memory_version(changed.memory) != memory_version(made)
    cleared = revise(stores, made.id, read_revision({"author": None}, limits))
    assert not any(b"author" in text for text in vault_bytes(stores).values())
    for change in (cleared.change, changed.change):
        assert change is not None
        undo(stores, change)
    assert written in vault_bytes(stores).values()

    stores = reopened(stores, home, without_index=True)
    assert author_of(stores.search.memories([made.id])[made.id]) == "Ana"
    close(stores)
    try:
        read_draft({"content": "Tea", "author": "a" * 101}, limits)
    except InvalidValue:
        return
    raise AssertionError("an author of 101 characters was taken")


def author_of(one: object) -> object:
    assert isinstance(one, Memory) or type(one).__name__ == "Draft"
    return getattr(one, "author")  # noqa: B009  # this tree has no such field


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
