"""The thin client as a host runs it: a process that always ends well, and in time (I5)."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from madeleine.api.remote import find_daemon, stop_daemon
from tests.hooks.running import CLIENT, Hooked, Ran, claude, client, context, hooked
from tests.server.running import WAIT_SECONDS, eventually

NOTHING = Ran(0, b"", b"")
DEADLINE_MS = 300
IN_TIME_SECONDS = 4.5  # the deadline, and a busy machine's time to start Python


def modules(*words: str) -> set[str]:
    """Return what a process imports, as the interpreter itself tells it."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-X", "importtime", *words],
        input=b"{}",
        capture_output=True,
        timeout=WAIT_SECONDS,
        check=True,
    )
    lines = done.stderr.decode().splitlines()
    return {line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")}


def directions(home: Path, *command: str, deadline_ms: int = DEADLINE_MS) -> None:
    """Leave what a daemon leaves for its hooks."""
    (home / "run").mkdir(parents=True, exist_ok=True)
    words = [str(deadline_ms), str(home / "run" / "socket"), *command]
    (home / "run" / "hook").write_text("\0".join(words), encoding="utf-8")


def noting(home: Path) -> tuple[str, ...]:
    """Return a command that only leaves a mark where a daemon would be started."""
    home.mkdir(parents=True, exist_ok=True)
    mark = (
        "import sys, os; os.write(os.open(sys.argv[1], os.O_WRONLY|os.O_CREAT|os.O_APPEND), b'1')"
    )
    return (sys.executable, "-c", mark, str(home / "starts"), str(home))


def starts(home: Path) -> int:
    mark = home / "starts"
    return mark.stat().st_size if mark.exists() else 0


@contextmanager
def answering(home: Path, reply: bytes | None) -> Iterator[None]:
    """Listen like a daemon and say just this to everybody; `None` says nothing at all."""
    (home / "run").mkdir(parents=True, exist_ok=True)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(home / "run" / "socket"))
        server.listen(8)
        held: list[socket.socket] = []

        def answer() -> None:
            connection, _ = server.accept()
            held.append(connection)
            connection.recv(65_536)
            if reply is not None:
                connection.sendall(reply)
                connection.close()

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield
        for connection in held:
            connection.close()
        thread.join(WAIT_SECONDS)


def test_the_client_imports_nothing_beyond_the_c_level() -> None:
    bare = modules("-c", "pass")

    assert modules(os.fspath(CLIENT), "/nowhere/at/all") - bare == {"_socket"}


def test_a_prompt_is_answered_in_the_hosts_json(served: Hooked) -> None:
    ran = client(served.home, claude("which database?", "exact"))

    text = "about which database? {'session_id': 'exact', 'cwd': '/nowhere'} by agent:claude-code"
    assert (ran.code, ran.err) == (0, b"")
    assert json.loads(ran.out) == {
        "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": text}
    }


def test_silence_is_zero_bytes(served: Hooked) -> None:
    assert client(served.home, claude("quiet please", "silent")) == NOTHING


def test_the_host_is_the_one_the_entry_names(served: Hooked) -> None:
    ran = client(served.home, claude("tabs or spaces?", "named"), "inject", "cursor")

    assert json.loads(ran.out)["continue"] is True


@pytest.mark.parametrize(
    ("variable", "key"),
    [
        ("CURSOR_VERSION", "additional_context"),
        ("GEMINI_SESSION_ID", "hookSpecificOutput"),
        ("COPILOT_CLI", "hookSpecificOutput"),
    ],
)
def test_an_entry_of_claude_run_by_another_host_is_answered_as_that_host_wants(
    served: Hooked, variable: str, key: str
) -> None:
    ran = client(
        served.home,
        claude(f"is this {variable}?", variable),
        "inject",
        "claude",
        environment={variable: "1"},
    )

    assert key in json.loads(ran.out)


def test_the_client_can_be_copied_anywhere(served: Hooked, tmp_path: Path) -> None:
    copy = tmp_path / "a folder" / "hook.py"
    copy.parent.mkdir()
    shutil.copy(CLIENT, copy)

    assert context(client(served.home, claude("is it here?", "copied"), script=copy).out)


