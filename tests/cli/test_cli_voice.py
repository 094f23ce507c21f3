"""How the command speaks: answer on stdout, talk on stderr, quiet ends."""

from __future__ import annotations

import io
import os
import pty
import signal
import subprocess
from pathlib import Path

import pytest

from madeleine import __version__
from madeleine.api.home_paths import DEFAULT_HOME, home_path
from madeleine.cli.command_table import command_names
from madeleine.cli.main import main, split_words
from madeleine.cli.memory_words import (
    MemoryRow,
    count_columns,
    fit_to_columns,
    render_age,
    render_count,
    render_table,
)
from madeleine.cli.output import CommandOutput
from madeleine.cli.progress import ProgressBar, render_progress
from tests.cli.running import MODULE, Cli

NOW = 1_794_744_000.0  # 2026-11-15T12:00:00Z


@pytest.mark.parametrize(
    ("moment", "words"),
    [
        ("2026-11-15T11:59:30Z", "just now"),
        ("2026-11-15T11:58:00Z", "2 minutes ago"),
        ("2026-11-15T10:40:00Z", "80 minutes ago"),
        ("2026-11-14T12:00:00Z", "24 hours ago"),
        ("2026-11-03T12:00:00Z", "12 days ago"),
        ("2026-09-10T12:00:00Z", "2 months ago"),
        ("2023-11-15T12:00:00Z", "3 years ago"),
        ("2026-11-18T13:00:00Z", "in 3 days"),
    ],
)
def test_an_age_is_told_in_the_unit_that_fits(moment: str, words: str) -> None:
    assert render_age(moment, NOW) == words


def test_a_count_of_one_is_singular() -> None:
    assert (render_count(1, "memory", "memories"), render_count(1204, "file")) == (
        "1 memory",
        "1,204 files",
    )


def test_wide_letters_take_two_columns() -> None:
    assert count_columns("潮汐") == 4
    assert fit_to_columns("潮汐の表です", 6) == "潮汐… "
    assert count_columns(fit_to_columns("潮汐の表です", 6)) == 6


def test_a_long_title_is_cut_so_that_the_line_fits() -> None:
    say = CommandOutput(io.StringIO(), io.StringIO(), width=60)

    lines = render_table(
        [MemoryRow("7f3a91c2", "decision", "long " * 30, "0.82", "12 days ago")], say
    )

    assert len(lines[0]) <= 60
    assert "…" in lines[0]


def test_progress_says_how_much_is_left() -> None:
    assert render_progress(412, 1000, 2.1) == "412/1,000  41 %  about 3 s left"
    assert render_progress(1000, 1000, 5) == "1,000/1,000  100 %"
    assert render_progress(7, None, 5) == "7"


def test_a_bar_draws_only_after_a_moment_and_clears_itself() -> None:
    seconds = iter([0.0, 0.1, 1.0, 1.01, 2.0])
    stream = io.StringIO()

    with ProgressBar(stream, "indexing", clock=lambda: next(seconds)) as bar:
        for done in (1, 2, 3, 4):
            bar(done, 4)

    drawn = stream.getvalue().split("\r\x1b[K")
    assert drawn == ["", "indexing  2/4  50 %  about 1 s left", "indexing  4/4  100 %", ""]


def test_a_bar_without_a_terminal_is_silent() -> None:
    ProgressBar(None, "indexing")(1, 2)


def test_general_options_stand_anywhere_before_two_dashes() -> None:
    assert split_words(["--json", "recall", "--home", "h", "q", "--limit", "3"]) == (
        ["--json", "--home", "h"],
        "recall",
        ["q", "--limit", "3"],
    )
    assert split_words(["remember", "--", "--json"]) == ([], "remember", ["--", "--json"])
    assert split_words(["--home=h", "list"]) == (["--home=h"], "list", [])


@pytest.mark.parametrize("words", [["--json", "list"], ["list", "--json"]])
def test_json_is_taken_before_and_after_the_command(cli: Cli, words: list[str]) -> None:
    assert cli(*words).answer["memories"] == []


