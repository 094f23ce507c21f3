"""The hosts that can be wired, and which of them are here and are."""

from __future__ import annotations

from madeleine.agents.catalog import agents_by_name
from madeleine.agents.environment import SetupEnvironment
from madeleine.agents.receipts import load_receipts
from madeleine.model.codec import Json


def list_agents(around: SetupEnvironment) -> list[Json]:
    """Return every host: its name, whether it is on this machine, and whether setup wired it."""
    wired = {each.agent for each in load_receipts(around.agents).files.values()}
    return [
        {
            "id": agent.name,
            "name": agent.title,
            "detected": agent.is_here(around),
            "wired": agent.name in wired,
            "platform": None,
            "available_on_current_os": True,
        }
        for agent in agents_by_name().values()
    ]
