"""The doctor: every check, one after the other; none of them changes anything."""

from __future__ import annotations

from madeleine.agents.findings import Finding
from madeleine.agents.home_checks import Ask, check_home
from madeleine.agents.surroundings import Surroundings
from madeleine.agents.wiring_checks import check_agents


def examine(around: Surroundings, ask: Ask, now: float) -> list[Finding]:
    """Return what was found, the home first."""
    return [*check_home(around.home, ask, now), *check_agents(around)]
