"""What a service for many tenants needs, computed from what each operation costs here:
`madeleine bench fleet -- --simulate`, or `python bench/fleet.py --simulate`.

A database server and a server of ours are started, and what each operation takes of both is
measured: processor time, memory for each tenant that is open, bytes on the disk for each memory.
From that, and from how tenants use it (options, all shown), follow the machines for a million
tenants, with the bottleneck named. No figure is put in by hand but those that are options: how
tenants use it, how large a machine is, and prices, without which no money is shown.

`--check` runs several database servers with a server of ours on each, and compares what clients
got done with what the costs predict of the time that other programs left to us. It needs Linux.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, os.fspath(Path(__file__).parent))

from _fleet_servers import (
    FleetNode,
    add_tenants,
    build_request,
    fleet_of,
    load_fleet,
    machine_seconds,
)
from _measure import progress
from _scale_fleet import Door

from madeleine.bootstrap.context import MAX_OPEN_CONTEXTS

WORK = ("whisper", "recall", "remember")
MIX = ("whisper",) * 10 + ("recall",) * 3 + ("remember",) * 2
DAY_SECONDS = 86_400
WITHIN = 0.25  # of what was measured, as far as a prediction may be off


@dataclass(frozen=True, slots=True)
class OperationCost:
    """The processor seconds of one operation: of our server, of the database and of a client."""

    server: float
    database: float
    client: float

    @property
    def whole(self) -> float:
        return self.server + self.database + self.client


@dataclass(frozen=True, slots=True)
class FleetCosts:
    """What was measured."""

    operations: Mapping[str, OperationCost]
    opening: OperationCost
    """The first operation of a tenant whose memory is not open, beside what it costs otherwise."""
    tenant_bytes: float
    server_bytes: float
    memory_bytes: float
    """Of one memory in the database."""

    def mixed(self, mix: Sequence[str], tenants_a_server: int) -> OperationCost:
        """Return the cost of one operation of a mix, over so many tenants in no order."""
        missed = max(0.0, 1 - MAX_OPEN_CONTEXTS / max(tenants_a_server, 1))
        parts = [self.operations[each] for each in mix]
        return OperationCost(
            *(
                sum(getattr(each, name) for each in parts) / len(parts)
                + missed * getattr(self.opening, name)
                for name in ("server", "database", "client")
            )
        )


@dataclass(frozen=True, slots=True)
class FleetUse:
    """How tenants use it, and on what machines."""

    tenants: int
    prompts: float
    recalls: float
    writes: float
    memories: int
    peak: float
    awake: float
    cores: int
    memory_gb: float
    disk_gb: float
    busy: float


@dataclass(frozen=True, slots=True)
class FleetNeed:
    """How many machines one resource asks for."""

    resource: str
    amount: float
    unit: str
    machines: float


def measure_costs(folder: Path, tenants: int, memories: int, times: int) -> FleetCosts:
    """Measure what each operation takes, one at a time, on one server with its database."""
    with fleet_of(folder, 1) as (node,):
        empty, bare = node.database_bytes(), node.server_bytes()
        add_tenants([node], tenants, memories)
        grown = node.database_bytes() - empty
        opening = _measure_opening(node, tenants)
        opened = node.server_bytes()
        costs = {work: _measure_operation(node, work, times) for work in WORK}
        spare = OperationCost(
            *(
                max(getattr(opening, name) - getattr(costs["recall"], name), 0.0)
                for name in ("server", "database", "client")
            )
        )
        return FleetCosts(
            operations=costs,
            opening=spare,
            tenant_bytes=max(opened - bare, 0) / tenants,
            server_bytes=float(bare),
            memory_bytes=grown / max(tenants * memories, 1),
        )


def _measure_opening(node: FleetNode, tenants: int) -> OperationCost:
    """Measure the first recall of each tenant after our server was started again."""
    node.restart()
    _ask(node, "recall", node.tokens[0], random.Random(0))  # the model is loaded by then
    return _cost_of(node, [("recall", token) for token in node.tokens[1:]])


def _measure_operation(node: FleetNode, work: str, times: int) -> OperationCost:
    dice = random.Random(work)
    _cost_of(node, [(work, dice.choice(node.tokens)) for _ in range(5)])
    return _cost_of(node, [(work, dice.choice(node.tokens)) for _ in range(times)])


def _cost_of(node: FleetNode, asked: Sequence[tuple[str, str]]) -> OperationCost:
    dice = random.Random(len(asked))
    server, database, client = node.server_seconds(), node.database_seconds(), time.process_time()
    for work, token in asked:
        _ask(node, work, token, dice)
    client = time.process_time() - client
    server, database = node.server_seconds() - server, node.database_seconds() - database
    count = max(len(asked), 1)
    return OperationCost(server / count, database / count, client / count)


def _ask(node: FleetNode, work: str, token: str, dice: random.Random) -> None:
    door = Door(node.address, token)
    status, answer = door.call(work, body=build_request(work, dice, token[-6:]))
    door.close()
    if status >= 400:
        raise SystemExit(f"{work}: {status} {answer}")


def simulate(costs: FleetCosts, use: FleetUse) -> list[FleetNeed]:
    """Return what so many tenants need of each resource, and how many machines that is."""
    a_day = {"whisper": use.prompts, "recall": use.recalls, "remember": use.writes}
    peak = use.tenants * use.peak / DAY_SECONDS
    cores = {
        name: peak * sum(n * getattr(costs.operations[work], name) for work, n in a_day.items())
        for name in ("server", "database")
    }
    opened = use.tenants * use.awake
    memory = opened * costs.tenant_bytes / 1e9
    disk = use.tenants * use.memories * costs.memory_bytes / 1e9
    usable = use.cores * use.busy
    room = max(use.memory_gb * use.busy - costs.server_bytes / 1e9, 0.1)
    return [
        FleetNeed("processor of our servers", cores["server"], "cores", cores["server"] / usable),
        FleetNeed("memory of our servers", memory, "GB", memory / room),
        FleetNeed(
            "processor of the databases", cores["database"], "cores", cores["database"] / usable
        ),
        FleetNeed("disk of the databases", disk, "GB", disk / (use.disk_gb * use.busy)),
    ]


def render_simulation(costs: FleetCosts, use: FleetUse, prices: Sequence[float | None]) -> str:
    """Return the table of what is needed, with the bottleneck."""
    needs = simulate(costs, use)
    lines = ["| resource | at the busiest | machines |", "|---|--:|--:|"]
    lines += [
        f"| {each.resource} | {each.amount:,.0f} {each.unit} | {math.ceil(each.machines):,} |"
        for each in needs
    ]
    worst = max(needs, key=lambda each: each.machines)
    ours = math.ceil(max(each.machines for each in needs[:2]))
    theirs = math.ceil(max(each.machines for each in needs[2:]))
    lines += ["", f"Bottleneck: {worst.resource}."]
    lines.append(f"Machines: {ours:,} for our servers, {theirs:,} for databases.")
    machine, disk = prices
    if machine is not None and disk is not None:
        month = (ours + theirs) * machine + needs[3].amount * disk
        lines.append(f"A month: {month:,.0f}, at {machine:g} a machine and {disk:g} a GB of disk.")
    return "\n".join(lines)


def check(folder: Path, costs: FleetCosts, given: argparse.Namespace) -> tuple[str, bool]:
    """Compare what several servers get done with what the costs say."""
    with fleet_of(folder, given.servers) as nodes:
        add_tenants(nodes, given.tenants, given.each)
        load_fleet(nodes, MIX, given.clients, 3.0)
        whole, used = machine_seconds()
        ours = _our_seconds(nodes)
        outcome = load_fleet(nodes, MIX, given.clients, given.seconds)
        ours = _our_seconds(nodes) - ours
        now_whole, now_used = machine_seconds()
        others = max(now_used - used - ours, 0.0)
        available = now_whole - whole - others
    cost = costs.mixed(MIX, given.tenants // given.servers).whole
    predicted, measured = available / outcome.seconds / cost, outcome.done / outcome.seconds
    off = predicted / measured - 1
    text = (
        f"{given.servers} database servers, {given.tenants:,} tenants of {given.each} memories, "
        f"{given.clients} clients: {measured:.1f} operations a second measured, {predicted:.1f} "
        f"predicted ({off:+.0%}); {outcome.failed} refused; others used {others:.0f} of "
        f"{now_whole - whole:.0f} processor seconds, we {ours:.0f}"
    )
    return text, abs(off) <= WITHIN


def _our_seconds(nodes: Sequence[FleetNode]) -> float:
    own = time.process_time()
    return own + sum(each.server_seconds() + each.database_seconds() for each in nodes)


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark; 0 when the prediction, if it was checked, was near enough."""
    given = _parser().parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="madeleine-fleet-") as name:
        folder = Path(name)
        (folder / "costs").mkdir()
        progress(f"measuring, at a load of {os.getloadavg()[0]:.1f}")
        costs = measure_costs(folder / "costs", given.measured, given.each, given.times)
        checked = ("", True)
        if given.check:
            (folder / "check").mkdir()
            checked = check(folder / "check", costs, given)
    use = _read_use(given)
    if given.json:
        needs = [asdict(each) for each in simulate(costs, use)]
        found = {"costs": asdict(costs), "use": asdict(use), "needs": needs, "check": checked[0]}
        print(json.dumps(found, indent=2))
        return 0 if checked[1] else 1
    print(render_costs(costs))
    print()
    print(render_simulation(costs, use, (given.machine_price, given.disk_price)))
    if checked[0]:
        print(f"\n{checked[0]}")
    return 0 if checked[1] else 1


