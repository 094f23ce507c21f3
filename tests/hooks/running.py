"""Hooks in tests: the real client process against a real daemon.

Only the pipeline is scripted, so that a test can say what is whispered and how long it takes:

    "…"             is whispered as `about …` with what else was passed on
    "quiet …"       gets silence
    "sleep MS …"    takes that long
    "wide BYTES …"  is whispered at that length, in lines of 61 bytes
    "refuse …"      is refused
    "bug …"         meets a bug
"""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import madeleine.hooks.whisper
from madeleine.api.remote import RemoteDoor
from tests.server.running import WAIT_SECONDS

CLIENT = Path(madeleine.hooks.whisper.__file__)
PATIENT_MS = 15_000  # a test of what is answered must not fail on a busy machine

SCRIPT = """
import sys, time
from dataclasses import replace
from madeleine.api import recall_operations
from madeleine.api.contract.responses import WhisperAnswer
from madeleine.errors import Unavailable

def whisper(context, call):
    prompt = call.body["prompt"]
    word, _, rest = prompt.partition(" ")
    number = int(rest.split()[0]) if word in ("sleep", "wide") else 0
    if word == "sleep":
        time.sleep(number / 1000)
    if word == "refuse":
        raise Unavailable("the index is busy")
    if word == "bug":
        raise KeyError("the text of a memory")
    more = {name: value for name, value in call.body.items() if name != "prompt"}
    text = "" if word == "quiet" else f"about {prompt} {more} by {call.by}"
    if word == "wide":
        text = ("海" * 20 + "\\n") * (number // 61)
    return WhisperAnswer(text=text, whisper_id="w", injected=(), stage="scripted",
                         silence=None if text else "scripted", silence_parts=None, took_ms=1.0)

declared = recall_operations.whisper_to_prompt
recall_operations.whisper_to_prompt = replace(declared, perform=whisper)
from madeleine.server.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


@dataclass(frozen=True, slots=True)
class Hooked:
    """A daemon with a scripted pipeline, and its hooks."""

    home: Path
    process: subprocess.Popen[bytes]
    port: int

    @property
    def door(self) -> RemoteDoor:
        return RemoteDoor(self.home / "run" / "socket")

    @property
    def counts(self) -> dict[str, Any]:
        daemon: Any = self.door.call("status")["daemon"]
        return dict(daemon["hooks"])

    @property
    def log(self) -> str:
        return (self.home / "logs" / "daemon.log").read_text(encoding="utf-8")

    def post(self, body: object, verb: str = "inject", host: str = "claude") -> bytes:
        """Send a hook's JSON over TCP and return what the host would read."""
        status, answer = self.ask(json.dumps(body).encode(), verb, host)
        assert status == 200, answer
        return answer

    def ask(
        self, raw: bytes, verb: str = "inject", host: str = "claude", token: str | None = None
    ) -> tuple[int, bytes]:
        """Send any bytes over TCP; return the status and what came back."""
        shown = token or (self.home / "run" / "token").read_text(encoding="utf-8").strip()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_SECONDS)
        try:
            headers = {"Authorization": f"Bearer {shown}"}
            connection.request("POST", f"/hook/{verb}?host={host}", raw, headers)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()


@contextmanager
def hooked(home: Path, **config: object) -> Iterator[Hooked]:
    """Run a daemon; `config` are settings of the section `whisper`."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", SCRIPT, "--home", os.fspath(home), "--port", "0"],
        stdout=subprocess.PIPE,
        env={**os.environ, **variables(**config)},
    )
    try:
        assert process.stdout is not None
        with process.stdout as pipe:
            said = json.loads(pipe.readline())
        yield Hooked(home, process, said["ready"]["port"])
    finally:
        process.terminate()
        process.wait(WAIT_SECONDS)


def variables(**config: object) -> dict[str, str]:
    """Return the environment that sets these config."""
    wanted = {"deadline_ms": PATIENT_MS, **config}
    return {f"MADELEINE_WHISPER_{name.upper()}": str(value) for name, value in wanted.items()}


@dataclass(frozen=True, slots=True)
class Ran:
    """What a hook process left behind."""

    code: int
    out: bytes
    err: bytes


def client(
    home: Path,
    body: object,
    *words: str,
    script: Path = CLIENT,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> Ran:
    """Run the thin client as a host does; a body that is no bytes is sent as JSON."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", os.fspath(script), os.fspath(home), *words],
        input=body if isinstance(body, bytes) else json.dumps(body).encode(),
        capture_output=True,
        timeout=WAIT_SECONDS,
        check=False,
        env={**os.environ, **environment},
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def claude(prompt: str, session: str = "s1", **more: object) -> dict[str, object]:
    """Return what Claude Code sends for a prompt."""
    return {
        "session_id": session,
        "transcript_path": None,
        "cwd": "/nowhere",
        "permission_mode": "default",
        "hook_event_name": "UserPromptSubmit",
        "prompt": prompt,
        **more,
    }


def context(reply: bytes) -> str:
    """Return what Claude Code hands to the model."""
    said = json.loads(reply)["hookSpecificOutput"]
    assert said["hookEventName"] == "UserPromptSubmit"
    return str(said["additionalContext"])
