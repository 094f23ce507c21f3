"""Which prompt of its session this is, and whether it came a moment ago."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from madeleine.server.prompt_history import MAX_SESSIONS, PromptArrival, PromptHistory

WINDOW = 10.0


def said(
    text: str,
    session: str | None = "s1",
    folder: str | None = "/ana/atlas",
    entry: str = "claude",
    once_a_turn: bool = False,
) -> PromptArrival:
    return PromptArrival(text, session, folder, entry, once_a_turn)


def test_prompts_of_a_session_are_counted_from_one() -> None:
    turns = PromptHistory(WINDOW)

    assert [turns.arrive(said(f"prompt {n}"), n) for n in range(3)] == [1, 2, 3]
    assert turns.arrive(said("another", "s2"), 3) == 1


def test_the_same_prompt_of_the_same_session_comes_once() -> None:
    turns = PromptHistory(WINDOW)

    assert turns.arrive(said("hello"), 0) == 1
    assert turns.arrive(said("hello"), 0.001) is None
    assert turns.arrive(said("hello"), 9.9) is None
    assert turns.arrive(said("hello!"), 9.9) == 2


def test_after_a_while_the_same_prompt_is_another_one() -> None:
    turns = PromptHistory(WINDOW)

    assert turns.arrive(said("continue"), 0) == 1
    assert turns.arrive(said("continue"), 10.1) == 2


def test_two_sessions_in_one_folder_may_be_told_the_same() -> None:
    turns = PromptHistory(WINDOW)

    assert turns.arrive(said("continue", "s1"), 0) == 1
    assert turns.arrive(said("continue", "s2"), 0.1) == 1


def test_another_entry_with_another_name_for_the_session_is_the_same_prompt() -> None:
    """Cursor runs Claude Code's hooks beside its own."""
    turns = PromptHistory(WINDOW)

    assert turns.arrive(said("hello", "conversation", entry="cursor"), 0) == 1
    assert turns.arrive(said("hello", "session", entry="claude@cursor"), 0.1) is None
    assert turns.arrive(said("hello", "session", "/other", entry="claude@cursor"), 0.1) == 1


def test_without_a_session_the_folder_stands_for_it() -> None:
    turns = PromptHistory(WINDOW)

    assert turns.arrive(said("hello", None), 0) == 1
    assert turns.arrive(said("hello", None), 1) is None
    assert turns.arrive(said("hello", None, "/other"), 1) == 1


def test_a_host_that_calls_on_every_step_is_answered_once_a_turn() -> None:
    turns = PromptHistory(WINDOW)

    assert turns.arrive(said("hello", once_a_turn=True), 0) == 1
    assert turns.arrive(said("hello", once_a_turn=True), 300) is None
    assert turns.arrive(said("next", once_a_turn=True), 301) == 2
    assert turns.arrive(said("hello", once_a_turn=True), 400) == 3


def test_of_many_at_the_same_moment_one_is_the_first() -> None:
    turns, together = PromptHistory(WINDOW), threading.Barrier(16)

    def arrive(number: int) -> int | None:
        together.wait()
        return turns.arrive(said("hello"), 0)

    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(arrive, range(16)))

    assert sorted(each for each in found if each is not None) == [1]


def test_sessions_that_were_quiet_for_longest_are_forgotten_first() -> None:
    turns = PromptHistory(WINDOW)
    turns.arrive(said("first", "kept"), 0)
    turns.arrive(said("first", "lost"), 0)
    for number in range(MAX_SESSIONS - 1):
        turns.arrive(said("again", "kept"), 20 * (number + 1))
        turns.arrive(said("other", f"other {number}"), 20 * (number + 1))

    assert turns.arrive(said("last", "lost"), 1_000_000) == 1
    assert turns.arrive(said("last", "kept"), 1_000_000) == MAX_SESSIONS + 1
