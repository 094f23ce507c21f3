"""The doctor finds what is wrong with the wiring of agents, and says what to type."""

from __future__ import annotations

import json

import pytest

from madeleine.agents.doctor import add_home_option
from madeleine.agents.environment import HOOK_NAME
from madeleine.agents.findings import DoctorFinding, findings_exit_code
from tests.agents.machine import HOSTS, Machine


def only(machine: Machine) -> DoctorFinding:
    """Return the one thing that is wrong."""
    found = [each for each in machine.findings() if each.is_trouble]
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize("host", HOSTS)
def test_what_setup_wired_is_well(machine: Machine, host: str) -> None:
    machine.setup(host)

    assert findings_exit_code(machine.findings()) == 0
    assert host in [each.check for each in machine.findings()]


def test_a_host_that_is_not_wired_is_a_note_with_the_way_to_do_it(machine: Machine) -> None:
    (machine.user / ".codex").mkdir()

    assert machine.findings() == [
        DoctorFinding("codex", "Codex CLI is here and not wired", "madeleine setup codex", "note")
    ]


def test_an_interpreter_that_is_gone_is_named(machine: Machine) -> None:
    machine.moved(python="/gone/bin/python3").setup("claude")

    troubles = [each for each in machine.findings() if each.is_trouble]

    assert any("point to /gone/bin/python3, which is not there" in t.message for t in troubles)
    assert len(troubles) == len({t.message.partition(":")[0] for t in troubles}), "once a file"
    assert {trouble.fix for trouble in troubles} == {"madeleine setup claude"}
    machine.setup("claude")
    assert machine.troubles() == []


def test_a_client_that_is_gone_is_named(machine: Machine) -> None:
    machine.setup("codex")
    machine.around.hook.unlink()

    assert all(f"{HOOK_NAME}, which is not there" in each for each in machine.troubles())
    assert machine.troubles()


def test_entries_for_another_home_are_found(machine: Machine) -> None:
    machine.moved(home=machine.user / "other").setup("cursor")

    trouble = only(machine)

    assert trouble.code == "conflict"
    assert f"works for another home, {machine.user / 'other'}" in trouble.message
    assert trouble.fix == f"madeleine unsetup cursor --home {machine.user / 'other'}, then setup"


def test_a_client_of_another_release_is_found(machine: Machine) -> None:
    machine.setup("zed")
    machine.around.hook.write_text("# older\n", encoding="utf-8")

    assert only(machine).fix == "madeleine setup"


def test_a_hook_that_fires_twice_is_found(machine: Machine) -> None:
    machine.setup("gemini")
    settings = machine.json(".gemini/settings.json")
    by_hand = {"type": "command", "command": "madeleine whisper inject --host gemini"}
    settings["hooks"]["BeforeAgent"].append({"hooks": [by_hand]})
    machine.write(".gemini/settings.json", json.dumps(settings, indent=2))

    found = only(machine)

    assert "hook on BeforeAgent stands there 2 times" in found.message
    assert found.code == "conflict"
    assert found.fix == f"take one of them out of {machine.user}/.gemini/settings.json"


@pytest.mark.parametrize(
    "command", ["ormah whisper inject", "/opt/tools/bin/ormah whisper inject --agent x"]
)
def test_a_hook_of_ormah_beside_ours_is_found(machine: Machine, command: str) -> None:
    machine.setup("claude")
    settings = machine.json(".claude/settings.json")
    entry = {"type": "command", "command": command}
    settings["hooks"]["UserPromptSubmit"].append({"hooks": [entry]})
    machine.write(".claude/settings.json", json.dumps(settings, indent=2))

    found = only(machine)

    path = f"{machine.user}/.claude/settings.json"
    assert found.message == f"{path}: hook on UserPromptSubmit asks Ormah as well, and both answer"
    assert (found.code, found.fix) == ("conflict", f"take Ormah's hook out of {path}")


def test_a_hook_of_ormah_in_toml_is_found_too(machine: Machine) -> None:
    hook = 'type = "command"\ncommand = "ormah whisper store"\n'
    machine.write(".codex/config.toml", f"[[hooks.Stop]]\n[[hooks.Stop.hooks]]\n{hook}")
    machine.setup("codex")

    assert "hook on Stop asks Ormah as well" in only(machine).message


def test_a_hook_of_ormah_alone_is_nobodys_trouble(machine: Machine) -> None:
    entry = {"type": "command", "command": "ormah whisper inject"}
    hooks = {"hooks": {"UserPromptSubmit": [{"hooks": [entry]}]}}
    machine.write(".claude/settings.json", json.dumps(hooks))

    assert machine.troubles() == []


def test_a_plugin_that_is_not_installed_yet_is_a_note_with_the_steps(machine: Machine) -> None:
    (machine.user / ".claude").mkdir()
    machine.setup("claude", plugin=True)

    note = next(each for each in machine.findings() if each.check == "claude")

    assert note.message == "the plugin is written and not installed yet"
    assert "claude plugin install madeleine@madeleine" in note.fix


def test_fixes_name_the_home_where_it_is_not_the_default_one(machine: Machine) -> None:
    away = machine.moved(home=machine.user / "a home").around
    quoted = f"madeleine --home '{machine.user}/a home'"

    assert (
        add_home_option(away, "madeleine stop; madeleine serve") == f"{quoted} stop; {quoted} serve"
    )
    assert add_home_option(away, "mend the file, then madeleine reconcile").endswith(
        f"{quoted} reconcile"
    )
    kept = "madeleine unsetup cursor --home /b, then setup"
    assert add_home_option(away, kept) == kept
    assert add_home_option(machine.around, "madeleine serve") == "madeleine serve"


