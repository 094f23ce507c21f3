"""setup, unsetup and doctor as a person types them, with a person's folder of their own."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from madeleine.api.remote import stop_daemon
from tests.cli.running import Cli, Ran


class Person:
    """Somebody at a shell: their folder, and nothing of the machine around it."""

    def __init__(self, cli: Cli, folder: Path) -> None:
        self.folder = folder
        self._cli = cli
        folder.mkdir()

    def __call__(self, *words: str) -> Ran:
        return self._cli.process(
            *words,
            HOME=str(self.folder),
            XDG_CONFIG_HOME="",
            CLAUDE_CONFIG_DIR="",
            CODEX_HOME="",
            COPILOT_HOME="",
            PATH="/none",
        )

    def answer(self, *words: str) -> Any:
        ran = self(*words, "--json")
        assert ran.code == 0, ran.err
        return ran.answer

    def files(self) -> dict[str, bytes]:
        found = sorted(path for path in self.folder.rglob("*") if path.is_file())
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in found}


@pytest.fixture
def person(cli: Cli, tmp_path: Path) -> Person:
    return Person(cli, tmp_path / "person")


def test_a_dry_run_shows_the_plan_and_changes_nothing(person: Person) -> None:
    (person.folder / ".claude").mkdir()
    (person.folder / ".claude" / "settings.json").write_text("{}\n", encoding="utf-8")
    before = person.files()

    ran = person("setup", "--dry-run")

    assert ran.code == 0
    assert "  change  " in ran.out
    assert "as it was: " in ran.out
    assert "would be changed; nothing was" in ran.out
    assert person.files() == before


def test_setup_twice_is_once_and_unsetup_is_before(person: Person, cli: Cli) -> None:
    (person.folder / ".codex").mkdir()
    (person.folder / ".codex" / "config.toml").write_text("# mine\n", encoding="utf-8")
    before = person.files()

    first = person.answer("setup")
    wired = person.files()
    second = person.answer("setup")

    assert {change["action"] for change in first["changes"]} == {"create", "change"}
    assert any("trust" in note for note in first["notes"])
    assert second["changes"] == []
    assert person.files() == wired
    assert (cli.home / "agents" / "madeleine-hook.py").is_file()
    assert len(person.answer("unsetup")["changes"]) == len(first["changes"])
    assert person.files() == before
    assert not cli.home.exists()


def test_a_file_that_does_not_parse_is_an_error_with_its_line(person: Person) -> None:
    (person.folder / ".cursor").mkdir()
    (person.folder / ".cursor" / "mcp.json").write_text('{\n"a" 1}', encoding="utf-8")

    ran = person("setup", "cursor")

    assert ran.code == 6
    assert ".cursor/mcp.json:2: a colon is missing" in ran.err
    assert list(person.files()) == [".cursor/mcp.json"]


def test_nobody_here_and_nobody_known_are_refused(person: Person) -> None:
    assert (person("setup").code, person("setup", "emacs").code) == (3, 2)


def test_any_other_client_gets_a_snippet(person: Person, cli: Cli) -> None:
    server = person.answer("setup", "generic")["mcpServers"]["madeleine"]

    assert os.access(server["command"], os.X_OK)
    assert server["args"][-3:] == ["mcp", "--home", str(cli.home)]
    assert '"mcpServers"' in person("setup", "generic").out
    assert person.files() == {}


def test_the_plugin_is_written_with_what_to_type(person: Person, cli: Cli) -> None:
    notes = person.answer("setup", "claude", "--plugin")["notes"]

    assert any("claude plugin marketplace add" in note for note in notes)
    hooks = cli.home / "agents/claude-plugin/madeleine/hooks/hooks.json"
    assert "UserPromptSubmit" in json.loads(hooks.read_bytes())["hooks"]


@pytest.mark.soak
def test_the_doctor_says_what_to_type_until_all_is_well(person: Person, cli: Cli) -> None:
    (person.folder / ".claude").mkdir()

    nothing = person("doctor")
    cli.ok("remember", "The ferry leaves at nine")
    down = person("doctor")
    person("setup")
    wired = person("doctor")
    assert person("serve", "--port", "0").code == 0
    try:
        well = person("doctor")
        document = person.answer("doctor")
    finally:
        stop_daemon(cli.home)

    assert nothing.code == 3
    assert "  fix: madeleine serve" in nothing.out
    assert down.code == 0
    assert "note: no daemon runs on this home" in down.out
    assert "Claude Code is here and not wired" in down.out
    assert (wired.code, wired.out.splitlines()[-1]) == (0, "all is well, 1 note")
    assert (well.code, well.out.splitlines()[-1]) == (0, "all is well")
    assert document["well"] is True
    assert [each["code"] for each in document["findings"]] == ["ok", "ok"]
