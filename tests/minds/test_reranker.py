"""The cross-encoder, with a tiny one whose scores can be added up by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from madeleine.errors import MindDown
from madeleine.minds.port import Minds, Reranker
from madeleine.minds.reranker import MAX_TOKENS, LocalReranker

from .onnx_bytes import write_cross_encoder

WORDS = ["?", "cat", "dog"]
WORTH = np.array([-1, 2, 0.5], np.float32)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_cross_encoder(tmp_path / "tiny", WORTH, WORDS)


def test_it_fits_its_port(folder: Path) -> None:
    reranker: Reranker = LocalReranker.from_folder(folder, "tiny")

    assert reranker.name == "tiny"
    assert Minds(reranker=reranker).reranker is reranker


def test_each_text_is_scored_beside_the_question(folder: Path) -> None:
    """Only the words of the second text are worth something, so it must come second."""
    reranker = LocalReranker.from_folder(folder, "tiny")

    scores = reranker.score("cat cat cat", ["cat dog", "a dog", "", "cat cat"])

    assert scores == [2.5, -0.5, 0, 4]


def test_a_text_has_the_same_score_in_any_company(folder: Path) -> None:
    reranker = LocalReranker.from_folder(folder, "tiny")
    texts = ["cat", "dog " * 40, "nothing known"]

    assert reranker.score("dog", texts) == [reranker.score("dog", [text])[0] for text in texts]


@pytest.mark.parametrize("text", ["", "\0", "\ud800", "cat " * 250_000])
def test_any_text_has_a_score(folder: Path, text: str) -> None:
    (score,) = LocalReranker.from_folder(folder, "tiny").score(text, [text])

    assert np.isfinite(score)


def test_question_and_text_share_what_the_model_can_read(folder: Path) -> None:
    (score,) = LocalReranker.from_folder(folder, "tiny").score("dog", ["cat " * 5_000])

    assert score == 2 * (MAX_TOKENS - 1)


def test_no_texts_load_nothing() -> None:
    assert LocalReranker(Path("nowhere"), "absent").score("cat", []) == []


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json"])
def test_a_folder_without_a_file_is_refused(folder: Path, file: str) -> None:
    (folder / file).unlink()

    with pytest.raises(MindDown, match=f"tiny: there is no .*{file}"):
        LocalReranker.from_folder(folder, "tiny")


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json"])
def test_a_broken_file_is_named_when_it_is_needed(folder: Path, file: str) -> None:
    (folder / file).write_bytes(b"{ not a model")
    reranker = LocalReranker.from_folder(folder, "tiny")

    with pytest.raises(MindDown, match=f"{file} cannot be loaded"):
        reranker.score("cat", ["dog"])


def test_a_model_that_gives_more_than_a_score_is_refused(tmp_path: Path) -> None:
    folder = write_cross_encoder(tmp_path / "wordy", WORTH, WORDS, summed=False)

    with pytest.raises(MindDown, match="gives 3 numbers for a pair"):
        LocalReranker.from_folder(folder, "wordy").score("cat", ["dog dog"])


def test_a_score_that_is_no_number_is_never_returned(tmp_path: Path) -> None:
    folder = write_cross_encoder(tmp_path / "nan", WORTH * np.float32("nan"), WORDS)

    with pytest.raises(MindDown, match="no number"):
        LocalReranker.from_folder(folder, "nan").score("cat", ["dog"])
