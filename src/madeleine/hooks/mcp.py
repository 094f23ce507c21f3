"""`madeleine mcp`: the MCP server on stdio, as a light proxy.

Every request of the host goes to the daemon's /mcp by itself, and its answer comes back on one
line. There is no session to lose: a daemon that is restarted in between, or was not started yet,
is only a slower answer. Nothing but answers is ever written to stdout, and the end of stdin is
the end.

A host waits for `initialize` and the list of tools before anything else, and the daemon may still
be starting. So what it answered to these the last time is kept in `run/mcp` and said at once,
while the daemon is asked behind it; if it answers otherwise now, the next start says that.

Like the hook (`whisper.py`) this imports only what starts quickly; `daemon_client.py` is the way to
the daemon.
"""

from __future__ import annotations

import json
import sys
import threading
from binascii import b2a_base64
from posix import (
    O_CLOEXEC,
    O_CREAT,
    O_RDONLY,
    O_TRUNC,
    O_WRONLY,
    _exit,
    close,
    environ,
    fstat,
    getcwd,
    getpid,
    open,
    read,
    rename,
    write,
)
from time import monotonic

from madeleine.hooks.daemon_client import (
    ANSWER_SECONDS,
    AnswerLost,
    DaemonClient,
    DaemonUnreachable,
    PendingRequest,
)
from madeleine.version import __version__

TYPE_CHECKING = False  # importing typing would cost as much as all of this
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

PART_BYTES = 65_536
MAX_LINE_BYTES = 67_108_864  # what the daemon takes; a longer line is refused unread
MAX_CONCURRENT = 32  # requests on their way; the host's next line waits for one of them
SHUTDOWN_SECONDS = 5.0  # for answers that are due when stdin ends
MAX_NAME_CHARS = 100
LONG_TOOL_SECONDS = 600.0  # for a tool that carries out many changes
LONG_TOOLS = ("run_maintenance",)

PARSE_ERROR, INVALID_REQUEST, INTERNAL_ERROR = -32700, -32600, -32603
VERSION_KEY, CLIENT_KEY = (
    f"io.modelcontextprotocol/{name}" for name in ("protocolVersion", "clientInfo")
)
TARGET_PARAMETER = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
GREETING_METHODS = ("initialize", "server/discover", "tools/list")  # the same whoever asks
MAX_CACHED_GREETINGS = 20  # answers to greetings: two or three for each revision
ROOTS_ID = "madeleine-roots"
URL_SAFE_BYTES = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")


class McpError(Exception):
    """A message that gets an error for an answer."""

    def __init__(self, code: int, problem: str) -> None:
        super().__init__(problem)
        self.code = code


class McpHost:
    """Who is at the other end of stdio, as far as it said so."""

    def __init__(self) -> None:
        self.name = "unknown"
        self.version = ""
        self.has_roots = False
        self.folder = read_variable(b"CLAUDE_PROJECT_DIR") or working_folder()
        self.session = read_variable(b"CLAUDE_CODE_SESSION_ID")

    def note_introduction(self, params: dict[str, Any]) -> None:
        self.has_roots = "roots" in as_object(params.get("capabilities"))
        self.note_client(params.get("clientInfo"))

    def note_client(self, client: object) -> None:
        name = as_object(client).get("name")
        if isinstance(name, str):
            self.name = "".join(each for each in name if each.isprintable())[:MAX_NAME_CHARS]

    def note_roots(self, result: object) -> None:
        """Take the first folder that the host works in."""
        roots = as_object(result).get("roots")
        for root in roots if isinstance(roots, list) else []:
            uri = as_object(root).get("uri")
            if isinstance(uri, str) and uri.startswith("file:"):
                self.folder = uri
                return

    def target(self) -> str:
        said = (("folder", self.folder), ("session", self.session))
        return "/mcp?" + "&".join(f"{name}={quote_url(value)}" for name, value in said if value)


