"""Setup and unsetup: which agents, what plan, and doing it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from madeleine.agents import autostart, claude_plugin
from madeleine.agents.apply import carry_out
from madeleine.agents.catalog import (
    GENERIC,
    Agent,
    Wiring,
    agent_named,
    agents_here,
    known_agents,
    plugin_wirings,
    settings_off,
)
from madeleine.agents.marks import is_anothers
from madeleine.agents.pieces import Block, Whole
from madeleine.agents.plan import Plan, Planner, known_by, looked
from madeleine.agents.receipts import Receipts, load
from madeleine.agents.surroundings import Surroundings, packaged_hook
from madeleine.errors import MadeleineError, Missing

HOOK = "hook"  # under this name the client's copy stands in the receipts


class NoAgents(Missing):
    """Nobody is here that could be wired."""

    kind = "no_agents"

    def __init__(self) -> None:
        names = ", ".join(known_agents())
        super().__init__(
            "no coding agent was found on this machine",
            hint=f"name one ({names}), or `madeleine setup generic` for any other MCP client",
        )


@dataclass(frozen=True, slots=True)
class Request:
    """What a person asked for."""

    agents: Sequence[str] = ()
    autostart: bool = False
    plugin: bool = False


@dataclass(frozen=True, slots=True)
class Prepared:
    """A plan and the receipts that it was made with."""

    plan: Plan
    receipts: Receipts
    agents: tuple[Agent, ...]

    def carry_out(self) -> None:
        carry_out(self.plan, self.receipts)


def prepare_setup(around: Surroundings, request: Request) -> Prepared:
    """Work out what wires these agents; without names, those that are here."""
    agents = _chosen(around, request)
    receipts = load(around.agents)
    planner = Planner(receipts)
    if agents:
        planner.setup(HOOK, _client(around))
        planner.plan.notes += _passing(around)
    for agent in agents:
        planner.setup(agent, _wirings(around, agent, request.plugin))
        if any(change.agent == agent.name for change in planner.plan.changes):
            planner.plan.notes += [f"{agent.title}: {note}" for note in agent.notes]
    if request.autostart:
        _start_at_login(planner, around)
    return Prepared(planner.plan, receipts, tuple(agents))


def _start_at_login(planner: Planner, around: Surroundings) -> None:
    planner.setup(autostart.NAME, autostart.wirings(around))
    if not _starts_another(around):
        planner.link(autostart.links(around, wanted=True))
        planner.plan.notes.append(autostart.note(around))


def _starts_another(around: Surroundings) -> bool:
    """Whether under this home's name stands what starts the daemon of another."""
    return any(not each.ours for file in autostart.wirings(around) for each in looked(file)[1])


def prepare_unsetup(around: Surroundings, names: Sequence[str]) -> Prepared:
    """Work out what takes these agents' wiring out; without names, everything of ours."""
    others = (autostart.NAME, GENERIC)
    agents = [agent_named(name) for name in names if name not in others]
    agents = agents if names else list(known_agents().values())
    receipts = load(around.agents)
    planner = Planner(receipts)
    for agent in agents:
        _leave(planner, around, agent, named=bool(names))
    if not names or autostart.NAME in names:
        planner.unsetup(autostart.NAME, autostart.wirings(around))
        if not _starts_another(around):
            planner.link(autostart.links(around, wanted=False))
    if _nobody_else(receipts, agents):
        planner.unsetup(HOOK, _client(around))
    return Prepared(planner.plan, receipts, tuple(agents))


def _leave(planner: Planner, around: Surroundings, agent: Agent, named: bool) -> None:
    """Plan what takes an agent's wiring out. A file that makes no sense is in the way only of an
    agent that was named, or wired by us."""
    wired = any(each.agent == agent.name for each in planner.receipts.files.values())
    try:
        planner.unsetup(agent, _leaving(planner.receipts, around, agent))
    except MadeleineError as error:
        if named or wired:
            raise
        planner.plan.notes.append(f"{agent.title} was never wired and is left out: {error.message}")


def _leaving(receipts: Receipts, around: Surroundings, agent: Agent) -> list[Wiring]:
    """Return the wirings to take out; not the instructions where an agent works for somebody else,
    unless it was us who put them there."""
    wirings = _all_wirings(around, agent)
    entries = [known_by(receipts, each) for each in wirings if not _is_text(each)]
    if not _is_anothers_agent(around, entries):
        return wirings
    return [each for each in wirings if receipts.of(each.path) or not _is_text(each)]


def _is_text(wiring: Wiring) -> bool:
    return all(isinstance(piece, Block) for piece in wiring.pieces)


def _is_anothers_agent(around: Surroundings, entries: Sequence[Wiring]) -> bool:
    """Whether an agent is wired to another home than this, or not by us at all."""
    seen = [each for entry in entries for each in looked(entry)[1]]
    if any(is_anothers(each.home, str(around.home)) for each in seen):
        return True
    return bool(seen) and not any(each.ours for each in seen)


def _chosen(around: Surroundings, request: Request) -> list[Agent]:
    if request.agents:
        named = [agent_named(name) for name in request.agents]
        return list(dict.fromkeys(named))
    if request.plugin:
        return [agent_named("claude")]
    found = agents_here(around)
    if not found and not request.autostart:
        raise NoAgents
    return found


def _wirings(around: Surroundings, agent: Agent, plugin: bool) -> list[Wiring]:
    wirings = list(agent.wirings(around))
    if not plugin or agent.name != "claude":
        return wirings
    return [*plugin_wirings(around), *settings_off(wirings)]


def _all_wirings(around: Surroundings, agent: Agent) -> list[Wiring]:
    more = plugin_wirings(around) if agent.name == "claude" else []
    return [*more, *agent.wirings(around)]


def _client(around: Surroundings) -> list[Wiring]:
    content = packaged_hook().decode("utf-8")
    return [Wiring(around.hook, (Whole("the client that hooks run", content),))]


def _passing(around: Surroundings) -> list[str]:
    """Say when what is wired will be gone soon: `uvx` and `pipx run` keep things in a cache."""
    if "/.cache/" not in around.python:
        return []
    return [f"{around.python} is in a cache and may vanish: uv tool install madeleine-memory"]


def _nobody_else(receipts: Receipts, agents: Sequence[Agent]) -> bool:
    """Whether no other agent needs the client."""
    leaving = {agent.name for agent in agents} | {HOOK, autostart.NAME}
    return all(each.agent in leaving for each in receipts.files.values())


def plugin_steps(around: Surroundings) -> list[str]:
    """Return what to type so that Claude Code takes the plugin."""
    return claude_plugin.steps(around.agents / claude_plugin.FOLDER)
