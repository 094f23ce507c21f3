"""`madeleine mcp` as a host runs it, against a daemon that says what a test wants it to say."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from madeleine.api.remote import RemoteDoor, stop_daemon
from madeleine.hooks.daemon_client import ANSWER_SECONDS, AnswerLost, DaemonClient, PendingRequest
from madeleine.hooks.mcp import answer_timeout
from tests.server.mcp_clients import introduction, message
from tests.server.running import WAIT_SECONDS, eventually

VERSION = "2025-11-25"
HEAVY = {
    "argparse",
    "asyncio",
    "email",
    "http.client",
    "madeleine.api.routes",
    "madeleine.cli.door",
    "mcp",
    "numpy",
    "pydantic",
    "socket",
    "ssl",
    "starlette",
    "subprocess",
}

Reply = Callable[[dict[str, Any]], "Mapping[str, object] | bytes | None"]


class Host:
    """One host: it starts the command, writes lines and reads lines."""

    def __init__(self, home: Path, **options: Any) -> None:
        command = [sys.executable, "-P", "-m", "madeleine", "mcp", "--home", str(home)]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **options,
        )
        self._got = b""

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, *messages: object) -> None:
        for each in messages:
            self.write(json.dumps(each).encode() + b"\n")

    def line(self, seconds: float = WAIT_SECONDS) -> Any:
        """Return the next message; nothing if none comes in time."""
        assert self.process.stdout is not None
        until = time.monotonic() + seconds
        while b"\n" not in self._got:
            ready = select.select([self.process.stdout], [], [], max(until - time.monotonic(), 0))
            part = os.read(self.process.stdout.fileno(), 65_536) if ready[0] else b""
            if not part:
                return None
            self._got += part
        line, _, self._got = self._got.partition(b"\n")
        return json.loads(line)

    def ask(self, asked: dict[str, object]) -> Any:
        self.send(asked)
        answer = self.line()
        assert answer["id"] == asked["id"]
        return answer

    def introduce(self, **capabilities: object) -> Any:
        hello = introduction(VERSION)
        hello["params"]["capabilities"] = capabilities  # type: ignore[index]  # it is a dict
        answer = self.ask(hello)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def end(self) -> tuple[int, bytes, bytes]:
        """Close stdin; return the exit code and what was still said."""
        out, err = self.process.communicate(timeout=WAIT_SECONDS)
        return self.process.returncode, self._got + out, err


@contextmanager
def hosted(home: Path, **options: Any) -> Iterator[Host]:
    host = Host(home, **options)
    try:
        yield host
    finally:
        host.process.kill()
        host.process.communicate()


class Scripted:
    """A socket that answers like a daemon; what it was asked is kept."""

    def __init__(self, home: Path, reply: Reply) -> None:
        (home / "run").mkdir(parents=True, exist_ok=True)
        self.heads: list[str] = []
        self.asked: list[dict[str, Any]] = []
        self._reply = reply
        self._server = socket.socket(socket.AF_UNIX)
        path = home / "run" / "socket"
        path.unlink(missing_ok=True)
        self._server.bind(str(path))
        self._server.listen(64)
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()

    def of(self, method: str) -> list[dict[str, Any]]:
        return [each for each in self.asked if each["method"] == method]

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        try:
            self._exchange(connection)
        except OSError:
            return  # who asked hung up

    def _exchange(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as stream:
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                line = stream.readline()
                if not line:
                    return
                head += line
            (length,) = (
                int(line.partition(b":")[2])
                for line in head.lower().split(b"\r\n")
                if line.startswith(b"content-length:")
            )
            asked = json.loads(stream.read(length))
            self.heads.append(head.decode())
            self.asked.append(asked)
            reply = self._reply(asked)
            if reply is not None:
                raw = reply if isinstance(reply, bytes) else answer(asked, reply)
                connection.sendall(raw)


def answer(asked: Mapping[str, Any], result: Mapping[str, object]) -> bytes:
    return http(200, {"jsonrpc": "2.0", "id": asked["id"], "result": dict(result)})


def http(status: int, document: object) -> bytes:
    body = json.dumps(document).encode()
    head = f"HTTP/1.1 {status} said\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def listed(**hints: tuple[bool, bool]) -> dict[str, object]:
    tools = [
        {"name": name, "annotations": {"readOnlyHint": reads, "idempotentHint": again}}
        for name, (reads, again) in hints.items()
    ]
    return {"tools": tools}


def usual(asked: dict[str, Any]) -> dict[str, object]:
    """What a daemon answers to everything."""
    if asked["method"] == "initialize":
        return {"protocolVersion": asked["params"]["protocolVersion"], "capabilities": {}}
    if asked["method"] == "tools/list":
        return listed(recall=(True, True), remember=(False, True), forget=(False, False))
    return {"content": [], "for": asked["params"].get("arguments")}


@contextmanager
def scripted(home: Path, reply: Reply = usual) -> Iterator[Scripted]:
    daemon = Scripted(home, reply)
    try:
        yield daemon
    finally:
        daemon.close()


def calling(tool: str, **arguments: object) -> dict[str, object]:
    return message("tools/call", name=tool, arguments=arguments)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a daemon that cannot be started: none may come up behind a scripted one."""
    made = tmp_path / "home"
    unstartable(made, "import time; time.sleep(20)")
    return made


