"""Fixtures that run a test once for every engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from madeleine.index.port import Index
from madeleine.testing.engines import Maker
from tests.contracts.engines import MAKERS

# The build has fifteen minutes. SQLite and PostgreSQL have the whole contract in it, FalkorDB
# a share; the rest of it, and Qdrant beside it, have their turn in `make soak`.
SHARE = ("test_index_gathering.py", "test_index_standing.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "falkordb" in item.name and not ("qdrant" not in item.name and item.path.name in SHARE):
            item.add_marker(pytest.mark.soak)


@pytest.fixture(params=MAKERS)
def make_index(request: pytest.FixtureRequest) -> Maker:
    return MAKERS[request.param]


@pytest.fixture
def index(make_index: Maker, tmp_path: Path) -> Iterator[Index]:
    opened = make_index(tmp_path)
    yield opened
    opened.close()
