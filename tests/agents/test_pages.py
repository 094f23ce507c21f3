"""The pages about agents say what setup really does."""

from __future__ import annotations

from pathlib import Path

import pytest

from madeleine.agents.catalog import agents_by_name
from madeleine.agents.instructions import INSTRUCTIONS_TEXT
from tests.agents.machine import Machine

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {"claude": "claude-code", "gemini": "gemini-cli"}


def page(agent: str) -> str:
    return (DOCS / "agents" / f"{PAGES.get(agent, agent)}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("agent", agents_by_name())
def test_a_page_names_every_file_that_is_changed(machine: Machine, agent: str) -> None:
    (machine.user / ".config" / "Code" / "User").mkdir(parents=True)
    (machine.user / ".copilot").mkdir()

    for wiring in agents_by_name()[agent].wirings(machine.around):
        shown = f"~/{wiring.path.relative_to(machine.user)}"
        name = wiring.path.name if agent == "claude-desktop" else shown
        assert f"| `{name}` |" in page(agent)


@pytest.mark.parametrize("agent", agents_by_name())
def test_a_page_says_what_is_seen_and_how_to_leave(agent: str) -> None:
    for words in ("## What the agent will see", f"madeleine unsetup {agent}\n"):
        assert words in page(agent)


def test_the_guide_lists_every_agent_and_the_instructions_word_for_word() -> None:
    guide = (DOCS / "guides" / "setup.md").read_text(encoding="utf-8")

    assert INSTRUCTIONS_TEXT in guide
    for agent in agents_by_name():
        assert f"| `{agent}` |" in guide
