"""Stores that the model which ships reads for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from madeleine.minds.port import Minds
from madeleine.write.stores import Stores
from tests.real_model import minds, opened_real

__all__ = ["minds"]


@pytest.fixture
def real(tmp_path: Path, minds: Minds) -> Iterator[Stores]:
    """Stores that the real model reads for."""
    with opened_real(tmp_path / "home", minds) as stores:
        yield stores
