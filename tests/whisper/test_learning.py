"""Feedback: what it does to later whispers, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from madeleine.errors import InvalidValue, NoSuchMemory, NoSuchWhisper
from madeleine.model.event import EventKind
from madeleine.model.memory import Usage
from madeleine.model.vector import Vector
from madeleine.whisper.learning import compute_affinities, give_feedback
from madeleine.whisper.stages import heed_feedback
from madeleine.whisper.values import WhisperResult
from madeleine.write.stores import Stores
from tests.fakes import FakeClock, keep
from tests.whisper.listening import CONFIG, Listener, a_candidate, a_mind, a_thought

PROMPT = "when does the ferry to Bergen leave?"


def heard(listener: Listener, prompt: str = PROMPT) -> tuple[str, str]:
    """Hear a whisper; return the memory told and the whisper's id."""
    said = listener.hears(prompt)
    return said.injected[0].memory.id, said.whisper_id


def best_worth(said: WhisperResult) -> float:
    """Return what saying the best memory was worth."""
    best = said.explained["best"]
    assert isinstance(best, float)
    return best


def meaning(stores: Stores, text: str) -> Vector:
    embedder = stores.minds.embedder
    assert embedder is not None
    return embedder.ask(text).vector


def boost(listener: Listener, memory: str, prompt: str = PROMPT) -> float:
    stores = listener.stores
    vector = meaning(stores, prompt)
    now = listener.clock.now()
    return compute_affinities(stores, listener.config, [memory], vector, now).get(memory, 0.0)


@pytest.mark.parametrize(("signal", "expected"), [(1, 0.15), (-1, -0.15)])
def test_feedback_on_the_same_prompt_moves_a_score_by_the_most(
    listener: Listener, signal: int, expected: float
) -> None:
    memory, whisper_id = heard(listener)

    give_feedback(listener.stores, memory, signal, "explicit", whisper_id)

    assert boost(listener, memory) == pytest.approx(expected, abs=1e-4)


def test_explicit_feedback_outweighs_implicit_feedback(listener: Listener) -> None:
    memory, whisper_id = heard(listener)

    give_feedback(listener.stores, memory, -1, "implicit", whisper_id)
    give_feedback(listener.stores, memory, 1, "explicit", whisper_id)

    assert boost(listener, memory) == pytest.approx(0.15 * (1 - 0.8) / 1.8, abs=1e-4)


def test_the_same_word_again_is_not_noted_twice(listener: Listener) -> None:
    memory, whisper_id = heard(listener)

    first = give_feedback(listener.stores, memory, 1, "explicit", whisper_id)
    again = give_feedback(listener.stores, memory, 1, "explicit", whisper_id)

    assert again == first
    assert len(listener.stores.log.feedback([memory])) == 1


def test_who_changes_their_mind_is_heard_with_the_last_word(listener: Listener) -> None:
    memory, whisper_id = heard(listener)

    give_feedback(listener.stores, memory, 1, "explicit", whisper_id)
    listener.clock.pass_by(minutes=1)
    give_feedback(listener.stores, memory, -1, "explicit", whisper_id)

    assert boost(listener, memory) == pytest.approx(-0.15, abs=1e-4)


@pytest.mark.parametrize("source", ["explicit", "implicit"])
def test_feedback_that_is_taken_back_counts_nothing(listener: Listener, source: str) -> None:
    memory, whisper_id = heard(listener)

    give_feedback(listener.stores, memory, 1, source, whisper_id)
    listener.clock.pass_by(minutes=1)
    give_feedback(listener.stores, memory, 0, "explicit", whisper_id)

    assert boost(listener, memory) == 0.0


def test_feedback_is_taken_back_only_where_it_was_given(listener: Listener) -> None:
    memory, _ = heard(listener)

    with pytest.raises(InvalidValue, match="with the whisper"):
        give_feedback(listener.stores, memory, 0, "explicit", None)


def test_feedback_of_a_month_ago_counts_half(listener: Listener) -> None:
    memory, whisper_id = heard(listener)
    give_feedback(listener.stores, memory, 1, "explicit", whisper_id)
    listener.clock.pass_by(days=30)
    _, later = heard(listener)

    give_feedback(listener.stores, memory, -1, "explicit", later)

    assert boost(listener, memory) == pytest.approx(-0.05, abs=1e-3)


def test_feedback_counts_only_for_prompts_alike_from_70_on(listener: Listener) -> None:
    memory, whisper_id = heard(listener)
    give_feedback(listener.stores, memory, 1, "explicit", whisper_id)
    near, far = "when does the ferry to Bergen arrive?", "who paints the boats in summer?"
    cosines = [
        float(np.dot(meaning(listener.stores, PROMPT), meaning(listener.stores, each)))
        for each in (near, far)
    ]

    assert cosines[0] >= 0.70 > cosines[1]
    assert boost(listener, memory, near) == pytest.approx(0.15, abs=1e-4)
    assert boost(listener, memory, far) == 0.0


