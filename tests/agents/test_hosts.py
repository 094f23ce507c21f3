"""What is particular to one host or another: places, shapes, and what fires twice."""

from __future__ import annotations

import json
import os
import plistlib
import shlex
import tomllib
from pathlib import Path

import pytest

from madeleine.agents.catalog import find_agent, find_agents_here, mcp_client_snippet
from madeleine.agents.environment import HOOK_LAUNCHER, find_stable_python
from madeleine.agents.setup import SetupRequest, plugin_install_steps, prepare_setup
from tests.agents.machine import Machine


def names(machine: Machine) -> list[str]:
    return [agent.name for agent in find_agents_here(machine.around)]


def test_hosts_are_found_by_their_folders(machine: Machine) -> None:
    for folder in (".claude", ".codex", ".cursor", ".config/zed", ".config/Code/User"):
        (machine.user / folder).mkdir(parents=True)
    machine.write(".gemini/antigravity/state.json", "{}")

    assert names(machine) == ["claude", "codex", "cursor", "copilot", "zed"]


def test_hosts_are_found_by_their_programs(machine: Machine) -> None:
    for program in ("gemini", "opencode"):
        machine.write(f"bin/{program}", "#!/bin/sh\n", 0o755)

    found = names(machine.moved(variables={"PATH": str(machine.user / "bin")}))

    assert found == ["gemini", "opencode"]


def test_hosts_that_were_moved_by_a_variable_are_wired_there(machine: Machine) -> None:
    variables = {
        "CLAUDE_CONFIG_DIR": str(machine.user / "c"),
        "CODEX_HOME": str(machine.user / "x"),
        "COPILOT_HOME": str(machine.user / "p"),
        "XDG_CONFIG_HOME": str(machine.user / "g"),
    }
    moved = machine.moved(variables=variables)

    moved.setup("claude", "codex", "copilot", "opencode", "zed")

    files = {path for path, (_, content) in moved.tree().items() if content}
    assert {path for path in files if not path.startswith(".madeleine/")} == {
        "c/settings.json",
        "c/.claude.json",
        "c/CLAUDE.md",
        "x/hooks.json",
        "x/config.toml",
        "x/AGENTS.md",
        "p/hooks/madeleine.json",
        "p/mcp-config.json",
        "p/copilot-instructions.md",
        "g/opencode/opencode.json",
        "g/opencode/plugins/madeleine.js",
        "g/zed/settings.json",
        "g/zed/AGENTS.md",
    }


def test_what_was_wired_elsewhere_is_found_after_the_host_moved(machine: Machine) -> None:
    before = machine.tree()
    machine.moved(variables={"CODEX_HOME": str(machine.user / "x")}).setup("codex")

    machine.unsetup()

    assert machine.tree() == before


def test_what_a_host_reads_in_the_place_of_another_file_is_wired_and_found(
    machine: Machine,
) -> None:
    machine.write(".codex/AGENTS.override.md", "Mine.\n")
    before = machine.tree()
    machine.setup("codex", "opencode")
    assert b"Memory (Madeleine)" in machine.read(".codex/AGENTS.override.md")
    settings = machine.user / ".config/opencode/opencode.json"
    settings.rename(settings.with_suffix(".jsonc"))
    machine.write(".config/opencode/opencode.json", "{}")

    machine.unsetup()

    assert machine.json(".config/opencode/opencode.jsonc") == {}
    assert machine.read(".codex/AGENTS.override.md") == before[".codex/AGENTS.override.md"][1]


def test_an_installation_that_will_vanish_is_told(machine: Machine) -> None:
    passing = machine.moved(python="/home/ana/.cache/uv/archive-v0/x/bin/python")

    notes = prepare_setup(passing.around, SetupRequest(["zed"])).plan.notes

    assert "uv tool install" in notes[0]


def test_on_a_mac_applications_keep_their_settings_in_the_library(machine: Machine) -> None:
    library = machine.user / "Library" / "Application Support"
    (library / "Claude").mkdir(parents=True)
    (library / "Code" / "User").mkdir(parents=True)
    mac = machine.moved(platform="darwin")

    mac.setup()

    assert names(mac) == ["copilot", "claude-desktop"]
    desktop = json.loads((library / "Claude" / "claude_desktop_config.json").read_bytes())
    assert list(desktop["mcpServers"]) == ["madeleine"]
    assert list(json.loads((library / "Code/User/mcp.json").read_bytes())["servers"]) == [
        "madeleine"
    ]


# -- shapes --------------------------------------------------------------------------------


