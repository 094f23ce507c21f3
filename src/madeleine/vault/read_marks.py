"""Which files are being read, so that one that ends the process is not read again and again.

What a file says is bounded before it is parsed. Should one end the process nevertheless, by a
fault in a library or for want of memory, every start would read it again, and end. So a note of
each file that is being read stands in `run/reading`: written before, wiped out after, and left
there by a process that ended in between. The note is not waited for: it survives the process, and
power loss is no file's fault.

A process may as well be killed from outside while it reads a harmless file. So a file that such a
note names is only suspected. It is set aside

- at once, if the process ended by a fault of its own (`run/fault` tells, and in which thread);
- if a process of its own, which reads it before we do, does not survive that;
- if it is named a second time and nobody could read it in between.

One that is set aside is refused as unreadable until it changes, with a reason that `status` shows.
"""

from __future__ import annotations

import faulthandler
import json
import os
import re
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from madeleine.errors import MadeleineError
from madeleine.vault.files import write_file

_SLOT_COUNT = 64  # files that are read at the same time; more of them go without a note
_SLOT_BYTES = 4_608
_SLOT_HEADER = struct.Struct(
    "<?QH"
)  # whether it is being read, by which thread, and the text's bytes
_FREE_SLOT = _SLOT_HEADER.pack(False, 0, 0)
_FAULTY_THREAD = re.compile(r"Current thread 0x([0-9a-f]+)")
_TRIAL_SECONDS = 20.0
ENDED_PROCESS_REASON = "ended the process while it was read; it is not read again until it changes"
SUSPECTED_REASON = "was being read when the process ended"


class FileEndedProcess(MadeleineError):
    """A file that ended the process once; whoever reads says it in their own words."""

    kind = "ended_us"


class ReadMark(NamedTuple):
    """A file that is being read: its name, how it looked, and the thread that reads it."""

    name: str
    look: str
    thread: int


class ReadMarks:
    """The notes of one home. One process has it open at a time."""

    def __init__(self, run: Path) -> None:
        self._run = run
        self._state = run / "set-aside.json"
        self._suspects, self._aside = _read_state(self._state)
        self._suspect_files(_read_left_marks(run / "reading"), _read_faulty_threads(run / "fault"))
        self._file = _open_marks(run / "reading")
        self._free = list(range(_SLOT_COUNT)) if self._file is not None else []
        self._faults = _enable_fault_log(run / "fault")

    def close(self) -> None:
        """Take the notes away: this process ends in good order."""
        if self._faults is not None:
            faulthandler.disable()
            self._faults.close()
            self._faults = None
        if self._file is not None:
            self._free = []
            os.close(self._file)
            self._file = None
        for name in ("reading", "fault"):
            try:
                (self._run / name).unlink(missing_ok=True)
            except OSError:
                continue  # it names nothing any more

    def named(self) -> dict[str, str]:
        """Return the files that are set aside or suspected, each with what is said of it."""
        return dict.fromkeys(self._suspects, SUSPECTED_REASON) | dict.fromkeys(
            self._aside, ENDED_PROCESS_REASON
        )

    @contextmanager
    def reading(self, name: str, look: str, data: bytes) -> Iterator[None]:
        """Note that a file is being read, for as long as the caller does so. `FileEndedProcess` if
        it is set aside; `look` tells whether it is still the file that was."""
        if name in self._aside or name in self._suspects:
            self._judge(name, look, data)
        slot = self._write_mark(name, look)
        try:
            yield
        finally:
            if slot is not None:
                self._write(slot, _FREE_SLOT)
                self._free.append(slot)
        if name in self._suspects:
            del self._suspects[name]
            self._keep()

    def _write_mark(self, name: str, look: str) -> int | None:
        text = f"{look}\n{name}".encode("utf-8", "surrogateescape")
        if _SLOT_HEADER.size + len(text) > _SLOT_BYTES:
            return None
        try:
            slot = self._free.pop()
        except IndexError:
            return None
        self._write(slot, _SLOT_HEADER.pack(True, threading.get_ident(), len(text)) + text)
        return slot

    def _write(self, slot: int, data: bytes) -> None:
        if self._file is None:
            return
        try:
            os.pwrite(self._file, data, slot * _SLOT_BYTES)
        except OSError:
            return  # a full disk: the file is read without a note

    def _judge(self, name: str, look: str, data: bytes) -> None:
        """Refuse a file that is set aside. One that is suspected is read by another process
        first; one that has changed is no longer the file that was."""
        if self._aside.get(name, look) != look:
            del self._aside[name]
            self._keep()
        if self._suspects.get(name) == look and not _is_safe_to_read(data):
            del self._suspects[name]
            self._aside[name] = look
            self._keep()
        if name in self._aside:
            raise FileEndedProcess(ENDED_PROCESS_REASON)

    def _suspect_files(self, marks: list[ReadMark], faulty: set[int]) -> None:
        """Suspect the files that a process was reading when it ended, or set them aside."""
        for mark in marks:
            again = self._suspects.pop(mark.name, None) == mark.look
            known = self._aside if again or mark.thread in faulty else self._suspects
            known[mark.name] = mark.look
        if marks:
            self._keep()

    def _keep(self) -> None:
        state = {"suspects": self._suspects, "aside": self._aside}
        write_file(self._state, json.dumps(state, indent=1).encode("ascii"))


def _is_safe_to_read(data: bytes) -> bool:
    """Whether a process of its own can read these bytes, in time and with bounded memory."""
    command = [sys.executable, "-P", "-m", "madeleine.vault.trial_read"]
    try:
        done = subprocess.run(
            command, input=data, capture_output=True, timeout=_TRIAL_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _open_marks(path: Path) -> int | None:
    try:
        flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        return os.open(path, flags, 0o600)
    except OSError:
        return None


def _read_left_marks(path: Path) -> list[ReadMark]:
    """Return what a process that ended was reading."""
    try:
        data = path.read_bytes()
    except OSError:
        return []
    marks = []
    for start in range(0, len(data), _SLOT_BYTES):
        slot = data[start : start + _SLOT_BYTES]
        if len(slot) < _SLOT_HEADER.size:
            continue
        reading, thread, size = _SLOT_HEADER.unpack_from(slot)
        text = slot[_SLOT_HEADER.size : _SLOT_HEADER.size + size].decode("utf-8", "surrogateescape")
        look, _, name = text.partition("\n")
        if reading and name:
            marks.append(ReadMark(name, look, thread))
    return marks


def _enable_fault_log(path: Path) -> IO[bytes] | None:
    """Let a fault of this process be told in a file, unless somebody else wants to be told."""
    if faulthandler.is_enabled():
        return None
    try:
        file = path.open("wb")
    except OSError:
        return None
    faulthandler.enable(file)
    return file


def _read_faulty_threads(path: Path) -> set[int]:
    """Return the thread in which the last process ended by a fault, if it did."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return set()
    return {int(found, 16) for found in _FAULTY_THREAD.findall(text)}


def _read_state(path: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Return the files that are suspected and those that are set aside; a damaged note of them
    is as good as none."""
    try:
        said = json.loads(path.read_bytes())
        return _as_texts(said["suspects"]), _as_texts(said["aside"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}, {}


def _as_texts(values: dict[object, object]) -> dict[str, str]:
    return {str(name): str(look) for name, look in values.items()}
