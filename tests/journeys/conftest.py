"""Journeys begin in a folder that is no repository: that would give what is remembered a space."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def outside_of_repositories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