def test_claude_runs_the_hook_without_a_shell(machine: Machine) -> None:
    machine.setup("claude")

    hooks = machine.json(".claude/settings.json")["hooks"]
    around = machine.around
    assert hooks["UserPromptSubmit"] == [
        {
            "hooks": [
                {
                    "type": "command",
                    "command": around.python,
                    "args": [
                        "-I",
                        "-S",
                        "-c",
                        HOOK_LAUNCHER,
                        str(around.hook),
                        str(around.home),
                        "inject",
                        "claude",
                    ],
                    "timeout": 5,
                }
            ]
        }
    ]
    assert [hooks[event][0]["hooks"][0]["args"][-2] for event in ("PreCompact", "SessionEnd")] == [
        "store",
        "store",
    ]


def test_codex_gets_no_key_that_it_would_refuse(machine: Machine) -> None:
    machine.setup("codex")

    document = machine.json(".codex/hooks.json")
    assert list(document) == ["hooks"]
    assert list(document["hooks"]) == [
        "UserPromptSubmit",
        "Stop",
        "SessionStart",
        "SubagentStart",
        "PreToolUse",
    ]
    handler = document["hooks"]["UserPromptSubmit"][0]["hooks"][0]
    assert set(handler) == {"type", "command", "timeout"}


def test_hooks_go_where_a_person_of_codex_has_theirs(machine: Machine) -> None:
    """Codex warns when there are hooks in both of its files."""
    text = "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = 'command'\ncommand = 'theirs'\n"
    machine.write(".codex/config.toml", text)
    before = machine.tree()

    machine.setup("codex")

    assert not (machine.user / ".codex/hooks.json").exists()
    hooks = tomllib.loads(machine.read(".codex/config.toml").decode())["hooks"]
    assert [len(hooks[event]) for event in ("UserPromptSubmit", "Stop")] == [1, 2]
    assert machine.setup("codex") == []
    assert machine.troubles() == []
    machine.unsetup()
    assert machine.tree() == before


def test_a_timeout_is_in_the_unit_of_its_host(machine: Machine) -> None:
    machine.setup("gemini", "cursor", "copilot")

    gemini = machine.json(".gemini/settings.json")["hooks"]["BeforeAgent"][0]["hooks"][0]
    cursor = machine.json(".cursor/hooks.json")
    copilot = machine.json(".copilot/hooks/madeleine.json")["hooks"]["UserPromptSubmit"][0]
    assert (gemini["timeout"], gemini["name"]) == (5000, "madeleine")
    assert cursor["hooks"]["beforeSubmitPrompt"][0]["timeout"] == 5
    assert cursor["version"] == 1
    assert copilot["timeoutSec"] == 5


@pytest.mark.parametrize("folder", ["a b", "qu'ote", 'dou"ble', "dol$lar", "back`tick", "ünï"])
def test_a_home_of_any_name_reaches_the_client_whole(machine: Machine, folder: str) -> None:
    moved = machine.moved(home=machine.user / folder)

    line = moved.around.hook_line("inject", "codex")

    assert shlex.split(line) == moved.around.hook_words("inject", "codex")
    before = moved.tree()
    moved.setup("codex", "opencode")
    assert moved.setup("codex", "opencode") == []
    assert moved.troubles() == []
    moved.unsetup()
    assert moved.tree() == before


def test_opencode_keeps_reading_what_it_read(machine: Machine) -> None:
    """An AGENTS.md of its own would hide ~/.claude/CLAUDE.md from it."""
    (machine.user / ".config/opencode").mkdir(parents=True)

    machine.setup("opencode")

    assert not (machine.user / ".config/opencode/AGENTS.md").exists()
    assert machine.json(".config/opencode/opencode.json")["mcp"]["madeleine"] == {
        "type": "local",
        "command": machine.around.server_words(),
        "enabled": True,
    }


def test_any_other_client_is_given_the_command_by_its_whole_path(machine: Machine) -> None:
    server = mcp_client_snippet(machine.around)["mcpServers"]["madeleine"]

    assert Path(server["command"]).is_absolute()
    assert server["args"][-3:] == ["mcp", "--home", str(machine.around.home)]


def test_the_interpreter_is_named_without_its_minor_version(tmp_path: Path) -> None:
    (tmp_path / "python3.11").write_text("", encoding="utf-8")
    (tmp_path / "python3").symlink_to("python3.11")

    assert find_stable_python(tmp_path / "python3.11") == tmp_path / "python3"
    assert find_stable_python(tmp_path / "lonely") == tmp_path / "lonely"


# -- nothing fires twice -------------------------------------------------------------------


BY_HAND = [
    "madeleine whisper inject",
    '"/opt/py" -I -S "/opt/lib/madeleine/hooks/whisper.py" "/home/ana/.madeleine" inject claude',
]


