"""The doctor: every check, one after the other; none of them changes anything."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path

from madeleine.agents.findings import Finding
from madeleine.agents.home_checks import Ask, check_home
from madeleine.agents.surroundings import Surroundings
from madeleine.agents.wiring_checks import check_agents

_COMMAND = re.compile(r"(?<![\w./-])madeleine (?=[a-z])(?![^;,`]*--home)")


def examine(around: Surroundings, ask: Ask, now: float) -> list[Finding]:
    """Return what was found, the home first."""
    found = [*check_home(around.home, ask, now), *check_agents(around)]
    return [replace(each, fix=typed(around, each.fix)) for each in found]


def typed(around: Surroundings, fix: str) -> str:
    """Return a fix as it is typed for this home: another than the default one must be named."""
    named = around.variables.get("MADELEINE_HOME")
    usual = Path(named) if named else around.usual_home
    if usual == around.home:
        return fix
    whole = f"madeleine --home {shlex.quote(str(around.home))} "
    return _COMMAND.sub(lambda _: whole, fix)
