"""What nobody got was not said (I13): real hooks, a real daemon, and what goes wrong in between."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from madeleine.whisper.delivery import Loss
from tests.hooks.relaying import DEADLINE_MS, Relay, RelayedHook, relay
from tests.hooks.running import Ran, claude, client, context, variables
from tests.server.running import WAIT_SECONDS, Daemon, eventually, running

pytestmark = pytest.mark.timeout(90)
NOTHING = Ran(0, b"", b"")
KNOWN = {
    "ferry": "The ferry to Bergen leaves at half past nine",
    "peanuts": "Marta is allergic to peanuts",
    "door": "The office in Leeds has a green door",
    "pie": "Grandmother's apple pie needs cinnamon",
    "staging": "The staging cluster runs in Frankfurt",
    "invoices": "Invoices are kept for seven years",
}
ASKED = {
    "ferry": ("when does the ferry to Bergen leave?", "and the ferry to Bergen, when does it go?"),
    "peanuts": ("is Marta allergic to peanuts?", "what about peanuts, is Marta allergic?"),
    "door": ("which door has the office in Leeds?", "the office in Leeds, is its door green?"),
    "pie": ("does the apple pie need cinnamon?", "grandmother's apple pie: cinnamon or not?"),
    "staging": ("where does the staging cluster run?", "the staging cluster runs in Frankfurt?"),
    "invoices": ("how many years are invoices kept?", "for how long are invoices kept, years?"),
}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon with a few memories; sessions differ between tests."""
    with pytest.MonkeyPatch.context() as patch:
        set_up(patch)
        with running(tmp_path_factory.mktemp("home")) as started:
            fill(started)
            yield started


def set_up(patch: pytest.MonkeyPatch) -> None:
    known = variables(deadline_ms=DEADLINE_MS, nudge_interval=0)
    for name, value in {**known, "MADELEINE_EMBEDDER_KIND": "fake"}.items():
        patch.setenv(name, value)
    patch.delenv("MADELEINE_HOME", raising=False)


def fill(daemon: Daemon) -> None:
    for each in KNOWN.values():
        daemon.remember(each)


@pytest.fixture
def relayed(daemon: Daemon, tmp_path: Path) -> Iterator[Relay]:
    with relay(hooks_home(tmp_path), Path(daemon.launched.socket)) as made:
        yield made


def hooks_home(folder: Path) -> Path:
    """Return a folder whose path is short enough for a socket."""
    return Path(tempfile.mkdtemp(prefix="hooks-", dir=folder.parents[1])) / "h"


def told(ran: Ran) -> str:
    assert (ran.code, ran.err) == (0, b"")
    return context(ran.out) if ran.out else ""


def logged(daemon: Daemon, session: str) -> dict[str, Any]:
    """Return what the log says of the last prompt of a session."""
    entry = daemon.door.call("whisper_why", query={"session_id": session})["whisper"]
    assert isinstance(entry, dict)
    return entry


def delivery(daemon: Daemon, session: str) -> str:
    return str(logged(daemon, session).get("delivery"))


def why(daemon: Daemon, session: str) -> str:
    return str(daemon.door.call("whisper_why", query={"session_id": session})["text"])


def page_line(daemon: Daemon, session: str) -> dict[str, Any]:
    lines: Any = daemon.door.call("page_whispers")["whispers"]
    return next(dict(each) for each in lines if each["session"] == session)


def hook_count(daemon: Daemon, name: str) -> int:
    status: Any = daemon.door.call("status")["daemon"]
    return int(status["hooks"].get(name, 0))


# --- what can happen to a hook after the daemon has answered ---------------------------------


def sleep_over_the_deadline(hook: RelayedHook) -> None:
    hook.stop()
    hook.wait_for_deadline()
    hook.go_on()


def be_killed(hook: RelayedHook) -> None:
    hook.process.kill()
    hook.process.wait(WAIT_SECONDS)
    hook.wait_for_deadline()


def answer_late(hook: RelayedHook) -> None:
    """The answer stays in a buffer somewhere until nobody waits for it."""
    hook.wait_for_deadline()


def lose_its_reader(hook: RelayedHook) -> None:
    """The host closes the pipe that the hook prints to."""
    hook.stop()
    assert hook.process.stdout is not None
    hook.process.stdout.close()
    hook.go_on()


MISHAPS = (sleep_over_the_deadline, be_killed, answer_late)