@pytest.mark.parametrize("command", BY_HAND)
def test_a_hook_that_was_wired_by_hand_is_left_and_not_doubled(
    machine: Machine, command: str
) -> None:
    by_hand = {
        "hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": command}]}]}
    }
    machine.write(".claude/settings.json", json.dumps(by_hand))

    machine.setup("claude")

    hooks = machine.json(".claude/settings.json")["hooks"]
    assert hooks["UserPromptSubmit"] == by_hand["hooks"]["UserPromptSubmit"]
    moments = ["SessionStart", "SubagentStart", "PreToolUse", "PostToolUseFailure", "Stop"]
    assert list(hooks) == ["UserPromptSubmit", "PreCompact", "SessionEnd", *moments]
    machine.unsetup()
    assert machine.json(".claude/settings.json") == by_hand


def test_a_server_of_our_name_that_is_a_persons_own_is_left(machine: Machine) -> None:
    theirs = {"mcpServers": {"madeleine": {"command": "uvx", "args": ["madeleine", "mcp"]}}}
    machine.write(".cursor/mcp.json", json.dumps(theirs))

    machine.setup("cursor")
    assert machine.json(".cursor/mcp.json") == theirs
    machine.unsetup()

    assert machine.json(".cursor/mcp.json") == theirs


def test_what_a_person_added_to_our_server_stays_when_it_is_mended(machine: Machine) -> None:
    machine.moved(command=("/gone/madeleine",)).setup("cursor")
    servers = machine.json(".cursor/mcp.json")
    servers["mcpServers"]["madeleine"]["env"] = {"MADELEINE_WHISPER_HOLDOUT": "0.2"}
    machine.write(".cursor/mcp.json", json.dumps(servers))

    machine.setup("cursor")

    server = machine.json(".cursor/mcp.json")["mcpServers"]["madeleine"]
    assert server["command"] == machine.around.command[0]
    assert server["env"] == {"MADELEINE_WHISPER_HOLDOUT": "0.2"}


def test_the_plugin_takes_the_place_of_the_settings(machine: Machine) -> None:
    machine.write(".claude/settings.json", '{"model": "opus"}')
    before = machine.tree()
    machine.setup("claude")

    machine.setup("claude", plugin=True)

    assert machine.read(".claude/settings.json") == b'{"model": "opus"}'
    assert not (machine.user / ".claude.json").exists()
    folder = machine.around.agents / "claude-plugin"
    market = json.loads((folder / ".claude-plugin/marketplace.json").read_bytes())
    plugin = folder / market["plugins"][0]["source"]
    manifest = json.loads((plugin / ".claude-plugin/plugin.json").read_bytes())
    hooks = json.loads((plugin / "hooks/hooks.json").read_bytes())["hooks"]
    assert manifest["name"] == "madeleine"
    assert "hooks" not in manifest, "Claude Code finds hooks/hooks.json by itself"
    assert hooks["UserPromptSubmit"][0]["hooks"][0]["args"][-2:] == ["inject", "claude"]
    assert list(json.loads((plugin / ".mcp.json").read_bytes())["mcpServers"]) == ["madeleine"]
    assert (plugin / "skills/memory/SKILL.md").read_bytes().startswith(b"---\nname: memory\n")
    assert str(folder) in plugin_install_steps(machine.around)[0]
    machine.unsetup()
    assert machine.tree() == before


def test_with_the_plugin_on_setup_takes_its_entries_out_of_the_settings(machine: Machine) -> None:
    machine.setup("claude")
    settings = machine.json(".claude/settings.json")
    settings["enabledPlugins"] = {"madeleine@madeleine": True}
    machine.write(".claude/settings.json", json.dumps(settings))
    assert any("both fire" in trouble for trouble in machine.troubles())

    machine.setup("claude")

    assert machine.json(".claude/settings.json") == {
        "enabledPlugins": {"madeleine@madeleine": True}
    }
    assert machine.troubles() == []
    assert machine.setup("claude") == []


# -- autostart -----------------------------------------------------------------------------


def test_the_daemon_starts_at_login_if_one_asks_for_it(machine: Machine) -> None:
    before = machine.tree()

    machine.setup(autostart=True)

    unit = machine.read(".config/systemd/user/madeleine.service").decode()
    started = next(line for line in unit.splitlines() if line.startswith("ExecStart="))
    link = machine.user / ".config/systemd/user/default.target.wants/madeleine.service"
    assert shlex.split(started.removeprefix("ExecStart=")) == machine.around.daemon_words()
    assert os.path.realpath(link) == str(machine.user / ".config/systemd/user/madeleine.service")
    wired = machine.tree()
    machine.setup(autostart=True)
    assert machine.tree() == wired
    machine.unsetup("autostart")
    assert machine.tree() == before


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_each_home_starts_at_login_by_a_file_of_its_own(machine: Machine, platform: str) -> None:
    first = machine.moved(platform=platform)
    others = [first.moved(home=machine.user / name) for name in ("work/notes", "old/notes", "ü b")]
    first.setup(autostart=True)
    alone = first.tree()
    for each in others:
        each.setup(autostart=True)

    files = [starting(each.user / path) for each in [first] for path in each.tree()]
    assert sorted(filter(None, files)) == sorted(str(each.around.home) for each in [first, *others])
    assert all(each.troubles() == [] for each in [first, *others])
    for each in others:
        each.unsetup("autostart")
    assert first.tree() == alone


