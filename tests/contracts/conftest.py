"""Fixtures that run a test once for every engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from madeleine.index.port import Index
from tests.contracts.engines import MAKERS, Maker


@pytest.fixture(params=MAKERS)
def make_index(request: pytest.FixtureRequest) -> Maker:
    return MAKERS[request.param]


@pytest.fixture
def index(make_index: Maker, tmp_path: Path) -> Iterator[Index]:
    opened = make_index(tmp_path)
    yield opened
    opened.close()