def test_the_documented_command_says_the_same(served: Hooked) -> None:
    command = [sys.executable, "-m", "madeleine", "whisper", "inject", "--host", "codex"]
    done = subprocess.run(
        [*command, "--home", str(served.home)],
        input=json.dumps(claude("the slow way?", "documented")).encode(),
        capture_output=True,
        timeout=WAIT_SECONDS,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, b"")
    assert context(done.stdout).endswith("by agent:codex")


@pytest.mark.proves("I5")
@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"a text"',
        b"\xff\xfe{}",
        b"{}",
        b'{"prompt": 7}',
        b'{"prompt": null}',
        b'{"prompt": {"text": "hello"}}',
        b'{"prompt": "half of it: \\ud800"}',
        b'{"prompt": "hello", "session_id": 7}',
        b'{"prompt": "hello", "cwd": ["/"]}',
        b'{"prompt": "hello", "hook_event_name": "SessionEnd"}',
        b'{"prompt": NaN}',
        b"[" * 100_000,
    ],
)
def test_nonsense_on_stdin_is_answered_by_silence(served: Hooked, sent: bytes) -> None:
    assert client(served.home, sent) == NOTHING


@pytest.mark.soak
def test_nonsense_is_logged_once_however_often_it_comes(home: Path) -> None:
    with hooked(home) as served:
        for _ in range(3):
            assert client(home, b'{"prompt": 7}') == NOTHING

        assert served.log.count("that is no text") == 1
        assert served.counts["failures"] == 3
        assert served.counts["problems"] == [
            "claude: the hook's JSON has a `prompt` that is no text"
        ]