def starting(path: Path) -> str:
    """Return the home whose daemon a file starts; nothing if it is another file."""
    if path.suffix == ".plist":
        values = plistlib.loads(path.read_bytes())
        assert values["Label"] == path.stem
        return str(values["ProgramArguments"][-1])
    if path.suffix != ".service" or path.is_symlink():
        return ""
    assert (path.parent / "default.target.wants" / path.name).resolve() == path.resolve()
    lines = path.read_text(encoding="utf-8").splitlines()
    started = next(line for line in lines if line.startswith("ExecStart="))
    return shlex.split(started.removeprefix("ExecStart="))[-1]


def test_a_unit_of_another_home_under_our_name_is_not_overwritten(machine: Machine) -> None:
    """As somebody may have it who moved it there by hand."""
    other = machine.moved(home=machine.user / "other")
    (machine.user / "other").mkdir()
    other.setup(autostart=True)
    units = machine.user / ".config/systemd/user"
    theirs = next(units.glob("madeleine-other-*.service")).read_bytes()
    machine.write(".config/systemd/user/madeleine.service", theirs)

    notes = prepare_setup(machine.around, SetupRequest(autostart=True)).plan.notes
    machine.setup(autostart=True)

    assert machine.read(".config/systemd/user/madeleine.service") == theirs
    whose = f"systemd unit is wired by hand to the home {machine.user / 'other'} already"
    assert any(whose in each for each in notes)


def test_on_a_mac_launchd_starts_it(machine: Machine) -> None:
    mac = machine.moved(platform="darwin", home=machine.user / "a & b")
    before = mac.tree()

    mac.setup(autostart=True)

    (path,) = [name for name in mac.tree() if name.endswith(".plist")]
    assert path.startswith("Library/LaunchAgents/org.madeleine.daemon.a-b-")
    values = plistlib.loads(mac.read(path))
    assert values["ProgramArguments"] == mac.around.daemon_words()
    assert values["RunAtLoad"] is True
    mac.unsetup()
    assert mac.tree() == before


# -- Copilot CLI and VS Code ---------------------------------------------------------------

CODE = ".config/Code/User/mcp.json"
HOOK = ".copilot/hooks/madeleine.json"
CLI = {".copilot/mcp-config.json", ".copilot/copilot-instructions.md"}


def wired(machine: Machine, name: str) -> set[str]:
    paths = [wiring.path for wiring in find_agent(name).wirings(machine.around)]
    return {str(path.relative_to(machine.user)) for path in paths}


@pytest.mark.parametrize(
    ("name", "there", "files"),
    [
        ("vscode", (), {HOOK, CODE}),
        ("vscode", (".config/Code/User",), {HOOK, CODE}),
        ("vscode", (".copilot",), {HOOK, CODE, *CLI}),
        ("copilot", (), {HOOK, *CLI}),
        ("copilot", (".config/Code/User",), {HOOK, CODE}),
        ("copilot", (".copilot", ".config/Code/User"), {HOOK, CODE, *CLI}),
    ],
)
def test_what_is_named_is_wired_and_what_else_is_there(
    machine: Machine, name: str, there: tuple[str, ...], files: set[str]
) -> None:
    for folder in there:
        (machine.user / folder).mkdir(parents=True)

    assert wired(machine, name) == files
    machine.setup(name)
    assert machine.setup(name) == [], "twice is once"
    assert machine.troubles() == []
    assert machine.setup("copilot") == [], "our own folder is no sign of another host"


def test_reading_runs_no_hook(machine: Machine) -> None:
    empty = machine.tree()
    machine.setup("claude", "codex", "gemini")

    claude = machine.json(".claude/settings.json")["hooks"]
    codex = machine.json(".codex/hooks.json")["hooks"]
    gemini = machine.json(".gemini/settings.json")["hooks"]
    tools = "Edit|Write|MultiEdit|NotebookEdit|Bash"
    assert [claude[each][0]["matcher"] for each in ("PreToolUse", "PostToolUseFailure")] == [
        tools,
        tools,
    ]
    assert codex["PreToolUse"][0]["matcher"] == "^(Bash|apply_patch|Edit|Write)$"
    assert gemini["AfterTool"][0]["matcher"] == "^(write_file|replace|run_shell_command)$"
    assert "matcher" not in claude["UserPromptSubmit"][0]
    before = machine.tree()
    assert machine.setup("claude", "codex", "gemini") == []
    assert machine.tree() == before
    machine.unsetup()
    assert machine.tree() == empty
