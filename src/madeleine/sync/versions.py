"""A version: what one memory's file said, or that it was forgotten or purged.

Versions of a memory form a graph: each names its parents, the versions that it was made from. Its
id is a hash of all that it is, so a version is the same on every machine, nobody can change one,
and two machines which merge the same versions make the same new one.

An edit bears its moment and its device. What a machine held before it ever synced has neither, so
that two copies of one home begin with the same versions; and a merge follows from its parents.
"""

from __future__ import annotations

import enum
import hashlib
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from madeleine.vault.journal_changes import bytes_from_json, bytes_to_json
from madeleine.vault.vault import is_memory_path

ID_BYTES = 16
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
_UNUSABLE_PATH = re.compile(r"\0|(?:^|/)(?:\.{0,2}(?:/|$))|[\ud800-\udfff]")
PURGED_PATH = "purged.md"  # a name is made of the text, so it goes with it
MAX_PARENTS = 1_000  # heads that are merged at once; more come only from who means harm
MAX_MICROS = 253_402_300_799_000_000  # the end of the year 9999


class VersionState(enum.StrEnum):
    """Where a memory stands."""

    LIVE = "live"
    TRASH = "trash"
    """Forgotten; the text is kept."""
    PURGED = "purged"
    """Gone for good; there is no text."""


class BadRecord(ValueError):
    """A record that no machine of ours wrote."""


@dataclass(frozen=True, slots=True)
class Version:
    """One version of one memory. `content` is the whole file; None when it was purged."""

    id: str
    memory: str
    parents: tuple[str, ...]
    at: int
    """Microseconds since 1970. An edit is later than its parents, whatever its clock said; a merge
    is as late as the latest of them."""
    device: str
    state: VersionState
    path: str
    """Where the file stands in the vault, or stood before it went to the trash."""
    content: bytes | None

    @property
    def order(self) -> tuple[int, str]:
        """By which of two versions the later one is told, alike on every machine."""
        return self.at, self.id


def make_version(
    memory: str,
    parents: Sequence[Version],
    state: VersionState,
    path: str,
    content: bytes | None,
    at: int,
    device: str = "",
) -> Version:
    """Return a version with its id. Without a device it is a first version or a merge."""
    known = tuple(sorted({each.id for each in parents}))
    later = max([at, *(each.at + bool(device) for each in parents)])
    return with_id(Version("", memory, known, later, device, state, path, content))


def with_id(version: Version) -> Version:
    """Return the version with the id that follows from all else."""
    parts = (
        version.memory,
        ",".join(version.parents),
        str(version.at),
        version.device,
        version.state.value,
        version.path,
    )
    found = hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=ID_BYTES)
    found.update(b"\0")
    found.update(b"" if version.content is None else version.content)
    return replace(version, id=found.hexdigest())


def micros_of(moment: datetime) -> int:
    """Return a moment as versions have it."""
    return (moment - EPOCH) // MICROSECOND


def time_of(micros: int) -> datetime:
    return EPOCH + timedelta(microseconds=micros)


def version_to_json(version: Version) -> dict[str, object]:
    """Return a version as a record."""
    return {
        "kind": "version",
        "id": version.id,
        "memory": version.memory,
        "parents": list(version.parents),
        "at": version.at,
        "device": version.device,
        "state": version.state.value,
        "path": version.path,
        "text": None if version.content is None else bytes_to_json(version.content),
    }


def version_from_json(record: Mapping[str, object]) -> Version:
    """Return the version of a record; `BadRecord` if it is none, or not what its id says."""
    parents, at = record.get("parents"), record.get("at")
    if not isinstance(parents, list) or len(parents) > MAX_PARENTS:
        raise BadRecord("has no list of parents")
    if not isinstance(at, int) or not 0 <= at <= MAX_MICROS:
        raise BadRecord("has no moment")
    text = record.get("text")
    try:
        version = Version(
            id=_read_text(record, "id"),
            memory=str(uuid.UUID(_read_text(record, "memory"))),
            parents=tuple(str(each) for each in parents),
            at=at,
            device=_read_text(record, "device"),
            state=VersionState(_read_text(record, "state")),
            path=_read_text(record, "path"),
            content=None if text is None else bytes_from_json(text),
        )
    except ValueError as error:
        raise BadRecord(str(error)) from error
    if not is_memory_path(version.path) or _UNUSABLE_PATH.search(version.path):
        raise BadRecord(f"{version.path!r:.80} is no path of a memory")
    # A text that was purged meanwhile is gone, and its hash cannot be made again.
    if (version.content is not None or version.state is VersionState.PURGED) and (
        with_id(version).id != version.id
    ):
        raise BadRecord("is not what its id says")
    return version


def _read_text(record: Mapping[str, object], key: str) -> str:
    value = record.get(key)
    if not isinstance(value, str):
        raise BadRecord(f"has no `{key}`")
    return value
