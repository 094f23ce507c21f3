"""Reconcile and rebuild: the index follows the files, and nothing is lost on the way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from madeleine.index.port import IndexBatch
from madeleine.model.event import EventKind
from madeleine.model.memory import Connection
from madeleine.model.query import Filter
from madeleine.model.words import Edge
from madeleine.write.reconcile import embed_missing, reconcile, reconcile_paths
from madeleine.write.record import new_event, record_events
from madeleine.write.resolve import get_stored
from madeleine.write.show import show
from madeleine.write.stores import Stores
from tests.fakes import close, keep, make_stores, reopened, vault_bytes


def found_by_text(stores: Stores, *words: str) -> list[str]:
    hits = stores.search.search_text(list(words), Filter(), stores.clock.now(), 10)
    return [hit.id for hit in hits]


def found_by_meaning(stores: Stores, text: str) -> str:
    assert stores.minds.embedder is not None
    vector = stores.minds.embedder.ask(text).vector
    return stores.search.search_vector(vector, Filter(), stores.clock.now(), 1)[0].id


def file_of(stores: Stores, memory_id: str) -> Path:
    return stores.vault.root / get_stored(stores, memory_id).path


def test_a_file_written_by_hand_becomes_a_memory(stores: Stores) -> None:
    path = stores.vault.root / "notes" / "Tea.md"
    path.parent.mkdir(parents=True)
    path.write_text("Oolong is best at 85 degrees.\n", encoding="utf-8")

    report = reconcile(stores)

    assert (report.files, report.written) == (1, 1)
    memory = stores.search.listing(Filter(), stores.clock.now(), 5)[0]
    assert memory.content == "Oolong is best at 85 degrees."
    assert memory.title == "Tea"
    assert path.read_text(encoding="utf-8") == "Oolong is best at 85 degrees.\n"


def test_a_hand_edit_is_found_by_meaning_within_one_reconcile(stores: Stores) -> None:
    memory = keep(stores, "the cat sleeps on the sofa")
    keep(stores, "invoices are due in thirty days")
    path = file_of(stores, memory.id)
    text = path.read_text(encoding="utf-8")
    path.write_text(
        text.replace("the cat sleeps on the sofa", "quarterly tax forms go out in April"),
        encoding="utf-8",
    )

    reconcile(stores)

    assert found_by_text(stores, "cat") == []
    assert found_by_meaning(stores, "quarterly tax forms in April") == memory.id


def test_a_renamed_file_is_the_same_memory(stores: Stores) -> None:
    memory = keep(stores, "the cat sleeps")
    path = file_of(stores, memory.id)
    folder = stores.vault.root / "animals"
    folder.mkdir()
    path.rename(folder / "cat.md")

    report = reconcile(stores)

    assert (report.written, report.dropped) == (1, 0)
    assert get_stored(stores, memory.id).path == "animals/cat.md"


@pytest.mark.proves("I1")
def test_a_memory_exists_exactly_when_its_file_does(stores: Stores) -> None:
    memory = keep(stores, "the cat sleeps")
    path = file_of(stores, memory.id)
    data = path.read_bytes()

    path.unlink()
    report = reconcile(stores)
    assert report.dropped == 1
    assert stores.search.get(memory.id) is None
    assert found_by_text(stores, "cat") == []

    path.write_bytes(data)
    reconcile(stores)
    assert get_stored(stores, memory.id).memory.content == "the cat sleeps"


def test_a_file_that_no_longer_parses_keeps_its_index_row(stores: Stores) -> None:
    memory = keep(stores, "the cat sleeps", title="Cat")
    path = file_of(stores, memory.id)
    good = path.read_bytes()
    path.write_bytes(good.replace(b"type: fact", b"type: fable"))

    report = reconcile(stores)

    assert get_stored(stores, memory.id).memory.title == "Cat"
    assert found_by_text(stores, "cat") == [memory.id]
    assert len(report.unreadable) == 1
    assert "fable" in report.unreadable[0]
    assert f"{path.name}:3:" in report.unreadable[0]

    path.write_bytes(good)
    assert reconcile(stores).unreadable == []


def test_an_unreadable_file_that_is_removed_loses_its_row(stores: Stores) -> None:
    memory = keep(stores, "the cat sleeps")
    path = file_of(stores, memory.id)
    path.write_bytes(b"---\nid: [\n---\nx\n")
    reconcile(stores)
    path.unlink()

    report = reconcile(stores)

    assert report.unreadable == []
    assert stores.search.get(memory.id) is None


def test_of_two_files_with_one_id_the_shorter_name_counts(stores: Stores) -> None:
    memory = keep(stores, "the cat sleeps")
    path = file_of(stores, memory.id)
    copy = path.with_name(path.name.replace(".md", ".sync-conflict-20261115.md"))
    copy.write_bytes(path.read_bytes().replace(b"sleeps", b"wakes"))

    report = reconcile(stores)

    assert get_stored(stores, memory.id).memory.content == "the cat sleeps"
    assert len(report.unreadable) == 1
    assert "same id" in report.unreadable[0]

    path.unlink()
    reconcile_paths(stores, [path.name])
    assert get_stored(stores, memory.id).memory.content == "the cat wakes"


def test_reindexing_a_memory_keeps_every_connection_that_points_to_it(stores: Stores) -> None:
    target = keep(stores, "the moon is far")
    link = Connection(target.id, Edge.SUPPORTS, 0.7, "because", "me")
    source = keep(stores, "rockets are slow", connections=(link,))
    before = show(stores, target.id).edges
    path = file_of(stores, target.id)
    path.write_bytes(path.read_bytes().replace(b"far", b"very far"))

    reconcile(stores)

    assert show(stores, target.id).edges == before
    assert before[0].source == source.id
    assert before[0].connection.reason == "because"


def test_a_connection_keeps_its_reason_and_date_through_rebuild(tmp_path: Path) -> None:
    home = tmp_path / "home"
    stores = make_stores(home)
    target = keep(stores, "the moon is far")
    link = Connection(target.id, Edge.SUPPORTS, 0.7, "because", "me")
    source = keep(stores, "rockets are slow", connections=(link,))
    before = show(stores, source.id).edges

    stores = reopened(stores, home, without_index=True)

    assert show(stores, source.id).edges == before
    assert before[0].connection.at is not None
    close(stores)


def test_a_dangling_connection_resolves_when_its_target_appears(stores: Stores) -> None:
    target = "97acbe8e-0000-4000-8000-000000000001"
    path = stores.vault.root / "source.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(
        "---\nid: 97acbe8e-0000-4000-8000-000000000002\nconnections:\n"
        f"  - target: {target}\n    edge: part_of\n    weight: 0.5\n---\nwheel\n",
        encoding="utf-8",
    )
    reconcile(stores)
    assert [e.resolved for e in show(stores, "97acbe8e").edges] == [False]

    keep(stores, "car", id=target)

    assert [e.resolved for e in show(stores, target).edges] == [True]


def test_an_idle_run_reads_no_file_it_knows(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        keep(stores, f"memory number {number}")
    monkeypatch.setattr(type(stores.vault), "read", lambda self, path: pytest.fail(path))

    report = reconcile(stores)

    assert (report.unchanged, report.written) == (20, 0)


@pytest.mark.proves("I3")
def test_reading_and_scoring_leave_every_file_untouched(stores: Stores) -> None:
    memory = keep(stores, "the cat sleeps")
    before = vault_bytes(stores)
    times = {p: p.stat().st_mtime_ns for p in stores.vault.root.rglob("*")}

    show(stores, memory.id)
    found_by_text(stores, "cat")
    uses = new_event(stores, EventKind.USED, {"memory": memory.id, "how": "recalled"})
    scored = new_event(stores, EventKind.SCORED, {"scores": {memory.id: {"importance": 0.9}}})
    record_events(stores, [uses, scored], durable=True)
    reconcile(stores)

    assert vault_bytes(stores) == before
    assert {p: p.stat().st_mtime_ns for p in stores.vault.root.rglob("*")} == times
    assert get_stored(stores, memory.id).memory.importance == 0.9
    assert get_stored(stores, memory.id).memory.access_count == 1


def test_counters_of_a_foreign_file_are_taken_over_once(tmp_path: Path) -> None:
    home = tmp_path / "home"
    stores = make_stores(home)
    memory_id = "97acbe8e-0000-4000-8000-000000000001"
    text = (
        f"---\nid: {memory_id}\ntype: fact\ntier: working\nsource: agent:claude-code\n"
        "created: '2026-04-01T10:00:00Z'\nupdated: '2026-04-01T10:00:00Z'\n"
        "last_accessed: '2026-04-05T10:00:00Z'\naccess_count: 7\nconfidence: 1.0\n"
        "importance: 0.61\nstability: 12.5\ntitle: Dublin\n---\n\nLives in Dublin"
    )
    path = stores.vault.root / "fact_dublin_97acbe8e.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")

    reconcile(stores)
    stores = reopened(stores, home, without_index=True)

    memory = get_stored(stores, memory_id).memory
    assert (memory.access_count, memory.stability, memory.importance) == (7, 12.5, 0.61)
    assert memory.content == "Lives in Dublin"
    assert path.read_text(encoding="utf-8") == text
    lines = [
        json.loads(line)
        for file in (home / "journal").glob("*.jsonl")
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    assert [line["kind"] for line in lines].count("adopted") == 1
    close(stores)


def test_restart_embeds_only_what_changed(tmp_path: Path) -> None:
    home = tmp_path / "home"
    stores = make_stores(home)
    for number in range(5):
        keep(stores, f"memory number {number}")

    stores = reopened(stores, home)

    assert reconcile(stores).written == 0
    assert stores.search.counts().unembedded == 0
    close(stores)


@pytest.mark.parametrize(
    ("chunks", "expected"), [(1, [4, 8, 10]), (2, [0, 8, 10]), (9, [0, 0, 10])]
)
def test_several_chunks_may_be_one_transaction(
    stores: Stores, monkeypatch: pytest.MonkeyPatch, chunks: int, expected: list[int]
) -> None:
    monkeypatch.setattr("madeleine.write.reconcile.BATCH_FILES", 4)
    for number in range(10):
        keep(stores, f"memory number {number}")
    stores.index.clear()
    seen: list[int] = []

    report = reconcile(
        stores, lambda done, total: seen.append(stores.search.counts().memories), chunks
    )

    assert (report.written, seen) == (10, expected)


def test_memories_without_a_vector_get_one_later(tmp_path: Path) -> None:
    home = tmp_path / "home"
    stores = make_stores(home, with_model=False)
    memory = keep(stores, "tax forms go out in April")
    close(stores)
    stores = make_stores(home)

    assert embed_missing(stores) == 1

    assert found_by_meaning(stores, "tax forms in April") == memory.id
    close(stores)


def test_a_row_the_index_lost_comes_back(stores: Stores) -> None:
    memory = keep(stores, "the cat sleeps")
    stores.index.write(IndexBatch(drops=[memory.id]))

    reconcile(stores)

    assert get_stored(stores, memory.id).memory.content == "the cat sleeps"
