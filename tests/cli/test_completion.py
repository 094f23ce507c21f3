"""`madeleine completion SHELL`: each script is tried in its shell, where that is installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from madeleine.cli.command_table import command_names
from madeleine.cli.completion_scripts import render_script
from madeleine.cli.completion_words import SHELLS, list_completions
from tests.cli.running import Cli

ASKED = [
    (["rec"], ["recall", "reconcile"]),
    (["--home", "/nowhere", "sle"], ["sleep"]),
    (["recall", "--ty"], ["--type"]),
    (["recall", "a question", "--type", "de"], ["decision"]),
    (["link", "97ac", "97ad", "--edge", "evo"], ["evolved_from"]),
    (["sleep", "auto_l"], ["auto_linker"]),
    (["config", "un"], ["unset"]),
    (["import", "obs"], ["obsidian"]),
    (["export", "js"], ["jsonl"]),
    (["setup", "gem"], ["gemini"]),
    (["help", "pro"], ["proposals"]),
    (["remember", "--title", "de"], []),
    (["whisper", "--host", "cur"], ["cursor"]),
]

needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
needs_zsh = pytest.mark.skipif(shutil.which("zsh") is None, reason="needs zsh")
needs_fish = pytest.mark.skipif(shutil.which("fish") is None, reason="needs fish")


def run_shell(shell: str, folder: Path, program: str, *words: str) -> list[str]:
    """Return the lines that a program of a shell prints, with the script beside it."""
    script = folder / "script"
    script.write_text(render_script(shell, list_completions()), encoding="utf-8")
    command = [shell, "-c", program, *words]
    ran = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", timeout=20)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout.split("\n")[:-1]


def ask_bash(folder: Path, words: list[str]) -> list[str]:
    """Return what bash completes the last word to."""
    program = (
        'source ./script; COMP_WORDS=(madeleine "$@"); COMP_CWORD=$#; '
        '_madeleine madeleine "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"; '
        "for each in ${COMPREPLY[@]}; do echo $each; done"
    )
    return run_shell("bash", folder, program, "bash", *words)


@needs_bash
@pytest.mark.parametrize(("words", "completed"), ASKED)
def test_bash_completes_commands_options_and_known_values(
    tmp_path: Path, words: list[str], completed: list[str]
) -> None:
    assert ask_bash(tmp_path, words) == completed


@needs_bash
def test_bash_completes_paths_where_a_path_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "notes.jsonl").touch()

    for words in (["remember", "--jsonl", "not"], ["restore-backup", "not"], ["ingest", "not"]):
        assert ask_bash(tmp_path, words) == ["notes.jsonl"]
    assert ask_bash(tmp_path, ["recall", "not"]) == []


@needs_fish
@pytest.mark.parametrize(("words", "completed"), ASKED)
def test_fish_completes_commands_options_and_known_values(
    tmp_path: Path, words: list[str], completed: list[str]
) -> None:
    line = " ".join(["madeleine", *(f"'{each}'" for each in words[:-1]), words[-1]])

    told = run_shell("fish", tmp_path, f'source ./script; complete -C "{line}"')

    assert sorted(each.split("\t")[0] for each in told) == completed


@needs_zsh
def test_zsh_reads_its_script_and_knows_the_command_by_it(tmp_path: Path) -> None:
    program = (
        "autoload -Uz compinit; compinit -u -D; source ./script; echo ${_comps[madeleine]}; "
        "whence -w _madeleine"
    )

    assert run_shell("zsh", tmp_path, program) == ["_madeleine", "_madeleine: function"]


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_names_every_command_and_every_option(tmp_path: Path, shell: str) -> None:
    script = Cli(tmp_path / "home").ok("completion", shell)["script"]

    for command in list_completions():
        assert command.name in script
        for option in command.options:
            for name in option.names:
                assert (name if shell != "fish" else name.lstrip("-")) in script


def test_a_shell_that_is_not_known_is_refused_with_those_that_are(cli: Cli) -> None:
    refused = cli("completion", "tcsh")

    assert refused.code == 2
    assert "bash, zsh, fish" in refused.err


def test_help_says_what_the_option_says(cli: Cli) -> None:
    for name in command_names():
        assert cli("help", name).out == cli(name, "--help").out


def test_help_alone_lists_the_commands_and_a_wrong_word_is_told(cli: Cli) -> None:
    assert cli("help").out == cli("--help").out
    wrong = cli("help", "recal")
    assert (wrong.code, "did you mean `recall`?" in wrong.err) == (2, True)
