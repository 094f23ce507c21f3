"""Shared fixtures: stores in a temporary home, closed at the end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from madeleine.write.stores import Stores
from tests.fakes import close, make_stores


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[Stores]:
    opened = make_stores(tmp_path / "home")
    yield opened
    close(opened)
