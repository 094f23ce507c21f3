"""Contrasts: what took the place of what is told as it was told, or it is noticed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.language.contrasts import reverses_contrast

MOVED = "We moved the invoices from Hetzner to AWS in May. Ask Ben about it."
LIKED = "I prefer tabs over spaces, and pytest rather than unittest."
TOLD = [
    (MOVED, "The invoices moved from AWS to Hetzner in May."),
    (MOVED, "In May the invoices went to Hetzner from AWS."),
    (MOVED, "The invoices service was moved to Hetzner."),
    (MOVED, "The invoices service moved away from AWS."),
    (MOVED, "The invoices run on Hetzner instead of AWS."),
    (MOVED, "Hetzner replaced AWS for the invoices."),
    (LIKED, "The user prefers spaces over tabs."),
    (LIKED, "The user prefers spaces to tabs."),
    (LIKED, "Use unittest instead of pytest."),
    (LIKED, "Use spaces, not tabs."),
    ("Use Postgres, not MySQL.", "MySQL is used rather than Postgres."),
    ("Use Postgres, not MySQL.", "They use not Postgres but MySQL."),
    ("Postgres was replaced by SQLite.", "SQLite was replaced by Postgres."),
    ("We replaced Postgres with SQLite.", "They replaced SQLite with Postgres."),
    ("Instead of Redis we use Valkey.", "Redis is used instead of Valkey."),
    ("Instead of Redis, we use Valkey.", "Redis is used instead of Valkey."),
]


@pytest.mark.parametrize(("told", "said"), TOLD)
def test_what_was_left_is_not_what_was_taken(told: str, said: str) -> None:
    assert reverses_contrast(said, told)


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (MOVED, "The invoices service moved from Hetzner to AWS."),
        (MOVED, "Since May the invoices are on AWS rather than Hetzner."),
        (MOVED, "AWS replaced Hetzner for the invoices in May."),
        (MOVED, "Moved to AWS in May, away from Hetzner; ask Ben."),
        (MOVED, "Hetzner was replaced with AWS."),
        (LIKED, "The user prefers tabs to spaces and pytest over unittest."),
        (LIKED, "Tabs are preferred to spaces."),
        (LIKED, "The user prefers to use tabs instead of spaces."),
        (LIKED, "Use tabs, not spaces. Use pytest, not unittest."),
        ("Instead of Redis, we use Valkey.", "Valkey replaces Redis."),
        ("We got a request from Acme about invoices.", "Answer to Acme about the invoices."),
        ("Ben learned the trick from Ana.", "Ana showed the trick to Ben."),
        ("Open from 9 to 5, from Monday to Friday.", "It is open Monday to Friday, from 9 to 5."),
        (
            "We moved from Hetzner to AWS, and now back from AWS to Hetzner.",
            "The service moved from AWS to Hetzner again.",
        ),
        (
            "We moved from Hetzner to AWS. I want to keep Hetzner for backups.",
            "The user wants to keep Hetzner for backups.",
        ),
        (
            "Export notes from Notion to Obsidian, then from Obsidian to the blog.",
            "Notes go from Obsidian to the blog.",
        ),
    ],
)
def test_what_is_told_in_other_words_passes(told: str, said: str) -> None:
    assert not reverses_contrast(said, told)


@pytest.mark.parametrize(("told", "said"), TOLD)
def test_a_text_never_turns_itself_round(told: str, said: str) -> None:
    assert not reverses_contrast(told, told)
    assert not reverses_contrast(said, f"{told}\n{said}")


WORDS = ("from", "to", "over", "not", "instead of", "prefer", "tabs", "spaces", ",", ".", "but",
         "replaced", "by")  # fmt: skip


@given(st.lists(st.sampled_from(WORDS), max_size=14))
def test_any_text_agrees_with_itself(words: list[str]) -> None:
    text = " ".join(words)

    assert not reverses_contrast(text, text)
