"""A real daemon, killed again and again, keeps its promises (I1, I2, I4).

The short run is part of `make test`; the long one is `make soak`.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.soak.run import ENVIRONMENT, Plan, Report, Soak

SHORT_SECONDS = 8.0  # the round under way is finished after that, with its checks


def soaked(plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Report:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    print(f"seed {plan.seed}")  # noqa: T201  # pytest shows it when the run fails
    return Soak(plan, tmp_path / "home", lambda line: None).run()


@pytest.mark.proves("I1")
@pytest.mark.proves("I2")
@pytest.mark.proves("I4")
@pytest.mark.timeout(180)
def test_nothing_acknowledged_is_lost_and_nothing_is_half_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = Plan(time.time_ns() % 1_000_000, seconds=SHORT_SECONDS)
    report = soaked(plan, tmp_path, monkeypatch)
    assert report.kills >= 2
    assert report.total >= 50


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_ten_thousand_operations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Plan(time.time_ns() % 1_000_000, operations=10_000, seconds=3_600.0)
    report = soaked(plan, tmp_path, monkeypatch)
    assert report.total >= plan.operations
