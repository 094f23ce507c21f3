"""An engine that somebody else packaged is found by its entry point, and used like ours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from madeleine import Madeleine
from madeleine.errors import BadSetting
from madeleine.index.engines import ENTRY_POINT_GROUP, find_engine

ENGINE = """
from pathlib import Path
from madeleine.index.sqlite import SqliteIndex

class Shelf:
    def open_index(self, opening):
        path = Path(opening.url.removeprefix("shelf://")) / f"{opening.tenant}.db"
        return SqliteIndex.open(path, opening.model, opening.dimension, opening.token_dimension)

    def place_of(self, url):
        return "a shelf"

ENGINE = Shelf()
"""
USING = """
import sys
from pathlib import Path
from madeleine import Madeleine

with Madeleine.open(Path(sys.argv[1])) as memory:
    memory.remember("The kettle stands on the upper shelf", title="Kettle")
    print([hit.memory.title for hit in memory.recall("where is the kettle?")])
    print(memory.status()["index_place"])
"""

CONFTEST = """
import pytest
from madeleine.index.engines import IndexOpening, find_engine
from madeleine.testing.making import DIMENSION, TOKEN_DIMENSION

@pytest.fixture
def make_index():
    def make(folder, model="tiny", token_dimension=TOKEN_DIMENSION):
        url = f"shelf://{folder}"
        opening = IndexOpening(url, "", "home", model, DIMENSION, token_dimension)
        return find_engine(url).open_index(opening)
    return make

@pytest.fixture
def index(make_index, tmp_path):
    opened = make_index(tmp_path)
    yield opened
    opened.close()
"""
MODULES = ("insights", "map", "whispers")  # the small ones; which engine it is makes no difference


def package(folder: Path) -> None:
    """Lay a package down as pip would."""
    (folder / "shelf.py").write_text(ENGINE, encoding="utf-8")
    info = folder / "shelf-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shelf\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text(
        f"[{ENTRY_POINT_GROUP}]\nshelf = shelf:ENGINE\n", "utf-8"
    )


def settings(home: Path, graph: str) -> Path:
    home.mkdir()
    text = f'[store]\ngraph = "{graph}"\n[embedder]\nkind = "none"\n'
    (home / "config.toml").write_text(text, encoding="utf-8")
    return home


def test_an_engine_of_a_stranger_keeps_the_index(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "shelf").mkdir()
    package(tmp_path / "site")
    home = settings(tmp_path / "home", f"shelf://{tmp_path}/shelf")

    ran = subprocess.run(
        [sys.executable, "-c", USING, str(home)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path / "site"), *sys.path])},
        capture_output=True,
        encoding="utf-8",
        timeout=50,
        check=False,
    )

    assert ran.stdout.splitlines() == ["['Kettle']", "a shelf"], ran.stderr
    assert (tmp_path / "shelf" / "home.db").exists()
    assert not (home / "index.db").exists()


@pytest.mark.soak
def test_a_stranger_holds_an_engine_to_the_contract(tmp_path: Path) -> None:
    package(tmp_path)
    (tmp_path / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    for each in MODULES:
        text = f"from madeleine.testing.index_{each} import *\n"
        (tmp_path / f"test_{each}.py").write_text(text, encoding="utf-8")

    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
        capture_output=True,
        encoding="utf-8",
        timeout=50,
        check=False,
    )

    assert ran.returncode == 0, ran.stdout
    assert int(ran.stdout.splitlines()[-1].split()[0]) > 20


@pytest.mark.parametrize("address", ["shelf://u:wonderland@h:1/x", "neo4j://h:1/x", "http://here"])
def test_an_engine_that_is_not_installed_is_refused_and_nothing_secret_told(
    tmp_path: Path, address: str
) -> None:
    with pytest.raises(BadSetting, match=r"store\.graph.*not installed") as caught:
        Madeleine.open(settings(tmp_path / "home", address))

    told = caught.value.message + caught.value.hint
    assert "wonderland" not in told
    assert address.partition("://")[0] in told
    assert "madeleine-memory[falkordb]" in told


@pytest.mark.parametrize("scheme", ["falkordb", "falkordbs", "falkor", "falkors", "FALKORDB"])
def test_ours_is_found_by_each_of_its_names_and_shows_no_password(scheme: str) -> None:
    pytest.importorskip("madeleine_falkordb")
    url = f"{scheme}://u:wonderland@here:1/graph"

    assert find_engine(url).place_of(url) == "falkordb://here:1/graph"


@pytest.mark.parametrize("address", ["localhost:6379/memory", "u:wonderland@h:1/x", "memory"])
def test_what_is_no_address_is_told_how_one_is_written(address: str) -> None:
    with pytest.raises(BadSetting, match=r"falkordb://host:port/name") as caught:
        find_engine(address)

    assert "wonderland" not in caught.value.message + caught.value.hint


def test_an_engine_whose_client_is_missing_is_told_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "hollow-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: hollow\nVersion: 1\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(
        f"[{ENTRY_POINT_GROUP}]\nhollow = hollow_engine:ENGINE\n", encoding="utf-8"
    )
    (tmp_path / "hollow_engine.py").write_text("import no_such_client\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)

    with pytest.raises(BadSetting, match="not installed: no_such_client"):
        find_engine("hollow://here:1/x")