def unstartable(home: Path, program: str) -> None:
    (home / "run").mkdir(parents=True, exist_ok=True)
    words = ["300", str(home / "run" / "socket"), sys.executable, "-c", program, str(home)]
    (home / "run" / "hook").write_text("\0".join(words), encoding="utf-8")


# -- the conversation ----------------------------------------------------------------------


def test_every_request_gets_its_own_answer_and_nothing_else_is_said(home: Path) -> None:
    with scripted(home), hosted(home) as host:
        assert host.introduce()["result"]["protocolVersion"] == VERSION
        found = host.ask(calling("recall", query="héllo \u2028 🦊"))
        code, out, err = host.end()

    assert found["result"]["for"] == {"query": "héllo \u2028 🦊"}
    assert (code, out, err) == (0, b"", b"")


def test_parallel_requests_are_answered_as_they_are_ready(home: Path) -> None:
    slow_may_go = threading.Event()

    def reply(asked: dict[str, Any]) -> Mapping[str, object]:
        if asked["params"].get("name") == "slow":
            slow_may_go.wait(WAIT_SECONDS)
        return usual(asked)

    with scripted(home, reply), hosted(home) as host:
        host.introduce()
        slow = calling("slow")
        quick = [calling("recall", query=str(number)) for number in range(20)]
        host.send(slow, *quick)
        first = {host.line()["id"] for _ in quick}
        slow_may_go.set()
        last = host.line()["id"]

    assert first == {each["id"] for each in quick}
    assert last == slow["id"]


def test_a_request_that_was_called_off_gets_no_answer(home: Path) -> None:
    def reply(asked: dict[str, Any]) -> Mapping[str, object]:
        if asked["params"].get("name") == "slow":
            time.sleep(0.5)
        return usual(asked)

    with scripted(home, reply) as daemon, hosted(home) as host:
        host.introduce()
        slow = calling("slow")
        host.send(slow)
        eventually(lambda: any(each["id"] == slow["id"] for each in daemon.asked))
        params = {"requestId": slow["id"], "reason": "no longer needed"}
        host.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
        after = host.ask(calling("recall", query="x"))
        _, out, err = host.end()

    assert "result" in after
    assert (out, err) == (b"", b"")
    assert len(daemon.of("tools/call")) == 2, "it is not asked again either"


def test_a_ping_is_answered_while_the_daemon_is_busy(home: Path) -> None:
    let_go = threading.Event()

    def reply(asked: dict[str, Any]) -> Mapping[str, object]:
        if asked["method"] == "tools/call":
            let_go.wait(WAIT_SECONDS)
        return usual(asked)

    with scripted(home, reply), hosted(home) as host:
        host.introduce()
        host.send(calling("recall"))
        assert host.ask(message("ping"))["result"] == {}
        let_go.set()


def test_stray_messages_are_let_pass_in_silence(home: Path) -> None:
    with scripted(home) as daemon, hosted(home) as host:
        host.introduce()
        host.send(
            {"jsonrpc": "2.0", "method": "notifications/nobody_knows", "params": {"x": 1}},
            {"jsonrpc": "2.0", "method": "ping"},
            {"jsonrpc": "2.0", "method": "notifications/cancelled"},
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": [1]}},
            {"jsonrpc": "2.0", "id": "never asked", "result": {}},
            {"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "?"}},
        )
        host.write(b"\n  \n")
        host.ask(calling("recall", query="still there?"))
        _, out, err = host.end()

    assert (out, err) == (b"", b"")
    assert [each["method"] for each in daemon.asked] == ["initialize", "tools/call"]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{", -32700),
        (b"\xff\xfe\xfd", -32700),
        (b"[" * 100_000, -32700),
        (b"17", -32600),
        (b"[]", -32600),
        (b'{"jsonrpc": "2.0"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1}', -32600),
        (b'{"jsonrpc": "2.0", "id": null, "method": "tools/list"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": 7}', -32600),
    ],
)
def test_what_is_no_message_is_refused_and_the_next_is_answered(
    home: Path, line: bytes, code: int
) -> None:
    with scripted(home), hosted(home) as host:
        host.write(line + b"\n")
        refused = host.line()
        after = host.introduce()

    assert refused["error"]["code"] == code
    assert "result" in after


