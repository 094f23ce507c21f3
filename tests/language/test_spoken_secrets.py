"""Secrets told in plain words, in ten languages: `spoken_secrets/`.

Every other line was held apart while the rules were written.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from madeleine.language.secrets import redact_secrets

FOLDER = Path(__file__).parent / "spoken_secrets"
HALVES = pytest.mark.parametrize("half", [0, 1], ids=["seen", "held apart"])
LEAST_CAUGHT = 0.97
MOST_LOST = 0.01


def read_lines(name: str, half: int) -> list[str]:
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return [line.split("\t")[1] for line in lines][half::2]


def tells(sentence: str) -> tuple[str, str]:
    """Return a sentence as it is typed, and the secret in it."""
    marked = re.search("⟦(.*)⟧", sentence)
    assert marked is not None
    return sentence.replace("⟦", "").replace("⟧", ""), marked[1].split(" / ")[-1]


def test_there_are_as_many_sentences_as_are_promised() -> None:
    assert len(read_lines("secrets.txt", 0) + read_lines("secrets.txt", 1)) == 300
    assert len(read_lines("harmless.txt", 0) + read_lines("harmless.txt", 1)) == 600


@HALVES
def test_nearly_every_secret_told_in_plain_words_is_taken_out(half: int) -> None:
    told = [tells(each) for each in read_lines("secrets.txt", half)]

    passed = [text for text, secret in told if secret in redact_secrets(text).text]

    assert len(passed) <= (1 - LEAST_CAUGHT) * len(told), passed


@HALVES
def test_hardly_any_harmless_value_is_lost(half: int) -> None:
    told = read_lines("harmless.txt", half)

    lost = [text for text in told if redact_secrets(text).text != text]

    assert len(lost) <= MOST_LOST * len(told), lost


def test_sentences_written_after_the_rules_are_read_as_well() -> None:
    """They were written in three goes, none with a look at the rules, which were mended after each
    (`bench/RESULTS.md` has what was caught before)."""
    secrets = [*read_lines("fresh_secrets.txt", 0), *read_lines("fresh_secrets.txt", 1)]
    harmless = [*read_lines("fresh_harmless.txt", 0), *read_lines("fresh_harmless.txt", 1)]
    told = [tells(each) for each in secrets]

    passed = [text for text, secret in told if secret in redact_secrets(text).text]
    lost = [text for text in harmless if redact_secrets(text).text != text]

    assert (len(told), len(harmless)) == (181, 300)
    assert len(passed) <= (1 - LEAST_CAUGHT) * len(told), passed
    assert len(lost) <= MOST_LOST * len(harmless), lost


def test_the_sentence_around_a_secret_stays() -> None:
    text = "the alarm code is 4471, type it within thirty seconds"

    told = redact_secrets(text).text

    assert told == "the alarm code is [redacted password], type it within thirty seconds"
