"""The hook's own process: it hands the host's JSON to the daemon and copies the answer.

    /abs/python -I -S /abs/whisper.py HOME [inject|store|statusline] [HOST]

A person waits while this runs, and starting Python is most of what it costs. So it imports only
what is compiled (`_socket`, and what the interpreter holds anyway), is one file that can be copied
anywhere, and leaves every decision to the daemon: what to say, and in which host's shape.

What is kept true (I5): it exits 0 whatever happens; it prints the whole answer or nothing; it is
over when the deadline is, which counts from when this file began to run. If no daemon runs it
starts one, at most once a minute, and does not wait for it: this turn goes without a whisper.

The daemon is told by when we need an answer (`Madeleine-Due`, a moment of the monotonic clock that
all processes of a machine share), and that we confirm what we printed (`Madeleine-Receipt`). The
confirmation is a second request on the same connection; nobody waits for its answer. Without it
nothing counts as said (I13). If the host does not read any more, that is told in its place, so that
the next prompt may be told the same at once.

`HOME/run/hook` is what the daemon leaves for us, joined by NUL: the deadline in milliseconds, the
path of its socket, and the words of the command that starts a daemon. In a home where none ever
ran there is no such file, and the defaults below hold.
"""

import sys
from _signal import (  # type: ignore[import-not-found]  # compiled in, but without a stub
    ITIMER_REAL,
    SIGALRM,
    setitimer,
    signal,
)
from _socket import AF_UNIX, SOCK_STREAM, socket
from posix import (
    F_TLOCK,
    O_APPEND,
    O_CLOEXEC,
    O_CREAT,
    O_RDONLY,
    O_RDWR,
    O_WRONLY,
    POSIX_SPAWN_OPEN,
    _exit,
    close,
    environ,
    fstat,
    ftruncate,
    lockf,
    mkdir,
    open,
    posix_spawn,
    read,
    write,
)
from time import monotonic, time

TYPE_CHECKING = False  # as typing has it, which is not imported here
if TYPE_CHECKING:
    from collections.abc import Callable

DEADLINE_SECONDS = 0.3
START_PAUSE_SECONDS = 60.0
MAX_INPUT_BYTES = 4_194_304  # of what a host may send; the daemon finds that the rest is missing
PART_BYTES = 65_536
HOOK_VERBS = ("inject", "store", "statusline")
STARTED_AT = monotonic()  # the interpreter's own start is over by then

# One entry for Claude Code may be run by other hosts too, which only the environment tells.
HOSTS_BY_VARIABLE = (
    (b"CURSOR_VERSION", "cursor"),
    (b"COPILOT_CLI", "copilot"),
    (b"GEMINI_SESSION_ID", "gemini"),
)


class HookDirections:
    """What the daemon of a home left for its hooks."""

    def __init__(self, home: str) -> None:
        self.home = home
        self.seconds = DEADLINE_SECONDS
        self.socket = f"{home}/run/socket"
        self.command = [sys.executable, "-P", "-m", "madeleine.server", "--home", home]
        self.command += ["--or-any-port"]  # the socket is all we need
        try:
            self._take(read_file(f"{home}/run/hook").decode("utf-8", "surrogateescape"))
        except (OSError, ValueError):
            return  # no daemon ran here yet, or another release wrote it: the defaults will do

    def _take(self, text: str) -> None:
        milliseconds, where, *command = text.split("\0")
        self.seconds = int(milliseconds) / 1000
        if self.home in command:  # else they speak of where this home was before it was moved
            self.socket, self.command = where, command


def main(words: list[str]) -> None:
    """Read stdin, ask, and print the answer, all before the deadline."""
    home, verb, host = (*words, *("", "inject", "claude")[len(words) :])[:3]
    directions = HookDirections(home.rstrip("/"))
    until = STARTED_AT + directions.seconds
    signal(SIGALRM, raise_timeout)
    setitimer(ITIMER_REAL, max(until - monotonic(), 0.001))
    relay_hook(directions, verb, host, read_bounded(0), until, print_whole)


def print_whole(answer: bytes) -> None:
    setitimer(ITIMER_REAL, 0)  # an answer that is begun is also finished
    while answer:
        answer = answer[write(1, answer) :]


def relay_hook(
    directions: HookDirections,
    verb: str,
    host: str,
    given: bytes,
    until: float,
    show: "Callable[[bytes], None]",
) -> None:
    """Ask the daemon, `show` its answer, and confirm that this was done. Without an answer nothing
    is shown; where no daemon runs one is perhaps started."""
    connection = socket(AF_UNIX, SOCK_STREAM)
    try:
        whisper, answer = ask_daemon(
            connection, directions, build_request(verb, host, given, until), until
        )
        if answer and monotonic() < until:
            try:
                show(answer)
            except OSError:  # the host has closed the pipe
                report_outcome(connection, whisper, "undelivered")
                raise
            report_outcome(connection, whisper, "delivered")
    finally:
        connection.close()


