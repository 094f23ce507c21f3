"""The pool of connections: how many there are, and what becomes of one that was lost."""

from __future__ import annotations

import importlib
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest

from madeleine.errors import DatabaseDown
from tests import postgres


@pytest.fixture
def pool() -> Iterator[Any]:
    made: Any = importlib.import_module("madeleine.database.connection")
    with closing(made.ConnectionPool(postgres.server().url, 3)) as opened:
        yield opened


def process_of(pool: Any) -> int:
    with pool.borrow() as connection:
        return int(connection.info.backend_pid)


def test_many_threads_share_a_few_connections(pool: Any) -> None:
    with ThreadPoolExecutor(12) as threads:
        used = set(threads.map(lambda _: process_of(pool), range(200)))

    assert len(used) <= 3


def test_a_thread_that_has_one_never_waits_for_another(pool: Any) -> None:
    ready = threading.Barrier(3)

    def take_two(_: int) -> bool:
        with pool.borrow():
            ready.wait(10)
            with pool.borrow():
                return True

    with ThreadPoolExecutor(3) as threads:
        assert all(threads.map(take_two, range(3)))


def test_waiting_for_a_connection_has_an_end(pool: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made: Any = importlib.import_module("madeleine.database.connection")
    monkeypatch.setattr(made, "ACQUIRE_TIMEOUT_SECONDS", 0.1)
    enough, taken = threading.Event(), threading.Barrier(4)

    def keep_one(_: int) -> None:
        with pool.borrow():
            taken.wait(10)
            enough.wait(10)

    with ThreadPoolExecutor(3) as threads:
        work = [threads.submit(keep_one, number) for number in range(3)]
        taken.wait(10)
        with pytest.raises(DatabaseDown, match="all 3 connections are in use"):
            process_of(pool)
        enough.set()
        for each in work:
            each.result()
    assert process_of(pool)


def test_a_connection_in_the_midst_of_something_is_not_lent_again(pool: Any) -> None:
    with pool.borrow() as connection:
        connection.execute("BEGIN")
        spoilt = connection.info.backend_pid

    assert process_of(pool) != spoilt


def refused(url: str) -> DatabaseDown:
    made: Any = importlib.import_module("madeleine.database.connection")
    with pytest.raises(DatabaseDown) as caught:
        made.ConnectionPool(url)
    return caught.value


def test_a_host_that_nobody_knows_is_said_to_be_wrong() -> None:
    assert refused("postgresql://me@nowhere.invalid/d").hint == "look at the host in `store.url`"


def test_a_database_without_tls_is_said_to_have_none() -> None:
    """It answers the question for TLS with one letter."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]

        def refuse() -> None:
            asked, _ = listening.accept()
            with asked:
                asked.recv(8)
                asked.sendall(b"N")

        with ThreadPoolExecutor(1) as threads:
            threads.submit(refuse)
            error = refused(f"postgresql://me@127.0.0.1:{port}/d?sslmode=require")

    assert "SSL" in error.message
    assert "sslmode" in error.hint