def test_a_text_that_looks_like_an_option_follows_two_dashes(cli: Cli) -> None:
    assert cli("remember", "--", "--json").code == 0
    assert cli.ok("list")["memories"][0]["content"] == "--json"


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0

    text = capsys.readouterr().out
    for name in command_names():
        assert f"\n  {name} " in text


def test_no_words_at_all_print_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert capsys.readouterr().out.startswith("usage: madeleine")


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"madeleine {__version__}\n"


@pytest.mark.parametrize("name", command_names())
def test_every_command_has_a_help_of_its_own(cli: Cli, name: str) -> None:
    ran = cli(name, "--help")

    assert ran.code == 0
    assert ran.out.startswith(f"usage: madeleine {name}")
    assert not cli.home.exists()


def test_the_home_comes_from_the_environment_too(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MADELEINE_HOME", str(tmp_path / "elsewhere"))

    assert main(["remember", "in the other home"]) == 0
    assert (tmp_path / "elsewhere" / "vault").is_dir()


def test_the_default_home_is_the_same_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MADELEINE_HOME", raising=False)

    assert home_path() == Path(DEFAULT_HOME).expanduser()


def test_control_characters_of_a_memory_never_reach_the_terminal(cli: Cli) -> None:
    memory = cli.remember("red \x1b[31malert\x07 \u202eback", "--title", "bell")

    out = cli("show", memory).out

    assert "red \\x1b[31malert\\x07 \\u202eback" in out
    assert "\x1b" not in out


@pytest.mark.soak
def test_an_ascii_terminal_gets_letters_written_out(cli: Cli) -> None:
    cli.remember("Tomás hört 潮")

    plain = cli.process("list", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    document = cli.process("list", "--json", PYTHONIOENCODING="ascii", PYTHONUTF8="0")

    assert "Tom\\xe1s h\\xf6rt \\u6f6e" in plain.out
    assert document.answer["memories"][0]["content"] == "Tomás hört 潮"


def _on_a_terminal(cli: Cli, *words: str, **variables: str) -> str:
    master, slave = pty.openpty()
    environment = cli.environment(TERM="xterm", **variables)
    environment = {key: value for key, value in environment.items() if value}
    subprocess.run([*MODULE, *words], stdout=slave, stderr=slave, env=environment, check=False)
    os.close(slave)
    said = b""
    try:
        while part := os.read(master, 65_536):
            said += part
    except OSError:  # how Linux says that the other end is closed
        assert said
    finally:
        os.close(master)
    return said.decode()


@pytest.mark.soak
def test_colour_only_on_a_terminal_that_wants_it(cli: Cli) -> None:
    cli.remember("Tides turn")

    assert "\x1b[2m" in _on_a_terminal(cli, "list")
    assert "\x1b[31merror:" in _on_a_terminal(cli, "show", "ffff")
    assert "\x1b" not in _on_a_terminal(cli, "list", NO_COLOR="1")
    assert "\x1b" not in cli.process("list").out


def test_a_reader_that_leaves_ends_the_command_quietly(cli: Cli) -> None:
    cli.remember("Tides turn")

    with subprocess.Popen(
        [*MODULE, "list"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=cli.environment(),
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        talk = process.stderr.read()

    assert process.returncode == 141
    assert talk == b""


@pytest.mark.parametrize("word", ["--help", "--version"])
def test_help_for_a_reader_who_has_gone_is_no_failure(word: str) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)

    done = subprocess.run([*MODULE, word], stdout=write_end, stderr=subprocess.PIPE, check=False)

    os.close(write_end)
    assert done.returncode == 141
    assert done.stderr == b""


def test_ctrl_c_ends_the_command_quietly(cli: Cli) -> None:
    master, slave = pty.openpty()
    with subprocess.Popen(
        [*MODULE, "remember", "-"],
        stdin=slave,
        stderr=subprocess.PIPE,
        env=cli.environment(),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == b"reading from the terminal; end with Ctrl-D\n"
        process.send_signal(signal.SIGINT)
        talk = process.stderr.read()
    os.close(slave)
    os.close(master)

    assert process.returncode == 130
    assert talk == b""


def test_notes_are_talk_and_stand_once(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "none")
    cli.remember("Tides turn")

    ran = cli("recall", "tides")

    assert ran.err.count("note: text search only") == 1
    assert "Tides turn" in ran.out
