"""Where machines meet: a real folder, a real git repository, and a real shell behind `ssh`."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from madeleine.errors import InvalidValue
from madeleine.sync.places.folder import FolderPlace
from madeleine.sync.places.git import BRANCH, GitPlace
from madeleine.sync.places.opening import open_place
from madeleine.sync.places.port import MeetingPlace, PlaceDown
from madeleine.sync.places.ssh import SshPlace
from madeleine.sync.run import synchronise
from madeleine.sync.segments import Segment, build_segment, render_record
from madeleine.write.forget import forget
from madeleine.write.purge import purge
from tests.sync.simulation import World
from tests.sync.test_sync import content, tell

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


def segment(device: str, number: int = 1) -> Segment:
    return build_segment(device, number, [render_record({"kind": "test", "number": number})])


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    """A bare repository, as a server has it."""
    place = tmp_path / "remote.git"
    subprocess.run(["git", "init", "--quiet", "--bare", str(place)], check=True)
    return place


@pytest.fixture
def ssh_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An `ssh` that reaches this machine: it runs the command in a shell, as the real one does."""
    programs, home = tmp_path / "bin", tmp_path / "there"
    programs.mkdir()
    home.mkdir()
    script = f'#!/bin/sh\ncd "{home}"\nfor last; do :; done\nexec /bin/sh -c "$last"\n'
    (programs / "ssh").write_text(script, encoding="utf-8")
    (programs / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    return home


def check_place(one: MeetingPlace, other: MeetingPlace) -> None:
    """Check what is promised of every place, as two machines see it."""
    assert one.list_segments() == {}
    first, second, theirs = segment("m1"), segment("m1", 2), segment("m2")

    one.publish([first, second], [])
    other.list_segments()
    other.publish([theirs], [])

    found = {name: len(each.data) for each in (first, second, theirs) for name in [each.name]}
    assert other.list_segments() == found
    assert one.list_segments() == found
    assert list(one.fetch([theirs.name])) == [theirs]

    one.publish([], [first.name])
    assert set(other.list_segments()) == {second.name, theirs.name}
    assert sorted(other.fetch([second.name]), key=lambda s: s.name) == [second]


def test_a_folder_is_a_place(tmp_path: Path) -> None:
    check_place(FolderPlace(tmp_path), FolderPlace(tmp_path))


def test_other_files_in_the_folder_mean_nothing(tmp_path: Path) -> None:
    place, mine = FolderPlace(tmp_path), segment("m1")
    place.publish([mine], [])
    copy = tmp_path / "m1" / f"{Path(mine.name).stem} (Ana's conflicted copy).log"
    copy.write_bytes(b"something")
    (tmp_path / "readme.txt").write_bytes(b"something")
    (tmp_path / "m1" / f".{Path(mine.name).name}.part").write_bytes(b"half")

    assert list(place.list_segments()) == [mine.name]


@needs_git
def test_a_git_remote_is_a_place(remote: Path, tmp_path: Path) -> None:
    one, other = (GitPlace(str(remote), tmp_path / name, 60) for name in ("one", "other"))

    check_place(one, other)


@needs_git
def test_a_push_that_comes_second_goes_on_top_of_the_first(remote: Path, tmp_path: Path) -> None:
    one, other = (GitPlace(str(remote), tmp_path / name, 60) for name in ("one", "other"))
    one.list_segments()
    other.list_segments()  # neither sees what the other is about to leave

    one.publish([segment("m1")], [])
    other.publish([segment("m2")], [])

    assert set(one.list_segments()) == {segment("m1").name, segment("m2").name}


@needs_git
def test_what_was_purged_is_not_in_the_history_of_the_remote(remote: Path, tmp_path: Path) -> None:
    place, gone = GitPlace(str(remote), tmp_path / "one", 60), segment("m1")
    place.list_segments()
    place.publish([gone, segment("m1", 2)], [])

    place.publish([], [gone.name])

    told = subprocess.run(
        ["git", "log", "--name-only", "--format=", BRANCH],
        cwd=remote,
        check=True,
        capture_output=True,
        encoding="utf-8",
    )
    assert gone.name not in told.stdout
    assert segment("m1", 2).name in told.stdout


@needs_git
def test_a_remote_that_is_not_there_is_told_without_its_password(tmp_path: Path) -> None:
    place = GitPlace(f"file://ana:hush@{tmp_path}/nowhere", tmp_path / "clone", 60)

    with pytest.raises(PlaceDown) as caught:
        place.list_segments()

    assert "hush" not in caught.value.message.partition("`git` says")[0]


def test_a_folder_by_ssh_is_a_place(ssh_host: Path) -> None:
    one, other = (SshPlace("box", "notes", 60) for _ in range(2))

    check_place(one, other)

    assert (ssh_host / "notes" / "m2").is_dir()
    assert not (ssh_host / "notes" / ".madeleine-part").exists()


def test_an_ssh_that_fails_is_told_with_its_words(
    ssh_host: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin" / "ssh").write_text("#!/bin/sh\necho no route >&2\nexit 255\n", "utf-8")

    with pytest.raises(PlaceDown, match="no route"):
        SshPlace("box", "notes", 60).list_segments()


@needs_git
@pytest.mark.parametrize("kind", ["git", "ssh"])
def test_memories_and_purges_travel(
    kind: str, world: World, remote: Path, ssh_host: Path, tmp_path: Path
) -> None:
    wanted = f"git+{remote}" if kind == "git" else "ssh://box/~/notes"
    places = [open_place(wanted, tmp_path / f"scratch{n}", 60) for n in range(2)]
    one, other = world.machines
    memory, gone = tell(one, "The kettle is in the cellar"), tell(one, "The unicorn sleeps")

    for machine, place in zip(world.machines, places, strict=True):
        synchronise(machine.stores, machine.ledger, place)
    assert content(other, memory) == "The kettle is in the cellar"
    forget(other.stores, gone)
    purge(other.stores, [gone])
    for machine, place in ((other, places[1]), (one, places[0]), (other, places[1])):
        synchronise(machine.stores, machine.ledger, place)

    assert list(one.stores.search.memories([memory, gone])) == [memory]
    told = b"".join(each.data for each in places[1].fetch(list(places[1].list_segments())))
    assert b"kettle" in told
    assert b"unicorn" not in told


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("/a/folder", FolderPlace),
        ("~/Dropbox/notes", FolderPlace),
        ("git@host:notes.git", GitPlace),
        ("git+https://host/notes", GitPlace),
        ("/srv/notes.git", GitPlace),
        ("ssh://ana@host/notes", SshPlace),
    ],
)
def test_a_setting_names_a_place(text: str, kind: type, tmp_path: Path) -> None:
    assert isinstance(open_place(text, tmp_path, 60), kind)


@pytest.mark.parametrize(
    "text", ["notes", "", "ftp://host/x", "git+", "git+--upload-pack=x", "ssh://-oProxyCommand=x/y"]
)
def test_what_is_no_place_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidValue):
        open_place(text, tmp_path, 60)
