"""Which models a home has, by its settings, and what is said about those it has not."""

from __future__ import annotations

from pathlib import Path

import madeleine_relations
import numpy as np
import pytest

from madeleine.bootstrap import make_minds
from madeleine.minds.port import Minds
from madeleine.settings import Settings, read_settings

from .onnx_bytes import write_cross_encoder, write_model

DEFAULT = "Xenova/ms-marco-MiniLM-L-6-v2"
WORDS = ["?", "cat"]
WORTH = np.array([0, 1], np.float32)


def settings(**sections: dict[str, object]) -> Settings:
    return read_settings({"embedder": {"kind": "none"}, **sections}, {})


def minds(home: Path, wanted: Settings) -> Minds:
    made, _ = make_minds(home, wanted, {})
    if made.embedder is not None:
        made.embedder.close()
    return made


def test_without_its_weights_there_is_no_cross_encoder_and_it_is_said(tmp_path: Path) -> None:
    made = minds(tmp_path, settings())

    assert made.reranker is None
    assert made.why_no_reranker.startswith("no cross-encoder: reranker.folder is not set")
    assert DEFAULT in made.why_no_reranker


def test_a_cross_encoder_in_the_home_is_found_by_its_name(tmp_path: Path) -> None:
    write_cross_encoder(tmp_path / "models" / DEFAULT, WORTH, WORDS)

    made = minds(tmp_path, settings())

    assert made.reranker is not None
    assert (made.reranker.name, made.why_no_reranker) == (DEFAULT, "")
    assert made.reranker.score("cat", ["cat cat"]) == [2]


def test_a_folder_that_is_set_wins(tmp_path: Path) -> None:
    write_cross_encoder(tmp_path / "models" / DEFAULT, WORTH, WORDS)
    mine = write_cross_encoder(tmp_path / "mine", WORTH * 10, WORDS)

    made = minds(tmp_path, settings(reranker={"folder": str(mine), "model": "mine"}))

    assert made.reranker is not None
    assert made.reranker.name == "mine"
    assert made.reranker.score("cat", ["cat"]) == [10]


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json"])
def test_a_folder_that_lacks_a_file_is_said_and_stops_nobody(tmp_path: Path, file: str) -> None:
    folder = write_cross_encoder(tmp_path / "mine", WORTH, WORDS)
    (folder / file).unlink()

    made = minds(tmp_path, settings(reranker={"folder": str(folder)}))

    assert made.reranker is None
    assert made.why_no_reranker == f"no cross-encoder: {DEFAULT}: there is no {folder / file}"


@pytest.mark.parametrize("kind", ["none", "fake"])
def test_a_cross_encoder_needs_no_embedder(tmp_path: Path, kind: str) -> None:
    write_cross_encoder(tmp_path / "models" / DEFAULT, WORTH, WORDS)

    made = minds(tmp_path, settings(embedder={"kind": kind}))

    assert made.reranker is not None
    assert (made.embedder is None) == (kind == "none")
    assert made.why_not == ("embedder.kind is none" if kind == "none" else "")


def test_a_model_whose_projection_does_not_load_leaves_text_search(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "compass", np.eye(2, dtype=np.float32), WORDS)
    (folder / "projection.npy").write_bytes(b"not numbers")

    made, notes = make_minds(
        tmp_path, settings(embedder={"kind": "local", "folder": str(folder)}), {}
    )

    assert made.embedder is None
    assert "projection.npy cannot be loaded" in made.why_not
    assert notes == [f"text search only: {made.why_not}"]


def test_pairs_are_read_by_the_model_that_comes_with_the_install(tmp_path: Path) -> None:
    made = minds(tmp_path, read_settings({}, {}))

    assert made.relations is not None
    assert (made.relations.name, made.why_no_relations) == (madeleine_relations.MODEL, "")


@pytest.mark.parametrize("table", [{"judge": {"relations": "none"}}, {"judge": {"kind": "agent"}}])
def test_who_wants_no_reader_of_pairs_has_none_and_no_complaint(
    table: dict[str, dict[str, object]], tmp_path: Path
) -> None:
    made = minds(tmp_path, read_settings(table, {}))

    assert made.relations is None
    assert made.why_no_relations == ""


def test_a_reader_of_pairs_that_is_missing_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(madeleine_relations, "folder", lambda: tmp_path / "nowhere")

    made = minds(tmp_path, read_settings({}, {}))

    assert made.embedder is not None
    assert made.relations is None
    assert made.why_no_relations == "madeleine_relations is installed without its weights"
