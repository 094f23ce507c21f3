"""Running the command in tests: in this process, or as a process of its own."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from madeleine.cli.main import main

MODULE = [sys.executable, "-m", "madeleine"]


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def answer(self) -> Any:
        """The one document that `--json` printed."""
        return json.loads(self.out)


@dataclass(frozen=True, slots=True)
class Cli:
    """The command on one home."""

    home: Path

    def __call__(self, *words: str, stdin: bytes = b"") -> Ran:
        """Run the command in this process."""
        out, err = _stream(), _stream()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), _stdin(stdin):
            code = main(["--home", str(self.home), *words])
        return Ran(code, _text(out), _text(err))

    def ok(self, *words: str, stdin: bytes = b"") -> Any:
        """Run the command with `--json`, expect it to work and return its answer."""
        ran = self("--json", *words, stdin=stdin)
        assert ran.code == 0, ran.err
        return ran.answer

    def remember(self, text: str, *words: str) -> str:
        """Remember a text and return its id."""
        return str(self.ok("remember", text, *words)["node_id"])

    def process(self, *words: str | bytes, stdin: bytes = b"", **variables: str) -> Ran:
        """Run the command as a process of its own."""
        done = subprocess.run(
            [*MODULE, *words],
            input=stdin,
            capture_output=True,
            timeout=50,
            check=False,
            env=self.environment(**variables),
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    def environment(self, **variables: str) -> dict[str, str]:
        """Return the environment of a process on this home."""
        return {**os.environ, "MADELEINE_HOME": str(self.home), **variables}

    @property
    def files(self) -> list[Path]:
        """The memory files, without the trash."""
        return sorted((self.home / "vault").glob("*.md"))


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    raw = stream.buffer
    assert isinstance(raw, io.BytesIO)
    return raw.getvalue().decode("utf-8")


@contextlib.contextmanager
def _stdin(data: bytes) -> Iterator[None]:
    with mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8")):
        yield
