"""How an install finds the model. hatchling itself is there only while something is built."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

HATCH_BUILD = Path(__file__).parents[2] / "hatch_build.py"


@pytest.fixture
def model_requirement(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path, bool], str]:
    interface = ModuleType("hatchling.metadata.plugin.interface")
    interface.MetadataHookInterface = object  # type: ignore[attr-defined]  # a stand-in
    monkeypatch.setitem(sys.modules, interface.__name__, interface)
    found: Callable[[Path, bool], str] = runpy.run_path(str(HATCH_BUILD))["model_requirement"]
    return found


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    package = tmp_path / "my clone" / "packages" / "minilm"
    package.mkdir(parents=True)
    (package / "pyproject.toml").touch()
    return tmp_path / "my clone"


def test_a_clone_takes_the_model_from_its_own_folder(
    clone: Path, model_requirement: Callable[[Path, bool], str]
) -> None:
    wanted = model_requirement(clone, False)

    assert wanted.startswith("madeleine-minilm @ file:///")
    assert wanted.endswith("/my%20clone/packages/minilm")


def test_a_release_names_the_model_by_version(
    clone: Path, model_requirement: Callable[[Path, bool], str]
) -> None:
    assert model_requirement(clone, True) == "madeleine-minilm>=1.1,<2"


def test_a_tree_without_packages_names_the_model_by_version(
    tmp_path: Path, model_requirement: Callable[[Path, bool], str]
) -> None:
    assert model_requirement(tmp_path, False) == "madeleine-minilm>=1.1,<2"


def test_pip_builds_the_model_anew_after_a_pull(
    model_requirement: Callable[[Path, bool], str], clone: Path
) -> None:
    folder = model_requirement(clone, False).rsplit("/", 1)[-1]

    assert "-" not in folder, "pip would keep the first wheel it made of this folder for ever"
