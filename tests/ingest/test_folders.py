"""Folders of notes that are followed: real files, the real watcher."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from madeleine.ingest.config import IngestConfig
from madeleine.ingest.context import IngestContext
from madeleine.ingest.folders import FolderWatcher
from madeleine.model.query import Filter
from madeleine.write.stores import Stores
from tests.server.running import eventually


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    return folder


@pytest.fixture
def intake(stores: Stores) -> IngestContext:
    return IngestContext(stores, IngestConfig(folder_debounce_seconds=0.05))


def followed(intake: IngestContext, *roots: Path) -> FolderWatcher:
    return FolderWatcher(intake, roots, (intake.stores.vault.root,))


def texts(intake: IngestContext) -> list[str]:
    stores = intake.stores
    return sorted(each.content for each in stores.search.listing(Filter(), stores.clock.now(), 100))


def files(folder: Path) -> dict[str, bytes]:
    return {str(each): each.read_bytes() for each in folder.rglob("*") if each.is_file()}


@contextmanager
def watching(folders: FolderWatcher) -> Iterator[None]:
    stop = threading.Event()
    thread = threading.Thread(target=folders.watch, args=(stop,))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(10)


def test_every_note_in_a_folder_is_taken_in_and_nothing_else(
    intake: IngestContext, notes: Path, tmp_path: Path
) -> None:
    (notes / "deep" / "er").mkdir(parents=True)
    (notes / ".obsidian").mkdir()
    (notes / "one.md").write_text("The first note.", encoding="utf-8")
    (notes / "deep" / "er" / "two.txt").write_text("The second note.", encoding="utf-8")
    (notes / ".hidden.md").write_text("A hidden note.", encoding="utf-8")
    (notes / ".obsidian" / "three.md").write_text("A setting.", encoding="utf-8")
    (notes / "code.py").write_text("print('no note')", encoding="utf-8")
    (tmp_path / "outside.md").write_text("Somebody else's note.", encoding="utf-8")
    (notes / "link.md").symlink_to(tmp_path / "outside.md")

    assert followed(intake, notes).scan() == 2
    assert texts(intake) == ["The first note.", "The second note."]


def test_watching_a_folder_writes_nothing_into_it(intake: IngestContext, notes: Path) -> None:
    (notes / "one.md").write_text("The first note.", encoding="utf-8")
    before = files(notes)

    followed(intake, notes).scan()

    assert files(notes) == before


def test_a_second_look_reads_only_what_changed(intake: IngestContext, notes: Path) -> None:
    for number in range(5):
        (notes / f"{number}.md").write_text(f"Note number {number} is here.", encoding="utf-8")
    folders = followed(intake, notes)
    folders.scan()
    (notes / "3.md").write_text("Note number 3 was changed.", encoding="utf-8")

    assert folders.scan() == 1
    assert len(texts(intake)) == 5
    assert "Note number 3 was changed." in texts(intake)


def test_after_a_restart_nothing_is_taken_in_twice(intake: IngestContext, notes: Path) -> None:
    (notes / "one.md").write_text("The first note.", encoding="utf-8")
    followed(intake, notes).scan()

    followed(intake, notes).scan()

    assert texts(intake) == ["The first note."]


def test_our_own_vault_is_never_taken_in(intake: IngestContext, tmp_path: Path) -> None:
    vault = intake.stores.vault.root
    vault.mkdir(parents=True, exist_ok=True)
    (vault / "fact_x_12345678.md").write_text("A memory.", encoding="utf-8")

    assert followed(intake, vault.parent).scan() == 0
    assert followed(intake, vault).scan() == 0


def test_what_cannot_be_read_is_told_and_keeps_nothing_else_out(
    intake: IngestContext, notes: Path
) -> None:
    intake.config = replace(intake.config, content_bytes=100)
    (notes / "binary.md").write_bytes(b"\xff\xfe\x00")
    (notes / "good.md").write_text("A good note.", encoding="utf-8")
    (notes / "long.md").write_text("x" * 101, encoding="utf-8")

    followed(intake, notes, notes / "absent").scan()

    assert texts(intake) == ["A good note."]
    told = intake.problems()
    assert len(told) == 3
    assert any("not UTF-8" in each for each in told)
    assert any("101 bytes" in each for each in told)
    assert any("is no folder" in each for each in told)


def test_a_note_that_is_written_while_we_watch_is_followed(
    intake: IngestContext, notes: Path
) -> None:
    (notes / "one.md").write_text("The pier is green.", encoding="utf-8")
    folders = followed(intake, notes)
    folders.scan()

    with watching(folders):

        def arrived() -> bool:
            (notes / "two.md").write_text("The boat is blue.", encoding="utf-8")
            return "The boat is blue." in texts(intake)

        eventually(arrived, 10)
        (notes / "one.md").write_text("The pier is red.", encoding="utf-8")
        eventually(lambda: texts(intake) == ["The boat is blue.", "The pier is red."], 10)


def test_a_renamed_note_keeps_its_memory(intake: IngestContext, notes: Path) -> None:
    intake.config = replace(intake.config, deleted_files="retire")
    (notes / "one.md").write_text("The pier is green.", encoding="utf-8")
    folders = followed(intake, notes)
    folders.scan()
    (notes / "one.md").rename(notes / "two.md")

    folders._read_changed({notes / "one.md", notes / "two.md"}, lambda: True)

    assert texts(intake) == ["The pier is green."]
    [memory] = intake.stores.search.listing(Filter(), intake.stores.clock.now(), 10)
    assert memory.origin is not None
    assert memory.origin.uri == (notes / "two.md").as_uri()


def test_a_deleted_note_is_retired_where_that_is_wanted(intake: IngestContext, notes: Path) -> None:
    intake.config = replace(intake.config, deleted_files="retire")
    (notes / "one.md").write_text("The pier is green.", encoding="utf-8")
    folders = followed(intake, notes)
    folders.scan()

    (notes / "one.md").unlink()
    folders._read_changed({notes / "one.md"}, lambda: True)

    assert texts(intake) == []


def test_an_empty_file_is_about_to_be_written(intake: IngestContext, notes: Path) -> None:
    (notes / "one.md").write_text("The pier is green.", encoding="utf-8")
    folders = followed(intake, notes)
    folders.scan()
    (notes / "one.md").write_text("", encoding="utf-8")
    folders.scan()
    assert texts(intake) == ["The pier is green."]

    (notes / "one.md").write_text("The pier is red.", encoding="utf-8")
    folders.scan()

    assert texts(intake) == ["The pier is red."]


def test_a_folder_that_is_gone_retires_nothing(intake: IngestContext, notes: Path) -> None:
    intake.config = replace(intake.config, deleted_files="retire")
    (notes / "one.md").write_text("The pier is green.", encoding="utf-8")
    folders = followed(intake, notes)
    folders.scan()

    notes.rename(notes.with_name("unplugged"))
    folders._read_changed({notes / "one.md"}, lambda: True)

    assert texts(intake) == ["The pier is green."]


def test_a_note_belongs_to_the_project_around_it(intake: IngestContext, notes: Path) -> None:
    (notes / "atlas" / ".git").mkdir(parents=True)
    (notes / "atlas" / "plan.md").write_text("The plan is simple.", encoding="utf-8")

    followed(intake, notes).scan()

    [memory] = intake.stores.search.listing(Filter(), intake.stores.clock.now(), 10)
    assert memory.space == "atlas"


@pytest.mark.parametrize("name", ["node_modules", "venv", "__pycache__", ".obsidian"])
def test_a_folder_that_is_left_out_is_so_too_when_it_appears_while_we_watch(
    intake: IngestContext, notes: Path, name: str
) -> None:
    deep = notes / "atlas" / name / "left-pad"
    deep.mkdir(parents=True)
    (deep / "readme.md").write_text("Pads a text on its left.", encoding="utf-8")
    folders = followed(intake, notes)

    for place in (deep / "readme.md", deep, deep.parent, deep.parent.parent):
        folders._read_changed({place}, lambda: True)

    assert texts(intake) == []


def test_a_linked_folder_that_appears_while_we_watch_is_not_followed(
    intake: IngestContext, notes: Path, tmp_path: Path
) -> None:
    vault = intake.stores.vault.root
    (vault / "deep").mkdir(parents=True, exist_ok=True)
    (vault / "deep" / "fact_x_12345678.md").write_text("A memory.", encoding="utf-8")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "theirs.md").write_text("Somebody else's note.", encoding="utf-8")
    (notes / "ours").symlink_to(vault)
    (notes / "theirs").symlink_to(tmp_path / "outside")
    folders = followed(intake, notes)

    for place in ("ours", "ours/deep", "ours/deep/fact_x_12345678.md", "theirs/theirs.md"):
        folders._read_changed({notes / place}, lambda: True)

    assert texts(intake) == []


def test_a_folder_that_appears_while_we_watch_is_taken_in_whole(
    intake: IngestContext, notes: Path
) -> None:
    (notes / "new" / "deep").mkdir(parents=True)
    (notes / "new" / "deep" / "one.MD").write_text("The pier is green.", encoding="utf-8")

    followed(intake, notes)._read_changed({notes / "new"}, lambda: True)

    assert texts(intake) == ["The pier is green."]
