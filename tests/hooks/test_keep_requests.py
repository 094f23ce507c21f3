"""At the end of a turn the agent is asked to keep what is worth it: `ingest.extractor`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from madeleine.server.keep_requests import KEEP_REQUEST, PROMPTS_BETWEEN, KeepRequests
from tests.hooks.host_calls import (
    CLAUDE_PROMPT,
    CLAUDE_STOP,
    CODEX_PROMPT,
    CODEX_STOP,
    CURSOR_PROMPT,
    CURSOR_STOP,
    GEMINI_PROMPT,
    GEMINI_STOP,
    written,
)
from tests.hooks.running import Ran, client, variables
from tests.server.running import Daemon, running

pytestmark = pytest.mark.timeout(90)
SAID = "we decided with Ingrid that the late fee is 4 euros for every invoice"
NOTHING = Ran(0, b"", b"")
BLOCKED = {"decision": "block", "reason": KEEP_REQUEST}


def start(tmp_path: Path, extractor: str) -> Iterator[Daemon]:
    with pytest.MonkeyPatch.context() as patch:
        known = variables(nudge_interval=0)
        known |= {"MADELEINE_EMBEDDER_KIND": "fake", "MADELEINE_INGEST_EXTRACTOR": extractor}
        for name, value in known.items():
            patch.setenv(name, value)
        patch.delenv("MADELEINE_HOME", raising=False)
        with running(tmp_path) as started:
            yield started


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    yield from start(tmp_path_factory.mktemp("home"), "agent")


def run(
    daemon: Daemon,
    call: bytes,
    session: str,
    verb: str = "inject",
    host: str = "claude",
    **more: str,
) -> Ran:
    given = {"prompt": SAID, "active": "false", "transcript": "/w/none.jsonl", **more}
    return client(daemon.home, written(call, session, f"/w/{session}", **given), verb, host)


def say(daemon: Daemon, session: str, prompt: str = SAID) -> None:
    run(daemon, CLAUDE_PROMPT, session, prompt=prompt)


def stop(daemon: Daemon, session: str, active: str = "false") -> Ran:
    return run(daemon, CLAUDE_STOP, session, active=active)


@pytest.mark.parametrize(
    ("host", "prompt", "stopping", "verb", "answer"),
    [
        ("claude", CLAUDE_PROMPT, CLAUDE_STOP, "inject", BLOCKED),
        ("codex", CODEX_PROMPT, CODEX_STOP, "store", BLOCKED),
        ("gemini", GEMINI_PROMPT, GEMINI_STOP, "inject", {**BLOCKED, "decision": "deny"}),
        ("cursor", CURSOR_PROMPT, CURSOR_STOP, "inject", {"followup_message": KEEP_REQUEST}),
    ],
)
def test_an_agent_is_asked_once_when_a_turn_ends_in_the_words_of_its_host(
    daemon: Daemon, host: str, prompt: bytes, stopping: bytes, verb: str, answer: dict[str, str]
) -> None:
    session = f"asked-{host}"
    run(daemon, prompt, session, host=host)

    asked = run(daemon, stopping, session, verb, host, status="completed", loops="0")

    assert (asked.code, asked.err, json.loads(asked.out)) == (0, b"", answer)
    going_on = run(
        daemon, stopping, session, verb, host, active="true", status="completed", loops="1"
    )
    assert going_on == NOTHING
    assert run(daemon, stopping, session, verb, host, status="completed", loops="0") == NOTHING


@pytest.mark.parametrize(
    "prompt",
    [
        "thanks, looks good",
        "can you run the tests again?",
        "maybe we should try sqlite one day, not sure",
        f"{SAID}. don't save this",
        f"<private>{SAID}</private> can you run the tests?",
    ],
)
def test_nothing_is_asked_after_a_turn_in_which_nothing_was_worth_it(
    daemon: Daemon, prompt: str
) -> None:
    session = f"quiet {len(prompt)}"
    say(daemon, session, prompt)

    assert stop(daemon, session) == NOTHING


def test_an_agent_that_goes_on_already_is_not_asked(daemon: Daemon) -> None:
    say(daemon, "active")

    assert stop(daemon, "active", active="true") == NOTHING


def test_a_turn_that_was_broken_off_is_not_continued(daemon: Daemon) -> None:
    run(daemon, CURSOR_PROMPT, "aborted", host="cursor")

    ran = run(daemon, CURSOR_STOP, "aborted", host="cursor", status="aborted", loops="0")

    assert ran == NOTHING


def test_a_paused_session_is_not_asked(daemon: Daemon) -> None:
    say(daemon, "paused")
    daemon.ok("POST", "/agent/pause", {"session_id": "paused"})

    assert stop(daemon, "paused") == NOTHING


def test_an_agent_is_asked_again_only_after_many_more_prompts() -> None:
    requests = KeepRequests()

    asked = [
        number
        for number in range(1, 3 * PROMPTS_BETWEEN)
        if requests.find_request("s", number, [SAID])
    ]

    assert asked == [1, 1 + PROMPTS_BETWEEN, 1 + 2 * PROMPTS_BETWEEN]


def test_what_was_said_before_a_request_is_not_asked_about_again() -> None:
    requests = KeepRequests()
    requests.find_request("s", 1, [SAID])

    later = ["thanks", "go on", "ok"]

    assert requests.find_request("s", PROMPTS_BETWEEN + 1, [SAID, *later] * 5) != ""
    assert requests.find_request("s", 2 * PROMPTS_BETWEEN + 1, later * 5) == ""


def test_no_agent_is_asked_unless_that_is_switched_on(tmp_path: Path) -> None:
    for local in start(tmp_path / "home", "local"):
        say(local, "local")
        assert stop(local, "local") == NOTHING
        counts: Any = local.door.call("status")["daemon"]
        assert "keep_requests" not in counts["hooks"]
