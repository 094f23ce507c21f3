"""A model of other languages is chosen by itself, beside the English one that taught it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from madeleine.bootstrap import make_minds
from madeleine.minds.local import load_built_in, why_not_built_in
from madeleine.minds.multilingual import MultilingualEmbedder
from madeleine.minds.port import Minds
from madeleine.settings import read_settings

from .onnx_bytes import write_model

PACKAGE = "madeleine_multilingual"
GERMAN = "der Schlüssel für den Keller liegt auf dem Regal"
ENGLISH = "the key of the cellar is on the shelf"

InstallPackage = Callable[[str], None]


@pytest.fixture
def english() -> str:
    found = load_built_in(1)
    if found is None:
        pytest.skip(why_not_built_in())
    return found.name


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InstallPackage:
    """Put a package with a tiny model on the path, taught by the named English model."""

    def put(taught_by: str) -> None:
        folder = tmp_path / "site" / PACKAGE
        table = np.zeros((2, 384), np.float32)
        table[0, 0] = table[1, 1] = 1
        write_model(folder / "weights", table, ["?", "der"])
        (folder / "__init__.py").write_text(
            "from pathlib import Path\n"
            f"MODEL, ENGLISH_MODEL, DIMENSION = 'tiny', {taught_by!r}, 384\n"
            "def folder(): return Path(__file__).parent / 'weights'\n",
            encoding="utf-8",
        )
        monkeypatch.syspath_prepend(str(tmp_path / "site"))
        monkeypatch.delitem(sys.modules, PACKAGE, raising=False)

    return put


def minds(home: Path, kind: str = "local") -> Minds:
    made, _ = make_minds(home, read_settings({"embedder": {"kind": kind}}, {}), {})
    return made


def test_the_package_reads_what_is_not_english_as_soon_as_it_is_there(
    tmp_path: Path, english: str, install: InstallPackage
) -> None:
    install(english)

    made = minds(tmp_path).embedder

    assert isinstance(made, MultilingualEmbedder)
    assert (made.english_name, made.others_name) == (english, "tiny")
    assert np.abs(made.ask(GERMAN).vector).max() > 0.9, "a vector of the tiny model"
    assert np.abs(made.ask(ENGLISH).vector).max() < 0.5
    made.close()


def test_beside_another_english_model_it_is_left_out_and_that_is_said(
    tmp_path: Path, english: str, install: InstallPackage
) -> None:
    install("another-model")

    made = minds(tmp_path)

    assert made.embedder is not None
    assert made.embedder.name == english
    assert "was taught the vectors of another-model" in made.why_only_english
    made.embedder.close()


def test_who_wants_the_english_model_alone_has_it_and_is_told_nothing(
    tmp_path: Path, english: str, install: InstallPackage
) -> None:
    install(english)

    made = minds(tmp_path, "english")

    assert made.embedder is not None
    assert (made.embedder.name, made.why_only_english) == (english, "")
    made.embedder.close()
