"""Setup and unsetup, file by file and byte by byte."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from madeleine.agents import jsonc
from madeleine.agents.blocks import END_COMMENT, START_COMMENT
from madeleine.agents.environment import read_packaged_hook
from madeleine.agents.receipts import DamagedReceipt
from madeleine.agents.setup import NoAgentsFound, SetupRequest, prepare_setup, prepare_unsetup
from madeleine.errors import (
    FileChanged,
    SettingsLocked,
    SettingsTaken,
    SettingsUnreadable,
    StoreUnwritable,
    UnknownWord,
)
from tests.agents.machine import HOSTS, Machine

FOREIGN = {"type": "command", "command": "/usr/bin/theirs --flag", "timeout": 9}
GROUPS = {"UserPromptSubmit": [{"matcher": "", "hooks": [FOREIGN]}]}
SERVERS = {"other": {"command": "npx", "args": ["-y", "x"], "env": {"KEY": "secret"}}}

# What people have in these files before we come, for each host.
FILES: dict[str, dict[str, str]] = {
    "claude": {
        ".claude/settings.json": json.dumps(
            {"model": "opus", "hooks": {**GROUPS, "Stop": [{"hooks": [FOREIGN]}]}}, indent=2
        ),
        ".claude.json": json.dumps({"numStartups": 3, "mcpServers": SERVERS, "projects": {}}),
        ".claude/CLAUDE.md": "# Mine\n\nAlways use tabs.",
    },
    "codex": {
        ".codex/hooks.json": json.dumps({"hooks": GROUPS}, indent=4) + "\n",
        ".codex/config.toml": '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "npx"  # !\n',
        ".codex/AGENTS.md": "Mine.\n",
    },
    "cursor": {
        ".cursor/hooks.json": json.dumps(
            {"version": 1, "hooks": {"beforeSubmitPrompt": [{"command": "theirs"}]}}, indent="\t"
        ),
        ".cursor/mcp.json": json.dumps({"mcpServers": SERVERS}, indent=2),
    },
    "gemini": {
        ".gemini/settings.json": json.dumps(
            {"theme": "x", "hooks": {"BeforeAgent": [{"hooks": [FOREIGN]}]}, "mcpServers": SERVERS},
            indent=2,
        ),
        ".gemini/GEMINI.md": "Mine.\n\n\n",
    },
    "opencode": {
        ".config/opencode/opencode.jsonc": '{\n  // mine\n  "mcp": {},\n  "theme": "x",\n}\n',
        ".config/opencode/AGENTS.md": "Mine.\n",
    },
    "copilot": {
        ".copilot/mcp-config.json": json.dumps({"mcpServers": SERVERS}),
        ".copilot/copilot-instructions.md": "Mine.",
        ".config/Code/User/mcp.json": '{\n\t"servers": {},\n\t"inputs": []\n}',
    },
    "claude-desktop": {
        ".config/Claude/claude_desktop_config.json": json.dumps(
            {"mcpServers": SERVERS, "globalShortcut": "x"}, indent=2
        ),
    },
    "windsurf": {
        ".codeium/windsurf/mcp_config.json": json.dumps({"mcpServers": {}}),
        ".codeium/windsurf/memories/global_rules.md": "Mine.\n",
    },
    "zed": {
        ".config/zed/settings.json": (
            "// Zed settings\n//\n{\n"
            '  "theme": "One", // dark\n'
            '  "context_servers": {\n    /* none yet */\n  },\n'
            '  "vim_mode": true,\n}\n'
        ),
        ".config/zed/AGENTS.md": "Mine.\n",
    },
}

# Ways in which files come, each of which must be kept.
WAYS: dict[str, Callable[[str], bytes]] = {
    "plain": lambda text: text.encode(),
    "crlf": lambda text: text.replace("\n", "\r\n").encode(),
    "byte order mark": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "no last line end": lambda text: text.rstrip().encode(),
    "empty": lambda text: b"",
    "blank": lambda text: b"\n \n",
}


@pytest.mark.few(18)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("host", HOSTS)
def test_setup_adds_once_and_unsetup_gives_back_every_byte(
    machine: Machine, host: str, way: str
) -> None:
    for path, text in FILES[host].items():
        machine.write(path, WAYS[way](text), 0o640)
    before = machine.tree()

    first = machine.setup(host)
    wired = machine.tree()
    second = machine.setup(host)

    assert {str(machine.user / path) for path in FILES[host]} <= set(first)
    assert second == []
    assert machine.tree() == wired
    assert machine.troubles() == []
    for path in FILES[host]:
        assert wired[path][0] == before[path][0], "the mode is kept"
        assert (b"\r\n" in machine.read(path)) is (way == "crlf" and "\n" in FILES[host][path])
        assert machine.read(path).startswith(b"\xef\xbb\xbf") is (way == "byte order mark")
    machine.unsetup(host)
    assert machine.tree() == before


@pytest.mark.parametrize("host", HOSTS)
def test_where_there_is_nothing_all_is_made_and_all_is_taken_away(
    machine: Machine, host: str
) -> None:
    before = machine.tree()

    machine.setup(host)
    assert machine.tree() != before
    machine.unsetup(host)

    assert machine.tree() == before


@pytest.mark.parametrize("host", HOSTS)
def test_a_strangers_entries_stay_as_they_are(machine: Machine, host: str) -> None:
    for path, text in FILES[host].items():
        machine.write(path, text)

    machine.setup(host)

    for path, text in FILES[host].items():
        after = machine.read(path).decode()
        if path.endswith((".json", ".jsonc")):
            assert _contains(machine.json(path), jsonc.read_json(text).value)
            assert [each for each in ("//", "/*") if each in text and each not in after] == []
        else:
            assert after.startswith(text)


def _contains(after: Any, before: Any) -> bool:
    """Whether everything that was there is there, lists in their order from the beginning."""
    if isinstance(before, dict):
        return list(after)[: len(before)] == list(before) and all(
            _contains(after[name], value) for name, value in before.items()
        )
    if isinstance(before, list):
        return all(_contains(one, other) for one, other in zip(after, before, strict=False))
    return bool(after == before)


@pytest.mark.parametrize("host", HOSTS)
def test_only_our_entries_go_when_a_person_changed_things_since(
    machine: Machine, host: str
) -> None:
    """A person, or the host itself, rewrote every file in its own way after setup."""
    for path, text in FILES[host].items():
        machine.write(path, text)
    machine.setup(host)
    for path in FILES[host]:
        _edit(machine, path)

    machine.unsetup(host)

    for path in FILES[host]:
        left = machine.read(path).decode()
        assert "madeleine" not in left.lower()
        if path.endswith((".json", ".jsonc")):
            assert machine.json(path) == {**jsonc.read_json(FILES[host][path]).value, "added": [1]}
        else:
            assert FILES[host][path].strip() in left
            assert "added" in left


def _edit(machine: Machine, path: str) -> None:
    if path.endswith((".json", ".jsonc")):
        machine.write(path, json.dumps({**machine.json(path), "added": [1]}, indent=3))
    else:
        machine.write(path, machine.read(path) + b"\n# added = 1\n")


def test_all_that_is_here_is_wired_without_naming_it(machine: Machine) -> None:
    for host in ("claude", "zed"):
        for path, text in FILES[host].items():
            machine.write(path, text)
    before = machine.tree()

    changed = machine.setup()

    assert {Path(path).name for path in changed} == {
        "madeleine-hook.py",
        "settings.json",
        ".claude.json",
        "CLAUDE.md",
        "AGENTS.md",
    }
    machine.unsetup()
    assert machine.tree() == before


def test_nobody_to_wire_is_said(machine: Machine) -> None:
    with pytest.raises(NoAgentsFound, match="no coding agent"):
        machine.setup()
    with pytest.raises(UnknownWord, match="emacs"):
        machine.setup("emacs")


def test_one_agent_leaves_and_the_others_stay_wired(machine: Machine) -> None:
    machine.setup("codex")
    alone = machine.tree()
    machine.setup("claude", "cursor")

    machine.unsetup("claude-code", "cursor")

    receipt = ".madeleine/agents/receipt.json"
    assert {**machine.tree(), receipt: None} == {**alone, receipt: None}
    assert (machine.around.hook).read_bytes() == read_packaged_hook()


# -- links and folders ---------------------------------------------------------------------


def test_a_settings_file_that_is_a_link_is_followed(machine: Machine) -> None:
    real = machine.write("dotfiles/claude.json", '{"model": "opus"}\n', 0o600)
    (machine.user / ".claude").mkdir()
    link = machine.user / ".claude" / "settings.json"
    link.symlink_to("../dotfiles/claude.json")
    before = machine.tree()

    machine.setup("claude")

    assert link.is_symlink()
    assert "hooks" in json.loads(real.read_bytes())
    machine.unsetup("claude")
    assert machine.tree() == before


def test_two_hosts_that_share_a_file_by_a_link_get_one_block(machine: Machine) -> None:
    machine.write(".codex/AGENTS.md", "Mine.\n")
    (machine.user / ".claude").mkdir()
    (machine.user / ".claude" / "CLAUDE.md").symlink_to("../.codex/AGENTS.md")
    before = machine.tree()

    machine.setup("claude", "codex")

    assert machine.read(".codex/AGENTS.md").count(START_COMMENT.encode()) == 1
    assert machine.setup("claude", "codex") == []
    machine.unsetup()
    assert machine.tree() == before


def test_a_link_that_leads_nowhere_yet_is_followed_too(machine: Machine) -> None:
    (machine.user / ".cursor").mkdir()
    (machine.user / ".cursor" / "mcp.json").symlink_to(machine.user / "later" / "mcp.json")
    before = machine.tree()

    machine.setup("cursor")
    assert (machine.user / "later" / "mcp.json").is_file()
    machine.unsetup("cursor")

    assert machine.tree() == before


def test_a_folder_that_holds_something_else_by_now_stays(machine: Machine) -> None:
    machine.setup("windsurf")
    theirs = machine.write(".codeium/windsurf/memories/theirs.md", "x")

    machine.unsetup("windsurf")

    assert sorted(machine.tree()) == [
        ".codeium",
        ".codeium/windsurf",
        ".codeium/windsurf/memories",
        ".codeium/windsurf/memories/theirs.md",
    ]
    assert theirs.read_text(encoding="utf-8") == "x"


# -- refusals ------------------------------------------------------------------------------


BROKEN = [
    ("claude", ".claude/settings.json", '{\n  "hooks": {\n    "Stop": [}\n  }\n}', 3),
    ("claude", ".claude.json", "[]", 1),
    ("claude", ".claude/settings.json", '{"a": 1,\n "hooks": {"UserPromptSubmit": {}}}', 2),
    ("claude", ".claude/CLAUDE.md", f"one\n{START_COMMENT}\n", 2),
    ("codex", ".codex/config.toml", "a = 1\nb = = 2\n", 2),
    ("codex", ".codex/config.toml", "mcp_servers = { x = { command = 'y' } }\n", 3),
    ("codex", ".codex/hooks.json", "not json", 1),
    ("zed", ".config/zed/settings.json", "{\n  // open\n  /* never closed\n}", 3),
    ("gemini", ".gemini/GEMINI.md", b"ok\n\xff\xfe\n", 2),
]


@pytest.mark.parametrize(("host", "path", "text", "line"), BROKEN)
def test_a_file_that_makes_no_sense_is_named_and_nothing_is_written(
    machine: Machine, host: str, path: str, text: str | bytes, line: int
) -> None:
    machine.write(path, text)
    before = machine.tree()

    with pytest.raises(SettingsUnreadable) as refused:
        machine.setup("cursor", host)

    assert refused.value.message.startswith(f"{machine.user / path}:{line}: ")
    assert refused.value.exit_code == 6
    assert machine.tree() == before


def test_a_read_only_file_is_named_and_nothing_is_written(machine: Machine) -> None:
    machine.write(".codex/config.toml", "a = 1\n", 0o444)
    before = machine.tree()

    with pytest.raises(SettingsLocked, match=r"config\.toml: it is read-only"):
        machine.setup("claude", "codex")

    assert machine.tree() == before


def test_a_file_in_the_way_of_a_folder_is_named(machine: Machine) -> None:
    machine.write(".cursor", "a file")
    before = machine.tree()

    with pytest.raises(SettingsLocked, match=r"\.cursor"):
        machine.setup("cursor")

    assert machine.tree() == before


def test_a_file_that_changes_under_our_hands_is_left_alone(machine: Machine) -> None:
    """Claude Code writes its own file all the time. Whatever was done by then is put back."""
    machine.write(".claude.json", "{}")
    prepared = prepare_setup(machine.around, SetupRequest(["claude"]))
    machine.write(".claude.json", '{"numStartups": 4}')
    before = machine.tree()

    with pytest.raises(FileChanged, match=r"\.claude\.json"):
        prepared.carry_out()

    assert machine.tree() == before


def test_when_one_file_is_refused_those_before_it_are_put_back(machine: Machine) -> None:
    machine.write(".codex/AGENTS.md", "Mine.\n")
    prepared = prepare_setup(machine.around, SetupRequest(["codex", "windsurf"]))
    machine.write(".codeium", "somebody made this a file meanwhile")
    before = machine.tree()

    with pytest.raises((StoreUnwritable, SettingsLocked)):
        prepared.carry_out()

    assert machine.tree() == before


def test_a_receipt_that_does_not_parse_is_not_guessed_at(machine: Machine) -> None:
    machine.setup("cursor")
    machine.write(".madeleine/agents/receipt.json", "{")

    with pytest.raises(DamagedReceipt, match="does not parse"):
        machine.unsetup()


# -- without a receipt ---------------------------------------------------------------------


@pytest.mark.parametrize("host", HOSTS)
def test_without_a_receipt_our_entries_are_found_all_the_same(machine: Machine, host: str) -> None:
    """Somebody deleted the home, memories and all, and then asks us to go."""
    for path, text in FILES[host].items():
        machine.write(path, text)
    machine.setup(host)
    machine.around.agents.joinpath("receipt.json").unlink()

    machine.unsetup(host)

    for path, text in FILES[host].items():
        left = machine.read(path).decode()
        assert "madeleine" not in left.lower()
        assert left.strip() == text.strip() or machine.json(path) in ({}, _pruned(text))
    assert machine.findings()[0].code == "note"


def _pruned(text: str) -> dict[str, Any]:
    """What is empty cannot be told from what we made to hold our entries."""
    values = jsonc.read_json(text).value
    return {name: value for name, value in values.items() if value != {}}


def test_backups_are_kept_when_a_file_could_not_be_given_back_whole(machine: Machine) -> None:
    machine.write(".codex/AGENTS.md", "Mine.\n")
    machine.setup("codex")
    machine.write(".codex/AGENTS.md", machine.read(".codex/AGENTS.md") + b"More.\n")

    machine.unsetup()

    assert machine.read(".codex/AGENTS.md") == b"Mine.\nMore.\n"
    assert machine.read(".madeleine/agents/backups/codex-AGENTS.md") == b"Mine.\n"


def test_a_copy_goes_when_somebody_took_our_entries_out_by_hand(machine: Machine) -> None:
    machine.write(".codex/AGENTS.md", "Mine.\n")
    before = machine.tree()
    machine.setup("codex")
    machine.write(".codex/AGENTS.md", "Mine.\n")

    machine.unsetup()

    assert machine.tree() == before


@pytest.mark.parametrize(
    ("host", "path", "text"),
    [
        ("copilot", ".copilot/hooks/madeleine.json", '{"version": 1, "hooks": {"Stop": []}}\n'),
        ("opencode", ".config/opencode/plugins/madeleine.js", "// my own plugin\n"),
    ],
)
def test_a_file_of_your_own_under_our_name_is_not_replaced(
    machine: Machine, host: str, path: str, text: str
) -> None:
    own = machine.write(path, text)
    before = machine.tree()

    with pytest.raises(SettingsTaken) as refused:
        machine.setup(host)

    assert refused.value.message == f"{own} is a file of your own, and setup needs that name"
    assert "another name" in refused.value.hint
    assert machine.troubles() == []
    machine.unsetup(host)
    assert machine.tree() == before


@pytest.mark.parametrize("again", ["setup", "unsetup"])
def test_words_in_our_block_are_kept_as_a_copy_and_the_plan_says_so(
    machine: Machine, again: str
) -> None:
    machine.setup("claude")
    written = machine.read(".claude/CLAUDE.md")
    edited = written.replace(END_COMMENT.encode(), b"- MY RULE inside.\n" + END_COMMENT.encode())
    machine.write(".claude/CLAUDE.md", edited)

    prepared = (
        prepare_setup(machine.around, SetupRequest(("claude",)))
        if again == "setup"
        else prepare_unsetup(machine.around, ("claude",))
    )
    prepared.carry_out()

    copy = machine.around.agents / "backups" / "claude-CLAUDE.md"
    assert [each.backup for each in prepared.plan.changes if each.backup] == [copy]
    assert copy.read_bytes() == edited
    if again == "setup":
        assert machine.read(".claude/CLAUDE.md") == written
        assert machine.setup("claude") == [], "and that is all"


def test_a_block_that_nobody_wrote_in_needs_no_copy(machine: Machine) -> None:
    machine.setup("claude")
    machine.write(".claude/CLAUDE.md", b"# Mine\n\n" + machine.read(".claude/CLAUDE.md"))

    machine.setup("claude")
    machine.unsetup("claude")

    assert machine.read(".claude/CLAUDE.md") == b"# Mine\n"
    assert not (machine.around.agents / "backups").exists()


def test_a_file_of_ours_that_somebody_edited_is_kept_as_a_copy(machine: Machine) -> None:
    machine.setup("opencode")
    plugin = ".config/opencode/plugins/madeleine.js"
    edited = machine.read(plugin) + b"// mine\n"
    machine.write(plugin, edited)

    machine.unsetup()

    assert not (machine.user / plugin).exists()
    assert machine.read(".madeleine/agents/backups/opencode-madeleine.js") == edited


# -- upgrades ------------------------------------------------------------------------------


def test_an_entry_of_an_older_installation_is_replaced_where_it_stands(machine: Machine) -> None:
    machine.write(".codex/config.toml", FILES["codex"][".codex/config.toml"])
    machine.write(".codex/hooks.json", FILES["codex"][".codex/hooks.json"])
    before = machine.tree()
    machine.moved(python="/gone/python", command=("/gone/madeleine",)).setup("codex")
    hooks = machine.json(".codex/hooks.json")
    hooks["hooks"]["UserPromptSubmit"].append({"hooks": [FOREIGN]})
    machine.write(".codex/hooks.json", json.dumps(hooks, indent=4) + "\n")

    machine.setup("codex")

    events = machine.json(".codex/hooks.json")["hooks"]["UserPromptSubmit"]
    assert [group["hooks"][0] == FOREIGN for group in events] == [True, False, True]
    assert machine.around.python in events[1]["hooks"][0]["command"]
    server = tomllib.loads(machine.read(".codex/config.toml").decode())["mcp_servers"]["madeleine"]
    assert server["command"] == machine.around.command[0]
    machine.unsetup("codex")
    assert machine.read(".codex/config.toml") == before[".codex/config.toml"][1]
    assert machine.json(".codex/hooks.json")["hooks"]["UserPromptSubmit"] == [
        {"matcher": "", "hooks": [FOREIGN]},
        {"hooks": [FOREIGN]},
    ]


def test_an_upgrade_changes_no_entry(machine: Machine) -> None:
    """Codex asks a person to trust a hook again when a byte of its entry changes."""
    machine.setup("claude", "codex", "cursor", "gemini")
    wired = machine.tree()
    machine.write(".madeleine/agents/madeleine-hook.py", "# the client of an older release\n")

    changed = machine.setup("claude", "codex", "cursor", "gemini")

    assert changed == [str(machine.around.hook)]
    assert {**machine.tree(), ".madeleine/agents/receipt.json": None} == {
        **wired,
        ".madeleine/agents/receipt.json": None,
        ".madeleine/agents/madeleine-hook.py": (
            machine.around.hook.lstat().st_mode,
            read_packaged_hook(),
        ),
    }


def test_two_entries_of_ours_become_one(machine: Machine) -> None:
    machine.setup("claude")
    settings = machine.json(".claude/settings.json")
    settings["hooks"]["UserPromptSubmit"] *= 2
    machine.write(".claude/settings.json", json.dumps(settings))

    machine.setup("claude")

    assert len(machine.json(".claude/settings.json")["hooks"]["UserPromptSubmit"]) == 1


def test_memories_are_never_touched(machine: Machine) -> None:
    memory = machine.write(".madeleine/vault/fact_x_12345678.md", "a memory", 0o600)
    before = machine.tree()

    machine.setup("claude", "zed")
    machine.unsetup()

    assert memory.read_text(encoding="utf-8") == "a memory"
    assert machine.tree() == before
