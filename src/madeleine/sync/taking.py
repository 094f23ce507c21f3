"""Taking: what holds of each memory is written into this vault.

Each memory is a change of its own, through the same door as every other: with a record in the
journal, so that it is shown in its history, survives a kill and can be undone here. New memories
are written many at a time. What was forgotten elsewhere goes to the trash; what was purged
elsewhere is purged.

A file that somebody changed since the vault was looked at is left to the next sync.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from madeleine.errors import FileChanged, MadeleineError, Rejected
from madeleine.model.change import Change, FileEdit
from madeleine.model.fingerprint import NO_FINGERPRINT
from madeleine.model.memory import Memory
from madeleine.model.words import SELF_SOURCE
from madeleine.sync.capture import file_digest
from madeleine.sync.ledger import Ledger, LocalFile
from madeleine.sync.merging import Resolution, resolve_versions
from madeleine.sync.questions import question_events
from madeleine.sync.versions import Version, VersionState
from madeleine.vault.markdown import read_memory, revise_file
from madeleine.write.commit import NewMemory, commit, commit_new_memories
from madeleine.write.embedding import embed_memories, split_by_size
from madeleine.write.purge import purge_elsewhere_too
from madeleine.write.record import record_events
from madeleine.write.stores import Stores

SYNC_VERB = "sync"
BATCH_SIZE = 32  # new memories read by the model and written together
BATCH_CHARS = 200_000


@dataclass(slots=True)
class TakingReport:
    """What came of it."""

    written: int = 0
    merged: int = 0
    asked: int = 0
    trashed: int = 0
    purged: list[str] = field(default_factory=list)
    """Memories that were purged elsewhere."""
    emptied: dict[str, str] = field(default_factory=dict)
    """Memories that are gone for good, here or elsewhere, and the version that says so: none of
    their texts may stay."""
    refused: dict[str, str] = field(default_factory=dict)
    """Memories that could not be taken, and why."""


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """What becomes of one memory's file."""

    version: Version
    edit: FileEdit | None
    """None: the file says it already."""
    memory: Memory | None
    path: str
    content: bytes


