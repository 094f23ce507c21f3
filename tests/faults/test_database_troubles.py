"""A database that is down, slow, full, foreign or out of date: a clear word with a hint, nothing
half done, tried again where that is safe, and silence from hooks, in time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

import madeleine.database.connection as connecting
from madeleine import Madeleine
from madeleine.database import schema
from madeleine.errors import BadSetting, DatabaseDown, DatabaseUnfit
from tests import postgres
from tests.examples import others_in_soak
from tests.hooks.running import claude, client
from tests.postgres import Server

SOON_SECONDS = 15.0  # a busy machine's; what is waited for takes a second
FEW = "-c fsync=off -c max_connections=6 -c superuser_reserved_connections=0"
RESERVED = "-c fsync=off -c max_connections=6 -c superuser_reserved_connections=3"
BARE = "-c fsync=off -c extension_control_path=/nowhere"


@contextmanager
def a_server(settings: str = postgres.SETTINGS) -> Iterator[Server]:
    made = Server(postgres.server().binaries, settings)
    try:
        yield made
    finally:
        made.remove()


def home_on(url: str, folder: Path, tenant: str = "home") -> Path:
    """Make a home whose memory is in a database."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    store = ["[store]", f'url = "{url}"', 'truth = "database"', f'tenant = "{tenant}"']
    (home / "config.toml").write_text(
        "\n".join(["[embedder]", 'kind = "fake"', *store, ""]), encoding="utf-8"
    )
    return home


@contextmanager
def within(seconds: float) -> Iterator[None]:
    began = time.monotonic()
    yield
    assert time.monotonic() - began < seconds


@pytest.mark.soak
def test_while_it_is_down_all_is_refused_and_nothing_is_lost(tmp_path: Path) -> None:
    with a_server() as server, Madeleine.open(home_on(server.url, tmp_path)) as opened:
        kept = opened.remember("The kettle stands in the attic")
        server.stop()

        for act in (lambda: opened.recall("kettle"), lambda: opened.remember("a teapot")):
            with within(SOON_SECONDS), pytest.raises(DatabaseDown) as caught:
                act()
            assert caught.value.hint

        server.start()
        assert [hit.memory.id for hit in opened.recall("kettle")] == [kept.id]
        assert len(opened.list()) == 1
        opened.remember("a teapot")


@pytest.mark.soak
def test_a_server_started_anew_costs_nobody_an_error(tmp_path: Path) -> None:
    with a_server() as server, Madeleine.open(home_on(server.url, tmp_path)) as opened:
        opened.remember("The kettle stands in the attic")
        server.stop()
        server.start()

        assert opened.remember("A teapot stands beside it")
        assert len(opened.recall("kettle teapot")) == 2


def test_a_read_that_lost_its_connection_is_tried_again(tmp_path: Path) -> None:
    with a_server() as server, Madeleine.open(home_on(server.url, tmp_path)) as opened:
        opened.remember("The kettle stands in the attic")
        with psycopg.connect(server.url, autocommit=True) as killer:
            killer.execute(
                """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                   WHERE application_name = 'madeleine'"""
            )

            assert len(opened.recall("kettle")) == 1


@pytest.mark.soak
def test_one_that_is_down_from_the_beginning_says_so_at_once(tmp_path: Path) -> None:
    postgres.server()
    home = home_on("postgresql://me:wonderland@127.0.0.1:1/none", tmp_path)

    command = [sys.executable, "-m", "madeleine", "--home", os.fspath(home), "recall", "kettle"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)

    assert done.returncode == 5  # nothing was changed; try again
    assert "127.0.0.1:1/none" in done.stderr
    assert "hint:" in done.stderr
    assert "wonderland" not in done.stderr + done.stdout


def test_whoever_waits_too_long_for_another_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = ("SET lock_timeout = '300ms'", "SET statement_timeout = '3s'")
    monkeypatch.setattr(connecting, "_SESSION_SETTINGS", (*connecting._SESSION_SETTINGS, *quick))
    url = postgres.server().url
    with Madeleine.open(home_on(url, tmp_path, str(tmp_path))) as opened:
        opened.remember("The kettle stands in the attic")
        with psycopg.connect(url) as other:
            other.execute(
                "SELECT 1 FROM madeleine.tenants WHERE name = %s FOR UPDATE", (str(tmp_path),)
            )

            with within(SOON_SECONDS), pytest.raises(DatabaseDown, match="timeout"):
                opened.remember("a teapot")
            assert len(opened.recall("kettle")) == 1  # readers wait for nobody

        assert opened.remember("a teapot")


