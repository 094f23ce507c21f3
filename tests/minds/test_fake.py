"""The embedder for tests has to be dull, and the same everywhere."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.minds.fake import FakeEmbedder

from .reading import passage, vectors


@given(text=st.text())
def test_any_text_has_a_vector_of_length_one(text: str) -> None:
    (vector,) = vectors(FakeEmbedder(dimension=16), [text])

    assert vector.dtype == np.float32
    assert float(np.linalg.norm(vector)) == pytest.approx(1.0, abs=1e-5)


def test_texts_that_share_words_are_near_and_others_are_not() -> None:
    text, alike, other = vectors(
        FakeEmbedder(),
        [
            "The index lives in SQLite because one file is easy to move",
            "The index lives in SQLite, because one file is easy to copy",
            "Grandmother's birthday falls into the second week of March",
        ],
    )

    assert float(text @ alike) > 0.8
    assert float(text @ other) < 0.4


def test_each_word_is_a_token_and_the_same_word_the_same_one() -> None:
    (trace,) = FakeEmbedder().read([passage("The cat; the CAT")])
    the, cat, again, cat_again = trace.tokens

    assert trace.tokens.dtype == np.int8
    assert trace.tokens.shape == (4, FakeEmbedder.token_dimension)
    assert (the.tobytes(), cat.tobytes()) == (again.tobytes(), cat_again.tobytes())
    assert the.tobytes() != cat.tobytes()
    assert np.linalg.norm(trace.tokens.astype(float), axis=1) == pytest.approx([127] * 4, abs=2)


def test_a_question_says_what_each_of_its_words_adds() -> None:
    embedder = FakeEmbedder()
    asked = embedder.ask("Größe, cat!")
    (trace,) = embedder.read([passage("Größe, cat!")])
    total = asked.tokens.sum(axis=0)

    assert asked.spans == ((0, 5), (7, 10))
    assert np.allclose(total / np.linalg.norm(total), asked.vector, atol=1e-6)
    assert asked.vector.tobytes() == trace.vector.tobytes()
    assert np.array_equal(asked.small, trace.tokens.astype(np.float32) / np.float32(127))


def test_what_is_unspoken_colours_the_whole_and_is_no_token() -> None:
    embedder = FakeEmbedder()
    (spoken,) = embedder.read([passage("8 May: hello")])
    (half,) = embedder.read([passage("8 May: hello", unspoken=7)])
    (silent,) = embedder.read([passage("8 May", unspoken=5)])

    assert (len(spoken.tokens), len(half.tokens), len(silent.tokens)) == (3, 1, 2)
    assert half.vector.tobytes() == spoken.vector.tobytes()


def test_another_process_gives_the_same_bytes() -> None:
    program = (
        "import sys; from madeleine.minds.fake import FakeEmbedder\n"
        "from madeleine.model.embedding import Passage\n"
        "(made,) = FakeEmbedder().read([Passage('Grüße, 世界', 0, 9)])\n"
        "sys.stdout.write(made.vector.tobytes().hex() + made.tokens.tobytes().hex())"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8")

    (made,) = FakeEmbedder().read([passage("Grüße, 世界")])
    assert done.stdout == made.vector.tobytes().hex() + made.tokens.tobytes().hex()
