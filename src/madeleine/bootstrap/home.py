"""The home folder: its folders, the lock on it, and the name of this machine."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import socket
import tempfile
import time
import uuid
from pathlib import Path

from madeleine.errors import HomeBusy, MadeleineError, StoreUnwritable
from madeleine.settings import Settings

LOCK_TIMEOUT_SECONDS = 10.0  # another command usually ends within a second
LOCK_POLL_SECONDS = 0.02
MOVING_FILE = "moving"  # in run/: where a move that was interrupted was going


def make_folders(home: Path) -> None:
    """Make the home's folders, readable by their owner only."""
    try:
        for folder in (home, home / "vault", home / "journal", home / "run", home / "logs"):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for private in (home / "journal", home / "run"):
            private.chmod(0o700)
    except OSError as error:
        raise StoreUnwritable(home, error.strerror or str(error)) from error


def vault_folder(home: Path, settings: Settings) -> Path:
    """Return the folder of the memories' files."""
    return Path(settings.vault.path).expanduser() if settings.vault.path else home / "vault"


def is_moving_to(home: Path, place: str) -> bool:
    """Whether a move of this home to that place began, and did not end."""
    mark = home / "run" / MOVING_FILE
    return mark.exists() and mark.read_text(encoding="utf-8") == place


def device_name() -> str:
    """Return a name for this machine that stays the same and does not travel with a home.

    It is made from the machine's own id and not kept in the home, so that a home copied to
    another machine writes to journal files of its own.
    """
    machine = Path("/etc/machine-id")
    seed = machine.read_text(encoding="utf-8").strip() if machine.exists() else str(uuid.getnode())
    mark = hashlib.sha256(f"madeleine\n{seed}".encode()).hexdigest()[:6]
    host = re.sub(r"[^a-z0-9]+", "-", socket.gethostname().lower()).strip("-")[:24] or "device"
    return f"{host}-{mark}"


class HomeLock:
    """One process has a home open at a time. The lock goes with the process, however it ends.

    Whoever waits for it has a lock on the folder `run` meanwhile, and whoever comes next waits for
    that first. So a process that opens the home again and again does not get ahead of who waits.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        self._file: int | None = None

    def take(self, wait_seconds: float) -> None:
        """Wait for the lock, then write down who has it."""
        deadline = time.monotonic() + wait_seconds
        run = self._home / "run"
        handle = _open_to_lock(run / "lock", os.O_RDWR | os.O_CREAT)
        try:
            turn = _open_to_lock(run, os.O_RDONLY | os.O_DIRECTORY)
            try:
                taken = _wait_for_lock(turn, deadline) and _wait_for_lock(handle, deadline)
            finally:
                os.close(turn)
            if not taken:
                raise HomeBusy(self._home, _read_holder_pid(handle))
        except MadeleineError:
            os.close(handle)
            raise
        os.truncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        self._file = handle

    def release(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _open_to_lock(path: Path, flags: int) -> int:
    try:
        return os.open(path, flags | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreUnwritable(path, error.strerror or str(error)) from error


def _wait_for_lock(handle: int, deadline: float) -> bool:
    """Wait for a lock until a moment of the monotonic clock; whether it was got."""
    while not _try_lock(handle):
        if time.monotonic() >= deadline:
            return False
        time.sleep(LOCK_POLL_SECONDS)
    return True


def _try_lock(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _read_holder_pid(handle: int) -> int | None:
    text = os.pread(handle, 32, 0).decode("ascii", "replace").strip()
    return int(text) if text.isdigit() else None


def runtime_folder() -> Path:
    """Return a folder with a short path for what lasts no longer than a login."""
    given = Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir())
    return given if given.is_dir() else Path(tempfile.gettempdir())
