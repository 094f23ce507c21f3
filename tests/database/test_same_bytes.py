"""Vault and journal hold the same bytes, wherever they stand."""

from __future__ import annotations

import itertools
import json
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from madeleine.bootstrap import HomeContext, open_home
from madeleine.bootstrap.restoring import restore_home
from madeleine.errors import InvalidValue, NotInFiles
from madeleine.model.draft import Draft
from madeleine.model.event import Event, EventKind, JournalCursor
from madeleine.model.revision import Revision
from madeleine.write.forget import forget
from madeleine.write.merge import merge
from madeleine.write.remember import remember
from madeleine.write.revise import revise
from madeleine.write.stores import Stores
from madeleine.write.undo import undo
from madeleine.write.upkeep import compact
from tests import postgres
from tests.fakes import NOON, FakeClock, close, keep, make_stores, vault_bytes


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[Stores]:
    opened = make_stores(tmp_path / "home", truth="database")
    yield opened
    close(opened)


@pytest.fixture
def journal(stores: Stores) -> Any:
    return stores.journal


def journal_bytes(stores: Stores) -> dict[str, bytes]:
    return {name: b"".join(stores.journal.lines(name)) for name in stores.journal.names()}


def test_the_same_verbs_leave_the_same_bytes_in_files_and_in_a_database(tmp_path: Path) -> None:
    left = [live(tmp_path / truth, truth) for truth in ("files", "database")]

    assert left[0] == left[1]
    assert len(left[0][0]) >= 4


def live(home: Path, truth: str) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Do the same things with stores that differ only in where they are; return all bytes."""
    numbers = itertools.count(1)
    made = make_stores(home, FakeClock(), truth=truth)
    stores = replace(made, new_id=lambda: f"{next(numbers):08}-0000-4000-8000-000000000000")
    tea = remember(stores, Draft("Tea at four", tags=("habits",))).memory
    coffee = remember(stores, Draft("Coffee at eight", title="Coffee ☕", about_self=True)).memory
    cup = remember(stores, Draft("A cup of coffee at eight")).memory
    change = revise(stores, tea.id, Revision({"content": "Tea at five"})).change
    undo(stores, str(change))
    merge(stores, coffee.id, cup.id)
    forget(stores, tea.id)
    found = vault_bytes(stores), journal_bytes(stores)
    close(made)
    return found


# -- the journal as rows -------------------------------------------------------------------


def state(number: int, month: int = 11) -> Event:
    body, at = {"key": f"key {number % 3}", "value": number}, NOON.replace(month=month)
    return Event(f"event-{number}", at + timedelta(seconds=number), EventKind.STATE, "laptop", body)


def read(journal: Any, since: dict[str, JournalCursor]) -> list[str]:
    return [event.id for chunk in journal.read(since) for event in chunk.events]


def test_reading_goes_on_where_the_last_look_ended(journal: Any) -> None:
    journal.append([state(1), state(2)], durable=True)
    (chunk,) = journal.read({})
    journal.append([state(3)], durable=False)

    assert read(journal, {chunk.name: chunk.position}) == ["event-3"]
    assert journal.shrunk_files({chunk.name: chunk.position}) == []


def test_a_file_that_is_another_is_read_from_its_start(journal: Any) -> None:
    journal.append([state(1), state(2)], durable=True)
    (name,) = journal.names()

    wrong = {name: JournalCursor(2, "another hash"), "gone-2026-01.jsonl": JournalCursor(7, "x")}

    assert read(journal, wrong) == ["event-1", "event-2"]
    assert sorted(journal.shrunk_files(wrong)) == ["gone-2026-01.jsonl", name]


def test_a_torn_line_that_was_brought_in_costs_only_itself(journal: Any) -> None:
    journal.append([state(1)], durable=True)
    (whole,) = journal.lines("laptop-2026-11.jsonl")
    other = json.loads(whole) | {"id": "event-9"}
    journal.bring_in("desk-2026-10.jsonl", [b'{"v":1,"id":"ha\n', json.dumps(other).encode()])

    (chunk,) = (each for each in journal.read({}) if each.name == "desk-2026-10.jsonl")

    assert [each.id for each in chunk.events] == ["event-9"]
    assert [(each.line, chunk.waits) for each in chunk.problems] == [(1, False)]
    assert b"".join(journal.lines(chunk.name)) == b'{"v":1,"id":"ha\n' + json.dumps(other).encode()


def test_a_past_month_is_made_smaller_and_says_the_same(stores: Stores, journal: Any) -> None:
    journal.append([state(each, month=10) for each in range(9)], durable=True)
    journal.bring_in("laptop-2026-10.jsonl", [b"no line of ours\n"])

    done = compact(stores)

    assert (done.files, len(done.dropped), done.damaged) == (["laptop-2026-10.jsonl"], 6, 1)
    assert read(journal, {})[:3] == ["event-6", "event-7", "event-8"]
    assert list(journal.lines("laptop-2026-10.jsonl.damaged")) == [b"no line of ours\n"]
    assert [stores.log.state(f"key {each}") for each in range(3)] == [6, 7, 8]


@pytest.mark.parametrize("path", ["../out.md", "/etc/out.md", "a/../../out.md", "x/./y.md", "a\0b"])
def test_no_path_leads_out_of_the_vault(stores: Stores, path: str) -> None:
    with pytest.raises(InvalidValue):
        stores.vault.read_bytes(path)
    with pytest.raises(InvalidValue):
        stores.vault.create([(path, b"text")])


# -- a whole home --------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    monkeypatch.setenv("MADELEINE_STORE", postgres.server().url)
    monkeypatch.setenv("MADELEINE_STORE_TRUTH", "database")
    monkeypatch.setenv("MADELEINE_STORE_TENANT", str(tmp_path))
    return tmp_path / "home"


@pytest.fixture
def context(home: Path) -> Iterator[HomeContext]:
    opened = open_home(home)
    yield opened
    opened.close()


def test_a_backup_of_a_database_holds_the_files(context: HomeContext, tmp_path: Path) -> None:
    memory = keep(context.stores, "a kettle")
    forget(context.stores, keep(context.stores, "a teapot").id)

    context.back_up(tmp_path / "all.zip")

    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        kept = {name: archive.read(name) for name in archive.namelist()}
    files = {f"vault/{path}": data for path, data in vault_bytes(context.stores).items()}
    lines = {f"journal/{name}": data for name, data in journal_bytes(context.stores).items()}
    assert kept.items() >= (files | lines).items()
    assert any(memory.id.encode() in data for data in files.values())


def test_no_backup_is_restored_beside_a_database(context: HomeContext, tmp_path: Path) -> None:
    context.back_up(tmp_path / "all.zip")

    with pytest.raises(NotInFiles):
        restore_home(context.home, tmp_path / "all.zip")

    assert not list((context.home / "vault").iterdir())


def test_a_home_can_be_open_twice_and_both_know_everything(
    context: HomeContext, home: Path
) -> None:
    other = open_home(home, wait_seconds=0)

    memory = keep(context.stores, "a kettle")

    assert other.stores.search.get(memory.id) is not None
    assert other.stores.vault.find_trashed(memory.id) == []
    other.close()


def test_an_index_that_was_thrown_away_comes_back_at_the_next_opening(home: Path) -> None:
    context = open_home(home)
    memory = keep(context.stores, "a kettle")
    context.stores.index.clear()
    context.close()

    again = open_home(home)

    assert again.stores.search.get(memory.id) is not None
    assert [each.kind for each in again.stores.log.history(memory.id)] == [EventKind.REMEMBERED]
    again.close()
