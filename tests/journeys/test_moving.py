"""A memory that moves into a database and back: every byte comes along, also after a kill."""

from __future__ import annotations

import hashlib
import importlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from madeleine import Madeleine
from madeleine.bootstrap.moving import move_home
from madeleine.errors import (
    BadSetting,
    Conflict,
    DatabaseDown,
    InvalidValue,
    MadeleineError,
    Rejected,
)
from madeleine.ingest.moving import (
    FileEndpoint,
    MoveUnlike,
    PlaceFixed,
    checksum,
    config_for_files,
    move_memory,
)
from tests import postgres
from tests.cli.running import Cli
from tests.examples import others_in_soak

KILLED_SECONDS = 60.0


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with memories, a forgotten one, and files that are no memories."""
    made = tmp_path / "home"
    made.mkdir()
    (made / "config.toml").write_text('[embedder]\nkind = "fake"\n', encoding="utf-8")
    with Madeleine.open(made) as opened:
        for number in range(30):
            opened.remember(f"Anna keeps kettle number {number} in the attic", tags=["kitchen"])
        opened.forget(opened.remember("Something to be forgotten").id)
        opened.revise(opened.remember("The attic is cold").id, content="The attic is warm")
        assert opened.recall("kettle")
    (made / "vault" / "drawing.png").write_bytes(bytes(range(256)))
    (made / "vault" / ".obsidian").mkdir()
    (made / "vault" / ".obsidian" / "app.json").write_text("{}", encoding="utf-8")
    (made / "vault" / "broken.md").write_bytes(b"---\nid: [\n---\n\xff\xfe")
    return made


def contents(home: Path) -> dict[str, str]:
    """Return the checksum of every file of the vault and the journal."""
    found = [path for name in ("vault", "journal") for path in (home / name).rglob("*")]
    return {
        path.relative_to(home).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in found
        if path.is_file() and path.stat().st_size
    }


def said(home: Path) -> Any:
    """Return what a memory says of itself, whatever it is kept in."""
    with Madeleine.open(home) as opened:
        memories = {each.id: each for each in opened.list(limit=1_000, outdated=True)}
        return (
            {each: (memory.content, memory.tags) for each, memory in memories.items()},
            {each: memory.usage.access_count for each, memory in memories.items()},
            [opened.history(each)[0].kind for each in sorted(memories)],
        )


def test_a_memory_comes_back_from_a_database_byte_for_byte(home: Path, tmp_path: Path) -> None:
    before, files = said(home), contents(home)

    there = move_home(home, postgres.server().url, tmp_path.name)
    for name in ("vault", "journal"):
        (home / name).rename(home / f"{name}-left")
    inside = said(home)
    back = move_home(home, "files")

    assert inside == before
    assert there.moved.checksum == back.moved.checksum
    assert there.in_index == back.in_index == there.moved.memories - 1  # one cannot be read
    assert contents(home) == files
    assert said(home) == before
    assert "store" not in (home / "config.toml").read_text(encoding="utf-8")


def test_what_is_learned_in_the_database_comes_along(home: Path, tmp_path: Path) -> None:
    move_home(home, postgres.server().url, tmp_path.name)
    with Madeleine.open(home) as opened:
        fresh = opened.remember("The kettle whistles in D minor")

    back = move_home(home, "files")

    assert len(back.aside) == 2  # the files from before are put aside
    with Madeleine.open(home) as opened:
        assert opened.recall("which key does the kettle whistle in")[0].memory.id == fresh.id
    assert any(
        "whistles" in path.read_text(errors="replace", encoding="utf-8")
        for path in home.glob("vault/*.md")
    )


@pytest.mark.soak
def test_status_says_where_a_memory_is_and_lets_nobody_in(home: Path, tmp_path: Path) -> None:
    before = _status(home)
    url = postgres.server().url.replace("postgres@", "postgres:wonderland@")
    move_home(home, url, tmp_path.name)

    after = _status(home)

    assert "postgresql" not in before
    assert f"vault      postgresql:///postgres, tenant {tmp_path.name}\n" in after
    assert "index      postgresql:///postgres\n" in after  # and not the file that was left behind
    assert "wonderland" not in after


def _status(home: Path) -> str:
    command = [sys.executable, "-m", "madeleine", "--home", os.fspath(home), "status"]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout


@pytest.mark.parametrize("way", others_in_soak("in", "out"))
def test_a_move_that_was_killed_goes_on(home: Path, tmp_path: Path, way: str) -> None:
    url, tenant = postgres.server().url, tmp_path.name
    _add_files(home, 600)
    files = contents(home)
    if way == "out":
        move_home(home, url, tenant)
        for name in ("vault", "journal"):
            (home / name).rename(home / f"{name}-left")
    to = url if way == "in" else "files"

    with _some_copied(home, tenant, way) as is_time:
        _kill_moving(home, to, tenant, is_time)
    assert way == "in" or not list((home / "vault").glob("*.md"))
    done = move_home(home, to, tenant)

    assert 0 < done.moved.copied < len(files)
    if way == "in":
        move_home(home, "files")
    assert contents(home) == files


@pytest.mark.soak
def test_a_move_that_was_killed_while_it_filled_the_index_waits_and_goes_on(
    home: Path, tmp_path: Path
) -> None:
    """The lease of the one that was killed lasts a while; nobody has to try again and again."""
    url, tenant = postgres.server().url, tmp_path.name
    with (home / "config.toml").open("a", encoding="utf-8") as config:
        config.write("[store]\nlease_seconds = 4\n")
    postgres.fleet()  # so that there are tables
    library: Any = importlib.import_module("psycopg")
    sql = "SELECT 1 FROM madeleine.leases WHERE name = %s AND holder IS NOT NULL"
    with library.connect(url, autocommit=True) as connection:
        _kill_moving(home, url, tenant, lambda: connection.execute(sql, (tenant,)).fetchone())

    told: list[str] = []
    done = move_home(home, url, tenant, tell=told.append)

    assert told == ["a move was killed before; going on within 4 seconds"]
    assert done.in_index == done.moved.memories - 1  # one cannot be read
    assert len(said(home)[0]) > 30


@pytest.mark.soak
@pytest.mark.parametrize("who", others_in_soak("@", ":opensesame@localhost"))
def test_a_backup_of_a_database_comes_back_as_files(home: Path, tmp_path: Path, who: str) -> None:
    """The database may be lost, or still at work; and no backup has the password to it."""
    url, archive, new = postgres.server().url, str(tmp_path / "all.zip"), tmp_path / "new"
    (home / "vault" / "broken.md").unlink()
    move_home(home, url.replace("@", who), tmp_path.name)
    with (home / "config.toml").open("a", encoding="utf-8") as config:
        config.write("# a remark\nlease_seconds = 4\n")
    Cli(home).ok("backup", "--to", archive)
    before = said(home)
    with Madeleine.open(home) as opened:
        opened.remember("Something that is in no backup")

    restored = Cli(new)("restore-backup", archive)

    assert said(new) == before
    assert restored.code == 0, restored.err
    assert "left out of config.toml: store.url, store.tenant, store.truth\n" in restored.out
    assert "madeleine move --to postgresql://" in restored.out
    kept = '[embedder]\nkind = "fake"\n\n[store]\n# a remark\nlease_seconds = 4\n'
    assert (new / "config.toml").read_text(encoding="utf-8") == kept
    move_home(new, url, f"{tmp_path.name}-2")  # and it goes into a database as the words say
    assert said(new) == before


def _add_files(home: Path, count: int) -> None:
    for number in range(count):
        (home / "vault" / f"attachment-{number}.txt").write_text(f"{number}\n", encoding="utf-8")


def _kill_moving(home: Path, to: str, tenant: str, is_time: Callable[[], object]) -> None:
    words = ["--home", os.fspath(home), "move", "--to", to, "--tenant", tenant]
    process = subprocess.Popen([sys.executable, "-m", "madeleine", *words])
    deadline = time.monotonic() + KILLED_SECONDS
    while process.poll() is None and not is_time():
        assert time.monotonic() < deadline
    process.send_signal(signal.SIGKILL)
    assert process.wait(KILLED_SECONDS) != 0


@contextmanager
def _some_copied(home: Path, tenant: str, way: str) -> Iterator[Callable[[], bool]]:
    """Lend what tells that some files are on the other side, and by far not all."""
    postgres.fleet()  # so that there are tables
    library: Any = importlib.import_module("psycopg")
    sql = """SELECT count(*) FROM madeleine.files f JOIN madeleine.tenants t USING (truth)
             WHERE t.name = %s"""
    with library.connect(postgres.server().url, autocommit=True) as connection:
        if way == "in":
            yield lambda: connection.execute(sql, (tenant,)).fetchone()[0] > 100
        else:
            yield lambda: len(list(home.glob(".vault-restored-*/attachment-*"))) > 100


def test_a_place_that_holds_another_memory_is_refused(home: Path, tmp_path: Path) -> None:
    url, tenant = postgres.server().url, tmp_path.name
    move_home(home, url, tenant)
    other = tmp_path / "other"
    other.mkdir()
    (other / "config.toml").write_text('[embedder]\nkind = "fake"\n', encoding="utf-8")
    with Madeleine.open(other) as opened:
        opened.remember("Another person's kettle")

    with pytest.raises(Conflict, match="holds a memory already"):
        move_home(other, url, tenant)

    assert len(said(home)[0]) > 30
    with Madeleine.open(other) as opened:
        assert len(opened.recall("kettle")) == 1


@pytest.mark.soak
def test_what_a_move_left_can_be_removed_as_the_guide_says(home: Path, tmp_path: Path) -> None:
    url, server, before = postgres.server().url, tmp_path / "server", said(home)
    move_home(home, url, "dora")
    move_home(home, "files")
    with pytest.raises(Conflict, match="holds a memory already") as caught:
        move_home(home, url, "dora")
    assert "the guide for a team server" in caught.value.hint
    server.mkdir()
    store = f'[store]\nurl = "{url}"\ntruth = "database"\ntenant = "{tmp_path.name}"\n'
    (server / "config.toml").write_text(f'[embedder]\nkind = "fake"\n{store}', encoding="utf-8")

    Cli(server).ok("person", "remove", "dora", "--erase")
    move_home(home, url, "dora")

    assert said(home) == before


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("to", "refusal"),
    [
        ("files", Rejected),
        ("mysql://here", BadSetting),
        ("postgresql://me:wonderland@127.0.0.1:1/none", DatabaseDown),
    ],
)
def test_a_move_that_cannot_be_leaves_all_as_it_was(
    home: Path, to: str, refusal: type[MadeleineError]
) -> None:
    before, settings = contents(home), (home / "config.toml").read_bytes()
    postgres.server()

    with pytest.raises(refusal) as caught:
        move_home(home, to)

    assert "wonderland" not in caught.value.message + caught.value.hint
    assert contents(home) == before
    assert (home / "config.toml").read_bytes() == settings


def test_a_move_that_the_environment_would_undo_is_refused(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise all that is written afterwards would go to the old place, unseen."""
    url, tenant = postgres.server().url, tmp_path.name
    with monkeypatch.context() as fixed:
        fixed.setenv("MADELEINE_STORE_TRUTH", "files")
        with pytest.raises(PlaceFixed, match="MADELEINE_STORE_TRUTH"):
            move_home(home, url, tenant)
    with monkeypatch.context() as same:
        same.setenv("MADELEINE_STORE", url)
        move_home(home, url, tenant)
    settings = (home / "config.toml").read_bytes()
    monkeypatch.setenv("MADELEINE_STORE_URL", url)
    monkeypatch.setenv("MADELEINE_STORE_TRUTH", "database")

    with pytest.raises(PlaceFixed, match="MADELEINE_STORE_URL, MADELEINE_STORE_TRUTH") as caught:
        move_home(home, "files")

    assert url not in caught.value.message
    assert (home / "config.toml").read_bytes() == settings


