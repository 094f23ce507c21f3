"""Words of scripts without spaces, and time that grows with the text."""

from __future__ import annotations

import time

from madeleine.index.common.text import build_grams


def test_runs_without_spaces_become_pairs_and_their_neighbours_words() -> None:
    assert build_grams("Pythonの猫 abc") == "の猫 猫 Python"
    assert build_grams("plain words") == ""


def test_a_megabyte_without_spaces_takes_no_longer_than_it_should() -> None:
    began = time.perf_counter()

    build_grams("é" + "a" * 1_000_000)
    build_grams("猫" * 300_000)

    assert time.perf_counter() - began < 10
