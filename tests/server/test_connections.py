"""Connections that cost others theirs, and requests that are sent otherwise than they should be."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from madeleine.server import connections
from madeleine.server.connections import (
    HEAD_SECONDS,
    OpenConnections,
    count_admissible,
    find_framing_fault,
)
from madeleine.server.launch import START_TIMEOUT_SECONDS, await_daemon
from tests.server.running import WAIT_SECONDS, Daemon, eventually

DESCRIPTORS = 256
KNOCKING = 300
BODY = b'{"query": "ferry"}'


@contextmanager
def narrow(home: Path) -> Iterator[Daemon]:
    """Run a daemon that may have few descriptors, and can not get more."""
    command = [sys.executable, "-P", "-m", "madeleine.server", "--home", os.fspath(home)]
    bounded = ["sh", "-c", f'ulimit -n {DESCRIPTORS}; exec "$0" "$@"', *command, "--port", "0"]
    process = subprocess.Popen(bounded, stdout=subprocess.PIPE)
    try:
        yield Daemon(home, await_daemon(home, process, START_TIMEOUT_SECONDS))
    finally:
        process.terminate()
        process.wait(WAIT_SECONDS)


def knock(stack: ExitStack, daemon: Daemon, said: bytes = b"") -> socket.socket:
    """Connect over TCP, and say so much."""
    made = stack.enter_context(socket.create_connection(("127.0.0.1", daemon.launched.port)))
    made.settimeout(WAIT_SECONDS)
    made.sendall(said)
    return made


def count_descriptors(daemon: Daemon) -> int:
    return sum(1 for _ in Path(f"/proc/{daemon.launched.pid}/fd").iterdir())


def is_closed(connection: socket.socket) -> bool:
    """Whether the other side has closed a connection."""
    connection.settimeout(0.01)
    try:
        while connection.recv(65_536):
            pass
        return True
    except TimeoutError:
        return False
    except ConnectionError:
        return True


def exchange(daemon: Daemon, sent: bytes) -> tuple[int, bytes]:
    """Send bytes over TCP; return the status and the body that come back until it is closed."""
    with ExitStack() as stack:
        made = knock(stack, daemon, sent)
        got = b""
        while part := made.recv(65_536):
            got += part
    head, _, body = got.partition(b"\r\n\r\n")
    return int(head.split()[1]), body


def make_request(daemon: Daemon, *headers: bytes, body: bytes = BODY) -> bytes:
    said = [
        b"POST /agent/recall HTTP/1.1",
        b"Host: 127.0.0.1",
        b"Authorization: Bearer " + daemon.token.encode(),
        b"Content-Type: application/json",
        b"Connection: close",
        *headers,
    ]
    return b"\r\n".join(said) + b"\r\n\r\n" + body


LENGTH = b"Content-Length: %d" % len(BODY)
CHUNKED = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)


# -- descriptors -----------------------------------------------------------------------------


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts by /proc")
@pytest.mark.proves("I5")
def test_half_open_connections_leave_room_for_the_owner(home: Path) -> None:
    with narrow(home) as daemon, ExitStack() as stack:
        daemon.remember("The ferry to Bergen leaves at nine")
        for _ in range(KNOCKING):
            knock(stack, daemon, b"POST /agent/recall HTTP/1.1\r\n")

        began = time.monotonic()
        answer: Any = daemon.door.call("recall", body={"query": "ferry to Bergen"})
        assert answer["results"]
        assert time.monotonic() - began < 5
        # What is turned away has a descriptor until the loop comes round to close it.
        eventually(lambda: count_descriptors(daemon) < DESCRIPTORS * 3 / 4, WAIT_SECONDS)
        log = (home / "logs" / "daemon.log").read_text(encoding="utf-8")
        assert log.count("more than") + log.count("too many connections") == 1
        assert "no descriptor is free" not in log


@pytest.mark.proves("I5")
def test_a_client_with_the_token_gets_in_though_others_hold_the_door(home: Path) -> None:
    with narrow(home) as daemon, ExitStack() as stack:
        daemon.remember("The ferry to Bergen leaves at nine")
        held = [knock(stack, daemon) for _ in range(60)]
        time.sleep(connections.GRACE_SECONDS)  # they are older than a client that only just came
        for _ in range(60):
            assert daemon.recall("ferry to Bergen")
        assert is_closed(held[0])


def test_a_want_of_descriptors_is_logged_once_and_passes(home: Path) -> None:
    with narrow(home) as daemon:
        with ExitStack() as stack:
            for _ in range(DESCRIPTORS + 20):
                made = stack.enter_context(socket.socket(socket.AF_UNIX))
                made.settimeout(WAIT_SECONDS)
                made.connect(daemon.launched.socket)
            log = home / "logs" / "daemon.log"
            eventually(
                lambda: "no descriptor is free" in log.read_text(encoding="utf-8"), WAIT_SECONDS
            )
            time.sleep(2.5)  # asyncio tries again each second
        text = log.read_text(encoding="utf-8")
        assert text.count("no descriptor is free") == 1
        assert "Traceback" not in text
        eventually(lambda: daemon.ask("GET", "/admin/status").status == 200, WAIT_SECONDS)


def test_a_share_of_the_descriptors_is_kept_free() -> None:
    assert count_admissible(256) == 102
    assert count_admissible(1_000_000) == 1_024
    assert OpenConnections(102).unknown_at_most == 25


def test_each_kind_of_trouble_is_logged_once_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    pool = OpenConnections(102)

    with caplog.at_level("WARNING"):
        for _ in range(3):
            pool.complain("crowd", "too many of them")
            pool.complain("descriptors", "no descriptor is free")

    assert [each.message for each in caplog.records] == [
        "too many of them",
        "no descriptor is free",
    ]


# -- time ------------------------------------------------------------------------------------


@pytest.mark.soak
@pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.1\r\nX-A: "])
def test_who_does_not_send_a_request_is_let_go(daemon: Daemon, said: bytes) -> None:
    """Also one that goes on sending a byte now and then."""
    with ExitStack() as stack:
        made = knock(stack, daemon, said)
        began = time.monotonic()
        while not is_closed(made):
            assert time.monotonic() - began < HEAD_SECONDS + 5
            time.sleep(0.5)
            if said:
                try:
                    made.sendall(b"a")
                except OSError:
                    break
        assert time.monotonic() - began >= HEAD_SECONDS - 1


def test_a_request_in_many_small_pieces_is_answered(daemon: Daemon) -> None:
    with ExitStack() as stack:
        made = knock(stack, daemon)
        for byte in make_request(daemon, LENGTH):
            made.sendall(bytes([byte]))
        assert made.recv(65_536).startswith(b"HTTP/1.1 200")


def test_a_connection_answers_one_request_after_another(daemon: Daemon) -> None:
    asked = make_request(daemon, LENGTH).replace(b"Connection: close\r\n", b"")
    with ExitStack() as stack:
        made = knock(stack, daemon)
        for _ in range(3):
            made.sendall(asked)
            answer = b""
            while b"\r\n\r\n" not in answer:
                answer += made.recv(65_536)
            head, _, body = answer.partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200")
            length = int(head.lower().split(b"content-length:")[1].split()[0])
            while len(body) < length:
                body += made.recv(65_536)


# -- framing ---------------------------------------------------------------------------------

FRAMINGS = {
    "two kinds of length": ((LENGTH, b"Transfer-Encoding: chunked"), CHUNKED),
    "the other way round": ((b"transfer-encoding: chunked", b"CONTENT-LENGTH: 5"), CHUNKED),
    "a folded header": ((b"X-A: b\r\n c", LENGTH), BODY),
    "a header folded by a tab": ((b"X-A: b\r\n\tc", LENGTH), BODY),
    "a folded length": ((b"Content-Length:\r\n %d" % len(BODY),), BODY),
    "a line that ends with LF": ((b"X-A: b\nX-B: c", LENGTH), BODY),
    "a line that ends with CR": ((b"X-A: b\rX-B: c", LENGTH), BODY),
    "a head that ends with LF": ((LENGTH + b"\n\n",), BODY),
    "two lengths": ((LENGTH, b"Content-Length: 3"), BODY),
    "a length with a sign": ((b"Content-Length: +%d" % len(BODY),), BODY),
    "another encoding": ((b"Transfer-Encoding: gzip",), BODY),
    "chunked and another": ((b"Transfer-Encoding: chunked, identity",), CHUNKED),
    "a space before the colon": ((b"Content-Length : %d" % len(BODY),), BODY),
    "a zero byte": ((b"X-A: a\0b", LENGTH), BODY),
    "another host": ((b"Host: elsewhere", LENGTH), BODY),
    "a head that is far too long": ((b"X-A: " + b"a" * 100_000, LENGTH), BODY),
}


@pytest.mark.parametrize("what", FRAMINGS)
def test_a_request_that_others_may_cut_elsewhere_is_refused(daemon: Daemon, what: str) -> None:
    headers, body = FRAMINGS[what]

    status, answer = exchange(daemon, make_request(daemon, *headers, body=body))

    assert status == 400, answer
    assert json.loads(answer)["error"]["kind"] == "bad_framing"


def test_a_second_request_behind_the_first_is_not_read(daemon: Daemon) -> None:
    """What lies there may be part of another one's body for whoever is before us."""
    first = make_request(daemon, LENGTH).replace(b"Connection: close\r\n", b"")
    second = b"POST /agent/remember HTTP/1.1\r\nX-A: b\r\n c\r\n\r\n"

    status, answer = exchange(daemon, first + second)

    assert status == 200
    assert b"HTTP/1.1" not in answer


