"""What is remembered of a session, for how long, and how much of it."""

from __future__ import annotations

from datetime import timedelta

from madeleine.whisper.session import SESSIONS_KEPT, Recent, Said, Sessions
from tests.fakes import NOON
from tests.whisper.listening import HABITS, Listener, contents

GAP = HABITS.session_gap_minutes
FERRY = "The ferry to Bergen leaves at half past nine"


def texts(recent: Recent) -> list[str]:
    return [each.text for each in recent.prompts]


def a_prompt(sessions: Sessions, text: str, minutes: float = 0, *told: str) -> None:
    at = NOON + timedelta(minutes=minutes)
    sessions.note("s", Said(text, at, None), set(told), HABITS.context_buffer_size)


def test_a_first_prompt_has_nothing_before_it() -> None:
    assert Sessions().recent("s", NOON, GAP) == Recent((), frozenset(), first=True)


def test_the_last_five_prompts_are_kept_oldest_first() -> None:
    sessions = Sessions()
    for number in range(8):
        a_prompt(sessions, f"prompt {number}")

    recent = sessions.recent("s", NOON, GAP)

    assert texts(recent) == [f"prompt {number}" for number in range(3, 8)]
    assert not recent.first


def test_a_prompt_older_than_the_gap_is_dropped() -> None:
    sessions = Sessions()
    a_prompt(sessions, "old", 0)
    a_prompt(sessions, "just in time", 2)
    a_prompt(sessions, "new", 5)

    recent = sessions.recent("s", NOON + timedelta(minutes=12), GAP)

    assert texts(recent) == ["just in time", "new"]


def test_a_session_after_a_gap_is_not_a_new_one_and_knows_what_was_told() -> None:
    sessions = Sessions()
    a_prompt(sessions, "old", 0, "a", "b")

    recent = sessions.recent("s", NOON + timedelta(days=1), GAP)

    assert recent == Recent((), frozenset({"a", "b"}), first=False)


def test_sessions_do_not_see_each_other_and_no_session_keeps_nothing() -> None:
    sessions = Sessions()
    a_prompt(sessions, "mine")
    sessions.note(None, Said("nobody's", NOON, None), {"a"}, 5)

    assert sessions.recent("other", NOON, GAP) == Recent()
    assert sessions.recent(None, NOON, GAP) == Recent()


def test_the_session_that_was_quiet_longest_is_forgotten_first() -> None:
    sessions = Sessions()
    for number in range(SESSIONS_KEPT + 1):
        sessions.note(f"s{number}", Said("x", NOON, None), set(), 5)
        sessions.note("s0", Said("still here", NOON, None), set(), 5)

    assert sessions.recent("s1", NOON, GAP).first
    assert not sessions.recent("s0", NOON, GAP).first
    assert not sessions.recent(f"s{SESSIONS_KEPT}", NOON, GAP).first


def test_nothing_is_whispered_twice_in_a_session_even_after_a_gap(listener: Listener) -> None:
    first = listener.hears("when does the ferry to Bergen leave?", "s")
    listener.clock.pass_by(minutes=GAP + 1)

    again = listener.hears("when does the ferry to Bergen leave?", "s")
    elsewhere = listener.hears("when does the ferry to Bergen leave?", "t")

    assert contents(first) == contents(elsewhere) == [FERRY]
    assert (again.text, again.stage) == ("", "session")


def test_the_same_topic_is_silent_until_the_gap_has_passed(listener: Listener) -> None:
    listener.hears("when does the ferry to Bergen leave?", "s")

    soon = listener.hears("when does the ferry to Bergen leave now?", "s")
    listener.clock.pass_by(minutes=GAP + 1)
    later = listener.hears("when does the ferry to Bergen leave now?", "s")

    assert (soon.stage, later.stage) == ("topic", "session")
    assert (soon.silence or "").startswith("still the same topic (")


def test_going_on_brings_what_the_last_prompts_were_about(listener: Listener) -> None:
    """The first prompt is answered in a session that whispers nothing, so the second may."""
    listener.habits = type(HABITS)(holdout=1.0)
    listener.hears("when does the ferry to Bergen leave?", "s")
    listener.habits = HABITS

    alone = listener.hears("go on from where we left off", "other")
    going_on = listener.hears("go on from where we left off", "s")

    assert alone.text == ""
    assert contents(going_on) == [FERRY]


def test_a_prompt_without_a_session_stands_alone(listener: Listener) -> None:
    texts = [listener.hears("when does the ferry to Bergen leave?").text for _ in range(2)]

    assert texts[0] == texts[1] != ""


def test_a_whisper_that_came_too_late_may_be_told_again() -> None:
    sessions = Sessions()
    a_prompt(sessions, "first", 0, "one")
    a_prompt(sessions, "second", 0, "one", "two")

    sessions.take_back("s")
    sessions.take_back("unknown")

    assert sessions.recent("s", NOON, GAP).told == {"one"}
