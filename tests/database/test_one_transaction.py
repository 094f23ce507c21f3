"""With the truth in a database a write is one transaction: file, journal and index together."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from madeleine.errors import FileChanged, MadeleineError, Rejected
from madeleine.index.log import WhisperEntry
from madeleine.index.port import IndexBatch
from madeleine.model.change import FileEdit
from madeleine.model.event import EventKind
from madeleine.model.revision import Revision
from madeleine.write.change_file import ChangeResult
from madeleine.write.forget import forget, restore
from madeleine.write.purge import purge
from madeleine.write.record import new_event, record_events
from madeleine.write.revise import revise
from madeleine.write.stores import Stores
from madeleine.write.undo import undo
from tests.fakes import NOON, close, keep, make_stores, vault_bytes

pytestmark = pytest.mark.proves("I4")


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[Stores]:
    opened = make_stores(tmp_path / "home", truth="database")
    yield opened
    close(opened)


@pytest.fixture
def other(stores: Stores, tmp_path: Path) -> Iterator[Stores]:
    """The same memory, as another server has it open."""
    opened = make_stores(tmp_path / "home", truth="database")
    yield opened
    close(opened)


def reword(stores: Stores, memory_id: str, content: str) -> ChangeResult:
    return revise(stores, memory_id, Revision({"content": content}))


def everything(stores: Stores) -> tuple[dict[str, bytes], list[bytes], list[str]]:
    """Return all files, all journal lines, and the ids in the index."""
    lines = [line for name in stores.journal.names() for line in stores.journal.lines(name)]
    return vault_bytes(stores), lines, stores.search.ids_after("", 100)


def test_nothing_is_seen_before_all_of_it_is_kept(stores: Stores, other: Stores) -> None:
    before = everything(other)
    with stores.writing:
        keep(stores, "a kettle")
        inside = everything(stores)
        assert everything_elsewhere(other) == before

    assert everything(other) == inside
    assert all(inside)


def everything_elsewhere(stores: Stores) -> Any:
    """Look from another thread: this one is inside of the transaction."""
    found: list[Any] = []
    looking = threading.Thread(target=lambda: found.append(everything(stores)))
    looking.start()
    looking.join(10)
    return found[0]


def test_what_raises_takes_file_journal_and_index_back(stores: Stores) -> None:
    keep(stores, "a teapot")
    before = everything(stores)

    with pytest.raises(FileChanged):
        write_and_raise(stores)

    assert everything(stores) == before


def write_and_raise(stores: Stores) -> None:
    with stores.writing:
        keep(stores, "a kettle")
        raise FileChanged("somewhere.md")


def test_an_index_that_refuses_is_no_delay_but_a_refusal(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With files a change is done once the files have it, and the index follows later. Here
    nothing of it is kept, so nobody may be told that it is."""
    memory = keep(stores, "a kettle")
    before = everything(stores)
    write = type(stores.index).write

    def refuse(index: Any, batch: IndexBatch) -> None:
        if any(each.kind is EventKind.SETTLED for each in batch.events):
            with index._state.rows.writing() as access:
                access.run("SELECT 1 / 0")
        write(index, batch)

    monkeypatch.setattr(type(stores.index), "write", refuse)
    with pytest.raises(MadeleineError):
        reword(stores, memory.id, "a copper kettle")
    monkeypatch.undo()

    assert everything(stores) == before
    assert reword(stores, memory.id, "a copper kettle").memory.content != "a kettle"


def test_a_text_that_cannot_be_kept_leaves_nothing(stores: Stores) -> None:
    before = everything(stores)

    with pytest.raises(Rejected):
        note_and_write_nonsense(stores)

    assert everything(stores) == before


def note_and_write_nonsense(stores: Stores) -> None:
    with stores.writing:
        record_events(
            stores, [new_event(stores, EventKind.STATE, {"key": "k", "value": "v"})], durable=True
        )
        stores.index.write(IndexBatch(unreadable={"half \ud800 a pair": (1, "no text")}))


def test_writers_of_all_servers_take_turns(stores: Stores, other: Stores) -> None:
    began, ended = threading.Event(), threading.Event()

    def write() -> None:
        began.set()
        keep(other, "by the other server")
        ended.set()

    with stores.writing:
        waiting = threading.Thread(target=write)
        waiting.start()
        began.wait(10)
        assert not ended.wait(0.3)
    waiting.join(10)

    assert ended.is_set()


def test_every_way_there_and_back_leaves_the_same_bytes(stores: Stores) -> None:
    memory = keep(stores, "a kettle", tags=("kitchen",))
    whole = vault_bytes(stores)

    change = reword(stores, memory.id, "a copper kettle").change
    undo(stores, change or "")
    forget(stores, memory.id)
    restore(stores, memory.id)

    assert vault_bytes(stores) == whole


def test_what_was_said_before_is_kept_until_it_is_purged(stores: Stores) -> None:
    memory = keep(stores, "the old secret")
    reword(stores, memory.id, "something else")
    assert any(b"the old secret" in each for each in former(stores))

    forget(stores, memory.id)
    purge(stores, [memory.id])

    assert former(stores) == []
    assert not any(b"secret" in line for line in everything(stores)[1])


def test_the_log_of_whispers_forgets_what_is_purged_and_keeps_the_rest(stores: Stores) -> None:
    gone, kept = keep(stores, "The quokka sleeps"), keep(stores, "Lunch is at noon")
    for each in (gone, kept):
        body = {"injected": [each.id], "text": each.content}
        stores.log.log_whisper(WhisperEntry(each.id, NOON, "s", None, body), NOON)
    forget(stores, gone.id)

    purge(stores, [gone.id])

    assert [each.body["text"] for each in stores.log.whispers(10)] == [kept.content]


def former(stores: Stores) -> list[bytes]:
    rows: Any = stores.vault._rows  # type: ignore[attr-defined]  # no method looks there
    with rows.reading() as access:
        return [
            bytes(each)
            for each in access.column("SELECT data FROM former_files WHERE truth = :truth")
        ]


def test_an_edit_made_for_another_state_is_refused(stores: Stores) -> None:
    keep(stores, "a kettle")
    ((path, data),) = vault_bytes(stores).items()

    with pytest.raises(FileChanged):
        stores.vault.apply(FileEdit("x", path, b"not this", path, b"but that"))
    with pytest.raises(FileChanged):
        stores.vault.apply(FileEdit("x", None, None, path, b"in its place"))

    assert vault_bytes(stores) == {path: data}
