"""What holds on a branch: told there, the project's once merged, faded once deleted. Real git."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from madeleine import Madeleine
from tests.cli.running import Cli

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git here")
OFF = "On this branch the tile cache is off"
ASKED = "is the tile cache off or on?"


class Repository:
    """A clone with a trunk, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.git("init", "-q", "-b", "main")
        self.commit("readme")

    def git(self, *words: str, at: Path | None = None) -> None:
        named = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org"}
        named |= {"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org"}
        environment = {**os.environ, **named, "GIT_CONFIG_GLOBAL": "/dev/null"}
        command = ["git", "-C", str(at or self.folder), *words]
        subprocess.run(command, check=True, capture_output=True, env=environment, timeout=20)

    def commit(self, name: str, at: Path | None = None) -> None:
        ((at or self.folder) / name).write_text(f"{name}\n", encoding="utf-8")
        self.git("add", ".", at=at)
        self.git("commit", "-q", "-m", name, at=at)


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    monkeypatch.delenv("MADELEINE_HOME", raising=False)
    return Cli(tmp_path / "home")


@pytest.fixture
def atlas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    made = Repository(tmp_path / "atlas")
    made.git("switch", "-q", "-c", "feature/tiles")
    made.commit("tiles")
    monkeypatch.chdir(made.folder)
    return made


def told(cli: Cli, prompt: str = ASKED) -> list[str]:
    return [each["memory"]["content"] for each in cli.ok("whisper", prompt)["injected"]]


def space_of(cli: Cli, memory: str) -> str | None:
    space: str | None = cli.ok("show", memory)["memory"]["space"]
    return space