def test_a_line_that_is_too_long_is_refused_unread(home: Path) -> None:
    with scripted(home), hosted(home) as host:
        for _ in range(65):
            host.write(b"x" * 1_048_576)
        host.write(b"\n")
        refused = host.line()
        after = host.introduce()

    assert "67,108,864" in refused["error"]["message"]
    assert "result" in after


def test_a_batch_is_answered_as_a_batch(home: Path) -> None:
    with scripted(home), hosted(home) as host:
        host.introduce()
        one, two = calling("recall", query="1"), message("ping")
        host.send([one, {"jsonrpc": "2.0", "method": "notifications/x"}, two])
        answers = host.line()

    assert [each["id"] for each in answers] == [one["id"], two["id"]]


def test_a_refusal_of_the_daemon_is_passed_on_with_its_hint(home: Path) -> None:
    problem = {"code": "unavailable", "message": "too many at once", "hint": "try again"}

    def reply(asked: dict[str, Any]) -> Mapping[str, object] | bytes:
        return usual(asked) if asked["method"] == "initialize" else http(429, {"error": problem})

    with scripted(home, reply), hosted(home) as host:
        host.introduce()
        refused = host.ask(calling("recall"))

    assert refused["error"] == {"code": -32603, "message": "too many at once (try again)"}


def test_an_error_without_an_id_reaches_the_request_that_waits(home: Path) -> None:
    """The library answers what it cannot read with `id: null`, for which no client waits."""
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32602, "message": "Validation error"}}

    def reply(asked: dict[str, Any]) -> Mapping[str, object] | bytes:
        return usual(asked) if asked["method"] == "initialize" else http(400, error)

    with scripted(home, reply), hosted(home) as host:
        host.introduce()
        refused = host.ask(calling("recall"))

    assert refused["error"]["message"] == "Validation error"


def test_answers_that_are_due_are_given_after_stdin_ended(home: Path) -> None:
    asked = calling("recall", query="last words")

    with scripted(home), hosted(home) as host:
        host.send(introduction(VERSION), asked)
        code, out, _ = host.end()

    assert code == 0
    assert asked["id"] in {json.loads(line)["id"] for line in out.splitlines()}


def test_a_host_that_is_gone_ends_it(home: Path) -> None:
    with scripted(home), hosted(home) as host:
        host.introduce()
        assert host.process.stdout is not None
        host.process.stdout.close()
        host.send(calling("recall"))

        assert host.process.wait(WAIT_SECONDS) == 0
        assert host.process.stderr is not None
        assert host.process.stderr.read() == b""


def test_an_interrupt_ends_it_without_a_word(home: Path) -> None:
    with scripted(home), hosted(home) as host:
        host.introduce()
        host.process.send_signal(signal.SIGINT)

        assert host.process.wait(WAIT_SECONDS) == -signal.SIGINT
        assert host.process.stderr is not None
        assert host.process.stderr.read() == b""


# -- what the daemon is told ---------------------------------------------------------------


def test_the_daemon_is_told_who_asks_and_from_where(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "at las"
    folder.mkdir()
    environment = {**os.environ, "CLAUDE_CODE_SESSION_ID": "s 1"}
    environment.pop("CLAUDE_PROJECT_DIR", None)

    with scripted(home) as daemon, hosted(home, cwd=folder, env=environment) as host:
        host.introduce()
        host.ask(calling("recall"))

    head = daemon.heads[-1]
    assert "X-Agent-Id: tester\r\n" in head
    assert f"MCP-Protocol-Version: {VERSION}\r\n" in head
    target = head.split(" ")[1]
    assert target == f"/mcp?folder={str(folder).replace(' ', '%20')}&session=s%201"


def test_the_folder_that_the_host_names_counts(home: Path) -> None:
    with scripted(home) as daemon, hosted(home) as host:
        host.introduce(roots={"listChanged": True})
        wanted = host.line()
        host.send(
            {
                "jsonrpc": "2.0",
                "id": wanted["id"],
                "result": {"roots": [{"uri": "https://x"}, {"uri": "file:///home/ana/atlas"}]},
            }
        )
        host.ask(calling("recall"))

    assert wanted["method"] == "roots/list"
    assert "folder=file%3A///home/ana/atlas" in daemon.heads[-1].split(" ")[1]


def test_a_client_that_says_all_with_each_request_is_passed_on_in_kind(home: Path) -> None:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "modern\r\nX-Evil: 1", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }

    with scripted(home) as daemon, hosted(home) as host:
        host.ask(message("tools/call", name="naïve tool", arguments={}, _meta=meta))

    head = daemon.heads[-1]
    assert "MCP-Protocol-Version: 2026-07-28\r\n" in head
    assert "Mcp-Method: tools/call\r\n" in head
    assert "Mcp-Name: =?base64?bmHDr3ZlIHRvb2w=?=\r\n" in head
    assert "X-Agent-Id: modernX-Evil: 1\r\n" in head


