"""Bytes reach the disk whole, or not at all."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from madeleine.errors import StoreUnwritable
from madeleine.model.event import Event, EventKind
from madeleine.vault import files
from madeleine.vault.files import (
    create_file,
    fingerprint_of,
    is_leftover,
    move_file,
    remove_file,
    write_file,
)
from madeleine.vault.journal import FileJournal

REFUSALS = [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT, errno.EIO]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def refuse(monkeypatch: pytest.MonkeyPatch, call: str, number: int) -> None:
    """Make a system call answer as a full or read-only disk does.

    Permissions would not stop a test that runs as root.
    """

    def refused(*args: object, **kwargs: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, call, refused)


def test_a_file_is_written_for_its_owner_only(tmp_path: Path) -> None:
    target = tmp_path / "new" / "folder" / "a.md"

    found = write_file(target, b"text")

    assert target.read_bytes() == b"text"
    assert (mode(target), mode(target.parent), mode(target.parent.parent)) == (0o600, 0o700, 0o700)
    assert found == fingerprint_of(target.stat())
    assert names(target.parent) == ["a.md"]


def test_a_file_is_replaced_in_one_step(tmp_path: Path) -> None:
    target = tmp_path / "a.md"
    target.write_bytes(b"old")
    with target.open("rb") as reader:
        write_file(target, b"new")

        assert reader.read() == b"old"
    assert target.read_bytes() == b"new"


def test_a_short_write_is_carried_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: real(handle, bytes(data)[:3]))

    write_file(tmp_path / "a.md", b"0123456789")

    assert (tmp_path / "a.md").read_bytes() == b"0123456789"


def test_creating_never_overwrites(tmp_path: Path) -> None:
    target = tmp_path / "a.md"
    create_file(target, b"first")

    with pytest.raises(FileExistsError):
        create_file(target, b"second")

    assert target.read_bytes() == b"first"
    assert names(tmp_path) == ["a.md"]


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP])
def test_creating_works_on_a_disk_without_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    refuse(monkeypatch, "link", number)

    create_file(tmp_path / "a.md", b"first")
    with pytest.raises(FileExistsError):
        create_file(tmp_path / "a.md", b"second")

    assert (tmp_path / "a.md").read_bytes() == b"first"
    assert names(tmp_path) == ["a.md"]


@pytest.mark.parametrize("number", REFUSALS)
@pytest.mark.parametrize("call", ["open", "write", "fsync", "replace"])
def test_a_refused_write_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int
) -> None:
    target = tmp_path / "a.md"
    target.write_bytes(b"old")
    with monkeypatch.context() as patch:
        refuse(patch, call, number)

        with pytest.raises(StoreUnwritable) as caught:
            write_file(target, b"new")

    assert str(target) in caught.value.message
    assert os.strerror(number) in caught.value.message
    assert target.read_bytes() == b"old"
    assert names(tmp_path) == ["a.md"]


@pytest.mark.parametrize("call", ["open", "write", "fsync", "link"])
def test_a_refused_creation_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    with monkeypatch.context() as patch:
        refuse(patch, call, errno.ENOSPC)

        with pytest.raises(StoreUnwritable):
            create_file(tmp_path / "a.md", b"new")

    assert names(tmp_path) == []


def test_file_and_folder_are_synced_before_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    real = os.fsync

    def fsync(handle: int) -> None:
        synced.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)

    write_file(tmp_path / "a.md", b"new")

    assert synced == ["file", "folder"]


def test_moving_keeps_bytes_and_never_overwrites(tmp_path: Path) -> None:
    source, target = tmp_path / "a.md", tmp_path / "trash" / "a.md"
    source.write_bytes(b"text")

    found = move_file(source, target)
    source.write_bytes(b"other")
    with pytest.raises(FileExistsError):
        move_file(source, target)

    assert (source.read_bytes(), target.read_bytes()) == (b"other", b"text")
    assert found == fingerprint_of(target.stat())


def test_a_refused_move_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.md").write_bytes(b"text")
    refuse(monkeypatch, "rename", errno.EROFS)

    with pytest.raises(StoreUnwritable):
        move_file(tmp_path / "a.md", tmp_path / "b.md")

    assert names(tmp_path) == ["a.md"]


def test_a_refused_removal_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.md").write_bytes(b"text")
    with monkeypatch.context() as patch:
        refuse(patch, "unlink", errno.EROFS)

        with pytest.raises(StoreUnwritable):
            remove_file(tmp_path / "a.md")

    assert names(tmp_path) == ["a.md"]


def test_removing_what_is_gone_is_fine(tmp_path: Path) -> None:
    remove_file(tmp_path / "a.md")
    remove_file(tmp_path / "no" / "a.md")


def test_only_our_own_unfinished_files_are_leftovers() -> None:
    assert is_leftover(".madeleine-0123456789abcdef.tmp")
    assert not is_leftover(".syncthing.a.md.tmp")
    assert not is_leftover("a.md")


def written_by(act: Callable[[], object], monkeypatch: pytest.MonkeyPatch, full: bool) -> list[str]:
    """Return what a disk was asked to keep, by name, where full fsyncs work or are refused."""
    asked: list[str] = []

    def ask(descriptor: int, command: int) -> int:
        assert command == 51
        if not full:
            raise OSError(errno.ENOTSUP, "not here")
        asked.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
        return 0

    def fsync(descriptor: int) -> None:
        assert not full
        asked.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))

    with monkeypatch.context() as patch:
        patch.setattr(files, "FULL_FSYNC", 51)
        patch.setattr("fcntl.fcntl", ask)
        patch.setattr(os, "fsync", fsync)
        act()
    return asked


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="names descriptors by /proc")
@pytest.mark.proves("I4")
@pytest.mark.parametrize("full", [True, False])
def test_where_a_disk_can_be_asked_for_more_than_fsync_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full: bool
) -> None:
    """macOS: for the file and for its name, and for the journal; a plain fsync where it cannot."""
    place = tmp_path / "memory.md"
    journal = FileJournal(tmp_path / "journal", "here")
    noon = datetime(2026, 11, 19, 12, tzinfo=UTC)
    event = Event("e1", noon, EventKind.USED, "here", {"memory": "x"})

    asked = written_by(lambda: write_file(place, b"hello"), monkeypatch, full)
    noted = written_by(lambda: journal.append([event], durable=True), monkeypatch, full)

    assert any(each.startswith(f"{tmp_path}/.madeleine-") for each in asked)
    assert str(tmp_path) in asked
    assert any(each.endswith(".jsonl") for each in noted)
