"""Which weights count for a pair of a question and a memory that are not both English."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from madeleine import Madeleine
from madeleine.recall.weights import HEADS, OTHER_HEADS, read_weights, shipped_weights

GERMAN = "Der Ersatzschlüssel für die Garage hängt hinter dem Sicherungskasten"
ENGLISH = "The spare key of the shed hangs behind the fuse box"


@pytest.fixture(scope="module", params=["fake", "none"])
def opened(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Madeleine]]:
    home = tmp_path_factory.mktemp("heads")
    kind = str(request.param)
    (home / "config.toml").write_text(f'[embedder]\nkind = "{kind}"\n', encoding="utf-8")
    with Madeleine.open(home, in_process=True) as made:
        made.remember(GERMAN)
        made.remember(ENGLISH)
        yield kind, made


def find_heads(made: Madeleine, question: str) -> dict[str, str | None]:
    hits = made.recall(question, all=True, explain=True)
    return {each.memory.content: each.explained.head for each in hits if each.explained}


def test_an_english_pair_keeps_its_head(opened: tuple[str, Madeleine]) -> None:
    kind, made = opened

    heads = find_heads(made, "where is the spare key behind the fuse box?")

    assert heads[ENGLISH] == {"fake": "kept", "none": "words"}[kind]
    assert heads.get(GERMAN) in (None, {"fake": "other_meaning", "none": "other_words"}[kind])


def test_a_question_in_another_language_has_heads_of_its_own(opened: tuple[str, Madeleine]) -> None:
    kind, made = opened

    heads = find_heads(made, "wo hängt der Ersatzschlüssel für die Garage?")

    assert heads[GERMAN] == {"fake": "other_meaning", "none": "other_words"}[kind]


def test_a_file_of_weights_that_knows_english_only_is_joined_by_the_shipped_ones() -> None:
    head = '{"weights": {"words": 1}, "calibration": {"slope": 1, "bias": 0, "evidence": {}}}'
    english = ", ".join(f'"{name}": {head}' for name in ("dialogue", "note", "meaning", "words"))

    read = read_weights(f'{{"heads": {{{english}}}}}')

    assert set(read) == set(HEADS)
    assert all(read[each] == shipped_weights()[each] for each in OTHER_HEADS)