# -- a daemon that comes and goes ----------------------------------------------------------


def test_what_is_safe_is_asked_again_when_the_daemon_went_away(home: Path) -> None:
    lost: list[str] = []

    def reply(asked: dict[str, Any]) -> Mapping[str, object] | None:
        tool = asked["params"].get("name", "")
        if tool and tool not in lost:
            lost.append(tool)
            return None
        return usual(asked)

    with scripted(home, reply) as daemon, hosted(home) as host:
        host.introduce()
        host.ask(message("tools/list"))
        answers = {tool: host.ask(calling(tool)) for tool in ("recall", "remember", "forget")}

    assert "result" in answers["recall"]
    assert "result" in answers["remember"]
    assert "look whether it was done" in answers["forget"]["error"]["message"]
    assert [each["params"]["name"] for each in daemon.of("tools/call")] == [
        "recall",
        "recall",
        "remember",
        "remember",
        "forget",
    ]


def test_a_daemon_that_always_goes_away_is_an_error_in_the_end(home: Path) -> None:
    def reply(asked: dict[str, Any]) -> Mapping[str, object] | None:
        return usual(asked) if asked["method"] != "tools/call" else None

    with scripted(home, reply) as daemon, hosted(home) as host:
        host.introduce()
        host.ask(message("tools/list"))
        refused = host.ask(calling("recall"))

    assert refused["error"]["code"] == -32603
    assert len(daemon.of("tools/call")) == 3


def test_a_request_waits_for_a_daemon_that_is_on_its_way(home: Path) -> None:
    with hosted(home) as host:
        host.send(introduction(VERSION))
        assert host.line(0.3) is None
        with scripted(home):
            assert host.line()["result"]["protocolVersion"] == VERSION


def test_a_daemon_that_cannot_start_is_said_with_where_to_look(tmp_path: Path) -> None:
    home = tmp_path / "home"
    unstartable(home, "raise SystemExit(2)")

    with hosted(home) as host:
        refused = host.ask(introduction(VERSION))
        again = host.ask(introduction(VERSION))

    assert "ended at once (exit 2)" in refused["error"]["message"]
    assert "logs/daemon.log" in refused["error"]["message"]
    assert again["error"] == refused["error"]