@pytest.mark.few(2)
@pytest.mark.parametrize("tenant", ["../x", "", "Ada", "space:atlas"])
def test_a_name_that_no_person_could_have_is_refused(home: Path, tenant: str) -> None:
    settings = (home / "config.toml").read_bytes()

    with pytest.raises(InvalidValue, match="tenant"):
        move_home(home, postgres.server().url, tenant)

    assert (home / "config.toml").read_bytes() == settings


def test_a_copy_that_differs_is_no_move(tmp_path: Path) -> None:
    """As when somebody else writes there, or a disk lies."""
    one = FileEndpoint(tmp_path / "one", tmp_path / "one-journal")
    one.write({"vault/a.md": b"a", "vault/b.md": b"b"})

    class Forgetful(FileEndpoint):
        def write(self, given: Any) -> None:
            FileEndpoint.write(self, {name: data for name, data in given.items() if data != b"b"})

    other = Forgetful(tmp_path / "other", tmp_path / "other-journal")

    with pytest.raises(MoveUnlike, match=r"b\.md"):
        move_memory(one, other)


def test_links_are_named_and_left_where_they_are(home: Path, tmp_path: Path) -> None:
    (home / "vault" / "outside").symlink_to("/etc")

    done = move_home(home, postgres.server().url, tmp_path.name)

    assert done.left_out == ("vault/outside",)
    assert done.moved.files == len([each for each in contents(home) if each.startswith("vault/")])