@pytest.mark.few(3)
@pytest.mark.proves("I13")
@pytest.mark.parametrize(
    ("mishap", "subject"),
    [
        *((sleep_over_the_deadline, subject) for subject in KNOWN),
        *((be_killed, subject) for subject in ("ferry", "staging")),
        *((answer_late, subject) for subject in ("door", "invoices")),
    ],
)
def test_what_a_hook_did_not_print_is_told_with_the_next_prompt(
    daemon: Daemon, relayed: Relay, mishap: Callable[[RelayedHook], None], subject: str
) -> None:
    session = f"{mishap.__name__} {subject}"
    first, again = ASKED[subject]
    relayed.on_reply = mishap
    lost = relayed.run(claude(first, session))

    then = told(client(daemon.home, claude(again, session)))

    assert lost.out == b""
    assert KNOWN[subject] in then
    assert relayed.receipts == []


@pytest.mark.few(1)
@pytest.mark.parametrize("mishap", MISHAPS)
def test_the_documented_command_that_printed_nothing_has_said_nothing(
    daemon: Daemon, relayed: Relay, mishap: Callable[[RelayedHook], None]
) -> None:
    session = f"command {mishap.__name__}"
    relayed.on_reply = mishap
    lost = relayed.run(claude(ASKED["ferry"][0], session), relayed.by_command())

    then = told(client(daemon.home, claude(ASKED["ferry"][1], session)))

    assert lost.out == b""
    assert KNOWN["ferry"] in then


def test_the_documented_command_confirms_what_it_printed(daemon: Daemon, relayed: Relay) -> None:
    printed = relayed.run(claude(ASKED["ferry"][0], "by command"), relayed.by_command())

    assert KNOWN["ferry"] in told(printed)
    eventually(lambda: delivery(daemon, "by command") == "delivered", WAIT_SECONDS)
    assert told(client(daemon.home, claude(ASKED["ferry"][1], "by command"))) == ""


def test_a_host_that_closed_its_pipe_got_nothing(daemon: Daemon, relayed: Relay) -> None:
    relayed.on_reply = lose_its_reader
    hook = relayed.start(claude(ASKED["pie"][0], "closed pipe"))
    hook.process.wait(WAIT_SECONDS)
    assert hook.process.stderr is not None
    hook.process.stderr.close()

    eventually(lambda: delivery(daemon, "closed pipe") == "not delivered", WAIT_SECONDS)
    assert KNOWN["pie"] in told(client(daemon.home, claude(ASKED["pie"][1], "closed pipe")))


@pytest.mark.proves("I13")
@pytest.mark.parametrize("subject", ["ferry", "peanuts", "door"])
def test_a_closed_pipe_is_known_before_the_deadline_is_over(
    daemon: Daemon, relayed: Relay, subject: str
) -> None:
    session = f"closed at once {subject}"
    relayed.on_reply = lose_its_reader
    began = time.monotonic()
    hook = relayed.start(claude(ASKED[subject][0], session))
    hook.process.wait(WAIT_SECONDS)
    assert hook.process.stderr is not None
    hook.process.stderr.close()

    eventually(lambda: delivery(daemon, session) == "not delivered", WAIT_SECONDS)

    assert time.monotonic() - began < DEADLINE_MS / 1000
    assert KNOWN[subject] in told(client(daemon.home, claude(ASKED[subject][1], session)))


def test_the_same_prompt_once_more_is_no_repetition_if_nobody_got_the_first(
    daemon: Daemon, relayed: Relay
) -> None:
    relayed.on_reply = sleep_over_the_deadline
    body = claude(ASKED["door"][0], "same again")
    lost = relayed.run(body)

    assert (lost, KNOWN["door"] in told(client(daemon.home, body))) == (NOTHING, True)


