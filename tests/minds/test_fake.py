"""The embedder for tests has to be dull, and the same everywhere."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.minds.fake import FakeEmbedder


@given(text=st.text())
def test_any_text_has_a_vector_of_length_one(text: str) -> None:
    (vector,) = FakeEmbedder(dimension=16).embed([text])

    assert vector.dtype == np.float32
    assert float(np.linalg.norm(vector)) == pytest.approx(1.0, abs=1e-5)


def test_texts_that_share_words_are_near_and_others_are_not() -> None:
    text, alike, other = FakeEmbedder().embed(
        [
            "The index lives in SQLite because one file is easy to move",
            "The index lives in SQLite, because one file is easy to copy",
            "Grandmother's birthday falls into the second week of March",
        ]
    )

    assert float(text @ alike) > 0.8
    assert float(text @ other) < 0.4


def test_another_process_gives_the_same_bytes() -> None:
    program = (
        "import sys; from madeleine.minds.fake import FakeEmbedder\n"
        "sys.stdout.write(FakeEmbedder().embed(['Grüße, 世界'])[0].tobytes().hex())"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8")

    assert done.stdout == FakeEmbedder().embed(["Grüße, 世界"])[0].tobytes().hex()
