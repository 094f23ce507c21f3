"""Files that somebody drops into the vault: too large, copied, of other suffixes, wrong."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from madeleine.model.draft import MemoryLimits
from madeleine.model.query import Filter
from madeleine.model.stored_memory import StoredMemory
from madeleine.vault.vault import FolderVault
from madeleine.write.copied_files import separate_copies
from madeleine.write.reconcile import reconcile, reconcile_paths
from madeleine.write.resolve import get_stored
from madeleine.write.stores import Stores
from madeleine.write.undo import undo
from madeleine.write.upkeep import rebuild
from tests.fakes import keep

LIMIT = 2_000


@pytest.fixture
def bounded(stores: Stores) -> Stores:
    limits = MemoryLimits(content_bytes=LIMIT)
    return replace(stores, config=replace(stores.config, limits=limits))


def path_of(stores: Stores, memory_id: str) -> Path:
    return stores.vault.root / get_stored(stores, memory_id).path


def drop(stores: Stores, name: str, text: str | bytes) -> Path:
    path = stores.vault.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def known_texts(stores: Stores) -> set[str]:
    return {each.content for each in stores.search.listing(Filter(), stores.clock.now(), 100)}


# -- size ------------------------------------------------------------------------------------


@pytest.mark.parametrize("letter", ["a", "é", "海"])
def test_a_dropped_file_may_hold_as_much_as_a_memory_may(bounded: Stores, letter: str) -> None:
    size = len(letter.encode())
    drop(bounded, "fits.md", letter * (LIMIT // size))
    drop(bounded, "over.md", letter * (LIMIT // size + 1))

    report = reconcile(bounded)

    assert known_texts(bounded) == {letter * (LIMIT // size)}
    (problem,) = report.unreadable
    assert problem.startswith("over.md:1: holds 2,0")
    assert "at most 2,000 (`limits.content_bytes`)" in problem


def test_front_matter_does_not_count_as_text(bounded: Stores) -> None:
    drop(bounded, "tags.md", f"---\ntitle: Short\nnotes: {'x' * 3 * LIMIT}\n---\nhello\n")

    assert reconcile(bounded).unreadable == []
    assert known_texts(bounded) == {"hello"}


@pytest.mark.proves("I14")
def test_a_file_far_too_large_is_not_opened(
    bounded: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = drop(bounded, "huge.md", "begins")
    os.truncate(path, 105_000_000)
    monkeypatch.setattr(FolderVault, "read", lambda self, name: pytest.fail(f"read {name}"))

    report = reconcile(bounded)

    assert "huge.md:1: holds 105,000,000 bytes" in report.unreadable[0]


def test_a_file_that_became_small_enough_is_read(bounded: Stores) -> None:
    drop(bounded, "long.md", "x" * 3 * LIMIT)
    reconcile(bounded)

    drop(bounded, "long.md", "short now")

    assert reconcile(bounded).unreadable == []
    assert known_texts(bounded) == {"short now"}


# -- what cannot be read ---------------------------------------------------------------------


def test_a_wrong_file_is_not_read_again_until_it_changes(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    drop(stores, "wrong.md", "---\ntype: fable\n---\nx\n")
    reconcile(stores)
    reads: list[str] = []
    read = FolderVault.read

    def read_noting(vault: FolderVault, path: str) -> StoredMemory:
        reads.append(path)
        return read(vault, path)

    monkeypatch.setattr(FolderVault, "read", read_noting)

    for number in range(3):
        drop(stores, f"other-{number}.md", f"something else {number}")
        assert len(reconcile(stores).unreadable) == 1
        reconcile_paths(stores, ["wrong.md"])
    assert "wrong.md" not in reads

    drop(stores, "wrong.md", "---\ntype: fact\n---\nright now\n")
    assert reconcile(stores).unreadable == []
    assert "right now" in known_texts(stores)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_read_once_it_has_one(stores: Stores) -> None:
    path = drop(stores, "closed.md", "hello")
    path.chmod(0)
    assert len(reconcile(stores).unreadable) == 1

    path.chmod(0o600)

    assert reconcile(stores).unreadable == []


# -- suffixes --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["A.MD", "b.markdown", "c.Markdown", "deep/d.mD", "e.md"])
def test_a_memory_is_read_whatever_the_case_of_its_suffix(stores: Stores, name: str) -> None:
    drop(stores, name, f"what {name} says")

    reconcile(stores)
    assert known_texts(stores) == {f"what {name} says"}

    drop(stores, name, "something else")
    reconcile_paths(stores, [name])
    assert known_texts(stores) == {"something else"}


@pytest.mark.parametrize("name", ["notes.txt", "NOTES.TXT", "deep/list.org", "page.mdx"])
def test_a_text_of_another_suffix_is_named_as_ignored(stores: Stores, name: str) -> None:
    drop(stores, name, "not a memory")
    drop(stores, "picture.png", "no text")
    drop(stores, ".obsidian/hidden.txt", "somebody else's")

    reconcile(stores)

    assert stores.vault.ignored_files == [name]
    assert known_texts(stores) == set()


def test_a_text_that_the_watcher_tells_of_is_named_until_it_is_gone(stores: Stores) -> None:
    drop(stores, "notes.txt", "not a memory")

    reconcile_paths(stores, ["notes.txt"])
    reconcile_paths(stores, ["notes.txt"])
    assert stores.vault.ignored_files == ["notes.txt"]

    (stores.vault.root / "notes.txt").unlink()
    reconcile_paths(stores, ["notes.txt"])
    assert stores.vault.ignored_files == []


# -- copies ----------------------------------------------------------------------------------

PLAIN_COPIES = [
    "my-copy.md",
    "a.md",
    "elsewhere/{name}",
    "zz-{name}",
    "b.markdown",
    "Kopie von {name}",
]
VARIANTS = [
    "{stem} copy.md",
    "{stem} (Ana's conflicted copy 2026-11-15).md",
    "{stem} 2.md",
    "{stem}.sync-conflict-20261115-101010-ABCDEFG.md",
    "{stem} - Copy (2).md",
]


def copy(stores: Stores, memory_id: str, name: str, change: tuple[bytes, bytes]) -> Path:
    path = path_of(stores, memory_id)
    named = name.format(name=path.name, stem=path.stem)
    return drop(stores, named, path.read_bytes().replace(*change))


@pytest.mark.parametrize("name", PLAIN_COPIES)
def test_a_copy_gets_an_id_of_its_own_and_the_known_file_stays_the_memory(
    stores: Stores, name: str
) -> None:
    memory = keep(stores, "the cat sleeps", title="Cat")
    before = get_stored(stores, memory.id).path
    copied = copy(stores, memory.id, name, (b"sleeps", b"wakes"))
    reconcile(stores)
    assert get_stored(stores, memory.id).path == before

    (note,) = separate_copies(stores)

    assert reconcile(stores).unreadable == []
    assert known_texts(stores) == {"the cat sleeps", "the cat wakes"}
    own = str(note.parts["memory"])
    assert get_stored(stores, memory.id).memory.content == "the cat sleeps"
    assert path_of(stores, own) == copied
    assert "a copy of" in str(stores.log.history(own)[0].body["reason"])
    rebuild(stores)
    assert get_stored(stores, own).memory.content == "the cat wakes"
    assert separate_copies(stores) == ()


@pytest.mark.parametrize("name", VARIANTS)
def test_a_version_that_a_sync_program_keeps_stands_back(stores: Stores, name: str) -> None:
    memory = keep(stores, "the cat sleeps")
    copied = copy(stores, memory.id, name, (b"sleeps", b"wakes"))

    report = reconcile(stores)

    assert separate_copies(stores) == ()
    assert get_stored(stores, memory.id).memory.content == "the cat sleeps"
    assert len(report.unreadable) == 1
    assert copied.name in report.unreadable[0]


def test_a_copy_whose_original_goes_is_the_memory(stores: Stores) -> None:
    memory = keep(stores, "the cat sleeps")
    path = path_of(stores, memory.id)
    copied = copy(stores, memory.id, "moved-by-copying.md", (b"", b""))
    reconcile(stores)

    path.unlink()
    reconcile_paths(stores, [path.name])

    assert path_of(stores, memory.id) == copied
    assert separate_copies(stores) == ()


def test_a_copy_that_was_given_its_old_id_back_is_left_alone(stores: Stores) -> None:
    memory = keep(stores, "the cat sleeps")
    copied = copy(stores, memory.id, "a.md", (b"sleeps", b"wakes"))
    data = copied.read_bytes()
    reconcile(stores)
    (note,) = separate_copies(stores)
    change = stores.log.history(str(note.parts["memory"]))[0].body["change"]

    undo(stores, str(change))

    assert copied.read_bytes() == data
    assert get_stored(stores, memory.id).memory.content == "the cat sleeps"
    reconcile(stores)
    assert separate_copies(stores) == ()
    assert get_stored(stores, memory.id).memory.content == "the cat sleeps"
    assert known_texts(stores) == {"the cat sleeps"}
