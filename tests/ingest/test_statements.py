"""What a person says outright is kept; everything that is not certain is left alone."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from madeleine.ingest.statements import MESSAGE_CHARS, TASK_CHARS, find_statements


@pytest.mark.parametrize(
    ("said", "text", "kind"),
    [
        ("Remember that deploys happen on Tuesdays.", "Deploys happen on Tuesdays.", "fact"),
        ("please remember: the staging db is db-2", "The staging db is db-2", "fact"),
        ("Claude, remember that we use uv", "We use uv", "fact"),
        ("can you remember that I use zsh?", "I use zsh", "fact"),
        ("I want you to remember that Ana owns billing", "Ana owns billing", "fact"),
        ("don't forget that Fridays are off", "Fridays are off", "fact"),
        ("note: we ship from the release branch", "We ship from the release branch", "fact"),
        ("Make a note that the lease ends in May", "The lease ends in May", "fact"),
        ("For the record, the audit was in March", "The audit was in March", "fact"),
        ("remember I prefer short answers", "I prefer short answers", "preference"),
        ("From now on, answer in German", "From now on, answer in German", "preference"),
        ("ok so from now on use pnpm", "From now on use pnpm", "preference"),
        ("Always run make lint before committing.", None, "preference"),
        ("Never push to main", None, "preference"),
        ("- always ask before deleting files", "Always ask before deleting files", "preference"),
        ("I prefer tabs over spaces", None, "preference"),
        ("We always squash before merging", None, "preference"),
        ("We decided to use SQLite for the index", None, "decision"),
        ("We've decided against Redis", None, "decision"),
        ("We chose SQLite over Postgres for local-first", None, "decision"),
        ("We agreed that PRs need two reviews.", None, "decision"),
        ("We decided HALFLINE is the name", None, "decision"),
        ("We decided Postgres wins over MySQL here", None, "decision"),
        ("I've decided the green pump stays in the south basin.", None, "decision"),
        ("We finally decided Postgres and Redis will share a host", None, "decision"),
        ("We decided the release branch isn't protected", None, "decision"),
        ("I decided Bertha owns the crane", None, "decision"),
        ("Let's go with Redis for the cache.", None, "decision"),
        ("ok let's stick with uv for builds", "Let's stick with uv for builds", "decision"),
        ("Let\u2019s go with tabs over spaces", "Let's go with tabs over spaces", "decision"),
        ("Let's go with Redis for the cache because reads dominate", None, "decision"),
        ("remember that we decided Ana handles tax", "We decided Ana handles tax", "decision"),
        ("My name is Ana", None, "fact"),
        ("my time zone is CET", "My time zone is CET", "fact"),
        ("My favourite editor is Helix", None, "fact"),
        ("I\u2019ve decided to learn Rust", "I've decided to learn Rust", "decision"),
        ("Merk dir: Releases nur am Montag", "Releases nur am Montag", "fact"),
        ("Ab jetzt bitte nur noch auf Deutsch", None, "preference"),
        ("Recuerda que el puerto es 8080", "El puerto es 8080", "fact"),
        ("Retiens que la base est en lecture seule", "La base est en lecture seule", "fact"),
        ("テストは必ず先に書くことを覚えておいて", "テストは必ず先に書く", "fact"),
        ("今後は日本語で答えてください", None, "preference"),
        ("记住：发布只在周一", "发布只在周一", "fact"),
        ("تذكر أن الاجتماع يوم الأحد", "الاجتماع يوم الأحد", "fact"),
    ],
)
def test_what_is_said_outright_is_kept(said: str, text: str | None, kind: str) -> None:
    found = find_statements(said)

    assert [(each.text, each.type.value) for each in found] == [(text or said, kind)]


@pytest.mark.parametrize(
    "said",
    [
        "My name is Ana",
        "I prefer tabs over spaces",
        "remember that I am allergic to nuts",
        "I always use rebase instead of merge",
    ],
)
def test_what_is_about_the_person_is_marked_so(said: str) -> None:
    assert [each.about_self for each in find_statements(said)] == [True]


def test_what_is_about_the_project_is_not_about_the_person() -> None:
    found = find_statements("We decided to use SQLite. Always run make lint first.")

    assert [each.about_self for each in found] == [False, False]


@pytest.mark.parametrize(
    "said",
    [
        "fix the login bug",
        "Never mind, I fixed it.",
        "nevermind that then please",
        "Do you remember that bug with the parser?",
        "remember when we fixed the parser?",
        "remember that",
        "remember that it works now",
        "remember to run the tests",
        "remember the file we changed yesterday",
        "note that the tests fail",
        "Note:",
        "should we always use tabs?",
        "what is my name?",
        "I prefer the second one",
        "I prefer that",
        "I'd prefer it if you asked first",
        "We decided to do it",
        "We settled on the first option",
        "Always the same error here.",
        "always fails with a 500",
        "Always has been a problem for us",
        "never tried that before, sorry",
        "Never seen this error in my life",
        "never again please do that",
        "Never do that please",
        "I never got it to work",
        "we never saw that coming",
        "my code is broken",
        "my test is failing",
        "my laptop is slow",
        "my team is not happy",
        "use tabs for now",
        "Always use tabs in this file",
        "From now on use tabs in this session",
        "I prefer tea today",
        "He said always use tabs",
        "x",
        "",
    ],
)
def test_what_is_not_certain_is_left_alone(said: str) -> None:
    assert find_statements(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "have we decided HALFLINE is the name?",
        "Have we decided Postgres wins over MySQL",
        "We decided HALFLINE is the name?",
        "We decided HALFLINE is the name, right",
        "we decided Postgres wins, didn't we",
        "they decided HALFLINE is the name",
        "The board decided Postgres is the database",
        "He told me we decided Postgres wins",
        '"We decided Postgres wins over MySQL", he wrote',
        "If we decided Postgres wins, the tests would change",
        "When we decided Postgres wins, nobody had measured",
        "we decided nothing yet",
        "We decided nothing is final",
        "We have decided nothing that is worth a note",
        "We haven't decided HALFLINE is the name",
        "we never decided Postgres wins over MySQL",
        "We almost decided Postgres wins over MySQL",
        "We decided Postgres wins, but Ana changed her mind",
        "At first we decided Postgres wins over MySQL",
        "We originally decided Postgres is the store",
        "We decided HALFLINE is the name until the lawyers called",
        "I think we decided Postgres wins over MySQL",
        "We decided maybe Postgres is enough",
        "We decided what goes into the release",
        "we decided which database wins",
        "We decided how the cache is cleared",
        "we decided when Ana is here",
        "We decided the name after Ana is asked",
        "We decided it is the name",
        "we decided this is the name",
        "We decided the first one is better",
        "We decided the other branch is better",
        "We decided both are needed for the release",
        "we decided you should fix the parser",
        "We decided they need another week",
        "We decided the bug is here",
        "We decided the button goes below",
        "We decided yesterday",
        "we decided together and Ana is fine with the plan",
        "We decided Postgres is enough for now",
        "We decided the tests were flaky",
        "let's go with that for the cache",
        "Let's go with the second one for the cache",
        "let's go with option B for the header",
        "Let's go with your suggestion for the cache",
        "Let's go with Redis",
        "Let's go with Redis for now",
        "Let's go with Redis for this",
        "let's go with Redis for this file",
        "Let's go with Redis for the moment",
        "Let's go with Redis instead",
        "Shall we? Let's go with Redis for the cache?",
        "let's go with the simplest fix for the login bug",
        "Let's go with it as the default",
        "Maybe let's go with Redis for the cache",
        "Let's go with Redis for the cache if Ana agrees",
        "let's go over the plan for the cache",
        "Always use tabs instead of spaces here",
    ],
)
def test_what_nobody_has_decided_becomes_no_decision(said: str) -> None:
    assert find_statements(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "```\nalways use tabs in code\n```",
        "~~~\nRemember that this is code.\n~~~",
        "> Never push to main, they said",
        "it says:\n    always use four spaces",
        "| Always | use tabs |",
        "# Always use headings",
        "<task-notification>Always use tabs.</task-notification>",
        "<system-reminder>Remember that the sky is blue.</system-reminder>",
        "<local-command-stdout>note: the build is done</local-command-stdout>",
        "# Madeleine whispers\n- **[preference]** Always use tabs",
        "why this?\n# Madeleine whispers\nNotes\n\n- **[preference]** Tabs\n  Always use tabs",
        "<madeleine>Remember that Ana likes tea.</madeleine>",
        "This session is being continued from a previous conversation. Remember that Ana is here.",
        "[Request interrupted by user]",
        "# AGENTS.md instructions for /work\nAlways use tabs.",
        "<environment_context>Note: the shell is zsh</environment_context>",
    ],
)
def test_what_the_person_did_not_say_is_left_alone(said: str) -> None:
    assert find_statements(said) == []


@pytest.mark.parametrize(
    "secret",
    [
        "remember that the password is hunter2",
        "My password is correct horse battery",
        "note: API key = 12345",
        "Remember that the token for CI is short",
        "Remember that we use sk-abcdefghijklmnopqrstuvwx for billing",
        "remember that ghp_abcdefghijklmnopqrstuvwxyz0123456789 is the bot",
        "remember that AKIAIOSFODNN7EXAMPLE0 belongs to staging",
        "remember: -----BEGIN RSA PRIVATE KEY----- follows",
        "remember that the db is postgres://ana:geheim@db/atlas",
        "remember that 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b is for prod",
    ],
)
def test_a_planted_key_is_never_kept(secret: str) -> None:
    assert find_statements(secret) == []


def test_a_long_task_keeps_only_what_was_asked_to_be_kept() -> None:
    task = "Please write the exporter as described here. " * (TASK_CHARS // 40)

    found = find_statements(
        f"{task}\nAlways keep the header row.\nRemember that Ana reads the file."
    )

    assert [each.text for each in found] == ["Ana reads the file."]


def test_a_pasted_document_keeps_nothing() -> None:
    pasted = "Some text of a manual.\n" * (MESSAGE_CHARS // 20)

    assert find_statements(f"{pasted}\nRemember that manuals are long.") == []


def test_a_message_may_say_several_things_each_once() -> None:
    found = find_statements(
        "From now on use tabs. Also never use emojis.\n\n- I prefer short functions\n"
        "- I prefer short functions\nCan you fix the build?"
    )

    assert [each.text for each in found] == [
        "From now on use tabs.",
        "Never use emojis.",
        "I prefer short functions",
    ]


@given(st.text(max_size=400))
def test_any_text_can_be_looked_at(text: str) -> None:
    assert all(len(each.text) >= 3 for each in find_statements(text))


@pytest.mark.parametrize(
    "text",
    ["my " + "a " * 1_000, "remember " * 200, "always " * 280, "ok " * 600, "we " + "chose " * 300],
)
def test_no_text_takes_long(text: str) -> None:
    began = time.perf_counter()
    find_statements(text)

    assert time.perf_counter() - began < 1.0
