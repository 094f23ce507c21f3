"""Fixtures that run a test once for every engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from madeleine.index.port import Index
from tests.contracts.engines import MAKERS, Maker

# Qdrant holds the vectors and nothing else: what does not search by meaning is the same code as
# with FalkorDB alone, and has its turn in `make soak`.
SEARCHING = ("test_index_candidates.py", "test_index_gathering.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "falkordb-qdrant" in item.name and item.path.name not in SEARCHING:
            item.add_marker(pytest.mark.soak)


@pytest.fixture(params=MAKERS)
def make_index(request: pytest.FixtureRequest) -> Maker:
    return MAKERS[request.param]


@pytest.fixture
def index(make_index: Maker, tmp_path: Path) -> Iterator[Index]:
    opened = make_index(tmp_path)
    yield opened
    opened.close()