@pytest.mark.soak
def test_a_slow_statement_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = ("SET statement_timeout = '500ms'",)
    monkeypatch.setattr(connecting, "_SESSION_SETTINGS", (*connecting._SESSION_SETTINGS, *quick))
    with a_server() as server, Madeleine.open(home_on(server.url, tmp_path)) as opened:
        opened.remember("The kettle stands in the attic")
        with psycopg.connect(server.url) as other:
            other.execute("LOCK TABLE madeleine.nodes IN ACCESS EXCLUSIVE MODE")

            with within(SOON_SECONDS), pytest.raises(DatabaseDown, match="timeout"):
                opened.recall("kettle")

        assert len(opened.recall("kettle")) == 1


@pytest.mark.soak
def test_when_no_connection_is_left_it_says_so_and_goes_on_later(tmp_path: Path) -> None:
    with a_server(FEW) as server:
        home = home_on(server.url, tmp_path)
        with Madeleine.open(home) as opened:
            opened.remember("The kettle stands in the attic")
        with (
            _all_taken(server.url),
            pytest.raises(DatabaseDown, match="too many clients") as caught,
        ):
            Madeleine.open(home)
        assert "max_connections" in caught.value.hint

        with Madeleine.open(home) as opened:
            assert len(opened.recall("kettle")) == 1


@pytest.mark.soak
def test_when_only_reserved_connections_are_left_it_says_what_to_raise(tmp_path: Path) -> None:
    with a_server(RESERVED) as server:
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute("CREATE ROLE me LOGIN")
        url = _as(server.url, "me")
        home = home_on(url, tmp_path)

        with (
            _all_taken(url),
            pytest.raises(DatabaseDown, match="remaining connection slots") as caught,
        ):
            Madeleine.open(home)

    assert "max_connections" in caught.value.hint


def test_a_name_that_the_server_does_not_know_is_told_as_that(tmp_path: Path) -> None:
    url = postgres.server().url
    hints = {}
    for name, wrong in [("database", "/nobodys?"), ("role", "nobody@/postgres?")]:
        right = "/postgres?" if name == "database" else "postgres@/postgres?"
        with pytest.raises(DatabaseDown, match=f"{name} .* does not exist") as caught:
            Madeleine.open(home_on(url.replace(right, wrong), tmp_path))
        hints[name] = caught.value.hint

    assert "make it" in hints["database"]
    assert "user" in hints["role"]


def test_a_truth_in_no_database_is_told_as_that(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match=r"store\.truth") as caught:
        Madeleine.open(home_on("", tmp_path))

    assert "store.url" in caught.value.hint


@contextmanager
def _all_taken(url: str) -> Iterator[None]:
    with ExitStack() as stack:
        while True:
            try:
                stack.enter_context(psycopg.connect(url))
            except psycopg.OperationalError:
                break
        yield


@pytest.mark.soak
def test_a_wrong_password_is_named_and_not_told(tmp_path: Path) -> None:
    with a_server() as server:
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute("CREATE ROLE me LOGIN PASSWORD 'right'")
            rules = server.folder / "data" / "pg_hba.conf"
            rules.write_text("local all me scram-sha-256\nlocal all all trust\n", encoding="utf-8")
            connection.execute("SELECT pg_reload_conf()")

        with pytest.raises(DatabaseDown, match="password") as caught:
            Madeleine.open(home_on(_as(server.url, "me:wonderland"), tmp_path))

    assert "wonderland" not in caught.value.message + caught.value.hint
    assert "store" in caught.value.hint


@pytest.mark.parametrize("sign", ["#", "?", "%2F"])
def test_no_sign_in_a_password_makes_a_part_of_it_told(tmp_path: Path, sign: str) -> None:
    """With these signs the address means what it says; the database refuses later."""
    postgres.server()
    home = home_on(f"postgresql://me:wonder{sign}land@127.0.0.1:1/none", tmp_path)

    with pytest.raises(DatabaseDown) as caught:
        Madeleine.open(home)

    told = caught.value.message + caught.value.hint
    assert "postgresql://127.0.0.1:1/none" in told
    assert "wonder" not in told
    assert "land" not in told


