"""Two models of one space: each text is read by the model of its language."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from madeleine.language.text_keys import passage_key
from madeleine.minds.cache import CachedEmbedder, EmbeddingCache
from madeleine.minds.local import LocalEmbedder
from madeleine.minds.multilingual import MultilingualEmbedder

from .onnx_bytes import write_model
from .reading import passage, vectors

ENGLISH_TABLE = np.array([[0, 0, 3], [1, 0, 0]], np.float32)
OTHERS_TABLE = np.array([[0, 0, 3], [0, 1, 0]], np.float32)
ENGLISH_NOTE = "the server is in the cellar and the key is on the shelf"
GERMAN_NOTE = "der Schlüssel für den Keller liegt auf dem Regal"
JAPANESE_NOTE = "鍵は棚の上にあります"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EmbeddingCache]:
    store = EmbeddingCache.open(tmp_path / "embeddings.db")
    yield store
    store.close()


@pytest.fixture
def english(tmp_path: Path) -> LocalEmbedder:
    folder = write_model(tmp_path / "english", ENGLISH_TABLE, ["?", "the"])
    return LocalEmbedder.from_folder(folder, threads=1)


@pytest.fixture
def others(tmp_path: Path) -> LocalEmbedder:
    folder = write_model(tmp_path / "others", OTHERS_TABLE, ["?", "der"])
    return LocalEmbedder.from_folder(folder, threads=1)


def both_of(
    store: EmbeddingCache, english: LocalEmbedder, others: LocalEmbedder
) -> MultilingualEmbedder:
    return MultilingualEmbedder(CachedEmbedder(english, store), CachedEmbedder(others, store))


def test_each_text_has_the_vector_of_its_languages_model(
    store: EmbeddingCache, english: LocalEmbedder, others: LocalEmbedder
) -> None:
    both = both_of(store, english, others)

    made = vectors(both, [GERMAN_NOTE, ENGLISH_NOTE, "", JAPANESE_NOTE, GERMAN_NOTE])

    of_english = vectors(english, [ENGLISH_NOTE, ""])
    of_others = vectors(others, [GERMAN_NOTE, JAPANESE_NOTE])
    expected = [of_others[0], of_english[0], of_english[1], of_others[1], of_others[0]]
    assert np.allclose(made, expected, atol=1e-3)
    assert not np.allclose(of_english[0], of_others[0], atol=0.1)


def test_a_question_is_read_like_a_note_of_its_language(
    store: EmbeddingCache, english: LocalEmbedder, others: LocalEmbedder
) -> None:
    both = both_of(store, english, others)

    for text in (GERMAN_NOTE, ENGLISH_NOTE):
        assert both.ask(text).vector.tobytes() == vectors(both, [text])[0].tobytes()


def test_what_is_english_is_not_read_again_when_another_model_comes(
    store: EmbeddingCache, english: LocalEmbedder, others: LocalEmbedder
) -> None:
    alone = CachedEmbedder(english, store)
    before = vectors(alone, [ENGLISH_NOTE, GERMAN_NOTE])
    (english.folder / "model.onnx").rename(english.folder / "away")
    unread = LocalEmbedder(english.folder, english.name, 1, dimension=3)

    after = vectors(both_of(store, unread, others), [ENGLISH_NOTE, GERMAN_NOTE])

    assert after[0].tobytes() == before[0].tobytes()
    assert after[1].tobytes() != before[1].tobytes()


def test_two_models_together_have_a_name_of_their_own(
    store: EmbeddingCache, english: LocalEmbedder, others: LocalEmbedder
) -> None:
    both = both_of(store, english, others)

    assert both.name not in (english.name, others.name)
    assert (both.english_name, both.others_name) == (english.name, others.name)


def test_what_is_forgotten_is_kept_for_no_model(
    store: EmbeddingCache, english: LocalEmbedder, others: LocalEmbedder
) -> None:
    both = both_of(store, english, others)
    vectors(both, [ENGLISH_NOTE, GERMAN_NOTE])
    assert sum(store.models().values()) == 2

    dropped = both.forget([passage_key(passage(each)) for each in (ENGLISH_NOTE, GERMAN_NOTE)])

    assert (dropped, store.models()) == (2, {})


def test_a_model_of_every_script_knows_single_letters_of_it(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "letters", OTHERS_TABLE, ["?", "会"])
    np.save(folder / "projection.npy", np.eye(3, dtype=np.float32))
    projection = folder / "projection.npy"

    some = LocalEmbedder(folder, "some", 1, 3, projection, 3)
    every = LocalEmbedder(folder, "every", 1, 3, projection, 3, reads_every_script=True)

    assert (some.ask("会").known, every.ask("会").known) == (0.0, 1.0)
