"""Which space a folder belongs to, without asking git."""

from __future__ import annotations

from pathlib import Path

import pytest

from madeleine.write.projects import space_of


@pytest.fixture
def atlas(tmp_path: Path) -> Path:
    root = tmp_path / "atlas"
    (root / ".git").mkdir(parents=True)
    (root / "src" / "deep").mkdir(parents=True)
    return root


def test_a_folder_belongs_to_the_repository_around_it(atlas: Path) -> None:
    assert space_of(str(atlas)) == "atlas"
    assert space_of(str(atlas / "src" / "deep")) == "atlas"


def test_a_folder_that_is_gone_still_belongs_somewhere(atlas: Path) -> None:
    assert space_of(str(atlas / "src" / "gone" / "away")) == "atlas"


def test_a_worktree_belongs_to_the_repository_it_was_made_from(atlas: Path) -> None:
    tree = atlas.parent / "atlas-fix-login"
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {atlas}/.git/worktrees/fix\n", encoding="utf-8")

    assert space_of(str(tree)) == "atlas"


def test_a_worktree_of_a_bare_repository_has_its_name(tmp_path: Path) -> None:
    tree = tmp_path / "main"
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {tmp_path}/chart.git/worktrees/main", encoding="utf-8")

    assert space_of(str(tree)) == "chart"


def test_a_submodule_is_a_project_of_its_own(atlas: Path) -> None:
    inner = atlas / "vendor" / "tides"
    inner.mkdir(parents=True)
    (inner / ".git").write_text("gitdir: ../../.git/modules/tides", encoding="utf-8")

    assert space_of(str(inner)) == "tides"


def test_outside_of_any_repository_there_is_no_space(tmp_path: Path) -> None:
    assert space_of(str(tmp_path)) is None


def test_a_home_folder_under_git_is_no_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "notes").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))

    assert space_of(str(tmp_path / "notes")) is None


@pytest.mark.parametrize("folder", [None, "", "relative", "/\0", "/\ud800", "/" + "x" * 5000])
def test_what_is_no_folder_has_no_space(folder: str | None) -> None:
    assert space_of(folder) is None
