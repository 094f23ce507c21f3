"""The folder of memories: what is seen, what is changed, what is refused."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from madeleine.errors import FileChanged, FileUnreadable, InvalidValue, NoFile, StoreUnwritable
from madeleine.model.change import FileEdit
from madeleine.model.fingerprint import Fingerprint
from madeleine.model.memory import Memory
from madeleine.vault.files import create_file, fsync_folder
from madeleine.vault.markdown import render_memory
from madeleine.vault.vault import FolderVault, is_in_trash

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
ONE = "97acbe8e-aaaa-4bbb-8ccc-000000000001"
TWO = "97acbe8e-aaaa-4bbb-8ccc-000000000002"


@pytest.fixture
def vault(tmp_path: Path) -> FolderVault:
    return FolderVault(tmp_path / "vault")


def put(vault: FolderVault, path: str, data: bytes = b"text\n") -> None:
    place = vault.root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)


def everything(vault: FolderVault) -> dict[str, bytes]:
    """Return every file there is, hidden ones too."""
    files = [path for path in vault.root.rglob("*") if path.is_file()]
    return {str(path.relative_to(vault.root)): path.read_bytes() for path in files}


def memory(memory_id: str = ONE, title: str | None = "A title") -> Memory:
    return Memory(memory_id, "text", NOON, NOON, title=title)


# -- looking -------------------------------------------------------------------------------


def test_a_scan_sees_memories_and_nothing_else(vault: FolderVault, tmp_path: Path) -> None:
    for path in ["a.md", "b/c d.md", "b/é/d.md", "b/trash/e.md"]:
        put(vault, path)
    for path in [
        ".a.md", ".obsidian/a.md", ".git/a.md", ".stfolder/a.md", "b/.trash/a.md", "trash/a.md",
        "deleted/a.md", "a.txt", "a.md.bak", "c.md/a.txt", ".madeleine-00.tmp",
    ]:  # fmt: skip
        put(vault, path)
    put(FolderVault(tmp_path / "outside"), "secret.md")
    (vault.root / "linked").symlink_to(tmp_path / "outside")
    (vault.root / "linked.md").symlink_to(tmp_path / "outside" / "secret.md")

    found = {each.path: each.fingerprint for each in vault.scan()}

    assert sorted(found) == ["a.md", "b/c d.md", "b/trash/e.md", "b/é/d.md"]
    assert found["a.md"] == vault.fingerprint("a.md") == vault.read("a.md").fingerprint


def test_a_name_that_is_not_utf_8_is_passed_over(vault: FolderVault) -> None:
    (vault.root / os.fsdecode(b"caf\xe9.md")).write_bytes(b"text")

    assert list(vault.scan()) == []


def refuse_to_list(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Permissions would not stop a test that runs as root."""
    real = os.scandir

    def scandir(place: str) -> object:
        if Path(place) == folder:
            raise PermissionError(13, "Permission denied", place)
        return real(place)

    monkeypatch.setattr(os, "scandir", scandir)


