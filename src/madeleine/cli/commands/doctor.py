"""Look for what is wrong with this installation, and say what to type for each.

Looked at: the daemon and its token, permissions, files and journal lines that do not parse, the
index, jobs that keep failing, the clock, for each agent its entries: whether they point to
something that is there, stand there once, are trusted, and are quick by the agent's own records,
and whether memories of the folder that you are in are heard there.
Nothing of yours is changed; without a daemon the index is brought up to date. The exit code is 0
when all is well, else that of the worst: 6 damaged, 5 unavailable, 4 conflict, 3 missing, 2
rejected.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from madeleine.agents.doctor import run_checks
from madeleine.agents.environment import read_environment
from madeleine.agents.findings import FINE_CODE, DoctorFinding, findings_exit_code
from madeleine.agents.space_checks import check_folder_space
from madeleine.cli.door import CommandDoor
from madeleine.cli.environment import current_folder
from madeleine.cli.memory_words import render_count
from madeleine.cli.output import CommandOutput, escape_controls


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It takes no words of its own."""


def run(arguments: argparse.Namespace, door: CommandDoor, say: CommandOutput) -> int:
    def ask(name: str, query: Mapping[str, object]) -> Mapping[str, Any]:
        return door.call(name, query=dict(query))

    around = read_environment(door.home)
    findings = [*run_checks(around, ask, say.now), *check_folder_space(current_folder(), ask)]
    answer = {
        "well": not findings_exit_code(findings),
        "findings": [asdict(each) for each in findings],
    }
    say.reply(answer, lambda: _render_findings(findings, say))
    return findings_exit_code(findings)


def _render_findings(findings: list[DoctorFinding], say: CommandOutput) -> Iterator[str]:
    for each in findings:
        label = say.bold(each.code) if each.is_trouble else each.code
        yield f"{label}: {escape_controls(each.message)}"
        if each.fix:
            yield say.dim(f"  fix: {escape_controls(each.fix)}")
    wrong = sum(each.is_trouble for each in findings)
    yield render_count(wrong, "problem") if wrong else _render_all_well(findings)


def _render_all_well(findings: list[DoctorFinding]) -> str:
    notes = sum(each.code != FINE_CODE for each in findings)
    return "all is well" + (f", {render_count(notes, 'note')}" if notes else "")