class GreetingCache:
    """What the daemon of this home last said to greetings, by method and version."""

    def __init__(self, home: str) -> None:
        self._path = f"{home}/run/mcp"
        self._lock = threading.Lock()
        self._answers: dict[str, Any] = {}
        try:
            kept = as_object(json.loads(read_whole(self._path)))
        except (OSError, ValueError, RecursionError):
            return  # nothing is known yet
        if kept.get("version") == __version__:
            self._answers = as_object(kept.get("answers"))

    def get(self, greeting: str) -> dict[str, Any] | None:
        return as_object(self._answers.get(greeting)) or None

    def keep(self, greeting: str, result: dict[str, Any]) -> None:
        with self._lock:
            if self._answers.get(greeting) == result:
                return
            if len(self._answers) >= MAX_CACHED_GREETINGS:
                self._answers.clear()
            self._answers[greeting] = result
            kept = {"version": __version__, "answers": self._answers}
            try:
                write_whole(self._path, json.dumps(kept).encode("ascii"))
            except OSError:
                return  # the next start waits for the daemon, as this one did

    def is_safe(self, tool: object) -> bool:
        """Whether a tool may be called twice: it only reads, or a second time changes nothing."""
        lists = [as_object(result).get("tools") for result in list(self._answers.values())]
        listed = [as_object(each) for tools in lists if isinstance(tools, list) for each in tools]
        hints = [as_object(each.get("annotations")) for each in listed if each.get("name") == tool]
        return any(each.get("readOnlyHint") or each.get("idempotentHint") for each in hints)


