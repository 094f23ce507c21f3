"""How the command speaks: the answer on stdout, talk on stderr.

With `--json` the answer is one document and nothing else stands on stdout. Whatever comes out
of a memory is printed without control characters, so that no text can steer the terminal.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TextIO

from madeleine.api.error_codec import error_to_json
from madeleine.cli.environment import is_live_terminal, terminal_width, wants_colour
from madeleine.cli.progress import ProgressBar
from madeleine.errors import MadeleineError

Json = Mapping[str, Any]
EXIT_READER_GONE = 141  # what a shell reports when `| head` has seen enough

_BOLD, _DIM, _RED, _RESET = "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[0m"
# Every control character but line end and tab, and the ones that turn text around.
_CONTROL_CHARS = {
    code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if code not in (9, 10)
} | {code: f"\\u{code:04x}" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}


class ReaderGone(Exception):
    """Whoever read our output has stopped reading: `madeleine list | head`."""


@dataclass(slots=True)
class CommandOutput:
    """One command's voice."""

    out: TextIO
    err: TextIO
    as_json: bool = False
    colour: bool = False
    colour_talk: bool = False
    live: bool = False
    width: int = 100
    now: float = field(default_factory=time.time)
    _said: set[str] = field(default_factory=set)

    def line(self, text: str = "") -> None:
        """Print one line of the answer."""
        self._write(self.out, text + "\n")

    def document(self, document: Json) -> None:
        """Print the answer as JSON."""
        self.line(self.as_text(document, 2 if self.out.isatty() else None))

    def as_text(self, document: Json, indent: int | None = None) -> str:
        """Return JSON that this stdout can show, whatever its encoding."""
        plain = (self.out.encoding or "utf-8").lower().replace("-", "") != "utf8"
        return json.dumps(document, ensure_ascii=plain, indent=indent)

    def reply(self, answer: Json, words: Callable[[], Iterable[str]], notes: bool = True) -> None:
        """Print an answer: the document itself, or the words made of it; then its notes."""
        if self.as_json:
            self.document(answer)
        else:
            for text in words():
                self.line(text)
        if notes:
            self.notes(answer.get("notes") or ())

    def talk(self, text: str) -> None:
        """Say something that is not part of the answer."""
        self._write(self.err, text + "\n")

    def notes(self, notes: Iterable[str]) -> None:
        """Say what is degraded or healed itself, each once."""
        for note in notes:
            if note not in self._said:
                self._said.add(note)
                self.talk(f"note: {escape_controls(note)}")

    def problem(self, error: MadeleineError) -> None:
        """Say what went wrong and what to type next."""
        if self.as_json:
            self.document({"error": error_to_json(error)})
        label = f"{_RED}error:{_RESET}" if self.colour_talk else "error:"
        self.talk(f"{label} {escape_controls(error.message)}")
        if error.hint:
            self.talk(f"hint: {escape_controls(error.hint)}")

    def progress(self, what: str) -> ProgressBar:
        """Return a progress bar; it draws only where a terminal watches."""
        return ProgressBar(self.err if self.live else None, what)

    def bold(self, text: str) -> str:
        return f"{_BOLD}{text}{_RESET}" if self.colour else text

    def dim(self, text: str) -> str:
        return f"{_DIM}{text}{_RESET}" if self.colour else text

    def end_line(self) -> None:
        """After Ctrl-C: leave the shell's prompt on a line of its own."""
        if self.live:
            self._write(self.err, "\n")

    def flush(self) -> None:
        self._write(self.out, "")

    def _write(self, stream: TextIO, text: str) -> None:
        try:
            stream.write(text)
            stream.flush()
        except BrokenPipeError as error:
            raise ReaderGone from error


def make_output(as_json: bool) -> CommandOutput:
    """Return the voice for this process's own stdout and stderr."""
    for stream in (sys.stdout, sys.stderr):
        _escape_unencodable(stream)
    return CommandOutput(
        sys.stdout,
        sys.stderr,
        as_json=as_json,
        colour=wants_colour(sys.stdout),
        colour_talk=wants_colour(sys.stderr),
        live=is_live_terminal(sys.stderr),
        width=terminal_width(sys.stdout),
    )


def silence_stdout() -> int:
    """Point stdout to nowhere, so that closing it at exit cannot fail again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    return EXIT_READER_GONE


def escape_controls(text: str) -> str:
    """Return the text with control characters written out."""
    return text.translate(_CONTROL_CHARS)


def _escape_unencodable(stream: Any) -> None:
    """A terminal that cannot show a character gets it written out instead of a crash."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")