def test_a_checksum_is_that_of_sha256sum(tmp_path: Path) -> None:
    side = FileEndpoint(tmp_path / "vault", tmp_path / "journal")
    side.write({"vault/a.md": b"a\n", "vault/b/c.md": b"c\n"})

    command = "sha256sum vault/a.md vault/b/c.md | sha256sum"
    told = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, check=True)

    assert checksum(side.listed()) == told.stdout.decode().split()[0]


@pytest.mark.parametrize(
    ("before", "after", "left_out"),
    [
        ("# mine\r\n\n[server]\nport = 1", "# mine\r\n\n[server]\nport = 1", ()),
        (
            'store = "x"\ngraph = "y"\n# \u2028 mine\r\n[server]\nport = 1\r\n',
            "# \u2028 mine\r\n[server]\nport = 1\r\n",
            ("store.url", "store.graph"),
        ),
        ('store.url = "x"\n"store".truth = "database"\n', "", ("store.url", "store.truth")),
        (
            '[ store ] # where\nvectors = "x"\nlease_seconds = 4\n[embedder]\nurl = "keep"\n',
            '[ store ] # where\nlease_seconds = 4\n[embedder]\nurl = "keep"\n',
            ("store.vectors",),
        ),
    ],
)
def test_settings_of_a_memory_in_files_name_no_other_place(
    before: str, after: str, left_out: tuple[str, ...]
) -> None:
    assert config_for_files(before) == (after, left_out)
