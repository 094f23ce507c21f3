"""Whisper as a whole: what is said, what is not, what is kept of it, and for how long."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from madeleine.minds.cache import CachedEmbedder, EmbeddingCache
from madeleine.minds.fake import FakeEmbedder
from madeleine.minds.port import Minds
from madeleine.model.cause import Cause, WhisperSilence
from madeleine.model.embedding import QueryEmbedding
from madeleine.model.event import EventKind
from madeleine.model.memory import Connection, Origin, Usage
from madeleine.model.query import Filter, RecallQuery
from madeleine.model.words import ABOUT_SELF, Edge, MemoryType, Tier
from madeleine.recall.recall import recall
from madeleine.whisper.config import WhisperConfig
from madeleine.whisper.delivery import Loss, mark_undelivered
from madeleine.whisper.values import Prompt
from madeleine.whisper.whisper import whisper
from madeleine.write.connections import link
from madeleine.write.identity import ensure_self
from madeleine.write.record import new_event, record_events
from madeleine.write.stores import Stores
from tests.fakes import NOON, keep, vault_bytes
from tests.recall.asking import connect
from tests.sentences import in_words
from tests.whisper.listening import CONFIG, Listener, contents

FERRY = "The ferry to Bergen leaves at half past nine"
ASK_FERRY = "when does the ferry to Bergen leave?"
STRANGE = "please refactor this parser into three modules"


def last_body(listener: Listener) -> dict[str, object]:
    return dict(listener.stores.log.whispers(1)[0].body)


# --- only looking ---------------------------------------------------------------------------


def test_who_only_looks_leaves_no_trace(listener: Listener) -> None:
    prompt = Prompt(ASK_FERRY, session_id="one", dry_run=True)
    looked = whisper(listener.stores, CONFIG, listener.whisperer, prompt)

    after = listener.hears(ASK_FERRY, "one")

    assert contents(looked) == contents(after) == [FERRY]
    assert looked.whisper_id == ""
    assert len(listener.stores.log.whispers(9)) == 1


def test_who_only_looks_sees_what_a_session_was_told(listener: Listener) -> None:
    listener.hears(ASK_FERRY, "one")

    prompt = Prompt(f"again: {ASK_FERRY}", session_id="one", dry_run=True)
    looked = whisper(listener.stores, CONFIG, listener.whisperer, prompt)

    assert contents(looked) == []
    assert in_words(looked.silence) is not None


# --- what is said ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "time",
    [
        "on tuesday",
        "this week",
        "for the last 90 days",
        "since Monday",
        "today",
        "yesterday",
        "last month",
        "tonight",
        "in the past hour",
        "3 days ago",
    ],
)
def test_a_time_in_a_prompt_silences_nothing(listener: Listener, time: str) -> None:
    """Something else is from then, so that a filter would leave out what answers."""
    for days in (0, 1, 2, 3, 5, 20):
        keep(listener.stores, f"Box {days} is blue", created=NOON - timedelta(days=days))
    old = keep(listener.stores, "The harbour tug is called Oda", created=NOON - timedelta(days=300))

    said = listener.hears(f"what is the harbour tug called {time}?")

    assert old.content in contents(said)


def test_the_memory_that_answers_is_whispered(listener: Listener) -> None:
    said = listener.hears(ASK_FERRY)

    assert contents(said) == [FERRY]
    assert said.text.startswith("# Madeleine whispers\n")
    assert f"- **[fact]** {FERRY} (id: " in said.text
    assert said.text.count(FERRY) == 1
    assert (in_words(said.silence), said.stage) == (None, "order")
    (row,) = cast("list[dict[str, float]]", said.explained["candidates"])
    assert row["worth"] >= CONFIG.injection_gate


def test_a_whisper_shows_the_score_that_recall_shows(listener: Listener) -> None:
    (hit, *_) = recall(listener.stores, RecallQuery(ASK_FERRY), touch=False).hits

    said = listener.hears(ASK_FERRY)

    assert (hit.memory.content, hit.score) == (FERRY, said.injected[0].score)


@pytest.mark.parametrize(
    ("prompt", "stage"),
    [
        ("", "prompt"),
        ("!?", "prompt"),
        ("ok", "prompt"),
        ("<task-notification>done</task-notification>", "prompt"),
        ("ok great, thanks!", "conversation"),
        (STRANGE, "floor"),
    ],
)
def test_silence_is_no_text_and_has_a_stage_and_a_reason(
    listener: Listener, prompt: str, stage: str
) -> None:
    said = listener.hears(prompt, "s")

    assert (said.text, said.injected, said.stage) == ("", (), stage)
    assert in_words(said.silence)


def test_six_at_most_two_of_them_in_full(stores: Stores) -> None:
    for number in range(10):
        things = ", ".join(f"{each}{number}" for each in ("rope", "hook", "winch", "bolt", "cable"))
        oiled = f"the harbour crane number {number} was oiled by person{number} in month{number}"
        keep(stores, f"{oiled}, with grease{number} for its {things} and whatever{number} squeaked")
    listener = Listener(stores)
    listener.config = WhisperConfig(injection_gate=0.1)  # ten alike: none is surely the one

    said = listener.hears("when was the harbour crane oiled?")

    assert len(said.injected) == 6
    assert [each.full for each in said.injected] == [True, True, False, False, False, False]
    assert said.text.count("\n- **[fact]** ") == 6
    assert said.text.count("\n  the harbour crane") == 2


def test_a_question_about_a_time_is_answered_newest_first(listener: Listener) -> None:
    listener.clock.pass_by(days=40)
    for number in range(9):
        listener.clock.pass_by(minutes=10)
        keep(listener.stores, f"entry {number} of the ship's log", title=f"Log {number}")

    said = listener.hears("what happened today?")

    assert [each.memory.title for each in said.injected] == [f"Log {n}" for n in range(8, 2, -1)]


def test_what_is_known_of_the_asker_comes_when_they_ask(listener: Listener) -> None:
    keep(listener.stores, "Prefers a window seat", tags=(ABOUT_SELF,))
    ensure_self(listener.stores)

    assert contents(listener.hears("who am I?")) == ["Prefers a window seat"]


def used(listener: Listener, memory_id: str) -> Usage:
    stored = listener.stores.search.get(memory_id)
    assert stored is not None
    return stored.memory.usage


def test_a_whisper_counts_as_a_use_and_writes_no_file(listener: Listener) -> None:
    before = vault_bytes(listener.stores)

    said = listener.hears(ASK_FERRY, "s")

    usage = used(listener, said.injected[0].memory.id)
    assert usage.access_count == 1
    assert usage.last_accessed == usage.last_review is not None
    assert vault_bytes(listener.stores) == before


def test_a_whisper_counts_once_a_session_and_day(listener: Listener) -> None:
    (told,) = listener.hears(ASK_FERRY, "s").injected
    listener.whisperer.sessions.shortened("s")  # so that it is told once more

    assert listener.hears(ASK_FERRY, "s").injected
    assert used(listener, told.memory.id).access_count == 1
    assert listener.hears(ASK_FERRY, "another").injected
    assert used(listener, told.memory.id).access_count == 2
    listener.clock.pass_by(days=1)
    assert listener.hears(ASK_FERRY, "another").injected
    assert used(listener, told.memory.id).access_count == 3


def test_a_whisper_strengthens_less_than_a_recall(stores: Stores) -> None:
    whispered, recalled = keep(stores, FERRY), keep(stores, "Marta is allergic to peanuts")
    listener = Listener(stores)
    listener.clock.pass_by(days=3)

    assert listener.hears(ASK_FERRY, "s").injected
    recall(stores, RecallQuery(text="Marta is allergic to peanuts", session_id="s", limit=1))

    weaker, stronger = used(listener, whispered.id), used(listener, recalled.id)
    assert 1.0 < weaker.stability < stronger.stability


def test_a_recall_after_a_whisper_on_the_same_day_counts_in_its_place(stores: Stores) -> None:
    memory = keep(stores, FERRY)
    listener = Listener(stores)
    listener.clock.pass_by(days=3)
    assert listener.hears(ASK_FERRY, "s").injected
    weaker = used(listener, memory.id)

    recall(stores, RecallQuery(text=FERRY, session_id="s", limit=1))

    stronger = used(listener, memory.id)
    assert stronger.stability > weaker.stability
    assert stronger.access_count == weaker.access_count == 1


def test_silence_and_what_is_only_looked_at_count_as_no_use(listener: Listener) -> None:
    listener.hears("write a haiku about the moon", "s")

    everything = listener.stores.search.listing(Filter(), NOON, 100, 0)
    assert {each.access_count for each in everything} == {0}


def test_what_is_archived_and_clearly_answers_is_whispered(stores: Stores) -> None:
    keep(stores, FERRY, tier=Tier.ARCHIVAL)

    assert contents(Listener(stores).hears(ASK_FERRY)) == [FERRY]


@pytest.mark.parametrize(
    "record",
    [
        {"tags": ("from-transcript", "exchange"), "type": MemoryType.OBSERVATION},
        {"source": "import:chatgpt", "type": MemoryType.EVENT},
    ],
)
def test_what_was_only_said_in_a_conversation_is_left_to_recall(
    stores: Stores, record: dict[str, Any]
) -> None:
    keep(stores, FERRY, tier=Tier.ARCHIVAL, origin=Origin(session="s1", turn=1), **record)

    assert Listener(stores).hears(ASK_FERRY).text == ""


def test_what_is_archived_is_not_whispered_when_it_hardly_answers(stores: Stores) -> None:
    keep(stores, FERRY, tier=Tier.ARCHIVAL)

    assert Listener(stores).hears("Bergen has a fish market, doesn't it?").text == ""


def test_another_space_is_not_whispered_from(stores: Stores) -> None:
    keep(stores, FERRY, space="tide")
    listener = Listener(stores)

    assert contents(listener.hears(ASK_FERRY, space="tide")) == [FERRY]
    assert listener.hears(ASK_FERRY, space="other").text == ""


# --- restatements and conflicts -------------------------------------------------------------

SAME = "leaves at half past nine the ferry to Bergen"  # the same words: the same to the fake model


def test_a_restatement_is_told_once_and_not_later_either(listener: Listener) -> None:
    keep(listener.stores, SAME)

    first = listener.hears(ASK_FERRY, "s")
    listener.clock.pass_by(minutes=9)
    listener.hears("is Marta allergic to peanuts?", "s")
    listener.clock.pass_by(minutes=9)
    later = listener.hears(ASK_FERRY, "s")

    assert len(first.injected) == 1
    assert (later.text, later.stage) == ("", "session")


@pytest.mark.parametrize("both_ways", [False, True])
def test_a_contradiction_is_told_with_both_dates_however_alike_the_two_are(
    listener: Listener, both_ways: bool
) -> None:
    old = keep(listener.stores, "Marta lives in Berlin")
    listener.clock.pass_by(days=31)
    new = keep(listener.stores, "in Berlin Marta lives")
    connect(listener.stores, new, Edge.CONTRADICTS, old)
    if both_ways:
        connect(listener.stores, old, Edge.CONTRADICTS, new)

    said = listener.hears("where in Berlin lives Marta?")

    assert {old.id, new.id} <= {each.memory.id for each in said.injected}
    line = f"{old.short_id} of 2026-11-15 and {new.short_id} of 2026-12-16"
    assert said.text.count(f"These two do not agree: {line}") == 1


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Marta lives in Berlin", "Marta works for the harbour"),
        ("The gateway canary runs fifteen minutes", "Gateway tokens live a quarter hour"),
        ("Deploy the gateway by hand", "The gateway logs to Sentry"),
        ("The crane is painted red", "The crane lifts with two hooks"),
        ("The ferry serves coffee", "The ferry takes forty cars"),
        ("Anna keeps bees", "Anna teaches the cello"),
        ("The ledger is Postgres", "The ledger closes on Friday"),
        ("The budget is frozen", "The budget has another owner"),
        ("Releases are cut on Monday", "Releases have a code name"),
        ("The garden has two ponds", "The garden gate is green"),
    ],
)
def test_a_contrast_is_never_told_as_a_contradiction(
    listener: Listener, one: str, other: str
) -> None:
    """However low the gate is, so that both of each pair are told."""
    listener.config = WhisperConfig(injection_gate=0.1)
    old, new = (keep(listener.stores, text, type=MemoryType.DECISION) for text in (one, other))
    link(listener.stores, new.id, Connection(old.id, Edge.CONTRADICTS, 0.2, by="creative"))

    said = listener.hears(f"is it so that {one}, and that {other}?")

    assert {old.id, new.id} <= {each.memory.id for each in said.injected}
    assert "do not agree" not in said.text
    assert "contradict" not in said.text


def test_two_that_differ_in_a_number_only_are_told_as_a_conflict(listener: Listener) -> None:
    old = keep(listener.stores, "The harbour crane lifts 100 tonnes")
    listener.clock.pass_by(days=31)
    new = keep(listener.stores, "the harbour crane lifts 250 tonnes")

    said = listener.hears("how much can the harbour crane lift?")

    line = f"{old.short_id} of 2026-11-15 and {new.short_id} of 2026-12-16"
    assert {old.id, new.id} <= {each.memory.id for each in said.injected}
    assert said.text.count("These two do not agree: ") == 1
    assert f"These two do not agree: {line}" in said.text


def test_a_list_of_things_that_differ_in_a_number_is_no_conflict(stores: Stores) -> None:
    for number in range(5):
        keep(stores, f"the harbour crane lifts {number + 10} tonnes")

    assert "do not agree" not in Listener(stores).hears("what does the harbour crane lift?").text


# --- long prompts ---------------------------------------------------------------------------

TRACE = "Traceback (most recent call last):\n" + "\n".join(
    f'  File "/srv/app/module_{n}.py", line {n * 7}, in handler_{n}\n    value_{n} = call_{n}()'
    for n in range(12)
)


@pytest.mark.parametrize(
    "prompt",
    [f"{ASK_FERRY}\n\n{TRACE}", f"{TRACE}\n\n{ASK_FERRY}", f"{ASK_FERRY}\n{TRACE * 20}"],
    ids=["before", "after", "before much"],
)
def test_a_question_beside_a_long_paste_is_heard(listener: Listener, prompt: str) -> None:
    assert listener.hears(TRACE).text == ""

    assert contents(listener.hears(prompt)) == [FERRY]


def test_a_long_prompt_costs_one_more_reading_and_a_short_one_none(
    stores: Stores, tmp_path: Path
) -> None:
    asked: list[str] = []

    class Counting(FakeEmbedder):
        def ask(self, text: str) -> QueryEmbedding:
            asked.append(text)
            return super().ask(text)

    cache = EmbeddingCache.open(tmp_path / "counting.db")
    counted = replace(stores, minds=Minds(CachedEmbedder(Counting(), cache)))
    keep(counted, FERRY)
    Listener(counted).hears(STRANGE)
    of_short = len(asked)
    Listener(counted).hears(f"{TRACE}\n\n{ASK_FERRY}")

    assert (of_short, len(asked)) == (1, 3)
    assert asked[2] == ASK_FERRY


# --- exploration, review, maintenance, hold-out ---------------------------------------------


HELD_OUT = Cause(WhisperSilence.HELD_OUT)
LATE = "The ferry to Bergen is late at half moon"


def explored(listener: Listener, prompt: str, session: str | None = None) -> list[str]:
    said = listener.hears(prompt, session)
    return [each.memory.content for each in said.injected if each.explorer]


def test_nothing_below_the_gate_is_explored_unless_it_is_set(listener: Listener) -> None:
    keep(listener.stores, LATE)
    listener.config = replace(CONFIG, injection_gate=0.95, min_relevance_score=0.95)
    unset = explored(listener, "the ferry to Bergen leaves at half past nine")
    listener.config = replace(listener.config, exploration=True)

    assert unset == []
    assert explored(listener, "the ferry to Bergen leaves at half past nine") == [LATE]
    assert explored(listener, STRANGE) == []  # silence stays silence


def test_what_was_told_before_is_not_explored_again(listener: Listener) -> None:
    keep(listener.stores, LATE)
    config = replace(CONFIG, exploration=True, injection_gate=0.95, min_relevance_score=0.95)
    listener.config = config
    prompt = "the ferry to Bergen leaves at half past nine"

    first = explored(listener, prompt, "s")
    listener.clock.pass_by(minutes=9)
    listener.hears(STRANGE, "s")
    listener.clock.pass_by(minutes=9)
    keep(listener.stores, f"{prompt} except on Sundays")
    again = explored(listener, f"{prompt} except on Sundays", "s")

    assert first == [LATE]
    assert LATE not in again


def hold_something_back(listener: Listener, space: str | None = None) -> None:
    """Make a session hold back the ferry."""
    strict = replace(CONFIG, injection_gate=0.999, min_relevance_score=0.999)
    Listener(listener.stores, strict).hears(ASK_FERRY, "earlier", space)


def test_what_was_held_back_before_is_asked_about_on_a_sessions_first_prompt(
    listener: Listener,
) -> None:
    hold_something_back(listener)
    listener.clock.pass_by(days=1)

    first = listener.hears("is Marta allergic to peanuts?", "new")
    second = listener.hears("does the office have a green door?", "new")

    assert "Held back before, worth a look: **[fact]** The ferry to Bergen" in first.text
    assert "Held back before" not in second.text
    assert contents(first) == ["Marta is allergic to peanuts"]


def test_the_same_memory_is_not_asked_about_in_the_next_session(listener: Listener) -> None:
    hold_something_back(listener)
    listener.clock.pass_by(days=1)

    texts = []
    for session in ("one", "two", "three"):
        texts.append(listener.hears("is Marta allergic to peanuts?", session).text)
        listener.clock.pass_by(days=1)
    listener.clock.pass_by(days=14)
    later = listener.hears("is Marta allergic to peanuts?", "four").text

    assert ["**[fact]** The ferry" in each for each in (*texts, later)] == [
        True,
        False,
        False,
        True,
    ]


def test_another_memory_is_asked_about_before_the_same_one_again(listener: Listener) -> None:
    strict = replace(CONFIG, injection_gate=0.999, min_relevance_score=0.999)
    Listener(listener.stores, strict).hears("does the office have a green door?", "earlier")
    Listener(listener.stores, strict).hears(ASK_FERRY, "earlier")
    listener.clock.pass_by(days=1)

    first, second = (
        listener.hears("is Marta allergic to peanuts?", session).text for session in ("a", "b")
    )

    assert "worth a look: **[fact]** The ferry" in first
    assert "worth a look: **[fact]** The office" in second


def test_what_is_about_the_person_is_not_asked_about(stores: Stores) -> None:
    """An earlier session held it back; it waits until the person asks for it."""
    keep(stores, FERRY, tags=(ABOUT_SELF,))
    keep(stores, "Marta is allergic to peanuts")
    ensure_self(stores)
    listener = Listener(stores)
    hold_something_back(listener)
    listener.clock.pass_by(days=1)

    said = listener.hears("is Marta allergic to peanuts?", "new")

    assert said.injected
    assert "Held back" not in said.text


def test_what_was_just_held_back_is_not_asked_about_yet(listener: Listener) -> None:
    hold_something_back(listener)

    assert "Held back" not in listener.hears("is Marta allergic to peanuts?", "new").text


@pytest.mark.parametrize("prompt", ["", "ok great, thanks!", "<tick>x</tick>", "good morning"])
def test_talk_and_machines_are_asked_nothing(listener: Listener, prompt: str) -> None:
    hold_something_back(listener)
    listener.clock.pass_by(days=1)
    listener.config = replace(CONFIG, maintenance=True)

    assert listener.hears(prompt, "new").text == ""


def test_review_can_be_turned_off_and_needs_a_session(listener: Listener) -> None:
    hold_something_back(listener)
    listener.clock.pass_by(days=1)
    without_session = listener.hears("is Marta allergic to peanuts?")
    listener.config = replace(CONFIG, review=False)

    turned_off = listener.hears("is Marta allergic to peanuts?", "new")

    assert "Held back" not in without_session.text + turned_off.text


def test_what_another_space_held_back_is_not_asked_about_here(stores: Stores) -> None:
    keep(stores, FERRY, space="secret")
    keep(stores, "Marta is allergic to peanuts")
    listener = Listener(stores)
    hold_something_back(listener, "secret")
    listener.clock.pass_by(days=1)

    here = listener.hears("is Marta allergic to peanuts?", "new", space="open")
    there = listener.hears("is Marta allergic to peanuts?", "other", space="secret")

    assert "ferry" not in here.text
    assert "ferry" in there.text


@pytest.mark.few(1)
def test_a_busy_half_day_does_not_hide_what_was_held_back(listener: Listener) -> None:
    hold_something_back(listener)
    listener.clock.pass_by(days=1)
    for number in range(40):
        listener.hears(f"{STRANGE} {number}", "busy")

    assert "Held back" in listener.hears("is Marta allergic to peanuts?", "new").text


def test_maintenance_is_due_when_enabled_and_nobody_did_it(listener: Listener) -> None:
    off = listener.hears(ASK_FERRY)
    listener.config = replace(CONFIG, maintenance=True)
    never = listener.hears(ASK_FERRY)
    done = listener.clock.now().isoformat()
    state = new_event(listener.stores, EventKind.STATE, {"key": "maintenance", "value": done})
    record_events(listener.stores, [state], durable=True)
    just_done = listener.hears(ASK_FERRY)
    listener.clock.pass_by(hours=25)
    long_ago = listener.hears(ASK_FERRY)

    due = [each.text.endswith("\nmaintenance_due\n") for each in (off, never, just_done, long_ago)]
    assert due == [False, True, False, True]


def test_a_held_out_whisper_says_nothing_and_is_logged_with_what_it_would_have_said(
    listener: Listener,
) -> None:
    hold_something_back(listener)
    listener.clock.pass_by(days=1)
    listener.config = replace(CONFIG, holdout=1.0, maintenance=True)

    said = listener.hears("is Marta allergic to peanuts?", "s")

    assert (said.text, said.injected, said.silence) == ("", (), HELD_OUT)
    body = last_body(listener)
    assert body["held_out"] is True
    candidates = body["candidates"]
    assert isinstance(candidates, list)
    assert [each["title"] for each in candidates] == ["Marta is allergic to peanuts"]


def test_a_held_out_memory_was_not_told(listener: Listener) -> None:
    listener.config = replace(CONFIG, holdout=1.0)
    listener.hears(ASK_FERRY, "s")
    listener.config = CONFIG

    assert contents(listener.hears(ASK_FERRY, "s")) == [FERRY]


@pytest.mark.soak
def test_half_of_the_prompts_are_held_out_and_always_the_same(listener: Listener) -> None:
    listener.config = replace(CONFIG, holdout=0.5)
    prompts = [f"{ASK_FERRY}{' ' * number}" for number in range(60)]

    once, twice = ([listener.hears(each).silence == HELD_OUT for each in prompts] for _ in range(2))

    assert once == twice
    assert 15 < sum(once) < 45


# --- what is kept of it ---------------------------------------------------------------------


def test_silence_is_logged_with_its_stage_and_scores(listener: Listener) -> None:
    said = listener.hears(STRANGE, "s", space="atlas")

    (entry,) = listener.stores.log.whispers(5)
    assert (entry.id, entry.session, entry.space) == (said.whisper_id, "s", "atlas")
    assert entry.body["prompt"] == STRANGE
    assert entry.body["stage"] == "floor"
    assert said.silence is not None
    assert entry.body["silence_parts"] == said.silence.to_json()
    assert entry.body["injected"] == []
    refused = entry.body["refused"]
    assert isinstance(refused, list)
    assert refused[0]["worth"] == entry.body["best"]
    assert refused == sorted(refused, key=lambda each: -each["worth"])


def test_a_whisper_is_logged_with_what_was_said(listener: Listener) -> None:
    said = listener.hears(ASK_FERRY, "s")

    body = last_body(listener)
    assert body["injected"] == [said.injected[0].memory.id]
    assert (body["silence_parts"], body["held_out"], body["intents"]) == (None, False, ["general"])


def test_the_log_is_kept_for_thirty_days(listener: Listener) -> None:
    first = listener.hears(STRANGE)
    listener.clock.pass_by(days=29, hours=23)
    listener.hears(STRANGE)
    still = listener.stores.log.whisper(first.whisper_id)
    listener.clock.pass_by(hours=2)
    listener.hears(STRANGE)

    assert still is not None
    assert listener.stores.log.whisper(first.whisper_id) is None
    assert len(listener.stores.log.whispers(10)) == 2


def test_a_whisper_that_came_too_late_is_logged_so_and_may_be_told_again(
    listener: Listener,
) -> None:
    keep(listener.stores, SAME)
    listener.config = replace(CONFIG, topic_shift_threshold=1.0)
    in_time = listener.hears("is Marta allergic to peanuts?", "s")
    late = listener.hears(ASK_FERRY, "s")

    mark_undelivered(listener.stores, listener.whisperer.sessions, late.whisper_id, Loss.LATE)
    mark_undelivered(listener.stores, listener.whisperer.sessions, "no such whisper", Loss.LATE)

    entry = listener.stores.log.whisper(late.whisper_id)
    other = listener.stores.log.whisper(in_time.whisper_id)
    assert entry is not None
    assert other is not None
    assert (entry.body.get("late"), other.body.get("late")) == (True, None)
    assert len(contents(listener.hears(ASK_FERRY, "s"))) == 1
    assert listener.hears("is Marta allergic to peanuts?", "s").text == ""


# --- any prompt, any number of sessions -----------------------------------------------------


@pytest.mark.parametrize(
    ("memory", "prompt"),
    [
        ("データベースは SQLite に決めた", "データベースは SQLite に決めた？"),
        ("قاعدة البيانات هي سكلايت وتعمل دون اتصال", "ما هي قاعدة البيانات التي تعمل دون اتصال؟"),
        ("Паром в Берген уходит в девять", "когда паром уходит в Берген?"),
    ],
    ids=["japanese", "arabic", "russian"],
)
def test_prompts_in_other_languages_are_whispered_about(
    listener: Listener, memory: str, prompt: str
) -> None:
    keep(listener.stores, memory)

    assert contents(listener.hears(prompt)) == [memory]


@pytest.mark.parametrize(
    "prompt",
    [
        "x" * 1_000_000,
        "word " * 200_000,
        "thank you " * 100_000,
        "海" * 350_000,
        "\n" * 1_000_000 + "ferry",
        "what did we do " * 70_000,
        "\x00\x01 ferry \u202e \ufffe",
        '" OR 1=1 -- ferry* NEAR(',
    ],
    ids=lambda text: repr(text[:12]),
)
def test_any_prompt_is_answered_in_time(listener: Listener, prompt: str) -> None:
    said = listener.hears(prompt, "s")

    assert said.took_ms < 5_000
    prompt_kept = last_body(listener)["prompt"]
    assert isinstance(prompt_kept, str)
    assert len(prompt_kept) <= 2_000


def test_twenty_sessions_at_once_each_hear_their_own(stores: Stores) -> None:
    for number in range(20):
        keep(stores, f"harbour{number} opens at quay{number} with pilot{number}")
    listener = Listener(stores)
    together = threading.Barrier(20)

    def session(number: int) -> list[list[str]]:
        together.wait(10)
        prompt = f"who is pilot{number} at quay{number} of harbour{number}?"
        return [contents(listener.hears(prompt, f"s{number}")) for _ in range(3)]

    with ThreadPoolExecutor(20) as pool:
        heard = list(pool.map(session, range(20)))

    for number, (first, second, third) in enumerate(heard):
        assert f"harbour{number} opens at quay{number} with pilot{number}" in first
        assert second == third == []
    assert len(stores.log.whispers(100)) == 60
    assert len({each.id for each in stores.log.whispers(100)}) == 60


def test_the_clock_set_back_does_not_break_a_session(listener: Listener) -> None:
    listener.hears(ASK_FERRY, "s")
    listener.clock.at -= timedelta(days=2)

    assert listener.hears("is Marta allergic to peanuts?", "s").text


def test_a_gate_of_one_lets_nothing_through(listener: Listener) -> None:
    keep(listener.stores, "Never commit directly to main", type=MemoryType.PREFERENCE)
    listener.config = replace(listener.config, injection_gate=1.0)

    assert listener.hears("commit directly to main").text == ""


def test_a_prompt_typed_outside_of_any_project_hears_of_none(listener: Listener) -> None:
    keep(listener.stores, "the lantern of the harbour is amber", space="atlas")
    prompt = Prompt("which lantern has the harbour?", cwd="/somewhere")

    said = whisper(listener.stores, listener.config, listener.whisperer, prompt)

    assert said.injected == ()


def test_silence_for_want_of_room_says_so(listener: Listener) -> None:
    keep(listener.stores, "the lantern of the harbour is amber")
    listener.config = replace(listener.config, token_budget=20)

    said = listener.hears("the lantern of the harbour is amber")

    assert said.injected == ()
    assert in_words(said.silence) is not None
    assert "token_budget" in in_words(said.silence)


WARMED = """
import gc, sys
from pathlib import Path
from madeleine.api.call import OperationCall
from madeleine.api.operations import perform_operation
from madeleine.bootstrap import open_home
from madeleine.language.late_pattern import LatePattern

def compiled():
    return sum(type(each) is LatePattern and "search" in vars(each) for each in gc.get_objects())

context = open_home(Path(sys.argv[1]))
context.whisperer.warm(context.stores, context.whisper_config)
ready = compiled()
assert perform_operation(context, "whisper_why", OperationCall()).whisper is None
content = {"content": "The ferry to Bergen leaves at nine"}
perform_operation(context, "remember", OperationCall(body=content))
after = compiled()
prompt = {"prompt": "when does the ferry to Bergen leave?"}
told = perform_operation(context, "whisper", OperationCall(body=prompt))
print(ready, compiled() - after, len(told.injected))
context.close()
"""


def test_the_first_prompt_after_a_start_finds_everything_compiled(tmp_path: Path) -> None:
    """Also in a home that was empty then; and warming up is no whisper."""
    ran = subprocess.run(
        [sys.executable, "-c", WARMED, str(tmp_path / "home")],
        env={**os.environ, "MADELEINE_EMBEDDER_KIND": "fake"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    ready, late, told = map(int, ran.stdout.split())
    assert told == 1
    assert ready > 10
    assert late < 10  # what only a memory or the words of this prompt call for
