"""What is remembered of a session, for how long, and how much of it."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from madeleine.whisper.config import WhisperConfig
from madeleine.whisper.session import SESSIONS_KEPT, RecentPrompts, WhisperSessions, WhisperTurn
from tests.fakes import NOON
from tests.sentences import in_words
from tests.whisper.listening import CONFIG, Listener, contents

GAP = CONFIG.session_gap_minutes
FERRY = "The ferry to Bergen leaves at half past nine"


def texts(recent: RecentPrompts) -> list[str]:
    return [each.text for each in recent.prompts]


def a_prompt(sessions: WhisperSessions, text: str, minutes: float = 0, *told: str) -> None:
    at = NOON + timedelta(minutes=minutes)
    sessions.note("s", WhisperTurn(text, at, None, frozenset(told)), CONFIG.context_buffer_size)


def test_a_first_prompt_has_nothing_before_it() -> None:
    assert WhisperSessions().recent("s", NOON, GAP) == RecentPrompts((), frozenset(), first=True)


def test_the_last_five_prompts_are_kept_oldest_first() -> None:
    sessions = WhisperSessions()
    for number in range(8):
        a_prompt(sessions, f"prompt {number}")

    recent = sessions.recent("s", NOON, GAP)

    assert texts(recent) == [f"prompt {number}" for number in range(3, 8)]
    assert not recent.first


def test_a_prompt_older_than_the_gap_is_dropped() -> None:
    sessions = WhisperSessions()
    a_prompt(sessions, "old", 0)
    a_prompt(sessions, "just in time", 2)
    a_prompt(sessions, "new", 5)

    recent = sessions.recent("s", NOON + timedelta(minutes=12), GAP)

    assert texts(recent) == ["just in time", "new"]


def test_a_session_after_a_gap_is_not_a_new_one_but_nothing_counts_as_told() -> None:
    sessions = WhisperSessions()
    a_prompt(sessions, "old", 0, "a", "b")

    recent = sessions.recent("s", NOON + timedelta(minutes=GAP + 1), GAP)

    assert recent == RecentPrompts((), frozenset(), first=False)


def test_what_was_told_counts_for_as_long_as_somebody_goes_on_typing() -> None:
    sessions = WhisperSessions()
    a_prompt(sessions, "old", 0, "a")
    for minutes in range(GAP - 1, 6 * GAP, GAP - 1):
        now = NOON + timedelta(minutes=minutes)
        assert sessions.recent("s", now, GAP).told == {"a"}
        a_prompt(sessions, "still here", minutes)


def test_what_was_told_no_longer_counts_once_the_host_shortened_the_session() -> None:
    sessions = WhisperSessions()
    a_prompt(sessions, "old", 0, "a")

    sessions.shortened("s")
    sessions.shortened("unknown")

    recent = sessions.recent("s", NOON, GAP)
    assert (recent.told, texts(recent), recent.first) == (frozenset(), ["old"], False)
    assert not any(each.told for each in recent.prompts)


def test_sessions_do_not_see_each_other_and_no_session_keeps_nothing() -> None:
    sessions = WhisperSessions()
    a_prompt(sessions, "mine")
    sessions.note(None, WhisperTurn("nobody's", NOON, None, frozenset({"a"})), 5)

    assert sessions.recent("other", NOON, GAP) == RecentPrompts()
    assert sessions.recent(None, NOON, GAP) == RecentPrompts()


def test_the_session_that_was_quiet_longest_is_forgotten_first() -> None:
    sessions = WhisperSessions()
    for number in range(SESSIONS_KEPT + 1):
        sessions.note(f"s{number}", WhisperTurn("x", NOON, None), 5)
        sessions.note("s0", WhisperTurn("still here", NOON, None), 5)

    assert sessions.recent("s1", NOON, GAP).first
    assert not sessions.recent("s0", NOON, GAP).first
    assert not sessions.recent(f"s{SESSIONS_KEPT}", NOON, GAP).first


ASK_FERRY = "when does the ferry to Bergen leave?"
ASK_PEANUTS = "is Marta allergic to peanuts?"


def test_nothing_is_whispered_twice_in_a_session_until_it_was_quiet(listener: Listener) -> None:
    first = listener.hears(ASK_FERRY, "s")
    listener.clock.pass_by(minutes=GAP - 1)
    listener.hears(ASK_PEANUTS, "s")
    listener.clock.pass_by(minutes=GAP - 1)

    again = listener.hears(ASK_FERRY, "s")
    elsewhere = listener.hears(ASK_FERRY, "t")
    listener.clock.pass_by(minutes=GAP + 1)
    later = listener.hears(ASK_FERRY, "s")

    assert contents(first) == contents(elsewhere) == contents(later) == [FERRY]
    assert (again.text, again.stage) == ("", "session")


def test_what_the_agent_no_longer_has_before_it_is_whispered_again(listener: Listener) -> None:
    listener.hears(ASK_FERRY, "s")
    before = listener.hears(ASK_FERRY, "s")

    listener.whisperer.sessions.shortened("s")

    assert before.text == ""
    assert contents(listener.hears(ASK_FERRY, "s")) == [FERRY]


def test_the_same_topic_is_silent_until_the_gap_has_passed(listener: Listener) -> None:
    listener.hears(ASK_FERRY, "s")

    soon = listener.hears("when does the ferry to Bergen leave now?", "s")
    listener.clock.pass_by(minutes=GAP + 1)
    later = listener.hears("when does the ferry to Bergen leave now?", "s")

    assert soon.stage == "topic"
    assert contents(later) == [FERRY]
    assert (in_words(soon.silence) or "").startswith("still the same topic (")


@pytest.mark.parametrize("prompt", ["yes, go ahead", "ok do it", "sounds good, continue"])
def test_a_yes_goes_on_with_what_was_said_before_and_with_nothing_else(
    listener: Listener, prompt: str
) -> None:
    listener.config = type(CONFIG)(holdout=1.0)
    listener.hears(ASK_FERRY, "s")
    listener.config = CONFIG

    assert (listener.hears(prompt, "new").text, listener.hears(prompt).text) == ("", "")
    assert contents(listener.hears(prompt, "s")) == [FERRY]


def test_going_on_brings_what_the_last_prompts_were_about(listener: Listener) -> None:
    """The first prompt is answered in a session that whispers nothing, so the second may."""
    listener.config = type(CONFIG)(holdout=1.0)
    listener.hears("when does the ferry to Bergen leave?", "s")
    listener.config = CONFIG

    alone = listener.hears("go on from where we left off", "other")
    going_on = listener.hears("go on from where we left off", "s")

    assert alone.text == ""
    assert contents(going_on) == [FERRY]


def test_a_prompt_without_a_session_stands_alone(listener: Listener) -> None:
    texts = [listener.hears("when does the ferry to Bergen leave?").text for _ in range(2)]

    assert texts[0] == texts[1] != ""


# --- prompts of one session at once ---------------------------------------------------------


def test_a_late_whisper_frees_its_own_memories_and_no_others() -> None:
    sessions = WhisperSessions()
    a_prompt(sessions, "first", 0, "one")
    a_prompt(sessions, "second", 0, "two", "three")
    a_prompt(sessions, "third", 0, "four")

    sessions.take_back("s", ["two", "three"])
    sessions.take_back("unknown", ["one"])
    sessions.take_back(None, ["one"])

    recent = sessions.recent("s", NOON, GAP)
    assert recent.told == {"one", "four"}
    assert [bool(each.told) for each in recent.prompts] == [True, False, True]


def test_of_many_who_claim_a_memory_at_once_one_gets_it() -> None:
    sessions = WhisperSessions()
    together = threading.Barrier(16)

    def claim(_: int) -> frozenset[str]:
        together.wait(10)
        with sessions.claiming("s", ["a", "b", "c"]) as claimed:
            claimed.told = claimed.ids
            return claimed.ids

    with ThreadPoolExecutor(16) as pool:
        got = [each for ids in pool.map(claim, range(16)) for each in ids]

    assert sorted(got) == ["a", "b", "c"]


def test_what_is_claimed_and_not_told_is_free_again_whatever_happened() -> None:
    sessions = WhisperSessions()

    def fail_halfway() -> None:
        with sessions.claiming("s", ["a", "b"]) as claim:
            claim.told = frozenset({"b"})
            raise ValueError("halfway")

    with pytest.raises(ValueError, match="halfway"):
        fail_halfway()

    with sessions.claiming("s", ["a", "b"]) as again:
        assert again.ids == {"a"}
    assert sessions.recent("s", NOON, GAP).first


def test_prompts_at_once_tell_a_memory_to_their_session_once(listener: Listener) -> None:
    """Each is about both memories, and the gate is so low that each of them would tell both."""
    listener.config = WhisperConfig(injection_gate=0.1)
    prompts = [f"{ASK_FERRY} {ASK_PEANUTS}{' ' * number}" for number in range(12)]
    together = threading.Barrier(len(prompts))

    def ask(prompt: str) -> list[str]:
        together.wait(10)
        return contents(listener.hears(prompt, "s"))

    with ThreadPoolExecutor(len(prompts)) as pool:
        told = [each for texts in pool.map(ask, prompts) for each in texts]

    assert FERRY in told
    assert len(told) == len(set(told))
