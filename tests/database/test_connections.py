"""The pool of connections: how many there are, and what becomes of one that was lost."""

from __future__ import annotations

import importlib
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
    with closing(made.Connections(postgres.server().url, 3)) as opened:
        yield opened


def process_of(pool: Any) -> int:
    with pool.lent() as connection:
        return int(connection.info.backend_pid)


def test_many_threads_share_a_few_connections(pool: Any) -> None:
    with ThreadPoolExecutor(12) as threads:
        used = set(threads.map(lambda _: process_of(pool), range(200)))

    assert len(used) <= 3


def test_a_thread_that_has_one_never_waits_for_another(pool: Any) -> None:
    ready = threading.Barrier(3)

    def take_two(_: int) -> bool:
        with pool.lent():
            ready.wait(10)
            with pool.lent():
                return True

    with ThreadPoolExecutor(3) as threads:
        assert all(threads.map(take_two, range(3)))


def test_waiting_for_a_connection_has_an_end(pool: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made: Any = importlib.import_module("madeleine.database.connection")
    monkeypatch.setattr(made, "FREE_SECONDS", 0.1)
    enough, taken = threading.Event(), threading.Barrier(4)

    def keep_one(_: int) -> None:
        with pool.lent():
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
    with pool.lent() as connection:
        connection.execute("BEGIN")
        spoilt = connection.info.backend_pid

    assert process_of(pool) != spoilt
