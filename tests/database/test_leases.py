"""Leases: of all servers one does a piece of work, and one that lost it writes nothing more."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from madeleine.errors import LeaseLost, UnderWay
from madeleine.write.stores import Stores
from tests import postgres
from tests.fakes import keep, make_stores
from tests.server.running import eventually

SHORT = 0.4  # seconds that a lease lasts here


@pytest.fixture(scope="module")
def url() -> str:
    return postgres.database(__name__)


@pytest.fixture
def servers(url: str) -> Iterator[tuple[Any, Any]]:
    """Two servers on one database of their own."""
    made: Any = importlib.import_module("madeleine.database.shared_database")
    with (
        closing(made.SharedDatabase(url, SHORT)) as one,
        closing(made.SharedDatabase(url, SHORT)) as other,
    ):
        yield one, other


def leases(server: Any, tenant: str = "ana") -> Any:
    return server.leases(server.tenant(tenant))


def test_what_one_server_does_the_others_leave_alone(servers: tuple[Any, Any]) -> None:
    one, other = map(leases, servers)

    with one.held("sleep"), pytest.raises(UnderWay), other.held("sleep"):
        pass
    with other.held("sleep"), one.held("rebuild"):
        pass


def test_a_lease_of_one_tenant_keeps_no_other_waiting(servers: tuple[Any, Any]) -> None:
    one, other = leases(servers[0]), leases(servers[1], "ben")

    with one.held("sleep"), other.held("sleep"):
        pass


def test_a_lease_is_renewed_for_as_long_as_the_work_takes(servers: tuple[Any, Any]) -> None:
    one, other = map(leases, servers)

    with one.held("sleep") as lost:
        threading.Event().wait(3 * SHORT)
        assert not lost()
        with pytest.raises(UnderWay), other.held("sleep"):
            pass


def test_the_work_of_a_server_that_is_gone_is_taken_over(
    servers: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = map(leases, servers)
    monkeypatch.setattr(one, "_renew_once", lambda lease: True)  # as if it were asleep
    taken = threading.Event()

    def take_over() -> bool:
        try:
            with other.held("sleep"):
                taken.set()
        except UnderWay:
            return False
        return True

    with one.held("sleep"):
        eventually(take_over)
    assert taken.is_set()


def test_a_run_that_was_taken_over_writes_nothing_more(tmp_path: Path) -> None:
    """As when a machine sleeps in the middle of a job: it goes on as if nothing had happened."""
    database = make_stores(tmp_path / "taken", truth="database")
    slow, quick = (_leases(database, seconds) for seconds in (SHORT, 30.0))
    slow._renew_once = lambda lease: True

    with slow.held("sleep") as lost:
        keep(database, "written while the lease was ours")
        eventually(lambda: _is_free(quick))
        with pytest.raises(LeaseLost):
            keep(database, "written too late")
        assert lost()

    kept = database.index.search.memories(database.index.search.ids_after("", 9)).values()
    assert [each.content for each in kept] == ["written while the lease was ours"]


def _leases(database: Stores, seconds: float) -> Any:
    made: Any = importlib.import_module("madeleine.database.leases")
    rows = database.vault._rows  # type: ignore[attr-defined]  # the tenant that all of them share
    return made.DatabaseLeases(rows, f"server {seconds}", seconds)


def _is_free(others: Any) -> bool:
    """Whether another server can take the lease; it ends its work at once."""
    try:
        with others.held("sleep"):
            return True
    except UnderWay:
        return False


def test_what_is_due_is_claimed_by_one_server(servers: tuple[Any, Any]) -> None:
    for name in ("ana", "ben", "cleo"):
        leases(servers[0], name).plan("auto_linker", timedelta(0))
    leases(servers[0], "ana").plan("decay", timedelta(hours=1))
    leases(servers[0], "ana").plan("forget", None)

    with ThreadPoolExecutor(8) as threads:
        claims = list(threads.map(lambda n: servers[n % 2].claim(), range(8)))

    found = sorted((each.tenant, each.job) for each in claims if each is not None)
    assert found == [("ana", "auto_linker"), ("ben", "auto_linker"), ("cleo", "auto_linker")]


def test_a_claim_is_void_once_the_job_was_planned_anew(servers: tuple[Any, Any]) -> None:
    one = leases(servers[0])
    one.plan("decay", timedelta(0))

    claim = servers[1].claim()
    before = claim.still_due()
    one.plan("decay", timedelta(days=1))

    assert (before, claim.still_due()) == (True, False)


def test_a_plan_that_comes_sooner_counts(servers: tuple[Any, Any]) -> None:
    one = leases(servers[0])
    one.plan("decay", timedelta(hours=1))
    soon = one.due_at("decay")

    one.plan("decay", timedelta(hours=2), sooner=True)

    assert one.due_at("decay") == soon
