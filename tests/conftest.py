"""Shared fixtures: stores in a temporary home, closed at the end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from madeleine.write.stores import Stores
from tests import postgres
from tests.fakes import close, make_stores


@pytest.fixture(scope="session", autouse=True)
def servers() -> Iterator[None]:
    """End the servers that tests have started."""
    yield
    postgres.stop()


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[Stores]:
    opened = make_stores(tmp_path / "home")
    yield opened
    close(opened)
