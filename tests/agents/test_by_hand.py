"""What a person wired by hand, or setup wired for another home, is seen and left alone."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from madeleine.agents.host_files import NotASettingsFile
from madeleine.agents.ownership import command_words, entry_home, is_a_server, is_hook_by_hand
from madeleine.agents.setup import SetupRequest, prepare_setup, prepare_unsetup
from madeleine.errors import SettingsUnreadable
from tests.agents.machine import Machine

HOSTS_WITH_SERVERS = [
    ("cursor", ".cursor/mcp.json", "mcpServers"),
    ("gemini", ".gemini/settings.json", "mcpServers"),
    ("zed", ".config/zed/settings.json", "context_servers"),
]


def notes(machine: Machine, *agents: str) -> list[str]:
    return prepare_setup(machine.around, SetupRequest(agents)).plan.notes


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


def wired_to(home: Path, way: str) -> dict[str, object]:
    """Return a server of a home, named in one of the ways in which people do that."""
    name = f"MADELEINE_HOME={home}"
    ways: dict[str, dict[str, object]] = {
        "a word": {"command": "madeleine", "args": ["mcp", "--home", str(home)]},
        "a variable": {
            "command": "madeleine",
            "args": ["mcp"],
            "env": {"MADELEINE_HOME": str(home)},
        },
        "env": {"command": "env", "args": [name, "madeleine", "mcp"]},
        "a shell": {"command": "sh", "args": ["-c", f"exec madeleine mcp --home '{home}'"]},
        "a shell's variable": {
            "command": "bash",
            "args": ["-lc", f"export {name}; cd /; madeleine mcp"],
        },
        "one line": {"command": f"{name} madeleine mcp"},
    }
    return ways[way]


WAYS = ["a word", "a variable", "env", "a shell", "a shell's variable", "one line"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["memory", "madeleine"])
def test_a_server_by_hand_of_another_home_stays_alone_and_the_note_says_whose_it_is(
    machine: Machine, name: str, way: str
) -> None:
    other = machine.user / "other"
    other.mkdir()
    mine = {"mcpServers": {name: wired_to(other, way)}}
    machine.write(".cursor/mcp.json", json.dumps(mine))

    said = notes(machine, "cursor")
    machine.setup("cursor")

    assert machine.json(".cursor/mcp.json") == mine
    assert said[-2] == (
        f"{machine.user}/.cursor/mcp.json: MCP server `{name}` is wired by hand to the home "
        f"{other} already, is left as it is, and none is added beside it"
    )
    assert machine.troubles() == []
    assert any(f"works for another home, {other}" in each.message for each in machine.findings())


def test_a_server_of_codex_of_another_home_stays_alone_however_it_names_it(
    machine: Machine,
) -> None:
    (machine.user / "other").mkdir()
    mine = (
        '[mcp_servers.memory]\ncommand = "madeleine"\nargs = ["mcp"]\n\n'
        f'[mcp_servers.memory.env]\nMADELEINE_HOME = "{machine.user}/other"\n'
    )
    machine.write(".codex/config.toml", mine)

    said = notes(machine, "codex")
    machine.setup("codex")

    assert machine.read(".codex/config.toml").decode() == mine
    assert any(f"by hand to the home {machine.user}/other already" in each for each in said)


@pytest.mark.parametrize("home", ["~/other", "$HOME/other", "${HOME}/other"])
def test_a_home_that_a_shell_would_spell_out_is_the_same_home(
    machine: Machine, home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(machine.user))

    line = f"madeleine mcp --home {home}"

    assert entry_home({"command": "sh", "args": ["-c", line]}) == str(machine.user / "other")


# -- what a person turned off --------------------------------------------------------------


OFF = [
    ("opencode", ".config/opencode/opencode.json", "mcp", {"enabled": False}),
    ("zed", ".config/zed/settings.json", "context_servers", {"enabled": False}),
    ("windsurf", ".codeium/windsurf/mcp_config.json", "mcpServers", {"disabled": True}),
    ("cursor", ".cursor/mcp.json", "mcpServers", {"disabled": True}),
]


@pytest.mark.parametrize("receipt", [True, False])
@pytest.mark.parametrize(("host", "path", "key", "switch"), OFF)
def test_a_server_that_a_person_turned_off_stays_off_and_leaves_with_the_rest(
    machine: Machine, host: str, path: str, key: str, switch: dict[str, bool], receipt: bool
) -> None:
    machine.write(path, '{"kept": 1}')
    machine.moved(command=("/gone/madeleine",)).setup(host)
    document = machine.json(path)
    document[key]["madeleine"] |= switch
    machine.write(path, json.dumps(document))
    if not receipt:
        machine.around.agents.joinpath("receipt.json").unlink()

    said = notes(machine, host)
    machine.setup(host)

    server = machine.json(path)[key]["madeleine"]
    assert server.items() >= switch.items()
    assert "/gone/madeleine" not in json.dumps(server), "it is mended all the same"
    assert f"{machine.user}/{path}: MCP server `madeleine` is switched off, and stays so" in said
    assert machine.troubles() == []
    assert any("is switched off" in each.message for each in machine.findings())
    assert machine.setup(host) == []
    if not receipt:
        machine.around.agents.joinpath("receipt.json").unlink()
    machine.unsetup(host)
    assert machine.json(path) == {"kept": 1}


def test_a_server_of_codex_that_a_person_turned_off_stays_off(machine: Machine) -> None:
    machine.moved(command=("/gone/madeleine",)).setup("codex")
    off = machine.read(".codex/config.toml") + b"enabled = false\n"
    machine.write(".codex/config.toml", off)

    machine.setup("codex")

    server = tomllib.loads(machine.read(".codex/config.toml").decode())["mcp_servers"]["madeleine"]
    assert server["enabled"] is False
    assert server["command"] == machine.around.command[0]


def test_a_server_by_hand_that_is_turned_off_gets_none_of_ours_in_its_place(
    machine: Machine,
) -> None:
    mine = {"mcp": {"memory": {"type": "local", "command": ["madeleine", "mcp"], "enabled": False}}}
    machine.write(".config/opencode/opencode.json", json.dumps(mine))

    said = notes(machine, "opencode")
    machine.setup("opencode")

    assert machine.json(".config/opencode/opencode.json") == mine
    assert any("is wired by hand and switched off already" in each for each in said)


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

    assert is_hook_by_hand(command_words(hook))
    assert (
        machine.json(".claude/settings.json")["hooks"]["UserPromptSubmit"]
        == mine["UserPromptSubmit"]
    )


@pytest.mark.parametrize(
    "line", ["tool whisper inject", "git -C madeleine store", "madeleine status", "inject"]
)
def test_what_only_looks_like_it_is_no_hook_of_ours(line: str) -> None:
    assert not is_hook_by_hand(command_words({"command": line}))
    assert not is_a_server(command_words({"command": line}))


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
    whose = f"wired by the setup of the home {machine.user / 'other'} already"
    assert len([each for each in said if whose in each]) == 4, "three hooks and the server"
    assert not any("by hand" in each for each in said)
    other.unsetup()
    assert not (machine.user / ".cursor" / "hooks.json").exists()


@pytest.mark.parametrize("host", ["opencode", "copilot", "codex"])
def test_whose_an_entry_is_stands_in_each_note(machine: Machine, host: str) -> None:
    machine.moved(home=machine.user / "other").setup(host)

    said = [each for each in notes(machine, host) if "already" in each]

    assert said
    assert all(f"by the setup of the home {machine.user / 'other'} already" in e for e in said)


@pytest.mark.parametrize("way", WAYS)
def test_leaving_one_home_keeps_the_instructions_of_another(machine: Machine, way: str) -> None:
    """The server of the first home was wired by hand, the instructions by its setup."""
    machine.around.home.mkdir()
    mine = {"mcpServers": {"madeleine": wired_to(machine.around.home, way)}}
    machine.write(".codeium/windsurf/mcp_config.json", json.dumps(mine))
    machine.setup("windsurf")
    wired = machine.tree()

    other = machine.moved(home=machine.user / "other")

    assert other.unsetup() == []
    assert machine.tree() == wired


def test_leaving_a_home_keeps_the_instructions_beside_a_server_that_names_none(
    machine: Machine,
) -> None:
    mine = {"mcpServers": {"madeleine": {"command": "madeleine", "args": ["mcp"]}}}
    machine.write(".codeium/windsurf/mcp_config.json", json.dumps(mine))
    machine.setup("windsurf")
    wired = machine.tree()

    assert machine.moved(home=machine.user / "other").unsetup() == []
    assert machine.tree() == wired
    machine.unsetup()
    assert machine.json(".codeium/windsurf/mcp_config.json") == mine
    assert not (machine.user / ".codeium/windsurf/memories").exists()


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

    with pytest.raises(NotASettingsFile, match="is no settings file") as refused:
        machine.setup("cursor")

    assert refused.value.hint.startswith("move it away")


def test_a_link_to_itself_is_told_as_such(machine: Machine) -> None:
    (machine.user / ".cursor").mkdir()
    (machine.user / ".cursor" / "hooks.json").symlink_to(Path("hooks.json"))

    with pytest.raises(NotASettingsFile):
        machine.setup("cursor")


@pytest.mark.parametrize("comments", ["// mine\n// more\n", "/* mine */", "\n// one"])
def test_comments_stay_where_a_file_holds_nothing_else(machine: Machine, comments: str) -> None:
    machine.write(".config/zed/settings.json", comments)

    machine.setup("zed")

    assert machine.read(".config/zed/settings.json").decode().startswith(comments.rstrip())
    assert "context_servers" in machine.json(".config/zed/settings.json")
    machine.unsetup()
    assert machine.read(".config/zed/settings.json").decode() == comments


@pytest.mark.parametrize(
    ("host", "path"),
    [
        ("zed", ".config/zed/settings.json"),
        ("claude", ".claude/settings.json"),
        ("claude", ".claude.json"),
        ("opencode", ".config/opencode/opencode.jsonc"),
        ("cursor", ".cursor/hooks.json"),
        ("gemini", ".gemini/settings.json"),
        ("codex", ".codex/config.toml"),
    ],
)
@pytest.mark.parametrize("comments", ["// mine\n\n// more\n\n", "// mine", " "])
def test_a_file_of_comments_comes_back_although_somebody_touched_it_meanwhile(
    machine: Machine, host: str, path: str, comments: str
) -> None:
    comments = comments.replace("//", "#" if path.endswith(".toml") else "//")
    machine.write(path, comments)
    before = machine.tree()
    machine.setup(host)
    machine.write(path, machine.read(path) + b"\n")

    machine.unsetup(host)

    after = {name: each for name, each in machine.tree().items() if ".madeleine" not in name}
    assert after[path] == before[path]
    assert after == before
