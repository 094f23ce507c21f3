"""How long an agent waits for its tools: `madeleine bench tools`, or `python bench/tools.py`.

What a host starts is measured from spawn to its first answer, against an interpreter that does
nothing; then what a call through it costs, against the same recall over the daemon's own route.
Done in turns, so that a busy machine burdens all alike. The home is made in a temporary folder.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, os.fspath(Path(__file__).parent))

from _corpus import Texts
from _measure import Row, ms, progress, timed
from _spawning import daemon, in_turns, made_home, parser_for, run

from madeleine.api.remote import RemoteDoor

START_RATIO = 5.0  # 100 ms on a machine that starts Python in 20
LARGEST_MB = 20.0
WARM = 3
INFO = {"name": "bench", "version": "1"}
IDLE = [sys.executable, "-c", "pass"]

Json = dict[str, object]


class Host:
    """A host with the command that it started."""

    def __init__(self, home: Path) -> None:
        words = ["-m", "madeleine", "mcp", "--home", os.fspath(home)]
        self.process = subprocess.Popen(
            [sys.executable, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def ask(self, method: str, **params: object) -> Json:
        """Send one request and return its result."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        asked = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self.process.stdin.write(json.dumps(asked).encode() + b"\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        return dict(answer["result"])

    def introduce(self) -> Json:
        version = "2025-11-25"
        return self.ask("initialize", protocolVersion=version, capabilities={}, clientInfo=INFO)

    def megabytes(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        (line,) = (each for each in status.splitlines() if each.startswith("VmRSS:"))
        return int(line.split()[1]) / 1_000

    def end(self) -> None:
        self.process.communicate()


@contextlib.contextmanager
def hosted(home: Path) -> Iterator[Host]:
    host = Host(home)
    try:
        yield host
    finally:
        host.end()


def greeted(home: Path) -> float:
    """Return the seconds from spawn to the answer to `initialize`."""
    began = time.perf_counter()
    with hosted(home) as host:
        host.introduce()
        return time.perf_counter() - began


def ready(home: Path) -> float:
    """Return the seconds from spawn until the tools are listed."""
    began = time.perf_counter()
    with hosted(home) as host:
        host.introduce()
        host.ask("tools/list")
        return time.perf_counter() - began


def starting(home: Path, times: int, when: str) -> Row:
    idle = {"idle": lambda: timed(lambda: subprocess.run(IDLE, check=True))}
    found = in_turns(
        {"start": lambda: greeted(home), "ready": lambda: ready(home), **idle}, times, WARM
    )
    took, needed = found["start"], found["idle"]
    note = (
        f"{ms(took)} against {ms(needed)}; with the list of tools {ms(found['ready'])}; "
        f"median of {times}, in turns"
    )
    what = f"`madeleine mcp`, spawn to first answer, {when}"
    target, ratio = f"at most {START_RATIO:g} x `python -c pass`", took / needed
    return Row(what, target, f"{ratio:.2f} x", ratio <= START_RATIO, note)


def size(home: Path, texts: Texts) -> Row:
    with hosted(home) as host:
        host.introduce()
        for _ in range(20):
            host.ask("tools/call", name="recall", arguments={"query": question(texts)})
        found = host.megabytes()
    target = f"at most {LARGEST_MB:g} MB"
    note = "VmRSS after twenty recalls"
    return Row("resident memory", target, f"{found:.1f} MB", found <= LARGEST_MB, note)


def calling(home: Path, door: RemoteDoor, texts: Texts, times: int) -> Row:
    """A recall through stdio, proxy and library against the same recall over the plain route."""
    with hosted(home) as host:
        host.introduce()

        def through() -> float:
            asked = {"name": "recall", "arguments": {"query": question(texts)}}
            return timed(lambda: host.ask("tools/call", **asked))

        def plain() -> float:
            return timed(lambda: door.call("recall", body={"query": question(texts)}))

        found = in_turns({"through": through, "plain": plain}, times, WARM)
    more = found["through"] - found["plain"]
    note = f"{ms(found['through'])} against {ms(found['plain'])}; median of {times}, in turns"
    return Row(
        "a recall as a tool, above the plain route", "", f"{more * 1_000:+.1f} ms", True, note
    )


def question(texts: Texts) -> str:
    return f"what about {' '.join(texts.draft().content.split()[:10])}?"


def measured(folder: Path, memories: int, times: int) -> list[Row]:
    home, texts = made_home(folder, memories), Texts(seed=time.time_ns())
    with daemon(home) as door:
        progress("starting the command")
        rows = [starting(home, times, "warm daemon"), size(home, texts)]
        progress("calling a tool")
        rows.append(calling(home, door, texts, times))
    return rows


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark; 0 when every target is met."""
    return run(parser_for("tools", __doc__).parse_args(argv), measured)


if __name__ == "__main__":
    sys.exit(main())
