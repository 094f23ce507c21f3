"""Capture: every change that was made here since the last sync becomes a version.

It does not matter how it was made: by a verb, by a job, by undo, or by hand. What stands in the
vault is compared with what stood there when the ledger last looked; the parent of a new version is
the version that the file was. A file that says what a known version says is that version, so a kill
between vault and ledger makes nothing twice.

A file that was removed by hand was forgotten: elsewhere it goes to the trash, from where it can
come back. Only a purge removes a text for good.
"""

from __future__ import annotations

import hashlib
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from madeleine.errors import FileUnreadable, NoFile
from madeleine.model.fingerprint import NO_FINGERPRINT, Fingerprint
from madeleine.model.memory import Memory
from madeleine.sync.ledger import Ledger, LocalFile
from madeleine.sync.merging import ancestors, find_heads
from madeleine.sync.privacy import why_held
from madeleine.sync.versions import (
    PURGED_PATH,
    Version,
    VersionState,
    make_version,
    micros_of,
)
from madeleine.vault.markdown import read_memory
from madeleine.vault.vault import TRASH
from madeleine.write.purge import was_purged
from madeleine.write.stores import Stores

DIGEST_BYTES = 16
NO_LOOKS = Fingerprint(0, 0)


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file of the vault that is not as the ledger knows it."""

    memory: Memory
    path: str
    data: bytes
    looks: Fingerprint
    state: VersionState


@dataclass(slots=True)
class CaptureReport:
    """What was found."""

    changed: int = 0
    held: dict[str, str] = field(default_factory=dict)
    """Memories that do not leave this machine, and why."""


class Capture:
    """One look at the whole vault."""

    def __init__(self, stores: Stores, ledger: Ledger, private_spaces: AbstractSet[str]) -> None:
        self._stores = stores
        self._ledger = ledger
        self._private = private_spaces
        self._known = ledger.local_files()
        self._by_path = {each.path: each for each in self._known.values() if each.path}
        self._present: set[str] = set()
        self.report = CaptureReport()

    def run(self) -> CaptureReport:
        """Keep a version of everything that changed. Stopping halfway is safe: each file is noted
        by itself."""
        for path, looks in self._stores.search.fingerprints().items():
            self._look(path, looks, VersionState.LIVE)
        for path in list(self._stores.vault.trashed_paths()):
            looks = self._stores.vault.fingerprint(path) or NO_LOOKS
            self._look(path, looks, VersionState.TRASH)
        for local in self._known.values():
            if local.memory not in self._present:
                self._note_missing(local)
        self.report.held = {
            each.memory: each.held for each in self._ledger.local_files().values() if each.held
        }
        return self.report

    def _look(self, path: str, looks: Fingerprint, state: VersionState) -> None:
        known = self._by_path.get(path)
        if known is not None and (known.looks, known.state) == (looks, state):
            if known.memory not in self._present:
                self._present.add(known.memory)
            return
        found = self._read(path, looks, state)
        if found is None:
            if known is not None:  # unreadable for now, or being written: as it was
                self._present.add(known.memory)
        elif found.memory.id not in self._present:
            self._present.add(found.memory.id)
            with self._ledger.together():
                self._note(found)

    def _read(self, path: str, looks: Fingerprint, state: VersionState) -> FoundFile | None:
        """Return a file as it is now; nothing if it is gone, wrong, or another memory's."""
        try:
            data = self._stores.vault.read_bytes(path)
            plain = path.removeprefix(f"{TRASH}/")
            memory = read_memory(plain, data, looks).memory
        except (NoFile, FileUnreadable):
            return None
        if state is VersionState.LIVE and self._stores.search.path_of(memory.id) != path:
            return None  # changed since the index looked: the next sync sees it
        return FoundFile(memory, path, data, looks, state)

    def _note(self, found: FoundFile) -> None:
        known = self._known.get(found.memory.id)
        digest = file_digest(found.data)
        if known is not None and (known.state, known.path, known.digest) == (
            found.state,
            found.path,
            digest,
        ):
            held = why_held(found.memory, _decode(found.data), self._private)
            self._ledger.set_local(replace(known, looks=found.looks, held=held))
            if held is None and (known.held is not None or known.version is None):
                self._keep_version(found, known, digest)
            return
        held = why_held(found.memory, _decode(found.data), self._private)
        if held is None:
            self._keep_version(found, known, digest)
            return
        version = known.version if known is not None else None
        self._ledger.set_local(
            LocalFile(found.memory.id, version, found.state, found.path, found.looks, digest, held)
        )

    def _keep_version(self, found: FoundFile, known: LocalFile | None, digest: bytes) -> None:
        memory = found.memory.id
        versions = self._ledger.versions_of(memory)
        parent = versions.get(known.version or "") if known is not None else None
        path = found.path.removeprefix(f"{TRASH}/")
        if parent is not None and known is not None:
            path = self._path_of_version(found, known, parent)
        version = _find_same(versions, parent, found.state, path, found.data)
        if version is None:
            at = found.memory.updated if parent is None else self._stores.clock.now()
            version = make_version(
                memory,
                [parent] if parent is not None else [],
                found.state,
                path,
                found.data,
                micros_of(at),
                self._stores.journal.device if parent is not None else "",
            )
            self._ledger.add_version(version, ours=True)
            self.report.changed += 1
        self._ledger.note_attention(memory)
        self._ledger.set_local(
            LocalFile(memory, version.id, found.state, found.path, found.looks, digest)
        )

    def _path_of_version(self, found: FoundFile, known: LocalFile, parent: Version) -> str:
        """Return where the version says that the file is. Where the place was taken here the file
        has another name, which is nobody else's business."""
        if found.state is VersionState.TRASH or found.path == known.path:
            return parent.path
        was = known.path.removeprefix(f"{TRASH}/")
        return parent.path if found.path == was else found.path

    def _note_missing(self, local: LocalFile) -> None:
        """Note that the file of a memory is gone: it was purged, or removed by hand."""
        if local.state is VersionState.PURGED or (local.held and local.version is None):
            return
        purged = was_purged(self._stores, local.memory)
        if local.state is VersionState.TRASH and not purged:
            if local.path:  # somebody emptied the trash: here it stands no more
                self._ledger.set_local(replace(local, path="", looks=NO_FINGERPRINT, digest=b""))
            return
        state = VersionState.PURGED if purged else VersionState.TRASH
        with self._ledger.together():
            versions = self._ledger.versions_of(local.memory)
            parent = versions.get(local.version or "")
            if parent is None:
                return
            content = None if purged else parent.content
            path = PURGED_PATH if purged else parent.path
            version = _find_same(versions, parent, state, path, content)
            if version is None:
                now = micros_of(self._stores.clock.now())
                device = self._stores.journal.device
                version = make_version(local.memory, [parent], state, path, content, now, device)
                self._ledger.add_version(version, ours=True)
                self.report.changed += 1
            self._ledger.note_attention(local.memory)
            # Of what was removed by hand the text comes to the trash here too.
            stands = version.id if purged else parent.id
            self._ledger.set_local(LocalFile(local.memory, stands, state, "", NO_FINGERPRINT, b""))


def count_changed(stores: Stores, ledger: Ledger) -> int:
    """Return how many files look otherwise than when the ledger last looked."""
    known = {each.path: each.looks for each in ledger.local_files().values() if each.path}
    vault = stores.vault
    looks = {**stores.search.fingerprints(), **vault.fingerprints(list(vault.trashed_paths()))}
    return sum(known.get(path) != found for path, found in looks.items()) + len(
        known.keys() - looks.keys()
    )


def _find_same(
    versions: dict[str, Version],
    parent: Version | None,
    state: VersionState,
    path: str,
    content: bytes | None,
) -> Version | None:
    """Return the newest version that says just this and was made from the parent, if nobody has
    gone on from it."""
    for each in reversed(find_heads(versions)):
        if (each.state, each.path, each.content) == (state, path, content) and (
            parent is None or parent.id in ancestors(versions, [each])
        ):
            return each
    return None


def file_digest(data: bytes) -> bytes:
    """Return the hash by which a file is known to be as it was."""
    return hashlib.blake2b(data, digest_size=DIGEST_BYTES).digest()


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "replace")
