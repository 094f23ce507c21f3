"""Shared fixtures: stores in a temporary home, closed at the end."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from madeleine.write.stores import Stores
from tests import falkordb, postgres
from tests.examples import IN_SOAK
from tests.fakes import close, make_stores
from tests.left_out import what_to_install

if IN_SOAK:
    settings.register_profile("soak", max_examples=300)
    settings.load_profile("soak")


@pytest.fixture(scope="session", autouse=True)
def servers() -> Iterator[None]:
    """End the servers that tests have started."""
    yield
    postgres.stop()
    falkordb.stop()


@pytest.fixture(autouse=True)
def graphs() -> Iterator[None]:
    """Forget the graphs that a test has made."""
    yield
    falkordb.clean()


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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    ranks = {name: rank for rank, name in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: ranks.get(item.path.parent.name, len(ranks)))


EVERYWHERE = frozenset(
    f"tests.{name}"
    for name in (
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
