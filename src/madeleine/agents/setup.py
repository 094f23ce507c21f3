"""Setup and unsetup: which agents, what plan, and doing it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from madeleine.agents import autostart, claude_plugin
from madeleine.agents.apply import apply_plan
from madeleine.agents.catalog import (
    GENERIC_NAME,
    AgentHost,
    AgentWiring,
    agents_by_name,
    find_agent,
    find_agents_here,
    plugin_wirings,
    removal_wirings,
)
from madeleine.agents.environment import SetupEnvironment, read_packaged_hook
from madeleine.agents.ownership import is_of_another_home
from madeleine.agents.pieces import InstructionsPiece, WholeFilePiece
from madeleine.agents.plan import WiringPlan, WiringPlanner, apply_receipt, look_into_file
from madeleine.agents.receipts import SetupReceipts, load_receipts
from madeleine.errors import MadeleineError, Missing

HOOK_RECEIPT_NAME = "hook"  # under this name the client's copy stands in the receipts


class NoAgentsFound(Missing):
    """Nobody is here that could be wired."""

    kind = "no_agents"

    def __init__(self) -> None:
        names = ", ".join(agents_by_name())
        super().__init__(
            "no coding agent was found on this machine",
            hint=f"name one ({names}), or `madeleine setup generic` for any other MCP client",
        )


@dataclass(frozen=True, slots=True)
class SetupRequest:
    """What a person asked for."""

    agents: Sequence[str] = ()
    autostart: bool = False
    plugin: bool = False


@dataclass(frozen=True, slots=True)
class PreparedSetup:
    """A plan and the receipts that it was made with."""

    plan: WiringPlan
    receipts: SetupReceipts
    agents: tuple[AgentHost, ...]

    def carry_out(self) -> None:
        apply_plan(self.plan, self.receipts)


def prepare_setup(around: SetupEnvironment, request: SetupRequest) -> PreparedSetup:
    """Work out what wires these agents; without names, those that are here."""
    agents = _select_agents(around, request)
    receipts = load_receipts(around.agents)
    planner = WiringPlanner(receipts)
    if agents:
        planner.setup(HOOK_RECEIPT_NAME, _client_wirings(around))
        planner.plan.notes += _cache_warnings(around)
    for agent in agents:
        planner.setup(agent, _wirings_to_put(around, agent, request.plugin))
        if any(change.agent == agent.name for change in planner.plan.changes):
            planner.plan.notes += [f"{agent.title}: {note}" for note in agent.notes]
    if request.autostart:
        _plan_autostart(planner, around)
    return PreparedSetup(planner.plan, receipts, tuple(agents))


def _plan_autostart(planner: WiringPlanner, around: SetupEnvironment) -> None:
    planner.setup(autostart.AUTOSTART_NAME, autostart.autostart_wirings(around))
    if not _is_autostart_of_another(around):
        planner.link(autostart.autostart_links(around, wanted=True))
        planner.plan.notes.append(autostart.autostart_note(around))


def _is_autostart_of_another(around: SetupEnvironment) -> bool:
    """Whether under this home's name stands what starts the daemon of another."""
    return any(
        not each.ours
        for file in autostart.autostart_wirings(around)
        for each in look_into_file(file)[1]
    )


def prepare_unsetup(around: SetupEnvironment, names: Sequence[str]) -> PreparedSetup:
    """Work out what takes these agents' wiring out; without names, everything of ours."""
    others = (autostart.AUTOSTART_NAME, GENERIC_NAME)
    agents = [find_agent(name) for name in names if name not in others]
    agents = agents if names else list(agents_by_name().values())
    receipts = load_receipts(around.agents)
    planner = WiringPlanner(receipts)
    for agent in agents:
        _plan_removal(planner, around, agent, named=bool(names))
    if not names or autostart.AUTOSTART_NAME in names:
        planner.unsetup(autostart.AUTOSTART_NAME, autostart.autostart_wirings(around))
        if not _is_autostart_of_another(around):
            planner.link(autostart.autostart_links(around, wanted=False))
    if _is_client_unneeded(receipts, agents):
        planner.unsetup(HOOK_RECEIPT_NAME, _client_wirings(around))
    return PreparedSetup(planner.plan, receipts, tuple(agents))


