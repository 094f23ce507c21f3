"""A folder of another machine, reached by `ssh`. That machine needs a shell and `tar`, and no
Madeleine: a disk in the cupboard will do.

Files go over as one archive, are unpacked beside their place and then moved there, so that a
connection that breaks leaves nothing half.
"""

from __future__ import annotations

import io
import re
import shlex
import tarfile
from collections.abc import Iterator, Sequence

from madeleine.sync.places.commands import run_program
from madeleine.sync.places.port import PlaceDown
from madeleine.sync.segments import MAX_SEGMENT_BYTES, SEGMENT_NAME, Segment

FETCHED_AT_ONCE = 200  # files
_LISTED = re.compile(r"\s*(\d+)\s+\./(\S+)")
_PART = ".madeleine-part"


class SshPlace:
    """The folder there."""

    def __init__(self, host: str, folder: str, timeout: float) -> None:
        self._host = host
        self._folder = folder
        self._timeout = timeout

    @property
    def name(self) -> str:
        return f"ssh://{self._host}/{self._folder.lstrip('/')}"

    def list_segments(self) -> dict[str, int]:
        told = self._run(f"mkdir -p {self._quoted} && cd {self._quoted} && {_LIST_COMMAND}")
        found = (_LISTED.fullmatch(line) for line in told.decode("utf-8", "replace").splitlines())
        sizes = {each[2]: int(each[1]) for each in found if each is not None}
        return {name: size for name, size in sizes.items() if SEGMENT_NAME.fullmatch(name)}

    def fetch(self, names: Sequence[str]) -> Iterator[Segment]:
        for start in range(0, len(names), FETCHED_AT_ONCE):
            some = names[start : start + FETCHED_AT_ONCE]
            quoted = " ".join(shlex.quote(each) for each in some)
            data = self._run(f"cd {self._quoted} && tar cf - {quoted}")
            yield from self._unpack(data)

    def _unpack(self, data: bytes) -> Iterator[Segment]:
        try:
            with tarfile.open(fileobj=io.BytesIO(data)) as archive:
                for member in archive:
                    file = archive.extractfile(member) if member.isfile() else None
                    if file is not None and SEGMENT_NAME.fullmatch(member.name):
                        yield Segment(member.name, file.read(MAX_SEGMENT_BYTES))
        except tarfile.TarError as error:
            raise PlaceDown(self.name, f"sent no archive: {error}") from error

    def publish(self, add: Sequence[Segment], remove: Sequence[str]) -> None:
        if add:
            devices = sorted({each.name.partition("/")[0] for each in add})
            moves = " && ".join(
                f"mkdir -p {each} && mv -f {_PART}/{each}/*.log {each}/" for each in devices
            )
            there = f"mkdir -p {self._quoted} && cd {self._quoted}"
            unpack = f"rm -rf {_PART} && mkdir {_PART} && tar xf - -C {_PART}"
            self._run(f"{there} && {unpack} && {moves} && rm -rf {_PART}", _pack(add))
        if remove:
            quoted = " ".join(shlex.quote(each) for each in remove)
            self._run(f"cd {self._quoted} && rm -f {quoted}")

    @property
    def _quoted(self) -> str:
        return shlex.quote(self._folder)

    def _run(self, script: str, given: bytes | None = None) -> bytes:
        command = ["ssh", "-o", "BatchMode=yes", "-T", self._host, f"umask 077; {script}"]
        return run_program(self.name, command, self._timeout, given=given)


# POSIX has no `find -printf`; `wc -c` of one file prints its length and its name.
_LIST_COMMAND = "find . -type f -name '*.log' -exec wc -c {} ';'"


def _pack(segments: Sequence[Segment]) -> bytes:
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w") as archive:
        for each in segments:
            entry = tarfile.TarInfo(each.name)
            entry.size, entry.mode = len(each.data), 0o600
            archive.addfile(entry, io.BytesIO(each.data))
    return whole.getvalue()