def test_it_is_told_on_the_branch_in_all_its_worktrees_and_nowhere_else(
    cli: Cli, atlas: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = cli.remember(OFF)
    cli.remember("Tiles are cut at zoom nine", "--branch")
    general = cli.remember("Marta owns the tile server")

    assert [space_of(cli, each) for each in (kept, general)] == ["atlas#feature/tiles", "atlas"]
    assert told(cli) == [OFF]
    assert OFF not in cli("brief").out  # a fact is no rule; but what was decided on it is
    assert told(cli, "who owns the tile server?") == ["Marta owns the tile server"]

    atlas.git("switch", "-q", "main")
    assert told(cli) == []
    assert told(cli, "who owns the tile server?") == ["Marta owns the tile server"]
    atlas.git("worktree", "add", "-q", str(tmp_path / "side"), "feature/tiles")
    monkeypatch.chdir(tmp_path / "side")
    assert cli.ok("space", "which")["asked"] == "atlas#feature/tiles"
    assert told(cli) == [OFF]


def test_a_decision_on_the_branch_is_in_its_brief_only(cli: Cli, atlas: Repository) -> None:
    rule = "In this branch we decided for WebP tiles"
    cli.remember(rule, "--type", "decision")

    there = cli("brief").out
    atlas.git("switch", "-q", "main")

    assert rule in there
    assert rule not in cli("brief").out


def test_a_deed_hears_what_holds_on_its_branch(cli: Cli, atlas: Repository) -> None:
    rule = "legacy/ is not touched in this branch"
    cli.remember(rule, "--type", "decision")

    there = cli.ok("whisper", "--action", "Edit legacy/pay.py")
    atlas.git("switch", "-q", "main")
    elsewhere = cli.ok("whisper", "--action", "Edit legacy/pay.py")

    assert [each["memory"]["content"] for each in there["injected"]] == [rule]
    assert elsewhere["injected"] == []


def by_merge(made: Repository) -> None:
    made.git("merge", "-q", "--no-ff", "-m", "merged", "feature/tiles")


def by_merge_and_deletion(made: Repository) -> None:
    by_merge(made)
    made.git("branch", "-d", "feature/tiles")


def by_squash(made: Repository) -> None:
    made.git("merge", "-q", "--squash", "feature/tiles")
    made.git("commit", "-q", "-m", "all of it at once")
    made.commit("later")
    made.git("branch", "-D", "feature/tiles")


@pytest.mark.parametrize("merge", [by_merge, by_merge_and_deletion, by_squash])
def test_once_merged_it_is_the_projects_and_undo_takes_that_back(
    cli: Cli, atlas: Repository, merge: Callable[[Repository], None]
) -> None:
    kept = cli.remember(OFF)
    told(cli)  # the repository is looked at, and the branch is seen in it

    atlas.git("switch", "-q", "main")
    merge(atlas)
    told(cli)

    assert space_of(cli, kept) == "atlas"
    assert told(cli) == [OFF]
    (done,) = [each for each in cli.ok("history", kept)["events"] if _is_merge(each)]
    cli.ok("undo", str(done["body"].get("change") or done["id"]))
    assert space_of(cli, kept) == "atlas#feature/tiles"


def _is_merge(event: Any) -> bool:
    return "became atlas" in str(event)


def test_once_deleted_it_fades_and_asking_still_finds_it(cli: Cli, atlas: Repository) -> None:
    kept = cli.remember(OFF)
    told(cli)

    atlas.git("switch", "-q", "main")
    atlas.git("branch", "-D", "feature/tiles")
    told(cli)

    assert cli.ok("show", kept)["memory"]["tier"] == "archival"
    assert told(cli) == []
    found = cli.ok("recall", "tile cache off")["results"]
    assert [each["memory"]["content"] for each in found] == [OFF]


def test_a_branch_that_holds_nothing_yet_is_not_merged(cli: Cli, atlas: Repository) -> None:
    atlas.git("switch", "-q", "main")
    atlas.git("switch", "-q", "-c", "feature/fresh")
    kept = cli.remember(OFF)
    told(cli)
    atlas.git("switch", "-q", "main")
    atlas.commit("goes on")

    told(cli)

    assert space_of(cli, kept) == "atlas#feature/fresh"


def test_what_was_committed_since_it_was_looked_at_last_counts_as_merged_too(
    cli: Cli, atlas: Repository
) -> None:
    atlas.git("switch", "-q", "main")
    atlas.git("switch", "-q", "-c", "feature/quick")
    kept = cli.remember(OFF)
    told(cli)
    atlas.commit("quick")
    atlas.git("switch", "-q", "main")
    atlas.git("merge", "-q", "--ff-only", "feature/quick")
    atlas.git("branch", "-d", "feature/quick")

    told(cli)

    assert space_of(cli, kept) == "atlas"


def test_a_clone_that_never_had_the_branch_does_not_end_it(
    cli: Cli, atlas: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = cli.remember(OFF)
    told(cli)
    other = Repository(tmp_path / "elsewhere" / "atlas")

    monkeypatch.chdir(other.folder)
    told(cli)

    shown = cli.ok("show", kept)["memory"]
    assert (shown["space"], shown["tier"]) == ("atlas#feature/tiles", "working")


def test_on_a_trunk_or_outside_of_any_repository_there_is_no_branch(
    cli: Cli, atlas: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    atlas.git("switch", "-q", "main")
    on_trunk = cli("remember", "It is off here", "--branch")
    monkeypatch.chdir(tmp_path)
    outside = cli("remember", "It is off here", "--branch")

    assert (on_trunk.code, outside.code) == (2, 2)
    assert "git switch" in on_trunk.err
    assert cli.ok("list")["memories"] == []


def test_a_repository_is_looked_at_by_files_alone_on_the_way_to_a_whisper(
    tmp_path: Path, atlas: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`git` runs behind the answer, and only where a branch has memories."""
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("git was run")

    with Madeleine.open(tmp_path / "home", in_process=True) as memory:
        memory.remember("Marta owns the tile server", space="atlas")
        monkeypatch.setattr("madeleine.write.branches.subprocess.run", refuse)

        said = memory.whisper("who owns the tile server?", cwd=str(atlas.folder))

    assert [each.memory.space for each in said.injected] == ["atlas"]
