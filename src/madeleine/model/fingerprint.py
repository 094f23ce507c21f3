"""The fingerprint of a file: what changes when the file is written."""

from __future__ import annotations

from typing import NamedTuple


class Fingerprint(NamedTuple):
    """What tells a changed file from an unchanged one without reading it.

    The ctime tells of what a program hides that puts the mtime back; it also moves when a file
    is renamed, copied or given other permissions, and then the file is read once for nothing.
    """

    mtime_ns: int
    size: int
    ctime_ns: int = 0  # no file has this one, so looks without it are those of no file


NO_FINGERPRINT = Fingerprint(0, 0)  # where only the text of a file matters
