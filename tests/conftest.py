"""Shared fixtures: stores in a temporary home, closed at the end."""

from __future__ import annotations

import gc
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from madeleine.language.identification import guess_languages
from madeleine.write.stores import Stores
from tests import falkordb, postgres
from tests.examples import IN_SOAK, spread_evenly
from tests.fakes import close, make_stores
from tests.left_out import what_to_install

BUSY = [HealthCheck.too_slow]  # a machine may be busy; a test has its own time limit
settings.register_profile("soak", max_examples=300, suppress_health_check=BUSY)
settings.register_profile("test", max_examples=40, suppress_health_check=BUSY)
settings.load_profile("soak" if IN_SOAK else "test")


@pytest.fixture(scope="session", autouse=True)
def servers() -> Iterator[None]:
    """End the servers that tests have started."""
    yield
    postgres.stop()
    falkordb.stop()


@pytest.fixture(scope="session", autouse=True)
def letters() -> None:
    """Load what tells languages before any property is timed: its first example would pay."""
    guess_languages("Wo ist das?")


@pytest.fixture(autouse=True)
def graphs() -> Iterator[None]:
    """Forget the graphs that a test has made."""
    yield
    falkordb.clean()


def pytest_collection_finish() -> None:
    """Let the garbage collector leave alone what collecting the tests has made: it would look
    through thousands of them again and again."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None]:
    """Say in the last line what to install for the tests that were left out."""
    yield
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:
        return  # a process that only runs tests for another
    reports = reporter.stats.get("skipped", [])
    if line := what_to_install(str(each.longrepr) for each in reports):
        reporter.write_line(line, yellow=True)


LONGEST_FIRST = (
    *("tests", "soak", "faults", "journeys", "tools", "ormah", "database", "bench", "properties"),
    *("cli", "server", "hooks", "agents", "index", "contracts"),
)
"""Folders whose modules take longest. They are run first, so that at the end no process is left
alone with one of them; the others are done in no time."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    ranks = {name: rank for rank, name in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: ranks.get(item.path.parent.name, len(ranks)))
    leave_to_soak(items)


def leave_to_soak(items: list[pytest.Item]) -> None:
    """Mark what `make test` leaves out: of a test with `few(count)` all examples but so many, which
    are spread evenly over its list."""
    examples: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("few") and not item.get_closest_marker("soak"):
            examples.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for each in examples.values():
        mark = each[0].get_closest_marker("few")
        assert mark is not None
        kept = spread_evenly(mark.args[0], len(each))
        for place, item in enumerate(each):
            if place not in kept:
                item.add_marker(pytest.mark.soak)


EVERYWHERE = frozenset(
    f"tests.{name}"
    for name in (
        "write.test_approval",
        "write.test_change_verbs",
        "write.test_purge",
        "write.test_upkeep",
        "sleep.test_run",
    )
)
"""Tests of verbs and jobs that run with the truth in a database as well; those of jobs in `make
soak`."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    by_hand = any(each.name == "by_hand" for each in metafunc.definition.iter_markers())
    wanted = metafunc.module.__name__ in EVERYWHERE and not by_hand
    if "stores" in metafunc.fixturenames and wanted:
        slow = [pytest.mark.soak] if ".sleep." in metafunc.module.__name__ else []
        database = pytest.param("database", marks=slow)
        metafunc.parametrize("stores", ["files", database], indirect=True)


@pytest.fixture
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stores]:
    opened = make_stores(tmp_path / "home", truth=getattr(request, "param", "files"))
    yield opened
    close(opened)
