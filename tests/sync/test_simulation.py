"""Nothing is lost and all agree, whatever machines do while they do not see each other."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import IN_SOAK
from tests.sync.simulation import World


@settings(max_examples=30 if IN_SOAK else 4, deadline=None)
@given(seed=st.integers(0, 2**32), machines=st.integers(2, 5))
@pytest.mark.timeout(900)
def test_machines_that_meet_now_and_then_agree_and_lose_nothing(seed: int, machines: int) -> None:
    """Ordinary days: edits, deletions, clocks that jump, places that fail. Hypothesis says only
    where the dice begin, so that a failure can be played again."""
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder), machines, seed)
        try:
            world.run(120)
            world.settle()
            world.check()
        finally:
            world.close()


@pytest.mark.soak
@pytest.mark.timeout(3_600)
def test_five_machines_agree_after_thousands_of_steps(tmp_path: Path) -> None:
    """Ten thousand, as the figure in bench/RESULTS.md: `python -m tests.sync 10000`."""
    world = World(tmp_path, 5, seed=20_261_120)
    try:
        world.run(10_000)
        world.settle()
        world.check()
    finally:
        world.close()