def test_feedback_without_its_whisper_changes_no_score(listener: Listener) -> None:
    memory, _ = heard(listener)

    give_feedback(listener.stores, memory, 1, "explicit", None)
    with pytest.raises(NoSuchWhisper, match="no-such-whisper"):
        give_feedback(listener.stores, memory, 1, "explicit", "no-such-whisper")

    assert boost(listener, memory) == 0.0


def test_feedback_on_one_memory_leaves_others_alone(listener: Listener) -> None:
    memory, whisper_id = heard(listener)
    other = keep(listener.stores, "Another thing")

    give_feedback(listener.stores, memory, 1, "explicit", whisper_id)

    assert boost(listener, other.id) == 0.0


def test_the_score_moves_after_the_ranking_and_stays_between_0_and_1(listener: Listener) -> None:
    memory, whisper_id = heard(listener)
    give_feedback(listener.stores, memory, 1, "explicit", whisper_id)
    told = listener.stores.search.memories([memory])[memory]
    sure, unsure = a_candidate(memory=told, worth=0.95), a_candidate(memory=told, worth=0.40)
    vector = meaning(listener.stores, PROMPT)

    heed_feedback(a_mind(listener.stores), a_thought(sure, unsure, vector=vector))

    assert sure.worth == 1.0
    assert unsure.worth == pytest.approx(0.55, abs=1e-4)
    assert unsure.affinity == pytest.approx(0.15, abs=1e-4)


def test_a_memory_that_was_no_use_falls_silent_for_that_prompt(listener: Listener) -> None:
    memory, whisper_id = heard(listener)
    worth = best_worth(listener.hears(PROMPT))
    listener.config = replace(CONFIG, injection_gate=worth - 0.05)
    assert listener.hears(PROMPT).text

    give_feedback(listener.stores, memory, -1, "explicit", whisper_id)

    assert listener.hears(PROMPT).stage == "gate"


def test_what_was_useful_counts_as_used_and_what_was_not_does_not(listener: Listener) -> None:
    memory, whisper_id = heard(listener)

    def usage() -> Usage:
        return listener.stores.search.memories([memory])[memory].usage

    after_the_whisper = usage()
    give_feedback(listener.stores, memory, -1, "explicit", whisper_id)
    after_blame = usage()
    give_feedback(listener.stores, memory, 1, "explicit", whisper_id)

    assert after_blame == after_the_whisper
    assert usage().stability > after_blame.stability


def test_the_same_praise_twice_in_a_day_is_one_use(listener: Listener) -> None:
    memory, whisper_id = heard(listener)

    for _ in range(3):
        give_feedback(listener.stores, memory, 1, "implicit", whisper_id)

    assert listener.stores.search.memories([memory])[memory].access_count == 1


def test_feedback_stands_in_the_journal_with_its_prompt(listener: Listener) -> None:
    memory, whisper_id = heard(listener)

    event_id = give_feedback(listener.stores, memory, 1, "implicit", whisper_id)

    made = listener.stores.log.event(event_id)
    assert made is not None
    assert made.kind is EventKind.FEEDBACK
    assert made.body == {
        "memory": memory,
        "signal": 1,
        "source": "implicit",
        "whisper": whisper_id,
        "prompt": PROMPT,
    }


@pytest.mark.parametrize("signal", [0, 2, -2])
def test_a_signal_is_one_or_minus_one(listener: Listener, signal: int) -> None:
    memory, _ = heard(listener)

    with pytest.raises(InvalidValue, match="signal"):
        give_feedback(listener.stores, memory, signal, "explicit", None)


def test_a_source_is_explicit_or_implicit(listener: Listener) -> None:
    memory, _ = heard(listener)

    with pytest.raises(InvalidValue, match="explicit or implicit"):
        give_feedback(listener.stores, memory, 1, "telepathy", None)


def test_feedback_on_no_memory_is_refused(listener: Listener) -> None:
    with pytest.raises(NoSuchMemory):
        give_feedback(listener.stores, "ffffffff-0000", 1, "explicit", None)

    assert listener.stores.log.recent_events([EventKind.FEEDBACK.value], 5) == []


def test_a_clock_set_back_makes_feedback_no_stronger(listener: Listener) -> None:
    memory, whisper_id = heard(listener)
    give_feedback(listener.stores, memory, 1, "explicit", whisper_id)
    clock = listener.stores.clock
    assert isinstance(clock, FakeClock)
    clock.pass_by(days=-400)

    assert boost(listener, memory) == pytest.approx(0.15, abs=1e-4)
