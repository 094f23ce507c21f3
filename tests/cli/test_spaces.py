"""`madeleine space`: which project a folder is, why, and other names for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import Cli


def cloned(folder: Path, url: str, remote: str = "origin") -> Path:
    """A repository in a folder that was cloned from somewhere."""
    (folder / ".git").mkdir(parents=True)
    config = f'[core]\n\tbare = false\n[remote "{remote}"]\n\turl = {url}\n\tfetch = +refs\n'
    (folder / ".git" / "config").write_text(config, encoding="utf-8")
    return folder


def marked(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".madeleine.toml").write_text(text, encoding="utf-8")
    return folder


def inside(folder: Path, *names: str) -> Path:
    made = folder.joinpath(*names)
    made.mkdir(parents=True)
    return made


def worktree(folder: Path) -> Path:
    main = cloned(folder / "somewhere", "git@example.org:team/atlas.git")
    tree = inside(folder, "side")
    (tree / ".git").write_text(f"gitdir: {main}/.git/worktrees/side\n", encoding="utf-8")
    return tree


def fork(folder: Path) -> Path:
    made = cloned(folder / "mine", "https://ada:secret@example.org/ada/atlas-ada.git")
    with (made / ".git" / "config").open("a", encoding="utf-8") as file:
        file.write('[remote "upstream"]\n\turl = https://example.org/team/atlas\n')
    return made


FOLDERS: list[tuple[str, Any, str | None, str]] = [
    ("ssh", lambda at: cloned(at / "x", "git@example.org:team/atlas.git"), "atlas", "remote"),
    ("https", lambda at: cloned(at / "x", "https://example.org/t/atlas.git/"), "atlas", "remote"),
    ("local", lambda at: cloned(at / "x", "/srv/git/atlas.git"), "atlas", "remote"),
    ("below", lambda at: inside(cloned(at / "x", "a:b/atlas"), "src", "y"), "atlas", "remote"),
    ("worktree", worktree, "atlas", "remote"),
    ("fork", fork, "atlas", "remote"),
    ("no remote", lambda at: inside(at / "atlas", ".git").parent, "atlas", "repository"),
    ("copy", lambda at: inside(at / "atlas", "src"), "atlas", "known_name"),
    ("archive", lambda at: inside(at / "atlas-main"), "atlas", "known_name"),
    ("release", lambda at: inside(at / "Atlas-1.4.2", "lib"), "atlas", "known_name"),
    ("stranger", lambda at: inside(at / "letters"), None, "no_project"),
    (
        "marker above a clone",
        lambda at: cloned(marked(at / "all", 'space = "atlas"') / "x", "a:b/other"),
        "atlas",
        "marker",
    ),
    ("marker: global", lambda at: marked(at / "atlas", 'space = "global"'), None, "marker"),
    ("marker: broken", lambda at: marked(at / "atlas", "space = ["), "atlas", "known_name"),
]


@pytest.mark.parametrize(
    ("make", "space", "kind"), [each[1:] for each in FOLDERS], ids=[each[0] for each in FOLDERS]
)
def test_a_folder_belongs_to_the_space_that_the_surest_sign_says(
    cli: Cli, tmp_path: Path, make: Any, space: str | None, kind: str
) -> None:
    cli.remember("The tiles are cut at zoom nine", "--space", "atlas")
    folder = make(tmp_path / "work")

    found = cli.ok("space", "which", str(folder))

    assert (found["space"], found["because_parts"]["kind"]) == (space, kind)
    assert "secret" not in found["text"]


def test_what_is_known_by_a_folders_name_is_heard_in_its_clone(cli: Cli, tmp_path: Path) -> None:
    cli.remember("The tiles are cut at zoom nine", "--space", "maps")
    folder = cloned(tmp_path / "maps", "git@example.org:team/atlas.git")

    assert cli.ok("space", "which", str(folder))["space"] == "maps"


def test_the_doctor_names_memories_that_are_not_heard_in_the_folder(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.remember("The tiles are cut at zoom nine", "--space", "maps")
    cli.remember("The legend is drawn by hand", "--space", "atlas")
    monkeypatch.chdir(cloned(tmp_path / "maps", "git@example.org:team/atlas.git"))

    (said,) = [
        each for each in cli("--json", "doctor").answer["findings"] if each["check"] == "space"
    ]

    assert "memories of `maps` are not heard in" in said["message"]
    assert said["fix"] == "madeleine space merge maps atlas"


def test_an_alias_comes_before_what_git_says(cli: Cli, tmp_path: Path) -> None:
    folder = cloned(tmp_path / "x", "git@example.org:team/web-old.git")
    notes = inside(tmp_path, "notes", "deep")

    cli.ok("space", "alias", "web-old", "web")
    cli.ok("space", "alias", str(tmp_path / "notes"), "letters")

    assert cli.ok("space", "which", str(folder))["space"] == "web"
    assert cli.ok("space", "which", str(notes))["because_parts"]["kind"] == "alias"
    assert cli.ok("config", "get", "space.aliases")["value"].startswith("web-old = web, ")


def test_commands_and_prompts_in_a_folder_agree(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(cloned(tmp_path / "x", "git@example.org:team/atlas.git"))
    other = "The harbour tug is called Berta"
    cli.remember(other, "--space", "harbour")

    kept = cli.ok("remember", "The harbour tug is called Oda")
    said = cli.ok("whisper", "what is the harbour tug called?")

    assert kept["memory"]["space"] == "atlas"
    assert [each["memory"]["space"] for each in said["injected"]] == ["atlas"]


def test_a_space_is_renamed_and_the_old_name_comes_back_by_one_undo(cli: Cli) -> None:
    for text in ("The tiles are cut", "The legend is drawn"):
        cli.remember(text, "--space", "atlas")
    cli.remember("Tea at four", "--space", "global")
    before = [each.read_bytes() for each in cli.files]

    renamed = cli.ok("space", "rename", "atlas", "maps")
    listed = cli.ok("space", "list")["own"]
    cli.ok("undo", renamed["change"])

    assert (renamed["memories"], listed) == (2, {"maps": 2})
    assert [each.read_bytes() for each in cli.files] == before


def test_a_space_takes_another_name_only_if_nothing_is_there_or_to_merge(cli: Cli) -> None:
    cli.remember("The tiles are cut", "--space", "atlas")
    cli.remember("The legend is drawn", "--space", "maps")

    taken = cli("space", "rename", "atlas", "maps")
    missing = cli("space", "merge", "nowhere", "maps")
    merged = cli.ok("space", "merge", "atlas", "maps")

    assert (taken.code, missing.code) == (2, 3)
    assert "space merge atlas maps" in taken.err
    assert merged["memories"] == 1
    assert cli.ok("space", "list")["own"] == {"maps": 2}


def test_what_holds_on_branches_moves_with_its_project(cli: Cli) -> None:
    cli.remember("The tiles are cut", "--space", "atlas")
    cli.remember("The cache is off", "--space", "atlas#tiles")

    renamed = cli.ok("space", "rename", "atlas", "maps")
    listed = cli.ok("space", "list")["own"]
    cli.ok("undo", renamed["change"])

    assert listed == {"maps": 1, "maps#tiles": 1}
    assert cli.ok("space", "list")["own"] == {"atlas": 1, "atlas#tiles": 1}


def test_space_alone_says_which_and_why_and_lists_the_others(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.remember("The legend is drawn", "--space", "maps")
    monkeypatch.chdir(cloned(tmp_path / "x", "git@example.org:team/atlas.git"))

    said = cli("space").out.splitlines()

    assert said == [
        "atlas: its repository was cloned from git@example.org:team/atlas.git",
        "  maps: 1 memory",
    ]