def test_the_log_the_page_and_the_numbers_say_that_it_was_not_delivered(
    daemon: Daemon, relayed: Relay
) -> None:
    before = {name: hook_count(daemon, name) for name in ("whispers", "undelivered")}
    stats: Any = daemon.ok("GET", "/stats")["usage"]
    report: Any = daemon.ok("GET", "/agent/whisper/report")
    relayed.on_reply = sleep_over_the_deadline
    relayed.run(claude(ASKED["staging"][0], "truth"))
    eventually(lambda: hook_count(daemon, "undelivered") > before["undelivered"], WAIT_SECONDS)

    text, line = why(daemon, "truth"), page_line(daemon, "truth")
    after: Any = daemon.ok("GET", "/agent/whisper/report")

    assert "Not delivered: the hook did not confirm that it printed it" in text
    assert "not delivered: " in text
    assert (line["outcome"], logged(daemon, "truth").get("late")) == ("undelivered", None)
    memories = daemon.ok("GET", f"/ui/data/whispers/{line['id']}")["memories"]
    assert memories[0]["fate"] == "undelivered"
    listed = daemon.ok("GET", "/ui/data/whispers", outcome="undelivered")["whispers"]
    assert "truth" in {each["session"] for each in listed}
    assert hook_count(daemon, "whispers") == before["whispers"]
    assert daemon.ok("GET", "/stats")["usage"] == stats
    assert after["told"] == report["told"]
    assert after["undelivered"] == report["undelivered"] + 1
    assert f"{after['undelivered']} were not delivered" in after["text"]


def test_what_was_printed_is_delivered_and_not_told_twice(daemon: Daemon) -> None:
    before = hook_count(daemon, "whispers")

    first = told(client(daemon.home, claude(ASKED["ferry"][0], "printed")))
    again = told(client(daemon.home, claude(ASKED["ferry"][1], "printed")))

    assert (KNOWN["ferry"] in first, again) == (True, "")
    eventually(lambda: hook_count(daemon, "whispers") == before + 1, WAIT_SECONDS)
    assert page_line(daemon, "printed")["outcome"] == "silent"


def test_the_next_prompt_never_overtakes_a_confirmation(daemon: Daemon) -> None:
    """A host sends its next prompt as soon as the hook has ended."""
    for number in range(12):
        session = f"quick {number}"
        assert KNOWN["peanuts"] in told(client(daemon.home, claude(ASKED["peanuts"][0], session)))
        assert told(client(daemon.home, claude(ASKED["peanuts"][1], session))) == ""


def test_a_confirmation_that_comes_late_has_the_last_word(daemon: Daemon, relayed: Relay) -> None:
    """The hook printed, and was stopped before it could say so."""

    def be_held_up(hook: RelayedHook) -> None:
        eventually(lambda: delivery(daemon, "held up") == "not delivered", WAIT_SECONDS)

    relayed.on_receipt = be_held_up
    printed = told(relayed.run(claude(ASKED["invoices"][0], "held up")))

    eventually(lambda: delivery(daemon, "held up") == "delivered", WAIT_SECONDS)
    assert KNOWN["invoices"] in printed
    assert told(client(daemon.home, claude(ASKED["invoices"][1], "held up"))) == ""
    assert "not_delivered" not in logged(daemon, "held up")


def test_while_a_hook_still_has_time_nobody_else_tells_the_same(
    daemon: Daemon, relayed: Relay
) -> None:
    """Two prompts of a session at once, the hook of the first is stopped."""
    seen: list[str] = []

    def ask_meanwhile(hook: RelayedHook) -> None:
        hook.stop()
        seen.append(told(client(daemon.home, claude(ASKED["ferry"][1], "at once"))))
        hook.wait_for_deadline()
        hook.go_on()

    relayed.on_reply = ask_meanwhile
    relayed.run(claude(ASKED["ferry"][0], "at once"))
    afterwards = told(client(daemon.home, claude("when leaves the Bergen ferry?", "at once")))

    assert seen == [""]
    assert KNOWN["ferry"] in afterwards


def test_a_reply_is_not_read_for_what_nobody_got(
    daemon: Daemon, relayed: Relay, tmp_path: Path
) -> None:
    relayed.on_reply = sleep_over_the_deadline
    relayed.run(claude(ASKED["staging"][0], "reply"))
    eventually(lambda: delivery(daemon, "reply") == "not delivered", WAIT_SECONDS)
    transcript = tmp_path / "reply.jsonl"
    lines = [
        {"type": "user", "sessionId": "reply", "message": {"role": "user", "content": "where?"}},
        {
            "type": "assistant",
            "sessionId": "reply",
            "message": {
                "role": "assistant",
                "content": [{"type": "text", "text": f"{KNOWN['staging']}, says everybody."}],
            },
        },
    ]
    transcript.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    stores = hook_count(daemon, "stores")
    body = claude("", "reply", transcript_path=str(transcript), hook_event_name="SessionEnd")
    client(daemon.home, body, "store")
    eventually(lambda: hook_count(daemon, "stores") > stores, WAIT_SECONDS)

    entry = logged(daemon, "reply")
    assert (entry.get("replied"), entry.get("seen")) == (None, None)


