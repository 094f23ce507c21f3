"""The folder of memories: what is seen, what is changed, what is refused."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from madeleine.errors import FileChanged, FileUnreadable, InvalidValue, NoFile, StoreUnwritable
from madeleine.model.change import Edit
from madeleine.model.memory import Memory
from madeleine.model.stored import Fingerprint
from madeleine.vault.markdown import render_memory
from madeleine.vault.vault import Vault, in_trash

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
ONE = "97acbe8e-aaaa-4bbb-8ccc-000000000001"
TWO = "97acbe8e-aaaa-4bbb-8ccc-000000000002"


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return Vault(tmp_path / "vault")


def put(vault: Vault, path: str, data: bytes = b"text\n") -> None:
    place = vault.root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)


def everything(vault: Vault) -> dict[str, bytes]:
    """Return every file there is, hidden ones too."""
    files = [path for path in vault.root.rglob("*") if path.is_file()]
    return {str(path.relative_to(vault.root)): path.read_bytes() for path in files}


def memory(memory_id: str = ONE, title: str | None = "A title") -> Memory:
    return Memory(memory_id, "text", NOON, NOON, title=title)


# -- looking -------------------------------------------------------------------------------


def test_a_scan_sees_memories_and_nothing_else(vault: Vault, tmp_path: Path) -> None:
    for path in ["a.md", "b/c d.md", "b/é/d.md", "b/trash/e.md"]:
        put(vault, path)
    for path in [
        ".a.md", ".obsidian/a.md", ".git/a.md", ".stfolder/a.md", "b/.trash/a.md", "trash/a.md",
        "deleted/a.md", "a.txt", "a.md.bak", "c.md/a.txt", ".madeleine-00.tmp",
    ]:  # fmt: skip
        put(vault, path)
    put(Vault(tmp_path / "outside"), "secret.md")
    (vault.root / "linked").symlink_to(tmp_path / "outside")
    (vault.root / "linked.md").symlink_to(tmp_path / "outside" / "secret.md")

    found = {each.path: each.fingerprint for each in vault.scan()}

    assert sorted(found) == ["a.md", "b/c d.md", "b/trash/e.md", "b/é/d.md"]
    assert found["a.md"] == vault.fingerprint("a.md") == vault.read("a.md").fingerprint


def test_a_name_that_is_not_utf_8_is_passed_over(vault: Vault) -> None:
    (vault.root / os.fsdecode(b"caf\xe9.md")).write_bytes(b"text")

    assert list(vault.scan()) == []


@pytest.mark.proves("I3")
def test_looking_at_a_vault_writes_nothing(vault: Vault) -> None:
    put(vault, "a.md", render_memory(memory()))
    put(vault, "trash/b.md", render_memory(memory(TWO)))
    before = {path: (vault.root / path).stat() for path in everything(vault)}

    list(vault.scan())
    vault.read("a.md")
    list(vault.trashed())
    vault.path_for(memory())
    vault.trash_path("a.md")

    after = {path: (vault.root / path).stat() for path in everything(vault)}
    assert [(each.st_ino, each.st_mtime_ns) for each in after.values()] == [
        (each.st_ino, each.st_mtime_ns) for each in before.values()
    ]


def test_a_file_that_is_gone_is_missing(vault: Vault) -> None:
    with pytest.raises(NoFile):
        vault.read("gone.md")
    put(vault, "file.md")
    with pytest.raises(NoFile):
        vault.read("file.md/a.md")

    assert vault.fingerprint("gone.md") is None
    assert vault.bytes_or_none("gone.md") is None
    assert vault.bytes_or_none(None) is None


def test_a_folder_named_like_a_memory_is_unreadable(vault: Vault) -> None:
    put(vault, "folder.md/a.txt")

    with pytest.raises(FileUnreadable):
        vault.read("folder.md")


def test_an_empty_and_a_large_file_are_read_whole(vault: Vault) -> None:
    large = os.urandom(3_000_000)
    put(vault, "large.md", large)
    put(vault, "empty.md", b"")

    assert vault.read_bytes("large.md") == large
    assert vault.read_bytes("empty.md") == b""


@pytest.mark.parametrize(
    "path",
    ["../a.md", "/etc/passwd", "b/../../a.md", "", "b/", ".", "..", "a\0.md", "b\0/a.md", "b//a.md",
     "./a.md", "linked/secret.md"],
)  # fmt: skip
def test_no_path_leads_out_of_the_vault(vault: Vault, tmp_path: Path, path: str) -> None:
    put(Vault(tmp_path / "outside"), "secret.md")
    (vault.root / "linked").symlink_to(tmp_path / "outside")

    with pytest.raises(InvalidValue):
        vault.read_bytes(path)
    with pytest.raises(InvalidValue):
        vault.apply(Edit(ONE, None, None, path, b"x"))


def test_a_link_in_place_of_a_memory_is_not_followed(vault: Vault, tmp_path: Path) -> None:
    put(Vault(tmp_path / "outside"), "secret.md")
    (vault.root / "a.md").symlink_to(tmp_path / "outside" / "secret.md")

    with pytest.raises(FileUnreadable):
        vault.read_bytes("a.md")


# -- names ---------------------------------------------------------------------------------


def test_ids_sharing_a_prefix_get_two_files(vault: Vault) -> None:
    paths = []
    for last in range(6):
        each = memory(f"97acbe8e-aaaa-4bbb-8ccc-00000000000{last}")
        paths.append(vault.path_for(each))
        vault.apply(Edit(each.id, None, None, paths[-1], render_memory(each)))

    assert paths[:2] == ["fact_a-title_97acbe8e.md", "fact_a-title_97acbe8eaaaa.md"]
    assert len(set(paths)) == 6
    assert len(list(vault.scan())) == 6


def test_the_trash_keeps_places_and_never_overwrites(vault: Vault) -> None:
    put(vault, "b/a.md")
    put(vault, "trash/b/a.md")
    put(vault, "trash/b/a-2.md")

    assert vault.trash_path("b/a.md") == "trash/b/a-3.md"
    assert vault.trash_path("c.md") == "trash/c.md"
    assert in_trash("trash/c.md")
    assert not in_trash("trashed/c.md")


# -- changing ------------------------------------------------------------------------------

NEW = Edit(ONE, None, None, "a.md", b"new\n")
REPLACED = Edit(ONE, "a.md", b"old\n", "a.md", b"new\n")
MOVED = Edit(ONE, "a.md", b"old\n", "b/c.md", b"old\n")
MOVED_AND_CHANGED = Edit(ONE, "a.md", b"old\n", "b/c.md", b"new\n")
FORGOTTEN = Edit(ONE, "b/a.md", b"old\n", "trash/b/a.md", b"old\n")
REMOVED = Edit(ONE, "a.md", b"old\n", None, None)
EDITS = [NEW, REPLACED, MOVED, MOVED_AND_CHANGED, FORGOTTEN, REMOVED]


def state(path: str | None, data: bytes | None) -> dict[str, bytes]:
    return {path: data} if path is not None and data is not None else {}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_is_applied_and_taken_back_once(vault: Vault, edit: Edit) -> None:
    before, after = state(edit.path_before, edit.before), state(edit.path_after, edit.after)
    for path, data in before.items():
        put(vault, path, data)

    first = vault.apply(edit)
    second = vault.apply(edit)

    assert everything(vault) == after
    assert first == second == (vault.fingerprint(edit.path_after) if edit.path_after else None)
    vault.revert(edit)
    vault.revert(edit)
    assert everything(vault) == before


@pytest.mark.parametrize("edit", [each for each in EDITS if each.path_before])
def test_a_file_changed_meanwhile_is_left_alone(vault: Vault, edit: Edit) -> None:
    put(vault, str(edit.path_before), b"edited by hand\n")

    with pytest.raises(FileChanged):
        vault.apply(edit)

    assert everything(vault) == {edit.path_before: b"edited by hand\n"}


@pytest.mark.parametrize("edit", [REPLACED, MOVED, MOVED_AND_CHANGED, FORGOTTEN])
def test_a_file_gone_meanwhile_is_not_brought_back(vault: Vault, edit: Edit) -> None:
    with pytest.raises(FileChanged):
        vault.apply(edit)

    assert everything(vault) == {}


@pytest.mark.parametrize("edit", [NEW, MOVED, MOVED_AND_CHANGED, FORGOTTEN])
def test_a_place_taken_meanwhile_is_left_alone(vault: Vault, edit: Edit) -> None:
    files = {**state(edit.path_before, edit.before), str(edit.path_after): b"somebody else's\n"}
    for path, data in files.items():
        put(vault, path, data)

    with pytest.raises(FileChanged):
        vault.apply(edit)

    assert everything(vault) == files


@pytest.mark.parametrize("edit", [MOVED, MOVED_AND_CHANGED])
def test_a_move_killed_halfway_is_finished_or_taken_back(vault: Vault, edit: Edit) -> None:
    for act, end in [(vault.apply, {"b/c.md": edit.after}), (vault.revert, {"a.md": edit.before})]:
        for path, data in [("a.md", edit.before), ("b/c.md", edit.after)]:
            put(vault, path, data or b"")

        act(edit)

        assert everything(vault) == end


def test_force_overwrites(vault: Vault) -> None:
    put(vault, "a.md", b"edited by hand\n")

    vault.apply(REPLACED, force=True)

    assert everything(vault) == {"a.md": b"new\n"}


def test_a_full_disk_changes_nothing(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    put(vault, "a.md", b"old\n")
    monkeypatch.setattr(os, "write", full)

    for edit in [REPLACED, MOVED_AND_CHANGED, Edit(TWO, None, None, "z.md", b"z")]:
        with pytest.raises(StoreUnwritable):
            vault.apply(edit)

    assert everything(vault) == {"a.md": b"old\n"}


# -- trash and leftovers -------------------------------------------------------------------


def test_forgotten_memories_are_found_by_the_beginning_of_their_id(vault: Vault) -> None:
    put(vault, "trash/a.md", render_memory(memory(ONE)))
    put(vault, "trash/b/c.md", render_memory(memory(TWO)))
    put(vault, "trash/broken.md", b"---\ntype: x\n---\n")

    assert {each.path for each in vault.find_trashed("97ACBE8E")} == {"trash/a.md", "trash/b/c.md"}
    assert [each.path for each in vault.find_trashed(TWO)] == ["trash/b/c.md"]
    assert vault.find_trashed("") == vault.find_trashed("%") == vault.find_trashed("*") == []
    assert sorted(vault.trashed_paths()) == ["trash/a.md", "trash/b/c.md", "trash/broken.md"]


def test_a_forgotten_memory_goes_back_to_its_place_or_a_free_one(vault: Vault) -> None:
    put(vault, "trash/b/c.md", render_memory(memory(ONE)))
    (found,) = vault.find_trashed(ONE)

    assert vault.untrash_path(found) == "b/c.md"
    put(vault, "b/c.md")
    assert vault.untrash_path(found) == "fact_a-title_97acbe8e.md"


def test_a_vault_without_trash_has_nothing_forgotten(vault: Vault) -> None:
    assert list(vault.trashed()) == []


def test_unfinished_files_are_cleaned_away(vault: Vault) -> None:
    for path in [
        "a.md",
        ".madeleine-1.tmp",
        "b/.madeleine-2.tmp",
        "trash/.madeleine-3.tmp",
        ".x.tmp",
    ]:
        put(vault, path)

    assert vault.clean_leftovers() == 3
    assert sorted(everything(vault)) == [".x.tmp", "a.md"]


def test_a_fingerprint_tells_a_changed_file(vault: Vault) -> None:
    put(vault, "a.md", b"one")
    os.utime(vault.root / "a.md", ns=(1, 1))

    assert vault.fingerprint("a.md") == Fingerprint(1, 3)
