"""A write whose connection ends at any of its statements is there whole, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from madeleine.errors import DatabaseDown
from madeleine.write.merge import merge
from madeleine.write.stores import Stores
from tests import postgres
from tests.database.test_one_transaction import everything
from tests.fakes import close, keep, make_stores

pytestmark = pytest.mark.proves("I4")
AT_MOST = 200  # statements of one verb
NEVER = -1

Verb = Callable[[Stores, str, str], object]
VERBS: dict[str, Verb] = {
    "remember": lambda stores, one, other: keep(stores, "a third thing"),
    "merge": lambda stores, one, other: merge(stores, one, other),
}


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[Stores]:
    opened = make_stores(tmp_path / "home", truth="database")
    yield opened
    close(opened)


class Ending:
    """Ends the session of a connection right before one of its statements in a write."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.left = NEVER
        monkeypatch.setattr(psycopg.Cursor, "execute", self._wrapped(psycopg.Cursor.execute))

    def carried_out(self, number: int, work: Callable[[], object]) -> bool:
        """Do something whose session ends at this statement; whether it was done all the same,
        because it has not so many."""
        self.left = number
        try:
            work()
        except DatabaseDown:
            return False
        finally:
            self.left = NEVER
        return True

    def _wrapped(self, execute: Any) -> Any:
        def run(cursor: Any, *arguments: Any, **options: Any) -> Any:
            if cursor.connection.info.transaction_status:  # inside of a transaction
                self._count(cursor.connection)
            return execute(cursor, *arguments, **options)

        return run

    def _count(self, connection: psycopg.Connection) -> None:
        self.left -= 1
        if self.left == 0:
            with psycopg.connect(postgres.server().url, autocommit=True) as another:
                sql = "SELECT pg_terminate_backend(%s, 5000)"
                psycopg.ClientCursor(another).execute(sql, (connection.info.backend_pid,))


SLOW = ("merge",)


@pytest.mark.soak
@pytest.mark.parametrize(
    "verb", [pytest.param(each, marks=[pytest.mark.soak] * (each in SLOW)) for each in VERBS]
)
def test_a_session_that_ends_at_any_statement_leaves_no_half_write(
    stores: Stores, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    one, other = keep(stores, "a kettle"), keep(stores, "a copper kettle")
    before, ending = everything(stores), Ending(monkeypatch)

    refused = 0
    while not ending.carried_out(refused + 1, lambda: VERBS[verb](stores, one.id, other.id)):
        refused += 1
        assert everything(stores) == before, f"at statement {refused}"

    assert 5 < refused < AT_MOST
    assert everything(stores) != before


def test_a_write_whose_answer_was_lost_is_known_to_be_kept(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    execute = psycopg.Connection.execute

    def lose(connection: Any, query: Any, *more: Any, **options: Any) -> Any:
        done = execute(connection, query, *more, **options)
        if isinstance(query, psycopg.sql.Composed) and "COMMIT" in query.as_string(None):
            connection.close()
            raise psycopg.OperationalError("the answer was lost")
        return done

    monkeypatch.setattr(psycopg.Connection, "execute", lose)
    memory = keep(stores, "a kettle")
    monkeypatch.undo()

    assert stores.search.get(memory.id) is not None
    assert len(everything(stores)[0]) == 1
