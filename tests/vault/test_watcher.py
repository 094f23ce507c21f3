"""Real changes to a real folder are told."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from madeleine.vault.watcher import watch_vault

AT_ONCE = 1.0  # seconds: what a person who edits a file would call so
BOUND = 10.0  # seconds: how long a busy machine may take before a test gives up
LONG_AGO = 1_700_000_000  # polling tells times apart by whole seconds


@dataclass
class Told:
    """What the watcher said."""

    root: Path
    paths: set[str] = field(default_factory=set)
    news: threading.Condition = field(default_factory=threading.Condition)

    def hear(self, paths: set[str]) -> None:
        with self.news:
            self.paths |= paths
            self.news.notify_all()

    def hears(self, *wanted: str, within: float = BOUND) -> bool:
        with self.news:
            return self.news.wait_for(lambda: self.paths >= set(wanted), within)

    def after(self, act: Callable[[], object]) -> Told:
        """Forget what was said, then act."""
        with self.news:
            self.paths.clear()
        act()
        return self


@pytest.fixture(params=[False, True], ids=["told", "polling"])
def told(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Told]:
    root = tmp_path / "vault"
    (root / "b").mkdir(parents=True)
    (root / "a.md").write_bytes(b"old")
    (root / "b" / "c.md").write_bytes(b"old")
    for path in ["a.md", "b/c.md"]:
        os.utime(root / path, (LONG_AGO, LONG_AGO))
    stop, heard = threading.Event(), Told(root)
    thread = threading.Thread(target=watch_vault, args=(root, heard.hear, stop, request.param))
    thread.start()
    _wait_until_watching(heard)
    yield heard
    stop.set()
    thread.join(BOUND)
    assert not thread.is_alive()


def _wait_until_watching(heard: Told) -> None:
    deadline = time.monotonic() + BOUND
    while not heard.hears("started.md", within=0.2):
        assert time.monotonic() < deadline
        (heard.root / "started.md").unlink(missing_ok=True)
        (heard.root / "started.md").write_bytes(b"x")


def test_an_edit_is_told_within_a_second(told: Told) -> None:
    """Three goes, because a machine that runs other tests may be late once."""

    def edit(number: int) -> bool:
        told.after(lambda: (told.root / f"{number}.md").write_bytes(b"new"))
        return told.hears(f"{number}.md", within=AT_ONCE)

    assert any(edit(number) for number in range(3))


def test_an_edited_file_is_told(told: Told) -> None:
    told.after(lambda: (told.root / "a.md").write_bytes(b"new text"))

    assert told.hears("a.md")


def test_a_new_file_in_a_folder_is_told(told: Told) -> None:
    told.after(lambda: (told.root / "b" / "d é.md").write_bytes(b"new"))

    assert told.hears("b/d é.md")


def test_a_file_replaced_as_editors_do_is_told(told: Told) -> None:
    def save() -> None:
        (told.root / ".a.md.swp").write_bytes(b"new text")
        (told.root / ".a.md.swp").replace(told.root / "a.md")

    told.after(save)

    assert told.hears("a.md")
    assert not any(".swp" in path for path in told.paths)


def test_a_text_that_is_no_memory_is_told_when_it_comes_and_goes(told: Told) -> None:
    told.after(lambda: (told.root / "b" / "plain.txt").write_bytes(b"a text"))
    assert told.hears("b/plain.txt")

    told.after(lambda: (told.root / "b" / "plain.txt").unlink())
    assert told.hears("b/plain.txt")


def test_a_renamed_file_is_told_under_both_names(told: Told) -> None:
    told.after(lambda: (told.root / "a.md").rename(told.root / "z.md"))

    assert told.hears("a.md", "z.md")


def test_a_removed_file_is_told(told: Told) -> None:
    told.after(lambda: (told.root / "b" / "c.md").unlink())

    assert told.hears("b/c.md")


def test_a_renamed_folder_is_told_so_that_it_is_looked_through(told: Told) -> None:
    told.after(lambda: (told.root / "b").rename(told.root / "e"))

    assert told.hears("b/", "e/")


def test_a_removed_folder_is_told(told: Told) -> None:
    told.after(lambda: shutil.rmtree(told.root / "b"))

    assert told.hears("b/")


def test_a_folder_moved_in_is_told(told: Told, tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "g.md").write_bytes(b"new")

    told.after(lambda: (tmp_path / "f").rename(told.root / "f"))

    assert told.hears("f/")


@pytest.mark.few(2)
def test_a_folder_made_while_watching_is_told_when_it_goes(told: Told) -> None:
    told.after(lambda: (told.root / "f" / "g").mkdir(parents=True))
    assert told.hears("f/")

    told.after(lambda: (told.root / "f").rename(told.root / "h"))

    assert told.hears("f/", "h/")


@pytest.mark.few(2)
def test_a_backup_file_that_goes_is_no_folder(told: Told) -> None:
    """A folder means a look at the whole vault, and editors leave a backup at every save."""

    def save() -> None:
        (told.root / "b" / "c.md").rename(told.root / "b" / "c.md~")
        (told.root / "b" / "c.md").write_bytes(b"new text")
        (told.root / "4913").write_bytes(b"")

    told.after(save)
    assert told.hears("b/c.md")

    def clean() -> None:
        (told.root / "b" / "c.md~").unlink()
        (told.root / "4913").unlink()
        (told.root / "last.md").write_bytes(b"x")

    told.after(clean)

    assert told.hears("last.md")
    assert not any(path.endswith("/") for path in told.paths)


def test_other_files_the_trash_and_hidden_folders_are_not_told(told: Told) -> None:
    def noise() -> None:
        for path in ["x.png", ".obsidian/a.txt", "trash/a.md", "deleted/a.md", "b/.hidden.md"]:
            (told.root / path).parent.mkdir(exist_ok=True)
            (told.root / path).write_bytes(b"x")
        (told.root / "last.md").write_bytes(b"x")

    told.after(noise)

    assert told.hears("last.md")
    assert told.paths <= {"last.md", "started.md"}


def test_the_watcher_stops_when_it_is_told_to(tmp_path: Path) -> None:
    stop = threading.Event()
    thread = threading.Thread(target=watch_vault, args=(tmp_path, lambda paths: None, stop))
    thread.start()

    stop.set()
    thread.join(BOUND)

    assert not thread.is_alive()