@pytest.mark.proves("I5")
@pytest.mark.parametrize("size", [1_000_000, 6_000_000])
def test_a_prompt_of_megabytes_is_answered_by_silence(served: Hooked, size: int) -> None:
    assert client(served.home, claude("wordy " * (size // 6), f"large {size}")) == NOTHING


@pytest.mark.soak
@pytest.mark.proves("I5")
def test_a_slow_whisper_is_silence_in_time_and_its_work_goes_on(home: Path) -> None:
    with hooked(home, deadline_ms=DEADLINE_MS) as served:
        began = time.monotonic()
        ran = client(home, claude("sleep 5000 slow"))

        assert ran == NOTHING
        assert time.monotonic() - began < IN_TIME_SECONDS
        eventually(lambda: "after its deadline" in served.log, WAIT_SECONDS)
        assert served.counts["late"] == 1
        assert "missed its deadline" in served.log


@pytest.mark.proves("I5")
def test_a_daemon_that_does_not_answer_is_not_waited_for(home: Path) -> None:
    directions(home)
    with answering(home, None):
        began = time.monotonic()

        assert client(home, claude("anybody there?")) == NOTHING
        assert time.monotonic() - began < IN_TIME_SECONDS


@pytest.mark.proves("I5")
def test_a_host_that_keeps_stdin_open_does_not_keep_the_client(home: Path) -> None:
    directions(home, *noting(home))
    with subprocess.Popen(
        [sys.executable, "-I", "-S", os.fspath(CLIENT), str(home)], stdin=subprocess.PIPE
    ) as process:
        assert process.wait(IN_TIME_SECONDS + WAIT_SECONDS) == 0


@pytest.mark.parametrize(
    "reply",
    [
        b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"hookSpecificOutput": {',
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n{}",
        b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 2\r\n\r\n{}",
        b"nonsense",
        b"",
    ],
)
def test_an_answer_that_is_not_whole_and_good_is_not_printed(home: Path, reply: bytes) -> None:
    directions(home, deadline_ms=5_000)
    with answering(home, reply):
        assert client(home, claude("what now?")) == NOTHING


def test_a_large_answer_is_printed_whole(home: Path) -> None:
    directions(home, deadline_ms=5_000)
    body = b"x" * 60_000
    with answering(home, b"HTTP/1.1 200 OK\r\ncontent-length: 60000\r\n\r\n" + body):
        assert client(home, claude("all of it")).out == body


# -- without a daemon ----------------------------------------------------------------------


@pytest.mark.proves("I5")
def test_without_a_daemon_there_is_silence_and_one_is_started(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in a home where none ever ran; nothing of it may hold the host's pipes."""
    monkeypatch.setenv("MADELEINE_SERVER_PORT", "0")

    assert client(home, claude("are you there?")) == NOTHING

    eventually(lambda: find_daemon(home) is not None, WAIT_SECONDS)
    eventually(lambda: (home / "run" / "hook").exists(), WAIT_SECONDS)
    assert stop_daemon(home)


def test_a_daemon_is_started_at_most_once_a_minute(home: Path) -> None:
    directions(home, *noting(home))
    stamp = home / "run" / "start"

    for _ in range(3):
        assert client(home, claude("hello")) == NOTHING
    eventually(lambda: starts(home) == 1)

    an_hour_ago = time.time() - 3_600
    os.utime(stamp, (an_hour_ago, an_hour_ago))
    client(home, claude("hello"))
    eventually(lambda: starts(home) == 2)


def test_a_stamp_from_the_future_does_not_keep_the_daemon_down(home: Path) -> None:
    """The clock may have been set back."""
    directions(home, *noting(home))
    client(home, claude("hello"))
    later = time.time() + 3_600
    os.utime(home / "run" / "start", (later, later))

    client(home, claude("hello"))

    eventually(lambda: starts(home) == 2)


def test_of_twenty_hooks_at_once_one_starts_the_daemon(home: Path) -> None:
    directions(home, *noting(home), deadline_ms=15_000)
    with ThreadPoolExecutor(20) as pool:
        ran = list(pool.map(lambda n: client(home, claude("hello", f"s{n}")), range(20)))

    assert ran == [NOTHING] * 20
    eventually(lambda: starts(home) == 1)


def test_a_socket_left_behind_counts_as_no_daemon(home: Path) -> None:
    directions(home, *noting(home))
    with socket.socket(socket.AF_UNIX) as gone:
        gone.bind(str(home / "run" / "socket"))

    assert client(home, claude("hello")) == NOTHING
    eventually(lambda: starts(home) == 1)


@pytest.mark.proves("I5")
def test_a_start_that_cannot_work_is_silence_too(home: Path) -> None:
    directions(home, "/no/such/python", "-m", "madeleine.server", "--home", str(home))

    assert client(home, claude("hello")) == NOTHING


@pytest.mark.proves("I5")
@pytest.mark.parametrize(
    "words", [[], ["/dev/null"], ["/no/such/folder/home"], ["x", "y", "z", "w"]]
)
def test_a_hook_wired_wrongly_still_ends_well(words: list[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", os.fspath(CLIENT), *words],
        input=b"{}",
        capture_output=True,
        timeout=WAIT_SECONDS,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "MADELEINE_EMBEDDER_KIND": "no such kind"},
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.soak
def test_the_daemon_is_started_again_as_it_was_started(home: Path) -> None:
    with hooked(home, deadline_ms=1_234) as served:
        words = (home / "run" / "hook").read_text(encoding="utf-8").split("\0")

        assert words[:2] == ["1234", str(home / "run" / "socket")]
        assert words[2:] == [
            *(sys.executable, "-P", "-m", "madeleine.server"),
            *("--home", str(home), "--port", str(served.port), "--or-any-port"),
        ]


def test_a_home_that_was_moved_does_not_start_a_daemon_where_it_was(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "no such kind")  # what is started ends at once
    directions(home, *noting(home))
    moved = home.rename(tmp_path / "moved")

    assert client(moved, claude("hello")) == NOTHING

    eventually(lambda: b"a hook tried" in (moved / "run" / "start").read_bytes())
    assert starts(home) == starts(moved) == 0
    assert not home.exists()


def test_a_home_with_a_long_path_has_hooks_too(tmp_path: Path, home: Path) -> None:
    """Its socket is elsewhere, because the system takes no address that long."""
    deep = tmp_path / ("d" * 60) / ("e" * 60)
    with hooked(deep):
        assert context(client(deep, claude("how deep?")).out)