@pytest.mark.parametrize("head", [b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", b"", b"GE"])
def test_nothing_is_wrong_with_a_head_as_it_should_be(head: bytes) -> None:
    assert find_framing_fault(head) == ""
    assert find_framing_fault(head + b"\r\n\r\nbody\nof\n any: kind\n") == ""


def test_a_head_that_ends_in_the_middle_of_a_line_end_may_go_on(daemon: Daemon) -> None:
    assert find_framing_fault(b"GET / HTTP/1.1\r\nX: b\r") == ""


# -- bodies ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        b'{"query": "a", "query": "b"}',
        b'{"query": "a", "limit": 3, "qu\\u0065ry": "b"}',
        b'{"query": "a", "tags": {"x": 1, "x": 2}}',
    ],
)
def test_a_key_said_twice_is_refused(daemon: Daemon, body: bytes) -> None:
    answer = daemon.ask("POST", "/agent/recall", raw=body)

    assert answer.status == 422
    assert "twice" in answer.error["message"]


def test_a_tool_call_that_says_a_key_twice_is_refused(daemon: Daemon) -> None:
    call = b'{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "ping"}'

    answer = daemon.ask("POST", "/mcp", raw=call, headers={"Accept": "application/json"})

    assert answer.status == 422
    assert "'id' twice" in answer.error["message"]


@pytest.mark.parametrize("declared", [True, False])
def test_whoever_sends_too_much_reads_why(
    home: Path, monkeypatch: pytest.MonkeyPatch, declared: bool
) -> None:
    """Also a client that reads nothing before it has sent everything."""
    monkeypatch.setenv("MADELEINE_SERVER_MAX_BODY_BYTES", "100000")
    with narrow(home) as daemon:
        body = b'{"query": "' + b"x" * 30_000_000 + b'"}'
        if declared:
            sent = make_request(daemon, b"Content-Length: %d" % len(body), body=body)
        else:
            chunk = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
            sent = make_request(daemon, b"Transfer-Encoding: chunked", body=chunk)

        status, answer = exchange(daemon, sent)

        assert status == 413
        assert "the limit is 100,000" in json.loads(answer)["error"]["message"]
