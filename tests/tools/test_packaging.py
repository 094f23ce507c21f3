"""What our archives require. They are handed on, so no path of this machine may stand in them."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tools.release import ROOT, check_archives, read_metadata

MODEL = Requirement("madeleine-minilm<2,>=1.2")
RELATIONS = Requirement("madeleine-relations<2,>=1.1")


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plain `python -m build`: an sdist, and a wheel of the unpacked sdist.

    It takes the tools that are installed, so that no network is needed.
    """
    folder = tmp_path_factory.mktemp("dist")
    surroundings = {name: os.environ[name] for name in os.environ if name != "PIP_BUILD_TRACKER"}
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, env=surroundings, check=True, capture_output=True)
    return folder


def requirements(archive: Path) -> list[Requirement]:
    return [Requirement(told) for told in read_metadata(archive).get_all("Requires-Dist", [])]


@pytest.mark.soak
@pytest.mark.parametrize("ending", [".whl", ".tar.gz"])
def test_a_plain_build_names_no_path(ending: str, dist: Path) -> None:
    (archive,) = dist.glob(f"*{ending}")

    told = requirements(archive)

    assert [str(needed) for needed in told if needed.url is not None] == []
    assert MODEL in told
    assert RELATIONS in told


def test_pip_takes_the_packages_of_a_clone_from_the_clone(tmp_path: Path) -> None:
    pip = dict(os.environ) | {"PIP_BUILD_TRACKER": str(tmp_path / "tracker")}
    script = "from hatchling.build import build_wheel; import sys; build_wheel(sys.argv[1])"
    command = [sys.executable, "-c", script, str(tmp_path)]
    subprocess.run(command, cwd=ROOT, env=pip, check=True, capture_output=True)

    told = requirements(next(tmp_path.glob("*.whl")))

    model = next(needed for needed in told if needed.name == MODEL.name)
    assert model.url == (ROOT / "packages" / "minilm").as_uri()
    assert len(told) > 10
    ours = {needed.name for needed in told if needed.url is not None}
    assert ours == {MODEL.name, RELATIONS.name, "madeleine-falkordb", "madeleine-multilingual"}


def test_pip_builds_a_package_anew_after_a_pull() -> None:
    folders = [project.parent.name for project in ROOT.glob("packages/*/pyproject.toml")]

    assert folders
    assert all("-" not in folder for folder in folders), "pip would keep its first wheel for ever"


def test_a_wheel_has_the_whole_program(dist: Path) -> None:
    (archive,) = dist.glob("*.whl")

    with zipfile.ZipFile(archive) as wheel:
        names = set(wheel.namelist())

    sources = {
        path.relative_to(ROOT / "src").as_posix() for path in ROOT.glob("src/madeleine/**/*.py")
    }
    assert sources <= names
    assert {"madeleine/recall/weights.json", "madeleine/recall/answer_reader.npz"} <= names
    assert any(name.startswith("madeleine/server/page/") for name in names)


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_all_packages_build_from_nothing_and_fit_each_other(tmp_path: Path) -> None:
    """As a release does it: each in an environment of its own, with what the registry has."""
    for project in [ROOT, *(found.parent for found in ROOT.glob("packages/*/pyproject.toml"))]:
        command = [sys.executable, "-m", "build", "--outdir", str(tmp_path), str(project)]
        subprocess.run(command, check=True, capture_output=True)

    wheels = {read_metadata(path)["Name"]: path for path in tmp_path.glob("*.whl")}

    check_archives(tmp_path, read_metadata(wheels["madeleine-memory"])["Version"])
    assert {MODEL.name, RELATIONS.name} <= wheels.keys()
