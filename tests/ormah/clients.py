"""Ormah's clients as processes, pointed at a daemon of ours."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

PATIENCE_SECONDS = 30
ASK_MCP = Path(__file__).with_name("ask_mcp.py")
WRITE_NODES = Path(__file__).with_name("write_nodes.py")


@dataclass(frozen=True, slots=True)
class Ran:
    """What a client left behind."""

    code: int
    out: str
    err: str


@dataclass(frozen=True, slots=True)
class Ormah:
    """An installed Ormah, its user's home, and the port that it is told."""

    venv: Path
    home: Path
    port: int
    folder: Path

    def run(self, *words: str, given: str = "") -> Ran:
        """Run `ormah` in the project's folder."""
        return self._run([os.fspath(self.venv / "bin" / "ormah"), *words], given)

    def said(self, *words: str, given: str = "") -> str:
        """Run `ormah`, expect it to work, and return what it printed."""
        ran = self.run(*words, given=given)
        assert ran.code == 0, ran
        return ran.out

    def python(self, script: Path, given: str, *words: str) -> str:
        """Run a script of ours with the Python that has Ormah."""
        ran = self._run([self._python, os.fspath(script), *words], given)
        assert ran.code == 0, ran
        return ran.out

    @contextmanager
    def mcp(self) -> Iterator[Tools]:
        """Run `ormah mcp` and the official client of it."""
        process = subprocess.Popen(
            [self._python, os.fspath(ASK_MCP)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            cwd=self.folder,
            env=self.environment,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        with process, process.stdin as asking, process.stdout as answers:
            yield Tools(asking, answers, json.loads(answers.readline()))

    @property
    def environment(self) -> dict[str, str]:
        """Nothing of the person who runs the tests, whose own Ormah must not notice."""
        path = os.pathsep.join([os.fspath(self.venv / "bin"), "/usr/bin", "/bin"])
        return {"HOME": os.fspath(self.home), "PATH": path, "ORMAH_PORT": str(self.port)}

    @property
    def _python(self) -> str:
        return os.fspath(self.venv / "bin" / "python")

    def _run(self, words: Sequence[str], given: str) -> Ran:
        done = subprocess.run(
            words,
            input=given,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=PATIENCE_SECONDS,
            check=False,
            cwd=self.folder,
            env=self.environment,
        )
        return Ran(done.returncode, done.stdout, done.stderr)


@dataclass(frozen=True, slots=True)
class Tools:
    """The tools of a running `ormah mcp`."""

    asking: IO[str]
    answers: IO[str]
    names: list[str]

    def call(self, tool: str, **arguments: Any) -> str:
        """Call a tool and return the text of its answer."""
        self.asking.write(json.dumps([tool, arguments]) + "\n")
        self.asking.flush()
        return str(json.loads(self.answers.readline()))
