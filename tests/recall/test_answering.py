"""The best candidate of a question is read once more: what only looks like an answer says less."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.model.query import RecallQuery
from madeleine.recall.answering import MOST, move_chances, shipped_reader
from madeleine.recall.recall import RecallMatch, recall
from madeleine.recall.scoring import MOVED
from madeleine.write.stores import Stores
from tests.fakes import keep

NOTES = (
    "Tamsin runs the pottery studio on Quay Street, ring her before you come",
    "The kiln reaches 1240 degrees and takes nine hours to cool",
    "Glaze orders go to Bath Potters, account 4471",
    "Wednesday evenings are for beginners, at most eight of them",
    "The studio's van is a white Transit, the key hangs behind the clay store",
)


@pytest.fixture
def studio(real: Stores) -> Stores:
    for note in NOTES:
        keep(real, note)
    return real


def best(stores: Stores, text: str, *, is_question: bool = True) -> RecallMatch:
    query = RecallQuery(text, explain=True, all=True, is_question=is_question)
    return recall(stores, query, touch=False).hits[0]


def moved(hit: RecallMatch) -> float:
    assert hit.explained is not None
    return hit.explained.evidence.get(MOVED, 0.0)


@pytest.mark.parametrize(
    ("answered", "not_answered"),
    [
        ("how hot does the kiln get?", "who repaired the kiln in spring?"),
        ("when do beginners come?", "what do beginners pay for an evening?"),
        ("where is the key of the van?", "when is the van due for its inspection?"),
    ],
)
def test_a_topic_that_is_known_is_no_answer(
    studio: Stores, answered: str, not_answered: str
) -> None:
    right, none = best(studio, answered), best(studio, not_answered)

    assert moved(right) > moved(none)
    assert right.score > none.score + 0.1


def test_what_nobody_asks_is_not_read_again(studio: Stores) -> None:
    text = "when do beginners come?"

    assert moved(best(studio, text)) != 0
    assert moved(best(studio, text, is_question=False)) == 0


def test_who_asks_for_advice_is_answered_by_rules_as_before(studio: Stores) -> None:
    assert moved(best(studio, "how should I order new glaze for the beginners?")) == 0


def test_weights_hold_for_one_model_only(studio: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    other = replace(shipped_reader(), model="another-model")
    monkeypatch.setattr("madeleine.recall.scoring.shipped_reader", lambda: other)

    assert moved(best(studio, "when do beginners come?")) == 0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.floats(-MOST, MOST))
def test_all_chances_move_alike_and_keep_their_order(chances: list[float], by: float) -> None:
    said = np.sort(np.array(chances))

    after = move_chances(said, by)

    assert (np.diff(after) >= -1e-12).all()
    assert (after >= 0).all()
    assert (after <= 1).all()
    assert (after <= said + 1e-12).all() if by <= 0 else (after >= said - 1e-12).all()


@given(st.floats(1e-6, 1 - 1e-6), st.floats(-50, 50))
def test_no_reading_moves_a_chance_far(chance: float, reading: float) -> None:
    assert abs(shipped_reader().move(chance, reading)) <= MOST
    assert shipped_reader().move(chance, reading + 1) >= shipped_reader().move(chance, reading)


def test_a_long_question_and_a_long_note_are_read_as_far_as_they_are_looked_at() -> None:
    reader, dice = shipped_reader(), np.random.default_rng(3)
    asked = dice.normal(size=(40, len(reader.weights["look"]))).astype(np.float32)
    asked /= np.linalg.norm(asked, axis=1, keepdims=True)
    note = dice.integers(-30, 30, (300, asked.shape[1])).astype(np.int8)
    weights = np.full(40, 1 / 40, np.float32)

    assert np.isfinite(reader.read(asked, weights, note))
    assert reader.read(asked[:1], weights[:1], note[:1]) != reader.read(asked, weights, note)