class Taking:
    """One go over all memories of which something is new."""

    def __init__(self, stores: Stores, ledger: Ledger, run: str) -> None:
        self._stores = stores
        self._ledger = ledger
        self._run = run
        self.report = TakingReport()

    def run(self) -> TakingReport:
        """Write what holds. Stopping halfway is safe: each memory is noted when it is done."""
        new: list[PlannedFile] = []
        paths: set[str] = set()
        for memory in self._ledger.attention():
            try:
                planned = self._plan(memory, paths)
                if planned is None:
                    continue
                if planned.edit is None:
                    self._note(planned)
                elif planned.edit.path_before is None and planned.memory is not None:
                    new.append(planned)
                else:
                    self._commit(planned)
            except FileChanged:
                continue  # somebody writes to it: the next sync sees what
            except MadeleineError as error:
                self.report.refused[memory] = error.message
        self._write_new(new)
        self._purge()
        return self.report

    # -- what is to be done ----------------------------------------------------------------

    def _plan(self, memory: str, paths: set[str]) -> PlannedFile | None:
        """Return what becomes of a memory's file; nothing if it is done, or has to wait."""
        local = self._ledger.local_file(memory)
        if local is not None and local.held is not None:
            return None
        resolution = resolve_versions(self._ledger.versions_of(memory))
        if resolution is None:
            return None
        if resolution.made:
            self._keep_merge(resolution)
        version = resolution.version
        if version.state is VersionState.PURGED:
            self.report.emptied[memory] = version.id
        if local is not None and local.version == version.id:
            self._ledger.clear_attention(memory)
            return None
        if version.state is VersionState.PURGED:
            self.report.purged.append(memory)
            return None
        if local is None and self._stores.search.get(memory) is not None:
            return None  # a file of it came since the vault was looked at
        if version.content is None:
            return None  # its text was purged elsewhere, and comes with another machine's files
        return self._plan_file(version, version.content, local, paths)

    def _keep_merge(self, resolution: Resolution) -> None:
        """Keep a merge, and ask what it left open, once for all machines."""
        stores = self._stores
        asked = list(question_events(resolution, stores.journal.device))
        asked = [each for each in asked if stores.log.event(each.id) is None]
        if asked:
            record_events(stores, asked, durable=True)
        if self._ledger.add_version(resolution.version, ours=True):
            self.report.merged += 1
        self.report.asked += len(asked)

    def _plan_file(
        self, version: Version, content: bytes, local: LocalFile | None, paths: set[str]
    ) -> PlannedFile | None:
        vault = self._stores.vault
        limit = self._stores.config.limits.content_bytes
        path_before = local.path if local is not None and local.path else None
        before = vault.bytes_or_none(path_before)
        if (
            local is not None
            and path_before is not None
            and (before is None or file_digest(before) != local.digest)
        ):
            raise FileChanged(path_before)
        place = self._choose_path(version, local, paths)
        memory = read_memory(place, content, NO_FINGERPRINT).memory
        if memory.id != version.memory:
            named = replace(memory, id=version.memory)
            content, memory = revise_file(content, named, memory), named
        if len(memory.content.encode("utf-8", "surrogatepass")) > limit:
            problem = f"has more than {limit:,} bytes, which `limits.content_bytes` allows"
            raise Rejected(f"`{memory.short_id}` {problem}")
        if version.state is VersionState.TRASH:
            in_trash = local is not None and local.state is VersionState.TRASH and path_before
            path = str(path_before) if in_trash else vault.trash_path(place)
            if memory.source == SELF_SOURCE:
                raise Rejected("the self cannot be forgotten", hint="revise it instead")
        else:
            path = place
        if (path_before, before) == (path, content):
            return PlannedFile(version, None, None, path, content)
        edit = FileEdit(version.memory, path_before, before, path, content)
        live = version.state is VersionState.LIVE
        return PlannedFile(version, edit, memory if live else None, path, content)

    def _choose_path(self, version: Version, local: LocalFile | None, paths: set[str]) -> str:
        """Return where the file stands, or would stand if it were not in the trash: where the
        version says if that is free here, else where it is, or a free name."""
        vault = self._stores.vault
        if local is not None and local.state is VersionState.LIVE and local.path:
            known = self._ledger.versions_of(version.memory).get(local.version or "")
            if known is not None and known.path == version.path:
                return local.path
        if local is not None and local.path == version.path:
            return version.path
        free = vault.fingerprint(version.path) is None and version.path not in paths
        if not free and local is not None and local.state is VersionState.LIVE and local.path:
            return local.path
        path = version.path
        if not free:
            memory = read_memory(version.path, version.content or b"", NO_FINGERPRINT).memory
            path = vault.path_for(replace(memory, id=version.memory))
        paths.add(path)
        return path

    # -- doing it --------------------------------------------------------------------------

    def _commit(self, planned: PlannedFile) -> None:
        assert planned.edit is not None
        commit(self._stores, self._change(planned.edit, planned.version))
        self._note(planned)
        if planned.version.state is VersionState.TRASH:
            self.report.trashed += 1
        else:
            self.report.written += 1

    def _change(self, edit: FileEdit, version: Version) -> Change:
        reason = f"changed on {version.device}" if version.device else "as on your other machines"
        details: dict[str, object] = {"version": version.id}
        new_id = self._stores.new_id()
        return Change(new_id, SYNC_VERB, (edit,), SYNC_VERB, reason, self._run, details)

    def _write_new(self, planned: Sequence[PlannedFile]) -> None:
        """Write memories that are new here, several at a time."""
        for some in split_by_size(planned, _text_length, BATCH_SIZE, BATCH_CHARS):
            plain = [each for each in some if "/" not in each.path]
            traces, _ = embed_memories(self._stores, [m for each in plain if (m := each.memory)])
            new = [
                NewMemory(each.memory, self._change(each.edit, each.version), made)
                for each, made in zip(plain, traces, strict=True)
                if each.memory is not None and each.edit is not None
            ]
            refused = commit_new_memories(self._stores, new) if new else {}
            for each, one in zip(plain, new, strict=True):
                if one.change.id not in refused:
                    self._note(each)
                    self.report.written += 1
                elif not isinstance(refused[one.change.id], FileChanged):
                    self.report.refused[one.memory.id] = refused[one.change.id].message
            for each in some:
                if each not in plain:
                    self._commit_alone(each)

    def _commit_alone(self, planned: PlannedFile) -> None:
        try:
            self._commit(planned)
        except FileChanged:
            return
        except MadeleineError as error:
            self.report.refused[planned.version.memory] = error.message

    def _note(self, planned: PlannedFile) -> None:
        """Note what stands here now."""
        version = planned.version
        looks = self._stores.vault.fingerprint(planned.path) or NO_FINGERPRINT
        if self._stores.vault.bytes_or_none(planned.path) != planned.content:
            looks = NO_FINGERPRINT  # changed in this moment: the next sync reads it
        digest = file_digest(planned.content)
        with self._ledger.together():
            self._ledger.set_local(
                LocalFile(version.memory, version.id, version.state, planned.path, looks, digest)
            )
            self._ledger.clear_attention(version.memory)

    def _purge(self) -> None:
        """Purge what was purged elsewhere, all at once: it takes a rebuild. Of what was purged here
        another machine may just have sent events."""
        if not self.report.emptied:
            return
        self._forget_live(self.report.purged)
        purge_elsewhere_too(self._stores, self.report.emptied.keys())
        for memory in self.report.purged:
            self._note_purged(memory)

    def _forget_live(self, memories: Iterable[str]) -> None:
        """Move to the trash what still lives here: only from there anything is purged."""
        for memory in memories:
            local = self._ledger.local_file(memory)
            if local is None or local.state is not VersionState.LIVE or not local.path:
                continue
            data = self._stores.vault.bytes_or_none(local.path)
            if data is not None and file_digest(data) == local.digest:
                path = self._stores.vault.trash_path(local.path)
                edit = FileEdit(memory, local.path, data, path, data)
                change = Change(self._stores.new_id(), SYNC_VERB, (edit,), SYNC_VERB, run=self._run)
                commit(self._stores, change)

    def _note_purged(self, memory: str) -> None:
        resolution = resolve_versions(self._ledger.versions_of(memory))
        if resolution is None:
            return
        version, state = resolution.version, VersionState.PURGED
        with self._ledger.together():
            self._ledger.set_local(LocalFile(memory, version.id, state, "", NO_FINGERPRINT, b""))
            self._ledger.clear_attention(memory)


def _text_length(planned: PlannedFile) -> int:
    return len(planned.content)