def test_what_keeps_the_daemon_from_starting_is_said_at_once_every_time(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text("[server]\nport = = 1\n", encoding="utf-8")
    began = time.monotonic()

    with hosted(home) as host:
        problems = [host.ask(introduction(VERSION))["error"]["message"] for _ in range(3)]

    assert all("config.toml" in each and "does not start" in each for each in problems), problems
    assert time.monotonic() - began < WAIT_SECONDS
    assert "config.toml" in (home / "logs" / "daemon.log").read_text(encoding="utf-8")


def test_a_daemon_that_is_stuck_is_an_error_in_time(home: Path) -> None:
    def stuck(asked: dict[str, Any]) -> None:
        time.sleep(2)

    with scripted(home, stuck):
        head = b"POST /mcp HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}"
        with pytest.raises(AnswerLost, match=r"did not answer within 0\.2 s"):
            DaemonClient(str(home)).ask(head, True, PendingRequest(), 0.2)


def test_only_long_work_is_waited_for_longer() -> None:
    assert answer_timeout(calling("recall", query="x")) == ANSWER_SECONDS <= 30
    assert answer_timeout(calling("run_maintenance")) > ANSWER_SECONDS


def test_last_words_of_an_earlier_daemon_are_not_taken_for_those_of_this_one(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    unstartable(home, "raise SystemExit(5)")
    (home / "logs").mkdir()
    (home / "logs" / "daemon.log").write_text("the disk was full, long ago\n", encoding="utf-8")

    with hosted(home) as host:
        refused = host.ask(introduction(VERSION))

    assert "ended at once (exit 5)" in refused["error"]["message"]
    assert "long ago" not in refused["error"]["message"]


@pytest.mark.soak
def test_where_the_port_is_taken_the_daemon_runs_on_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second home, or another program on the port: a host needs the socket only."""
    monkeypatch.setenv("MADELEINE_EMBEDDER_KIND", "fake")
    home = tmp_path / "home"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        home.mkdir()
        (home / "config.toml").write_text(f"[server]\nport = {port}\n", encoding="utf-8")
        try:
            with hosted(home) as host:
                answer = host.ask(introduction(VERSION))
            daemon: Any = RemoteDoor(home / "run" / "socket").call("status")["daemon"]
            words = (home / "run" / "hook").read_text(encoding="utf-8").split("\0")
        finally:
            stop_daemon(home)

    assert "result" in answer
    assert (daemon["wanted_port"], daemon["port"] != port) == (port, True)
    assert "--port" not in words, "the next one tries the port that is set again"
    log = (home / "logs" / "daemon.log").read_text(encoding="utf-8")
    assert f"127.0.0.1:{port}: the port is taken; taking any free port instead" in log


def test_a_home_that_cannot_be_written_is_an_error_and_no_trace(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file", encoding="utf-8")

    with hosted(tmp_path / "home") as host:
        refused = host.ask(introduction(VERSION))
        _, out, err = host.end()

    assert "no daemon can be started" in refused["error"]["message"]
    assert (out, err) == (b"", b"")


def test_a_host_is_greeted_at_once_where_the_daemon_was_known(home: Path) -> None:
    with scripted(home), hosted(home) as host:
        first = [host.introduce(), host.ask(message("tools/list"))]

    with hosted(home) as host:
        second = [host.introduce(), host.ask(message("tools/list"))]

    assert [each["result"] for each in first] == [each["result"] for each in second]
    assert (home / "run" / "mcp").stat().st_mode & 0o777 == 0o600


def test_what_the_daemon_says_otherwise_now_is_said_by_the_next_start(home: Path) -> None:
    with scripted(home), hosted(home) as host:
        host.introduce()

    def changed(asked: dict[str, Any]) -> Mapping[str, object]:
        return {**usual(asked), "instructions": "new ones"}

    with scripted(home, changed) as daemon, hosted(home) as host:
        host.introduce()
        eventually(lambda: daemon.of("initialize"))
        eventually(lambda: "new ones" in (home / "run" / "mcp").read_text(encoding="utf-8"))

    with hosted(home) as host:
        assert host.introduce()["result"]["instructions"] == "new ones"


@pytest.mark.parametrize("kept", ["", "{", "[]", '{"version": "0.0.1", "answers": {}}'])
def test_a_damaged_memory_of_greetings_is_done_without(home: Path, kept: str) -> None:
    (home / "run" / "mcp").write_text(kept, encoding="utf-8")

    with scripted(home), hosted(home) as host:
        assert "result" in host.introduce()


def test_a_list_that_says_nothing_about_tools_repeats_nothing(home: Path) -> None:
    """The oldest revisions have no annotations."""

    def reply(asked: dict[str, Any]) -> Mapping[str, object] | None:
        if asked["method"] == "tools/list":
            return {"tools": [{"name": "recall"}, 5, {"name": "x", "annotations": []}]}
        return usual(asked) if asked["method"] != "tools/call" else None

    with scripted(home, reply) as daemon, hosted(home) as host:
        host.introduce()
        host.ask(message("tools/list"))
        refused = host.ask(calling("recall"))

    assert refused["error"]["code"] == -32603
    assert len(daemon.of("tools/call")) == 1


# -- lightness -----------------------------------------------------------------------------


def test_it_imports_nothing_heavy() -> None:
    program = "import sys, madeleine.cli.main, madeleine.cli.commands.mcp; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, check=True)

    assert not HEAVY & set(done.stdout.decode().split())


def test_it_stays_small(home: Path) -> None:
    with scripted(home), hosted(home) as host:
        host.introduce()
        for number in range(20):
            host.ask(calling("recall", query=str(number)))
        status = Path(f"/proc/{host.process.pid}/status")
        if not status.exists():
            pytest.skip("only Linux tells how large a process is")
        (kilobytes,) = (
            int(line.split()[1])
            for line in status.read_text(encoding="utf-8").splitlines()
            if line.startswith("VmRSS:")
        )

    assert kilobytes <= 20_000