# --- who does not confirm --------------------------------------------------------------------


def test_an_older_client_counts_as_told_when_it_was_answered(daemon: Daemon) -> None:
    """It says neither by when it is due nor that it confirms."""
    body = json.dumps(claude(ASKED["door"][0], "older"))

    answer = daemon.ask("POST", "/hook/inject", raw=body.encode(), host="claude")

    assert KNOWN["door"] in json.dumps(answer.body)
    assert delivery(daemon, "older") == "delivered"
    assert told(client(daemon.home, claude(ASKED["door"][1], "older"))) == ""


def test_who_asks_over_http_counts_as_told_when_they_are_answered(daemon: Daemon) -> None:
    asked = {"prompt": ASKED["pie"][0], "session_id": "http"}

    assert KNOWN["pie"] in daemon.ok("POST", "/agent/whisper", asked)["text"]
    assert delivery(daemon, "http") == "delivered"
    assert "Whispered 1 memory" in why(daemon, "http")


@pytest.mark.parametrize("path", ["/hook/inject?host=claude", "/agent/whisper"])
def test_who_hung_up_before_the_answer_got_nothing(
    daemon: Daemon, path: str, tmp_path: Path
) -> None:
    """The request is sent and the connection closed at once, as by a client that lost patience."""
    session = f"hung up {path}"
    given = {"prompt": ASKED["ferry"][0], "session_id": session, "cwd": "/nowhere"}
    body = json.dumps(given).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    with socket.socket(socket.AF_UNIX) as impatient:
        impatient.connect(daemon.launched.socket)
        impatient.sendall(head.encode() + body)

    eventually(lambda: is_unsaid(daemon, session), WAIT_SECONDS)
    assert KNOWN["ferry"] in told(client(daemon.home, claude(ASKED["ferry"][1], session)))


def is_unsaid(daemon: Daemon, session: str) -> bool:
    """Whether the log knows that nobody got it; a prompt may also be dropped before that."""
    time.sleep(0.1)
    found: Any = daemon.door.call("whisper_why", query={"session_id": session})["whisper"]
    if found is None or not found["injected"]:
        return True
    return found.get("not_delivered_kind") in (Loss.GONE, Loss.LATE)


@pytest.mark.parametrize("named", ["", "no-such-whisper", "%00", "a&b=c", "../../etc"])
def test_a_confirmation_of_nothing_does_no_harm(daemon: Daemon, named: str) -> None:
    answer = subprocess.run(
        [
            "curl",
            *("-s", "-o", os.devnull, "-w", "%{http_code}", "-X", "POST"),
            *("--unix-socket", daemon.launched.socket),
            f"http://localhost/hook/delivered?whisper={named}",
        ],
        capture_output=True,
        check=True,
        timeout=WAIT_SECONDS,
    )

    assert answer.stdout == b"200"
    assert KNOWN["pie"] in told(client(daemon.home, claude(ASKED["pie"][0], f"harmless {named}")))


# --- daemons that end in between -------------------------------------------------------------


def test_a_daemon_killed_before_the_confirmation_has_not_said_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_up(monkeypatch)
    home = tmp_path / "home"
    with (
        running(home) as first,
        relay(hooks_home(tmp_path), Path(first.launched.socket)) as between,
    ):
        fill(first)
        between.on_reply = lambda hook: first.kill()
        between.run(claude(ASKED["ferry"][0], "killed"))
    with running(home) as second:
        then = told(client(home, claude(ASKED["ferry"][1], "killed")))

        def told_whispers() -> int:
            report = second.ok("GET", "/agent/whisper/report")
            return int(report["told"]["whispers"])

        eventually(lambda: told_whispers() == 1, WAIT_SECONDS)

    assert KNOWN["ferry"] in then


def test_a_hook_keeps_its_deadline_also_when_it_was_stopped(daemon: Daemon, relayed: Relay) -> None:
    """After it goes on it is over at once (I5)."""
    gone_on: list[float] = []

    def note_when(hook: RelayedHook) -> None:
        sleep_over_the_deadline(hook)
        gone_on.append(time.monotonic())

    relayed.on_reply = note_when
    assert relayed.run(claude(ASKED["pie"][0], "over at once")) == NOTHING
    assert time.monotonic() - gone_on[0] < DEADLINE_MS / 1000