@pytest.mark.parametrize(
    ("command", "password"),
    others_in_soak(
        ("serve", "wonder/land"), ("recall", "wonder:a@b/land"), ("move", "wonder%zzland")
    ),
)
def test_an_address_that_would_be_misread_is_refused_and_not_told(
    tmp_path: Path, command: str, password: str
) -> None:
    postgres.server()
    url = f"postgresql://me:{password}@127.0.0.1:1/none"
    home = tmp_path / "empty" if command == "move" else home_on(url, tmp_path)
    words = {"move": ["move", "--to", url], "recall": ["recall", "tea"]}.get(command, [command])

    begin = [sys.executable, "-m", "madeleine", "--home", os.fspath(home)]
    done = subprocess.run([*begin, *words], capture_output=True, encoding="utf-8", check=False)

    logs = "".join(each.read_text(encoding="utf-8") for each in home.glob("logs/*"))
    told = done.stderr + done.stdout + logs
    assert done.returncode == 2
    assert "store.url" in done.stderr
    assert "%2F" in done.stderr  # how to write it
    assert "wonder" not in told
    assert "land" not in told


def _as(url: str, who: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{who}@{parts.path}?{parts.query}"


@pytest.mark.soak
def test_a_server_without_pgvector_is_refused(tmp_path: Path) -> None:
    with a_server(BARE) as server, pytest.raises(DatabaseUnfit, match="pgvector") as caught:
        Madeleine.open(home_on(server.url, tmp_path))

    assert "vector" in caught.value.hint


def test_whoever_may_not_make_the_extension_is_told_what_to_grant(tmp_path: Path) -> None:
    url = postgres.server().url
    name = f"plain{os.getpid()}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN")
        connection.execute(f"CREATE DATABASE {name} OWNER {name}")

    with pytest.raises(DatabaseUnfit) as caught:
        Madeleine.open(home_on(_as(url, name).replace("/postgres?", f"/{name}?"), tmp_path))

    assert "CREATE EXTENSION vector" in caught.value.hint


def test_a_schema_of_a_newer_release_is_refused(tmp_path: Path) -> None:
    with a_server() as server:
        home = home_on(server.url, tmp_path)
        with Madeleine.open(home) as opened:
            opened.remember("The kettle stands in the attic")
        with psycopg.connect(server.url) as connection:
            connection.execute("UPDATE madeleine.schema_version SET version = 999")

        with pytest.raises(DatabaseUnfit, match="schema 999") as caught:
            Madeleine.open(home)

    assert "upgrade" in caught.value.hint


@pytest.mark.parametrize("seen", others_in_soak(*range(1, len(schema.MIGRATIONS))))
def test_a_schema_of_an_older_release_is_brought_up_and_keeps_its_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seen: int
) -> None:
    with a_server() as server:
        with monkeypatch.context() as older, psycopg.connect(server.url) as connection:
            older.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:seen])
            schema.migrate_schema(connection, "the database")
            connection.execute("INSERT INTO madeleine.tenants (name) VALUES ('somebody')")

        with Madeleine.open(home_on(server.url, tmp_path)) as opened:
            opened.remember("The kettle stands in the attic")
            found = opened.recall("where is the kettle")

        with psycopg.connect(server.url) as connection:
            version = connection.execute("SELECT version FROM madeleine.schema_version").fetchone()
            names = connection.execute("SELECT name FROM madeleine.tenants").fetchall()
    assert [each.memory.content for each in found] == ["The kettle stands in the attic"]
    assert version == (len(schema.MIGRATIONS),)
    assert ("somebody",) in names


@pytest.mark.soak
def test_hooks_stay_silent_in_time_whatever_the_database_does(tmp_path: Path) -> None:
    """Down it answers with a refusal; frozen it does not answer at all."""
    with a_server() as server:
        home = home_on(server.url, tmp_path)
        with _daemon(home):
            assert _hook(home)[0] == 0  # so that the daemon has its connections

            frozen = _processes(server)
            for each in frozen:
                os.kill(each, signal.SIGSTOP)
            try:
                with within(SOON_SECONDS):
                    assert _hook(home) == (0, b"")
            finally:
                for each in frozen:
                    os.kill(each, signal.SIGCONT)
            server.stop()
            with within(SOON_SECONDS):
                assert _hook(home) == (0, b"")
            server.start()


def _processes(server: Server) -> list[int]:
    first = int(
        (server.folder / "data" / "postmaster.pid").read_text(encoding="utf-8").splitlines()[0]
    )
    told = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(first)], capture_output=True, encoding="utf-8"
    )
    return [first, *map(int, told.stdout.split())]


@contextmanager
def _daemon(home: Path) -> Iterator[None]:
    base = [sys.executable, "-m", "madeleine", "--home", os.fspath(home)]
    subprocess.run([*base, "serve", "--port", "0"], check=True, stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        subprocess.run([*base, "stop"], check=False, capture_output=True)


def _hook(home: Path) -> tuple[int, bytes]:
    ran = client(home, claude("where is the kettle"))
    return ran.code, ran.out