def _plan_removal(
    planner: WiringPlanner, around: SetupEnvironment, agent: AgentHost, named: bool
) -> None:
    """Plan what takes an agent's wiring out. A file that makes no sense is in the way only of an
    agent that was named, or wired by us."""
    wired = any(each.agent == agent.name for each in planner.receipts.files.values())
    try:
        planner.unsetup(agent, _select_removed_wirings(planner.receipts, around, agent))
    except MadeleineError as error:
        if named or wired:
            raise
        planner.plan.notes.append(f"{agent.title} was never wired and is left out: {error.message}")


def _select_removed_wirings(
    receipts: SetupReceipts, around: SetupEnvironment, agent: AgentHost
) -> list[AgentWiring]:
    """Return the wirings to take out; not the instructions where an agent works for somebody else,
    unless it was us who put them there."""
    wirings = _all_wirings(around, agent)
    entries = [apply_receipt(receipts, each) for each in wirings if not _is_text_wiring(each)]
    if not _is_anothers_agent(around, entries):
        return wirings
    return [each for each in wirings if receipts.of(each.path) or not _is_text_wiring(each)]


def _is_text_wiring(wiring: AgentWiring) -> bool:
    return all(isinstance(piece, InstructionsPiece) for piece in wiring.pieces)


def _is_anothers_agent(around: SetupEnvironment, entries: Sequence[AgentWiring]) -> bool:
    """Whether an agent is wired to another home than this, or not by us at all."""
    seen = [each for entry in entries for each in look_into_file(entry)[1]]
    if any(is_of_another_home(each.home, str(around.home)) for each in seen):
        return True
    return bool(seen) and not any(each.ours for each in seen)


def _select_agents(around: SetupEnvironment, request: SetupRequest) -> list[AgentHost]:
    if request.agents:
        named = [find_agent(name) for name in request.agents]
        return list(dict.fromkeys(named))
    if request.plugin:
        return [find_agent("claude")]
    found = find_agents_here(around)
    if not found and not request.autostart:
        raise NoAgentsFound
    return found


def _wirings_to_put(around: SetupEnvironment, agent: AgentHost, plugin: bool) -> list[AgentWiring]:
    wirings = list(agent.wirings(around))
    if not plugin or agent.name != "claude":
        return wirings
    return [*plugin_wirings(around), *removal_wirings(wirings)]


def _all_wirings(around: SetupEnvironment, agent: AgentHost) -> list[AgentWiring]:
    more = plugin_wirings(around) if agent.name == "claude" else []
    return [*more, *agent.wirings(around)]


def _client_wirings(around: SetupEnvironment) -> list[AgentWiring]:
    content = read_packaged_hook().decode("utf-8")
    return [AgentWiring(around.hook, (WholeFilePiece("the client that hooks run", content),))]


def _cache_warnings(around: SetupEnvironment) -> list[str]:
    """Say when what is wired will be gone soon: `uvx` and `pipx run` keep things in a cache."""
    if "/.cache/" not in around.python:
        return []
    return [f"{around.python} is in a cache and may vanish: uv tool install madeleine-memory"]


def _is_client_unneeded(receipts: SetupReceipts, agents: Sequence[AgentHost]) -> bool:
    """Whether no other agent needs the client."""
    leaving = {agent.name for agent in agents} | {HOOK_RECEIPT_NAME, autostart.AUTOSTART_NAME}
    return all(each.agent in leaving for each in receipts.files.values())


def plugin_install_steps(around: SetupEnvironment) -> list[str]:
    """Return what to type so that Claude Code takes the plugin."""
    return claude_plugin.install_steps(around.agents / claude_plugin.PLUGIN_FOLDER)
