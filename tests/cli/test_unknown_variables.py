"""Variables that look like settings and mean nothing are named once, with the nearest that does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from madeleine.cli.variable_names import VARIABLE_NAMES
from madeleine.settings import describe_unknown_variables, known_variables
from tests.cli.running import Cli
from tests.server.running import running

MISSPELT = [
    ("MADELEINE_WHISPER_GATE", "MADELEINE_WHISPER_INJECTION_GATE"),
    ("MADELEINE_WHISPER_DEADLINE", "MADELEINE_WHISPER_DEADLINE_MS"),
    ("MADELEINE_EMBEDER_KIND", "MADELEINE_EMBEDDER_KIND"),
    ("MADELEINE_PORT", "MADELEINE_SERVER_PORT"),
    ("MADELEINE_SERVER_PROT", "MADELEINE_SERVER_PORT"),
    ("MADELEINE_SLEEP_ENABLE", "MADELEINE_SLEEP_ENABLED"),
    ("MADELEINE_STORE_TRUHT", "MADELEINE_STORE_TRUTH"),
    ("MADELEINE_HOEM", "MADELEINE_HOME"),
    ("MADELEINE_JUDGE_MODLE", "MADELEINE_JUDGE_MODEL"),
    ("MADELEINE_LINK_THRESHOLD", "MADELEINE_WRITE_LINK_THRESHOLD"),
    ("MADELEINE_VAULTPATH", "MADELEINE_VAULT_PATH"),
    ("CONSOLIDATION_FORGET_INTERVAL", "CONSOLIDATION_FORGET_INTERVAL_SECONDS"),
    ("CONSOLIDATION_PROTECTED_TYPE", "CONSOLIDATION_PROTECTED_TYPES"),
    ("CONSOLIDATION_ENABELD", "CONSOLIDATION_ENABLED"),
]


@pytest.mark.parametrize(("wrong", "right"), MISSPELT)
def test_a_misspelt_variable_is_named_once_with_the_nearest_right_name(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, wrong: str, right: str
) -> None:
    monkeypatch.setenv(wrong, "1")

    ran = cli("list")

    assert ran.code == 0
    assert ran.err.count(f"`{wrong}`") == 1
    assert f"note: `{wrong}` in the environment means nothing; did you mean `{right}`?" in ran.err
    assert wrong not in ran.out


def test_what_resembles_nothing_is_named_without_a_guess(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MADELEINE_XYZZY", "1")

    assert "docs/reference/settings.md lists those that do" in cli("list").err


@pytest.mark.few(40)
@pytest.mark.parametrize("name", sorted(known_variables()))
def test_a_variable_that_means_something_is_not_named(name: str) -> None:
    assert describe_unknown_variables([name]) == []


def test_every_variable_that_anything_here_reads_is_known() -> None:
    """Hooks, tests, tools and compose.yaml included."""
    root = Path(__file__).parents[2]
    ran = subprocess.run(
        [
            *("git", "grep", "-hoE", r"\b(MADELEINE|CONSOLIDATION)_[A-Z0-9]+(_[A-Z0-9]+)*\b"),
            *("--", ":!tests/cli/test_unknown_variables.py", ":!docs/decisions"),
        ],
        cwd=root,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )

    assert describe_unknown_variables(set(ran.stdout.split())) == []


@pytest.mark.parametrize("section", ["embedder", "judge"])
def test_a_variable_that_settings_name_for_a_key_is_known(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, section: str
) -> None:
    cli.home.mkdir()
    config = f'[{section}]\nkey_env = "MADELEINE_MY_KEY"\n'
    (cli.home / "config.toml").write_text(config, encoding="utf-8")
    monkeypatch.setenv("MADELEINE_MY_KEY", "sk-secret")

    ran = cli("list")

    assert (ran.code, ran.err) == (0, "")


def test_its_value_is_never_said(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MADELEINE_SERVER_ADMIN_TOKE", "sk-secret")

    assert "sk-secret" not in cli("list").err


@pytest.mark.parametrize("words", [("--help",), ("list", "--help"), ("--version",)])
def test_help_stays_quiet_and_light(cli: Cli, words: tuple[str, ...]) -> None:
    ran = cli.process(*words, MADELEINE_WHISPER_GATE="0.3")

    assert (ran.code, ran.err) == (0, "")


@pytest.mark.parametrize("verb", ["inject", "store"])
def test_a_hook_stays_quiet(cli: Cli, verb: str) -> None:
    cli.home.mkdir()
    (cli.home / "run").mkdir()
    (cli.home / "run" / "start").write_text("just now", encoding="utf-8")

    ran = cli.process("whisper", verb, stdin=b"{}", MADELEINE_WHISPER_GATE="0.3")

    assert (ran.code, ran.out, ran.err) == (0, "", "")


def test_right_names_load_no_settings() -> None:
    code = (
        "import sys; from madeleine.cli.main import _unknown_variable_notes; "
        "before = set(sys.modules); "
        "assert _unknown_variable_notes(None) == []; "
        "print(sorted(each for each in set(sys.modules) - before if 'madeleine' in each))"
    )
    environment = {"MADELEINE_WHISPER_HOLDOUT": "0.1", "MADELEINE_HOME": "/nowhere"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, check=True
    )

    light = "['madeleine.cli.environment', 'madeleine.cli.variable_names']"
    assert done.stdout.decode().strip() == light


def test_the_plain_names_are_those_of_the_settings() -> None:
    """`make docs` brings them up to date."""
    assert known_variables() == VARIABLE_NAMES


def test_the_daemon_names_it_in_its_log_and_in_status(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MADELEINE_WHISPER_GATE", "0.3")
    said = "`MADELEINE_WHISPER_GATE` in the environment means nothing"
    with running(cli.home) as daemon:
        monkeypatch.delenv("MADELEINE_WHISPER_GATE")
        notes: Any = daemon.door.call("status")["notes"]
        ran = cli("status")

    log = (cli.home / "logs" / "daemon.log").read_text(encoding="utf-8")
    assert log.count(said) == 1
    assert [said in each for each in notes] == [True]
    assert ran.err.count(said) == 1