def test_a_folder_that_refuses_to_be_read_is_named(
    vault: FolderVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in ["a.md", "b/c.md", "b/d/e.md", "f/g.md"]:
        put(vault, path)
    with monkeypatch.context() as patch:
        refuse_to_list(patch, vault.root / "b")

        found = sorted(each.path for each in vault.scan())

    assert found == ["a.md", "f/g.md"]
    assert vault.unread_folders == ["b/"]
    assert len(list(vault.scan())) == 4
    assert vault.unread_folders == []


def test_a_vault_that_is_gone_is_unread_and_not_empty(vault: FolderVault) -> None:
    vault.root.rmdir()

    assert list(vault.scan()) == []
    assert vault.unread_folders == [""]


def test_a_trash_that_refuses_to_be_read_is_an_error(
    vault: FolderVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(vault, "trash/a.md", render_memory(memory()))
    refuse_to_list(monkeypatch, vault.root / "trash")

    with pytest.raises(FileUnreadable):
        vault.find_trashed(ONE)


def test_a_file_that_may_not_be_looked_at_is_not_gone(
    vault: FolderVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(place: object) -> None:
        raise PermissionError(13, "Permission denied")

    put(vault, "b/a.md")
    before = vault.fingerprint("b/a.md")
    monkeypatch.setattr(os, "lstat", refuse)

    assert vault.fingerprint("b/a.md") not in (None, before)


@pytest.mark.proves("I3")
def test_looking_at_a_vault_writes_nothing(vault: FolderVault) -> None:
    put(vault, "a.md", render_memory(memory()))
    put(vault, "trash/b.md", render_memory(memory(TWO)))
    before = {path: (vault.root / path).stat() for path in everything(vault)}

    list(vault.scan())
    vault.read("a.md")
    list(vault.trashed_memories())
    vault.path_for(memory())
    vault.trash_path("a.md")

    after = {path: (vault.root / path).stat() for path in everything(vault)}
    assert [(each.st_ino, each.st_mtime_ns) for each in after.values()] == [
        (each.st_ino, each.st_mtime_ns) for each in before.values()
    ]


def test_a_file_that_is_gone_is_missing(vault: FolderVault) -> None:
    with pytest.raises(NoFile):
        vault.read("gone.md")
    put(vault, "file.md")
    with pytest.raises(NoFile):
        vault.read("file.md/a.md")

    assert vault.fingerprint("gone.md") is None
    assert vault.bytes_or_none("gone.md") is None
    assert vault.bytes_or_none(None) is None


def test_a_folder_named_like_a_memory_is_unreadable(vault: FolderVault) -> None:
    put(vault, "folder.md/a.txt")

    with pytest.raises(FileUnreadable):
        vault.read("folder.md")


def test_an_empty_and_a_large_file_are_read_whole(vault: FolderVault) -> None:
    large = os.urandom(3_000_000)
    put(vault, "large.md", large)
    put(vault, "empty.md", b"")

    assert vault.read_bytes("large.md") == large
    assert vault.read_bytes("empty.md") == b""


@pytest.mark.parametrize(
    "path",
    ["../a.md", "/etc/passwd", "b/../../a.md", "", "b/", ".", "..", "a\0.md", "b\0/a.md", "b//a.md",
     "./a.md"],
)  # fmt: skip
def test_no_path_leads_out_of_the_vault(vault: FolderVault, path: str) -> None:
    with pytest.raises(InvalidValue):
        vault.read_bytes(path)
    with pytest.raises(InvalidValue):
        vault.apply(FileEdit(ONE, None, None, path, b"x"))


def test_nothing_behind_a_linked_folder_is_read_or_written(
    vault: FolderVault, tmp_path: Path
) -> None:
    outside = FolderVault(tmp_path / "outside")
    put(outside, "a.md", b"old\n")
    put(vault, "b/a.md", b"old\n")
    assert [each.path for each in vault.scan()] == ["b/a.md"]
    (vault.root / "b").rename(tmp_path / "away")
    (vault.root / "b").symlink_to(outside.root)

    assert vault.fingerprint("b/a.md") is None
    assert vault.bytes_or_none("b/a.md") is None
    assert list(vault.scan()) == []
    with pytest.raises(NoFile):
        vault.read("b/a.md")
    with pytest.raises(InvalidValue):
        vault.apply(FileEdit(ONE, "b/a.md", b"old\n", "b/a.md", b"new\n"))
    with pytest.raises(InvalidValue):
        vault.create([("b/c.md", b"new\n")])
    with pytest.raises(FileChanged):
        vault.apply(FORGOTTEN)
    assert everything(outside) == {"a.md": b"old\n"}


def test_a_folder_that_becomes_a_link_during_our_write_is_not_followed(
    vault: FolderVault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def swap() -> None:
        (vault.root / "b").rename(tmp_path / "away")
        (vault.root / "b").symlink_to(outside.root)

    outside = FolderVault(tmp_path / "outside")
    put(outside, "a.md", b"old\n")
    put(vault, "b/a.md", b"old\n")
    when_synced(monkeypatch, swap)

    with pytest.raises(InvalidValue):
        vault.apply(FileEdit(ONE, "b/a.md", b"old\n", "b/a.md", b"new\n"))

    assert everything(outside) == {"a.md": b"old\n"}


def test_a_linked_trash_holds_nothing_of_ours(vault: FolderVault, tmp_path: Path) -> None:
    put(FolderVault(tmp_path / "outside"), "a.md", render_memory(memory()))
    (vault.root / "trash").symlink_to(tmp_path / "outside")

    assert list(vault.trashed_paths()) == []
    assert vault.find_trashed(ONE) == []


def test_a_vault_may_itself_be_a_link(vault: FolderVault, tmp_path: Path) -> None:
    put(vault, "b/a.md", b"old\n")
    (tmp_path / "linked").symlink_to(vault.root)
    linked = FolderVault(tmp_path / "linked")

    linked.apply(FileEdit(ONE, "b/a.md", b"old\n", "b/a.md", b"new\n"))

    assert [each.path for each in linked.scan()] == ["b/a.md"]
    assert everything(vault) == {"b/a.md": b"new\n"}


def test_a_link_in_place_of_a_memory_is_not_followed(vault: FolderVault, tmp_path: Path) -> None:
    put(FolderVault(tmp_path / "outside"), "secret.md")
    (vault.root / "a.md").symlink_to(tmp_path / "outside" / "secret.md")

    with pytest.raises(FileUnreadable):
        vault.read_bytes("a.md")


# -- names ---------------------------------------------------------------------------------


def test_ids_sharing_a_prefix_get_two_files(vault: FolderVault) -> None:
    paths = []
    for last in range(6):
        each = memory(f"97acbe8e-aaaa-4bbb-8ccc-00000000000{last}")
        paths.append(vault.path_for(each))
        vault.apply(FileEdit(each.id, None, None, paths[-1], render_memory(each)))

    assert paths[:2] == ["fact_a-title_97acbe8e.md", "fact_a-title_97acbe8eaaaa.md"]
    assert len(set(paths)) == 6
    assert len(list(vault.scan())) == 6


def test_the_trash_keeps_places_and_never_overwrites(vault: FolderVault) -> None:
    put(vault, "b/a.md")
    put(vault, "trash/b/a.md")
    put(vault, "trash/b/a-2.md")

    assert vault.trash_path("b/a.md") == "trash/b/a-3.md"
    assert vault.trash_path("c.md") == "trash/c.md"
    assert is_in_trash("trash/c.md")
    assert not is_in_trash("trashed/c.md")


# -- changing ------------------------------------------------------------------------------

NEW = FileEdit(ONE, None, None, "a.md", b"new\n")
REPLACED = FileEdit(ONE, "a.md", b"old\n", "a.md", b"new\n")
MOVED = FileEdit(ONE, "a.md", b"old\n", "b/c.md", b"old\n")
MOVED_AND_CHANGED = FileEdit(ONE, "a.md", b"old\n", "b/c.md", b"new\n")
FORGOTTEN = FileEdit(ONE, "b/a.md", b"old\n", "trash/b/a.md", b"old\n")
REMOVED = FileEdit(ONE, "a.md", b"old\n", None, None)
EDITS = [NEW, REPLACED, MOVED, MOVED_AND_CHANGED, FORGOTTEN, REMOVED]


def state(path: str | None, data: bytes | None) -> dict[str, bytes]:
    return {path: data} if path is not None and data is not None else {}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_is_applied_and_taken_back_once(vault: FolderVault, edit: FileEdit) -> None:
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
def test_a_file_changed_meanwhile_is_left_alone(vault: FolderVault, edit: FileEdit) -> None:
    put(vault, str(edit.path_before), b"edited by hand\n")

    with pytest.raises(FileChanged):
        vault.apply(edit)

    assert everything(vault) == {edit.path_before: b"edited by hand\n"}


@pytest.mark.parametrize("edit", [REPLACED, MOVED, MOVED_AND_CHANGED, FORGOTTEN])
def test_a_file_gone_meanwhile_is_not_brought_back(vault: FolderVault, edit: FileEdit) -> None:
    with pytest.raises(FileChanged):
        vault.apply(edit)

    assert everything(vault) == {}


@pytest.mark.parametrize("edit", [NEW, MOVED, MOVED_AND_CHANGED, FORGOTTEN])
def test_a_place_taken_meanwhile_is_left_alone(vault: FolderVault, edit: FileEdit) -> None:
    files = {**state(edit.path_before, edit.before), str(edit.path_after): b"somebody else's\n"}
    for path, data in files.items():
        put(vault, path, data)

    with pytest.raises(FileChanged):
        vault.apply(edit)

    assert everything(vault) == files


@pytest.mark.parametrize("edit", [MOVED, MOVED_AND_CHANGED])
def test_a_move_killed_halfway_is_finished_or_taken_back(
    vault: FolderVault, edit: FileEdit
) -> None:
    for act, end in [(vault.apply, {"b/c.md": edit.after}), (vault.revert, {"a.md": edit.before})]:
        for path, data in [("a.md", edit.before), ("b/c.md", edit.after)]:
            put(vault, path, data or b"")

        act(edit)

        assert everything(vault) == end


def when_synced(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Act once, while the vault waits for the disk."""
    real, acts = os.fsync, [act]

    def fsync(handle: int) -> None:
        real(handle)
        if acts:
            acts.pop()()

    monkeypatch.setattr(os, "fsync", fsync)


@pytest.mark.parametrize("edit", [REPLACED, MOVED, MOVED_AND_CHANGED, FORGOTTEN])
def test_a_save_by_hand_during_our_write_survives(
    vault: FolderVault, monkeypatch: pytest.MonkeyPatch, edit: FileEdit
) -> None:
    path = str(edit.path_before)
    put(vault, path, b"old\n")
    when_synced(monkeypatch, lambda: put(vault, path, b"by hand\n"))

    with pytest.raises(FileChanged):
        vault.apply(edit)

    assert everything(vault) == {path: b"by hand\n"}


def test_a_save_by_hand_between_the_steps_of_a_move_survives(
    vault: FolderVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    def create_and_save(path: Path, data: bytes, check: Callable[[], None]) -> Fingerprint:
        found = create_file(path, data, check)
        put(vault, "a.md", b"by hand\n")
        return found

    put(vault, "a.md", b"old\n")
    monkeypatch.setattr("madeleine.vault.vault.create_file", create_and_save)

    with pytest.raises(FileChanged):
        vault.apply(MOVED_AND_CHANGED)

    assert everything(vault) == {"a.md": b"by hand\n"}


@pytest.mark.parametrize("edit", [NEW, REPLACED, MOVED, MOVED_AND_CHANGED])
def test_a_save_by_hand_right_after_our_write_is_noticed(
    vault: FolderVault, monkeypatch: pytest.MonkeyPatch, edit: FileEdit
) -> None:
    """The fingerprint that comes back is that of our bytes, or of no file at all."""
    path = str(edit.path_after)
    for before, data in state(edit.path_before, edit.before).items():
        put(vault, before, data)
    real = Path.lstat

    def saved_first(self: Path) -> os.stat_result:
        if self == vault.root / path:
            put(vault, path, b"by hand\n")
        return real(self)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "lstat", saved_first)
        found = vault.apply(edit)

    assert vault.read_bytes(path) == b"by hand\n"
    assert found != vault.fingerprint(path)


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("held", ["before", "by hand"])
def test_taking_back_what_was_never_applied_does_nothing(
    vault: FolderVault, edit: FileEdit, held: str
) -> None:
    files = state(edit.path_before, edit.before)
    if held == "by hand":
        files = {str(edit.path_before or edit.path_after): b"by hand\n"}
    for path, data in files.items():
        put(vault, path, data)

    as_before = vault.revert(edit)

    assert everything(vault) == files
    assert as_before == (held == "before" or edit.path_before is None)


@pytest.mark.parametrize("edit", [MOVED, MOVED_AND_CHANGED])
def test_taking_back_leaves_alone_what_came_to_the_old_place(
    vault: FolderVault, edit: FileEdit
) -> None:
    files = {"a.md": b"somebody else's\n", "b/c.md": edit.after or b""}
    for path, data in files.items():
        put(vault, path, data)

    assert not vault.revert(edit)
    assert everything(vault) == files


def test_a_move_whose_old_file_cannot_be_removed_is_taken_back(
    vault: FolderVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> None:
        raise StoreUnwritable(path, "Operation not permitted")

    put(vault, "a.md", b"old\n")
    with monkeypatch.context() as patch:
        patch.setattr("madeleine.vault.vault.remove_file", refuse)
        with pytest.raises(StoreUnwritable):
            vault.apply(MOVED_AND_CHANGED)

    assert vault.revert(MOVED_AND_CHANGED)
    assert everything(vault) == {"a.md": b"old\n"}


@pytest.mark.parametrize("refused", range(3))
@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_refused_after_its_file_got_its_name_is_taken_back(
    vault: FolderVault, monkeypatch: pytest.MonkeyPatch, edit: FileEdit, refused: int
) -> None:
    before = state(edit.path_before, edit.before)
    for path, data in before.items():
        put(vault, path, data)
    real, calls = fsync_folder, iter(range(100))

    def failing(folder: Path) -> None:
        if next(calls) == refused:
            raise OSError(5, "Input/output error")
        real(folder)

    with monkeypatch.context() as patch:
        patch.setattr("madeleine.vault.files.fsync_folder", failing)
        try:
            vault.apply(edit)
        except StoreUnwritable:
            pass

    assert vault.revert(edit)
    assert everything(vault) == before


def test_many_new_files_are_gone_when_their_folder_cannot_be_synced(
    vault: FolderVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(folder: Path) -> None:
        raise OSError(5, "Input/output error")

    put(vault, "b.md", b"somebody else's\n")
    monkeypatch.setattr("madeleine.vault.files.fsync_folder", failing)

    first, second = vault.create([("a.md", b"a"), ("b.md", b"b")])

    assert isinstance(first, StoreUnwritable)
    assert isinstance(second, FileChanged)
    assert everything(vault) == {"b.md": b"somebody else's\n"}


def test_many_new_files_look_as_a_scan_sees_them(vault: FolderVault) -> None:
    made = vault.create([("a.md", b"a"), ("b.md", b"b")])

    assert made == [vault.fingerprint("a.md"), vault.fingerprint("b.md")]


def test_a_full_disk_changes_nothing(vault: FolderVault, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    put(vault, "a.md", b"old\n")
    monkeypatch.setattr(os, "write", full)

    for edit in [REPLACED, MOVED_AND_CHANGED, FileEdit(TWO, None, None, "z.md", b"z")]:
        with pytest.raises(StoreUnwritable):
            vault.apply(edit)

    assert everything(vault) == {"a.md": b"old\n"}


# -- trash and leftovers -------------------------------------------------------------------


def test_forgotten_memories_are_found_by_the_beginning_of_their_id(vault: FolderVault) -> None:
    put(vault, "trash/a.md", render_memory(memory(ONE)))
    put(vault, "trash/b/c.md", render_memory(memory(TWO)))
    put(vault, "trash/broken.md", b"---\ntype: x\n---\n")

    assert {each.path for each in vault.find_trashed("97ACBE8E")} == {"trash/a.md", "trash/b/c.md"}
    assert [each.path for each in vault.find_trashed(TWO)] == ["trash/b/c.md"]
    assert vault.find_trashed("") == vault.find_trashed("%") == vault.find_trashed("*") == []
    assert sorted(vault.trashed_paths()) == ["trash/a.md", "trash/b/c.md", "trash/broken.md"]


def test_a_forgotten_memory_goes_back_to_its_place_or_a_free_one(vault: FolderVault) -> None:
    put(vault, "trash/b/c.md", render_memory(memory(ONE)))
    (found,) = vault.find_trashed(ONE)

    assert vault.untrash_path(found) == "b/c.md"
    put(vault, "b/c.md")
    assert vault.untrash_path(found) == "fact_a-title_97acbe8e.md"


def test_a_vault_without_trash_has_nothing_forgotten(vault: FolderVault) -> None:
    assert list(vault.trashed_memories()) == []


def test_unfinished_files_are_cleaned_away(vault: FolderVault) -> None:
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


def test_a_fingerprint_tells_a_changed_file(vault: FolderVault) -> None:
    put(vault, "a.md", b"one")
    os.utime(vault.root / "a.md", ns=(1, 1))

    found = vault.fingerprint("a.md")

    assert found is not None
    assert found[:2] == (1, 3)


def test_an_edit_of_the_same_size_that_hides_its_time_is_told(vault: FolderVault) -> None:
    put(vault, "a.md", b"the cat sleeps")
    found = (vault.root / "a.md").stat()
    before = vault.fingerprint("a.md")

    deadline = time.monotonic() + 5.0
    while (vault.root / "a.md").stat().st_ctime_ns == found.st_ctime_ns:  # times come in ticks
        assert time.monotonic() < deadline
        put(vault, "a.md", b"the dog sleeps")
        os.utime(vault.root / "a.md", ns=(found.st_atime_ns, found.st_mtime_ns))

    after = vault.fingerprint("a.md")
    assert after is not None
    assert before is not None
    assert after[:2] == before[:2]
    assert after != before


# -- many at once --------------------------------------------------------------------------


def numbered(vault: FolderVault, count: int) -> list[str]:
    paths = [f"{number}.md" for number in range(count)]
    for path in paths:
        (vault.root / path).write_bytes(f"{path}\n".encode())
    return paths


def moved(path: str) -> FileEdit:
    data = f"{path}\n".encode()
    return FileEdit(path, path, data, f"trash/{path}", data)


def rewritten(path: str) -> FileEdit:
    return FileEdit(path, path, f"{path}\n".encode(), path, b"new\n")


def test_many_edits_leave_what_each_alone_would(vault: FolderVault) -> None:
    paths = numbered(vault, 40)
    edits = [*map(moved, paths[:15]), *map(rewritten, paths[15:39])]
    edits.append(FileEdit("39.md", "39.md", b"39.md\n", None, None))

    looks = vault.apply_all(edits)

    for edit, found in zip(edits, looks, strict=True):
        assert vault.bytes_or_none(edit.path_after) == edit.after
        assert found == (vault.fingerprint(edit.path_after) if edit.path_after else None)
    assert sorted(each.path for each in vault.scan()) == sorted(paths[15:39])
    assert vault.clean_leftovers() == 0


@pytest.mark.parametrize("edit", [moved, rewritten])
def test_of_many_edits_the_one_that_a_person_was_quicker_with_is_refused(
    vault: FolderVault, edit: Callable[[str], FileEdit]
) -> None:
    edits = [edit(path) for path in numbered(vault, 20)]
    (vault.root / "12.md").write_bytes(b"mine\n")

    with pytest.raises(FileChanged):
        vault.apply_all(edits)

    assert [vault.revert(each) for each in edits] == [at != 12 for at in range(20)]
    assert vault.read_bytes("12.md") == b"mine\n"
    assert all(
        vault.read_bytes(f"{at}.md") == f"{at}.md\n".encode() for at in range(20) if at != 12
    )
    assert vault.clean_leftovers() == 0


def test_many_edits_never_take_a_name_that_is_taken(vault: FolderVault) -> None:
    edits = [moved(path) for path in numbered(vault, 20)]
    (vault.root / "trash").mkdir()
    (vault.root / "trash" / "3.md").write_bytes(b"older\n")

    with pytest.raises(FileChanged):
        vault.apply_all(edits)

    assert vault.read_bytes("trash/3.md") == b"older\n"
    assert vault.read_bytes("3.md") == b"3.md\n"


def test_many_edits_that_need_each_others_places_go_one_after_the_other(vault: FolderVault) -> None:
    paths = numbered(vault, 20)
    along = [*paths[1:], "20.md"]
    pairs = [(old, new, f"{old}\n".encode()) for old, new in zip(paths, along, strict=True)]
    edits = [FileEdit(old, old, data, new, data) for old, new, data in reversed(pairs)]

    vault.apply_all(edits)

    assert all(vault.read_bytes(new) == data for _, new, data in pairs)
