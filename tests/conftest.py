"""Shared fixtures: stores in a temporary home, closed at the end."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from madeleine.write.stores import Stores
from tests import falkordb, postgres
from tests.fakes import close, make_stores


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


EVERYWHERE = ()
"""Tests of verbs that run with the truth in a database as well."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "stores" in metafunc.fixturenames and metafunc.module.__name__ in EVERYWHERE:
        metafunc.parametrize("stores", ["files", "database"], indirect=True)


@pytest.fixture
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stores]:
    truth = getattr(request, "param", os.environ.get("MADELEINE_TEST_TRUTH", "files"))
    opened = make_stores(tmp_path / "home", truth=truth)
    yield opened
    close(opened)