class McpProxy:
    """One host's conversation."""

    def __init__(self, home: str) -> None:
        self._daemon = DaemonClient(home)
        self._host = McpHost()
        self._known = GreetingCache(home)
        self._speaking = threading.Lock()
        self._room = threading.Semaphore(MAX_CONCURRENT)
        self._change = threading.Condition()
        self._flights: dict[object, PendingRequest] = {}
        self._busy = 0

    def serve(self) -> None:
        """Answer until stdin ends, and then what is still due."""
        for line in read_lines(0):
            if line is None:
                self._write_line(
                    render_error(None, INVALID_REQUEST, f"a line is over {MAX_LINE_BYTES:,} bytes")
                )
            elif line.strip():
                self._read(line)
        until = monotonic() + SHUTDOWN_SECONDS
        with self._change:
            while self._busy and (left := until - monotonic()) > 0:
                self._change.wait(left)

    def _read(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            self._write_line(render_error(None, PARSE_ERROR, "Parse error"))
            return
        if isinstance(message, list) and message:
            ids = (as_object(each).get("id") for each in message)
            first = next((each for each in ids if each is not None), None)
            self._in_thread(lambda: self._say_all([self._answer(each) for each in message]), first)
        else:
            self._take(message, line)

    def _take(self, message: object, line: bytes) -> None:
        """Answer what can be answered here at once, and everything else in a thread."""
        if self._take_notification(message):
            return
        known = self._answer_greeting(as_object(message))
        if known:
            self._write_line(known)
        else:
            waiting = as_object(message).get("id")
            self._in_thread(lambda: self._write_line(self._answer(message, line)), waiting)

    def _take_notification(self, message: object) -> bool:
        """Take note of what needs no answer, and say whether it was that."""
        known = as_object(message)
        method, params = known.get("method"), as_object(known.get("params"))
        if "id" in known and "method" in known:
            return False
        if method is None and known.get("id") == ROOTS_ID:
            self._host.note_roots(known.get("result"))
        elif method == "notifications/cancelled":
            self._call_off(params.get("requestId"))
        elif method in ("notifications/initialized", "notifications/roots/list_changed"):
            self._ask_for_roots()
        return "method" in known or "result" in known or "error" in known

    def _ask_for_roots(self) -> None:
        if self._host.has_roots:
            self._write_line(
                encode_message({"jsonrpc": "2.0", "id": ROOTS_ID, "method": "roots/list"})
            )

    def _call_off(self, request_id: object) -> None:
        with self._change:
            flight = self._flights.get(request_key(request_id))
        if flight is not None:
            flight.call_off()

    def _answer_greeting(self, asked: dict[str, Any]) -> bytes:
        """Return the answer to a greeting if it is known, and ask the daemon behind it."""
        method, greeting = asked.get("method"), self._greeting_key(asked)
        if method == "initialize":
            self._host.note_introduction(as_object(asked.get("params")))
        if method == "ping" and self._host.version and is_request_id(asked["id"]):
            return render_result(asked["id"], {})
        result = self._known.get(greeting) if greeting else None
        if result is None:
            return b""
        self._settle(method, result)
        again = {**asked, "id": f"{greeting} again"}
        self._in_thread(lambda: self._answer(again))
        return render_result(asked["id"], result)

    def _greeting_key(self, message: dict[str, Any]) -> str:
        """Return under which name an answer may be kept; empty if under none."""
        method, params = message.get("method"), as_object(message.get("params"))
        if (
            method not in GREETING_METHODS
            or not is_request_id(message.get("id"))
            or params.get("cursor")
        ):
            return ""
        asked = params.get("protocolVersion") if method == "initialize" else ""
        version = asked or requested_version(params) or self._host.version
        return f"{method} {version}" if version else ""

    def _settle(self, method: object, result: dict[str, Any]) -> None:
        if method == "initialize":
            self._host.version = str(result.get("protocolVersion", ""))

    # -- in threads ------------------------------------------------------------------------

    def _in_thread(self, work: Callable[[], object], request_id: object = None) -> None:
        """Do it beside. A request that meets a bug of ours is answered too, and stderr says
        where; what has no id nobody waits for."""
        self._room.acquire()
        due = request_id is not None
        with self._change:
            self._busy += due

        def done() -> None:
            bug = True
            try:
                work()
                bug = False
            finally:
                if bug and due:
                    self._write_line(render_error(request_id, INTERNAL_ERROR, "a bug of the proxy"))
                self._room.release()
                with self._change:
                    self._busy -= due
                    self._change.notify_all()

        threading.Thread(target=done, daemon=True).start()

    def _answer(self, message: object, line: bytes = b"") -> bytes:
        """Return the answer to a message; nothing if none is due."""
        asked = as_object(message)
        request_id = asked.get("id") if is_request_id(asked.get("id")) else None
        try:
            if self._take_notification(message):
                return b""
            if request_id is None or not isinstance(asked.get("method"), str):
                raise McpError(INVALID_REQUEST, "Invalid Request: it has no method, or no id")
            return self._ask_daemon(asked, line or encode_message(asked))
        except McpError as refused:
            return render_error(request_id, refused.code, str(refused))
        except DaemonUnreachable as error:
            hint = "`madeleine serve` says more, and logs/daemon.log in its home"
            return render_error(request_id, INTERNAL_ERROR, f"{error} ({hint})")
        except AnswerLost as lost:
            problem = "the daemon went away before it answered; look whether it was done"
            return render_error(request_id, INTERNAL_ERROR, str(lost) or problem)

    def _ask_daemon(self, asked: dict[str, Any], line: bytes) -> bytes:
        """Have the daemon answer; nothing if the host called the request off meanwhile."""
        greeting, flight = self._greeting_key(asked), PendingRequest()
        with self._change:
            self._flights[request_key(asked["id"])] = flight
        try:
            request = self._build_request(asked, line)
            status, body = self._daemon.ask(
                request, self._is_safe(asked), flight, answer_timeout(asked)
            )
        except (AnswerLost, DaemonUnreachable):
            if flight.called_off:
                return b""
            raise
        finally:
            with self._change:
                self._flights.pop(request_key(asked["id"]), None)
        answer = parse_daemon_answer(status, body, asked["id"])
        if greeting and "result" in answer:
            self._settle(asked["method"], answer["result"])
            self._known.keep(greeting, answer["result"])
        return b"" if flight.called_off else encode_message(answer)

    def _is_safe(self, asked: dict[str, Any]) -> bool:
        named = as_object(asked.get("params")).get("name")
        return asked["method"] != "tools/call" or self._known.is_safe(named)

    def _build_request(self, asked: dict[str, Any], body: bytes) -> bytes:
        method, params = asked["method"], as_object(asked.get("params"))
        now = requested_version(params)
        if now:
            self._host.note_client(params["_meta"].get(CLIENT_KEY))
        heads = {
            "Host": "localhost",
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            "X-Agent-Id": self._host.name,
            "MCP-Protocol-Version": now or ("" if method == "initialize" else self._host.version),
            "Mcp-Method": encode_header(method) if now else "",
            "Mcp-Name": encode_header(params.get(TARGET_PARAMETER.get(method, ""))) if now else "",
        }
        said = "".join(f"{name}: {value}\r\n" for name, value in heads.items() if value)
        return f"POST {self._host.target()} HTTP/1.1\r\n{said}\r\n".encode() + body

    # -- speaking --------------------------------------------------------------------------

    def _say_all(self, answers: list[bytes]) -> None:
        due = [each for each in answers if each]
        if due:
            self._write_line(b"[" + b",".join(due) + b"]")

    def _write_line(self, answer: bytes) -> None:
        """Write one line, whole. If nobody reads any more there is nothing left to do."""
        if not answer:
            return
        with self._speaking:
            left = answer + b"\n"
            try:
                while left:
                    left = left[write(1, left) :]
            except OSError:
                _exit(0)


def answer_timeout(asked: dict[str, Any]) -> float:
    """Return how many seconds an answer may take."""
    return (
        LONG_TOOL_SECONDS
        if as_object(asked.get("params")).get("name") in LONG_TOOLS
        else ANSWER_SECONDS
    )


def parse_daemon_answer(status: int, body: bytes, request_id: object) -> dict[str, Any]:
    """Return the daemon's answer as one to this request, also where it is no JSON-RPC."""
    try:
        answer = as_object(json.loads(body))
    except (ValueError, RecursionError):
        raise McpError(INTERNAL_ERROR, f"the daemon answered {status}") from None
    if "jsonrpc" in answer:
        return {**answer, "id": request_id}
    error = as_object(answer.get("error"))
    hint = f" ({error['hint']})" if error.get("hint") else ""
    raise McpError(INTERNAL_ERROR, f"{error.get('message', f'the daemon answered {status}')}{hint}")


def requested_version(params: dict[str, Any]) -> str:
    """Return the version that a request says by itself; those of older clients say none."""
    version = as_object(params.get("_meta")).get(VERSION_KEY)
    return encode_header(version) if isinstance(version, str) else ""


def encode_header(value: object) -> str:
    """Return a value as MCP puts it into a header."""
    if not isinstance(value, str):
        return ""
    if value.isascii() and value.isprintable() and value == value.strip() and value[:2] != "=?":
        return value
    coded = b2a_base64(value.encode("utf-8", "replace"), newline=False)
    return f"=?base64?{coded.decode('ascii')}?="


def quote_url(value: str) -> str:
    given = value.encode("utf-8", "surrogateescape")
    return "".join(chr(each) if each in URL_SAFE_BYTES else f"%{each:02X}" for each in given)


def render_result(request_id: object, result: dict[str, Any]) -> bytes:
    return encode_message({"jsonrpc": "2.0", "id": request_id, "result": result})


def render_error(request_id: object, code: int, problem: str) -> bytes:
    error = {"code": code, "message": problem}
    return encode_message({"jsonrpc": "2.0", "id": request_id, "error": error})


def encode_message(message: dict[str, Any]) -> bytes:
    """Return a message on one line."""
    return json.dumps(message, separators=(",", ":")).encode("ascii")


def as_object(value: object) -> dict[str, Any]:
    """Return a JSON object; of anything else an empty one."""
    return value if isinstance(value, dict) else {}


def is_request_id(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def request_key(request_id: object) -> object:
    """Return what tells requests apart: `1` and `"1"` are two."""
    return (type(request_id), request_id) if is_request_id(request_id) else None


def read_variable(name: bytes) -> str:
    return environ.get(name, b"").decode("utf-8", "surrogateescape")


def working_folder() -> str:
    try:
        return getcwd()
    except OSError:
        return ""  # it was removed meanwhile


def read_lines(handle: int) -> Iterator[bytes | None]:
    """Yield the lines of a stream; None for one that is too long."""
    held: list[bytes] = []
    size = 0
    while part := read(handle, PART_BYTES):
        *whole, rest = part.split(b"\n")
        for each in whole:
            yield None if size + len(each) > MAX_LINE_BYTES else b"".join([*held, each])
            held, size = [], 0
        size += len(rest)
        held.append(rest)
        if size > MAX_LINE_BYTES:
            held.clear()
    if held and size <= MAX_LINE_BYTES:
        yield b"".join(held)


def read_whole(path: str) -> bytes:
    handle = open(path, O_RDONLY | O_CLOEXEC)
    try:
        return read(handle, fstat(handle).st_size + 1)
    finally:
        close(handle)


def write_whole(path: str, data: bytes) -> None:
    """Write a small file that only its owner can read, whole or not at all."""
    beside = f"{path}.{getpid()}"
    handle = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    try:
        while data:
            data = data[write(handle, data) :]
    finally:
        close(handle)
    rename(beside, path)


def main(home: str) -> int:
    McpProxy(home).serve()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
