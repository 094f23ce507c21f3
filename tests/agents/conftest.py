"""A machine of its own for each test: the real folders of whoever runs this are never seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agents.machine import Machine, make_machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return make_machine(tmp_path)
