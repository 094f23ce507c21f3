"""The hosts: where each keeps its files, what goes into them, and what a person should know.

Facts about hosts stand here and nowhere else. A timeout is in seconds everywhere but in Gemini
CLI, which has milliseconds, and Copilot, which spells it `timeoutSec`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from madeleine.agents import claude_plugin, opencode, toml_text
from madeleine.agents.environment import SetupEnvironment
from madeleine.agents.instructions import INSTRUCTIONS_TEXT
from madeleine.agents.pieces import (
    InstructionsPiece,
    JsonHooksPiece,
    JsonServerPiece,
    TomlServerPiece,
    WholeFilePiece,
    WiringPiece,
    build_hook_group,
)
from madeleine.agents.toml_hooks import TomlHooksPiece, read_hook_groups
from madeleine.errors import UnknownWord

HOOK_TIMEOUT_SECONDS = 5  # the client is over after 0.3; this is for a machine that stands still


@dataclass(frozen=True, slots=True)
class AgentWiring:
    """A file of a host, and what is ours in it."""

    path: Path
    pieces: tuple[WiringPiece, ...]
    wanted: bool = True
    """Whether the pieces are to be there; else they are taken out if they are."""
    only_if_there: bool = False
    """Whether to leave it alone where there is no such file."""

    @property
    def is_own(self) -> bool:
        """Whether the whole file is ours."""
        return any(isinstance(piece, WholeFilePiece) for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class WiringLink:
    """A symbolic link that is to be there, or not."""

    path: Path
    target: str
    wanted: bool = True

    @property
    def is_there(self) -> bool:
        return self.path.is_symlink() and os.fspath(self.path.readlink()) == self.target


@dataclass(frozen=True, slots=True)
class AgentHost:
    """A host that can be wired."""

    name: str
    title: str
    is_here: Callable[[SetupEnvironment], bool]
    wirings: Callable[[SetupEnvironment], Sequence[AgentWiring]]
    notes: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()


def agents_by_name() -> dict[str, AgentHost]:
    """Return every host by its name."""
    return {agent.name: agent for agent in _AGENTS}


def find_agent(name: str) -> AgentHost:
    """Return the host a person means, and of two in one the one that they name."""
    low = name.lower()
    for agent in _AGENTS:
        if low in (agent.name, *agent.aliases):
            return replace(agent, wirings=_WIRINGS_BY_ALIAS.get(low, agent.wirings))
    raise UnknownWord("agent", name, [*agents_by_name(), GENERIC_NAME])


def find_agents_here(around: SetupEnvironment) -> list[AgentHost]:
    """Return the hosts that are on this machine."""
    return [agent for agent in _AGENTS if agent.is_here(around)]


GENERIC_NAME = "generic"


def mcp_client_snippet(around: SetupEnvironment) -> dict[str, Any]:
    """Return what any MCP client takes in one form or another."""
    return {"mcpServers": {"madeleine": _stdio_entry(around)}}


def _stdio_entry(around: SetupEnvironment, **more: object) -> dict[str, object]:
    command, *args = around.server_words()
    return {**more, "command": command, "args": args}


def _claude_hook_entry(around: SetupEnvironment, verb: str) -> dict[str, object]:
    """A hook of Claude Code without a shell: no quoting, and no noise of a profile."""
    command, *args = around.hook_words(verb, "claude")
    return {"type": "command", "command": command, "args": args, "timeout": HOOK_TIMEOUT_SECONDS}


def claude_hooks(around: SetupEnvironment) -> dict[str, dict[str, object]]:
    """Return the hooks of Claude Code, as settings and a plugin have them."""
    inject, store = (_claude_hook_entry(around, verb) for verb in ("inject", "store"))
    return {
        "UserPromptSubmit": inject,
        "PreCompact": store,
        "SessionEnd": store,
        "SessionStart": inject,
        "SubagentStart": inject,
        "PreToolUse": inject,
        "PostToolUseFailure": inject,
        "Stop": inject,
    }


CLAUDE_TOOLS = "Edit|Write|MultiEdit|NotebookEdit|Bash"
CLAUDE_MATCHERS = {"PreToolUse": CLAUDE_TOOLS, "PostToolUseFailure": CLAUDE_TOOLS}
CODEX_MATCHERS = {"PreToolUse": "^(Bash|apply_patch|Edit|Write)$"}
GEMINI_MATCHERS = {"AfterTool": "^(write_file|replace|run_shell_command)$"}
"""The tools that change something: at others no hook is run."""


def _shell_hook_entry(
    around: SetupEnvironment, verb: str, host: str, **more: object
) -> dict[str, object]:
    return {"type": "command", "command": around.hook_line(verb, host), **more}


# -- Claude Code ---------------------------------------------------------------------------


def claude_folder(around: SetupEnvironment) -> Path:
    return around.folder("CLAUDE_CONFIG_DIR", ".claude")


def claude_state_path(around: SetupEnvironment) -> Path:
    """Where Claude Code keeps the servers of a person, with much else."""
    moved = around.variables.get("CLAUDE_CONFIG_DIR")
    return (Path(moved).expanduser() if moved else around.user) / ".claude.json"


def _is_claude_here(around: SetupEnvironment) -> bool:
    places = (claude_folder(around), claude_state_path(around))
    return any(place.exists() for place in places) or around.finds("claude")


def _claude_wirings(around: SetupEnvironment) -> list[AgentWiring]:
    """With our plugin on, what it brings is taken out of the settings: both would fire."""
    folder = claude_folder(around)
    wanted = not claude_plugin.is_plugin_enabled(folder)
    server = JsonServerPiece("mcpServers", _stdio_entry(around, type="stdio"), str(around.home))
    return [
        AgentWiring(
            folder / "settings.json",
            (JsonHooksPiece(claude_hooks(around), str(around.home), matchers=CLAUDE_MATCHERS),),
            wanted,
        ),
        AgentWiring(claude_state_path(around), (server,), wanted),
        AgentWiring(folder / "CLAUDE.md", (InstructionsPiece(INSTRUCTIONS_TEXT),), wanted),
    ]


def plugin_wirings(around: SetupEnvironment) -> list[AgentWiring]:
    """Return the files of the plugin, which a person then installs in Claude Code."""
    hooks = claude_hooks(around)
    groups = {
        event: build_hook_group(each, CLAUDE_MATCHERS.get(event)) for event, each in hooks.items()
    }
    files = claude_plugin.plugin_files(groups, _stdio_entry(around))
    folder = around.agents / claude_plugin.PLUGIN_FOLDER
    return [
        AgentWiring(folder / name, (WholeFilePiece("plugin", text),))
        for name, text in files.items()
    ]


def removal_wirings(wirings: Sequence[AgentWiring]) -> list[AgentWiring]:
    """Return wirings that take out what these would put in."""
    return [AgentWiring(each.path, each.pieces, wanted=False) for each in wirings]


# -- Codex ---------------------------------------------------------------------------------


def codex_folder(around: SetupEnvironment) -> Path:
    return around.folder("CODEX_HOME", ".codex")


def _codex_wirings(around: SetupEnvironment) -> list[AgentWiring]:
    folder = codex_folder(around)
    inject, store = (
        _shell_hook_entry(around, verb, "codex", timeout=HOOK_TIMEOUT_SECONDS)
        for verb in ("inject", "store")
    )
    hooks = {
        "UserPromptSubmit": inject,
        "Stop": store,
        "SessionStart": inject,
        "SubagentStart": inject,
        "PreToolUse": inject,
    }
    home = str(around.home)
    command, *args = around.server_words()
    server = TomlServerPiece("mcp_servers", {"command": command, "args": args}, home)
    in_toml = _keeps_hooks_in_toml(folder)
    return [
        AgentWiring(
            folder / "hooks.json",
            (JsonHooksPiece(hooks, home, matchers=CODEX_MATCHERS),),
            wanted=not in_toml,
        ),
        AgentWiring(
            folder / "config.toml",
            (TomlHooksPiece(hooks if in_toml else {}, home, CODEX_MATCHERS), server),
        ),
        AgentWiring(_codex_instructions_path(folder), (InstructionsPiece(INSTRUCTIONS_TEXT),)),
    ]


def _codex_instructions_path(folder: Path) -> Path:
    """Return the file that Codex reads: the first of the two that says anything."""
    first = folder / "AGENTS.override.md"
    return first if first.is_file() and first.stat().st_size else folder / "AGENTS.md"


def _keeps_hooks_in_toml(folder: Path) -> bool:
    """Whether a person has hooks in config.toml and none in hooks.json: Codex warns about both."""
    try:
        text = (folder / "config.toml").read_text(encoding="utf-8-sig")
        return bool(read_hook_groups(text)) and not (folder / "hooks.json").exists()
    except (OSError, UnicodeDecodeError, toml_text.InvalidToml):
        return False  # whoever reads that file next says what is wrong with it


# -- Cursor --------------------------------------------------------------------------------


def _cursor_wirings(around: SetupEnvironment) -> list[AgentWiring]:
    folder = around.user / ".cursor"
    entry = {"command": around.hook_line("inject", "cursor"), "timeout": HOOK_TIMEOUT_SECONDS}
    home = str(around.home)
    entries = dict.fromkeys(("beforeSubmitPrompt", "sessionStart", "stop"), entry)
    hooks = JsonHooksPiece(entries, home, grouped=False, version=1)
    return [
        AgentWiring(folder / "hooks.json", (hooks,)),
        AgentWiring(
            folder / "mcp.json", (JsonServerPiece("mcpServers", _stdio_entry(around), home),)
        ),
    ]


# -- Gemini CLI ----------------------------------------------------------------------------


def _is_gemini_here(around: SetupEnvironment) -> bool:
    """Antigravity keeps its things in the same folder, so the folder alone says nothing."""
    return (around.user / ".gemini" / "settings.json").exists() or around.finds("gemini")


def _gemini_wirings(around: SetupEnvironment) -> list[AgentWiring]:
    folder = around.user / ".gemini"
    entry = {
        "type": "command",
        "name": "madeleine",
        "command": around.hook_line("inject", "gemini"),
        "timeout": HOOK_TIMEOUT_SECONDS * 1000,
    }
    home = str(around.home)
    pieces = (
        JsonHooksPiece(
            dict.fromkeys(
                ("BeforeAgent", "SessionStart", "AfterTool", "AfterAgent", "PreCompress"), entry
            ),
            home,
            matchers=GEMINI_MATCHERS,
        ),
        JsonServerPiece("mcpServers", _stdio_entry(around), home),
    )
    return [
        AgentWiring(folder / "settings.json", pieces),
        AgentWiring(folder / "GEMINI.md", (InstructionsPiece(INSTRUCTIONS_TEXT),)),
    ]


# -- OpenCode ------------------------------------------------------------------------------


def _opencode_folder(around: SetupEnvironment) -> Path:
    return around.config / "opencode"


def _opencode_wirings(around: SetupEnvironment) -> list[AgentWiring]:
    """Its AGENTS.md is not made where there is none: it would hide ~/.claude/CLAUDE.md from it."""
    folder = _opencode_folder(around)
    with_comments = folder / "opencode.jsonc"
    settings = with_comments if with_comments.exists() else folder / "opencode.json"
    entry = {"type": "local", "command": around.server_words(), "enabled": True}
    words = around.hook_words("inject", "opencode")
    plugin = WholeFilePiece("plugin", opencode.render_plugin(words), tuple(words))
    return [
        AgentWiring(settings, (JsonServerPiece("mcp", entry, str(around.home)),)),
        AgentWiring(folder / "plugins" / "madeleine.js", (plugin,)),
        AgentWiring(
            folder / "AGENTS.md", (InstructionsPiece(INSTRUCTIONS_TEXT),), only_if_there=True
        ),
    ]


# -- Copilot CLI and VS Code ---------------------------------------------------------------


def _copilot_folder(around: SetupEnvironment) -> Path:
    return around.folder("COPILOT_HOME", ".copilot")


def _vscode_folder(around: SetupEnvironment) -> Path:
    return around.application("Code") / "User"


def _has_copilot(around: SetupEnvironment) -> bool:
    """Whether Copilot CLI is here: a folder with our hook alone was made for VS Code."""
    folder = _copilot_folder(around)
    ours = [*_list_names(folder), *_list_names(folder / "hooks")] == ["hooks", "madeleine.json"]
    return around.finds("copilot") or (folder.exists() and not ours)


def _list_names(folder: Path) -> list[str]:
    return [each.name for each in folder.iterdir()] if folder.is_dir() else []


def _copilot_wirings(around: SetupEnvironment) -> list[AgentWiring]:
    """Wire what is here; where neither is, a person means Copilot CLI by this name."""
    code = _vscode_folder(around).exists()
    return _copilot_and_vscode_wirings(around, cli=_has_copilot(around) or not code, code=code)


def _vscode_wirings(around: SetupEnvironment) -> list[AgentWiring]:
    return _copilot_and_vscode_wirings(around, cli=_has_copilot(around), code=True)


def _copilot_and_vscode_wirings(
    around: SetupEnvironment, cli: bool, code: bool
) -> list[AgentWiring]:
    """One hook serves both: VS Code reads Copilot's folder, and Copilot takes VS Code's events."""
    folder = _copilot_folder(around)
    limits = {
        "timeoutSec": HOOK_TIMEOUT_SECONDS,
        "timeout": HOOK_TIMEOUT_SECONDS,
    }  # Copilot's, VS Code's
    entry = _shell_hook_entry(around, "inject", "copilot", **limits)
    events = ("UserPromptSubmit", "SessionStart", "SubagentStart")
    hooks = {"version": 1, "hooks": {event: [entry] for event in events}}
    words = tuple(around.hook_words("inject", "copilot"))
    own = WholeFilePiece(f"hooks on {', '.join(events)}", _render_json(hooks), words)
    wirings = [AgentWiring(folder / "hooks" / "madeleine.json", (own,))]
    if cli:
        entry = _stdio_entry(around, type="local", tools=["*"])
        server = JsonServerPiece("mcpServers", entry, str(around.home))
        wirings += [
            AgentWiring(folder / "mcp-config.json", (server,)),
            AgentWiring(
                folder / "copilot-instructions.md", (InstructionsPiece(INSTRUCTIONS_TEXT),)
            ),
        ]
    if code:
        server = JsonServerPiece("servers", _stdio_entry(around, type="stdio"), str(around.home))
        wirings.append(AgentWiring(_vscode_folder(around) / "mcp.json", (server,)))
    return wirings


def _render_json(values: Mapping[str, object]) -> str:
    return json.dumps(values, ensure_ascii=False, indent=2) + "\n"


# -- hosts with MCP alone ------------------------------------------------------------------


def _claude_desktop_folder(around: SetupEnvironment) -> Path:
    return around.application("Claude")


def _claude_desktop_wirings(around: SetupEnvironment) -> list[AgentWiring]:
    path = _claude_desktop_folder(around) / "claude_desktop_config.json"
    return [
        AgentWiring(path, (JsonServerPiece("mcpServers", _stdio_entry(around), str(around.home)),))
    ]


def _windsurf_folder(around: SetupEnvironment) -> Path:
    return around.user / ".codeium" / "windsurf"


def _windsurf_wirings(around: SetupEnvironment) -> list[AgentWiring]:
    folder = _windsurf_folder(around)
    server = JsonServerPiece("mcpServers", _stdio_entry(around), str(around.home))
    return [
        AgentWiring(folder / "mcp_config.json", (server,)),
        AgentWiring(
            folder / "memories" / "global_rules.md", (InstructionsPiece(INSTRUCTIONS_TEXT),)
        ),
    ]


def _zed_folder(around: SetupEnvironment) -> Path:
    return around.config / "zed"


def _zed_wirings(around: SetupEnvironment) -> list[AgentWiring]:
    folder = _zed_folder(around)
    server = JsonServerPiece(
        "context_servers", _stdio_entry(around, source="custom"), str(around.home)
    )
    return [
        AgentWiring(folder / "settings.json", (server,)),
        AgentWiring(folder / "AGENTS.md", (InstructionsPiece(INSTRUCTIONS_TEXT),)),
    ]


_AGENTS = (
    AgentHost(
        "claude",
        "Claude Code",
        _is_claude_here,
        _claude_wirings,
        ("hooks run in folders that you trusted; `/hooks` in Claude Code lists them",),
        ("claude-code",),
    ),
    AgentHost(
        "codex",
        "Codex CLI",
        lambda around: codex_folder(around).exists() or around.finds("codex"),
        _codex_wirings,
        ("Codex asks you to review the hooks when it starts next; they run once you trust them",),
    ),
    AgentHost(
        "cursor",
        "Cursor",
        lambda around: (around.user / ".cursor").exists() or around.finds("cursor-agent"),
        _cursor_wirings,
        ("whispers reach Cursor by a field that it does not document; MCP works in any case",),
    ),
    AgentHost("gemini", "Gemini CLI", _is_gemini_here, _gemini_wirings, aliases=("gemini-cli",)),
    AgentHost(
        "opencode",
        "OpenCode",
        lambda around: _opencode_folder(around).exists() or around.finds("opencode"),
        _opencode_wirings,
    ),
    AgentHost(
        "copilot",
        "Copilot CLI and VS Code",
        lambda around: (
            _copilot_folder(around).exists()
            or _vscode_folder(around).exists()
            or around.finds("copilot")
        ),
        _copilot_wirings,
        ("not every version of Copilot passes on what a hook says; MCP works in any case",),
        ("vscode", "copilot-cli"),
    ),
    AgentHost(
        "claude-desktop",
        "Claude Desktop",
        lambda around: _claude_desktop_folder(around).exists(),
        _claude_desktop_wirings,
        ("it has no hooks: memories come when Claude asks for them; restart it",),
    ),
    AgentHost(
        "windsurf",
        "Windsurf",
        lambda around: _windsurf_folder(around).exists(),
        _windsurf_wirings,
        ("its hooks cannot say anything: memories come when the agent asks for them",),
    ),
    AgentHost(
        "zed",
        "Zed",
        lambda around: _zed_folder(around).exists() or around.finds("zed"),
        _zed_wirings,
        ("it has no hooks: memories come when the agent asks for them",),
    ),
)
_WIRINGS_BY_ALIAS = {
    "vscode": _vscode_wirings
}  # of two that are wired together, the one that is named
