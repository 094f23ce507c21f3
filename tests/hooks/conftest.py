"""A daemon with hooks that all tests of a module share, and homes for other daemons."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hooks.running import Hooked, hooked


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hooked]:
    """A patient daemon; sessions must differ between tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
        with hooked(tmp_path_factory.mktemp("home")) as started:
            yield started


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    return tmp_path / "home"
