"""The doctor: every check, one after the other; none of them changes anything."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path

from madeleine.agents.environment import SetupEnvironment
from madeleine.agents.findings import DoctorFinding
from madeleine.agents.home_checks import AskDaemon, check_home
from madeleine.agents.wiring_checks import check_agents

_COMMAND_PATTERN = re.compile(r"(?<![\w./-])madeleine (?=[a-z])(?![^;,`]*--home)")


def run_checks(around: SetupEnvironment, ask: AskDaemon, now: float) -> list[DoctorFinding]:
    """Return what was found, the home first."""
    found = [*check_home(around.home, ask, now), *check_agents(around)]
    return [replace(each, fix=add_home_option(around, each.fix)) for each in found]


def add_home_option(around: SetupEnvironment, fix: str) -> str:
    """Return a fix as it is typed for this home: another than the default one must be named."""
    named = around.variables.get("MADELEINE_HOME")
    usual = Path(named) if named else around.usual_home
    if usual == around.home:
        return fix
    whole = f"madeleine --home {shlex.quote(str(around.home))} "
    return _COMMAND_PATTERN.sub(lambda _: whole, fix)
