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
from madeleine.agents.pieces import Block, Hooks, Piece, Server, TomlServer, Whole
from madeleine.agents.surroundings import Surroundings
from madeleine.agents.toml_hooks import TomlHooks, groups_of
from madeleine.agents.wording import INSTRUCTIONS
from madeleine.errors import UnknownWord

TIMEOUT_SECONDS = 5  # the client is over after 0.3; this is for a machine that stands still


@dataclass(frozen=True, slots=True)
class Wiring:
    """A file of a host, and what is ours in it."""

    path: Path
    pieces: tuple[Piece, ...]
    wanted: bool = True
    """Whether the pieces are to be there; else they are taken out if they are."""
    only_if_there: bool = False
    """Whether to leave it alone where there is no such file."""

    @property
    def is_own(self) -> bool:
        """Whether the whole file is ours."""
        return any(isinstance(piece, Whole) for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class Link:
    """A symbolic link that is to be there, or not."""

    path: Path
    target: str
    wanted: bool = True

    @property
    def is_there(self) -> bool:
        return self.path.is_symlink() and os.fspath(self.path.readlink()) == self.target


@dataclass(frozen=True, slots=True)
class Agent:
    """A host that can be wired."""

    name: str
    title: str
    is_here: Callable[[Surroundings], bool]
    wirings: Callable[[Surroundings], Sequence[Wiring]]
    notes: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()


def known_agents() -> dict[str, Agent]:
    """Return every host by its name."""
    return {agent.name: agent for agent in _AGENTS}


def agent_named(name: str) -> Agent:
    """Return the host a person means, and of two in one the one that they name."""
    low = name.lower()
    for agent in _AGENTS:
        if low in (agent.name, *agent.aliases):
            return replace(agent, wirings=_BY_ALIAS.get(low, agent.wirings))
    raise UnknownWord("agent", name, [*known_agents(), GENERIC])


def agents_here(around: Surroundings) -> list[Agent]:
    """Return the hosts that are on this machine."""
    return [agent for agent in _AGENTS if agent.is_here(around)]


GENERIC = "generic"


def snippet(around: Surroundings) -> dict[str, Any]:
    """Return what any MCP client takes in one form or another."""
    return {"mcpServers": {"madeleine": _stdio(around)}}


def _stdio(around: Surroundings, **more: object) -> dict[str, object]:
    command, *args = around.server_words()
    return {**more, "command": command, "args": args}


def _exec(around: Surroundings, verb: str) -> dict[str, object]:
    """A hook of Claude Code without a shell: no quoting, and no noise of a profile."""
    command, *args = around.hook_words(verb, "claude")
    return {"type": "command", "command": command, "args": args, "timeout": TIMEOUT_SECONDS}


def claude_hooks(around: Surroundings) -> dict[str, dict[str, object]]:
    """Return the hooks of Claude Code, as settings and a plugin have them."""
    return {
        "UserPromptSubmit": _exec(around, "inject"),
        "PreCompact": _exec(around, "store"),
        "SessionEnd": _exec(around, "store"),
    }


def _shell(around: Surroundings, verb: str, host: str, **more: object) -> dict[str, object]:
    return {"type": "command", "command": around.hook_line(verb, host), **more}


# -- Claude Code ---------------------------------------------------------------------------


def claude_folder(around: Surroundings) -> Path:
    return around.folder("CLAUDE_CONFIG_DIR", ".claude")


def claude_state(around: Surroundings) -> Path:
    """Where Claude Code keeps the servers of a person, with much else."""
    moved = around.variables.get("CLAUDE_CONFIG_DIR")
    return (Path(moved).expanduser() if moved else around.user) / ".claude.json"


def _claude_is_here(around: Surroundings) -> bool:
    places = (claude_folder(around), claude_state(around))
    return any(place.exists() for place in places) or around.finds("claude")


def _claude(around: Surroundings) -> list[Wiring]:
    """With our plugin on, what it brings is taken out of the settings: both would fire."""
    folder = claude_folder(around)
    wanted = not claude_plugin.is_on(folder)
    server = Server("mcpServers", _stdio(around, type="stdio"), str(around.home))
    return [
        Wiring(folder / "settings.json", (Hooks(claude_hooks(around), str(around.home)),), wanted),
        Wiring(claude_state(around), (server,), wanted),
        Wiring(folder / "CLAUDE.md", (Block(INSTRUCTIONS),), wanted),
    ]


def plugin_wirings(around: Surroundings) -> list[Wiring]:
    """Return the files of the plugin, which a person then installs in Claude Code."""
    files = claude_plugin.files(claude_hooks(around), _stdio(around))
    folder = around.agents / claude_plugin.FOLDER
    return [Wiring(folder / name, (Whole("plugin", text),)) for name, text in files.items()]


def settings_off(wirings: Sequence[Wiring]) -> list[Wiring]:
    """Return wirings that take out what these would put in."""
    return [Wiring(each.path, each.pieces, wanted=False) for each in wirings]


# -- Codex ---------------------------------------------------------------------------------


def codex_folder(around: Surroundings) -> Path:
    return around.folder("CODEX_HOME", ".codex")


def _codex(around: Surroundings) -> list[Wiring]:
    folder = codex_folder(around)
    hooks = {
        "UserPromptSubmit": _shell(around, "inject", "codex", timeout=TIMEOUT_SECONDS),
        "Stop": _shell(around, "store", "codex", timeout=TIMEOUT_SECONDS),
    }
    home = str(around.home)
    command, *args = around.server_words()
    server = TomlServer("mcp_servers", {"command": command, "args": args}, home)
    in_toml = _keeps_hooks_in_toml(folder)
    return [
        Wiring(folder / "hooks.json", (Hooks(hooks, home),), wanted=not in_toml),
        Wiring(folder / "config.toml", (TomlHooks(hooks if in_toml else {}, home), server)),
        Wiring(_codex_instructions(folder), (Block(INSTRUCTIONS),)),
    ]


def _codex_instructions(folder: Path) -> Path:
    """Return the file that Codex reads: the first of the two that says anything."""
    first = folder / "AGENTS.override.md"
    return first if first.is_file() and first.stat().st_size else folder / "AGENTS.md"


def _keeps_hooks_in_toml(folder: Path) -> bool:
    """Whether a person has hooks in config.toml and none in hooks.json: Codex warns about both."""
    try:
        text = (folder / "config.toml").read_text(encoding="utf-8-sig")
        return bool(groups_of(text)) and not (folder / "hooks.json").exists()
    except (OSError, UnicodeDecodeError, toml_text.NotToml):
        return False  # whoever reads that file next says what is wrong with it


# -- Cursor --------------------------------------------------------------------------------


def _cursor(around: Surroundings) -> list[Wiring]:
    folder = around.user / ".cursor"
    entry = {"command": around.hook_line("inject", "cursor"), "timeout": TIMEOUT_SECONDS}
    home = str(around.home)
    hooks = Hooks({"beforeSubmitPrompt": entry}, home, grouped=False, version=1)
    return [
        Wiring(folder / "hooks.json", (hooks,)),
        Wiring(folder / "mcp.json", (Server("mcpServers", _stdio(around), home),)),
    ]


# -- Gemini CLI ----------------------------------------------------------------------------


def _gemini_is_here(around: Surroundings) -> bool:
    """Antigravity keeps its things in the same folder, so the folder alone says nothing."""
    return (around.user / ".gemini" / "settings.json").exists() or around.finds("gemini")


def _gemini(around: Surroundings) -> list[Wiring]:
    folder = around.user / ".gemini"
    entry = {
        "type": "command",
        "name": "madeleine",
        "command": around.hook_line("inject", "gemini"),
        "timeout": TIMEOUT_SECONDS * 1000,
    }
    home = str(around.home)
    pieces = (Hooks({"BeforeAgent": entry}, home), Server("mcpServers", _stdio(around), home))
    return [
        Wiring(folder / "settings.json", pieces),
        Wiring(folder / "GEMINI.md", (Block(INSTRUCTIONS),)),
    ]


# -- OpenCode ------------------------------------------------------------------------------


def _opencode_folder(around: Surroundings) -> Path:
    return around.config / "opencode"


def _opencode(around: Surroundings) -> list[Wiring]:
    """Its AGENTS.md is not made where there is none: it would hide ~/.claude/CLAUDE.md from it."""
    folder = _opencode_folder(around)
    with_comments = folder / "opencode.jsonc"
    settings = with_comments if with_comments.exists() else folder / "opencode.json"
    entry = {"type": "local", "command": around.server_words(), "enabled": True}
    words = around.hook_words("inject", "opencode")
    plugin = Whole("plugin", opencode.plugin(words), tuple(words))
    return [
        Wiring(settings, (Server("mcp", entry, str(around.home)),)),
        Wiring(folder / "plugins" / "madeleine.js", (plugin,)),
        Wiring(folder / "AGENTS.md", (Block(INSTRUCTIONS),), only_if_there=True),
    ]


# -- Copilot CLI and VS Code ---------------------------------------------------------------


def _copilot_folder(around: Surroundings) -> Path:
    return around.folder("COPILOT_HOME", ".copilot")


def _code_folder(around: Surroundings) -> Path:
    return around.application("Code") / "User"


def _has_copilot(around: Surroundings) -> bool:
    """Whether Copilot CLI is here: a folder with our hook alone was made for VS Code."""
    folder = _copilot_folder(around)
    ours = [*_names_in(folder), *_names_in(folder / "hooks")] == ["hooks", "madeleine.json"]
    return around.finds("copilot") or (folder.exists() and not ours)


def _names_in(folder: Path) -> list[str]:
    return [each.name for each in folder.iterdir()] if folder.is_dir() else []


def _copilot(around: Surroundings) -> list[Wiring]:
    """Wire what is here; where neither is, a person means Copilot CLI by this name."""
    code = _code_folder(around).exists()
    return _both(around, cli=_has_copilot(around) or not code, code=code)


def _vscode(around: Surroundings) -> list[Wiring]:
    return _both(around, cli=_has_copilot(around), code=True)


def _both(around: Surroundings, cli: bool, code: bool) -> list[Wiring]:
    """One hook serves both: VS Code reads Copilot's folder, and Copilot takes VS Code's events."""
    folder = _copilot_folder(around)
    limits = {"timeoutSec": TIMEOUT_SECONDS, "timeout": TIMEOUT_SECONDS}  # Copilot's, VS Code's
    entry = _shell(around, "inject", "copilot", **limits)
    hooks = {"version": 1, "hooks": {"UserPromptSubmit": [entry]}}
    words = tuple(around.hook_words("inject", "copilot"))
    own = Whole("hook on UserPromptSubmit", _json(hooks), words)
    wirings = [Wiring(folder / "hooks" / "madeleine.json", (own,))]
    if cli:
        entry = _stdio(around, type="local", tools=["*"])
        server = Server("mcpServers", entry, str(around.home))
        wirings += [
            Wiring(folder / "mcp-config.json", (server,)),
            Wiring(folder / "copilot-instructions.md", (Block(INSTRUCTIONS),)),
        ]
    if code:
        server = Server("servers", _stdio(around, type="stdio"), str(around.home))
        wirings.append(Wiring(_code_folder(around) / "mcp.json", (server,)))
    return wirings


def _json(values: Mapping[str, object]) -> str:
    return json.dumps(values, ensure_ascii=False, indent=2) + "\n"


# -- hosts with MCP alone ------------------------------------------------------------------


def _desktop_folder(around: Surroundings) -> Path:
    return around.application("Claude")


def _desktop(around: Surroundings) -> list[Wiring]:
    path = _desktop_folder(around) / "claude_desktop_config.json"
    return [Wiring(path, (Server("mcpServers", _stdio(around), str(around.home)),))]


def _windsurf_folder(around: Surroundings) -> Path:
    return around.user / ".codeium" / "windsurf"


def _windsurf(around: Surroundings) -> list[Wiring]:
    folder = _windsurf_folder(around)
    server = Server("mcpServers", _stdio(around), str(around.home))
    return [
        Wiring(folder / "mcp_config.json", (server,)),
        Wiring(folder / "memories" / "global_rules.md", (Block(INSTRUCTIONS),)),
    ]


def _zed_folder(around: Surroundings) -> Path:
    return around.config / "zed"


def _zed(around: Surroundings) -> list[Wiring]:
    folder = _zed_folder(around)
    server = Server("context_servers", _stdio(around, source="custom"), str(around.home))
    return [
        Wiring(folder / "settings.json", (server,)),
        Wiring(folder / "AGENTS.md", (Block(INSTRUCTIONS),)),
    ]


_AGENTS = (
    Agent(
        "claude",
        "Claude Code",
        _claude_is_here,
        _claude,
        ("hooks run in folders that you trusted; `/hooks` in Claude Code lists them",),
        ("claude-code",),
    ),
    Agent(
        "codex",
        "Codex CLI",
        lambda around: codex_folder(around).exists() or around.finds("codex"),
        _codex,
        ("Codex asks you to review the hooks when it starts next; they run once you trust them",),
    ),
    Agent(
        "cursor",
        "Cursor",
        lambda around: (around.user / ".cursor").exists() or around.finds("cursor-agent"),
        _cursor,
        ("whispers reach Cursor by a field that it does not document; MCP works in any case",),
    ),
    Agent("gemini", "Gemini CLI", _gemini_is_here, _gemini, aliases=("gemini-cli",)),
    Agent(
        "opencode",
        "OpenCode",
        lambda around: _opencode_folder(around).exists() or around.finds("opencode"),
        _opencode,
    ),
    Agent(
        "copilot",
        "Copilot CLI and VS Code",
        lambda around: (
            _copilot_folder(around).exists()
            or _code_folder(around).exists()
            or around.finds("copilot")
        ),
        _copilot,
        ("not every version of Copilot passes on what a hook says; MCP works in any case",),
        ("vscode", "copilot-cli"),
    ),
    Agent(
        "claude-desktop",
        "Claude Desktop",
        lambda around: _desktop_folder(around).exists(),
        _desktop,
        ("it has no hooks: memories come when Claude asks for them; restart it",),
    ),
    Agent(
        "windsurf",
        "Windsurf",
        lambda around: _windsurf_folder(around).exists(),
        _windsurf,
        ("its hooks cannot say anything: memories come when the agent asks for them",),
    ),
    Agent(
        "zed",
        "Zed",
        lambda around: _zed_folder(around).exists() or around.finds("zed"),
        _zed,
        ("it has no hooks: memories come when the agent asks for them",),
    ),
)
_BY_ALIAS = {"vscode": _vscode}  # of two that are wired together, the one that is named