def test_a_settings_file_that_no_longer_parses_is_named_with_its_line(machine: Machine) -> None:
    machine.setup("claude")
    machine.write(".claude/settings.json", '{\n "hooks": {\n')

    found = only(machine)

    assert found.message.startswith(f"{machine.user}/.claude/settings.json:3: ")
    assert findings_exit_code([found]) == 6


def test_a_piece_that_somebody_took_out_is_missed(machine: Machine) -> None:
    machine.setup("claude")
    machine.write(".claude.json", "{}")

    assert only(machine).message.endswith(".claude.json: MCP server is missing")


def test_hooks_that_are_switched_off_are_told(machine: Machine) -> None:
    machine.write(".claude/settings.json", '{"disableAllHooks": true}')
    machine.setup("claude")

    assert "`disableAllHooks` is set" in only(machine).message


MOMENTS = [f"hooks.json:{each}:0:0" for each in ("session_start", "subagent_start", "pre_tool_use")]
LATER = "Stop, SessionStart, SubagentStart, PreToolUse"


def test_codex_that_has_not_reviewed_the_hooks_is_told(machine: Machine) -> None:
    machine.setup("codex")
    note = next(each for each in machine.findings() if each.check == "codex")

    trust(machine, "hooks.json:user_prompt_submit:0:0")
    half = next(each for each in machine.findings() if each.check == "codex")
    trust(machine, "hooks.json:stop:0:0", *MOMENTS)

    assert f"the hooks on UserPromptSubmit, {LATER}, so they do not run yet" in note.message
    assert f"the hooks on {LATER}, so they do not run yet" in half.message
    assert "Codex CLI is wired" in [each.message for each in machine.findings()]


def trust(machine: Machine, *places: str) -> None:
    """Note in Codex's settings, as it does, that hooks were reviewed."""
    noted = "".join(
        f'\n[hooks.state."{machine.user}/.codex/{place}"]\n'
        'enabled = true\ntrusted_hash = "sha256:1"\n'
        for place in places
    )
    machine.write(".codex/config.toml", machine.read(".codex/config.toml") + noted.encode())


def test_trust_in_a_strangers_hook_is_none_in_ours(machine: Machine) -> None:
    theirs = {"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "x"}]}]}}
    machine.write(".codex/hooks.json", json.dumps(theirs))
    machine.setup("codex")
    trust(machine, "hooks.json:user_prompt_submit:0:0", "hooks.json:stop:0:0", *MOMENTS)
    note = next(each for each in machine.findings() if each.check == "codex")
    trust(machine, "hooks.json:user_prompt_submit:1:0")

    assert "the hooks on UserPromptSubmit, so they do not run yet" in note.message
    assert "Codex CLI is wired" in [each.message for each in machine.findings()]


def test_trust_in_hooks_of_config_toml_is_seen(machine: Machine) -> None:
    theirs = "[[hooks.UserPromptSubmit]]\n[[hooks.UserPromptSubmit.hooks]]\ncommand = 'x'\n"
    machine.write(".codex/config.toml", theirs)
    machine.setup("codex")
    moments = [each.replace("hooks.json", "config.toml") for each in MOMENTS]
    trust(machine, "config.toml:user_prompt_submit:1:0", "config.toml:stop:0:0", *moments)

    assert "Codex CLI is wired" in [each.message for each in machine.findings()]


def ran(machine: Machine, milliseconds: int, code: int = 0) -> str:
    """Return the line that Claude Code writes about a hook that ran."""
    attachment = {
        "type": "hook_success",
        "hookName": "UserPromptSubmit",
        "hookEvent": "UserPromptSubmit",
        "command": " ".join(machine.around.hook_words("inject", "claude")),
        "durationMs": milliseconds,
        "exitCode": code,
    }
    return json.dumps({"type": "attachment", "attachment": attachment}) + "\n"


def test_slow_hooks_are_told_by_claude_codes_own_record(machine: Machine) -> None:
    machine.setup("claude")
    lines = "".join(ran(machine, each) for each in (30, 1_800, 2_400, 2_100))
    machine.write(".claude/projects/-atlas/s1.jsonl", 'cut off", "durationMs"\n' + lines)

    found = only(machine)

    assert found.check == "slow hooks"
    assert found.message == "hooks take 2,100 ms (median of the last 4)"


def test_quick_hooks_and_those_of_others_are_no_matter(machine: Machine) -> None:
    machine.setup("claude")
    theirs = ran(machine, 9_000, 1).replace(HOOK_NAME, "theirs.py")
    machine.write(".claude/projects/-atlas/s1.jsonl", ran(machine, 40) * 5 + theirs * 5)

    assert machine.troubles() == []


def test_hooks_that_failed_are_told(machine: Machine) -> None:
    machine.setup("claude")
    lines = ran(machine, 30) + ran(machine, 20, 127)
    machine.write(".claude/projects/-atlas/s1.jsonl", lines)

    assert only(machine).message.startswith("1 of the last 2 hooks failed")


def test_what_starts_at_login_and_points_elsewhere_is_found(machine: Machine) -> None:
    machine.moved(python="/gone/python3").setup(autostart=True)

    assert only(machine).fix == "madeleine setup --autostart"


def test_looking_changes_nothing(machine: Machine) -> None:
    machine.setup("claude", "codex", "opencode")
    before = machine.tree()

    machine.findings()

    assert machine.tree() == before
