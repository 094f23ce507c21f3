"""Whether whispers come in time while everything else is at work: `madeleine bench load`, or
`python bench/load.py`.

A real daemon on one home; agents whose prompts come at random moments through the hook's own
route; beside them writers, somebody who recalls, and the jobs of the night, one cycle after the
other. Then more prompts than the machine can answer in full. A prompt is *late* if its answer
comes after the hook's deadline: the agent goes without it. Homes are made in a temporary folder;
`--cache` keeps what is slow to make.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

sys.path.insert(0, os.fspath(Path(__file__).parent))

from _load_clients import (
    Agents,
    BesideOutcome,
    PromptOutcome,
    ask_questions,
    sleep_on_and_on,
    working_beside,
    write_memories,
)
from _measure import Row, ms, progress, table, write_json
from _recall_homes import EMBEDDINGS, FILLER, Homes
from _recall_metrics import percentile
from _recall_scale import Plan, made
from _spawning import daemon

from madeleine.api.remote import RemoteDoor

DEADLINE_MS = 300  # as the setting has it; the benchmark must not depend on who runs it
WARM_SECONDS = 5.0
SEED = 25
QUICK_SIZE, QUICK_SECONDS = 200, 3.0


@dataclass(frozen=True, slots=True)
class LoadPhase:
    """So many prompts a second for so long, and whether jobs and writers are at work beside."""

    name: str
    rate: float
    seconds: float
    is_busy: bool


@dataclass(frozen=True, slots=True)
class PhaseOutcome:
    """What came of a phase: the prompts, what was beside them, and the daemon's own counts."""

    phase: LoadPhase
    prompts: list[PromptOutcome]
    writes: BesideOutcome
    recalls: BesideOutcome
    cycles: BesideOutcome
    counts: dict[str, int]


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark; 0 when every target is met."""
    given = _parser().parse_args(argv)
    size, seconds = (QUICK_SIZE, QUICK_SECONDS) if given.quick else (given.size, given.seconds)
    with ExitStack() as stack:
        folder = given.cache or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="madeleine-bench-"))
        )
        work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="madeleine-load-")))
        plan = Plan(size, given.embedded)
        home = _copy_home(Homes(folder), plan, work / "home")
        outcomes = _measure(home, plan, given, seconds)
        rows = [row for each in outcomes for row in _build_rows(each, size)]
    if given.json:
        write_json(given.json, rows)
    if given.json != "-":
        print(table(rows))
    return 0 if given.quick or all(row.passed for row in rows) else 1


def _copy_home(homes: Homes, plan: Plan, work: Path) -> Path:
    """Return a copy of a home that may be written to."""
    home, _ = made(homes, plan)
    shutil.copytree(home, work, ignore=shutil.ignore_patterns("run", "logs", FILLER))
    (work / EMBEDDINGS).unlink(missing_ok=True)
    shutil.copyfile(homes.folder / EMBEDDINGS, work / EMBEDDINGS)
    return work


def _measure(
    home: Path, plan: Plan, given: argparse.Namespace, seconds: float
) -> list[PhaseOutcome]:
    questions = [each.text for each in plan.all_questions]
    phases = [
        LoadPhase("warm", given.rate, WARM_SECONDS, False),
        LoadPhase("prompts alone", given.rate, seconds, False),
        LoadPhase("beside writers and jobs", given.rate, seconds, True),
        LoadPhase("beyond the capacity", given.beyond, seconds, False),
        LoadPhase("beyond it, beside writers and jobs", given.beyond, seconds, True),
    ]
    with daemon(home, DEADLINE_MS) as door:
        agents = Agents(door.where, os.fspath(home), given.agents, questions, DEADLINE_MS / 1_000)
        texts = (f"The {number}th note of this load says {number * 7}." for number in count(1))
        found = [_run_phase(door, agents, each, questions, texts) for each in phases]
    return found[1:]


def _run_phase(
    door: RemoteDoor,
    agents: Agents,
    phase: LoadPhase,
    questions: Sequence[str],
    texts: Iterator[str],
) -> PhaseOutcome:
    before = _read_counts(door)
    writes, recalls, cycles = BesideOutcome(), BesideOutcome(), BesideOutcome()
    acts = [
        write_memories(door.where, texts, 2.0, writes),
        ask_questions(door.where, questions, 1.0, recalls),
        sleep_on_and_on(door.where, cycles),
    ]
    with working_beside(acts if phase.is_busy else []):
        prompts = agents.type_prompts(phase.rate, phase.seconds, SEED)
    after = _read_counts(door)
    counts = {name: after[name] - before.get(name, 0) for name in after}
    progress(
        f"{phase.name}: {len(prompts)} prompts, p95 {_show_p95(each.took for each in prompts)}, "
        f"{counts}; {len(writes.took)} writes, {len(recalls.took)} recalls, "
        f"{len(cycles.took)} cycles of jobs, load {os.getloadavg()[0]:.1f}"
    )
    return PhaseOutcome(phase, prompts, writes, recalls, cycles, counts)


def _read_counts(door: RemoteDoor) -> dict[str, int]:
    """Return what the daemon counted of hooks."""
    status: Any = door.call("status")
    return {name: value for name, value in status["daemon"]["hooks"].items() if type(value) is int}


def _build_rows(outcome: PhaseOutcome, size: int) -> Iterator[Row]:
    phase, prompts = outcome.phase, outcome.prompts
    took = [each.took for each in prompts]
    what = f"{phase.rate:g} prompts a second at {size:,}, {phase.name}"
    p95 = percentile(took, 0.95)
    told = sum(each.whispered for each in prompts)
    note = (
        f"p50 {ms(percentile(took, 0.5))}, slowest {ms(max(took))}; {len(prompts)} prompts, "
        f"{told} whispered, {outcome.counts.get('by_words', 0)} by words alone, "
        f"{outcome.counts.get('turned_away', 0)} turned away"
    )
    if phase.is_busy:
        note += (
            f"; beside {len(outcome.writes.took)} writes (p95 {_show_p95(outcome.writes.took)}), "
            f"{len(outcome.recalls.took)} recalls (p95 {_show_p95(outcome.recalls.took)}) and "
            f"{len(outcome.cycles.took)} cycles of jobs"
        )
    yield Row(
        f"{what}: p95", f"at most {DEADLINE_MS} ms", ms(p95), p95 * 1_000 <= DEADLINE_MS, note
    )
    late = sum(each.took * 1_000 > DEADLINE_MS or not each.answered for each in prompts)
    late = max(late, outcome.counts.get("late", 0))
    yield Row(f"{what}: late", "0", str(late), late == 0, f"of {len(prompts)}")


def _show_p95(took: Iterator[float] | list[float]) -> str:
    found = list(took)
    return ms(percentile(found, 0.95)) if found else "none"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="madeleine bench load", description=__doc__)
    add = parser.add_argument
    add("--size", type=int, default=10_000, metavar="N", help="memories in the home")
    add("--embedded", type=int, default=2_000, metavar="N", help="most fillers read by the model")
    add("--agents", type=int, default=20, metavar="N", help="sessions that type prompts")
    add("--rate", type=float, default=10.0, metavar="N", help="prompts a second, of all agents")
    add("--beyond", type=float, default=80.0, metavar="N", help="the same, more than can be done")
    add("--seconds", type=float, default=30.0, metavar="N", help="of each phase")
    add("--quick", action="store_true", help="a tiny home and a few seconds: does it run at all?")
    add("--cache", type=Path, metavar="DIR", help="keep the homes here")
    add("--json", nargs="?", const="-", metavar="FILE", help="rows as JSON")
    return parser


if __name__ == "__main__":
    sys.exit(main())