def render_costs(costs: FleetCosts) -> str:
    """Return what was measured, as a table."""
    lines = ["| one | our server | the database | |", "|---|--:|--:|---|"]
    rows = {**costs.operations, "opening of a tenant": costs.opening}
    for name, each in rows.items():
        cells = f"{each.server * 1e3:.1f} ms | {each.database * 1e3:.1f} ms"
        lines.append(f"| {name} | {cells} | of processor time |")
    lines.append(f"| open tenant | {costs.tenant_bytes / 1e6:.2f} MB | | of memory |")
    lines.append(f"| memory | | {costs.memory_bytes / 1e3:.1f} kB | of disk |")
    return "\n".join(lines)


def _read_use(given: argparse.Namespace) -> FleetUse:
    return FleetUse(
        tenants=given.simulated,
        prompts=given.prompts,
        recalls=given.recalls,
        writes=given.writes,
        memories=given.memories,
        peak=given.peak,
        awake=given.awake,
        cores=given.cores,
        memory_gb=given.memory_gb,
        disk_gb=given.disk_gb,
        busy=given.busy,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="madeleine bench fleet", description=__doc__)
    add = parser.add_argument
    add("--simulate", action="store_true", help="compute what many tenants need (always done)")
    add("--check", action="store_true", help="compare with several servers under load")
    add("--measured", type=int, default=40, metavar="N", help="tenants while costs are measured")
    add("--times", type=int, default=120, metavar="N", help="how often each operation is done")
    add("--each", type=int, default=20, metavar="N", help="memories of a tenant that is made")
    add("--servers", type=int, default=3, metavar="N", help="database servers of --check")
    add("--tenants", type=int, default=1_000, metavar="N", help="tenants of --check")
    add("--clients", type=int, default=12, metavar="N", help="clients of --check")
    add("--seconds", type=float, default=60.0, metavar="N", help="how long --check asks")
    add("--simulated", type=int, default=1_000_000, metavar="N", help="tenants that are computed")
    add("--prompts", type=float, default=60, metavar="N", help="of a tenant, a day")
    add("--recalls", type=float, default=10, metavar="N", help="of a tenant, a day")
    add("--writes", type=float, default=10, metavar="N", help="of a tenant, a day")
    add("--memories", type=int, default=3_000, metavar="N", help="of a tenant")
    add("--peak", type=float, default=4.0, metavar="X", help="the busiest second against the mean")
    add("--awake", type=float, default=0.1, metavar="X", help="share of tenants open at a time")
    add("--cores", type=int, default=16, metavar="N", help="of one machine")
    add("--memory-gb", type=float, default=64, metavar="N", help="of one machine")
    add("--disk-gb", type=float, default=2_000, metavar="N", help="of one machine")
    add("--busy", type=float, default=0.6, metavar="X", help="share of a machine that may be used")
    add("--machine-price", type=float, metavar="N", help="of one machine, a month")
    add("--disk-price", type=float, metavar="N", help="of one GB of disk, a month")
    add("--json", action="store_true", help="one JSON document")
    return parser


if __name__ == "__main__":
    sys.exit(main())
