"""Where a home's running parts are. Light: a command reads this before anything else.

`run/` holds what a daemon leaves for its clients: `socket` (or `socket.path`, which names a
socket elsewhere when the home's own path is too long for one), `token`, `pid` and `port`.
"""

from __future__ import annotations

import os
from pathlib import Path

DEFAULT_HOME = "~/.madeleine"
MAX_SOCKET_PATH_BYTES = 100  # Linux takes 107, macOS 103


def home_path(given: str | Path | None = None) -> Path:
    """Return the home folder: as given, else `MADELEINE_HOME`, else ~/.madeleine."""
    # A command that only talks to the daemon must not import bootstrap with all it opens.
    chosen = given or os.environ.get("MADELEINE_HOME") or DEFAULT_HOME  # noqa: TID251
    return Path(chosen).expanduser().absolute()


def run_folder(home: Path) -> Path:
    return home / "run"


def own_socket_path(home: Path) -> Path:
    """Return where the socket is, unless its path would be too long."""
    return run_folder(home) / "socket"


def socket_pointer_path(home: Path) -> Path:
    """Return the file that names the socket when it is not in `run/`."""
    return run_folder(home) / "socket.path"


def fits_socket_address(path: Path) -> bool:
    """Whether the system takes a path as the address of a socket."""
    return len(os.fsencode(path)) <= MAX_SOCKET_PATH_BYTES


def socket_path(home: Path) -> Path:
    """Return the socket that a daemon on this home listens on, if there is one."""
    own = own_socket_path(home)
    if fits_socket_address(own):
        return own
    try:
        return Path(socket_pointer_path(home).read_text(encoding="utf-8").strip())
    except FileNotFoundError:
        return own


def is_private(folder: Path) -> bool:
    """Whether a folder is ours and nobody else's: what lies in it can be trusted."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    return found.st_uid == os.getuid() and found.st_mode & 0o170077 == 0o040000
