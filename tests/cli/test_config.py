"""`madeleine config`: what is in force, where it comes from, and changing it in the file."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from madeleine.bootstrap import load_settings
from madeleine.settings import Settings
from tests.cli.running import Cli, Ran

WRITTEN = """# mine
[whisper]  # quieter
injection_gate = 0.7 # was 0.5

[sleep]
# nothing at night
enabled = false
"""


@pytest.fixture
def written(cli: Cli) -> Cli:
    cli.home.mkdir()
    (cli.home / "config.toml").write_text(WRITTEN, encoding="utf-8")
    return cli


def file_of(cli: Cli) -> str:
    return (cli.home / "config.toml").read_text(encoding="utf-8")


def listed(cli: Cli, *words: str) -> dict[str, Any]:
    return {each["name"]: each for each in cli.ok("config", *words)["settings"]}


def assert_refused(ran: Ran, *words: str) -> None:
    assert ran.code == 2
    for each in words:
        assert each in ran.err


# -- listing -------------------------------------------------------------------------------


def test_each_setting_is_listed_with_its_value_and_where_that_comes_from(
    written: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MADELEINE_SERVER_PORT", "9001")
    monkeypatch.setenv("CONSOLIDATION_DELETE_THRESHOLD", "0.1")

    found = listed(written)

    told = {name: (found[name]["value"], found[name]["source"]) for name in found}
    assert told["whisper.injection_gate"] == (0.7, "file")
    assert told["sleep.enabled"] == (False, "file")
    assert told["whisper.max_nodes"] == (6, "default")
    assert told["server.port"] == (9001, "environment")
    assert found["server.port"]["variable"] == "MADELEINE_SERVER_PORT"
    assert found["server.port"]["default"] == 8787
    assert told["consolidation.delete_threshold"] == (0.1, "environment")
    assert found["consolidation.delete_threshold"]["variable"] == "CONSOLIDATION_DELETE_THRESHOLD"


def test_the_environment_wins_over_the_file(written: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MADELEINE_WHISPER_INJECTION_GATE", "0.9")

    gate = listed(written)["whisper.injection_gate"]

    assert (gate["value"], gate["source"]) == (0.9, "environment")


def test_in_words_each_stands_in_its_section_with_its_source(written: Cli) -> None:
    lines = written("config").out.splitlines()

    assert str(written.home / "config.toml") in lines[0]
    assert "[whisper]" in lines
    words = [line.split() for line in lines]
    assert ["injection_gate", "0.7", "config.toml"] in words
    assert ["max_nodes", "6", "default"] in words
    assert ["kind", '"fake"', "MADELEINE_EMBEDDER_KIND"] in words


def test_advanced_settings_are_listed_when_asked_for_or_when_set(cli: Cli) -> None:
    assert "whisper.full_chars" not in listed(cli)
    assert len(listed(cli)) < len(listed(cli, "--all"))
    assert listed(cli, "--all")["whisper.full_chars"]["advanced"]

    cli.ok("config", "set", "whisper.full_chars", "900")

    assert listed(cli)["whisper.full_chars"]["value"] == 900


def test_looking_makes_nothing(cli: Cli) -> None:
    cli.ok("config")

    assert not cli.home.exists()


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("server.admin_token", "tell-nobody", "(hidden)"),
        ("store.url", "postgresql://ana:tell-nobody@host:5/db", "postgresql://host:5/db"),
        ("store.url", "postgresql://host/db?password=tell-nobody", "postgresql://host/db"),
        ("store.graph", "falkordb://:tell-nobody@[::1]:6379/g", "falkordb://[::1]:6379/g"),
        ("judge.url", "https://ana:tell-nobody@host/v1", "https://host/v1"),
        ("store.url", "postgresql://[tell-nobody", "(hidden)"),
        ("store.url", "postgresql://u:a/tell-nobody@host/db", "(hidden)"),
        ("store.url", "postgresql://u:a#tell-nobody@host/db", "(hidden)"),
        ("store.url", "u:tell-nobody@host/db", "(hidden)"),
        ("store.graph", "falkordb:tell-nobody@host", "(hidden)"),
    ],
)
def test_what_lets_one_in_is_not_shown(cli: Cli, name: str, value: str, shown: str) -> None:
    set_ = cli("config", "set", name, value)

    assert listed(cli)[name]["value"] == shown
    assert cli.ok("config", "get", name)["value"] == shown
    said = set_.out + set_.err + cli("config").out + cli("config", "get", name).out
    assert "tell-nobody" not in said
    assert "tell-nobody" in file_of(cli)


def test_a_file_that_cannot_be_used_is_refused_with_what_is_wrong(written: Cli) -> None:
    (written.home / "config.toml").write_text("[whisper]\nmax_nodes = -1\n", encoding="utf-8")

    assert_refused(written("config"), "whisper.max_nodes", "from 0 to 100")


# -- getting one ---------------------------------------------------------------------------


def test_one_setting_is_told_with_its_value_and_where_that_comes_from(
    written: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MADELEINE_SERVER_PORT", "9001")

    words = [
        written("config", "get", name).out
        for name in ("whisper.injection_gate", "server.port", "server.host", "whisper.full_chars")
    ]

    assert words == [
        f"whisper.injection_gate is 0.7, from {written.home / 'config.toml'}\n",
        "server.port is 9001, from MADELEINE_SERVER_PORT\n",
        'server.host is "127.0.0.1", the default\n',
        f"whisper.full_chars is {Settings().whisper.full_chars}, the default\n",
    ]


@pytest.mark.parametrize("name", ["whisper.injection_gate", "server.port", "store.url"])
def test_as_json_it_is_what_the_list_has(written: Cli, name: str) -> None:
    told = written.ok("config", "get", name)

    assert told.pop("file") == str(written.home / "config.toml")
    assert told == listed(written)[name]


# -- setting -------------------------------------------------------------------------------


def test_a_setting_is_changed_in_the_file_which_keeps_its_comments_and_order(
    written: Cli,
) -> None:
    written.ok("config", "set", "whisper.injection_gate", "0.6")
    written.ok("config", "set", "whisper.max_nodes", "3")
    written.ok("config", "set", "server.host", "::1")

    assert (
        file_of(written)
        == WRITTEN.replace("0.7", "0.6").replace("# was 0.5\n", "# was 0.5\nmax_nodes = 3\n")
        + '\n[server]\nhost = "::1"\n'
    )


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("server.port", "0", 0),
        ("server.trust_loopback", "TRUE", True),
        ("vault.watch", "0", False),
        ("vault.path", "", ""),
        ("vault.path", 'a "b" \\ ü\t☃', 'a "b" \\ ü\t☃'),
        ("whisper.injection_gate", "1", 1.0),
        ("whisper.holdout", "1e-3", 0.001),
        ("consolidation.forget_interval_seconds", "3155760000", 3_155_760_000.0),
        ("judge.kind", "agent", "agent"),
        ("sleep.protected_types", "goal, Insight", "goal, Insight"),
        ("store.graph", "falkordb://host", "falkordb://host"),
    ],
)
def test_what_is_set_is_in_force(cli: Cli, name: str, text: str, value: object) -> None:
    cli.ok("config", "set", name, text)

    section, _, key = name.partition(".")
    found = getattr(getattr(load_settings(cli.home), section), key)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("whisper.max_nodes", "101", "it takes a number from 0 to 100"),
        ("whisper.max_nodes", "-1", "it takes a number from 0 to 100"),
        ("whisper.max_nodes", "2.5", "it takes a number"),
        ("whisper.injection_gate", "nan", "it takes a number from 0 to 1"),
        ("write.core_cap", "inf", "it takes a number"),
        ("recall.least_score", "inf", "it takes a number"),
        ("server.trust_loopback", "maybe", "it takes true or false"),
        ("judge.kind", "human", "it takes local, llm or agent"),
        ("store.truth", "", "it takes files or database"),
        ("sleep.protected_types", "mood", "names 'mood'"),
        ("consolidation.protected_types", "goal,mood", "names 'mood'"),
        ("sleep.unasked", "never", "is not known"),
    ],
)
def test_a_value_that_a_setting_does_not_take_is_refused_and_changes_nothing(
    written: Cli, name: str, text: str, said: str
) -> None:
    assert_refused(written("config", "set", name, text), f"`{name}`", said)
    assert file_of(written) == WRITTEN


@pytest.mark.parametrize("verb", [("get",), ("set", "1"), ("unset",)])
@pytest.mark.parametrize("name", ["server.prot", "server", "prot", "", "server.port.x", "store"])
def test_a_name_that_nobody_knows_is_refused(
    written: Cli, verb: tuple[str, ...], name: str
) -> None:
    action, *value = verb

    assert_refused(written("config", action, name, *value), f"`{name}` is not known", "--all")
    assert file_of(written) == WRITTEN


def test_a_misspelt_name_is_told_with_the_right_one(cli: Cli) -> None:
    ran = cli("config", "set", "server.prot", "1")

    assert_refused(ran, "did you mean `server.port`?")


@pytest.mark.parametrize(
    "words",
    [
        ("get",),
        ("get", "server.port", "1"),
        ("set",),
        ("set", "server.port"),
        ("unset",),
        ("unset", "server.port", "1"),
        ("list", "x"),
    ],
)
def test_words_that_are_missing_or_too_many_are_refused(cli: Cli, words: tuple[str, ...]) -> None:
    assert_refused(cli("config", *words), f"`config {words[0]}` takes")


def test_another_action_is_refused_with_those_there_are(cli: Cli) -> None:
    assert_refused(cli("config", "show", "server.port"), "list, get, set, unset")


def test_a_variable_that_wins_is_told(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MADELEINE_SERVER_PORT", "9001")

    ran = cli("config", "set", "server.port", "9002")

    assert ran.code == 0
    assert "`MADELEINE_SERVER_PORT` in the environment wins" in ran.err


def test_the_same_value_again_writes_nothing(written: Cli) -> None:
    before = (written.home / "config.toml").stat()

    assert not written.ok("config", "set", "sleep.enabled", "false")["changed"]
    assert (written.home / "config.toml").stat() == before


def test_a_file_that_is_a_link_stays_one(cli: Cli, tmp_path: Path) -> None:
    kept = tmp_path / "dotfiles.toml"
    kept.write_text(WRITTEN, encoding="utf-8")
    cli.home.mkdir()
    (cli.home / "config.toml").symlink_to(kept)

    cli.ok("config", "set", "sleep.enabled", "true")

    assert (cli.home / "config.toml").is_symlink()
    assert "enabled = true" in kept.read_text(encoding="utf-8")


def test_the_file_is_for_its_owner_only(cli: Cli) -> None:
    cli.ok("config", "set", "server.admin_token", "x")

    assert stat.S_IMODE((cli.home / "config.toml").stat().st_mode) == 0o600
    assert stat.S_IMODE(cli.home.stat().st_mode) == 0o700


def test_a_home_that_cannot_be_written_is_said_to_be(cli: Cli) -> None:
    cli.home.write_text("a file where the folder is to be", encoding="utf-8")

    ran = cli("config", "set", "sleep.enabled", "true")

    assert ran.code == 5
    assert str(cli.home) in ran.err


def test_a_folder_in_the_place_of_the_file_is_said_to_be_none(cli: Cli) -> None:
    (cli.home / "config.toml").mkdir(parents=True)

    for words in (("config",), ("config", "set", "server.port", "1"), ("status",)):
        assert_refused(cli(*words), "config.toml` cannot be read")


def test_a_file_that_does_not_parse_is_left_alone(cli: Cli) -> None:
    cli.home.mkdir()
    (cli.home / "config.toml").write_text("[server\n", encoding="utf-8")

    assert_refused(cli("config", "set", "server.port", "1"), "does not parse")
    assert file_of(cli) == "[server\n"


def test_one_wrong_setting_can_be_mended_beside_another(cli: Cli) -> None:
    cli.home.mkdir()
    (cli.home / "config.toml").write_text(
        "[whisper]\nmax_nodes = -1\nmax_node = 3\n", encoding="utf-8"
    )

    cli.ok("config", "set", "whisper.max_nodes", "3")
    cli.ok("config", "unset", "whisper.max_node")

    assert file_of(cli) == "[whisper]\nmax_nodes = 3\n"
    assert listed(cli)["whisper.max_nodes"]["value"] == 3


# -- taking out ----------------------------------------------------------------------------


def test_a_setting_that_is_taken_out_has_its_default_again(written: Cli) -> None:
    written.ok("config", "set", "whisper.max_nodes", "3")

    assert written.ok("config", "unset", "whisper.max_nodes")["changed"]

    assert file_of(written) == WRITTEN
    assert listed(written)["whisper.max_nodes"]["source"] == "default"


def test_taking_out_what_is_not_set_is_no_mistake(written: Cli) -> None:
    answer = written.ok("config", "unset", "server.port")

    assert not answer["changed"]
    assert "server.port was not set" in written("config", "unset", "server.port").out
    assert file_of(written) == WRITTEN


# -- the daemon, and weight ----------------------------------------------------------------


def test_nothing_heavy_is_loaded(cli: Cli) -> None:
    code = (
        "import sys; from madeleine.cli.main import main;"
        f"main(['--home', {str(cli.home)!r}, 'config', 'set', 'server.port', '1']);"
        f"main(['--home', {str(cli.home)!r}, 'config']);"
        "heavy = {'apsw', 'numpy', 'starlette', 'madeleine.bootstrap'};"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    command = [sys.executable, "-c", code]
    ran = subprocess.run(command, capture_output=True, check=True, env=cli.environment())

    assert ran.stderr.decode().splitlines()[-1] == "[]"
