"""An index in PostgreSQL follows one truth: a home that keeps another is refused, and nothing of
the index is lost by its try."""

from __future__ import annotations

import importlib
import shutil
from pathlib import Path
from typing import Any

import pytest

from madeleine import Madeleine
from madeleine.bootstrap import moving, open_home
from madeleine.bootstrap.moving import move_home
from madeleine.cli.main import main
from madeleine.errors import IndexOfAnother, IndexOfFiles, TruthInDatabase
from tests import postgres


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A database of its own: homes there are told apart by their settings alone."""
    return postgres.database(tmp_path.name)


def made_home(folder: Path, url: str, *more: str) -> Path:
    folder.mkdir()
    lines = ["[embedder]", 'kind = "fake"', "[store]", f'url = "{url}"', *more]
    (folder / "config.toml").write_text("\n".join(lines), encoding="utf-8")
    return folder


def kept(home: Path) -> list[str]:
    with Madeleine.open(home) as opened:
        return sorted(each.content for each in opened.list())


def remember(home: Path, text: str) -> None:
    with Madeleine.open(home) as opened:
        opened.remember(text)


@pytest.mark.parametrize("fresh", [False, True])
def test_a_home_with_files_is_kept_from_the_index_of_a_memory_in_the_database(
    tmp_path: Path, url: str, fresh: bool
) -> None:
    server = made_home(tmp_path / "server", url, 'truth = "database"')
    remember(server, "Anna keeps a pangolin")
    other = made_home(tmp_path / "other", url)

    with pytest.raises(TruthInDatabase, match="tenant home") as caught:
        open_home(other, fresh_index=fresh)

    assert 'truth = "database"' in caught.value.hint
    assert "store.tenant" in caught.value.hint
    assert kept(server) == ["Anna keeps a pangolin"]


def test_a_home_is_kept_from_the_index_of_another_unless_it_is_made_anew(
    tmp_path: Path, url: str
) -> None:
    first, second = made_home(tmp_path / "first", url), made_home(tmp_path / "second", url)
    remember(first, "Anna keeps a pangolin")

    for _ in range(2):
        with pytest.raises(IndexOfAnother, match="tenant home") as caught:
            remember(second, "Bruno keeps a kudu")
    assert "madeleine rebuild" in caught.value.hint
    assert kept(first) == ["Anna keeps a pangolin"]

    assert main(["--home", str(second), "rebuild"]) == 0
    remember(second, "Bruno keeps a kudu")
    assert kept(second) == ["Bruno keeps a kudu"]
    with pytest.raises(IndexOfAnother):
        kept(first)


def test_whoever_is_refused_has_dropped_nobodys_traces(tmp_path: Path, url: str) -> None:
    remember(made_home(tmp_path / "first", url), "Anna keeps a pangolin")
    before = claimed_models(url)
    engine: Any = importlib.import_module("madeleine.index.postgres").PostgresIndex

    def refuse(rows: object, index: object) -> None:
        raise IndexOfAnother("there")

    with pytest.raises(IndexOfAnother):
        engine.open(url, "another model", 8, tenant="home", admit=refuse)

    assert before
    assert claimed_models(url) == before


def claimed_models(url: str) -> list[Any]:
    library: Any = importlib.import_module("psycopg")
    with library.connect(url) as connection:
        found: list[Any] = connection.execute("SELECT model FROM madeleine.tenants").fetchall()
    return found


def test_a_home_that_was_copied_or_lost_its_last_lines_keeps_its_index(
    tmp_path: Path, url: str
) -> None:
    first = made_home(tmp_path / "first", url)
    remember(first, "Anna keeps a pangolin")
    shutil.copytree(first, tmp_path / "copied", ignore=shutil.ignore_patterns("*.sock"))
    remember(first, "Anna keeps a kudu")

    assert kept(tmp_path / "copied") == ["Anna keeps a pangolin"]


def test_a_memory_in_the_database_is_not_answered_from_the_index_of_files(
    tmp_path: Path, url: str
) -> None:
    files = made_home(tmp_path / "files", url)
    remember(files, "Anna keeps a pangolin")
    server = made_home(tmp_path / "server", url, 'truth = "database"')

    with pytest.raises(IndexOfFiles, match="tenant home"):
        kept(server)

    assert kept(files) == ["Anna keeps a pangolin"]


def test_a_home_with_its_index_in_a_database_moves_there_also_in_a_second_try(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = made_home(tmp_path / "home", url)
    remember(home, "Anna keeps a pangolin")
    with monkeypatch.context() as interrupted:
        interrupted.setattr(moving, "_await_rebuild_lease", stopped)
        with pytest.raises(KeyboardInterrupt):
            move_home(home, url)

    assert kept(home) == ["Anna keeps a pangolin"]
    assert move_home(home, url).in_index == 1
    assert kept(home) == ["Anna keeps a pangolin"]


def stopped(*arguments: object) -> None:
    raise KeyboardInterrupt
