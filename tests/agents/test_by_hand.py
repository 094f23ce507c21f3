"""What a person wired by hand, or setup wired for another home, is seen and left alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from madeleine.agents.marks import is_a_server, is_hook_by_hand, words_of
from madeleine.agents.texts import NoSettings
from madeleine.agents.wire import Request, prepare_setup, prepare_unsetup
from madeleine.errors import SettingsUnreadable
from tests.agents.machine import Machine

HOSTS_WITH_SERVERS = [
    ("cursor", ".cursor/mcp.json", "mcpServers"),
    ("gemini", ".gemini/settings.json", "mcpServers"),
    ("zed", ".config/zed/settings.json", "context_servers"),
]


def notes(machine: Machine, *agents: str) -> list[str]:
    return prepare_setup(machine.around, Request(agents)).plan.notes


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (".claude/settings.json", '{"model":"opus","hooks":{}}'),
        (".claude/settings.json", '{"hooks":{"Stop":[],"PreToolUse":[]}}'),
        (".claude.json", '{"mcpServers":{}}'),
        (".cursor/hooks.json", '{"version": 1, "hooks": {"stop": []}}'),
        (".codex/config.toml", "[mcp_servers]\n\n[hooks]\n"),
    ],
)
def test_empty_entries_of_a_stranger_stay_where_nothing_is_ours(
    machine: Machine, path: str, text: str
) -> None:
    machine.write(path, text)

    assert machine.unsetup() == []
    assert machine.read(path).decode() == text


def test_only_what_held_an_entry_of_ours_is_pruned(machine: Machine) -> None:
    machine.setup("claude")
    settings = machine.json(".claude/settings.json")
    settings["hooks"]["Stop"] = []
    machine.write(".claude/settings.json", json.dumps(settings))

    machine.unsetup("claude")

    assert machine.json(".claude/settings.json") == {"hooks": {"Stop": []}}


@pytest.mark.parametrize("home", ["elsewhere", ".madeleine"])
@pytest.mark.parametrize(("host", "path", "key"), HOSTS_WITH_SERVERS)
def test_a_server_by_hand_under_our_name_is_neither_changed_nor_lost(
    machine: Machine, host: str, path: str, key: str, home: str
) -> None:
    (machine.user / home).mkdir()
    program = machine.write("bin/madeleine", "#!/bin/sh\n", 0o755)
    args = ["mcp", "--home", str(machine.user / home)]
    mine = {key: {"madeleine": {"command": str(program), "args": args, "env": {"A": "1"}}}}
    machine.write(path, json.dumps(mine))

    machine.setup(host)
    assert machine.json(path)[key] == mine[key]
    machine.write(path, json.dumps({**machine.json(path), "added": 1}))
    machine.unsetup(host)

    assert machine.json(path) == {**mine, "added": 1}


def test_the_server_of_codex_by_hand_is_neither_changed_nor_lost(machine: Machine) -> None:
    mine = '[mcp_servers.madeleine]\ncommand = "/bin/sh"\nargs = ["madeleine", "mcp", "--home=/"]\n'
    machine.write(".codex/config.toml", mine)

    machine.setup("codex")
    machine.write(".codex/config.toml", machine.read(".codex/config.toml") + b"# added\n")
    machine.unsetup()

    assert machine.read(".codex/config.toml").decode() == f"{mine}# added\n"


@pytest.mark.parametrize(("host", "path", "key"), HOSTS_WITH_SERVERS)
def test_a_server_by_hand_under_another_name_gets_none_of_ours_beside_it(
    machine: Machine, host: str, path: str, key: str
) -> None:
    mine = {key: {"memory": {"command": "/opt/bin/madeleine", "args": ["mcp"]}}}
    machine.write(path, json.dumps(mine))

    said = notes(machine, host)
    machine.setup(host)

    assert machine.json(path)[key] == mine[key]
    assert any("MCP server `memory` is wired by hand already" in note for note in said)


def test_a_server_of_codex_under_another_name_gets_none_of_ours_beside_it(
    machine: Machine,
) -> None:
    mine = '[mcp_servers.memory]\ncommand = "uvx"\nargs = ["madeleine", "mcp"]\n'
    machine.write(".codex/config.toml", mine)

    machine.setup("codex")

    assert machine.read(".codex/config.toml").decode() == mine


@pytest.mark.parametrize(
    "line",
    [
        "madeleine whisper inject",
        "/usr/bin/madeleine --home /x whisper inject claude",
        "uvx --from madeleine-memory madeleine whisper inject",
        "exec madeleine whisper inject claude",
        "python3 -m madeleine whisper inject",
        'sh -c "madeleine whisper inject"',
        "/bin/bash -lc 'exec madeleine whisper store'",
        "python3 -I -S /x/whisper.py /home inject",
    ],
)
def test_a_hook_by_hand_is_known_however_it_is_started(machine: Machine, line: str) -> None:
    hook = {"type": "command", "command": line}
    mine = {"UserPromptSubmit": [{"hooks": [hook]}]}
    machine.write(".claude/settings.json", json.dumps({"hooks": mine}))

    machine.setup("claude")

    assert is_hook_by_hand(words_of(hook))
    assert (
        machine.json(".claude/settings.json")["hooks"]["UserPromptSubmit"]
        == mine["UserPromptSubmit"]
    )


@pytest.mark.parametrize(
    "line", ["tool whisper inject", "git -C madeleine store", "madeleine status", "inject"]
)
def test_what_only_looks_like_it_is_no_hook_of_ours(line: str) -> None:
    assert not is_hook_by_hand(words_of({"command": line}))
    assert not is_a_server(words_of({"command": line}))


# -- two homes -----------------------------------------------------------------------------


def test_a_home_does_not_take_out_what_another_wired(machine: Machine) -> None:
    other = machine.moved(home=machine.user / "other")
    hosts = ("claude", "codex", "cursor", "opencode", "copilot", "zed")
    other.setup(*hosts)
    wired = machine.tree()

    assert machine.unsetup() == []
    assert machine.tree() == wired


def test_what_another_home_wired_is_not_overwritten_and_said(machine: Machine) -> None:
    other = machine.moved(home=machine.user / "other")
    other.setup("cursor", "opencode")
    wired = machine.read(".cursor/hooks.json"), machine.read(".cursor/mcp.json")
    plugin = machine.read(".config/opencode/plugins/madeleine.js")

    said = notes(machine, "cursor")
    machine.setup("cursor", "opencode")

    assert (machine.read(".cursor/hooks.json"), machine.read(".cursor/mcp.json")) == wired
    assert machine.read(".config/opencode/plugins/madeleine.js") == plugin
    assert any(f"is wired to the home {machine.user / 'other'} already" in each for each in said)
    other.unsetup()
    assert not (machine.user / ".cursor" / "hooks.json").exists()


def test_entries_of_a_home_that_was_moved_are_mended(machine: Machine) -> None:
    machine.setup("cursor", "codex")
    (machine.user / ".madeleine").rename(machine.user / "moved")
    moved = machine.moved(home=machine.user / "moved")

    moved.setup("cursor", "codex")

    assert str(machine.user / ".madeleine") not in machine.read(".cursor/mcp.json").decode()
    assert moved.troubles() == []


# -- what is in the way --------------------------------------------------------------------


def test_a_broken_file_of_an_agent_that_was_never_wired_is_in_nobodys_way(
    machine: Machine,
) -> None:
    machine.setup("cursor")
    machine.write(".gemini/settings.json", "{")

    prepared = prepare_unsetup(machine.around, [])
    prepared.carry_out()

    assert not (machine.user / ".cursor").exists()
    assert any("Gemini CLI was never wired and is left out" in n for n in prepared.plan.notes)
    with pytest.raises(SettingsUnreadable):
        machine.unsetup("gemini")


def test_a_broken_file_of_an_agent_that_we_wired_is_an_error(machine: Machine) -> None:
    machine.setup("cursor")
    machine.write(".cursor/mcp.json", "{")

    with pytest.raises(SettingsUnreadable):
        machine.unsetup()


def test_leaving_makes_no_home_where_it_was_deleted(machine: Machine) -> None:
    machine.setup("opencode", "copilot")
    for path in sorted((machine.user / ".madeleine").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    (machine.user / ".madeleine").rmdir()

    machine.unsetup()

    assert not (machine.user / ".madeleine").exists()
    assert not (machine.user / ".config/opencode/plugins/madeleine.js").exists()


def test_a_folder_in_a_files_place_is_told_as_such(machine: Machine) -> None:
    (machine.user / ".cursor" / "hooks.json").mkdir(parents=True)

    with pytest.raises(NoSettings, match="is no settings file") as refused:
        machine.setup("cursor")

    assert refused.value.hint.startswith("move it away")


def test_a_link_to_itself_is_told_as_such(machine: Machine) -> None:
    (machine.user / ".cursor").mkdir()
    (machine.user / ".cursor" / "hooks.json").symlink_to(Path("hooks.json"))

    with pytest.raises(NoSettings):
        machine.setup("cursor")


@pytest.mark.parametrize("comments", ["// mine\n// more\n", "/* mine */", "\n// one"])
def test_comments_stay_where_a_file_holds_nothing_else(machine: Machine, comments: str) -> None:
    machine.write(".config/zed/settings.json", comments)

    machine.setup("zed")

    assert machine.read(".config/zed/settings.json").decode().startswith(comments.rstrip())
    assert "context_servers" in machine.json(".config/zed/settings.json")
    machine.unsetup()
    assert machine.read(".config/zed/settings.json").decode() == comments
