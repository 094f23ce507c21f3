"""Each stage alone: what it lets through, what it ends, and by which default."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from madeleine.language.intent import INTENT_EXAMPLES, Intent
from madeleine.model.draft import MemoryLimits
from madeleine.model.memory import Memory
from madeleine.model.revision import read_revision
from madeleine.model.vector import Vector
from madeleine.model.words import ABOUT_SELF, Edge, MemoryType, Tier
from madeleine.whisper.session import WhisperTurn
from madeleine.whisper.stages import (
    STAGES,
    WhisperContext,
    ask_for_common_words,
    detect_intents,
    drop_what_was_told,
    leave_a_running_topic,
    leave_talk_alone,
    look_at_the_prompt,
    open_the_gate,
    pass_over_the_weak,
    put_in_order,
    search_memories,
)
from madeleine.write.identity import ensure_self
from madeleine.write.revise import revise
from madeleine.write.stores import Stores
from tests.fakes import NOON, keep
from tests.recall.asking import connect
from tests.whisper.listening import (
    CONFIG,
    a_candidate,
    a_memory,
    a_mind,
    a_thought,
    why_silent,
    worths,
)


def test_the_stages_are_the_documented_ones_in_their_order() -> None:
    assert [name for name, _ in STAGES] == [
        "prompt",
        "intent",
        "conversation",
        "topic",
        "search",
        "floor",
        "affinity",
        "overlap",
        "gate",
        "session",
        "order",
    ]


def test_the_defaults_are_the_documented_ones() -> None:
    assert (CONFIG.max_nodes, CONFIG.full_nodes) == (6, 2)
    assert (CONFIG.min_relevance_score, CONFIG.temporal_min_score) == (0.45, 0.30)
    assert (CONFIG.injection_gate, CONFIG.topic_shift_threshold) == (0.50, 0.75)
    assert (CONFIG.context_buffer_size, CONFIG.session_gap_minutes) == (5, 10)
    assert (CONFIG.affinity_implicit_weight, CONFIG.affinity_similarity) == (0.8, 0.70)
    assert (CONFIG.affinity_max_boost, CONFIG.affinity_half_life_days) == (0.15, 30.0)
    assert (CONFIG.exploration, CONFIG.maintenance, CONFIG.holdout) == (False, False, 0.0)
    assert (CONFIG.review, CONFIG.log_days) == (True, 30)


@pytest.fixture
def context(stores: Stores) -> WhisperContext:
    return a_mind(stores)


# --- early exits ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prompt", "reason"),
    [
        ("", "the prompt is empty"),
        (" \n\t ", "the prompt is empty"),
        ("?!… --- ...", "the prompt is too short"),
        ("y", "the prompt is too short"),
        ("ok", "the prompt is too short"),
        ("o.k.?", "the prompt is too short"),
        ("да", "the prompt is too short"),
        ("👍👍👍👍", "the prompt is too short"),
        ("/compact", "a machine made the prompt: a command of the host"),
        (
            "<task-notification>done</task-notification>",
            "a machine made the prompt: a sub-agent reports back",
        ),
        ("sql", ""),
        ("海水", ""),
        ("집값", ""),
    ],
)
def test_what_nobody_asked_ends_at_once(stores: Stores, prompt: str, reason: str) -> None:
    keep(stores, "anything")

    assert why_silent(look_at_the_prompt, a_mind(stores), a_thought(prompt=prompt)) == reason


def test_without_any_memory_there_is_nothing_to_whisper(stores: Stores) -> None:
    state = a_thought(prompt="which database?")

    assert why_silent(look_at_the_prompt, a_mind(stores), state) == "there is no memory yet"


# --- intents --------------------------------------------------------------------------------


def said(text: str, vector: Vector | None = None, *, whispered: bool = True) -> WhisperTurn:
    return WhisperTurn(text, NOON, vector, frozenset({"told"} if whispered else ()))


def test_talk_ends_before_the_model_is_asked(stores: Stores) -> None:
    state = a_thought(prompt="ok great, thanks a lot!")

    detect_intents(a_mind(stores), state)

    assert state.trace is None
    assert why_silent(leave_talk_alone, a_mind(stores), state) == "the prompt is only conversation"


def test_talk_with_a_question_in_it_goes_on(stores: Stores) -> None:
    state = a_thought(prompt="thanks! what do you know about me?")

    detect_intents(a_mind(stores), state)

    assert why_silent(leave_talk_alone, a_mind(stores), state) == ""
    assert Intent.IDENTITY in state.intents


def test_a_continuation_is_read_with_the_last_two_prompts(stores: Stores) -> None:
    before = [said("first thing"), said("second thing"), said("third thing")]
    state = a_thought(prompt="continue with that", said=before)

    detect_intents(a_mind(stores), state)

    assert state.query == "second thing\nthird thing\ncontinue with that"
    assert Intent.CONTINUATION in state.intents


def test_what_is_no_continuation_is_read_alone(stores: Stores) -> None:
    state = a_thought(prompt="when does the ferry leave?", said=[said("first thing")])

    detect_intents(a_mind(stores), state)

    assert state.query == "when does the ferry leave?"


def test_a_first_prompt_has_nothing_to_be_read_with(stores: Stores) -> None:
    state = a_thought(prompt="continue with that")

    detect_intents(a_mind(stores), state)

    assert state.query == "continue with that"


def test_likeness_to_an_example_tells_a_continuation_too(stores: Stores) -> None:
    embedder = stores.minds.embedder
    assert embedder is not None
    prompt = "weiter mit dem gleichen"
    context = WhisperContext(stores, CONFIG, {Intent.CONTINUATION: [embedder.ask(prompt).vector]})
    state = a_thought(prompt=prompt, said=[said("das erste"), said("das zweite")])

    detect_intents(context, state)

    assert state.intents == {Intent.CONTINUATION}
    assert state.query == "das erste\ndas zweite\nweiter mit dem gleichen"


def test_each_intent_but_the_general_one_has_examples() -> None:
    assert set(INTENT_EXAMPLES) == set(Intent) - {Intent.GENERAL}


# --- the running topic ----------------------------------------------------------------------


def at_cosine(value: float) -> Vector:
    """Return a vector with this cosine to the first axis."""
    return np.array([value, np.sqrt(1 - value * value), 0.0], np.float32)


AXIS = at_cosine(1.0)


@pytest.mark.parametrize(
    ("similarity", "reason"),
    [(0.74, ""), (0.7501, "still the same topic (0.75)"), (1.0, "still the same topic (1.00)")],
)
def test_a_prompt_above_three_quarters_of_the_topic_is_passed_over(
    stores: Stores, similarity: float, reason: str
) -> None:
    state = a_thought(said=[said("before", AXIS)], vector=at_cosine(similarity))

    assert why_silent(leave_a_running_topic, a_mind(stores), state) == reason


def test_the_topic_is_the_middle_of_the_last_three_prompts(stores: Stores) -> None:
    other = np.array([0.0, 0.0, 1.0], np.float32)
    moved_on = [said("old", other), said("a", AXIS), said("b", AXIS), said("c", AXIS)]
    torn = [said("a", AXIS), said("old", other)]

    assert why_silent(leave_a_running_topic, a_mind(stores), a_thought(said=moved_on, vector=AXIS))
    assert not why_silent(leave_a_running_topic, a_mind(stores), a_thought(said=torn, vector=AXIS))


def test_a_continuation_is_never_passed_over_as_the_same_topic(stores: Stores) -> None:
    going_on = {Intent.CONTINUATION}
    state = a_thought(said=[said("before", AXIS)], vector=AXIS, intents=going_on)

    assert why_silent(leave_a_running_topic, a_mind(stores), state) == ""


@pytest.mark.parametrize(
    "before",
    [[], [said("no vector", None)], [said("nothing came of it", AXIS, whispered=False)]],
    ids=["first", "unread", "silent"],
)
def test_a_topic_runs_only_when_something_was_whispered_about_it(
    stores: Stores, before: list[WhisperTurn]
) -> None:
    state = a_thought(said=before, vector=AXIS)

    assert why_silent(leave_a_running_topic, a_mind(stores), state) == ""


# --- search ---------------------------------------------------------------------------------


def searched(stores: Stores, prompt: str, *intents: Intent, space: str | None = None) -> list[str]:
    state = a_thought(prompt=prompt, intents=intents or (Intent.GENERAL,))
    state.query = prompt
    state.prompt = replace(state.prompt, space=space)
    search_memories(a_mind(stores), state)
    return [each.memory.content for each in state.candidates]


def test_what_is_archived_is_searched_and_has_the_documented_tenth_less(stores: Stores) -> None:
    memory = keep(stores, "the ferry leaves late")

    def score() -> float:
        state = a_thought(prompt="when does the ferry leave")
        state.query = "when does the ferry leave"
        search_memories(a_mind(stores), state)
        return state.candidates[0].worth

    at_hand = score()
    revise(stores, memory.id, read_revision({"tier": "archival"}, MemoryLimits()), by="me")

    assert score() == pytest.approx(at_hand - 0.10)


def test_a_large_archive_crowds_out_nothing_that_is_at_hand(stores: Stores) -> None:
    for number in range(60):
        keep(stores, f"the ferry leaves at {number}, the ferry leaves", tier=Tier.ARCHIVAL)
    for number in range(14):
        keep(stores, f"a ferry that leaves was seen by number {number} in the harbour yesterday")

    found = searched(stores, "the ferry leaves")

    assert sum(each.startswith("a ferry") for each in found) == 12
    assert sum(each.startswith("the ferry") for each in found) >= 6


def test_what_is_archived_passes_the_gate_only_by_itself_when_a_time_is_asked_for(
    stores: Stores,
) -> None:
    old = a_candidate(1, 0.45, memory=a_memory(1, tier=Tier.ARCHIVAL))
    sure = a_candidate(2, 0.55, memory=a_memory(2, tier=Tier.ARCHIVAL))
    live = a_candidate(3, 0.45)
    asked = "what did we do in the last 9 days?"
    state = a_thought(old, sure, live, intents=(Intent.TEMPORAL,), prompt=asked)

    open_the_gate(a_mind(stores), state)

    assert state.candidates == [sure, live]


def test_inside_a_space_only_its_own_and_global_memories_are_searched(stores: Stores) -> None:
    keep(stores, "the ferry leaves early", space="tide")
    keep(stores, "the ferry leaves late")
    keep(stores, "the ferry leaves never", space="other")

    found = searched(stores, "when does the ferry leave", space="tide")

    assert sorted(found) == ["the ferry leaves early", "the ferry leaves late"]


def test_searching_counts_as_no_use(stores: Stores) -> None:
    kept = keep(stores, "the ferry leaves early")

    searched(stores, "the ferry leaves early")

    stored = stores.search.get(kept.id)
    assert stored is not None
    assert (stored.memory.access_count, stored.memory.usage.last_accessed) == (0, None)


def test_nothing_found_ends_with_the_reason_of_recall(stores: Stores) -> None:
    keep(stores, "the ferry leaves early", space="elsewhere")
    state = a_thought(prompt="ferry")
    state.query = "ferry"
    state.prompt = replace(state.prompt, space="here")

    assert why_silent(search_memories, a_mind(stores), state).startswith("nothing was found: ")


# --- identity -------------------------------------------------------------------------------

ABOUT_ME = "what do you know about me?"


def define(stores: Stores, memory: Memory) -> None:
    """Say by an edge, and by no tag, that a memory describes the asker."""
    self_id = ensure_self(stores)
    connect(stores, stores.search.memories([self_id])[self_id], Edge.DEFINES, memory)


def test_identity_comes_by_the_selfs_edges_and_by_search(stores: Stores) -> None:
    linked = keep(stores, "Prefers trains over planes")
    keep(stores, "Tell me about myself: likes rye bread")
    keep(stores, "Born in Lyon", tags=(ABOUT_SELF,))
    define(stores, linked)

    found = searched(stores, "tell me about myself", Intent.IDENTITY)

    assert {"Prefers trains over planes", "Born in Lyon"} <= set(found)
    assert "Tell me about myself: likes rye bread" in found
    assert len(found) == len(set(found))


def test_the_self_itself_is_not_whispered(stores: Stores) -> None:
    keep(stores, "Born in Lyon", tags=(ABOUT_SELF,))
    ensure_self(stores)

    assert searched(stores, ABOUT_ME, Intent.IDENTITY) == ["Born in Lyon"]


def test_identity_of_another_space_stays_there(stores: Stores) -> None:
    keep(stores, "Is paid too little", tags=(ABOUT_SELF,), space="work")
    keep(stores, "Born in Lyon", tags=(ABOUT_SELF,))
    ensure_self(stores)

    assert searched(stores, ABOUT_ME, Intent.IDENTITY, space="home") == ["Born in Lyon"]


def test_archived_identity_stays_archived(stores: Stores) -> None:
    keep(stores, "Smoked once", tags=(ABOUT_SELF,), tier=Tier.ARCHIVAL)
    keep(stores, "Born in Lyon", tags=(ABOUT_SELF,))
    ensure_self(stores)

    assert searched(stores, ABOUT_ME, Intent.IDENTITY) == ["Born in Lyon"]


def test_what_the_self_defines_is_let_through_without_common_words(stores: Stores) -> None:
    linked = keep(stores, "Trains over planes")
    define(stores, linked)
    state = a_thought(prompt="do I like trains?", intents=[Intent.IDENTITY, Intent.TEMPORAL])
    state.query = "do I like trains?"

    search_memories(a_mind(stores), state)

    (found,) = [each for each in state.candidates if each.memory.id == linked.id]
    assert found.identity


# --- floor ----------------------------------------------------------------------------------


def test_the_floor_is_at_45_and_for_a_time_at_30(context: WhisperContext) -> None:
    marks = (0.29, 0.30, 0.44, 0.45, 0.46)
    plain = a_thought(*(a_candidate(n, mark) for n, mark in enumerate(marks)))
    temporal = a_thought(
        *(a_candidate(n, mark) for n, mark in enumerate(marks)), intents=[Intent.TEMPORAL]
    )

    for each in (plain, temporal):
        pass_over_the_weak(context, each)

    assert worths(plain.candidates) == [0.45, 0.46]
    assert worths(plain.refused) == [0.29, 0.3, 0.44]
    assert worths(temporal.candidates) == [0.3, 0.44, 0.45, 0.46]


def test_nothing_above_the_floor_is_silence_that_names_the_best(context: WhisperContext) -> None:
    state = a_thought(a_candidate(1, 0.2), a_candidate(2, 0.31))

    reason = why_silent(pass_over_the_weak, context, state)

    assert reason == "nothing is relevant enough (best 0.31)"


def test_a_preference_gains_when_something_is_to_be_done(context: WhisperContext) -> None:
    preference = a_memory(1, type=MemoryType.PREFERENCE)
    doing, telling = "can you write a test?", "the test was written"
    far = a_candidate(memory=preference, worth=0.5, near=0.0)
    near = a_candidate(memory=preference, worth=0.5, near=0.4)
    fact = a_candidate(2, worth=0.5, near=0.4)
    idle = a_candidate(memory=preference, worth=0.5, near=0.4)

    pass_over_the_weak(context, a_thought(far, near, fact, prompt=doing))
    pass_over_the_weak(context, a_thought(idle, prompt=telling))

    assert worths([far, near, fact, idle]) == [0.5, 0.6, 0.5, 0.5]


# --- overlap --------------------------------------------------------------------------------


def test_if_some_share_words_the_others_go(context: WhisperContext) -> None:
    sharing, strange = a_candidate(1, coverage=0.2), a_candidate(2, 0.6, coverage=0.0)
    state = a_thought(sharing, strange)

    ask_for_common_words(context, state)

    assert (state.candidates, state.refused) == ([sharing], [strange])


def test_what_is_likelier_needs_no_common_word(context: WhisperContext) -> None:
    """The chance decides, not how near two texts are in meaning."""
    sharing = a_candidate(1, 0.533, coverage=0.3)
    right = a_candidate(2, 0.741, coverage=0.0, near=0.4)
    near = a_candidate(3, 0.4, coverage=0.0, near=0.9)
    state = a_thought(sharing, right, near)

    ask_for_common_words(context, state)

    assert (state.candidates, state.refused) == ([sharing, right], [near])


@pytest.mark.parametrize(
    ("prompt", "content"),
    [
        ("how do we use the retry helper", "We use Figma for drafts"),
        ("what should I keep in mind for the rollout", "Keep the door shut"),
        ("give the invoice another look", "Marek will look at the roof another day"),
        ("please start with the parser", "The choir starts at eight"),
        ("try the new importer", "Try the soup at Ana's"),
        ("set up the first stage", "The first tram leaves at five"),
    ],
)
def test_a_word_that_stands_anywhere_is_no_topic(
    context: WhisperContext, prompt: str, content: str
) -> None:
    strange = a_candidate(1, 0.4, coverage=0.0)
    light = a_candidate(2, 0.8, coverage=0.3, memory=a_memory(2, content))
    state = a_thought(strange, light, prompt=prompt)
    state.query = prompt

    ask_for_common_words(context, state)

    assert state.candidates == [strange, light]  # none of them speaks of the prompt's matter


def test_a_tiny_share_of_the_words_is_no_topic(context: WhisperContext) -> None:
    strange, barely = a_candidate(1, 0.4, coverage=0.0), a_candidate(2, coverage=0.05)
    state = a_thought(strange, barely)

    ask_for_common_words(context, state)

    assert state.candidates == [strange, barely]


def test_if_none_share_words_all_stay(context: WhisperContext) -> None:
    strangers = [a_candidate(n, coverage=0.0) for n in (1, 2)]
    state = a_thought(*strangers)

    ask_for_common_words(context, state)

    assert state.candidates == strangers


@pytest.mark.parametrize(
    "fields",
    [
        {"identity": True},
        {"score": 0.70},
        {"head": "dialogue"},
        {"memory": a_memory(9, type=MemoryType.PREFERENCE)},
        {"memory": a_memory(9, "Always run the tests first")},
    ],
    ids=["identity", "likely", "said", "preference", "instruction"],
)
def test_some_are_let_through_without_a_common_word(
    context: WhisperContext, fields: dict[str, Any]
) -> None:
    let_through = a_candidate(2, **{"coverage": 0.0, "score": 0.3, **fields})
    state = a_thought(a_candidate(1), let_through)

    ask_for_common_words(context, state)

    assert let_through in state.candidates


# --- gate -----------------------------------------------------------------------------------


def test_the_gate_is_at_50_and_weaker_ones_are_held_back(context: WhisperContext) -> None:
    state = a_thought(a_candidate(1, 0.51), a_candidate(2, 0.5), a_candidate(3, 0.49))

    open_the_gate(context, state)

    assert (worths(state.candidates), worths(state.refused)) == ([0.51, 0.5], [0.49])


def test_below_the_gate_there_is_silence_that_names_the_best(context: WhisperContext) -> None:
    state = a_thought(a_candidate(1, 0.46), a_candidate(2, 0.49))

    assert why_silent(open_the_gate, context, state) == "nothing passes the gate (best 0.49)"


def test_what_is_of_the_time_asked_for_needs_no_gate(context: WhisperContext) -> None:
    then, before = a_candidate(1, 0.31), a_candidate(20, 0.32)
    state = a_thought(
        then, before, intents=[Intent.TEMPORAL], prompt="what did we try in the last week?"
    )

    open_the_gate(context, state)

    assert (state.candidates, state.refused) == ([then], [before])


# --- session and order ----------------------------------------------------------------------


def test_nothing_is_told_twice(context: WhisperContext) -> None:
    old, new = a_candidate(1), a_candidate(2)
    state = a_thought(old, new, told=[old.memory.id])
    again = a_thought(old, told=[old.memory.id])

    drop_what_was_told(context, state)

    assert state.candidates == [new]
    assert why_silent(drop_what_was_told, context, again) == (
        "all of it was whispered before in this session"
    )


def test_the_best_six_stay_best_first(context: WhisperContext) -> None:
    state = a_thought(*(a_candidate(n, 0.5 + n / 100) for n in range(9)))

    put_in_order(context, state)

    assert worths(state.candidates) == [0.58, 0.57, 0.56, 0.55, 0.54, 0.53]


def test_what_is_of_a_time_stands_newest_first(context: WhisperContext) -> None:
    created = [NOON - timedelta(hours=hours) for hours in (3, 1, 2)]
    state = a_thought(
        *(
            a_candidate(memory=a_memory(n, created=at), worth=0.9 - n / 10)
            for n, at in enumerate(created)
        ),
        intents=[Intent.TEMPORAL],
    )

    put_in_order(context, state)

    assert [each.memory.created for each in state.candidates] == sorted(created, reverse=True)


def test_of_many_equals_the_newest_six_stay(context: WhisperContext) -> None:
    older_first = [a_candidate(n, 0.64) for n in reversed(range(9))]
    state = a_thought(*older_first, intents=[Intent.TEMPORAL])

    put_in_order(context, state)

    assert state.candidates == [a_candidate(n, 0.64) for n in range(6)]