def ask_daemon(
    connection: socket, directions: HookDirections, message: bytes, until: float
) -> tuple[str, bytes]:
    """Return the id of a whisper that is to be confirmed, and the answer; both may be empty."""
    try:
        try:
            connection.settimeout(max(until - monotonic(), 0.001))
            connection.connect(directions.socket)
            connection.sendall(message)
            head, body = read_response(connection, until)
        except (FileNotFoundError, ConnectionRefusedError):
            start_daemon(directions)
            return "", b""
    except (OSError, ValueError):
        return "", b""  # too late, cut off while we asked, or nothing can be started here
    if not head.startswith(b"HTTP/1.1 200 "):
        return "", b""
    return header_value(head, b"madeleine-whisper").decode("ascii", "replace"), body


def report_outcome(connection: socket, whisper: str, outcome: str) -> None:
    """Tell the daemon that a whisper was printed, or could not be; whoever waits for us waits no
    longer for it."""
    if not whisper.replace("-", "").isalnum():
        return
    message = (
        f"POST /hook/{outcome}?whisper={whisper} HTTP/1.1\r\nHost: localhost\r\n"
        "Content-Length: 0\r\n\r\n"
    )
    try:
        connection.settimeout(0)
        connection.sendall(message.encode("ascii"))
    except OSError:
        return  # the daemon is gone; to its log nobody got this whisper


def build_request(verb: str, host: str, given: bytes, until: float) -> bytes:
    inside = [name for variable, name in HOSTS_BY_VARIABLE if variable in environ]
    plain = host if host.isascii() and host.replace("-", "").isalnum() else "unknown"
    path = f"/hook/{verb if verb in HOOK_VERBS else 'inject'}"
    head = (
        f"POST {path}?host={'@'.join([plain, *inside[:1]])} "
        f"HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Madeleine-Due: {until:.6f}\r\nMadeleine-Receipt: 1\r\n"
        f"Content-Length: {len(given)}\r\n\r\n"
    )
    return head.encode("ascii") + given


def read_response(connection: socket, until: float) -> tuple[bytes, bytes]:
    """Return an answer's head and body; nothing of one that breaks off."""
    got = b""
    while True:
        head, ended, body = got.partition(b"\r\n\r\n")
        if ended and len(body) >= int(header_value(head, b"content-length") or 0):
            return head, body
        connection.settimeout(max(until - monotonic(), 0.001))
        part = connection.recv(PART_BYTES)
        if not part:
            return b"", b""
        got += part


def header_value(head: bytes, wanted: bytes) -> bytes:
    for line in head.lower().split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name == wanted:
            return value.strip()
    return b""


def start_daemon(directions: HookDirections, pause: float = START_PAUSE_SECONDS) -> int:
    """Start a daemon that outlives us and return its process, unless somebody tried a moment
    ago: then it is 0."""
    home = directions.home
    for folder in (home, f"{home}/run", f"{home}/logs"):
        try:
            mkdir(folder, 0o700)
        except FileExistsError:
            continue
    stamp = open(f"{home}/run/start", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    try:
        return (
            spawn_process(directions.command, f"{home}/logs/daemon.log")
            if claim_start(stamp, pause)
            else 0
        )
    finally:
        close(stamp)


def claim_start(stamp: int, pause: float) -> bool:
    """Whether it is for us to try: of several at once one gets the lock, and leaves its mark."""
    try:
        lockf(stamp, F_TLOCK, 0)
    except OSError:
        return False
    found = fstat(stamp)
    if found.st_size and 0 <= time() - found.st_mtime < pause:
        return False
    ftruncate(stamp, 0)
    write(stamp, b"a hook tried to start the daemon\n")
    return True


def spawn_process(command: list[str], log: str) -> int:
    """Start a process that holds nothing of ours: a host waits until its pipes are let go."""
    nowhere = "/dev/null"
    files = (
        (POSIX_SPAWN_OPEN, 0, nowhere, O_RDONLY, 0),
        (POSIX_SPAWN_OPEN, 1, nowhere, O_WRONLY, 0),
        (POSIX_SPAWN_OPEN, 2, log, O_WRONLY | O_CREAT | O_APPEND, 0o600),
    )
    return posix_spawn(command[0], command, environ, file_actions=files, setsid=True)


def read_file(path: str) -> bytes:
    handle = open(path, O_RDONLY | O_CLOEXEC)
    try:
        return read(handle, PART_BYTES)
    finally:
        close(handle)


def read_bounded(handle: int) -> bytes:
    """Return what can be read, up to the bound. All is read: a host may not like a closed pipe."""
    parts: list[bytes] = []
    size = 0
    while part := read(handle, PART_BYTES):
        if size < MAX_INPUT_BYTES:
            parts.append(part)
        size += len(part)
    return b"".join(parts)


def raise_timeout(number: int, frame: object) -> None:
    raise TimeoutError


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    finally:
        # Also after an error, which then says nothing: a trace on stderr or an exit code other
        # than 0 would be shown to the person, or cost them their prompt.
        _exit(0)
