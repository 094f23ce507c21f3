"""What a person asks not to keep, told from what they say about memory, files and the work."""

from __future__ import annotations

import pytest

from madeleine.language.off_record import asks_not_to_remember, takes_back

OFF_RECORD = [
    "Off the record, don't remember this.",
    "I hate my boss. Off the record.",
    "This is off the record: I may quit",
    "don't remember this",
    "Please do not remember that.",
    "Do not save this to your memory",
    "don't write this down, but Anna is leaving",
    "Between us: the deal is off",
    "This stays between us",
    "keep this between you and me please",
    "Don’t remember this please",
    "you don't need to remember this",
    "Don't store this in memory",
    "never memorize any of this",
    "please don't remember what I just told you",
    "leave that out of your notes",
    "Just between us, I am ill",
    "That was off the record",
    "merk dir das bitte nicht",
    "Das bitte nicht speichern",
    "unter uns: er geht",
    "could you not remember this?",
    "My wife is pregnant, please don't record this.",
    "don't remember this conversation",
    "Don't note this down",
    "I'm getting a divorce (don't remember that)",
    "Everything is strictly off the record",
    "don't keep this in your memory",
]
ON_RECORD = [
    "I don't remember this function",
    "We don't remember that",
    "don't store passwords in plain text",
    "Never save this file in the repo",
    "take the lock off the record and retry",
    "what is the difference between us and them?",
    "Remember that we always squash merge",
    "don't forget this",
    "I don't remember what I told you about CI",
    "Don't remember the port? it's 8080",
    "do not store this value in Redis",
    "Don't save it to disk",
    "record this in the changelog",
    "For the record, we use ruff",
    "keep it private",
    "Don't remember that flag; look it up",
    "write this down in the README",
    "the record is off by one",
    "don't log this header",
    "Users don't remember this password anyway",
    "between us-east and us-west, choose one",
    "please don't keep this branch",
    "do I have to remember this?",
    "Never record audio",
    "why don't you remember this?",
]


@pytest.mark.parametrize("message", OFF_RECORD)
def test_who_asks_that_it_is_not_kept_is_understood(message: str) -> None:
    assert asks_not_to_remember(message)


@pytest.mark.parametrize("message", ON_RECORD)
def test_what_is_about_the_work_is_not_taken_for_it(message: str) -> None:
    assert not asks_not_to_remember(message)


@pytest.mark.parametrize(
    "message",
    [
        "forget what I said",
        "Forget I said that",
        "forget that I asked",
        "don't remember that.",
        "please don't remember what I just said",
        "Vergiss, was ich gesagt habe",
    ],
)
def test_who_takes_back_what_was_said_before_is_understood(message: str) -> None:
    assert takes_back(message)


@pytest.mark.parametrize(
    "message",
    [
        "don't forget what I said",
        "forget about the tests",
        "I forget what I said",
        "never forget that",
        "forget the cache",
        "don't remember this",
    ],
)
def test_other_forgetting_takes_nothing_back(message: str) -> None:
    assert not takes_back(message)
