"""`remember` inside a repository: the space that agents working there have, and the ways out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from madeleine.write.projects import space_of
from tests.cli.running import Cli
from tests.server.running import Daemon, running


def repository(folder: Path) -> Path:
    (folder / ".git").mkdir(parents=True)
    return folder


def worktree(folder: Path) -> Path:
    """A worktree of `atlas` in a folder with another name."""
    main = repository(folder / "atlas")
    made = folder / "side"
    made.mkdir()
    (made / ".git").write_text(f"gitdir: {main}/.git/worktrees/side\n", encoding="utf-8")
    return made


def submodule(folder: Path) -> Path:
    made = repository(folder / "atlas") / "lib" / "maps"
    made.mkdir(parents=True)
    (made / ".git").write_text("gitdir: ../../.git/modules/maps\n", encoding="utf-8")
    return made


def below(folder: Path) -> Path:
    made = repository(folder / "atlas") / "src" / "deep"
    made.mkdir(parents=True)
    return made


def plain(folder: Path) -> Path:
    made = folder / "letters"
    made.mkdir()
    return made


def odd_name(folder: Path) -> Path:
    return repository(folder / "Mein Projekt (älter)")


PLACES = [
    (lambda folder: repository(folder / "atlas"), "atlas"),
    (below, "atlas"),
    (worktree, "atlas"),
    (submodule, "maps"),
    (odd_name, "Mein Projekt (älter)"),
    (lambda folder: repository(folder / "UPPER.case-1"), "UPPER.case-1"),
    (lambda folder: repository(repository(folder / "outer") / "inner"), "inner"),
    (plain, None),
    (lambda folder: repository(folder / ("x" * 101)), None),
]


@pytest.mark.few(4)
@pytest.mark.parametrize("way", ["with a daemon", "without"])
@pytest.mark.parametrize(("make", "space"), PLACES)
def test_what_is_remembered_has_the_space_of_the_folder(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Any, space: str, way: str
) -> None:
    monkeypatch.chdir(make(tmp_path))
    if way == "without":
        answer = cli.ok("remember", "The tiles are cut at zoom nine")
    else:
        with running(cli.home):
            answer = cli.ok("remember", "The tiles are cut at zoom nine")

    assert answer["memory"]["space"] == space == space_of(str(Path.cwd()))


def test_the_answer_says_in_which_space_it_is(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(below(tmp_path))

    first = cli("remember", "The tiles are cut at zoom nine")
    again = cli("remember", "The tiles are cut at zoom nine")

    assert first.out.endswith("  in space atlas\n")
    assert again.out.startswith("known already: ")
    assert again.out.endswith("  in space atlas\n")


@pytest.mark.parametrize(
    ("words", "space"),
    [
        (("--space", "global"), None),
        (("--space", ""), None),
        (("--space=",), None),
        (("--space", "other"), "other"),
    ],
)
def test_a_space_that_is_named_wins(
    cli: Cli,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    space: str | None,
) -> None:
    monkeypatch.chdir(below(tmp_path))

    answer = cli.ok("remember", "The tiles are cut at zoom nine", *words)
    said = cli("remember", "Another text about tiles", *words).out

    assert answer["memory"]["space"] == space
    assert ("in space" in said) == (space is not None)


def test_the_home_folder_under_git_is_no_project(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(repository(tmp_path / "ana")))
    monkeypatch.chdir(tmp_path / "ana")

    assert cli.ok("remember", "Dotfiles live here")["memory"]["space"] is None


def test_a_folder_that_is_gone_is_no_project(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = repository(tmp_path / "gone")
    monkeypatch.chdir(gone)
    (gone / ".git").rmdir()
    gone.rmdir()

    assert cli.ok("remember", "Nothing is left")["memory"]["space"] is None


def test_lines_that_name_no_space_take_it_too_and_null_stays_global(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(below(tmp_path))
    lines: list[dict[str, str | None]] = [
        {"content": "The tiles are cut at zoom nine"},
        {"content": "Tea at four", "space": None},
        {"content": "Ships sail at dawn", "space": "harbour"},
    ]
    data = "".join(json.dumps(each) + "\n" for each in lines).encode()

    ran = cli("remember", "--jsonl", "-", stdin=data)

    listed = cli.ok("list")["memories"]
    spaces = {each["content"]: each["space"] for each in listed}
    assert [spaces[str(each["content"])] for each in lines] == ["atlas", None, "harbour"]
    assert "lines that name no space are in space atlas" in ran.err


@pytest.mark.soak
def test_an_agent_there_finds_it_in_the_same_space(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = below(tmp_path)
    monkeypatch.chdir(folder)
    started: Daemon
    with running(cli.home) as started:
        by_command = cli.ok("remember", "The tiles are cut at zoom nine")["memory"]
        arguments = {"content": "The legend is drawn by hand"}
        call = {"name": "remember", "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        accept = {"Accept": "application/json, text/event-stream"}
        answer = started.ask("POST", "/mcp", message, headers=accept, folder=str(folder))
        by_agent = cli.ok("show", answer.body["result"]["structuredContent"]["node_id"])["memory"]

    assert by_command["space"] == by_agent["space"] == "atlas"
